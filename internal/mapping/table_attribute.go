package mapping

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/model"
)

// attributes reads the attributes of a type, or of a block.
func (r *reader) attributes(n *yaml.Node, searches map[string]*slots) map[string]attribute {
	attributes := map[string]attribute{}
	r.each(n, "attributes", func(name string, _, value *yaml.Node) {
		a := r.attribute(value, searches)
		a.name = name
		attributes[name] = a
	})
	return attributes
}

// attributeNode is an attribute in a table.
type attributeNode struct {
	attribute

	live, as, compare, order, block string
	absentSet                       bool
	inside                          *yaml.Node
}

// attribute reads one attribute: a live path, or a mapping.
func (r *reader) attribute(n *yaml.Node, searches map[string]*slots) attribute {
	w := &attributeNode{live: "."}
	if n.Kind == yaml.ScalarNode {
		r.text(&w.live)(n)
	} else {
		r.mapping(n, "an attribute", r.attributeKeys(w))
	}
	a := w.attribute
	a.stripped = r.stripped
	live, err := parsePath(w.live, searches)
	r.check(n, err)
	a.live = live
	if !w.absentSet {
		a.absent = a.fallback
	}
	if w.as != "" {
		a.convert, err = parseConversion(w.as)
		r.check(n, err)
	}
	a.compare = comparison{anyOrder: r.word(n, "order", w.order, orders()), format: r.format(n, w.compare)}
	r.block(n, w, &a, searches)
	a.schema = a.newSchema()
	return a
}

func (r *reader) attributeKeys(w *attributeNode) keys {
	a := &w.attribute
	return keys{
		"live": r.text(&w.live), "default": r.value(&a.fallback),
		"absent":   func(n *yaml.Node) { w.absentSet = true; r.value(&a.absent)(n) },
		"optional": r.flag(&a.optional), "masked": r.flag(&a.masked), "sealed": r.sealed(a),
		"generated": r.flag(&a.generated), "own": r.flag(&a.own), "location": r.flag(&a.location),
		"computed": r.flag(&a.computed), "typed": r.flag(&a.typed), "granted": r.flag(&a.relative.granted), "found": r.flag(&a.relative.found),
		"among": r.flag(&a.relative.among), "ignore": r.patterns(&a.ignored),
		"without": r.text(&a.relative.without), "while": r.matches(&a.relative.while), "unsent": r.list(&a.relative.unsent),
		"as": r.text(&w.as), "unset": r.list(&a.unset), "or": r.text(&a.or), "values": func(n *yaml.Node) { a.values = r.values(n) },
		"when": r.conditions(&a.when), "unless": r.conditions(&a.unless),
		"compare": r.text(&w.compare), "order": r.text(&w.order),
		"block": r.text(&w.block), "slots": r.texts(&a.slots.prefixes), "gaps": r.flag(&a.slots.gaps),
		"where": r.conditions(&a.slots.where), "except": r.conditions(&a.slots.except), "having": r.texts(&a.slots.having),
		"keys": r.texts(&a.keys), "only_if": r.text(&a.onlyIf), "others": r.flag(&a.others),
		"attributes": func(n *yaml.Node) { w.inside = n },
	}
}

// block reads the keys of an attribute with a block.
func (r *reader) block(n *yaml.Node, w *attributeNode, a *attribute, searches map[string]*slots) {
	kind, ok := blocks()[w.block]
	switch {
	case !ok:
		r.fail(n, "no block %q; want %s", w.block, words(blocks()))
	case (kind == plainValue) != (w.inside == nil):
		r.fail(n, "block and attributes need each other")
	case w.inside != nil:
		a.attributes = r.inside(w.inside, searches)
	}
	a.block = kind
	r.blockIsPlain(n, a)
	repeats := kind == manyBlocks || kind == namedBlocks
	chooses := len(a.slots.prefixes)+len(a.slots.where)+len(a.slots.except)+len(a.slots.having) > 0
	if !repeats && (chooses || a.others || a.keys != nil || a.onlyIf != "") {
		r.fail(n, "slots, where, except, having, keys, only_if and others belong to block many or named")
	}
	if a.slots.gaps && len(a.slots.prefixes) != 1 {
		r.fail(n, "gaps needs exactly one of slots")
	}
}

// blockIsPlain records an error if an attribute with a block has keys for plain values.
func (r *reader) blockIsPlain(n *yaml.Node, a *attribute) {
	if a.block != plainValue && (a.ofInstance() || a.computed || a.ignored != nil) {
		r.fail(n, "without, granted, found, among, while, unsent, typed, ignore and computed belong to attributes without a block")
	}
}

// inside compiles the attributes of a block. A node to which several blocks refer is compiled
// once.
func (r *reader) inside(n *yaml.Node, searches map[string]*slots) []attribute {
	attributes, ok := r.blocks[n]
	if !ok {
		attributes = sortedAttributes(r.attributes(n, searches))
		if slices.ContainsFunc(attributes, func(a attribute) bool { return a.ofInstance() }) {
			r.fail(n, "without, granted, found, among, while, unsent and typed belong to the resource's own attributes")
		}
		r.blocks[n] = attributes
	}
	return attributes
}

// blocks returns the values of the key "block".
func blocks() map[string]block {
	return map[string]block{"": plainValue, "one": oneBlock, "many": manyBlocks, "object": objectBlock, "named": namedBlocks}
}

// orders returns the values of the key "order", and whether each ignores the order.
func orders() map[string]bool { return map[string]bool{"": false, "counts": false, "any": true} }

func (r *reader) word(n *yaml.Node, what, word string, known map[string]bool) bool {
	v, ok := known[word]
	if !ok {
		r.fail(n, "no %s %q; want %s", what, word, words(known))
	}
	return v
}

// formats returns the values of the key "compare".
func formats() map[string]model.Format {
	return map[string]model.Format{"": model.Plain, "number": model.IntOrString, "boolean": model.Boolean,
		"instant": model.Instant, "nocase": model.CaseFold, "address": model.Address, "json": model.JSON}
}

func (r *reader) format(n *yaml.Node, word string) model.Format {
	f, ok := formats()[strings.TrimSpace(word)]
	if !ok {
		r.fail(n, "no way to compare %q; want %s", word, words(formats()))
	}
	return f
}

// sealed reads a flag, or "url".
func (r *reader) sealed(a *attribute) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if a.sealedURL = n.Value == "url"; !a.sealedURL {
			r.flag(&a.sealed)(n)
		}
	}
}

// matches reads "field.below: {template}" pairs.
func (r *reader) matches(to *[]match) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.each(n, "a condition", func(name string, _, value *yaml.Node) {
			m := match{names: strings.Split(name, ".")}
			r.template(&m.is)(value)
			*to = append(*to, m)
		})
	}
}
