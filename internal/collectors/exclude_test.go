package collectors_test

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors"
)

func TestExcludes(t *testing.T) {
	t.Parallel()
	for reason, test := range map[string]struct {
		patterns, kind string
		want           bool
	}{
		"by its name":              {"port", "openstack/port", true},
		"with the type before it":  {"openstack/port", "openstack/port", true},
		"by a pattern":             {"router security_*", "openstack/security_group", true},
		"of another type":          {"netbox/port", "openstack/port", false},
		"a part of the name alone": {"security", "openstack/security_group", false},
		"nothing is left out":      {"", "openstack/port", false},
	} {
		if got := collectors.Excludes(strings.Fields(test.patterns), test.kind); got != test.want {
			t.Errorf("%s: %q leaves %s out: %t", reason, test.patterns, test.kind, got)
		}
	}
	if err := collectors.CheckPatterns([]string{"port", "[a"}, "router"); err == nil || !strings.Contains(err.Error(), `"[a"`) || !strings.Contains(err.Error(), "such as router") {
		t.Errorf("error %v, want one that names the pattern, and shows one", err)
	}
}
