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

// decodeXML returns the fields of a document whose root must be as named.
func decodeXML(body []byte, root string, fields table.Fields) (model.Value, error) {
	t, err := read(body, root)
	if err != nil {
		return model.Value{}, err
	}
	c := &table.Context{}
	v := block(fields).Read(c, model.ListOf(t.value()))
	return v, c.Err
}

// value returns an element as its text, or as a map of the lists of the elements
// in it, by their names.
func (t *tree) value() model.Value {
	if len(t.Inside) == 0 {
		return model.StringOf(t.Text)
	}
	lists := map[string][]model.Value{}
	for i := range t.Inside {
		name := t.Inside[i].XMLName.Local
		lists[name] = append(lists[name], t.Inside[i].value())
	}
	fields := make([]model.Field, 0, len(lists))
	for name, list := range lists {
		fields = append(fields, model.Field{Name: name, Value: model.ListOf(list...)})
	}
	return model.MapOf(fields...)
}

// below returns all elements at a path of names with dots between them.
func below(elements []model.Value, path string) []model.Value {
	for name := range strings.SplitSeq(path, ".") {
		var found []model.Value
		for _, element := range elements {
			found = append(found, element.At(name).Items()...)
		}
		elements = found
	}
	return elements
}

// The forms read the list of all elements of a name. Of a form that takes one
// element the last counts; an empty one is left out.

func text() table.Form {
	return single("", func(text string) (model.Value, bool) { return model.StringOf(text), true })
}

func number() table.Form {
	return single("it is no number", func(text string) (model.Value, bool) { return model.NumberOf(strings.TrimSpace(text)) })
}

func flag() table.Form {
	return single("it is neither true nor false", func(text string) (model.Value, bool) {
		text = strings.ToLower(strings.TrimSpace(text))
		return model.BoolOf(text == "true"), text == "true" || text == "false"
	})
}

func single(wrong string, parse func(text string) (model.Value, bool)) table.Form {
	return table.Form{Read: func(c *table.Context, elements model.Value) model.Value {
		var last model.Value
		for _, element := range elements.Items() {
			if element.Text() == "" || wrong != "" && strings.TrimSpace(element.Text()) == "" {
				continue
			}
			v, ok := parse(element.Text())
			if !ok {
				c.Err = cmp.Or(c.Err, error(&NotAnswerError{wrong}))
			}
			last = v
		}
		return last
	}}
}

// mark is true if the element is there, whatever it holds.
func mark() table.Form {
	return table.Form{Read: func(*table.Context, model.Value) model.Value { return model.BoolOf(true) }}
}

// block is an element with these fields. An element without any is an empty map.
func block(fields table.Fields) table.Form {
	return table.Form{Schema: *fields.Schema(), Read: func(c *table.Context, elements model.Value) model.Value {
		var all []model.Field
		last := elements.Items()[len(elements.Items())-1:]
		for i := range fields {
			f := &fields[i]
			found := below(last, f.Raw)
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

// many is a list of the elements of a name.
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

// tags is a map of elements that are keys, or names, with values.
func tags() table.Form {
	return table.Form{Schema: model.Schema{Each: &model.Schema{Content: true}}, Read: func(_ *table.Context, elements model.Value) model.Value {
		fields := make([]model.Field, len(elements.Items()))
		for i, tag := range elements.Items() {
			for _, key := range tag.At("Key").Items() {
				fields[i].Name = key.Text()
			}
			for _, name := range tag.At("Name").Items() { // S3 gives prefix back as Prefix.
				fields[i].Name = strings.ToLower(name.Text())
			}
			for _, value := range tag.At("Value").Items() {
				fields[i].Value = model.StringOf(value.Text())
			}
		}
		return model.MapOf(fields...)
	}}
}
