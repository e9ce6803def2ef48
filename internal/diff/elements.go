package diff

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// differingMaps pairs the elements of two lists that have no equal element in the other list. In an
// ordered list they are paired by position, in others by the fields that identify them; an element
// of only one list is then paired with the position -1. It returns nil if the lists can only be
// compared as a whole.
func differingMaps(schema *model.Schema, d, l model.Value) []pairing {
	left, right := unpaired(schema, d.Items(), l.Items())
	noMap := func(of model.Value) func(int) bool {
		return func(i int) bool { return of.Items()[i].Kind() != model.Map }
	}
	if slices.ContainsFunc(left, noMap(d)) || slices.ContainsFunc(right, noMap(l)) {
		return nil
	}
	pairs := make([]pairing, 0, len(left))
	for _, i := range left {
		at := slices.IndexFunc(right, func(j int) bool { return (i == j || !ordered(schema)) && samePlace(schema, d.Items()[i], l.Items()[j]) })
		switch {
		case at >= 0:
			pairs = append(pairs, pairing{i, right[at], i})
			right = slices.Delete(right, at, at+1)
		case ordered(schema):
			return nil
		default:
			pairs = append(pairs, pairing{i, -1, i})
		}
	}
	for k, j := range right {
		pairs = append(pairs, pairing{-1, j, len(d.Items()) + k})
	}
	return pairs
}

// reportInsideLists reports what differs between two lists, pair by pair.
func (w *walk) reportInsideLists(schema *model.Schema, d, r, l model.Value, pairs []pairing) {
	for _, p := range pairs {
		w.push(indexSegment(p.at, p.l))
		dv, lv := itemAt(d, p.d), itemAt(l, p.l)
		rv := recordedFor(schema, dv, lv, r, p.d)
		if dv.IsNull() || lv.IsNull() {
			w.reportDifference(schema.Element(), dv, rv, lv)
		} else {
			w.inside(schema.Element(), dv, rv, lv)
		}
		w.pop()
	}
}

// recordedFor returns the recorded element that belongs to a declared element or, if d is null, the
// one that equals a live element.
func recordedFor(schema *model.Schema, d, l, r model.Value, i int) model.Value {
	if ordered(schema) {
		return itemAt(r, i)
	}
	same := []func(model.Value) bool{func(v model.Value) bool { return Equal(schema.Element(), l, v) }}
	if !d.IsNull() {
		same = []func(model.Value) bool{
			func(v model.Value) bool { return Equal(schema.Element(), d, v) },
			func(v model.Value) bool { return samePlace(schema, d, v) },
		}
	}
	for _, fits := range same {
		if at := slices.IndexFunc(r.Items(), fits); at >= 0 {
			return r.Items()[at]
		}
	}
	return model.Value{}
}

func ordered(schema *model.Schema) bool { return schema == nil || schema.List == model.Ordered }

// samePlace reports whether two maps in lists may be one element that changed. If one of the maps
// contains a key of the schema, the keys decide. Otherwise the position decides in an ordered list;
// in other lists, half of the contents must be equal.
func samePlace(schema *model.Schema, a, b model.Value) bool {
	if a.Kind() != model.Map || b.Kind() != model.Map {
		return false
	}
	if schema != nil {
		identified := false
		for _, name := range schema.Keys {
			x, y := a.At(name), b.At(name)
			if !Equal(schema.Element().Field(name), x, y) {
				return false
			}
			identified = identified || !x.IsEmpty()
		}
		if identified {
			return true
		}
	}
	return ordered(schema) || resemble(schema.Element(), a, b)
}

// resemble reports whether half of the values inside two maps are equal, or more, or
// there is but one, which changed. Empty ones do not count.
func resemble(schema *model.Schema, a, b model.Value) bool {
	equal, other := agreement(schema, a, b)
	return equal+other == 1 || equal > 0 && equal >= other
}

// agreement returns the number of scalars inside two values that are equal and of those that are
// not. It compares lists by position.
func agreement(schema *model.Schema, a, b model.Value) (equal, other int) {
	add := func(schema *model.Schema, a, b model.Value) {
		e, o := agreement(schema, a, b)
		equal, other = equal+e, other+o
	}
	a, b = orUnset(schema, a), orUnset(schema, b)
	switch {
	case a.IsEmpty() && b.IsEmpty(), a.IsNull() && fillsIn(schema, b), b.IsNull() && fillsIn(schema, a):
	case a.Kind() == model.Map && b.Kind() == model.Map:
		fa, fb := completed(schema, a).Fields(), completed(schema, b).Fields()
		for len(fa) > 0 || len(fb) > 0 {
			name := leastName(fa, fb)
			add(schema.Field(name), takeField(&fa, name), takeField(&fb, name))
		}
	case a.Kind() == model.List && b.Kind() == model.List:
		for i := range max(len(a.Items()), len(b.Items())) {
			add(schema.Element(), itemAt(a, i), itemAt(b, i))
		}
	case Equal(schema, a, b):
		equal++
	default:
		other++
	}
	return equal, other
}
