package diff

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// disputed returns the fields for which two claims name different values,
// each once with every claim's value, sorted by path.
func disputed(s *model.Subject, claims []*model.Claim) []model.Change {
	if len(claims) < 2 {
		return nil
	}
	var schema *model.Schema
	if s.Kind != nil {
		schema = s.Kind.Schema
	}
	byPath := map[string]path{}
	for i, c := range claims {
		for _, other := range claims[i+1:] {
			d := disagreement{paths: byPath}
			d.node(schema, c.Value, other.Value)
		}
	}
	changes := make([]model.Change, 0, len(byPath))
	for text, p := range byPath {
		changes = append(changes, dispute(s, claims, text, p))
	}
	slices.SortFunc(changes, func(a, b model.Change) int { return cmp.Compare(a.Path, b.Path) })
	return changes
}

func dispute(s *model.Subject, claims []*model.Claim, text string, p path) model.Change {
	change := model.Change{Path: text}
	actor := model.UnknownActor("two declarations differ")
	change.Actor = &actor
	if live, ok := lookUp(s.Live.Value, p); ok {
		change.Live, change.Secret = &live, live.HasSecret()
	}
	for _, c := range claims {
		v, ok := lookUp(c.Value, p)
		if !ok {
			continue
		}
		if change.Declared == nil {
			change.Declared = &v
		}
		change.Secret = change.Secret || v.HasSecret()
		change.Claims = append(change.Claims, model.ClaimedValue{Declaration: c.Declaration, Address: c.Address, Value: v})
	}
	return change
}

// A disagreement collects the paths at which two trees both speak and differ.
type disagreement struct {
	paths map[string]path
	path  path
}

func (d *disagreement) node(schema *model.Schema, a, b model.Value) {
	switch {
	case a.IsNull() || b.IsNull() || schema != nil && schema.Volatile || Equal(schema, a, b):
	case a.Kind() == model.Map && b.Kind() == model.Map:
		for _, f := range a.Fields() {
			if v, ok := b.Get(f.Name); ok {
				d.below(fieldSegment(f.Name), schema.Field(f.Name), f.Value, v)
			}
		}
	case a.Kind() == model.List && b.Kind() == model.List && granular(schema):
		d.elements(schema, a, b)
	default:
		d.paths[d.path.String()] = slices.Clone(d.path)
	}
}

func (d *disagreement) elements(schema *model.Schema, a, b model.Value) {
	triples, ok := pairElements(schema, a.Items(), nil, b.Items())
	if !ok {
		d.paths[d.path.String()] = slices.Clone(d.path)
		return
	}
	for _, t := range triples {
		d.below(elementSegment(schema, t.any()), schema.Element(), t.declared(), t.live())
	}
}

func (d *disagreement) below(s segment, schema *model.Schema, a, b model.Value) {
	d.path = append(d.path, s)
	d.node(schema, a, b)
	d.path = d.path[:len(d.path)-1]
}
