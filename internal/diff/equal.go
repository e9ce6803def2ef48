package diff

import (
	"cmp"
	"math/big"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// Equal reports whether two values are equivalent according to the schema. It ignores differences
// in spelling, defaults, and the order of lists that have none. Null means absent.
func Equal(schema *model.Schema, a, b model.Value) bool {
	switch {
	case a.IsNull() && b.IsNull():
		return true
	case a.IsNull():
		return absentEquals(schema, b)
	case b.IsNull():
		return absentEquals(schema, a)
	case isUnset(schema, a):
		return absentEquals(schema, b)
	case isUnset(schema, b):
		return absentEquals(schema, a)
	case a.Kind() == model.Map && b.Kind() == model.Map:
		return equalMaps(schema, a, b)
	case a.Kind() == model.List && b.Kind() == model.List:
		return equalLists(schema, a, b)
	}
	return equalScalars(schema, a, b)
}

// absentEquals reports whether an absent field is equivalent to v.
func absentEquals(schema *model.Schema, v model.Value) bool {
	if schema == nil {
		return v.IsEmpty()
	}
	if schema.Volatile || schema.Content && schema.Default == nil {
		return schema.Volatile
	}
	if isUnset(schema, v) {
		return true
	}
	if schema.Default != nil {
		return !schema.Content && v.Kind() >= model.List && v.IsEmpty() || Equal(schema, *schema.Default, v)
	}
	if schema.List == model.Sequence && v.Kind() == model.List {
		return !slices.ContainsFunc(v.Items(), func(item model.Value) bool { return !absentEquals(schema.Element(), item) })
	}
	if v.Kind() != model.Map {
		return v.IsEmpty()
	}
	for _, f := range v.Fields() {
		if !absentEquals(schema.Field(f.Name), f.Value) {
			return false
		}
	}
	return true
}

// isUnset reports whether v is an empty value that the system reads as an absent one.
func isUnset(schema *model.Schema, v model.Value) bool {
	return schema != nil && schema.Unset && v.IsEmpty()
}

// orUnset returns v, or null if the system reads v as absent and may set a list or any value instead.
func orUnset(schema *model.Schema, v model.Value) model.Value {
	if isUnset(schema, v) && (schema.Generated || schema.Derived || v.Kind() == model.List) {
		return model.Value{}
	}
	return v
}

// fillsIn reports whether v is a value that the system itself sets if none is declared.
func fillsIn(schema *model.Schema, v model.Value) bool {
	if schema != nil && (schema.Generated || schema.Derived) || absentEquals(schema, v) {
		return true
	}
	return v.Kind() == model.Map && !isContent(schema) && !slices.ContainsFunc(v.Fields(), func(f model.Field) bool {
		return !fillsIn(schema.Field(f.Name), f.Value)
	})
}

// isContent reports whether an empty value differs from an absent one.
func isContent(schema *model.Schema) bool { return schema != nil && schema.Content }

// derived reports whether the system sets fields of a declared map, too.
func derived(schema *model.Schema) bool { return schema != nil && schema.Derived }

func equalMaps(schema *model.Schema, a, b model.Value) bool {
	a, b = completed(schema, a), completed(schema, b)
	fa, fb := a.Fields(), b.Fields()
	for len(fa) > 0 || len(fb) > 0 {
		switch order := compareHeads(fa, fb); {
		case order < 0:
			if !derived(schema) && !fillsIn(schema.Field(fa[0].Name), fa[0].Value) {
				return false
			}
			fa = fa[1:]
		case order > 0:
			if !derived(schema) && !fillsIn(schema.Field(fb[0].Name), fb[0].Value) {
				return false
			}
			fb = fb[1:]
		default:
			if !equalFields(schema.Field(fa[0].Name), fa[0].Value, fb[0].Value) {
				return false
			}
			fa, fb = fa[1:], fb[1:]
		}
	}
	return true
}

// completed returns a map with the fields that the system sets in it.
func completed(schema *model.Schema, v model.Value) model.Value {
	if schema == nil || schema.Complete == nil || v.Kind() != model.Map {
		return v
	}
	return schema.Complete(v)
}

// equalFields reports whether the values of a field that two maps have are equal.
func equalFields(schema *model.Schema, a, b model.Value) bool {
	if isUnset(schema, a) || isUnset(schema, b) {
		return fillsIn(schema, a) && fillsIn(schema, b)
	}
	return Equal(schema, a, b)
}

// compareHeads compares the first fields of two sorted lists; an empty list comes last.
func compareHeads(a, b []model.Field) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return cmp.Compare(a[0].Name, b[0].Name)
}

func equalLists(schema *model.Schema, a, b model.Value) bool {
	if schema != nil && schema.List == model.Sequence {
		return !slices.ContainsFunc(pairSequence(schema, a.Items(), b.Items()), func(p pairing) bool {
			return !Equal(schema.Element(), itemAt(a, p.d), itemAt(b, p.l))
		})
	}
	if len(a.Items()) != len(b.Items()) {
		return false
	}
	if schema != nil && schema.List != model.Ordered {
		left, right := unpaired(schema, a.Items(), b.Items())
		return len(left) == 0 && len(right) == 0
	}
	for i, item := range a.Items() {
		if !Equal(schema.Element(), item, b.Items()[i]) {
			return false
		}
	}
	return true
}

// unpaired returns the positions of the elements of a and b that have no equal in the
// other list, in any order. Each element is paired once.
func unpaired(schema *model.Schema, a, b []model.Value) (left, right []int) {
	taken := make([]bool, len(b))
	for i, item := range a {
		if !pairUp(schema.Element(), item, i, b, taken) {
			left = append(left, i)
		}
	}
	for j, t := range taken {
		if !t {
			right = append(right, j)
		}
	}
	return left, right
}

// pairUp marks the first element of b that is equal to item and not taken. It tries the
// same position first.
func pairUp(schema *model.Schema, item model.Value, at int, b []model.Value, taken []bool) bool {
	if at < len(b) && !taken[at] && Equal(schema, item, b[at]) {
		taken[at] = true
		return true
	}
	for j := range b {
		if !taken[j] && Equal(schema, item, b[j]) {
			taken[j] = true
			return true
		}
	}
	return false
}

func equalScalars(schema *model.Schema, a, b model.Value) bool {
	if a.Kind() == b.Kind() && a.Text() == b.Text() {
		return true
	}
	// Lists, maps and digests have one spelling.
	if schema == nil || a.Kind() >= model.List || b.Kind() >= model.List {
		return false
	}
	switch schema.Format {
	case model.IntOrString:
		return a.Text() == b.Text()
	case model.CaseFold:
		return strings.EqualFold(a.Text(), b.Text())
	case model.Base64:
		return withoutSpace(a.Text()) == withoutSpace(b.Text())
	case model.JSON:
		return sameInside(schema, parseJSON, a, b)
	case model.PropertyString:
		return sameInside(schema, func(s string) (model.Value, error) { return parseProperties(schema, s) }, a, b)
	}
	return sameMeaning(schema.Format, a, b)
}

// sameMeaning reports whether two texts are equal as values of the format.
func sameMeaning(format model.Format, a, b model.Value) bool {
	switch format {
	case model.Quantity:
		return sameQuantity(a, b)
	case model.Boolean:
		return sameBy(parseBoolean, model.CompareBool, a, b)
	case model.Instant:
		return sameBy(parseInstant, time.Time.Compare, a, b)
	case model.Duration:
		return sameBy(time.ParseDuration, cmp.Compare[time.Duration], a, b)
	case model.Address:
		return sameBy(parseAddress, netip.Prefix.Compare, a, b)
	}
	return false
}

func sameQuantity(a, b model.Value) bool {
	x, xOK := milli(a.Text())
	y, yOK := milli(b.Text())
	if xOK && yOK {
		return x == y
	}
	return sameBy(parseQuantity, (*big.Rat).Cmp, a, b)
}

// sameInside compares the trees that two texts encode, by the rest of the schema.
func sameInside(schema *model.Schema, parse func(string) (model.Value, error), a, b model.Value) bool {
	x, err := parse(a.Text())
	if err != nil {
		return false
	}
	y, err := parse(b.Text())
	inside := *schema
	inside.Format, inside.Default = model.Plain, nil
	return err == nil && Equal(&inside, x, y)
}

// sameBy compares two texts as parsed values. A text that cannot be parsed is equal to no
// other one.
func sameBy[T any](parse func(string) (T, error), compare func(T, T) int, a, b model.Value) bool {
	x, err := parse(a.Text())
	if err != nil {
		return false
	}
	y, err := parse(b.Text())
	return err == nil && compare(x, y) == 0
}
