package mapping

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/model"
)

// A reader compiles the nodes of one file. It collects all errors.
type reader struct {
	file   string
	tables *Tables
	errs   []error
	// blocks caches the compiled blocks of a type, which can share nodes.
	blocks map[*yaml.Node][]attribute
	// stripped reports whether blanks around the texts of a type are ignored.
	stripped bool
	// depth and visits limit the expansion of aliases.
	depth, visits int
}

const (
	maxDepth  = 30
	maxVisits = 100_000
)

func (r *reader) fail(n *yaml.Node, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s:%d: %s", r.file, n.Line, fmt.Sprintf(format, args...)))
}

// check records an error at a node.
func (r *reader) check(n *yaml.Node, err error) {
	if err != nil {
		r.fail(n, "%v", err)
	}
}

// keys holds the functions that read the values of a mapping's keys.
type keys map[string]func(*yaml.Node)

// mapping reads a mapping; it records an error for a key that is not in keys.
func (r *reader) mapping(n *yaml.Node, what string, read keys) {
	r.each(n, what, func(name string, key, value *yaml.Node) {
		f, ok := read[name]
		if !ok {
			r.fail(key, "%s has no key %q; it has %s", what, name, words(read))
			return
		}
		f(value)
	})
}

// words returns the sorted valid names as one text.
func words[T any](known map[string]T) string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(known)), func(name string) bool { return name == "" })
	return strings.Join(names, ", ")
}

// each calls f for every entry of a mapping.
func (r *reader) each(n *yaml.Node, what string, f func(name string, key, value *yaml.Node)) {
	if n = resolve(n); n.Kind != yaml.MappingNode {
		r.fail(n, "%s must be a mapping", what)
		return
	}
	if r.visits += len(n.Content); r.depth >= maxDepth || r.visits > maxVisits {
		r.fail(n, "aliases make this too deep or too large")
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	seen, merged := map[string]bool{}, []*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], resolve(n.Content[i+1])
		switch {
		case key.Tag == "!!merge":
			merged = append(merged, mergedNodes(value)...)
		case seen[key.Value]:
			r.fail(key, "duplicate key %q", key.Value)
		default:
			seen[key.Value] = true
			f(key.Value, key, value)
		}
	}
	for _, from := range merged {
		r.each(from, what, func(name string, key, value *yaml.Node) {
			if !seen[name] {
				seen[name] = true
				f(name, key, value)
			}
		})
	}
}

// mergedNodes returns the values of a merge key "<<": one mapping, or a list of them.
func mergedNodes(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.SequenceNode {
		return n.Content
	}
	return []*yaml.Node{n}
}

// resolve returns the target of an alias, or the node.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// text returns a function that reads a text into to.
func (r *reader) text(to *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || strings.TrimSpace(n.Value) == "" {
			r.fail(n, "a text is expected")
			return
		}
		*to = n.Value
	}
}

// texts reads a text, or a list of texts.
func (r *reader) texts(to *[]string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		nodes := []*yaml.Node{n}
		if n.Kind == yaml.SequenceNode {
			nodes = n.Content
		}
		for _, item := range nodes {
			var text string
			r.text(&text)(resolve(item))
			*to = append(*to, text)
		}
	}
}

func (r *reader) flag(to *bool) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Tag != "!!bool" {
			r.fail(n, "true or false is expected")
			return
		}
		*to = n.Value == "true"
	}
}

func (r *reader) template(to *template) func(*yaml.Node) {
	return func(n *yaml.Node) {
		var text string
		r.text(&text)(n)
		t, err := parseTemplate(text)
		r.check(n, err)
		*to = t
	}
}

// value reads a scalar, or a list of scalars.
func (r *reader) value(to *model.Value) func(*yaml.Node) {
	return func(n *yaml.Node) { *to = r.valueOf(n, true) }
}

func (r *reader) valueOf(n *yaml.Node, lists bool) model.Value {
	n = resolve(n)
	switch {
	case n.Kind == yaml.SequenceNode && lists:
		items := make([]model.Value, len(n.Content))
		for i, item := range n.Content {
			items[i] = r.valueOf(item, false)
		}
		return model.ListOf(items...)
	case n.Kind != yaml.ScalarNode:
		r.fail(n, "a scalar is expected")
	case n.Tag == "!!bool":
		return model.BoolOf(n.Value == "true")
	case n.Tag == "!!int" || n.Tag == "!!float":
		v, ok := model.NumberOf(n.Value)
		if !ok {
			r.fail(n, "%s is not a decimal number", n.Value)
		}
		return v
	case n.Tag != "!!null":
		return model.StringOf(n.Value)
	}
	return model.Value{}
}

// list reads a scalar, or a list of scalars, as several values.
func (r *reader) list(to *[]model.Value) func(*yaml.Node) {
	return func(n *yaml.Node) {
		v := r.valueOf(n, true)
		if *to = []model.Value{v}; v.Kind() == model.List {
			*to = v.Items()
		}
	}
}

// values reads a mapping of scalars.
func (r *reader) values(n *yaml.Node) map[string]model.Value {
	values := map[string]model.Value{}
	r.each(n, "values", func(name string, _, value *yaml.Node) { values[name] = r.valueOf(value, true) })
	return values
}

// conditions reads "field.below: value" pairs.
func (r *reader) conditions(to *[]condition) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.each(n, "a condition", func(name string, _, value *yaml.Node) {
			*to = append(*to, condition{names: strings.Split(name, "."), want: r.valueOf(value, false)})
		})
	}
}
