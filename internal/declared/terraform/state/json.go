package state

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/driftd/driftd/internal/model"
)

const (
	// maxDepth bounds the nesting of lists and maps.
	maxDepth = 200
	// maxDigits bounds the length of a number. Terraform computes with 512 bits.
	maxDigits = 1000
)

// A decoder reads a stream of JSON. It interns short strings, because they repeat in many
// instances. fields and items are stacks: they hold the content of the maps and lists that are
// being read.
type decoder struct {
	*jsontext.Decoder
	seed   maphash.Seed
	texts  []string
	fields []model.Field
	items  []model.Value
}

func newDecoder(r io.Reader) *decoder {
	return &decoder{Decoder: jsontext.NewDecoder(r), seed: maphash.MakeSeed(), texts: make([]string, keptTexts)}
}

// record reads an object. It calls the function of each named field that is present and not null,
// and skips all other fields.
func (d *decoder) record(fields map[string]func() error) error {
	if err := d.open('{', "an object"); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		name, err := d.string()
		if err != nil {
			return err
		}
		read := fields[name]
		if read == nil || d.PeekKind() == 'n' {
			read = d.SkipValue
		}
		if err := read(); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// array reads an array and calls element for each element.
func (d *decoder) array(element func() error) error {
	if err := d.open('[', "an array"); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		if err := element(); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

func (d *decoder) open(kind jsontext.Kind, want string) error {
	token, err := d.ReadToken()
	if err == nil && token.Kind() != kind {
		return fmt.Errorf("got %s, want %s", describe(token.Kind()), want)
	}
	return err
}

func describe(kind jsontext.Kind) string {
	switch kind {
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 'n':
		return "null"
	}
	return "a boolean"
}

// value reads a value of any type.
func (d *decoder) value() (model.Value, error) { return d.valueBelow(0) }

func (d *decoder) valueBelow(depth int) (model.Value, error) {
	switch kind := d.PeekKind(); kind {
	case '{', '[':
		if depth == maxDepth {
			return model.Value{}, fmt.Errorf("more than %d levels deep", maxDepth)
		}
		if kind == '{' {
			return d.mapBelow(depth + 1)
		}
		return d.listBelow(depth + 1)
	case '"':
		text, err := d.string()
		return model.StringOf(text), err
	case '0':
		return d.number()
	}
	token, err := d.ReadToken()
	if err != nil || token.Kind() == 'n' {
		return model.Value{}, err
	}
	return model.BoolOf(token.Bool()), nil
}

func (d *decoder) mapBelow(depth int) (model.Value, error) {
	if _, err := d.ReadToken(); err != nil {
		return model.Value{}, err
	}
	base := len(d.fields)
	for d.PeekKind() != '}' {
		name, err := d.string()
		if err != nil {
			return model.Value{}, err
		}
		v, err := d.valueBelow(depth)
		if err != nil {
			return model.Value{}, err
		}
		d.fields = append(d.fields, model.Field{Name: name, Value: v})
	}
	fields := slices.Clone(d.fields[base:])
	d.fields = d.fields[:base]
	_, err := d.ReadToken()
	if v, ok := dynamic(fields); ok {
		return v, err
	}
	return model.MapOf(fields...), err
}

func (d *decoder) listBelow(depth int) (model.Value, error) {
	if _, err := d.ReadToken(); err != nil {
		return model.Value{}, err
	}
	base := len(d.items)
	for d.PeekKind() != ']' {
		v, err := d.valueBelow(depth)
		if err != nil {
			return model.Value{}, err
		}
		d.items = append(d.items, v)
	}
	items := slices.Clone(d.items[base:])
	d.items = d.items[:base]
	_, err := d.ReadToken()
	return model.ListOf(items...), err
}

func (d *decoder) number() (model.Value, error) {
	raw, err := d.ReadValue()
	if err != nil {
		return model.Value{}, err
	}
	if raw.Kind() != '0' {
		return model.Value{}, fmt.Errorf("got %s, want a number", describe(raw.Kind()))
	}
	if len(raw) <= maxDigits {
		if n, ok := model.NumberOf(d.keep(raw)); ok {
			return n, nil
		}
	}
	return model.Value{}, errors.New("a number is out of range")
}

// whole reads an integer.
func (d *decoder) whole() (int64, error) {
	n, err := d.number()
	if err != nil {
		return 0, err
	}
	whole, err := strconv.ParseInt(n.Text(), 10, 64)
	if err != nil || whole < 0 {
		return 0, errors.New("want a whole number of 0 or more")
	}
	return whole, nil
}

// string reads a string or the name of a field.
func (d *decoder) string() (string, error) {
	raw, err := d.ReadValue()
	if err != nil {
		return "", err
	}
	if raw.Kind() != '"' {
		return "", fmt.Errorf("got %s, want a string", describe(raw.Kind()))
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return d.keep(raw[1 : len(raw)-1]), nil
	}
	plain, err := jsontext.AppendUnquote(nil, raw)
	return string(plain), err
}

// The bounds of interned strings. Longer strings rarely repeat.
const (
	keptLength = 64
	keptTexts  = 4096
)

// keep returns text as a string, and the same string for equal short texts if possible.
func (d *decoder) keep(text []byte) string {
	if len(text) > keptLength {
		return string(text)
	}
	slot := &d.texts[maphash.Bytes(d.seed, text)%keptTexts]
	if *slot != string(text) {
		*slot = string(text)
	}
	return *slot
}

// set returns a function that stores the result of read in to.
func set[T any](to *T, read func() (T, error)) func() error {
	return func() (err error) {
		*to, err = read()
		return err
	}
}
