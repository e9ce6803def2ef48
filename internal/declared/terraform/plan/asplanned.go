package plan

import (
	"maps"
	"slices"
	"strconv"

	"github.com/driftd/driftd/internal/model"
)

// asPlanned returns the declared tree of an instance as the plan has it, with a value for each
// attribute that is unknown until an apply: the recorded value if the configuration writes the
// attribute, and otherwise the live value, because the provider sets it and no declared value
// replaces it.
func (r *reader) asPlanned(i *Instance, n sides, unknown any) model.Value {
	if n.d.IsNull() {
		return n.d
	}
	k := known{writes: r.settling(i).writes}
	return k.node(n, unknown)
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
		if t && k.writes(k.path) && !n.r.IsNull() {
			return n.r
		}
		if t {
			return n.l
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
	for i := range min(len(items), len(unknown)) {
		items[i] = k.below(strconv.Itoa(i), sides{items[i], itemAt(n.r, i), itemAt(n.l, i)}, unknown[i])
	}
	return model.ListOf(items...)
}
