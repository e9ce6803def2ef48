package model

import (
	"cmp"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// A ValueKind is the kind of a Value.
type ValueKind uint8

// The kinds of a Value. The zero Value is Null.
const (
	Null ValueKind = iota
	Bool
	Number
	String
	List
	Map
	// Secret is a keyed digest in place of a sensitive value.
	Secret
)

// A Value is one node of a resource's tree. It is immutable. The fields of maps are sorted by name,
// so equal trees have the same representation.
type Value struct {
	kind ValueKind
	text string
	// node has the elements of lists and maps; nil for other values.
	node *node
}

// A node has the elements of a value. It is separate to keep scalars small.
type node struct {
	items  []Value
	fields []Field
}

// A Field is one entry of a map.
type Field struct {
	Name  string
	Value Value
}

// BoolOf returns a Value of kind Bool.
func BoolOf(b bool) Value { return Value{kind: Bool, text: strconv.FormatBool(b)} }

// IntOf returns a Value of kind Number.
func IntOf(n int64) Value { return Value{kind: Number, text: strconv.FormatInt(n, 10)} }

// StringOf returns a Value of kind String.
func StringOf(s string) Value { return Value{kind: String, text: s} }

// DigestOf returns a Value of kind Secret with a digest that a Sealer computed.
func DigestOf(digest string) Value { return Value{kind: Secret, text: digest} }

// ListOf returns a Value of kind List. The caller must not use the slice afterwards.
func ListOf(items ...Value) Value { return Value{kind: List, node: &node{items: items}} }

// MapOf returns a Value of kind Map. It sorts fields in place, and the caller must not use the
// slice afterwards. If several fields have the same name, the last one is kept.
func MapOf(fields ...Field) Value {
	byName := func(a, b Field) int { return cmp.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(fields, byName) {
		slices.SortStableFunc(fields, byName)
	}
	return Value{kind: Map, node: &node{fields: lastOfEach(fields)}}
}

// lastOfEach removes, in place, every field that is followed by one with the same name.
func lastOfEach(fields []Field) []Field {
	repeats := func(i int) bool { return i+1 < len(fields) && fields[i].Name == fields[i+1].Name }
	first := 0
	for first < len(fields) && !repeats(first) {
		first++
	}
	kept := fields[:first]
	for i := first; i < len(fields); i++ {
		if !repeats(i) {
			kept = append(kept, fields[i])
		}
	}
	return kept
}

// NumberOf returns the number of a JSON literal in a canonical decimal form: 1.0, 1 and 1e0 are
// equal, at any precision. If the literal is not a JSON number, or its exponent is not between -400
// and 400, ok is false.
func NumberOf(literal string) (v Value, ok bool) {
	if text, ok := canonicalInteger(literal); ok {
		return Value{kind: Number, text: text}, true
	}
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		if exp, err := strconv.Atoi(literal[i+1:]); err != nil || exp > 400 || exp < -400 {
			return Value{}, false
		}
	}
	if !isNumberLiteral(literal) {
		return Value{}, false
	}
	rat, ok := new(big.Rat).SetString(literal)
	if !ok {
		return Value{}, false
	}
	if rat.IsInt() {
		return Value{kind: Number, text: rat.Num().String()}, true
	}
	digits, _ := rat.FloatPrec()
	return Value{kind: Number, text: rat.FloatString(digits)}, true
}

func canonicalInteger(s string) (string, bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || (digits[0] == '0' && len(digits) > 1) {
		return "", false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return "", false
		}
	}
	if digits == "0" {
		return "0", true
	}
	return s, true
}

// isNumberLiteral excludes other notations of big.Rat (fractions, hexadecimal,
// underscores).
func isNumberLiteral(s string) bool {
	return s != "" && strings.Trim(s, "0123456789+-.eE") == "" && !strings.HasPrefix(s, "+")
}

// Kind returns the kind of the value.
func (v Value) Kind() ValueKind { return v.kind }

// IsNull reports whether the value is null.
func (v Value) IsNull() bool { return v.kind == Null }

// Text returns the content of a string, the canonical decimal form of a number, "true" or "false",
// or the digest of a secret. It returns "" for null, lists and maps.
func (v Value) Text() string { return v.text }

// Str returns the content of a string, and "" for every other kind.
func (v Value) Str() string {
	if v.kind == String {
		return v.text
	}
	return ""
}

// Items returns the elements of a list, and nil for other kinds. The caller must not modify the
// slice.
func (v Value) Items() []Value {
	if v.node == nil {
		return nil
	}
	return v.node.items
}

// Fields returns the fields of a map, sorted by name, and nil for other kinds. The caller must not
// modify the slice.
func (v Value) Fields() []Field {
	if v.node == nil {
		return nil
	}
	return v.node.fields
}

// Get returns the named field of a map. If v is not a map or does not have the field, ok is false.
func (v Value) Get(name string) (field Value, ok bool) {
	fields := v.Fields()
	if len(fields) <= 8 {
		for i := range fields {
			if fields[i].Name == name {
				return fields[i].Value, true
			}
		}
		return Value{}, false
	}
	i, ok := slices.BinarySearchFunc(fields, name, func(f Field, n string) int { return cmp.Compare(f.Name, n) })
	if !ok {
		return Value{}, false
	}
	return fields[i].Value, true
}

// At returns the value at the path of field names, or null if there is none.
func (v Value) At(names ...string) Value {
	for _, n := range names {
		v, _ = v.Get(n)
	}
	return v
}

// With returns a copy of the map v in which the field name has the value field.
func (v Value) With(name string, field Value) Value {
	old := v.Fields()
	i := sort.Search(len(old), func(i int) bool { return old[i].Name >= name })
	after := i
	if i < len(old) && old[i].Name == name {
		after++
	}
	fields := make([]Field, 0, i+1+len(old)-after)
	fields = append(append(append(fields, old[:i]...), Field{name, field}), old[after:]...)
	return Value{kind: Map, node: &node{fields: fields}}
}

// Without returns a copy of the map v without the named fields.
func (v Value) Without(names ...string) Value {
	if !slices.ContainsFunc(v.Fields(), func(f Field) bool { return slices.Contains(names, f.Name) }) {
		return v
	}
	fields := make([]Field, 0, len(v.Fields()))
	for _, f := range v.Fields() {
		if !slices.Contains(names, f.Name) {
			fields = append(fields, f)
		}
	}
	return Value{kind: Map, node: &node{fields: fields}}
}

// Equal reports whether two trees are equal. The order of lists is significant, the notation of
// numbers is not. Package diff compares values by schema.
func (v Value) Equal(w Value) bool {
	return v.kind == w.kind && v.text == w.text && (v.node == w.node ||
		slices.EqualFunc(v.Items(), w.Items(), Value.Equal) &&
			slices.EqualFunc(v.Fields(), w.Fields(), func(a, b Field) bool {
				return a.Name == b.Name && a.Value.Equal(b.Value)
			}))
}

// SameValue reports whether two values are equal. nil stands for no value, and is only equal to nil.
func SameValue(a, b *Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// IsEmpty reports whether the value is null, "", 0, false, or a list or map without elements.
func (v Value) IsEmpty() bool {
	switch v.kind {
	case Null:
		return true
	case Bool:
		return v.text == "false"
	case Number:
		return v.text == "0"
	case String, Secret:
		return v.text == ""
	case List:
		return len(v.Items()) == 0
	case Map:
		return len(v.Fields()) == 0
	}
	return false
}

// HasSecret reports whether the tree contains a secret.
func (v Value) HasSecret() bool {
	return v.kind == Secret || slices.ContainsFunc(v.Items(), Value.HasSecret) ||
		slices.ContainsFunc(v.Fields(), func(f Field) bool { return f.Value.HasSecret() })
}
