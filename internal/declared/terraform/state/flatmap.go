package state

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// unknownMark is the flat attribute value that Terraform wrote for a value that is not yet known.
const unknownMark = "74D93920-ED26-11E3-AC10-0800200C9A66"

// unflatten converts the attributes that Terraform 0.11 wrote to a tree: "disk.#" is the length of
// a list, "disk.0.size" a field of its first element, "tags.%" the size of a map. Each count
// precedes its elements.
func unflatten(flat model.Value) (model.Value, error) {
	if flat.Kind() != model.Map {
		return model.Value{}, errors.New("attributes_flat is not an object")
	}
	root := &branch{}
	for _, counts := range []bool{true, false} {
		for _, f := range flat.Fields() {
			v := f.Value
			switch {
			case v.Kind() != model.String:
				return model.Value{}, errors.New("attributes_flat has a value that is not a string")
			case strings.Count(f.Name, ".") > maxDepth:
				return model.Value{}, errors.New("attributes_flat has a name with too many parts")
			case v.Str() == unknownMark:
				v = model.Value{}
			}
			if isCount(f.Name) == counts {
				root.put(f.Name, v)
			}
		}
	}
	return root.tree(), nil
}

// isCount reports whether a name is a count, which sets the kind of its branch.
func isCount(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	return last == "#" || last == "%"
}

// A branch is a map, or a list if it has the name "#".
type branch struct {
	names    []string
	children map[string]*branch
	leaf     model.Value
	list     bool
	free     bool
}

// put adds the value at a path. The names in a map of arbitrary keys may contain dots.
func (b *branch) put(path string, v model.Value) {
	name, rest, deep := strings.Cut(path, ".")
	switch {
	case name == "#" && !deep:
		b.list = true
		return
	case name == "%" && !deep:
		b.free = true
		return
	case b.free:
		name, deep = path, false
	}
	if b.children == nil {
		b.children = map[string]*branch{}
	}
	child, ok := b.children[name]
	if !ok {
		child = &branch{}
		b.children[name] = child
		b.names = append(b.names, name)
	}
	if !deep {
		child.leaf = v
		return
	}
	child.put(rest, v)
}

// tree returns the value of the branch.
func (b *branch) tree() model.Value {
	if b.list {
		slices.SortFunc(b.names, compareIndices)
		items := make([]model.Value, len(b.names))
		for i, name := range b.names {
			items[i] = b.children[name].node()
		}
		return model.ListOf(items...)
	}
	fields := make([]model.Field, len(b.names))
	for i, name := range b.names {
		fields[i] = model.Field{Name: name, Value: b.children[name].node()}
	}
	return model.MapOf(fields...)
}

func (b *branch) node() model.Value {
	if b.children == nil && !b.list && !b.free {
		return b.leaf
	}
	return b.tree()
}

// compareIndices compares two numbers: indexes, or hashes of set elements.
func compareIndices(a, b string) int {
	m, _ := strconv.ParseUint(a, 10, 64)
	n, _ := strconv.ParseUint(b, 10, 64)
	return cmp.Or(cmp.Compare(m, n), cmp.Compare(a, b))
}
