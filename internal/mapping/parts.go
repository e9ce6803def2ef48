package mapping

import (
	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/model"
)

// A partType is another type of the same provider that an instance includes if its attribute
// onlyIf is set and it lacks the attribute without.
type partType struct{ name, onlyIf, without string }

// Parts returns the further types that an instance of the type with the attributes includes. They
// exist because newer versions of a provider have types in place of blocks.
func (t *Tables) Parts(of *Type, attributes model.Value) []*Type {
	var types []*Type
	for _, p := range of.parts {
		_, has := attributes.Get(p.without)
		if typ, known := t.find(typeKey{of.provider, p.name}); known && !has && !attributes.At(p.onlyIf).IsEmpty() {
			types = append(types, typ)
		}
	}
	return types
}

func (r *reader) parts(n *yaml.Node) []partType {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "parts must be a list")
		return nil
	}
	parts := make([]partType, len(n.Content))
	for i, item := range n.Content {
		p := &parts[i]
		r.mapping(item, "a part", keys{"type": r.text(&p.name), "if": r.text(&p.onlyIf), "without": r.text(&p.without)})
		if p.name == "" || p.onlyIf == "" {
			r.fail(item, "a part needs type and if")
		}
	}
	return parts
}

// checkParts adds an error for each part of a type of the providers whose type no table has.
func (r *reader) checkParts(n *yaml.Node, providers []string) {
	for _, t := range r.tables.typesOf(providers) {
		for _, p := range t.parts {
			if found, ok := r.tables.find(typeKey{t.provider, p.name}); !ok || found.kind == "" {
				r.fail(n, "parts of %s: no table has a mapped type %s", t.name, p.name)
			}
		}
	}
}
