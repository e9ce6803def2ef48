package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/declared/terraform/literal"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

// A Form converts the configuration of an instance at another commit to a tree that can be compared with
// the trees of the instance. It is immutable.
type Form struct {
	shape  *shape
	marks  *marks
	sealer model.Sealer
	schema *model.Schema
	// declared and recorded are the trees of the instance.
	declared, recorded *model.Value
	// writes reports whether the planned configuration sets the attribute at path.
	writes func(path []string) bool
}

// Writes reports whether the planned configuration sets, or may set, the top-level attribute or block with
// the given name.
func (f *Form) Writes(name string) bool { return f == nil || f.writes([]string{name}) }

// An Arranged is the declared value of an instance according to a configuration, as returned by
// Form.Arrange.
type Arranged struct {
	// Value has the structure of Instance.Declared. It does not contain unknown values.
	Value model.Value
	// Unknown are the paths of unknown values. Values below such a path are also unknown. An empty path
	// means the whole Value.
	Unknown [][]model.Step
}

// Arrange returns the value that a configuration declares. Values that are digests in the instance are
// digests in the result, too. A value is unknown if it is not literal, if only the provider sets it, or if
// the configuration omits it and the provider may fill it in.
func (f *Form) Arrange(written literal.Resource) Arranged {
	if f.shape == nil || len(f.shape.fields) == 0 {
		return unarranged()
	}
	a := &arranging{Form: f, unknown: pathsOf(written.Unknown), secret: pathsOf(written.Secret), texts: map[string]bool{}}
	if a.unknown[key(nil)] {
		return unarranged()
	}
	v := a.object(f.shape, f.marks, written.Value, place{d: valueAt(f.declared), r: valueAt(f.recorded)})
	return Arranged{Value: a.withoutCopies(v, nil), Unknown: a.notes}
}

func unarranged() Arranged {
	return Arranged{Value: model.MapOf(), Unknown: [][]model.Step{{}}}
}

func valueAt(v *model.Value) model.Value {
	if v == nil {
		return model.Value{}
	}
	return *v
}

// A place is a position in the trees during a call of Arrange.
type place struct {
	// written is the path in the configuration, and path the one in the instance's
	// trees. In a configuration, each nested block is an element of a list.
	written []string
	path    []model.Step
	// d and r are the declared and recorded values of the instance at the place.
	d, r model.Value
}

func (p place) field(name string) place {
	return place{written: appended(p.written, name), path: appended(p.path, model.Step{Text: name}), d: p.d.At(name), r: p.r.At(name)}
}

// item returns the place of an element. The written path gets a position only if the
// configuration has a list.
func (p place) item(i int, listed bool) place {
	below := place{written: p.written, path: appended(p.path, model.Step{Kind: model.IndexStep, Text: strconv.Itoa(i)}),
		d: itemAt(p.d, i), r: itemAt(p.r, i)}
	if listed {
		below.written = appended(p.written, strconv.Itoa(i))
	}
	return below
}

// appended returns a copy of path with one more step.
func appended[T any](path []T, step T) []T { return append(slices.Clip(slices.Clone(path)), step) }

// An arranging is one call of Arrange.
type arranging struct {
	*Form

	// unknown and secret are written paths, by key.
	unknown, secret map[string]bool
	// texts holds the secrets that were sealed.
	texts map[string]bool
	notes [][]model.Step
}

// key returns a path as a string, for maps.
func key(path []string) string { return strings.Join(path, "\x00") }

func pathsOf(paths [][]string) map[string]bool {
	set := make(map[string]bool, len(paths))
	for _, p := range paths {
		set[key(p)] = true
	}
	return set
}

// note records that the value at a place is unknown.
func (a *arranging) note(p place) model.Value {
	a.notes = append(a.notes, p.path)
	return model.Value{}
}

// noteIfHeld records that the value at a place is unknown, if the instance has a value there.
func (a *arranging) noteIfHeld(p place) model.Value {
	if !p.d.IsNull() || !p.r.IsNull() {
		a.note(p)
	}
	return model.Value{}
}

func (a *arranging) node(s *shape, m *marks, v model.Value, p place) model.Value {
	switch {
	case s != nil && (s.computed || s.writeOnly):
		return a.noteIfHeld(p)
	case a.unknown[key(p.written)]:
		return a.note(p)
	case v.IsNull():
		return a.absent(s, p)
	case m != nil && m.self:
		return a.sealed(s, v, p)
	case a.secret[key(p.written)]:
		return a.note(p)
	}
	return a.present(s, m, v, p)
}

// absent returns the value of an attribute that the configuration does not set.
func (a *arranging) absent(s *shape, p place) model.Value {
	switch {
	case s == nil || s.lenient:
		return a.noteIfHeld(p)
	case !a.writes(writtenPath(p.path)):
		// The planned configuration does not set it either.
		return p.d
	case s.block || !s.scalar || !a.fillsIn():
		return model.Value{}
	}
	return a.noteIfHeld(p)
}

// fillsIn reports whether the provider may have defaults that its schema does not
// show. Providers built with the old SDK have such defaults; it gives every resource
// type an attribute id that is optional and computed
// (terraform-plugin-sdk, helper/schema, Resource.CoreConfigSchema).
func (f *Form) fillsIn() bool {
	id := f.shape.field("id")
	return id != nil && id.lenient && !id.computed
}

// writtenPath returns a path as the texts of its steps.
func writtenPath(path []model.Step) []string {
	texts := make([]string, len(path))
	for i := range path {
		texts[i] = path[i].Text
	}
	return texts
}

// sealed returns the digests of a sensitive value. The value is unknown if a part of it is unknown,
// or if it may be JSON, which has several encodings.
func (a *arranging) sealed(s *shape, v model.Value, p place) model.Value {
	before := len(a.notes)
	v = a.present(s, nil, v, p)
	_, isDocument := mapping.Document(v.Str())
	if len(a.notes) > before || isDocument {
		a.notes = a.notes[:before]
		return a.note(p)
	}
	texts(v, func(text string) { a.texts[text] = true })
	return a.sealer.SealTree(v)
}

func (a *arranging) present(s *shape, m *marks, v model.Value, p place) model.Value {
	switch {
	case s == nil || !s.scalar && s.fields == nil && s.each == nil:
		return a.dynamic(m, v, p)
	case s.scalar:
		return a.scalar(s, v, p)
	case s.fields != nil:
		return a.single(s, m, v, p)
	case s.free:
		return a.mapOf(s, m, v, p)
	}
	return a.list(s, m, v, p)
}

// dynamic arranges a value of any type.
func (a *arranging) dynamic(m *marks, v model.Value, p place) model.Value {
	switch v.Kind() {
	case model.Map:
		var fields []model.Field
		for _, name := range a.names(v, p) {
			fields = appendField(fields, name, a.anything(m.below(name), v.At(name), p.field(name)))
		}
		return model.MapOf(fields...)
	case model.List:
		items := make([]model.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = a.anything(m.ofItems(), item, p.item(i, true))
		}
		return model.ListOf(items...)
	}
	return respelled(v, p)
}

// ofItems returns the marks of the elements of a list.
func (m *marks) ofItems() *marks {
	if m == nil {
		return nil
	}
	return m.each
}

// anything arranges a part of a value of any type; an absent part is null.
func (a *arranging) anything(m *marks, v model.Value, p place) model.Value {
	if v.IsNull() && !a.unknown[key(p.written)] {
		return v
	}
	return a.node(&shape{}, m, v, p)
}

// names returns the names of a map's fields, including the unknown ones.
func (a *arranging) names(v model.Value, p place) []string {
	var names []string
	for _, f := range v.Fields() {
		names = append(names, f.Name)
	}
	prefix := key(append(slices.Clone(p.written), ""))
	for path := range a.unknown {
		if rest, below := strings.CutPrefix(path, prefix); below && !strings.Contains(rest, "\x00") {
			names = append(names, rest)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// scalar converts a value to the attribute's type, as Terraform does.
func (a *arranging) scalar(s *shape, v model.Value, p place) model.Value {
	switch kind := v.Kind(); {
	case kind == model.List || kind == model.Map:
		return a.note(p)
	case s.text:
		return respelled(model.StringOf(v.Text()), p)
	case s.boolean && (v.Text() == "true" || v.Text() == "false"):
		return model.BoolOf(v.Text() == "true")
	case !s.boolean:
		if n, ok := model.NumberOf(v.Text()); ok {
			return n
		}
	}
	return a.note(p)
}

// respelled returns JSON in the encoding of the recorded value or of the planned configuration, if
// one of them has the same content.
func respelled(v model.Value, p place) model.Value {
	for _, other := range []model.Value{p.r, p.d} {
		if meansSame(v, other) {
			return other
		}
	}
	return v
}

// single arranges an object. A nested block is written as a list with one element.
func (a *arranging) single(s *shape, m *marks, v model.Value, p place) model.Value {
	if items := v.Items(); len(items) == 1 {
		p.written = appended(p.written, "0")
		v = items[0]
	}
	if v.Kind() != model.Map {
		return a.note(p)
	}
	return a.object(s, m, v, p)
}

func (a *arranging) object(s *shape, m *marks, v model.Value, p place) model.Value {
	var fields []model.Field
	for _, name := range s.names() {
		fields = appendField(fields, name, a.node(s.fields[name], m.below(name), v.At(name), p.field(name)))
	}
	return model.MapOf(fields...)
}

// names returns the names of the fields, sorted.
func (s *shape) names() []string {
	names := make([]string, 0, len(s.fields))
	for name := range s.fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (a *arranging) mapOf(s *shape, m *marks, v model.Value, p place) model.Value {
	if v.Kind() != model.Map {
		return a.note(p)
	}
	var fields []model.Field
	for _, name := range a.names(v, p) {
		if below := p.field(name); !v.At(name).IsNull() || a.unknown[key(below.written)] {
			fields = appendField(fields, name, a.node(s.each, m.below(name), v.At(name), below))
		}
	}
	return model.MapOf(fields...)
}

// list arranges a list or a set. In JSON syntax, a single nested block need not be in
// a list.
func (a *arranging) list(s *shape, m *marks, v model.Value, p place) model.Value {
	items, listed := v.Items(), v.Kind() == model.List
	if v.Kind() == model.Map && s.each.fields != nil {
		items = []model.Value{v}
	} else if !listed {
		return a.note(p)
	}
	before := len(a.notes)
	arranged := make([]model.Value, 0, len(items))
	for i, item := range items {
		below := p.item(i, listed)
		if s.set { // sets have no positions
			below.d, below.r = sampleOf(p.d), sampleOf(p.r)
		}
		item = a.node(s.each, m.ofItems(), item, below)
		if !s.set || !slices.ContainsFunc(arranged, item.Equal) {
			arranged = append(arranged, item)
		}
	}
	if s.set && len(a.notes) > before {
		a.notes = a.notes[:before]
		return a.note(p)
	}
	return model.ListOf(arranged...)
}

// sampleOf returns a map with all fields of the elements of a set.
func sampleOf(set model.Value) model.Value {
	var fields []model.Field
	for _, item := range set.Items() {
		fields = append(fields, item.Fields()...)
	}
	return model.MapOf(slices.Clone(fields)...)
}

// withoutCopies removes texts that are secrets in other places; marks.addCopies seals
// such texts in the plan.
func (a *arranging) withoutCopies(v model.Value, path []model.Step) model.Value {
	if len(a.texts) == 0 || !holds(v, a.texts) {
		return v
	}
	switch v.Kind() {
	case model.Map:
		var fields []model.Field
		for _, f := range v.Fields() {
			fields = appendField(fields, f.Name, a.withoutCopies(f.Value, appended(path, model.Step{Text: f.Name})))
		}
		return model.MapOf(fields...)
	case model.List:
		items := make([]model.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = a.withoutCopies(item, appended(path, model.Step{Kind: model.IndexStep, Text: strconv.Itoa(i)}))
		}
		return model.ListOf(items...)
	}
	return a.note(place{path: path})
}
