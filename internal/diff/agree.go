package diff

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// Deviations returns the paths at which a live value differs from a declared one, sorted. Unlike
// Compare, it uses no record of writers: a live value that is not declared is a deviation unless
// the system sets it according to the schema.
func Deviations(schema *model.Schema, declared, live model.Value) []string {
	return differing(schema, declared, live, func(schema *model.Schema, d, l model.Value) bool {
		return schema != nil && schema.Volatile || Equal(schema, d, l) || orUnset(schema, d).IsNull() && fillsIn(schema, l)
	})
}

// Redeclared returns the paths at which two declared values of one resource differ, sorted. It
// ignores differences in spelling and defaults that only one of the values contains.
func Redeclared(schema *model.Schema, earlier, later model.Value) []string {
	return differing(schema, earlier, later, Equal)
}

func differing(schema *model.Schema, a, b model.Value, same func(schema *model.Schema, a, b model.Value) bool) []string {
	f := fields{same: same}
	f.node(schema, a, b)
	paths := make([]string, len(f.changes))
	for i := range f.changes {
		paths[i] = f.changes[i].Path
	}
	slices.Sort(paths)
	return paths
}

// Touches reports whether one of the paths is equal to at, below it or above it. The path "" is
// above all others.
func Touches(paths []string, at string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return at == "" || p == "" || model.Overlap(p, at) })
}
