package terraform_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/declared/terraform"
)

func TestCheckUnreviewed(t *testing.T) {
	t.Parallel()
	const programs = "set allow.providers and refuse: [external, exec]"
	for name, tc := range map[string]struct {
		reason string
		config terraform.Config
		want   string
	}{
		"open": {"any provider and any program", terraform.Config{Run: terraform.Run{Box: true}}, programs},
		"no box": {"a configuration reads any file", terraform.Config{Run: terraform.Run{Allow: terraform.Allow{Providers: []string{}}, Refuse: []string{"exec", "external"}}},
			"remove box: false"},
		"providers": {"init runs programs, too", terraform.Config{Run: terraform.Run{Box: true, Allow: terraform.Allow{Providers: []string{"a/b"}}}}, programs},
		"refuse":    {"any provider is a program", terraform.Config{Run: terraform.Run{Box: true, Refuse: []string{"external", "exec"}}}, programs},
		"half": {"exec in a backend is a program", terraform.Config{Run: terraform.Run{Box: true, Allow: terraform.Allow{Providers: []string{}}, Refuse: []string{"external"}}},
			programs},
		"restricted": {"programs of the listed providers only", terraform.Config{Run: terraform.Run{Box: true, Allow: terraform.Allow{Providers: []string{}}, Refuse: []string{"exec", "files", "external"}}}, ""},
		"state":      {"a state is not of a ref", terraform.Config{Engine: terraform.State}, "use engine: plan"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.config.CheckUnreviewed()
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

// TestRefuseUnreviewed checks that a root at an unreviewed ref must not read other states, also if the
// settings do not refuse that.
func TestRefuseUnreviewed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ refuse, want []string }{
		{nil, []string{"remote-state"}},
		{[]string{"external", "exec"}, []string{"external", "exec", "remote-state"}},
		{[]string{"remote-state", "exec"}, []string{"remote-state", "exec"}},
	} {
		if got := (terraform.Config{Run: terraform.Run{Refuse: tc.refuse}}).RefuseUnreviewed(); !slices.Equal(got, tc.want) {
			t.Errorf("%q: %q, want %q", tc.refuse, got, tc.want)
		}
	}
}
