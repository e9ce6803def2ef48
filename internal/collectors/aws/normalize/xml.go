package normalize

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// An UnexpectedAnswerError is an answer of another format than the request has. Some servers
// answer a request that they do not support with a list of objects, or with an empty body.
type UnexpectedAnswerError struct{ Reason string }

// Error implements error.
func (e *UnexpectedAnswerError) Error() string { return e.Reason }

// An element is a decoded XML element.
type element struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Children []element `xml:",any"`
}

// parseXML parses a document and checks the name of its root element.
func parseXML(body []byte, root string) (*element, error) {
	if err := checkBounds(body); err != nil {
		return nil, err
	}
	decoder := xml.NewDecoder(bytes.NewReader(body))
	var t element
	switch err := decoder.Decode(&t); {
	case errors.Is(err, io.EOF):
		return nil, &UnexpectedAnswerError{"the answer is empty"}
	case err != nil:
		return nil, &UnexpectedAnswerError{"the answer is not valid XML"}
	case t.XMLName.Local != root || t.XMLName.Space != "" && !strings.Contains(t.XMLName.Space, "amazonaws.com/doc/"):
		return nil, &UnexpectedAnswerError{fmt.Sprintf("the answer is <%.40s>, not <%s>", t.XMLName.Local, root)}
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, &UnexpectedAnswerError{"the answer has content after the document"}
	}
	return &t, nil
}

// maxElements is the largest number of elements in an answer: a page of a thousand buckets, or
// a large lifecycle, has some thousands.
const maxElements = 1 << 18

// checkBounds returns an error if a document is nested deeper, or has more elements, than any
// answer of S3. It returns nil for invalid XML, which parseXML reports.
func checkBounds(body []byte) error {
	decoder := xml.NewDecoder(bytes.NewReader(body))
	for depth, elements := 0, 0; ; {
		token, err := decoder.RawToken()
		if err != nil {
			return nil //nolint:nilerr // parseXML returns the error
		}
		switch token.(type) {
		case xml.StartElement:
			depth, elements = depth+1, elements+1
		case xml.EndElement:
			depth--
		}
		switch {
		case depth > decode.MaxDepth:
			return &UnexpectedAnswerError{"the answer is nested too deeply"}
		case elements > maxElements:
			return &UnexpectedAnswerError{fmt.Sprintf("the answer has more than %d elements", maxElements)}
		}
	}
}

// decodeXML returns the fields of a document with the given root element.
func decodeXML(body []byte, root string, fields table.Fields) (model.Value, error) {
	t, err := parseXML(body, root)
	if err != nil {
		return model.Value{}, err
	}
	c := &table.Context{}
	v := block(fields).Read(c, model.ListOf(t.value()))
	return v, c.Err
}

// value returns the text of an element, or a map with a list of child elements for each name.
func (t *element) value() model.Value {
	if len(t.Children) == 0 {
		return model.StringOf(t.Text)
	}
	lists := map[string][]model.Value{}
	for i := range t.Children {
		name := t.Children[i].XMLName.Local
		lists[name] = append(lists[name], t.Children[i].value())
	}
	fields := make([]model.Field, 0, len(lists))
	for name, list := range lists {
		fields = append(fields, model.Field{Name: name, Value: model.ListOf(list...)})
	}
	return model.MapOf(fields...)
}

// elementsAt returns all elements at a path of names separated by dots.
func elementsAt(elements []model.Value, path string) []model.Value {
	for name := range strings.SplitSeq(path, ".") {
		var found []model.Value
		for _, element := range elements {
			found = append(found, element.At(name).Items()...)
		}
		elements = found
	}
	return elements
}

// The forms take the list of all elements with the same name. A form for a single element uses
// the last one and skips empty ones.

func text() table.Form {
	return scalar("", func(text string) (model.Value, bool) { return model.StringOf(text), true })
}

func number() table.Form {
	return scalar("it is not a number", func(text string) (model.Value, bool) { return model.NumberOf(strings.TrimSpace(text)) })
}

func flag() table.Form {
	return scalar("it is neither true nor false", func(text string) (model.Value, bool) {
		text = strings.ToLower(strings.TrimSpace(text))
		return model.BoolOf(text == "true"), text == "true" || text == "false"
	})
}

func scalar(wrong string, parse func(text string) (model.Value, bool)) table.Form {
	return table.Form{Read: func(c *table.Context, elements model.Value) model.Value {
		var last model.Value
		for _, element := range elements.Items() {
			if element.Text() == "" || wrong != "" && strings.TrimSpace(element.Text()) == "" {
				continue
			}
			v, ok := parse(element.Text())
			if !ok {
				c.Err = cmp.Or(c.Err, error(&UnexpectedAnswerError{wrong}))
			}
			last = v
		}
		return last
	}}
}

// presence is true if the element exists, with any content.
func presence() table.Form {
	return table.Form{Read: func(*table.Context, model.Value) model.Value { return model.BoolOf(true) }}
}

// block is an element with the given fields. An element without fields is an empty map.
func block(fields table.Fields) table.Form {
	return table.Form{Schema: *fields.Schema(), Read: func(c *table.Context, elements model.Value) model.Value {
		var all []model.Field
		last := elements.Items()[len(elements.Items())-1:]
		for i := range fields {
			f := &fields[i]
			found := elementsAt(last, f.Raw)
			if len(found) == 0 {
				continue
			}
			v := f.Form.Read(c, model.ListOf(found...))
			if c.Err != nil {
				c.Err = fmt.Errorf("read %s: %w", f.Raw[strings.LastIndex(f.Raw, ".")+1:], c.Err)
				return model.Value{}
			}
			if !v.IsNull() {
				all = append(all, model.Field{Name: f.Name, Value: v})
			}
		}
		return model.MapOf(all...)
	}}
}

// many is a list of all elements with the same name.
func many(each table.Form) table.Form {
	return table.Form{Schema: model.Schema{Each: &each.Schema}, Read: func(c *table.Context, elements model.Value) model.Value {
		items := make([]model.Value, len(elements.Items()))
		for i, element := range elements.Items() {
			if items[i] = each.Read(c, model.ListOf(element)); c.Err != nil {
				return model.Value{}
			}
		}
		return model.ListOf(items...)
	}}
}

// tags is a map of elements that have a Key or a Name, and a Value.
func tags() table.Form {
	return table.Form{Schema: model.Schema{Each: &model.Schema{Content: true}}, Read: func(_ *table.Context, elements model.Value) model.Value {
		fields := make([]model.Field, len(elements.Items()))
		for i, tag := range elements.Items() {
			for _, key := range tag.At("Key").Items() {
				fields[i].Name = key.Text()
			}
			for _, name := range tag.At("Name").Items() { // S3 returns "Prefix" for "prefix".
				fields[i].Name = strings.ToLower(name.Text())
			}
			for _, value := range tag.At("Value").Items() {
				fields[i].Value = model.StringOf(value.Text())
			}
		}
		return model.MapOf(fields...)
	}}
}
