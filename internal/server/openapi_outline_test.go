package server

import (
	"encoding/json"
	"net/textproto"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// An outline is the parsed document, with the places in it that tests have covered.
type outline struct {
	written map[string]any
	// all are the places to cover: responses, parameters, headers and properties.
	all, seen map[string]bool
}

func newOutline(t *testing.T) outline {
	t.Helper()
	o := outline{written: map[string]any{}, all: map[string]bool{}, seen: map[string]bool{}}
	if err := yaml.Unmarshal(openAPI, &o.written); err != nil {
		t.Fatal(err)
	}
	o.list(nil, o.written)
	return o
}

// pointer joins the names of a path to a place.
func pointer(names ...string) string { return strings.Join(names, " ") }

// list adds the places below a place.
func (o *outline) list(place []string, node any) {
	switch node := node.(type) {
	case map[string]any:
		for name, below := range node {
			here := append(place[:len(place):len(place)], name)
			if isAnswer(place) || isProperty(place) {
				o.all[pointer(here...)] = true
			}
			if isAnswer(place) {
				o.listHeaders(name, below)
			}
			o.list(here, below)
		}
		o.listParameters(node)
	case []any:
		for _, below := range node {
			o.list(append(place[:len(place):len(place)], "[]"), below)
		}
	}
}

// listParameters adds the query parameters of an operation.
func (o *outline) listParameters(operation map[string]any) {
	id, _ := operation["operationId"].(string)
	list, _ := operation["parameters"].([]any)
	for _, p := range list {
		place := []string{}
		if parameter := o.resolve(&place, p); id != "" && parameter["in"] == "query" {
			o.all["parameter "+parameter["name"].(string)+" of "+id] = true
		}
	}
}

// listHeaders adds the headers of a response.
func (o *outline) listHeaders(status string, answer any) {
	headers, _ := o.resolve(&[]string{}, answer)["headers"].(map[string]any)
	for name := range headers {
		o.all["header "+textproto.CanonicalMIMEHeaderKey(name)+" of "+status] = true
	}
}

// isAnswer reports whether a place is the list of responses of an operation.
func isAnswer(place []string) bool {
	return len(place) == 4 && place[0] == "paths" && place[3] == "responses"
}

// isProperty reports whether a place is the properties of a schema, and not a property of that
// name.
func isProperty(place []string) bool {
	n := len(place)
	return n > 2 && place[0] == "components" && place[1] == "schemas" && place[n-1] == "properties" && place[n-2] != "properties"
}

// resolve follows references and sets place to the last target.
func (o *outline) resolve(place *[]string, node any) map[string]any {
	schema, _ := node.(map[string]any)
	for {
		target, ok := schema["$ref"].(string)
		if !ok {
			return schema
		}
		*place = strings.Split(strings.TrimPrefix(target, "#/"), "/")
		schema = o.at(*place)
	}
}

func (o *outline) at(place []string) map[string]any {
	node := o.written
	for i, name := range place {
		if here, ok := node["$ref"].(string); ok {
			rest := append(strings.Split(strings.TrimPrefix(here, "#/"), "/"), place[i:]...)
			return o.at(rest)
		}
		node, _ = node[name].(map[string]any)
	}
	return node
}

// show marks the properties in a text as covered, by the schema at a place.
func (o *outline) show(t *testing.T, place []string, text string) {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	o.visit(place, o.at(place), value)
}

func (o *outline) visit(place []string, node, value any) {
	schema := o.resolve(&place, node)
	all, _ := schema["allOf"].([]any)
	for _, part := range all {
		o.visit(place, part, value)
	}
	switch value := value.(type) {
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		for name, below := range value {
			if property, ok := properties[name]; ok {
				here := append(place[:len(place):len(place)], "properties", name)
				o.seen[pointer(here...)] = true
				o.visit(here, property, below)
			}
		}
	case []any:
		for _, item := range value {
			o.visit(append(place[:len(place):len(place)], "items"), schema["items"], item)
		}
	}
}
