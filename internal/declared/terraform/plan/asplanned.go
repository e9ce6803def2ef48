package plan

import (
	"maps"
	"slices"
	"strconv"

	"github.com/driftd/driftd/internal/model"
)

// asPlanned returns the declared tree of an instance as the plan has it, with a value for each
// attribute that is unknown until an apply. If the configuration writes the attribute, that is the
// recorded value, or KnownAfterApply if none is recorded and a live value is replaced. Otherwise it
// is the live value, because the provider sets it and no declared value replaces it.
func (r *reader) asPlanned(i *Instance, n sides, unknown any) model.Value {
	if i.Imports { // Nothing was applied: what a plan compares with is the live value.
		n.r = model.Value{}
	}
	if unknown == true { // Each attribute is unknown.
		n.d, unknown = model.MapOf(), n.unknownFields()
	}
	if n.d.IsNull() {
		return n.d
	}
	k := known{writes: r.settling(i).writes}
	return k.node(n, unknown)
}

// KnownAfterApply is the declared value of an attribute whose value is unknown until an apply and has no
// recorded value. Terraform displays such values in the same way.
const KnownAfterApply = "(known after apply)"

// unknownFields returns the part of after_unknown for an object without any known attribute.
func (n sides) unknownFields() map[string]any {
	unknown := map[string]any{}
	for _, name := range n.names(nil) {
		unknown[name] = true
	}
	return unknown
}

// A known replaces unknown values.
type known struct {
	writes func(path []string) bool
	path   []string
}

// node returns the declared value of a node. unknown is its part of after_unknown.
func (k *known) node(n sides, unknown any) model.Value {
	switch t := unknown.(type) {
	case bool:
		if t {
			return k.unknown(n)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(t)) {
			if v := k.below(name, sides{n.d.At(name), n.r.At(name), n.l.At(name)}, t[name]); !v.Equal(n.d.At(name)) {
				n.d = n.d.With(name, v)
			}
		}
	case []any:
		return k.items(n, t)
	}
	return n.d
}

// unknown returns the declared value of a node whose value is unknown.
func (k *known) unknown(n sides) model.Value {
	switch {
	case !k.writes(k.path):
		return n.l
	case !n.r.IsNull():
		return n.r
	case n.l.IsEmpty():
		return n.l
	}
	return model.StringOf(KnownAfterApply)
}

func (k *known) below(step string, n sides, unknown any) model.Value {
	k.path = append(k.path, step)
	v := k.node(n, unknown)
	k.path = k.path[:len(k.path)-1]
	return v
}

func (k *known) items(n sides, unknown []any) model.Value {
	if !hasUnknown(unknown) {
		return n.d
	}
	items := slices.Clone(n.d.Items())
	for i := range unknown {
		if i == len(items) {
			items = append(items, model.Value{})
		}
		items[i] = k.below(strconv.Itoa(i), sides{items[i], itemAt(n.r, i), itemAt(n.l, i)}, unknown[i])
	}
	return model.ListOf(items...)
}
