package normalize

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// A Normalizer makes answers of the API canonical. It is immutable and safe for
// concurrent use.
type Normalizer struct {
	context table.Context
	kinds   map[string]kind
}

// New returns a Normalizer that seals secrets with sealer.
func New(sealer model.Sealer) *Normalizer {
	return &Normalizer{context: table.Context{Sealer: sealer, Plain: asSent}, kinds: kinds()}
}

// Object returns the canonical value of one object of a kind, which need not
// be known. raw is a map; anything else has no fields.
func (s *Normalizer) Object(kindName string, raw model.Value) model.Value {
	k := s.kinds[kindName]
	if k.prepare != nil {
		raw = k.prepare(raw)
	}
	return model.MapOf(read(k.fields, &s.context, raw.Fields())...)
}

// Guest returns the canonical configuration of a virtual machine or container
// from the rows of its /pending: what is configured, that is with what waits
// for a restart, and the top-level fields of it for which something else is in
// effect until then, sorted by name; null stands for a field that is not set
// until then. It always says whether the guest is a template.
func (s *Normalizer) Guest(kindName string, pending []model.Value) (value model.Value, running []model.Field) {
	fields := s.kinds[kindName].fields
	configured := []model.Field{{Name: "template", Value: model.BoolOf(false)}}
	inEffect := slices.Clone(configured)
	for _, row := range pending {
		key := row.At("key").Str()
		if key == "" {
			continue
		}
		was, becomes := row.At("value"), row.At("value")
		if next, ok := row.Get("pending"); ok {
			becomes = next
		}
		if isDeleted(row) {
			becomes = model.Value{}
		}
		inEffect = append(inEffect, model.Field{Name: key, Value: was})
		configured = append(configured, model.Field{Name: key, Value: becomes})
	}
	value = model.MapOf(read(fields, &s.context, configured)...)
	return value, s.Waiting(kindName, value, model.MapOf(read(fields, &s.context, inEffect)...))
}

// isDeleted tells a row that waits to be deleted: 1, or 2 where it is forced.
func isDeleted(row model.Value) bool {
	mark := row.At("delete")
	return !mark.IsEmpty() && mark.Text() != "0"
}

// Waiting returns the top-level fields in which what is in effect differs from
// what is configured, both canonical, with the former, sorted by name; null
// stands for a field that is only configured. What PVE takes for an absent
// field is no difference to it.
func (s *Normalizer) Waiting(kindName string, configured, inEffect model.Value) []model.Field {
	fields := s.kinds[kindName].fields
	var waiting []model.Field
	for _, f := range configured.Fields() {
		now, _ := inEffect.Get(f.Name)
		if !now.Equal(f.Value) && !(now.IsNull() && isDefault(fields, f)) {
			waiting = append(waiting, model.Field{Name: f.Name, Value: now})
		}
	}
	for _, f := range inEffect.Fields() {
		if _, ok := configured.Get(f.Name); !ok && !isDefault(fields, f) {
			waiting = append(waiting, f)
		}
	}
	slices.SortFunc(waiting, func(a, b model.Field) int { return cmp.Compare(a.Name, b.Name) })
	return waiting
}

// isDefault reports whether the field has the value that PVE takes for its absence.
func isDefault(fields table.Fields, f model.Field) bool {
	known := fields.Field(f.Name)
	return known != nil && known.Form.Schema.Default != nil && known.Form.Schema.Default.Equal(f.Value)
}
