package diff

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A walk compares one claim with the live resource, field by field. Null
// stands for an absent side everywhere.
type walk struct {
	subject *model.Subject
	live    *model.Resource
	claim   *model.Claim
	schema  *model.Schema
	record  record
	writers *writers
	// view is the live value in the claim's words; template is what the
	// resource was made from, in the same words, or null.
	view, template model.Value
	// others are the values of the other claims on the resource.
	others []model.Value
	path   path
	// voices takes what the claim says of each live field; nil where nobody asks.
	voices *[]voice
	// foreign tells that the walk is inside a field that controllers and
	// delivery tools put beside what is declared.
	foreign bool
	found   []found
	options Options
}

// found is one field that differs; reason says what the verdict rests on where
// a side could not be known.
type found struct {
	verdict model.Verdict
	change  model.Change
	reason  string
}

// waits reports whether the live and recorded values agree and differ from the declared
// one.
func (f *found) waits() bool { return f.verdict == model.Pending || f.verdict == model.Bypassed }

func newWalk(s *model.Subject, c *model.Claim, live model.Value, o Options) *walk {
	w := &walk{subject: s, live: s.Live, claim: c, view: live, record: newRecord(s.Live, c), options: o}
	switch {
	case c.Lens != nil:
		w.schema, w.view = c.Lens.Schema(), c.Lens.View(live)
	case s.Kind != nil:
		w.schema = s.Kind.Schema
	}
	if s.Template != nil && c.Lens != nil {
		w.template = c.Lens.View(s.Template.Value)
	}
	w.writers = &writers{live: s.Live, schema: w.schema, declared: c.Value, controller: o.Controller}
	return w
}

// run compares the whole resource.
func (w *walk) run() { w.node(w.schema, w.claim.Value, w.record.value, w.view) }

func (w *walk) push(s segment) { w.path = append(w.path, s) }

func (w *walk) pop() { w.path = w.path[:len(w.path)-1] }

// node compares one node.
func (w *walk) node(schema *model.Schema, d, r, l model.Value) {
	switch {
	case hidden(schema):
		w.masked(schema, d)
	case w.unread(schema, d, r):
	case d.IsNull() && !w.declaredAbsent(schema):
		w.undeclared(schema, r, l)
	case sequences(schema, d, l):
		w.sequence(schema, d, r, l)
	case w.structured(schema, d, l):
		w.fields(schema, d, r, l)
	case d.Kind() == model.List && granular(schema) && (l.Kind() == model.List || l.IsNull()):
		w.elements(schema, d, r, l)
	default:
		w.leaf(schema, d, r, l)
	}
}

// declaredAbsent tells whether a field that the claim lacks is declared absent,
// rather than left to whoever sets it.
func (w *walk) declaredAbsent(schema *model.Schema) bool {
	return w.claim.Complete && (schema == nil || !schema.Optional && !schema.Stray)
}

// hidden tells a field whose live value says nothing.
func hidden(schema *model.Schema) bool { return schema != nil && (schema.Volatile || schema.Masked) }

// unread reports whether the live side of the node could not be read. What is declared
// or recorded there is unchecked, unless it means the same as nothing.
func (w *walk) unread(schema *model.Schema, d, r model.Value) bool {
	if len(w.live.UnreadFields) == 0 || len(w.path) == 0 {
		return false
	}
	reason := w.live.UnreadField(w.livePath())
	if reason == "" {
		return false
	}
	if !absentEquals(schema, d) || !absentEquals(schema, r) {
		w.found = append(w.found, found{model.Unchecked, w.change(d, r, model.Value{}, model.UnknownActor("not checked")), reason})
	}
	return true
}

// structured tells two maps, a map and an absent one with free names, or a map
// and an absent one whose fields are known and, in a complete claim, declared
// absent.
func (w *walk) structured(schema *model.Schema, d, l model.Value) bool {
	if d.Kind() == model.Map && (l.Kind() == model.Map || l.IsNull() && isOpen(schema)) {
		return true
	}
	one := d.Kind() == model.Map && l.IsNull() || d.IsNull() && l.Kind() == model.Map
	return one && w.claim.Complete && schema != nil && len(schema.Fields) > 0
}

// isOpen tells a map with free names, whose fields stand for themselves, from
// a structure.
func isOpen(schema *model.Schema) bool {
	return schema != nil && schema.Each != nil
}

func granular(schema *model.Schema) bool {
	return schema != nil && (schema.List == model.Keyed || schema.List == model.Set)
}

// fields compares two maps. A field that is neither declared, recorded nor
// live does not exist.
func (w *walk) fields(schema *model.Schema, d, r, l model.Value) {
	df, rf, lf := d.Fields(), r.Fields(), l.Fields()
	for len(df) > 0 || len(rf) > 0 || len(lf) > 0 {
		name := leastName(df, rf, lf)
		dv, rv, lv := takeField(&df, name), takeField(&rf, name), takeField(&lf, name)
		outside := w.foreign
		w.foreign = outside || isForeign(schema, name)
		w.push(fieldSegment(name))
		w.node(schema.Field(name), dv, rv, lv)
		w.pop()
		w.foreign = outside
	}
}

func isForeign(schema *model.Schema, name string) bool {
	return schema != nil && slices.ContainsFunc(schema.Foreign, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func leastName(lists ...[]model.Field) string {
	least, found := "", false
	for _, l := range lists {
		if len(l) > 0 && (!found || l[0].Name < least) {
			least, found = l[0].Name, true
		}
	}
	return least
}

// takeField returns the value of the first field when it has that name, and
// drops it from the list.
func takeField(fields *[]model.Field, name string) model.Value {
	if len(*fields) == 0 || (*fields)[0].Name != name {
		return model.Value{}
	}
	v := (*fields)[0].Value
	*fields = (*fields)[1:]
	return v
}

// elements compares two lists whose elements have names: keyed lists and sets.
func (w *walk) elements(schema *model.Schema, d, r, l model.Value) {
	triples, ok := pairElements(schema, d.Items(), r.Items(), l.Items())
	if !ok {
		w.leaf(schema, d, r, l)
		return
	}
	for _, t := range triples {
		w.push(elementSegment(schema, t.any()))
		w.element(schema, t.declared(), t.recorded(), t.live())
		w.pop()
	}
}

// element compares one element. One that is declared and not live is reported
// as a whole.
func (w *walk) element(schema *model.Schema, d, r, l model.Value) {
	switch {
	case d.IsNull():
		w.extraElement(schema.Element(), r, l)
	case l.IsNull():
		w.differs(schema.Element(), d, r, l)
	default:
		w.node(schema.Element(), d, r, l)
	}
}

// leaf compares two values that are replaced as one. Where two lists have as
// many elements, it looks for the difference inside them.
func (w *walk) leaf(schema *model.Schema, d, r, l model.Value) {
	w.speak(schema, d, l)
	if Equal(schema, d, l) || schema == nil && d.Kind() == model.List && within(d, l) {
		w.codified(schema, d, r, l)
		return
	}
	if alike(d, l) && (r.IsNull() || alike(d, r)) {
		if pairs := differingMaps(schema, d, l); len(pairs) > 0 {
			w.insideLists(schema, d, r, l, pairs)
			return
		}
	}
	w.differs(schema, d, r, l)
}

// within tells whether live has all that is declared, in lists of the same
// length: where nothing is known of a list, more fields in its elements may be
// defaults.
func within(d, l model.Value) bool {
	switch {
	case d.Kind() == model.Map && l.Kind() == model.Map:
		return !slices.ContainsFunc(d.Fields(), func(f model.Field) bool { return !within(f.Value, l.At(f.Name)) })
	case alike(d, l):
		for i, item := range d.Items() {
			if !within(item, l.Items()[i]) {
				return false
			}
		}
		return true
	}
	return Equal(nil, d, l)
}

// alike tells whether two values are lists of one length.
func alike(a, b model.Value) bool {
	return a.Kind() == model.List && b.Kind() == model.List && len(a.Items()) == len(b.Items())
}

// inside finds the fields that differ inside a value that is replaced as one:
// no field there has an owner of its own.
func (w *walk) inside(schema *model.Schema, d, r, l model.Value) {
	if d.Kind() != model.Map || l.Kind() != model.Map {
		w.leaf(schema, d, r, l)
		return
	}
	df, lf := d.Fields(), l.Fields()
	for len(df) > 0 || len(lf) > 0 {
		name := leastName(df, lf)
		dv, lv := takeField(&df, name), takeField(&lf, name)
		below := schema.Field(name)
		if Equal(below, dv, lv) || dv.IsNull() && (fillsIn(below, lv) || derived(schema)) {
			continue
		}
		w.push(fieldSegment(name))
		w.inside(below, dv, r.At(name), lv)
		w.pop()
	}
}

// itemAt returns an element, or null where there is none.
func itemAt(v model.Value, i int) model.Value {
	if i >= 0 && i < len(v.Items()) {
		return v.Items()[i]
	}
	return model.Value{}
}
