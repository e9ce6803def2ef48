package shape

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// A form is what an element holds.
type form uint8

const (
	// text is a text, number a number, flag true or false.
	text form = iota
	number
	flag
	// block is a map of what is inside.
	block
	// tags are keys, or names, with values; the element is one of them.
	tags
	// mark is true where the element is there, whatever it holds.
	mark
)

// An element is one that counts, inside another one.
type element struct {
	// xml is its name in the answer, name that of the field. Without one what is
	// inside stands in the map around it.
	xml, name string
	form      form
	// many tells that it may come again, so that the field is a list.
	many   bool
	inside []element
}

func (e *element) schema() *model.Schema {
	var s *model.Schema
	switch e.form {
	case tags:
		return &model.Schema{Each: &model.Schema{Content: true}}
	case block:
		s = &model.Schema{Fields: map[string]*model.Schema{}}
		addFields(s.Fields, e.inside)
	case text, number, flag, mark:
		s = &model.Schema{}
	}
	if e.many {
		return &model.Schema{Each: s}
	}
	return s
}

// A NotAnswerError is an answer that is not what was asked for: some servers
// answer a question that they do not know with a list, or with nothing.
type NotAnswerError struct{ What string }

// Error says what came instead.
func (e *NotAnswerError) Error() string { return e.What }

// A tree is an element as it was read.
type tree struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
	Inside  []tree `xml:",any"`
}

// read reads a whole document whose root must be as named.
func read(body []byte, root string) (*tree, error) {
	if err := bounded(body); err != nil {
		return nil, err
	}
	decoder := xml.NewDecoder(bytes.NewReader(body))
	var t tree
	switch err := decoder.Decode(&t); {
	case errors.Is(err, io.EOF):
		return nil, &NotAnswerError{"the answer is empty"}
	case err != nil:
		return nil, &NotAnswerError{"the answer is no XML that can be read"}
	case t.XMLName.Local != root || t.XMLName.Space != "" && !strings.Contains(t.XMLName.Space, "amazonaws.com/doc/"):
		return nil, &NotAnswerError{fmt.Sprintf("the answer is <%.40s>, not <%s>", t.XMLName.Local, root)}
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, &NotAnswerError{"something stands behind the answer"}
	}
	return &t, nil
}

// maxElements bounds the elements of one answer: a thousand buckets, or rules of
// a lifecycle, have some thousands.
const maxElements = 1 << 18

// bounded refuses what nests deeper, or holds more, than anything that S3 answers.
func bounded(body []byte) error {
	decoder := xml.NewDecoder(bytes.NewReader(body))
	for depth, elements := 0, 0; ; {
		token, err := decoder.RawToken()
		if err != nil {
			return nil //nolint:nilerr // what is wrong with it, who reads it says
		}
		switch token.(type) {
		case xml.StartElement:
			depth, elements = depth+1, elements+1
		case xml.EndElement:
			depth--
		}
		switch {
		case depth > decode.MaxDepth:
			return &NotAnswerError{"the answer nests too deep"}
		case elements > maxElements:
			return &NotAnswerError{fmt.Sprintf("the answer has more than %d elements", maxElements)}
		}
	}
}

func decodeXML(body []byte, root string, inside []element) (model.Value, error) {
	t, err := read(body, root)
	if err != nil {
		return model.Value{}, err
	}
	f := newFields()
	if err := f.take(t, inside); err != nil {
		return model.Value{}, err
	}
	return f.value(), nil
}

// fields are those of a map that is being read: single values, lists, and maps of
// tags.
type fields struct {
	single map[string]model.Value
	many   map[string][]model.Value
	tags   map[string][]model.Field
}

func newFields() fields {
	return fields{map[string]model.Value{}, map[string][]model.Value{}, map[string][]model.Field{}}
}

func (f fields) value() model.Value {
	all := make([]model.Field, 0, len(f.single)+len(f.many)+len(f.tags))
	for name, v := range f.single {
		all = append(all, model.Field{Name: name, Value: v})
	}
	for name, list := range f.many {
		all = append(all, model.Field{Name: name, Value: model.ListOf(list...)})
	}
	for name, tags := range f.tags {
		all = append(all, model.Field{Name: name, Value: model.MapOf(tags...)})
	}
	return model.MapOf(all...)
}

// take reads the elements that count; empty ones say nothing.
func (f fields) take(t *tree, inside []element) error {
	for i := range t.Inside {
		child := &t.Inside[i]
		for j := range inside {
			if inside[j].xml == child.XMLName.Local {
				if err := f.put(child, &inside[j]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (f fields) put(t *tree, e *element) error {
	switch {
	case e.name == "":
		return f.take(t, e.inside)
	case e.form == tags:
		f.tags[e.name] = append(f.tags[e.name], tagOf(t))
		return nil
	}
	v, err := e.value(t)
	switch {
	case err != nil:
		return fmt.Errorf("read %s: %w", e.xml, err)
	case e.many:
		f.many[e.name] = append(f.many[e.name], v)
	case !v.IsNull():
		f.single[e.name] = v
	}
	return nil
}

func tagOf(t *tree) model.Field {
	var field model.Field
	for i := range t.Inside {
		switch child := &t.Inside[i]; child.XMLName.Local {
		case "Key":
			field.Name = child.Text
		case "Name":
			// S3 gives prefix back as Prefix.
			field.Name = strings.ToLower(child.Text)
		case "Value":
			field.Value = model.StringOf(child.Text)
		}
	}
	return field
}

func (e *element) value(t *tree) (model.Value, error) {
	if e.form == block {
		f := newFields()
		err := f.take(t, e.inside)
		return f.value(), err
	}
	content := strings.TrimSpace(t.Text)
	switch {
	case e.form == mark:
		return model.BoolOf(true), nil
	case e.form == text && t.Text != "":
		return model.StringOf(t.Text), nil
	case content == "":
		return model.Value{}, nil
	case e.form == flag:
		if truth := strings.ToLower(content); truth == "true" || truth == "false" {
			return model.BoolOf(truth == "true"), nil
		}
		return model.Value{}, &NotAnswerError{"it is neither true nor false"}
	}
	n, ok := model.NumberOf(content)
	if !ok {
		return model.Value{}, &NotAnswerError{"it is no number"}
	}
	return n, nil
}
