package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A walk compares one claim with the live resource, field by field. Null means that a side is
// absent.
type walk struct {
	subject *model.Subject
	live    *model.Resource
	claim   *model.Claim
	schema  *model.Schema
	record  record
	writers *writers
	// view is the live value in the form of the claim. template is the value of the
	// resource's template in that form, or null.
	view, template model.Value
	// inherited is the value of the template in that form, also if only its name is known, or null. inheritedUnread is
	// the reason why that template could not be read; "" otherwise.
	inherited       model.Value
	inheritedUnread string
	// others are the values of the other claims on the resource that have the same Lens.
	others []model.Value
	path   path
	// statements collects what the claim declares for each live field; nil drops it.
	statements *[]statement
	// foreign and mark report whether the walk is inside a field that is Foreign, or one of the Marks.
	foreign, mark bool
	differences   []difference
	options       Options
}

// A difference is one field that differs. reason is the evidence for the verdict, if one
// side is not known.
type difference struct {
	verdict model.Verdict
	change  model.Change
	reason  string
}

// isPending reports whether the live and recorded values agree and differ from the declared
// one.
func (f *difference) isPending() bool {
	return f.verdict == model.Pending || f.verdict == model.Bypassed
}

// usualDepth is the depth of nearly all fields.
const usualDepth = 8

func newWalk(s *model.Subject, c *model.Claim, live model.Value, o Options) *walk {
	w := &walk{subject: s, live: liveOf(s, c), claim: c, record: newRecord(s.Live, c), path: make(path, 0, usualDepth), options: o}
	if c.LiveRead != nil {
		live = c.LiveRead.Value
	}
	seen := formIn(s, c, live)
	w.schema, w.view = seen.schema, seen.live
	if s.Template != nil && c.Lens != nil {
		w.template = c.Lens.View(s.Template.Value)
	}
	w.inherited = w.template
	if s.NamedTemplate != nil && c.Lens != nil {
		w.inherited = c.Lens.View(s.NamedTemplate.Value)
	}
	w.inheritedUnread = cmp.Or(s.NamedTemplateUnread, s.TemplateUnread)
	w.writers = &writers{live: s.Live, schema: w.schema, declared: c.Value, controller: o.Controller}
	return w
}

// run compares the whole resource.
func (w *walk) run() { w.node(w.schema, w.claim.Value, w.record.value, w.view) }

func (w *walk) push(s segment) { w.path = append(w.path, s) }

func (w *walk) pop() { w.path = w.path[:len(w.path)-1] }

// node compares one node.
func (w *walk) node(schema *model.Schema, d, r, l model.Value) {
	d, r = orUnset(schema, d), orUnset(schema, r)
	switch {
	case incomparable(schema):
		w.reportMasked(schema, d, l)
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

// declaredAbsent reports whether a field that the claim lacks is declared absent instead
// of left to other writers.
func (w *walk) declaredAbsent(schema *model.Schema) bool {
	return w.claim.Complete && (schema == nil || !schema.Optional && !schema.Stray)
}

// incomparable reports whether the live value of a field is not compared.
func incomparable(schema *model.Schema) bool {
	return schema != nil && (schema.Volatile || schema.Masked)
}

// unread reports whether the live side of the node could not be read. A declared or
// recorded value is unchecked then, unless it means the same as an absent one.
func (w *walk) unread(schema *model.Schema, d, r model.Value) bool {
	if len(w.live.UnreadFields) == 0 || len(w.path) == 0 {
		return false
	}
	reason := w.live.UnreadField(w.livePath())
	if reason == "" {
		return false
	}
	if !absentEquals(schema, d) || !absentEquals(schema, r) {
		w.addUnchecked(reason, d, r, model.Value{})
	}
	return true
}

func (w *walk) addUnchecked(reason string, d, r, l model.Value) {
	w.differences = append(w.differences, difference{model.Unchecked, w.change(d, r, l, model.UnknownActor("not checked")), reason})
}

// structured reports whether two values are compared field by field: two maps, or a map
// and an absent one that has free names or, in a complete claim, known fields.
func (w *walk) structured(schema *model.Schema, d, l model.Value) bool {
	if d.Kind() == model.Map && (l.Kind() == model.Map || l.IsNull() && hasFreeNames(schema)) {
		return true
	}
	one := d.Kind() == model.Map && l.IsNull() || d.IsNull() && l.Kind() == model.Map
	return one && w.claim.Complete && schema != nil && len(schema.Fields) > 0
}

// hasFreeNames reports whether a map has any field names, instead of known fields.
func hasFreeNames(schema *model.Schema) bool {
	return schema != nil && schema.Each != nil
}

func granular(schema *model.Schema) bool {
	return schema != nil && (schema.List == model.Keyed || schema.List == model.Set)
}

// fields compares two maps by the fields that any side has.
func (w *walk) fields(schema *model.Schema, d, r, l model.Value) {
	df, rf, lf := d.Fields(), r.Fields(), l.Fields()
	for len(df) > 0 || len(rf) > 0 || len(lf) > 0 {
		name := leastName(df, rf, lf)
		dv, rv, lv := takeField(&df, name), takeField(&rf, name), takeField(&lf, name)
		foreign, mark := w.foreign, w.mark
		w.foreign, w.mark = foreign || isForeign(schema, name), mark || isMark(schema, name)
		w.push(fieldSegment(name))
		w.node(schema.Field(name), dv, rv, lv)
		w.pop()
		w.foreign, w.mark = foreign, mark
	}
}

func isForeign(schema *model.Schema, name string) bool {
	return schema != nil && hasPrefix(name, schema.Foreign)
}

func isMark(schema *model.Schema, name string) bool {
	return schema != nil && hasPrefix(name, schema.Marks)
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
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

// takeField removes the first field from the list if it has that name, and returns its
// value.
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

// element compares one element. A declared one that is not live is reported as a whole.
func (w *walk) element(schema *model.Schema, d, r, l model.Value) {
	switch {
	case d.IsNull():
		w.extraElement(schema.Element(), r, l)
	case l.IsNull():
		w.reportDifference(schema.Element(), d, r, l)
	default:
		w.node(schema.Element(), d, r, l)
	}
}

// leaf compares two values that are replaced as a whole. In two lists of equal length it
// reports the elements that differ.
func (w *walk) leaf(schema *model.Schema, d, r, l model.Value) {
	w.recordStatement(schema, d, l)
	if schema == nil && d.Kind() == model.List && !w.defaultsKnown() {
		l = w.withoutDefaults(d, r, l)
	}
	if Equal(schema, d, l) {
		w.reportCodified(schema, d, r, l)
		return
	}
	if sameLength(d, l) && (r.IsNull() || sameLength(d, r)) {
		if pairs := differingMaps(schema, d, l); len(pairs) > 0 {
			w.reportInsideLists(schema, d, r, l, pairs)
			return
		}
	}
	w.reportDifference(schema, d, r, l)
}

// within reports whether live contains all that is declared, with lists of equal lengths. Further
// live fields may be defaults.
func within(schema *model.Schema, d, l model.Value) bool {
	switch {
	case Equal(schema, d, l):
		return true
	case d.Kind() == model.Map && l.Kind() == model.Map:
		return !slices.ContainsFunc(d.Fields(), func(f model.Field) bool { return !within(schema.Field(f.Name), f.Value, l.At(f.Name)) })
	case sameLength(d, l):
		for i, item := range d.Items() {
			if !within(schema.Element(), item, l.Items()[i]) {
				return false
			}
		}
		return true
	}
	return false
}

// sameLength reports whether two values are lists of equal length.
func sameLength(a, b model.Value) bool {
	return a.Kind() == model.List && b.Kind() == model.List && len(a.Items()) == len(b.Items())
}

// inside reports the fields that differ inside a value that is replaced as a whole. Such fields
// have no owners of their own.
func (w *walk) inside(schema *model.Schema, d, r, l model.Value) {
	if d.Kind() != model.Map || l.Kind() != model.Map {
		w.leaf(schema, d, r, l)
		return
	}
	d, r, l = completed(schema, d), completed(schema, r), completed(schema, l)
	df, lf := d.Fields(), l.Fields()
	for len(df) > 0 || len(lf) > 0 {
		name := leastName(df, lf)
		dv, lv := takeField(&df, name), takeField(&lf, name)
		below := schema.Field(name)
		dv = orUnset(below, dv)
		if Equal(below, dv, lv) || dv.IsNull() && (fillsIn(below, lv) || derived(schema)) {
			continue
		}
		w.push(fieldSegment(name))
		w.inside(below, dv, r.At(name), lv)
		w.pop()
	}
}

// itemAt returns an element, or null if there is none.
func itemAt(v model.Value, i int) model.Value {
	if i >= 0 && i < len(v.Items()) {
		return v.Items()[i]
	}
	return model.Value{}
}
