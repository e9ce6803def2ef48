package mapping

import (
	"maps"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// A block is the structure of an attribute's value.
type block uint8

const (
	// plainValue is a scalar, a list of scalars, or a map of them.
	plainValue block = iota
	// oneBlock is a list with exactly one block. A block that is not written exists with all
	// its defaults.
	oneBlock
	// manyBlocks is a list of blocks, each of which represents a live element.
	manyBlocks
	// objectBlock is a map with known fields.
	objectBlock
	// namedBlocks is a map of objects, by the live name of each.
	namedBlocks
)

// An attribute is one attribute of a type, compiled.
type attribute struct {
	name string
	live source
	// absent replaces a missing live value, fallback a missing attribute.
	absent, fallback model.Value
	optional         bool
	// generated reports whether the system generates a value if none is given.
	generated bool
	// own reports whether a clone never has the value of its template.
	own    bool
	masked bool
	// sealed reports whether the live side holds digests, so that the declared value is sealed
	// too; sealedURL reports it for URLs with a password.
	sealed, sealedURL bool

	location bool
	convert  conversion
	// values replace texts, on either side.
	values map[string]model.Value
	// unset are values that mean that nothing is set, on either side.
	unset []model.Value
	// ignored are patterns for keys of a map that are not compared.
	ignored []string
	// or names the attribute to use if this one is not set.
	or string
	// All conditions of when and none of unless must hold for the element; otherwise the live
	// value is absent.
	when, unless []condition
	compare      comparison
	// stripped reports whether blanks around a text are ignored, typed whether the live side
	// holds typed values where the attribute holds texts.
	stripped, typed bool
	// computed reports whether the attribute is read-only in the provider.
	computed bool
	relative relation

	block block
	// slots are the live fields that the blocks represent. Without prefixes the path live
	// leads to a list or to one map, and slots only filters its elements.
	slots slots
	keys  []string
	// onlyIf names the attribute of a block that enables it.
	onlyIf string
	// others reports whether live elements without a declared block are managed elsewhere.
	others     bool
	attributes []attribute
	schema     *model.Schema
}

// comparison holds the settings for comparing plain values.
type comparison struct {
	anyOrder bool
	format   model.Format
}

// find returns the attribute with a name, or nil.
func find(attributes []attribute, name string) *attribute {
	i, ok := slices.BinarySearchFunc(attributes, name, func(a attribute, name string) int { return cmpNames(a.name, name) })
	if !ok {
		return nil
	}
	return &attributes[i]
}

// view returns the value that the attribute would have if it agreed with the live resource, or
// null.
func (a *attribute) view(sc scope) model.Value {
	switch a.block {
	case oneBlock:
		return model.ListOf(a.inside(sc))
	case objectBlock:
		return a.inside(sc)
	case manyBlocks:
		entries := a.entries(sc)
		items := make([]model.Value, len(entries))
		for i, e := range entries {
			items[i] = model.MapOf(viewFields(a.attributes, e)...)
		}
		return model.ListOf(items...)
	case namedBlocks:
		entries := a.entries(sc)
		fields := make([]model.Field, len(entries))
		for i, e := range entries {
			fields[i] = model.Field{Name: e.key, Value: model.MapOf(viewFields(a.attributes, e)...)}
		}
		return model.MapOf(fields...)
	case plainValue:
	}
	return a.scalar(sc)
}

func (a *attribute) inside(sc scope) model.Value {
	return model.MapOf(viewFields(a.attributes, a.below(sc))...)
}

// below returns the scope of the attributes of a single block.
func (a *attribute) below(sc scope) scope {
	from, _ := a.live.start(sc)
	from.root, from.element, from.at = sc.root, a.live.value(sc), a.live.text(sc)
	if from.element.Kind() == model.List && a.block != manyBlocks {
		from.element, from.at = first(from.element), from.item(0)
	}
	return from
}

func viewFields(attributes []attribute, sc scope) []model.Field {
	fields := make([]model.Field, 0, len(attributes))
	for i := range attributes {
		if v := attributes[i].view(sc); !v.IsNull() {
			fields = append(fields, model.Field{Name: attributes[i].name, Value: v})
		}
	}
	return fields
}

// entries returns the scopes of the live elements of the blocks.
func (a *attribute) entries(sc scope) []scope {
	below := a.below(sc)
	if len(a.slots.prefixes) > 0 {
		entries := a.slots.of(below.element)
		scopes := make([]scope, len(entries))
		for i, e := range entries {
			scopes[i] = scope{root: sc.root, element: e.value, key: e.key, at: below.below(e.key), traced: sc.traced}
		}
		return scopes
	}
	switch {
	case a.block == namedBlocks:
		var scopes []scope
		for _, f := range below.element.Fields() {
			scopes = append(scopes, scope{root: sc.root, element: f.Value, key: f.Name, at: below.below(f.Name), traced: sc.traced})
		}
		return scopes
	case below.element.Kind() == model.List:
		var scopes []scope
		for i, item := range below.element.Items() {
			if a.slots.holds(item) {
				scopes = append(scopes, scope{root: sc.root, element: item, at: below.item(i), traced: sc.traced})
			}
		}
		return scopes
	case !below.element.IsNull() && a.slots.holds(below.element):
		return []scope{below}
	}
	return nil
}

func (a *attribute) scalar(sc scope) model.Value {
	fits := func(c condition) bool { return c.holds(sc.element) }
	if slices.ContainsFunc(a.unless, fits) || slices.ContainsFunc(a.when, func(c condition) bool { return !fits(c) }) {
		return a.absent
	}
	v := a.live.value(sc)
	if v.IsNull() {
		return a.absent
	}
	if a.convert.view != nil && v.Kind() != model.Secret {
		v = a.convert.view(v)
	}
	if v = a.formed(v); v.IsNull() {
		return a.absent
	}
	return v
}

// formed converts a value to the form in which both sides are compared.
func (a *attribute) formed(v model.Value) model.Value {
	if v.Kind() == model.Secret {
		return v
	}
	if a.stripped {
		v = stripped(v)
	}
	for _, f := range v.Fields() {
		if matchesAny(a.ignored, f.Name) {
			v = v.Without(f.Name)
		}
	}
	if v = a.translated(v); a.typed {
		return nonEmpty(v)
	}
	return v
}

// translated returns the value that the table has for a text, null for an unset value, or v.
func (a *attribute) translated(v model.Value) model.Value {
	if other, ok := a.values[v.Text()]; ok && v.Kind() == model.String {
		v = other
	}
	if slices.ContainsFunc(a.unset, v.Equal) {
		return model.Value{}
	}
	return v
}

// newSchema returns the schema for comparing the attribute.
func (a *attribute) newSchema() *model.Schema {
	s := &model.Schema{Masked: a.masked, Location: a.location, Extra: model.Extra{Optional: a.optional, Generated: a.generated, Own: a.own}}
	switch a.block {
	case oneBlock:
		s.List, s.Each = model.Sequence, &model.Schema{Fields: schemas(a.attributes)}
	case manyBlocks:
		s.List, s.Keys = model.Sequence, a.keys
		s.Each = a.element()
	case objectBlock:
		s.Fields = schemas(a.attributes)
	case namedBlocks:
		s.Each = a.element()
	case plainValue:
		s.Format, s.Each = a.compare.format, &model.Schema{Format: a.compare.format, Content: true}
		if a.compare.anyOrder {
			s.List = model.Bag
		}
		if !a.fallback.IsNull() {
			s.Default = &a.fallback
		}
	}
	return s
}

// element returns the schema of one block of a list. If undeclared elements are allowed, a
// block that is not declared has no expected fields.
func (a *attribute) element() *model.Schema {
	s := &model.Schema{Fields: schemas(a.attributes), Extra: model.Extra{Optional: a.others}}
	if a.others {
		for name, field := range s.Fields {
			optional := *field
			optional.Optional = true
			s.Fields[name] = &optional
		}
	}
	return s
}

func schemas(attributes []attribute) map[string]*model.Schema {
	fields := make(map[string]*model.Schema, len(attributes))
	for i := range attributes {
		fields[attributes[i].name] = attributes[i].schema
	}
	return fields
}

// liveFields adds the fields of the whole resource that the attributes represent to names, and the
// numbered ones to indexed. top reports whether the attributes belong to the resource itself.
func liveFields(attributes []attribute, top bool, names map[string]bool, indexed *[]*slots) {
	for i := range attributes {
		a := &attributes[i]
		if a.live.base == fromRoot || a.live.base == fromElement && top {
			names[a.live.field()] = true
		}
		if a.live.base == fromFound {
			*indexed = append(*indexed, a.live.found)
		}
		atTop := top && a.live.base == fromElement && len(a.live.names) == 0
		if len(a.slots.prefixes) > 0 && atTop {
			*indexed = append(*indexed, &a.slots)
		}
		liveFields(a.attributes, atTop && len(a.slots.prefixes) == 0 && (a.block == oneBlock || a.block == objectBlock), names, indexed)
	}
}

func sortedAttributes(byName map[string]attribute) []attribute {
	attributes := make([]attribute, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		attributes = append(attributes, byName[name])
	}
	return attributes
}
