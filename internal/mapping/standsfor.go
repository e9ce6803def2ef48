package mapping

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/model"
)

// A stand is a template of live resources that an instance, or each element of its attribute each,
// stands for. They are identified by their ID if by is "", otherwise by that identity. A list in the
// template stands for one resource for each of its elements.
type stand struct {
	kind, by, each string
	is             template
}

// StandsFor returns the live resources that an instance with the attributes declares without a
// claim on each of them, by ID or identity. The results have no source.
func (t *Type) StandsFor(attributes model.Value) []model.Included {
	var all []model.Included
	for _, s := range t.stands {
		for _, element := range elementsAt(attributes, s.each) {
			for _, text := range s.is.each(attributes, element) {
				if s.by == "" {
					all = append(all, model.Included{Ref: model.Ref{Kind: s.kind, ID: text}})
				} else {
					all = append(all, model.Included{Ref: model.Ref{Kind: s.kind}, Identity: model.Identity{By: s.by, Value: text}})
				}
			}
		}
	}
	return all
}

// logNames returns the names that a log of the source may have for the claimed resource in place of
// its ID: that of the key logged, and the identities of the resources of its own kind that the instance
// stands for.
func (t *Type) logNames(attributes model.Value) []string {
	var names []string
	if t.logged != nil {
		names = t.logged.each(attributes, model.Value{})
	}
	for _, in := range t.StandsFor(attributes) {
		if in.Kind == t.kind && in.Identity.Value != "" {
			names = append(names, in.Identity.Value)
		}
	}
	return names
}

// each expands the template once for each combination of the elements of its lists.
func (t template) each(attributes, element model.Value) []string {
	texts := []string{""}
	for _, p := range t {
		values := p.values(attributes, element)
		next := make([]string, 0, len(texts)*len(values))
		for _, text := range texts {
			for _, value := range values {
				next = append(next, text+value)
			}
		}
		texts = next
	}
	return texts
}

// values returns the literal text, or the scalars of the first attribute that has any.
func (p part) values(attributes, element model.Value) []string {
	if p.literal != "" {
		return []string{p.literal}
	}
	for _, f := range p.fields {
		v := f.value(attributes, element)
		items := v.Items()
		if v.Kind() != model.List {
			items = []model.Value{v}
		}
		var texts []string
		for _, item := range items {
			if text := strings.TrimSpace(f.part(item.Text())); item.Kind() != model.Secret && text != "" {
				texts = append(texts, text)
			}
		}
		if texts != nil {
			return texts
		}
	}
	return nil
}

func (r *reader) stands(n *yaml.Node) []stand {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "stands_for must be a list")
		return nil
	}
	stands := make([]stand, len(n.Content))
	for i, item := range n.Content {
		s := &stands[i]
		r.mapping(resolve(item), "stands_for", keys{"kind": r.text(&s.kind), "by": r.text(&s.by), "is": r.template(&s.is), "each": r.text(&s.each)})
		if s.kind == "" || s.is == nil {
			r.fail(item, "stands_for needs kind and is")
		}
	}
	return slices.Clip(stands)
}
