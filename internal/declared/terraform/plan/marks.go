package plan

import (
	"github.com/driftd/driftd/internal/model"
)

// minSecret is the minimum length of an unmarked string that is treated as a copy of an equal
// sensitive string of the instance.
const minSecret = 4

// marks are the sensitive places of one instance. All its sides share them, so that a value is
// sealed on every side. The elements of a list share their marks, because lists change their length
// and sets their order.
type marks struct {
	self   bool
	fields map[string]*marks
	each   *marks
}

// add adds a tree of booleans, such as before_sensitive and after_sensitive.
func (m *marks) add(tree any) {
	switch t := tree.(type) {
	case bool:
		m.self = m.self || t
	case []any:
		for _, item := range t {
			m.element().add(item)
		}
	case map[string]any:
		for name, below := range t {
			m.field(name).add(below)
		}
	}
}

// addShape adds the sensitive attributes of the provider's schema.
func (m *marks) addShape(s *shape) {
	if s == nil || !s.secretive {
		return
	}
	m.self = m.self || s.sensitive
	for name, below := range s.fields {
		if below.secretive {
			m.field(name).addShape(below)
		}
	}
	if s.each != nil && s.each.secretive {
		m.element().addShape(s.each)
	}
}

func (m *marks) field(name string) *marks {
	if m.fields == nil {
		m.fields = map[string]*marks{}
	}
	if m.fields[name] == nil {
		m.fields[name] = &marks{}
	}
	return m.fields[name]
}

func (m *marks) element() *marks {
	if m.each == nil {
		m.each = &marks{}
	}
	return m.each
}

// below returns the marks of a field of a map. If the map has arbitrary keys, its values share
// their marks.
func (m *marks) below(name string) *marks {
	if m == nil {
		return nil
	}
	if f := m.fields[name]; f != nil {
		return f
	}
	return m.each
}

// collect calls found with each string at a marked place.
func (m *marks) collect(v model.Value, found func(string)) {
	switch {
	case m == nil:
	case m.self:
		texts(v, found)
	default:
		for _, f := range v.Fields() {
			m.below(f.Name).collect(f.Value, found)
		}
		for _, item := range v.Items() {
			m.each.collect(item, found)
		}
	}
}

func texts(v model.Value, found func(string)) {
	if s := v.Str(); s != "" {
		found(s)
	}
	for _, f := range v.Fields() {
		texts(f.Value, found)
	}
	for _, item := range v.Items() {
		texts(item, found)
	}
}

// addCopies marks the unmarked places whose string is in secrets: terraform_data.output loses the
// mark of its input.
func (m *marks) addCopies(v model.Value, secrets map[string]bool) {
	if len(secrets) == 0 || m.self {
		return
	}
	if s := v.Str(); len(s) >= minSecret && secrets[s] {
		m.self = true
	}
	for _, f := range v.Fields() {
		if holds(f.Value, secrets) {
			m.field(f.Name).addCopies(f.Value, secrets)
		}
	}
	for _, item := range v.Items() {
		if holds(item, secrets) {
			m.element().addCopies(item, secrets)
		}
	}
}

func holds(v model.Value, secrets map[string]bool) bool {
	held := false
	texts(v, func(s string) { held = held || len(s) >= minSecret && secrets[s] })
	return held
}

// seal returns the tree with a digest in place of each marked scalar.
func (m *marks) seal(sealer model.Sealer, v model.Value) model.Value {
	switch {
	case m == nil:
		return v
	case m.self:
		return sealer.SealTree(v)
	case v.Kind() == model.Map:
		fields := make([]model.Field, len(v.Fields()))
		for i, f := range v.Fields() {
			fields[i] = model.Field{Name: f.Name, Value: m.below(f.Name).seal(sealer, f.Value)}
		}
		return model.MapOf(fields...)
	case v.Kind() == model.List:
		items := make([]model.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = m.each.seal(sealer, item)
		}
		return model.ListOf(items...)
	}
	return v
}
