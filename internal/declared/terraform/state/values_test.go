package state_test

import (
	"strings"
	"testing"
)

func TestAttributes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		instance string
		want     string
	}{
		"Dynamic":      {"a dynamic attribute is written with its type", `{"attributes":{"a":{"value":{"x":[1,null,"b"],"y":{"k":true}},"type":["object",{"x":["tuple",["number","dynamic","string"]],"y":["map","bool"]}]}}}`, `{"a":{"x":[1,null,"b"],"y":{"k":true}}}`},
		"DynamicText":  {"a dynamic attribute that is a string", `{"attributes":{"a":{"value":"x","type":"string"}}}`, `{"a":"x"}`},
		"DynamicNull":  {"a dynamic attribute that is null", `{"attributes":{"a":{"value":null,"type":["list","string"]}}}`, `{"a":null}`},
		"DynamicLists": {"lists and sets", `{"attributes":{"a":{"value":[["x"],[]],"type":["list",["set","string"]]}}}`, `{"a":[["x"],[]]}`},
		"Block":        {"a schema's own fields of these names are sorted", `{"attributes":{"a":[{"type":"string","value":"x"}]}}`, `{"a":[{"type":"string","value":"x"}]}`},
		"OtherType":    {"an unknown type", `{"attributes":{"a":{"value":"x","type":"A"}}}`, `{"a":{"type":"A","value":"x"}}`},
		"Misfit":       {"a value that is not of the type", `{"attributes":{"a":{"value":"x","type":"number"},"b":{"value":["x"],"type":["tuple",["string","string"]]},"c":{"value":{"x":1},"type":["object",{"y":"number"}]},"d":{"value":1,"type":["odd","number"]},"e":{"value":1,"type":["list"]},"f":{"value":{"x":"1"},"type":["map","number"]},"g":{"value":1,"type":{}}}}`, `{"a":{"type":"number","value":"x"},"b":{"type":["tuple",["string","string"]],"value":["x"]},"c":{"type":["object",{"y":"number"}],"value":{"x":1}},"d":{"type":["odd","number"],"value":1},"e":{"type":["list"],"value":1},"f":{"type":["map","number"],"value":{"x":"1"}},"g":{"type":{},"value":1}}`},
		"More":         {"more fields than these two", `{"attributes":{"a":{"value":"x","type":"string","z":1}}}`, `{"a":{"type":"string","value":"x","z":1}}`},
		"Flat":         {"attributes of Terraform 0.11", `{"attributes_flat":{"id":"7","disk.#":"2","disk.1.size":"8","disk.0.size":"4","disk.0.tags.#":"0","labels.%":"2","labels.app.kubernetes.io/name":"web","labels.x":"y","none.%":"0","none2.#":"0"}}`, `{"disk":[{"size":"4","tags":[]},{"size":"8"}],"id":"7","labels":{"app.kubernetes.io/name":"web","x":"y"},"none":{},"none2":[]} flat`},
		"FlatSet":      {"elements of a set are sorted by hash", `{"attributes_flat":{"ports.#":"3","ports.4011288712":"443","ports.80":"8080","ports.1019":"22"}}`, `{"ports":["8080","22","443"]} flat`},
		"FlatLate":     {"a count that is sorted after its elements", `{"attributes_flat":{"labels.!a.b":"1","labels.\"":"2","labels.%":"2"}}`, `{"labels":{"!a.b":"1","\"":"2"}} flat`},
		"FlatUnknown":  {"a value that was not known", `{"attributes_flat":{"id":"74D93920-ED26-11E3-AC10-0800200C9A66"}}`, `{"id":null} flat`},
		"FlatSealed":   {"sensitive paths in flat attributes", `{"attributes_flat":{"id":"hush"},"sensitive_attributes":[[{"type":"get_attr","value":"id"}]]}`, `{"id":S} flat`},
		"BothForms":    {"attributes take precedence over attributes_flat", `{"attributes":{"id":"new"},"attributes_flat":{"id":"old"}}`, `{"id":"new"}`},
		"Escapes":      {"texts", `{"attributes":{"\u0061\n":"\ud83d\ude00\/","long":"` + strings.Repeat("x", 100) + `"}}`, `{"a\n":"😀/","long":"` + strings.Repeat("x", 100) + `"}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got, err := read(one(tc.instance), options())
			if err != nil || len(got) != 1 {
				t.Fatalf("%s: got %d instances, %v", tc.reason, len(got), err)
			}
			_, shown, _ := strings.Cut(got[0], "): ")
			if shown = withoutDigests(shown); shown != tc.want {
				t.Errorf("%s:\n got %s\nwant %s", tc.reason, shown, tc.want)
			}
		})
	}
}
