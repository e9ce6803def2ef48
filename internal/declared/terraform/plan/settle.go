package plan

import (
	"slices"
	"strconv"

	"github.com/driftd/driftd/internal/model"
)

// sides are what is declared, recorded and live of one node. Null stands for
// absent.
type sides struct{ d, r, l model.Value }

// A settling makes the three trees of one instance comparable: a difference
// that is left in them is one that somebody made.
type settling struct {
	// writes tells whether the configuration sets the attribute at path.
	writes func(path []string) bool
	// ignores tells whether ignore_changes leaves it to whoever sets it.
	ignores func(path []string) bool
	// without returns what a refresh found at the top of the resource, in something
	// that the configuration does not write, less what other resources declare.
	without func(name string, shape *shape, n sides) sides
	// computed keeps attributes that only the provider sets.
	computed bool
	// waiting is set when a value that the configuration writes will be known
	// only after something else was applied.
	waiting bool
	// respelled is set when what is declared and what is live are two spellings
	// of one value.
	respelled bool
	// unwritten is set below a block that the configuration does not write.
	unwritten bool
	path      []string
}

// node settles one node; unknown is its part of after_unknown.
func (s *settling) node(shape *shape, n sides, unknown any) sides {
	if s.foundByRefresh(shape, n, unknown) {
		n = s.without(s.path[0], shape, n)
	}
	if shape != nil && shape.block && !s.unwritten && !s.writes(s.path) {
		s.unwritten = true
		defer func() { s.unwritten = false }()
	}
	switch {
	case shape != nil && shape.computed && !s.computed:
		return sides{}
	case unknown == true, shape.unordered() && hasUnknown(unknown):
		return s.unknown(n)
	case n.areMaps():
		return s.fields(shape, n, unknown)
	case !shape.unordered() && n.areAligned():
		return s.items(shape, n, unknown)
	}
	return s.leaf(shape, n)
}

// foundByRefresh reports whether a node is at the top of a resource, and only a refresh
// found something else there: the configuration does not write it, and no apply would
// change it.
func (s *settling) foundByRefresh(shape *shape, n sides, unknown any) bool {
	return len(s.path) == 1 && shape.kept() && !s.writes(s.path) && !n.r.Equal(n.l) && (unknown == true || n.d.Equal(n.l))
}

// each calls f with every side that is there.
func (n sides) each(f func(model.Value)) {
	for _, v := range []model.Value{n.d, n.r, n.l} {
		if !v.IsNull() {
			f(v)
		}
	}
}

// areMaps tells whether all sides that are there are maps.
func (n sides) areMaps() bool {
	maps, others := 0, 0
	n.each(func(v model.Value) {
		if v.Kind() == model.Map {
			maps++
		} else {
			others++
		}
	})
	return maps > 0 && others == 0
}

// areAligned tells whether all sides that are there are lists of one length. A
// list that appeared or vanished outside is compared as a whole.
func (n sides) areAligned() bool {
	length, aligned := -1, n.r.IsNull() == n.l.IsNull()
	n.each(func(v model.Value) {
		aligned = aligned && v.Kind() == model.List && (length < 0 || length == len(v.Items()))
		length = len(v.Items())
	})
	return aligned && length > 0
}

// hasUnknown tells whether anything in a part of after_unknown is unknown.
func hasUnknown(unknown any) bool {
	switch t := unknown.(type) {
	case bool:
		return t
	case []any:
		return slices.ContainsFunc(t, hasUnknown)
	case map[string]any:
		for _, below := range t {
			if hasUnknown(below) {
				return true
			}
		}
	}
	return false
}

// unknown takes what is recorded for what is declared: a value that is known
// only after an apply is no reason to call the record old.
func (s *settling) unknown(n sides) sides {
	s.waiting = s.waiting || s.writes(s.path)
	if n.d = n.r; n.d.IsNull() {
		n.d = n.l
	}
	return n
}

// below settles a child.
func (s *settling) below(step string, shape *shape, n sides, unknown any) sides {
	s.path = append(s.path, step)
	n = s.node(shape, n, unknown)
	s.path = s.path[:len(s.path)-1]
	return n
}

func (s *settling) fields(shape *shape, n sides, unknown any) sides {
	below, _ := unknown.(map[string]any)
	var d, r, l []model.Field
	for _, name := range n.names(below) {
		f := s.below(name, shape.field(name), sides{n.d.At(name), n.r.At(name), n.l.At(name)}, below[name])
		d, r, l = appendField(d, name, f.d), appendField(r, name, f.r), appendField(l, name, f.l)
	}
	return sides{mapLike(n.d, d), mapLike(n.r, r), mapLike(n.l, l)}
}

// names returns the names of the fields of all sides, sorted.
func (n sides) names(unknown map[string]any) []string {
	var names []string
	n.each(func(v model.Value) {
		for _, f := range v.Fields() {
			names = append(names, f.Name)
		}
	})
	for name := range unknown {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func appendField(fields []model.Field, name string, v model.Value) []model.Field {
	if v.IsNull() {
		return fields
	}
	return append(fields, model.Field{Name: name, Value: v})
}

// mapLike returns a map of the fields, or null where there was no map and still
// is nothing to say.
func mapLike(was model.Value, fields []model.Field) model.Value {
	if was.IsNull() && len(fields) == 0 {
		return was
	}
	return model.MapOf(fields...)
}

func (s *settling) items(shape *shape, n sides, unknown any) sides {
	below, _ := unknown.([]any)
	var d, r, l []model.Value
	for i := range max(len(n.d.Items()), len(n.r.Items()), len(n.l.Items())) {
		var u any
		if i < len(below) {
			u = below[i]
		}
		item := s.below(strconv.Itoa(i), shape.element(), sides{itemAt(n.d, i), itemAt(n.r, i), itemAt(n.l, i)}, u)
		d, r, l = append(d, item.d), append(r, item.r), append(l, item.l)
	}
	return sides{listLike(n.d, d), listLike(n.r, r), listLike(n.l, l)}
}

func itemAt(v model.Value, i int) model.Value {
	if i < len(v.Items()) {
		return v.Items()[i]
	}
	return model.Value{}
}

// listLike returns a list of the items where there was one.
func listLike(was model.Value, items []model.Value) model.Value {
	if was.IsNull() {
		return was
	}
	return model.ListOf(items...)
}

// leaf settles a value that is compared as one. Where declared and live agree
// and the record differs, a refresh found another value and no apply would
// change it: either the configuration was written to fit, or it does not write the
// value. A provider may keep what a block holds that the configuration does not write,
// as it may keep attributes that are optional and computed; schemas do not say that of
// blocks.
func (s *settling) leaf(shape *shape, n sides) sides {
	n = s.withoutComputed(shape, n)
	n = s.respell(n)
	if !n.d.Equal(n.l) || n.r.Equal(n.l) {
		return n
	}
	switch {
	case s.ignores(s.path), n.r.IsEmpty() && n.l.IsEmpty():
		n.r = n.l
	case s.unwritten, (shape == nil || shape.lenient) && !s.writes(s.path):
		n.d = n.r
	}
	return n
}

// withoutComputed drops what only the provider sets from lists whose elements
// are not settled one by one.
func (s *settling) withoutComputed(shape *shape, n sides) sides {
	if s.computed || shape == nil || shape.each == nil {
		return n
	}
	return sides{shape.declarable(n.d), shape.declarable(n.r), shape.declarable(n.l)}
}

// declarable returns the value without attributes that only the provider sets.
func (s *shape) declarable(v model.Value) model.Value {
	if s == nil || s.scalar {
		return v
	}
	switch v.Kind() {
	case model.Map:
		var fields []model.Field
		for _, f := range v.Fields() {
			if below := s.field(f.Name); below == nil || !below.computed {
				fields = append(fields, model.Field{Name: f.Name, Value: below.declarable(f.Value)})
			}
		}
		return model.MapOf(fields...)
	case model.List:
		items := make([]model.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = s.element().declarable(item)
		}
		return model.ListOf(items...)
	}
	return v
}
