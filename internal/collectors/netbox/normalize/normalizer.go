package normalize

import (
	"errors"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// A Normalizer makes the rows of one NetBox canonical. It is for one goroutine: it
// keeps texts that repeat from row to row once.
type Normalizer struct {
	context table.Context
	version Version
	types   map[string]string
	// fields collects what an object has, for one object at a time.
	fields []model.Field
}

// New returns a Normalizer that seals secrets with sealer. Types are the types of
// custom fields by name; without them they are told by their looks.
func New(sealer model.Sealer, version Version, types map[string]string) *Normalizer {
	return &Normalizer{context: table.Context{Sealer: sealer, Plain: asSent, Texts: table.Texts{}}, version: version, types: types}
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
func (s *Normalizer) Object(k *Kind, row model.Value) (Object, error) {
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

// value reads the fields that the kind has and that are not blank.
func (s *Normalizer) value(k *Kind, row model.Value) model.Value {
	s.fields = k.fields.Read(&s.context, row, s.fields[:0])
	for i := range s.fields {
		if s.fields[i].Name == "custom_fields" {
			s.fields[i].Value = s.customFields(s.fields[i].Value)
		}
	}
	return model.MapOf(slices.DeleteFunc(slices.Clone(s.fields), func(f model.Field) bool { return f.Value.IsNull() })...)
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
