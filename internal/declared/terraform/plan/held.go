package plan

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

// A side returns the recorded or the live value of a member.
type side func(*member) model.Value

func recordedSide(m *member) model.Value { return m.recorded }
func liveSide(m *member) model.Value     { return m.live }

// unheld returns the part of an element that no child holds, or null if the children hold all of
// it. Children that differ in one item of a list share an element, such as the rules of a security
// group for several networks.
func (p *part) unheld(element model.Value, of side) model.Value {
	if p.isHeldWhole(element, of) {
		return model.Value{}
	}
	if element.Kind() != model.Map {
		return element
	}
	e, rest := p.elementOf(element), element
	for _, m := range p.children {
		if e.isHeldBy(m, of) {
			rest = e.less(m, of(m), rest)
		}
	}
	if !rest.Equal(element) && !p.elementOf(rest).hasItems() {
		return model.Value{}
	}
	return rest
}

// isHeldWhole reports whether a child has the string at its top level, or the object in a list with
// the part's name.
func (p *part) isHeldWhole(element model.Value, of side) bool {
	return slices.ContainsFunc(p.children, func(m *member) bool {
		if element.Kind() == model.Map {
			return slices.ContainsFunc(essences(of(m).At(p.name)), essence(element).Equal)
		}
		return !element.IsEmpty() && slices.ContainsFunc(of(m).Fields(), func(f model.Field) bool { return f.Value.Equal(element) })
	})
}

// An element is an object of a list that children may hold. Its items are the items of its lists of
// strings, and a reference to the parent itself. Different children may hold different items, but
// each of them must hold all the other fields.
type element struct {
	*part

	value model.Value
	// fields are those that a configuration can set. lists are those of strings or numbers.
	fields, lists []string
}

func (p *part) elementOf(v model.Value) *element {
	e := &element{part: p, value: v}
	for name, shape := range p.fieldsOf() {
		switch {
		case shape.computed, name == p.self:
		case shape.each != nil && shape.each.scalar && !shape.free:
			e.lists = append(e.lists, name)
		default:
			e.fields = append(e.fields, name)
		}
	}
	return e
}

func (p *part) fieldsOf() map[string]*shape {
	if p.shape.each == nil {
		return nil
	}
	return p.shape.each.fields
}

func (e *element) hasItems() bool {
	return e.value.At(e.self).Text() == "true" || slices.ContainsFunc(e.lists, func(name string) bool { return !e.value.At(name).IsEmpty() })
}

// isHeldBy reports whether a child has all of the element except its items. Values under common
// names must be equal. A value that only the element has must be under another name of the child,
// or in an object that is related to the child, such as the volume of an attachment.
func (e *element) isHeldBy(m *member, of side) bool {
	c, found := of(m), e.hasItems()
	for _, name := range e.fields {
		mine := essence(e.value.At(name))
		switch {
		case m.has(name):
			if !mine.Equal(essence(c.At(name))) {
				return false
			}
			found = found || !mine.IsNull()
		case mine.IsNull(), slices.Contains(e.derived, name):
		case e.occurs(c, mine):
			found = true
		case !e.isNear(m, of, name, mine):
			return false
		}
	}
	return found && !c.IsNull()
}

// has reports whether a member may have an attribute.
func (m *member) has(name string) bool {
	_, found := m.recorded.Get(name)
	return found || m.shape.field(name) != nil
}

// occurs reports whether a child has the value of a field, or an item, under a name that is no
// field of the element. Booleans may be equal by chance and do not count.
func (e *element) occurs(c, v model.Value) bool {
	return v.Kind() == model.String && v.Str() != "true" && slices.ContainsFunc(c.Fields(), func(f model.Field) bool {
		_, shared := e.fieldsOf()[f.Name]
		return !shared && f.Name != "id" && slices.ContainsFunc(topTexts(f.Value), func(text string) bool { return isSameLink(v.Str(), text) })
	})
}

// isSameLink reports whether two strings are equal, or one is a URL that ends with the other one, a
// path.
func isSameLink(a, b string) bool {
	return a == b || strings.HasPrefix(a, "https://") && strings.Count(b, "/") > 1 && strings.HasSuffix(a, "/"+b)
}

// isNear reports whether an object that the child refers to, or that refers to the child, has the
// value.
func (e *element) isNear(m *member, of side, name string, v model.Value) bool {
	return slices.ContainsFunc(e.neighbours(m), func(n *member) bool {
		if n == e.parent || n.has(name) {
			return n != e.parent && essence(of(n).At(name)).Equal(v)
		}
		return v.Kind() == model.String && v.Str() != "true" && slices.ContainsFunc(of(n).Fields(), func(f model.Field) bool {
			return slices.Contains(topTexts(f.Value), v.Str())
		})
	})
}

// less returns the rest of an element without the items that a child holds.
func (e *element) less(m *member, c, rest model.Value) model.Value {
	if !e.hasItems() {
		return model.Value{}
	}
	for _, name := range e.lists {
		items := slices.DeleteFunc(slices.Clone(rest.At(name).Items()), func(item model.Value) bool {
			if m.has(name) {
				return slices.Contains(topTexts(c.At(name)), item.Text())
			}
			return e.occurs(c, essence(item))
		})
		if len(items) < len(rest.At(name).Items()) {
			rest = rest.With(name, model.ListOf(items...))
		}
	}
	if e.self != "" && rest.At(e.self).Text() == "true" && (c.At(e.self).Text() == "true" || e.mentionsTwice(c)) {
		rest = rest.With(e.self, model.BoolOf(false))
	}
	return rest
}

// mentionsTwice reports whether a child has the parent's ID in two attributes.
func (e *element) mentionsTwice(c model.Value) bool {
	count, id := 0, e.parent.recorded.At("id")
	for _, f := range c.Fields() {
		if f.Name != "id" && !id.IsEmpty() && f.Value.Equal(id) {
			count++
		}
	}
	return count > 1
}

// essence returns a normalized value: without empty values, with numbers as strings, sorted lists,
// and normalized JSON documents.
func essence(v model.Value) model.Value {
	switch v.Kind() {
	case model.Map:
		var fields []model.Field
		for _, f := range v.Fields() {
			fields = appendField(fields, f.Name, essence(f.Value))
		}
		if len(fields) == 0 {
			return model.Value{}
		}
		return model.MapOf(fields...)
	case model.List:
		if items := essences(v); len(items) > 0 {
			slices.SortFunc(items, func(a, b model.Value) int { return strings.Compare(a.String(), b.String()) })
			return model.ListOf(items...)
		}
		return model.Value{}
	}
	if v.IsEmpty() {
		return model.Value{}
	}
	if meaning, ok := mapping.Document(v.Str()); ok {
		return model.StringOf(string(meaning.AppendJSON(nil)))
	}
	return model.StringOf(v.Text())
}

// essences returns the essence of each item of a list. It keeps items without a value, because
// their existence is significant.
func essences(list model.Value) []model.Value {
	items := make([]model.Value, len(list.Items()))
	for i, item := range list.Items() {
		if items[i] = essence(item); items[i].IsNull() && item.Kind() == model.Map {
			items[i] = model.MapOf()
		}
	}
	return items
}

// isBlank reports whether an object has attributes that are all empty. An object without attributes
// is not blank: an empty block selects one of several.
func isBlank(v model.Value) bool {
	attributes := 0
	for _, f := range v.Fields() {
		switch {
		case f.Value.Kind() == model.List && len(f.Value.Items()) > 0:
			if slices.ContainsFunc(f.Value.Items(), func(item model.Value) bool { return !isBlank(item) }) {
				return false
			}
		case !f.Value.IsEmpty():
			return false
		case f.Value.Kind() != model.List && f.Value.Kind() != model.Map:
			attributes++
		}
	}
	return attributes > 0
}
