package decode

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/driftd/driftd/internal/model"
)

// JSON decodes a JSON document. It requires valid UTF-8, and returns a *SyntaxError for duplicate names,
// for data after the document, and for a nesting depth above MaxDepth.
func JSON(data []byte) (model.Value, error) {
	r := newJSONReader(data)
	v, err := r.value(0)
	if err != nil {
		return model.Value{}, r.locate(err)
	}
	if rest := r.next(space); rest < len(data) {
		return model.Value{}, &SyntaxError{Line: lineAt(data, rest), Err: errors.New("something follows the document")}
	}
	return v, nil
}

// A jsonReader turns tokens into values. Names and short texts, which repeat
// from object to object, are kept once. fields and items are stacks on which
// the maps and lists that are being read collect their content.
type jsonReader struct {
	data   []byte
	dec    *jsontext.Decoder
	seed   maphash.Seed
	texts  []string
	fields []model.Field
	items  []model.Value
	// elements holds where each element of the document's own "items" begins.
	elements []int
}

func newJSONReader(data []byte) *jsonReader {
	r := &jsonReader{data: data, dec: jsontext.NewDecoder(bytes.NewBuffer(data))}
	if len(data) > keptFrom {
		r.seed, r.texts = maphash.MakeSeed(), make([]string, keptTexts)
	}
	return r
}

func (r *jsonReader) value(depth int) (model.Value, error) {
	switch kind := r.dec.PeekKind(); kind {
	case '{', '[':
		if depth == MaxDepth {
			return model.Value{}, fmt.Errorf("more than %d levels deep", MaxDepth)
		}
		if kind == '{' {
			return r.object(depth + 1)
		}
		return r.array(depth+1, nil)
	case '"':
		text, err := r.text()
		return model.StringOf(text), err
	case '0':
		return r.number()
	}
	tok, err := r.dec.ReadToken()
	if err != nil || tok.Kind() == 'n' {
		return model.Value{}, err
	}
	return model.BoolOf(tok.Bool()), nil
}

func (r *jsonReader) object(depth int) (model.Value, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return model.Value{}, err
	}
	base := len(r.fields)
	for r.dec.PeekKind() != '}' {
		name, err := r.text()
		if err != nil {
			return model.Value{}, err
		}
		v, err := r.field(name, depth)
		if err != nil {
			return model.Value{}, err
		}
		r.fields = append(r.fields, model.Field{Name: name, Value: v})
	}
	fields := slices.Clone(r.fields[base:])
	r.fields = r.fields[:base]
	_, err := r.dec.ReadToken()
	return model.MapOf(fields...), err
}

// field reads the value of a field and notes where the elements of a list of
// objects begin.
func (r *jsonReader) field(name string, depth int) (model.Value, error) {
	if depth == 1 && name == "items" && r.dec.PeekKind() == '[' {
		r.elements = []int{}
		return r.array(depth+1, &r.elements)
	}
	return r.value(depth)
}

func (r *jsonReader) array(depth int, begins *[]int) (model.Value, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return model.Value{}, err
	}
	base := len(r.items)
	for r.dec.PeekKind() != ']' {
		if begins != nil {
			*begins = append(*begins, r.next(space+","))
		}
		v, err := r.value(depth)
		if err != nil {
			return model.Value{}, err
		}
		r.items = append(r.items, v)
	}
	items := slices.Clone(r.items[base:])
	r.items = r.items[:base]
	_, err := r.dec.ReadToken()
	return model.ListOf(items...), err
}

const space = " \t\r\n"

// next returns where the next token begins, past what is in skipped.
func (r *jsonReader) next(skipped string) int {
	offset := int(r.dec.InputOffset())
	for offset < len(r.data) && strings.IndexByte(skipped, r.data[offset]) >= 0 {
		offset++
	}
	return offset
}

func (r *jsonReader) number() (model.Value, error) {
	raw, err := r.dec.ReadValue()
	if err != nil {
		return model.Value{}, err
	}
	n, ok := model.NumberOf(r.keep(raw))
	if !ok {
		return model.Value{}, errors.New("a number is out of range")
	}
	return n, nil
}

// text reads a string or a field's name.
func (r *jsonReader) text() (string, error) {
	raw, err := r.dec.ReadValue()
	if err != nil {
		return "", err
	}
	if raw.Kind() != '"' {
		return "", errors.New("a field's name must be a string")
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return r.keep(raw[1 : len(raw)-1]), nil
	}
	plain, err := jsontext.AppendUnquote(nil, raw)
	return string(plain), err
}

// In documents shorter than keptFrom nothing is kept, and texts longer than
// keptLength seldom repeat.
const (
	keptFrom   = 4 << 10
	keptLength = 48
	keptTexts  = 512
)

// keep returns text as a string, where it can the one that it returned for the
// same text before.
func (r *jsonReader) keep(text []byte) string {
	if r.texts == nil || len(text) > keptLength {
		return string(text)
	}
	slot := &r.texts[maphash.Bytes(r.seed, text)%keptTexts]
	if *slot != string(text) {
		*slot = string(text)
	}
	return *slot
}

// locate gives err its line and, where it is known, its path.
func (r *jsonReader) locate(err error) *SyntaxError {
	offset, at := int(r.dec.InputOffset()), r.dec.StackPointer()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		offset, at, err = int(syntax.ByteOffset), syntax.JSONPointer, syntax.Err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the document ends too early")
	}
	if at != "" {
		err = fmt.Errorf("at %s: %w", at, err)
	}
	return &SyntaxError{Line: lineAt(r.data, offset), Err: err}
}
