package mapping

import (
	"io/fs"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBuiltInTables compares the tables that are compiled by provider with those that are compiled at once: no type is
// missing because a file was not known to have types of its provider.
func TestBuiltInTables(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(builtIn, "tables/*")
	if err != nil {
		t.Fatal(err)
	}
	all := compileBuiltIn(names)
	tables, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	want := (&Tables{own: all}).Types()
	if got := tables.Types(); len(got) != len(want) || len(got) == 0 {
		t.Errorf("got %d types, want %d", len(got), len(want))
	}
	for key := range all {
		if _, ok := tables.find(key); !ok {
			t.Errorf("%s of %s is not found", key.name, key.provider)
		}
	}
	providers := map[string]bool{}
	for key := range all {
		providers[key.provider] = true
	}
	got, wanted := slices.Sorted(maps.Keys(tables.builtIn)), slices.Sorted(maps.Keys(providers))
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("providers of the built-in files: -want +got:\n%s", diff)
	}
}
