package kubernetes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// A stream reads JSON objects from one response or file. It keeps only one object, of bounded size,
// in memory.
type stream struct {
	dec    *jsontext.Decoder
	bounds *boundedReader
}

// newStream returns a stream whose objects have up to limit bytes.
func newStream(r io.Reader, limit int64) *stream {
	bounds := &boundedReader{r: r, limit: limit, left: limit}
	// Duplicate names and invalid UTF-8 are errors of single objects, when they are decoded,
	// so that other objects can still be read.
	return &stream{
		dec:    jsontext.NewDecoder(bounds, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		bounds: bounds,
	}
}

// next returns the next value, which is valid until the following call.
func (s *stream) next() (jsontext.Value, error) {
	s.bounds.left = s.bounds.limit
	return s.dec.ReadValue()
}

// unread returns a copy of the buffered bytes after the last value.
func (s *stream) unread() []byte { return bytes.Clone(s.dec.UnreadBuffer()) }

// A document is one top-level object of a stream, without the items of a list.
type document struct {
	fields []rawField
	isList bool
}

type rawField struct {
	name  string
	value jsontext.Value
}

func (d *document) field(name string) jsontext.Value {
	for _, f := range d.fields {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

// text returns the content of a field that is a string, or "".
func (d *document) text(name string) string {
	var s string
	if json.Unmarshal(d.field(name), &s) != nil {
		return ""
	}
	return s
}

// continues returns the token of the page that follows that of a list, or "".
func (d *document) continues() string {
	var m struct {
		Continue string `json:"continue"`
	}
	if json.Unmarshal(d.field("metadata"), &m) != nil {
		return ""
	}
	return m.Continue
}

// document reads the next object. It calls item for each element of its "items"; the element is
// valid only until item returns. It returns io.EOF at the end of the stream.
func (s *stream) document(item func(*document, jsontext.Value)) (*document, error) {
	s.bounds.left = s.bounds.limit
	switch tok, err := s.dec.ReadToken(); {
	case err != nil:
		return nil, s.fault(err)
	case tok.Kind() != '{':
		return nil, &httpclient.Unexpected{Reason: "the answer is not a JSON object"}
	}
	doc := &document{}
	for s.dec.PeekKind() != '}' {
		if err := s.member(doc, item); err != nil {
			return nil, s.fault(err)
		}
	}
	_, err := s.dec.ReadToken()
	return doc, s.fault(err)
}

func (s *stream) member(doc *document, item func(*document, jsontext.Value)) error {
	name, err := s.dec.ReadToken()
	if err != nil {
		return err
	}
	key := name.String()
	if key == "items" && s.dec.PeekKind() == '[' {
		doc.isList = true
		return s.items(func(v jsontext.Value) { item(doc, v) })
	}
	value, err := s.next()
	if err != nil {
		return err
	}
	if doc.field(key) != nil {
		return &httpclient.Unexpected{Reason: fmt.Sprintf("duplicate field %q", printable.Text(key))}
	}
	doc.fields = append(doc.fields, rawField{key, value.Clone()})
	return nil
}

func (s *stream) items(item func(jsontext.Value)) error {
	if _, err := s.dec.ReadToken(); err != nil {
		return err
	}
	for s.dec.PeekKind() != ']' {
		value, err := s.next()
		if err != nil {
			return err
		}
		item(value)
	}
	_, err := s.dec.ReadToken()
	return err
}

// fault returns the cause of a decoder's error: the error of the reader, io.ErrUnexpectedEOF
// for a truncated stream, or an httpclient.Unexpected for invalid JSON.
func (s *stream) fault(err error) error {
	var malformed *jsontext.SyntacticError
	switch {
	case err == nil:
		return nil
	case s.bounds.err != nil:
		return s.bounds.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return io.ErrUnexpectedEOF
	case !errors.As(err, &malformed):
		return err
	}
	return &httpclient.Unexpected{Reason: fmt.Sprintf("invalid JSON at byte %d: %v", malformed.ByteOffset, malformed.Err)}
}

// value decodes a document that is not a list.
func (d *document) value() (model.Value, error) {
	fields := make([]model.Field, 0, len(d.fields))
	for _, f := range d.fields {
		v, err := decode.JSON(f.value)
		if err != nil {
			return model.Value{}, err
		}
		fields = append(fields, model.Field{Name: f.name, Value: v})
	}
	return model.MapOf(fields...), nil
}

// An objectTooLarge is the error of an object that exceeds max_object_size.
type objectTooLarge struct{ limit int64 }

func (e *objectTooLarge) Error() string {
	return fmt.Sprintf("an object is larger than %d bytes", e.limit)
}

// A boundedReader fails when an object is larger than limit.
type boundedReader struct {
	r     io.Reader
	limit int64
	// left is the number of bytes that may still be read of the current object.
	left int64
	// err is the error that ended the reading, other than io.EOF.
	err error
}

// Read implements io.Reader. It returns an *objectTooLarge when the limit is exceeded.
func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.err = &objectTooLarge{b.limit}
		return 0, b.err
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}
