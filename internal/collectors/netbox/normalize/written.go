package normalize

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"unique"

	"github.com/driftd/driftd/internal/model"
)

// A Written is the value that an entry of the changelog left in one field. It holds
// a digest, so that the changelog can be kept without its values.
type Written struct {
	// Path is the field's path in the kind's values.
	Path string
	left digest
}

// WrittenBy returns the values that an entry left in the fields that it wrote: those
// that differ between its sides, or all of them if it has no side before. It leaves
// out secrets and fields that the changelog holds in another form.
func WrittenBy(k *Kind, e Entry) []Written {
	names, before := differing(e.Before, e.After), e.Before
	if before.IsEmpty() {
		names = namesOf(e.After)
	}
	var all []Written
	for _, name := range names {
		if name == "custom_fields" {
			all = append(all, writtenCustom(before.At(name), e.After.At(name))...)
		} else if k.literal(name) {
			all = addWritten(all, name, e.After.At(name))
		}
	}
	return all
}

func writtenCustom(before, after model.Value) []Written {
	names := differing(before, after)
	if before.IsEmpty() {
		names = namesOf(after)
	}
	var all []Written
	for _, name := range names {
		all = addWritten(all, unique.Make(CustomFieldPath(name)).Value(), after.At(name))
	}
	return all
}

func addWritten(all []Written, path string, v model.Value) []Written {
	if d := digestOf(v); d.kind != otherForm {
		all = append(all, Written{path, d})
	}
	return all
}

func namesOf(v model.Value) []string {
	names := make([]string, 0, len(v.Fields()))
	for _, f := range v.Fields() {
		names = append(names, f.Name)
	}
	return names
}

// literal reports whether the changelog holds the field in the form of the kind's
// values. It holds the model of a generic reference as a number.
func (k *Kind) literal(name string) bool {
	f := k.fields.Field(name)
	if f == nil || f.Form.Secret || slices.Contains([]string{"mac_addresses", "a_terminations", "b_terminations", "custom_fields"}, name) {
		return false
	}
	of, typed := strings.CutSuffix(name, "_type")
	return !typed || !k.Has(of+"_id")
}

// Matches reports whether an object may hold the value that the entry left. It returns true if
// the forms of the two values cannot be compared.
func (w *Written) Matches(object model.Value) bool {
	live := object.At(w.Path)
	if name, custom := customField(w.Path); custom {
		live = object.At("custom_fields", name)
	}
	return w.left.matches(live)
}

// customField returns the name of the custom field at a path.
func customField(path string) (name string, custom bool) {
	rest, ok := strings.CutPrefix(path, "custom_fields")
	switch {
	case !ok || rest == "":
		return "", false
	case rest[0] == '.':
		return rest[1:], true
	}
	name, err := strconv.Unquote(strings.Trim(rest, "[]"))
	return name, err == nil
}

// A digest identifies a value independently of its notation.
type digest struct {
	kind digestKind
	sum  uint64
}

type digestKind uint8

// The kinds of digests. Values of otherForm are not compared, and values of
// different kinds differ only if one of them is blank.
const (
	otherForm digestKind = iota
	blankForm
	boolForm
	numberForm
	textForm
	numbersForm
	textsForm
	treeForm
)

// digestOf returns the digest of a value. It compares numeric texts as numbers, texts without
// regard to case and blanks, and lists as sets.
func digestOf(v model.Value) digest {
	switch v.Kind() {
	case model.Secret:
		return digest{}
	case model.List:
		if !v.IsEmpty() {
			return digestOfList(v.Items())
		}
	case model.Map:
		if !v.IsEmpty() {
			return digest{treeForm, sum(string(v.AppendJSON(nil)))}
		}
	}
	if v.IsEmpty() {
		return digest{kind: blankForm}
	}
	if n, err := strconv.ParseFloat(v.Text(), 64); err == nil {
		return digestOfNumber(n)
	}
	if v.Kind() == model.Bool {
		return digest{boolForm, sum(v.Text())}
	}
	return digest{textForm, sum(strings.ToLower(strings.Join(strings.Fields(v.Text()), " ")))}
}

func digestOfNumber(n float64) digest {
	return digest{numberForm, sum(strconv.FormatFloat(n, 'g', -1, 64))}
}

// digestOfList returns the digest of a list of scalars of one kind. Tags have names in
// the changelog, and slugs in config contexts.
func digestOfList(items []model.Value) digest {
	kinds := map[model.ValueKind]digestKind{model.Number: numbersForm, model.String: textsForm}
	kind := kinds[items[0].Kind()]
	words := make([]string, 0, len(items))
	for _, item := range items {
		if kinds[item.Kind()] != kind {
			return digest{}
		}
		words = append(words, slug(item.Text()))
	}
	slices.Sort(words)
	return digest{kind, sum(slices.Compact(words)...)}
}

// slug returns a text as a slug is made from it.
func slug(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(c rune) bool { return c == ' ' || c == '-' || c == '.' }), "-")
}

func sum(words ...string) uint64 {
	h := fnv.New64a()
	for _, word := range words {
		h.Write([]byte(word)) // a hash never fails
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// matches reports whether a live value may be the value of the digest.
func (d digest) matches(live model.Value) bool {
	l := digestOf(live)
	switch {
	case d.kind == otherForm, l.kind == otherForm, d == l:
		return true
	case d.kind == numberForm && l.kind == numberForm:
		// Sizes were in GB before 4.1.
		n, err := strconv.ParseFloat(live.Text(), 64)
		return err == nil && digestOfNumber(n/1000) == d
	}
	return d.kind != l.kind && d.kind != blankForm && l.kind != blankForm
}
