package workcopy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/driftd/driftd/internal/declared/terraform/plan/workcopy"
)

// FuzzModules reads the list of modules that init writes. Each returned folder must be in the list.
func FuzzModules(f *testing.F) {
	for _, seed := range []string{
		`{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"network","Source":"./modules/network","Dir":"modules/network"}]}`,
		`{"Modules":[{"Key":"a.b","Source":"registry.terraform.io/x/y/z","Version":"1.0.0","Dir":".terraform/modules/a.b"},{"Key":"a.b","Dir":"../../etc"}]}`,
		`{"Modules":null}`, `{"Modules":[{"Key":1}]}`, `[]`, `{`,
	} {
		f.Add([]byte(seed))
	}
	list := filepath.Join(f.TempDir(), "modules.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(list, text, 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := workcopy.Modules(list)
		if err != nil && len(found) > 0 {
			t.Errorf("got %v and an error: %v", found, err)
		}
		if !json.Valid(text) && len(found) > 0 {
			t.Errorf("got %v of what is no JSON", found)
		}
		if len(found) > len(text) {
			t.Errorf("got %d modules of %d bytes", len(found), len(text))
		}
	})
}
