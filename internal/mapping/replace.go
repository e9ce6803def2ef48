package mapping

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/model"
)

// A replacement is a list of attributes, as paths without keys, that the provider cannot
// change in place. With larger, it can make them larger only. It does not apply if the
// instance has the values of unless.
type replacement struct {
	attributes []string
	larger     bool
	unless     []condition
}

// replaced returns the attributes that the provider of an instance cannot change in place.
func (t *Type) replaced(attributes model.Value) []model.Replacement {
	var replaces []model.Replacement
	for _, r := range t.replaces {
		if slices.ContainsFunc(r.unless, func(c condition) bool { return c.holds(attributes) }) {
			continue
		}
		for _, path := range r.attributes {
			replaces = append(replaces, model.Replacement{Path: path, Larger: r.larger})
		}
	}
	return replaces
}

// replaces reads attributes, or maps of attributes and a condition.
func (r *reader) replaces(n *yaml.Node) []replacement {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "replaces must be a list")
		return nil
	}
	replacements := make([]replacement, len(n.Content))
	for i, item := range n.Content {
		if item.Kind == yaml.ScalarNode {
			replacements[i].attributes = []string{item.Value}
			continue
		}
		r.mapping(item, "a replacement", keys{
			"attributes": r.texts(&replacements[i].attributes), "larger": r.flag(&replacements[i].larger), "unless": r.conditions(&replacements[i].unless),
		})
	}
	return replacements
}

// inherited returns the replacements of the extended table, limited to attributes that the
// type compares.
func (t *Type) inherited(replaces []replacement) []replacement {
	kept := slices.Clone(replaces)
	for i := range kept {
		kept[i].attributes = slices.DeleteFunc(slices.Clone(kept[i].attributes), func(path string) bool {
			name, _, _ := strings.Cut(path, ".")
			return t.isLocal(name)
		})
	}
	return kept
}

// checkReplaces records an error for each attribute that no form of the type compares.
func (r *reader) checkReplaces(n *yaml.Node, t *Type) {
	for _, replacement := range t.replaces {
		for _, path := range replacement.attributes {
			if !slices.ContainsFunc(t.forms, func(f form) bool { return compares(f.lens.attributes, path) }) {
				r.fail(n, "replaces: the table does not compare the attribute %s", path)
			}
		}
	}
}

// compares reports whether an attribute, or an attribute of its block, is at a path.
func compares(attributes []attribute, path string) bool {
	name, rest, inside := strings.Cut(path, ".")
	a := find(attributes, name)
	return a != nil && (!inside || compares(a.attributes, rest))
}
