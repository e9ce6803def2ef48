package setup_test

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/setup"
)

// TestModulesAlone names folders with files of Terraform that are taken for modules, if there is no
// root.
func TestModulesAlone(t *testing.T) {
	t.Parallel()
	const note = "are taken for modules: infra. Name one"
	f := setup.Facts{Trees: []setup.Tree{{Dir: t.TempDir(), Modules: []string{"infra"}}}}
	if err := setup.New(&f, &setup.Choices{}).Empty(); err == nil || !strings.Contains(err.Error(), note) {
		t.Errorf("got %v", err)
	}
	f.Trees[0].Roots = roots("s3", nil, "root")
	if got := text(t, &f, &setup.Choices{StateDir: "./state", Base: f.Trees[0].Dir}); strings.Contains(got, note) {
		t.Errorf("with a root: %s", got)
	}
}
