package cli

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/daemon"
)

// TestReads checks the text of a scan while it reads.
func TestReads(t *testing.T) {
	t.Parallel()
	r := newReads(&daemon.Estate{Sources: []daemon.Source{{Name: "prod"}, {Name: "pve"}}, Declarations: []daemon.Declaration{{Name: "infra/dns"}}})
	for _, step := range []struct {
		end  func()
		want string
	}{
		{func() {}, "read 0 of 3, reading source prod, source pve, declaration infra/dns"},
		{func() { r.SourceScanned("prod", 0, nil) }, "read 1 of 3, reading source pve, declaration infra/dns"},
		{func() { r.SourceScanned("prod", 0, nil) }, "read 1 of 3, reading source pve, declaration infra/dns"},
		{func() { r.DeclarationLoaded("infra/dns", nil) }, "read 2 of 3, reading source pve"},
		{func() { r.SourceScanned("pve", 0, nil) }, "comparing"},
	} {
		step.end()
		if got := r.String(); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
}

func TestProgressLine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		width int
		want  string
	}{{80, "reading ünder … 12s"}, {14, "reading … 12s"}, {3, " … 12s"}} {
		if got := progressLine("reading ünder", 12*time.Second, tc.width); got != tc.want {
			t.Errorf("width %d: %q, want %q", tc.width, got, tc.want)
		}
	}
}
