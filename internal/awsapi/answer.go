package awsapi

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// decode returns the answer of the call as a tree of values. In XML, a list is an element
// whose children are elements of a list, and all other elements are maps or texts; an
// element without content is an empty text. It fails with an *httpclient.Unexpected if the
// document is not an answer of the operation.
func (c *Call) decode(body []byte) (model.Value, error) {
	if !c.Service.Protocol.xml() {
		v, err := decode.JSON(body)
		if err != nil || v.Kind() != model.Map {
			return model.Value{}, unexpected("it is not a JSON document of AWS")
		}
		return v, nil
	}
	root, v, err := decodeXML(body, c.Service.Lists)
	switch {
	case err != nil:
		return model.Value{}, unexpected(err.Error())
	case root != c.Action+"Response":
		return model.Value{}, unexpected(fmt.Sprintf("it is <%.40s>", root))
	}
	if result, ok := v.Get(c.Action + "Result"); ok {
		return result, nil
	}
	return v, nil
}

func unexpected(reason string) error {
	return &httpclient.Unexpected{Reason: "the answer is not the one to this request: " + reason}
}

// decodeXML returns the name and the value of the root element of a document.
func decodeXML(body []byte, lists string) (root string, v model.Value, err error) {
	r := &xmlReader{decoder: xml.NewDecoder(bytes.NewReader(body)), lists: append(strings.Fields(lists), "item", "member"), names: map[string]string{}}
	for {
		token, err := r.decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && root != "":
			return root, v, nil
		case errors.Is(err, io.EOF):
			return "", model.Value{}, errors.New("it is empty")
		case err != nil:
			return "", model.Value{}, errors.New("it is not valid XML")
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if root != "" {
			return "", model.Value{}, errors.New("it has content after the document")
		}
		root = start.Name.Local
		if v, err = r.element(1); err != nil {
			return "", model.Value{}, err
		}
	}
}

// An xmlReader turns elements into values. It keeps one copy of each name.
type xmlReader struct {
	decoder *xml.Decoder
	lists   []string
	names   map[string]string
}

// element returns the value of the element whose start was read last.
func (r *xmlReader) element(depth int) (model.Value, error) {
	if depth > decode.MaxDepth {
		return model.Value{}, errors.New("it is nested too deeply")
	}
	var text []byte
	var children []model.Field
	for {
		token, err := r.decoder.Token()
		if err != nil {
			return model.Value{}, errors.New("it is not valid XML")
		}
		switch token := token.(type) {
		case xml.StartElement:
			v, err := r.element(depth + 1)
			if err != nil {
				return model.Value{}, err
			}
			children = append(children, model.Field{Name: r.name(token.Name.Local), Value: v})
		case xml.CharData:
			if children == nil {
				text = append(text, token...)
			}
		case xml.EndElement:
			if children == nil {
				return model.StringOf(string(text)), nil
			}
			return r.join(children), nil
		}
	}
}

func (r *xmlReader) name(name string) string {
	if kept, ok := r.names[name]; ok {
		return kept
	}
	r.names[name] = name
	return name
}

// join returns the list or the map of child elements.
func (r *xmlReader) join(children []model.Field) model.Value {
	if slices.Contains(r.lists, children[0].Name) {
		items := make([]model.Value, len(children))
		for i := range children {
			items[i] = children[i].Value
		}
		return model.ListOf(items...)
	}
	return model.MapOf(children...) // no service repeats elements with one name
}
