package mapping

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/driftd/driftd/internal/model"
)

// A lens converts live resources to the attributes of one type.
type lens struct {
	attributes []attribute
	whole      *whole
	parts      *optionParts
	schema     *model.Schema
	fits       atomic.Pointer[fitting]
}

// whole determines the unmanaged live fields of a resource that is managed as a whole.
type whole struct {
	// known are the fields of attributes, and fields that are never compared.
	known map[string]bool
	// indexed are the numbered fields of attributes.
	indexed []*slots
	// defaults are the default values of fields.
	defaults map[string]model.Value
	// only are the fields that are compared, with the attributes that set them; nil for all.
	only map[string][]string
	// found are the searches whose results are compared if an instance lacks an attribute, by attribute.
	found map[string]*slots
	// partsExcept are the parts of options that are not compared; nil if no parts are.
	partsExcept []string
}

// setBy returns the attributes without a mapping that set a live field. ok is false if the field is not compared.
func (w *whole) setBy(name string) (attributes []string, ok bool) {
	if w.only == nil {
		return nil, true
	}
	if by, listed := w.only[name]; listed {
		return by, true
	}
	prefix := strings.TrimRight(name, "0123456789")
	by, listed := w.only[prefix+"#"]
	return by, listed && prefix != name
}

// depends reports whether the live fields that are compared depend on the attributes of an instance.
func (w *whole) depends(attributes model.Value) bool {
	if w == nil {
		return false
	}
	for name := range w.found {
		if attributes.At(name).IsEmpty() {
			return true
		}
	}
	return w.only != nil
}

// unset returns the live fields that a search finds for an attribute which an instance lacks.
func (w *whole) unset(attributes, live model.Value) (fields []model.Field) {
	for _, name := range slices.Sorted(maps.Keys(w.found)) {
		if !attributes.At(name).IsEmpty() {
			continue
		}
		for _, e := range w.found[name].of(live) {
			fields = append(fields, model.Field{Name: e.key, Value: e.value})
		}
	}
	return fields
}

func newLens(attributes []attribute, w *whole) *lens {
	l := &lens{attributes: attributes, whole: w, schema: &model.Schema{Fields: schemas(attributes)}}
	if w == nil {
		return l
	}
	stray := &model.Schema{Extra: model.Extra{Stray: true}}
	stray.Each = stray
	l.schema.Each = stray
	for name, v := range w.defaults {
		if l.schema.Fields[name] == nil {
			l.schema.Fields[name] = &model.Schema{Extra: model.Extra{Stray: true}, Default: &v}
		}
	}
	liveFields(attributes, true, w.known, &w.indexed)
	if w.partsExcept != nil {
		l.parts = newOptionParts(attributes, w.partsExcept)
	}
	return l
}

// Schema implements model.Lens.
func (l *lens) Schema() *model.Schema { return l.schema }

// View implements model.Lens. It returns the mapped attributes with the values of the live
// resource. For an absent live field it returns the meaning of the absence, so that a report can
// show it.
func (l *lens) View(live model.Value) model.Value {
	return model.MapOf(append(viewFields(l.attributes, top(live)), l.stray(live)...)...)
}

// stray returns the live fields without an attribute that are compared.
func (l *lens) stray(live model.Value) []model.Field {
	if l.whole == nil {
		return nil
	}
	var fields []model.Field
	for _, f := range live.Fields() {
		if l.strays(f.Name) {
			fields = append(fields, f)
		}
	}
	if l.parts != nil {
		fields = append(fields, l.parts.strays(live, func(name string) bool { return find(l.attributes, name) != nil })...)
	}
	return fields
}

func top(live model.Value) scope { return scope{root: live, element: live} }

func traced(live model.Value) scope { return scope{root: live, element: live, traced: true} }

// strays reports whether a live field has no attribute and is compared.
func (l *lens) strays(name string) bool {
	if _, compared := l.whole.setBy(name); !compared || l.whole.known[name] || find(l.attributes, name) != nil {
		return false
	}
	return !slices.ContainsFunc(l.whole.indexed, func(s *slots) bool { return s.has(name) })
}

// LivePath implements model.Lens. Positions in the path are those of the lists that View returns.
// In the result, a block without a live element is identified by its key (disk.scsi1), or as [-1-n]
// by its position n among the declared blocks.
func (l *lens) LivePath(live model.Value, at string) string {
	steps := parseSteps(at)
	if len(steps) == 0 {
		return ""
	}
	if find(l.attributes, steps[0].name) == nil && l.whole != nil {
		if option, part, ok := strings.Cut(steps[0].name, "."); ok && l.parts != nil && len(steps) == 1 {
			return joinPath(option, part)
		}
		return at
	}
	return livePath(l.attributes, traced(live), steps)
}

// IsShared implements model.Lens. It returns false.
func (l *lens) IsShared(string) bool { return false }

func livePath(attributes []attribute, sc scope, steps []step) string {
	a := find(attributes, steps[0].name)
	if a == nil {
		return ""
	}
	rest := steps[1:]
	switch a.block {
	case oneBlock:
		return inBlock(a.attributes, a.below(sc), rest[min(1, len(rest)):])
	case objectBlock:
		return inBlock(a.attributes, a.below(sc), rest)
	case manyBlocks, namedBlocks:
		if len(rest) == 0 {
			return a.below(sc).at
		}
		element, ok := a.entry(sc, rest[0])
		if !ok {
			return ""
		}
		return inBlock(a.attributes, element, rest[1:])
	case plainValue:
	}
	if a.convert.view != nil {
		rest = nil
	}
	return belowValue(a.live.text(sc), rest)
}

func inBlock(attributes []attribute, sc scope, steps []step) string {
	if len(steps) == 0 {
		return sc.at
	}
	return livePath(attributes, sc, steps)
}

// entry returns the element at a step of a path: a live element by its position or name, or the
// place of a declared element that is not live.
func (a *attribute) entry(sc scope, to step) (scope, bool) {
	entries := a.entries(sc)
	if to.isIndex() && to.index >= 0 {
		if to.index < len(entries) {
			return entries[to.index], true
		}
		return scope{}, false
	}
	name := to.name
	if to.isIndex() {
		// Without gaps, blocks are in the order of their numbers.
		if len(a.slots.prefixes) != 1 {
			return scope{}, false
		}
		name = a.slots.prefixes[0] + strconv.Itoa(-1-to.index)
	}
	i := slices.IndexFunc(entries, func(e scope) bool { return e.key == name })
	switch {
	case i >= 0 && !to.isIndex():
		return entries[i], true
	case i >= 0, len(a.slots.prefixes) > 0 && !a.slots.has(name):
		return scope{}, false
	}
	return scope{root: sc.root, key: name, at: joinPath(a.below(sc).at, name), traced: true}, true
}

// belowValue appends the steps inside a list or a map of scalars.
func belowValue(at string, steps []step) string {
	for _, s := range steps {
		if s.isIndex() {
			at = joinIndex(at, s.index)
		} else {
			at = joinPath(at, s.name)
		}
	}
	return at
}

func joinIndex(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }

func cmpNames(a, b string) int { return cmp.Compare(a, b) }
