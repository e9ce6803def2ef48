package state_test

import (
	"strings"
	"testing"
)

func TestSensitive(t *testing.T) {
	t.Parallel()
	const (
		attributes = `{"disk":[{"id":1,"key":"hush"},{"id":2,"key":"hush"}],"labels":{"a.b":"hush","c":"said"},"name":"said","none":null,"pin":[1,2],"password":"hush","set":["hush","hush2"],"tree":{"n":5,"on":true,"x":["hush",null]}}`
		name       = `{"type":"get_attr","value":"`
		index      = `{"type":"index","value":{"value":`
	)
	cases := map[string]struct {
		reason string
		paths  string
		want   string
	}{
		"Attribute":  {"a top-level attribute", `[` + name + `password"}]`, `{"disk":[{"id":1,"key":"hush"},{"id":2,"key":"hush"}],"labels":{"a.b":"hush","c":"said"},"name":"said","none":null,"password":S,"pin":[1,2],"set":["hush","hush2"],"tree":{"n":5,"on":true,"x":["hush",null]}}`},
		"ListItem":   {"a field of a list's element", `[` + name + `disk"},` + index + `1,"type":"number"}},` + name + `key"}]`, `{"disk":[{"id":1,"key":"hush"},{"id":2,"key":S}],"labels":{"a.b":"hush","c":"said"},"name":"said","none":null,"password":"hush","pin":[1,2],"set":["hush","hush2"],"tree":{"n":5,"on":true,"x":["hush",null]}}`},
		"MapItem":    {"an element of a map", `[` + name + `labels"},` + index + `"a.b","type":"string"}}]`, `{"disk":[{"id":1,"key":"hush"},{"id":2,"key":"hush"}],"labels":{"a.b":S,"c":"said"},"name":"said","none":null,"password":"hush","pin":[1,2],"set":["hush","hush2"],"tree":{"n":5,"on":true,"x":["hush",null]}}`},
		"Tree":       {"everything below, of any type except null", `[` + name + `tree"}],[` + name + `none"}],[` + name + `pin"}]`, `{"disk":[{"id":1,"key":"hush"},{"id":2,"key":"hush"}],"labels":{"a.b":"hush","c":"said"},"name":"said","none":null,"password":"hush","pin":[S,S],"set":["hush","hush2"],"tree":{"n":S,"on":S,"x":[S,null]}}`},
		"SetElement": {"a path into a set seals the whole set", `[` + name + `set"},` + index + `{"a":1},"type":["object",{"a":"number"}]}}]`, `{"disk":[{"id":1,"key":"hush"},{"id":2,"key":"hush"}],"labels":{"a.b":"hush","c":"said"},"name":"said","none":null,"password":"hush","pin":[1,2],"set":[S,S],"tree":{"n":5,"on":true,"x":["hush",null]}}`},
		"NameOnList": {"a path that does not match seals the value at its end", `[` + name + `disk"},` + name + `key"}]`, `{"disk":[{"id":S,"key":S},{"id":S,"key":S}],"labels":{"a.b":"hush","c":"said"},"name":"said","none":null,"password":"hush","pin":[1,2],"set":["hush","hush2"],"tree":{"n":5,"on":true,"x":["hush",null]}}`},
		"BelowText":  {"a path below a string seals the string", `[` + name + `password"},` + name + `x"}]`, `{"disk":[{"id":1,"key":"hush"},{"id":2,"key":"hush"}],"labels":{"a.b":"hush","c":"said"},"name":"said","none":null,"password":S,"pin":[1,2],"set":["hush","hush2"],"tree":{"n":5,"on":true,"x":["hush",null]}}`},
		"Gone":       {"a path to nothing", `[` + name + `gone"},` + name + `x"}],[` + name + `disk"},` + index + `9,"type":"number"}}],[` + name + `none"},` + name + `x"}]`, `{"disk":[{"id":1,"key":"hush"},{"id":2,"key":"hush"}],"labels":{"a.b":"hush","c":"said"},"name":"said","none":null,"password":"hush","pin":[1,2],"set":["hush","hush2"],"tree":{"n":5,"on":true,"x":["hush",null]}}`},
		"Twice":      {"one value marked twice, and below", `[` + name + `tree"}],[` + name + `tree"}],[` + name + `tree"},` + name + `n"}]`, `{"disk":[{"id":1,"key":"hush"},{"id":2,"key":"hush"}],"labels":{"a.b":"hush","c":"said"},"name":"said","none":null,"password":"hush","pin":[1,2],"set":["hush","hush2"],"tree":{"n":S,"on":S,"x":[S,null]}}`},
		"Sorted":     {"an index with sorted fields", `[` + name + `set"},{"type":"index","value":{"type":"number","value":0}}]`, `{"disk":[{"id":1,"key":"hush"},{"id":2,"key":"hush"}],"labels":{"a.b":"hush","c":"said"},"name":"said","none":null,"password":"hush","pin":[1,2],"set":[S,"hush2"],"tree":{"n":5,"on":true,"x":["hush",null]}}`},
		"All":        {"everything", `[]`, `{"disk":[{"id":S,"key":S},{"id":S,"key":S}],"labels":{"a.b":S,"c":S},"name":S,"none":null,"password":S,"pin":[S,S],"set":[S,S],"tree":{"n":S,"on":S,"x":[S,null]}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got, err := read(one(`{"attributes":`+attributes+`,"sensitive_attributes":[`+tc.paths+`]}`), options())
			if err != nil || len(got) != 1 {
				t.Fatalf("%s: got %d instances, %v", tc.reason, len(got), err)
			}
			_, shown, _ := strings.Cut(got[0], ": ")
			if shown = withoutDigests(shown); shown != tc.want {
				t.Errorf("%s:\n got %s\nwant %s", tc.reason, shown, tc.want)
			}
		})
	}
}

// withoutDigests replaces each digest with S.
func withoutDigests(text string) string {
	const mark = `"\u0000secret:`
	for {
		before, rest, ok := strings.Cut(text, mark)
		if !ok {
			return text
		}
		_, after, _ := strings.Cut(rest, `"`)
		text = before + "S" + after
	}
}

func TestSensitiveBeforeAttributes(t *testing.T) {
	t.Parallel()
	_, got, err := read(one(`{"sensitive_attributes":[[{"type":"get_attr","value":"a"}]],"attributes":{"a":"hush"}}`), options())
	if err != nil || len(got) != 1 || strings.Contains(got[0], "hush") {
		t.Errorf("the order of fields must not matter: got %v, %v", got, err)
	}
}
