package shape

import (
	"errors"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// A Shaper makes the rows of one NetBox canonical. It is for one goroutine: it
// keeps texts that repeat from row to row once.
type Shaper struct {
	sealer  model.Sealer
	version Version
	types   map[string]string
	texts   texts
	// fields collects what an object has, for one object at a time.
	fields []model.Field
}

// New returns a Shaper that seals secrets with sealer. Types are the types of
// custom fields by name; without them they are told by their looks.
func New(sealer model.Sealer, version Version, types map[string]string) *Shaper {
	return &Shaper{sealer: sealer, version: version, types: types, texts: texts{}}
}

// An Object is one row of a list in its canonical form.
type Object struct {
	// ID is the decimal id.
	ID string
	// Name is what people call it, never empty.
	Name       string
	Value      model.Value
	Identities []model.Identity
	// Created is when it came to be, Updated when it was last saved; zero where
	// NetBox does not say.
	Created, Updated time.Time
}

// Object reads a row of the kind's list. A row without an id is an error.
func (s *Shaper) Object(k *Kind, row model.Value) (Object, error) {
	id, ok := idOf(row)
	if !ok {
		return Object{}, errors.New("a row has no id")
	}
	row = k.modern(s.version, row)
	o := Object{ID: id.Text(), Value: s.value(k, row), Created: createdAt(row),
		Updated: decode.Time(row.At(lastUpdated).Str(), time.RFC3339)}
	o.Name = k.call(o.Value)
	if o.Name == "" {
		o.Name = "#" + o.ID
	}
	o.Identities = k.identities(o.Value)
	return o, nil
}

// value reads the fields that the kind has and that say something.
func (s *Shaper) value(k *Kind, row model.Value) model.Value {
	fields := s.fields[:0]
	for i := range k.fields {
		f := &k.fields[i]
		raw, ok := row.Get(f.name)
		if !ok || isBlank(raw) {
			continue
		}
		if v := f.form.read(s, raw); !isBlank(v) {
			fields = append(fields, model.Field{Name: f.name, Value: v})
		}
	}
	s.fields = fields
	return model.MapOf(slices.Clone(fields)...)
}

// lastUpdated is the field that says when an object was last saved.
const lastUpdated = "last_updated"

// createdAt reads when an object came to be; users name it otherwise.
func createdAt(row model.Value) time.Time {
	for _, name := range []string{"created", "date_joined"} {
		if at := decode.Time(row.At(name).Str(), time.RFC3339, time.DateOnly); !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}

// Types returns the types of custom fields by name, of their canonical
// definitions.
func Types(definitions []model.Value) map[string]string {
	types := map[string]string{}
	for _, d := range definitions {
		types[d.At("name").Str()] = d.At("type").Str()
	}
	return types
}

// texts keeps short texts once. It is bounded: what comes after is kept each
// time.
type texts map[string]string

const (
	keptTexts  = 1 << 14
	keptLength = 32
)

func (t texts) keep(text string) string {
	if kept, ok := t[text]; ok {
		return kept
	}
	if len(text) <= keptLength && len(t) < keptTexts {
		t[text] = text
	}
	return text
}

// shared returns a scalar whose text is kept once.
func (s *Shaper) shared(v model.Value) model.Value {
	switch v.Kind() {
	case model.String:
		return model.StringOf(s.texts.keep(v.Text()))
	case model.Number:
		if n, ok := model.NumberOf(s.texts.keep(v.Text())); ok {
			return n
		}
	}
	return v
}
