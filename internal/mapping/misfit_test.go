package mapping

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestMisfit checks what is reported about a table whose live fields the kind does not have.
func TestMisfit(t *testing.T) {
	t.Parallel()
	scalar := &model.Schema{}
	kind := &model.Schema{Fields: map[string]*model.Schema{
		"plan": scalar, "tags": {Each: scalar}, "extra": scalar,
		"rules": {Each: &model.Schema{Fields: map[string]*model.Schema{"source": scalar}}},
	}}
	for reason, tc := range map[string]struct{ attributes, want string }{
		"all fields exist":           {"{plan: {live: plan}, label: {live: tags.name}, any: {live: extra.deep}}", ""},
		"one is misspelt":            {"{plan: {live: plann}}", "plann (did you mean plan?)"},
		"nothing is like it":         {"{plan: {live: something}, size: {live: something}}", "something"},
		"one of a block":             {"{rule: {live: rules, block: many, attributes: {from: {live: sourc}}}}", "sourc (did you mean source?)"},
		"one that a condition reads": {"{plan: {live: plan, when: {rulez: x}}}", "rulez (did you mean rules?)"},
	} {
		folder := t.TempDir()
		table := "provider: kumo/kumo\ntypes:\n  kumo_server: {kind: kumo/server, id: \"{id}\", attributes: " + tc.attributes + "}\n"
		if err := os.WriteFile(filepath.Join(folder, "kumo.yaml"), []byte(table), 0o600); err != nil {
			t.Fatal(err)
		}
		tables, err := Load(folder)
		if err != nil {
			t.Errorf("%s: %v", reason, err)
			continue
		}
		typ, _ := tables.Find("registry.terraform.io/kumo/kumo", "kumo_server")
		for range 2 {
			if got := typ.forms[0].lens.Misfit(kind); got != tc.want {
				t.Errorf("%s: got %q, want %q", reason, got, tc.want)
			}
		}
		if got := typ.forms[0].lens.Misfit(nil); got != "" {
			t.Errorf("%s: got %q of an unknown schema", reason, got)
		}
	}
}
