package plan

import (
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

// respell makes strings equal that encode the same JSON object or array. Lists in the JSON may
// differ in order. It uses the encoding of the live value, otherwise that of the recorded value.
func (s *settling) respell(n sides) sides {
	spellings := spellings{}
	n.l = spellings.of(n.l)
	live := len(spellings)
	n.r = spellings.of(n.r)
	d := spellings.of(n.d)
	s.respelled = s.respelled || live > 0 && !d.Equal(n.d)
	n.d = d
	return n
}

// spellings map the normalized form of a JSON value to its first encoding.
type spellings map[string]string

// of returns a tree in which each string is replaced with the first encoding of the same value.
func (s spellings) of(v model.Value) model.Value {
	switch v.Kind() {
	case model.String:
		meaning, ok := mapping.Document(v.Str())
		if !ok {
			return v
		}
		key := string(meaning.AppendJSON(nil))
		if _, known := s[key]; !known {
			s[key] = v.Str()
		}
		return model.StringOf(s[key])
	case model.Map:
		fields := make([]model.Field, len(v.Fields()))
		for i, f := range v.Fields() {
			fields[i] = model.Field{Name: f.Name, Value: s.of(f.Value)}
		}
		return model.MapOf(fields...)
	case model.List:
		items := make([]model.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = s.of(item)
		}
		return model.ListOf(items...)
	}
	return v
}

// meansSame reports whether two different strings encode the same object or array.
func meansSame(a, b model.Value) bool {
	if a.Equal(b) {
		return false
	}
	v, isDocument := mapping.Document(a.Str())
	w, both := mapping.Document(b.Str())
	return isDocument && both && v.Equal(w)
}
