package state

import (
	"errors"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// marks are the sensitive parts of a value: all of it, or parts below some of its keys. A key is a
// string for a map and a number for a list. Nil marks nothing.
type marks struct {
	all   bool
	below map[model.Value]*marks
}

// marks reads the sensitive paths of an instance.
func (d *decoder) marks() (*marks, error) {
	m := new(marks)
	err := d.array(func() error {
		at := m
		err := d.array(func() error {
			key, err := d.step()
			at = at.step(key)
			return err
		})
		at.all = true
		return err
	})
	return m, err
}

// step returns the marks below a key. An element of a set is its own key and cannot be identified,
// so the whole set is marked.
func (m *marks) step(key model.Value) *marks {
	if kind := key.Kind(); kind != model.String && kind != model.Number {
		m.all = true
		return new(marks)
	}
	if m.below == nil {
		m.below = map[model.Value]*marks{}
	}
	if m.below[key] == nil {
		m.below[key] = new(marks)
	}
	return m.below[key]
}

// step reads one step of a path and returns its key.
func (d *decoder) step() (model.Value, error) {
	var kind string
	var key model.Value
	err := d.record(map[string]func() error{
		"type":  set(&kind, d.string),
		"value": set(&key, d.value),
	})
	switch {
	case err != nil:
		return key, err
	case kind == "get_attr" && key.Kind() == model.String:
		return key, nil
	case kind == "index":
		// The key is an object with the value and its type.
		if typed, ok := key.Get("value"); ok {
			key = typed
		}
		return key, nil
	}
	return key, errors.New("a sensitive path wants steps of type get_attr, with a name, or index")
}

// seal returns v with its marked parts sealed. If the marks do not match v, such as a field name
// for a list, all of v is sealed.
func (m *marks) seal(s model.Sealer, v model.Value) model.Value {
	switch {
	case m == nil || !m.all && len(m.below) == 0:
		return v
	case m.all || !m.fits(v):
		return s.SealTree(v)
	}
	fields, items := slices.Clone(v.Fields()), slices.Clone(v.Items())
	for i, f := range fields {
		fields[i].Value = m.below[model.StringOf(f.Name)].seal(s, f.Value)
	}
	for i, item := range items {
		items[i] = m.below[model.IntOf(int64(i))].seal(s, item)
	}
	switch v.Kind() {
	case model.Map:
		return model.MapOf(fields...)
	case model.List:
		return model.ListOf(items...)
	}
	return v
}

func (m *marks) fits(v model.Value) bool {
	want := model.Null
	switch v.Kind() {
	case model.Null:
		return true
	case model.Map:
		want = model.String
	case model.List:
		want = model.Number
	}
	for key := range m.below {
		if key.Kind() != want {
			return false
		}
	}
	return true
}
