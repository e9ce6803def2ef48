package diff

import "github.com/driftd/driftd/internal/model"

// A triple is one element of a keyed list or a set on each side; nil if the side lacks it.
type triple struct{ d, r, l *model.Value }

func (t triple) declared() model.Value { return deref(t.d) }
func (t triple) recorded() model.Value { return deref(t.r) }
func (t triple) live() model.Value     { return deref(t.l) }

func deref(v *model.Value) model.Value {
	if v == nil {
		return model.Value{}
	}
	return *v
}

// any returns the element of the first side that has it.
func (t triple) any() *model.Value {
	switch {
	case t.d != nil:
		return t.d
	case t.l != nil:
		return t.l
	}
	return t.r
}

// pairElements pairs the elements of three lists by key: first the declared elements in their
// order, then those that are only live, and then those that are only recorded. If an element has no
// key, or two elements of one list have the same key, ok is false and the lists can only be
// compared as a whole.
func pairElements(schema *model.Schema, d, r, l []model.Value) (triples []triple, ok bool) {
	if aligned(schema, d, l) && (len(r) == 0 || aligned(schema, d, r)) {
		return pairInOrder(d, r, l), true
	}
	index := make(map[string]int, len(d)+len(l))
	sides := [3][]model.Value{d, l, r}
	for side, list := range sides {
		for i := range list {
			name, named := elementName(schema, list[i])
			at, seen := index[name]
			if !seen {
				at = len(triples)
				index[name] = at
				triples = append(triples, triple{})
			}
			if !named || !triples[at].put(side, &list[i]) {
				return nil, false
			}
		}
	}
	return triples, true
}

// pairInOrder pairs aligned lists by position; r may be empty.
func pairInOrder(d, r, l []model.Value) []triple {
	triples := make([]triple, len(d))
	for i := range d {
		triples[i] = triple{d: &d[i], l: &l[i]}
		if len(r) > 0 {
			triples[i].r = &r[i]
		}
	}
	return triples
}

// put sets one side; it returns false if that side is set.
func (t *triple) put(side int, v *model.Value) bool {
	slot := [3]**model.Value{&t.d, &t.l, &t.r}[side]
	if *slot != nil {
		return false
	}
	*slot = v
	return true
}

// aligned reports whether two lists have the same keys in the same order.
func aligned(schema *model.Schema, a, b []model.Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameElement(schema, a[i], b[i]) {
			return false
		}
	}
	return true
}

func elementName(schema *model.Schema, element model.Value) (string, bool) {
	if schema.List == model.Set {
		return string(element.AppendJSON(nil)), true
	}
	key, ok := keyOf(schema, element)
	return string(key.AppendJSON(nil)), ok
}
