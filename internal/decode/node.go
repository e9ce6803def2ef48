package decode

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/model"
)

// maxAliased is how many values aliases may stand for in one stream, or one for each
// byte of a stream that is larger. Files that people write use a few dozen.
const maxAliased = 100_000

// An aliasCount counts the values that the aliases of a stream stand for.
type aliasCount struct{ used, limit int }

// A yamlTree turns the nodes of one document into values.
type yamlTree struct {
	// first is the line of the stream in which the document's text begins.
	first int
	// open are the aliases that are being followed.
	open    []*yaml.Node
	aliased *aliasCount
}

func (t *yamlTree) value(n *yaml.Node, depth int) (model.Value, *SyntaxError) {
	if len(t.open) > 0 {
		if t.aliased.used++; t.aliased.used > t.aliased.limit {
			return model.Value{}, t.wrong(n, "aliases stand for more than %d values", t.aliased.limit)
		}
	}
	if depth == MaxDepth && n.Kind&(yaml.MappingNode|yaml.SequenceNode) != 0 {
		return model.Value{}, t.wrong(n, "more than %d levels deep", MaxDepth)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return t.mapping(n, depth+1)
	case yaml.SequenceNode:
		return t.sequence(n, depth+1)
	case yaml.AliasNode:
		return t.alias(n, depth)
	}
	m, err := scalar(n)
	if err != nil {
		return model.Value{}, t.wrong(n, "%w", err)
	}
	return m.value, nil
}

func (t *yamlTree) alias(n *yaml.Node, depth int) (model.Value, *SyntaxError) {
	if slices.Contains(t.open, n.Alias) {
		return model.Value{}, t.wrong(n, "alias *%s stands for what holds it", n.Value)
	}
	t.open = append(t.open, n.Alias)
	v, err := t.value(n.Alias, depth)
	t.open = t.open[:len(t.open)-1]
	if err != nil {
		return model.Value{}, t.wrong(n, "%w", err.Err)
	}
	return v, nil
}

func (t *yamlTree) sequence(n *yaml.Node, depth int) (model.Value, *SyntaxError) {
	items := make([]model.Value, len(n.Content))
	for i, item := range n.Content {
		v, err := t.value(item, depth)
		if err != nil {
			return model.Value{}, err
		}
		items[i] = v
	}
	return model.ListOf(items...), nil
}

// mapping reads a map. As in kubectl's parser, what stands later wins, whether
// it was merged or written out.
func (t *yamlTree) mapping(n *yaml.Node, depth int) (model.Value, *SyntaxError) {
	fields := make([]model.Field, 0, len(n.Content)/2)
	merged := false
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, below := n.Content[i], n.Content[i+1]
		if isMerge(key) {
			merged = true
			more, err := t.merge(below, depth)
			if err != nil {
				return model.Value{}, err
			}
			fields = append(fields, more...)
			continue
		}
		f, err := t.field(key, below, depth)
		if err != nil {
			return model.Value{}, err
		}
		fields = append(fields, f)
	}
	written := len(fields)
	v := model.MapOf(fields...)
	if merged || len(v.Fields()) < written {
		if err := t.repeated(n); err != nil {
			return model.Value{}, err
		}
	}
	return v, nil
}

func (t *yamlTree) field(key, below *yaml.Node, depth int) (model.Field, *SyntaxError) {
	name, err := keyName(key)
	if err != nil {
		return model.Field{}, t.wrong(key, "%w", err)
	}
	v, fault := t.value(below, depth)
	return model.Field{Name: name, Value: v}, fault
}

// repeated returns an error when a map has one key twice.
func (t *yamlTree) repeated(n *yaml.Node) *SyntaxError {
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		name, err := keyName(key)
		if err != nil || isMerge(key) {
			continue
		}
		if line, ok := lines[name]; ok {
			return t.wrong(key, "key %q stands here and in line %d", name, t.first+line-1)
		}
		lines[name] = key.Line
	}
	return nil
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Tag == "!!merge" && key.Value == "<<"
}

// merge returns the fields that a merge key brings in, those that win last.
func (t *yamlTree) merge(n *yaml.Node, depth int) ([]model.Field, *SyntaxError) {
	sources := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		sources = slices.Clone(n.Content)
		slices.Reverse(sources)
	}
	var fields []model.Field
	for _, source := range sources {
		if target(source).Kind != yaml.MappingNode {
			return nil, t.wrong(source, "a merge key (<<) wants a map or a list of maps")
		}
		v, err := t.value(source, depth)
		if err != nil {
			return nil, err
		}
		fields = append(fields, v.Fields()...)
	}
	return fields, nil
}

// target returns the node that an alias stands for, and any other node itself.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func (t *yamlTree) wrong(n *yaml.Node, format string, args ...any) *SyntaxError {
	return &SyntaxError{Line: t.first + n.Line - 1, Err: fmt.Errorf(format, args...)}
}
