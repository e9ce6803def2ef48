package plan

import (
	"slices"
	"strconv"

	"github.com/driftd/driftd/internal/model"
)

// sides are the declared, recorded and live values of one node. Null means absent.
type sides struct{ d, r, l model.Value }

// A settling normalizes the three trees of one instance, so that the remaining differences are real
// changes.
type settling struct {
	// writes reports whether the configuration sets the attribute at path.
	writes func(path []string) bool
	// ignores reports whether ignore_changes includes the attribute at path.
	ignores func(path []string) bool
	// without removes elements that other resources declare. It is called for nodes at the top
	// level of the resource that the configuration does not write and a refresh changed.
	without func(name string, shape *shape, n sides) sides
	// computed is set to keep attributes that only the provider sets.
	computed bool
	// whole is set for the sides that are compared with what a collector reads. There the table of the type has what an
	// attribute means that the state does not have: "enabled" may be true without a value, so that false is an edit.
	whole bool
	// waiting is set if a value in the configuration is unknown until another resource is applied.
	waiting bool
	// respelled is set if declared and live are two encodings of one value.
	respelled bool
	// unset are the paths of values that were changed by hand and that no apply changes back, because the configuration
	// does not set them.
	unset [][]string
	// unwritten is set below a block that the configuration does not write.
	unwritten bool
	path      []string
}

// node normalizes one node. unknown is its part of after_unknown.
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

// foundByRefresh reports whether a node at the top level of a resource was only changed by a
// refresh: the configuration does not write it, and no apply would change it.
func (s *settling) foundByRefresh(shape *shape, n sides, unknown any) bool {
	return len(s.path) == 1 && shape.kept() && !s.writes(s.path) && !n.r.Equal(n.l) && (unknown == true || n.d.Equal(n.l))
}

// each calls f with every side that is present.
func (n sides) each(f func(model.Value)) {
	for _, v := range []model.Value{n.d, n.r, n.l} {
		if !v.IsNull() {
			f(v)
		}
	}
}

// areMaps reports whether all present sides are maps.
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

// areAligned reports whether all present sides are lists of one length. A list that is missing on
// one side is compared as a whole.
func (n sides) areAligned() bool {
	length, aligned := -1, n.r.IsNull() == n.l.IsNull()
	n.each(func(v model.Value) {
		aligned = aligned && v.Kind() == model.List && (length < 0 || length == len(v.Items()))
		length = len(v.Items())
	})
	return aligned && length > 0
}

// hasUnknown reports whether a part of after_unknown contains an unknown value.
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

// unknown uses the recorded value as the declared one. A value that is unknown until an apply does
// not mean that the record is outdated.
func (s *settling) unknown(n sides) sides {
	s.waiting = s.waiting || s.writes(s.path)
	if n.d = n.r; n.d.IsNull() {
		n.d = n.l
	}
	return n
}

// below normalizes a child.
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

// mapLike returns a map of the fields, or null if was is not a map and there are no fields.
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

// listLike returns a list of the items if was is a list.
func listLike(was model.Value, items []model.Value) model.Value {
	if was.IsNull() {
		return was
	}
	return model.ListOf(items...)
}

// leaf normalizes a value that is compared as a whole. If declared and live are equal, or both without a text, and recorded
// differs, a refresh found another value that no apply would change. Either the configuration was
// changed to match, or it does not write the value. A provider may keep the content of a block that
// the configuration does not write, like optional and computed attributes; schemas do not have this
// information for blocks.
func (s *settling) leaf(shape *shape, n sides) sides {
	n = s.withoutComputed(shape, n)
	n = s.respell(n)
	if !n.isKept() || n.r.Equal(n.l) {
		return n
	}
	keeps, ignored, empty := n.d.Equal(n.l), s.ignores(s.path), n.l.IsEmpty()
	switch {
	case s.whole && n.r.IsNull() && empty && !ignored && !s.writes(s.path):
		n.d = n.r
	case keeps && (ignored || n.r.IsEmpty() && empty):
		n.r = n.l
	case s.unwritten, (shape == nil || shape.lenient) && !s.writes(s.path):
		n.d = n.r
		s.unset = append(s.unset, slices.Clone(s.path))
	}
	return n
}

// notSet is why an apply does not put a value back.
const notSet = "no apply changes it back, because the configuration does not set it"

// unenforced returns the paths of unset for a claim.
func (s *settling) unenforced() []model.Unenforced {
	var all []model.Unenforced
	for _, path := range s.unset {
		u := model.Unenforced{Why: notSet}
		for _, name := range path {
			u.Path = append(u.Path, model.Pick{Name: name})
		}
		all = append(all, u)
	}
	return all
}

// isKept reports whether an apply leaves the live value as it is: it is the declared one, or both are without a text.
func (n sides) isKept() bool { return n.d.Equal(n.l) || hasNoText(n.d) && hasNoText(n.l) }

// hasNoText reports whether a value is absent, or the empty text that some providers plan for it.
func hasNoText(v model.Value) bool { return v.IsNull() || v.Kind() == model.String && v.Str() == "" }

// withoutComputed removes the attributes that only the provider sets from lists whose elements are
// not normalized one by one.
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
