package normalize

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// A Normalizer converts answers of the API to canonical values. It is immutable and safe for
// concurrent use.
type Normalizer struct {
	context table.Context
	kinds   map[string]kind
}

// New returns a Normalizer that seals secrets with sealer.
func New(sealer model.Sealer) *Normalizer {
	return &Normalizer{context: table.Context{Sealer: sealer, Plain: verbatim}, kinds: kinds()}
}

// Object returns the canonical value of an object. An unknown kind has no table. A raw value
// other than a map has no fields.
func (n *Normalizer) Object(kindName string, raw model.Value) model.Value {
	k := n.kinds[kindName]
	if k.prepare != nil {
		raw = k.prepare(raw)
	}
	return model.MapOf(read(k.fields, &n.context, raw.Fields())...)
}

// Guest returns the canonical configuration of a virtual machine or container from the rows of
// its /pending. value is the configuration with its pending changes. running has the top-level
// fields whose value is another one until the restart, sorted by name; null stands for a field
// that is not set until then. value always has the field "template".
func (n *Normalizer) Guest(kindName string, pending []model.Value) (value model.Value, running []model.Field) {
	fields := n.kinds[kindName].fields
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
		if IsDeleted(row) {
			becomes = model.Value{}
		}
		inEffect = append(inEffect, model.Field{Name: key, Value: was})
		configured = append(configured, model.Field{Name: key, Value: becomes})
	}
	value = model.MapOf(read(fields, &n.context, configured)...)
	return value, n.Waiting(kindName, value, model.MapOf(read(fields, &n.context, inEffect)...))
}

// IsDeleted reports whether a row has a pending deletion: 1, or 2 if it is forced.
func IsDeleted(row model.Value) bool {
	mark := row.At("delete")
	return !mark.IsEmpty() && mark.Text() != "0"
}

// Waiting returns the top-level fields in which a value in effect differs from the configured
// value, sorted by name, with the value in effect; null stands for a field that is only
// configured. Both values are canonical. A default value equals an absent field.
func (n *Normalizer) Waiting(kindName string, configured, inEffect model.Value) []model.Field {
	fields := n.kinds[kindName].fields
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

// isDefault reports whether the field has its default value.
func isDefault(fields table.Fields, f model.Field) bool {
	known := fields.Field(f.Name)
	return known != nil && known.Form.Schema.Default != nil && known.Form.Schema.Default.Equal(f.Value)
}
