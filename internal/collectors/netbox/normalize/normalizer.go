package normalize

import (
	"errors"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// A Normalizer converts the rows of one NetBox server to their canonical form. It keeps repeated
// texts only once, and is not safe for concurrent use.
type Normalizer struct {
	context table.Context
	version Version
	types   map[string]string
	// fields collects the fields of one object at a time.
	fields []model.Field
}

// New returns a Normalizer that seals secrets with sealer. types maps the names of custom fields to
// their types; without them, the structure of the values decides.
func New(sealer model.Sealer, version Version, types map[string]string) *Normalizer {
	return &Normalizer{context: table.Context{Sealer: sealer, Plain: asSent, Texts: table.Texts{}}, version: version, types: types}
}

// An Object is one row of a list in its canonical form.
type Object struct {
	// ID is the decimal ID.
	ID string
	// Name is the display name. It is never empty.
	Name       string
	Value      model.Value
	Identities []model.Identity
	// Created is the time at which the object was created, and Updated the time at which it was
	// last saved; zero if NetBox does not return it.
	Created, Updated time.Time
}

// Object converts a row of the kind's list. It returns an error if the row has no ID.
func (s *Normalizer) Object(k *Kind, row model.Value) (Object, error) {
	id, ok := idOf(row)
	if !ok {
		return Object{}, errors.New("a row has no id")
	}
	row = k.upgrade(s.version, row)
	o := Object{ID: id.Text(), Value: s.value(k, row), Created: createdAt(row),
		Updated: decode.Time(row.At(lastUpdated).Str(), time.RFC3339)}
	o.Name = k.displayName(o.Value)
	if o.Name == "" {
		o.Name = "#" + o.ID
	}
	o.Identities = k.identities(o.Value)
	return o, nil
}

// value reads the fields of the kind that are not blank.
func (s *Normalizer) value(k *Kind, row model.Value) model.Value {
	s.fields = k.fields.Read(&s.context, row, s.fields[:0])
	for i := range s.fields {
		if s.fields[i].Name == "custom_fields" {
			s.fields[i].Value = s.customFields(s.fields[i].Value)
		}
	}
	return model.MapOf(slices.DeleteFunc(slices.Clone(s.fields), func(f model.Field) bool { return f.Value.IsNull() })...)
}

// lastUpdated is the field with the time of the last save.
const lastUpdated = "last_updated"

// createdAt returns when an object was created. Users have another field for it.
func createdAt(row model.Value) time.Time {
	for _, name := range []string{"created", "date_joined"} {
		if at := decode.Time(row.At(name).Str(), time.RFC3339, time.DateOnly); !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}

// Types returns the types of custom fields by name, according to their canonical definitions.
func Types(definitions []model.Value) map[string]string {
	types := map[string]string{}
	for _, d := range definitions {
		types[d.At("name").Str()] = d.At("type").Str()
	}
	return types
}
