package terraform

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/plan"
)

// TestApplierOptions checks which variables an apply has: env of the writer does not replace env_files of the declaration,
// and env_files of the writer do.
func TestApplierOptions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		writing Writing
		files   []string
	}{
		"Env":      {"env of the writer is a layer of its own", Writing{Env: map[string]string{"TOKEN": "w"}}, []string{"reader.env"}},
		"EnvFiles": {"a session token of the reader does not fit keys of the writer", Writing{EnvFiles: []string{"writer.env"}}, nil},
	} {
		a := Applier{&plans{root: &root{loader: &loader{}}}, tc.writing}
		declared := plan.Options{Env: map[string]string{"TOKEN": "r"}, EnvFiles: []string{"reader.env"}}
		look, o := a.lookOptions(declared), a.options(declared)
		if !slices.Equal(look.EnvFiles, declared.EnvFiles) || !cmp.Equal(look.Writer, o.Writer) {
			t.Errorf("%s: a look has the files of the declaration, and the variables of the writer are known: got %+v", name, look)
		}
		if o.Env["TOKEN"] != "r" || o.Writer.Env["TOKEN"] != tc.writing.Env["TOKEN"] || !slices.Equal(o.EnvFiles, tc.files) ||
			!slices.Equal(o.Writer.EnvFiles, tc.writing.EnvFiles) {
			t.Errorf("%s: %s: got %+v", name, tc.reason, o)
		}
	}
	a := Applier{&plans{root: &root{loader: &loader{}}}, Writing{Env: map[string]string{"TF_DATA_DIR": "x"}}}
	if err := a.options(plan.Options{}).Check(); err == nil || !strings.Contains(err.Error(), "TF_DATA_DIR is reserved") {
		t.Errorf("a reserved variable of the writer: got %v", err)
	}
}
