package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// secretPrefix marks a digest in JSON. Strings that begin like it are escaped
// by doubling the first character, so that no resource can forge a digest.
const secretPrefix = "\x00secret:"

// AppendJSON appends the canonical JSON form of the value to b, in which the fields of maps are
// sorted by name. A secret is encoded as its digest in a form that UnmarshalJSON decodes; use
// Public for output to people.
func (v Value) AppendJSON(b []byte) []byte {
	switch v.kind {
	case Null:
		return append(b, "null"...)
	case Bool, Number:
		return append(b, v.text...)
	case String:
		if strings.HasPrefix(v.text, "\x00") {
			return appendString(b, "\x00"+v.text)
		}
		return appendString(b, v.text)
	case Secret:
		return appendString(b, secretPrefix+v.text)
	case List:
		b = append(b, '[')
		for i, item := range v.Items() {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.AppendJSON(b)
		}
		return append(b, ']')
	case Map:
		b = append(b, '{')
		for i, f := range v.Fields() {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, f.Name), ':')
			b = f.Value.AppendJSON(b)
		}
		return append(b, '}')
	}
	return b
}

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string. Bytes that are not valid UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r == '\t':
			b = append(b, '\\', 't')
		case r < 0x20 || r == 0x2028 || r == 0x2029:
			b = append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// MarshalJSON implements json.Marshaler. It returns the form that AppendJSON appends, and no error.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// UnmarshalJSON implements json.Unmarshaler. It decodes the form that MarshalJSON returns. Use
// package decode for JSON from other systems: it limits the size.
func (v *Value) UnmarshalJSON(data []byte) error {
	if scalar, ok := decodeScalar(data); ok {
		*v = scalar
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	got, err := decodeValue(dec)
	if err != nil {
		return fmt.Errorf("decode value: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("decode value: something stands after it")
	}
	*v = got
	return nil
}

// decodeScalar decodes null, booleans, numbers and strings without a json.Decoder. It returns false
// for other values.
func decodeScalar(data []byte) (Value, bool) {
	switch {
	case len(data) == 0 || data[0] == '[' || data[0] == '{' || !json.Valid(data):
		return Value{}, false
	case data[0] == '"':
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return Value{}, false
		}
		return decodeString(s), true
	case data[0] == 't' || data[0] == 'f':
		return BoolOf(data[0] == 't'), true
	case data[0] == 'n':
		return Value{}, true
	}
	return NumberOf(string(data))
}

func decodeValue(dec *json.Decoder) (Value, error) {
	tok, err := dec.Token()
	if err != nil {
		return Value{}, err
	}
	switch t := tok.(type) {
	case bool:
		return BoolOf(t), nil
	case json.Number:
		n, ok := NumberOf(t.String())
		if !ok {
			return Value{}, fmt.Errorf("number %q", t)
		}
		return n, nil
	case string:
		return decodeString(t), nil
	case json.Delim:
		if t == '[' {
			return decodeList(dec)
		}
		return decodeMap(dec)
	}
	return Value{}, nil
}

func decodeString(s string) Value {
	if digest, ok := strings.CutPrefix(s, secretPrefix); ok {
		return DigestOf(digest)
	}
	if strings.HasPrefix(s, "\x00\x00") {
		s = s[1:]
	}
	return StringOf(s)
}

func decodeList(dec *json.Decoder) (Value, error) {
	items := []Value{}
	for dec.More() {
		item, err := decodeValue(dec)
		if err != nil {
			return Value{}, err
		}
		items = append(items, item)
	}
	return ListOf(items...), closing(dec)
}

func decodeMap(dec *json.Decoder) (Value, error) {
	fields := []Field{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return Value{}, err
		}
		item, err := decodeValue(dec)
		if err != nil {
			return Value{}, err
		}
		fields = append(fields, Field{name.(string), item})
	}
	return MapOf(fields...), closing(dec)
}

// closing takes the bracket that ends a list or a map; a text that ends before
// it is an error.
func closing(dec *json.Decoder) error {
	_, err := dec.Token()
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// SecretText is the text that replaces secrets in output.
const SecretText = "(secret)"

// Public returns a copy of the tree for output in which SecretText replaces each secret.
func (v Value) Public() Value {
	if !v.HasSecret() {
		return v
	}
	switch v.kind {
	case Secret:
		return StringOf(SecretText)
	case List:
		items := make([]Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = item.Public()
		}
		return ListOf(items...)
	case Map:
		fields := make([]Field, len(v.Fields()))
		for i, f := range v.Fields() {
			fields[i] = Field{f.Name, f.Value.Public()}
		}
		return Value{kind: Map, node: &node{fields: fields}}
	}
	return v
}

// String returns a short form for output: the content of a string, or JSON, with SecretText in
// place of secrets.
func (v Value) String() string {
	if v.kind == String {
		return v.text
	}
	return string(v.Public().AppendJSON(nil))
}
