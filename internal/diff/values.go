package diff

import "github.com/driftd/driftd/internal/model"

// Fields returns the fields in which two values of one resource differ, sorted by path, with the
// earlier value as Recorded and the later one as Live. It includes volatile fields.
func Fields(schema *model.Schema, before, after model.Value) []model.Change {
	f := fields{}
	f.node(schema, before, after)
	return f.changes
}

type fields struct {
	path    path
	changes []model.Change
	// same reports whether two values that are not compared field by field mean the same. nil compares them
	// strictly, and an empty map as an absent one.
	same func(schema *model.Schema, a, b model.Value) bool
}

func (f *fields) node(schema *model.Schema, a, b model.Value) {
	switch {
	case a.Equal(b):
	case f.same != nil && a.IsEmpty() && b.IsEmpty():
		f.leaf(schema, a, b)
	case mapOrAbsent(a) && mapOrAbsent(b):
		f.maps(schema, a, b)
	case listOrAbsent(a) && listOrAbsent(b) && granular(schema) && f.elements(schema, a, b):
	default:
		f.leaf(schema, a, b)
	}
}

func (f *fields) leaf(schema *model.Schema, a, b model.Value) {
	if f.same != nil && f.same(schema, a, b) {
		return
	}
	f.changes = append(f.changes, model.Change{Path: f.path.String(), Recorded: side(a), Live: side(b),
		Secret: a.HasSecret() || b.HasSecret()})
}

func mapOrAbsent(v model.Value) bool  { return v.Kind() == model.Map || v.IsNull() }
func listOrAbsent(v model.Value) bool { return v.Kind() == model.List || v.IsNull() }

func (f *fields) below(s segment, schema *model.Schema, a, b model.Value) {
	f.path = append(f.path, s)
	f.node(schema, a, b)
	f.path = f.path[:len(f.path)-1]
}

func (f *fields) maps(schema *model.Schema, a, b model.Value) {
	af, bf := a.Fields(), b.Fields()
	for len(af) > 0 || len(bf) > 0 {
		name := leastName(af, bf)
		f.below(fieldSegment(name), schema.Field(name), takeField(&af, name), takeField(&bf, name))
	}
}

// elements compares the elements of two lists by their keys; it returns false if they have
// none.
func (f *fields) elements(schema *model.Schema, a, b model.Value) bool {
	triples, ok := pairElements(schema, a.Items(), nil, b.Items())
	for _, t := range triples {
		f.below(elementSegment(schema, t.any()), schema.Element(), t.declared(), t.live())
	}
	return ok
}
