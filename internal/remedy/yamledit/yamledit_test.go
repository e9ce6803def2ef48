package yamledit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/remedy/yamledit"
)

func value(t *testing.T, text string) *model.Value {
	t.Helper()
	if text == "" {
		return nil
	}
	v, err := decode.JSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &v
}

const deployment = `# the shop
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web # its name
  labels: {app: web, "a/b": '1'}
spec:
  replicas: 3   # three

  template:
    spec:
      containers:
      # the proxy comes first
      - name: proxy
        image: "proxy:1" # pinned
        args: [--listen, ":80"]
      - image: registry.example.org/web:1.4
        name: web
        env:
        - name: LEVEL
          value: info
        - {name: MODE, value: x}
        # the end of env
        ports:
        - containerPort: 8080
data:
  text: |
    first
      second

    third

  last: 'it''s'
`

func TestObject(t *testing.T) {
	t.Parallel()
	const containers, web = "spec.template.spec.containers", "spec.template.spec.containers[name=web]"
	tests := []struct{ reason, path, was, value, want string }{
		{"a number", "spec.replicas", "3", "5", "-  replicas: 3   # three\n+  replicas: 5   # three\n"},
		{"a plain text that stays plain", web + ".image", `"registry.example.org/web:1.4"`, `"registry.example.org/web:1.5"`,
			"-      - image: registry.example.org/web:1.4\n+      - image: registry.example.org/web:1.5\n"},
		{"double quotes stay", containers + "[name=proxy].image", `"proxy:1"`, `"proxy:2"`, "-        image: \"proxy:1\" # pinned\n+        image: \"proxy:2\" # pinned\n"},
		{"single quotes stay", "data.last", `"it's"`, `"it's not"`, "-  last: 'it''s'\n+  last: 'it''s not'\n"},
		{"a text that reads as a number is quoted", web + ".env[name=LEVEL].value", `"info"`, `"10"`, "-          value: info\n+          value: \"10\"\n"},
		{"a text with a line break", web + ".env[name=LEVEL].value", `"info"`, `"a\nb: #"`, "-          value: info\n+          value: \"a\\nb: #\"\n"},
		{"in braces", `metadata.labels["a/b"]`, `"1"`, `"2"`, "-  labels: {app: web, \"a/b\": '1'}\n+  labels: {app: web, \"a/b\": '2'}\n"},
		{"a list in brackets", containers + "[name=proxy].args", `["--listen",":80"]`, `["--listen",":81","x y"]`,
			"-        args: [--listen, \":80\"]\n+        args: [\"--listen\", \":81\", \"x y\"]\n"},
		{"a new label in braces", "metadata.labels.tier", "", `"front"`, "-  labels: {app: web, \"a/b\": '1'}\n+  labels: {app: web, \"a/b\": '1', tier: front}\n"},
		{"a new field after the last", "data.new", "", `"x"`, "+  new: x\n"},
		{"a new field after a nested one", "spec.paused", "", "true", "+  paused: true\n"},
		{"a new map with its field", "metadata.annotations.note", "", `"y"`, "+  annotations: {note: \"y\"}\n"},
		{"a new element", web + ".env[name=DEBUG]", "", `{"name":"DEBUG","value":"1"}`, "+        - name: DEBUG\n+          value: \"1\"\n"},
		{"a new list with its element", containers + "[name=proxy].env[name=DEBUG]", "", `{"name":"DEBUG","value":"1"}`,
			"+        env: [{name: DEBUG, value: \"1\"}]\n"},
		{"a field goes", web + ".env[name=LEVEL].value", `"info"`, "", "-          value: info\n"},
		{"an element goes", web + ".env[name=LEVEL]", `{"name":"LEVEL","value":"info"}`, "", "-        - name: LEVEL\n-          value: info\n"},
		{"a label in braces goes", "metadata.labels.app", `"web"`, "", "-  labels: {app: web, \"a/b\": '1'}\n+  labels: {\"a/b\": '1'}\n"},
		{"the last label in braces goes", `metadata.labels["a/b"]`, `"1"`, "", "-  labels: {app: web, \"a/b\": '1'}\n+  labels: {app: web}\n"},
		{"a text of several lines goes", "data.text", `"first\n  second\n\nthird\n"`, "", "-  text: |\n-    first\n-      second\n-\n-    third\n"},
		{"a field in the line of a dash", web + ".image", `"registry.example.org/web:1.4"`, "", "it begins in the middle of a line"},
		{"a text of several lines", "data.text", `"first\n  second\n\nthird\n"`, `"x"`, "it has several lines"},
		{"another value than the declaration has", "spec.replicas", "4", "5", "the file has another value"},
		{"an absent field that should be there", "spec.strategy", `"x"`, `"y"`, "it is not found in the file"},
		{"a present field that should be absent", "spec.replicas", "", "5", "the file has a value, and the declaration has none"},
		{"a field of an absent element", containers + "[name=new].image", "", `"x"`, "the file does not have the element that contains it"},
		{"a field of a text", "spec.replicas.x", "", `"x"`, "another structure"},
		{"the only field", containers + "[name=web].ports[containerPort=8080].containerPort", "8080", "", "nothing would be left"},
		{"a path of no form", "spec..x", "", `"x"`, "the path cannot be translated"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			got, err := yamledit.Object([]byte(deployment), 6, []yamledit.Change{{Path: test.path, Was: value(t, test.was), Value: value(t, test.value)}})
			if err != nil {
				if !errors.Is(err, yamledit.ErrUnsupported) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got the error %v, want %q", err, test.want)
				}
				return
			}
			if diff := cmp.Diff(test.want, changed(deployment, string(got))); diff != "" {
				t.Errorf("changed lines (-want +got):\n%s", diff)
			}
		})
	}
}

// changed returns the lines that only one of two texts has, between their common ends.
func changed(before, after string) string {
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var out strings.Builder
	for _, line := range a {
		out.WriteString("-" + line)
	}
	for _, line := range b {
		out.WriteString("+" + line)
	}
	return out.String()
}

func TestObjectRefuses(t *testing.T) {
	t.Parallel()
	one := func(path string) []yamledit.Change {
		return []yamledit.Change{{Path: path, Was: value(t, `"b"`), Value: value(t, `"c"`)}}
	}
	for name, text := range map[string]string{
		"an alias":             "x: &v b\na: *v\n",
		"an anchor":            "a: &v b\nx: *v\n",
		"a merge key":          "a: {<<: *v}\nx: &v {a: b}\n",
		"a tag":                "a: !!str b\n",
		"a carriage return":    "x: 1\ra: b\n",
		"a line separator":     "x: 1\u2028a: b\n",
		"a text of two lines":  "a:\n  b\n   \n",
		"no object at line 1":  "# comment\n\na: b\n",
		"two documents broken": "a: b\n---\na: [\n",
	} {
		got, err := yamledit.Object([]byte(text), 1, one("a"))
		if err == nil && string(got) != strings.Replace(text, "b", "c", 1) {
			t.Errorf("%s was edited: %q", name, got)
		}
	}
}

func TestListItems(t *testing.T) {
	t.Parallel()
	const list = "apiVersion: v1\nkind: List\nitems:\n- kind: A\n  a: b\n- kind: B\n  a: b\n"
	got, err := yamledit.Object([]byte(list), 6, []yamledit.Change{{Path: "a", Was: value(t, `"b"`), Value: value(t, `"c"`)}})
	if want := list[:len(list)-2] + "c\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestLineBreaksStay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: 1\r\nb: 2\r\n": "a: 1\r\nb: 2\r\nc: x\r\n",
		"a: 1\nb: 2":       "a: 1\nb: 2\nc: x",
		"a: 1\r\nb: 2":     "a: 1\r\nb: 2\r\nc: x",
	} {
		got, err := yamledit.Object([]byte(text), 1, []yamledit.Change{{Path: "c", Value: value(t, `"x"`)}})
		if err != nil || string(got) != want {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
}

// TestAnyEditReadsAsExpected edits files in several layouts: the result is an error, or only the
// changed field differs and comments stay.
func TestAnyEditReadsAsExpected(t *testing.T) {
	t.Parallel()
	texts := []string{"a", "", "10", "true", "~", "a: b", "# x", "'", `"`, "\\", "é 🙂", "a\nb\n", "- x", "{", "}", "]", " lead", "trail ", "\x1b", "null", "0x1f", "1e3", "y", "<<", "*a", "&a", "!t", "%", "@", "`", "?", ","}
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.SampledFrom(texts)
		was, is := text.Draw(r, "was"), text.Draw(r, "is")
		name := rapid.SampledFrom([]string{"k", "a.b/c", "true", "10", "x y", "é"}).Draw(r, "name")
		quoted := func(s string) string { return string(model.StringOf(s).AppendJSON(nil)) }
		layout := rapid.SampledFrom([]string{
			"# head\nx: 1 # é\n%s: %s # tail\nw: 2\n", "# head\nx: {%s: %s, \"z\": 1} # tail\n", "# head\nx: {q: 1, %s: %s}\n", "# head\nx:\n  ü: 1\n  %s: %s\n# tail\nw: |\n  a\n\n",
		}).Draw(r, "layout")
		document := fmt.Sprintf(layout, quoted(name), quoted(was))
		path := "[" + quoted(name) + "]"
		if strings.Contains(layout, "x:\n") || strings.Contains(layout, "x: {") {
			path = "x" + path
		}
		before, after := model.StringOf(was), model.StringOf(is)
		change := yamledit.Change{Path: path, Was: &before, Value: &after}
		if rapid.Bool().Draw(r, "remove") {
			change.Value = nil
		}
		got, err := yamledit.Object([]byte(document), 2, []yamledit.Change{change})
		if err != nil {
			if !errors.Is(err, yamledit.ErrUnsupported) {
				r.Fatalf("%q: %v", document, err)
			}
			if change.Value != nil {
				r.Fatalf("%q cannot be set to %q: %v", document, is, err)
			}
			return
		}
		if strings.Count(string(got), "head") != 1 || change.Value != nil && strings.Count(string(got), "tail") != strings.Count(document, "tail") && !strings.Contains(was+is, "tail") && !strings.Contains(was+is, "trail") {
			r.Fatalf("a comment is gone: %q", got)
		}
		if change.Value == nil {
			return
		}
		change.Was, change.Value = change.Value, change.Was
		back, err := yamledit.Object(got, 2, []yamledit.Change{change})
		if err != nil {
			r.Fatalf("%q cannot be taken back: %v", got, err)
		}
		if reads(r, back) != reads(r, []byte(document)) {
			r.Fatalf("%q became %q and %q", document, got, back)
		}
	})
}

func reads(r *rapid.T, data []byte) string {
	documents, err := decode.YAML(strings.NewReader(string(data)))
	if err != nil || len(documents) != 1 {
		r.Fatalf("%q: %v", data, err)
	}
	return string(documents[0].Value.AppendJSON(nil))
}

func FuzzObject(f *testing.F) {
	f.Add([]byte(deployment), 6, "spec.replicas", "3")
	f.Add([]byte("a: {b: [1, 2]}\n"), 1, "a.b[0]", "1")
	f.Fuzz(func(_ *testing.T, data []byte, line int, path, was string) {
		before, err := decode.JSON([]byte(was))
		if err != nil {
			return
		}
		after := model.StringOf("new")
		_, _ = yamledit.Object(data, line, []yamledit.Change{{Path: path, Was: &before, Value: &after}}) // no crash
	})
}

// TestDefaultedKeys checks that an element is found by keys that the file leaves out, because they
// have the default of the schema, and that an element with another key is not taken for it.
func TestDefaultedKeys(t *testing.T) {
	t.Parallel()
	const file = "kind: Service\nspec:\n  ports:\n  - {name: http, port: 80, targetPort: 8080}\n  - {name: dns, port: 53, protocol: UDP, targetPort: 53}\n"
	tcp := model.StringOf("TCP")
	port := &model.Schema{Fields: map[string]*model.Schema{"protocol": {Default: &tcp}}}
	ports := &model.Schema{List: model.Keyed, Keys: []string{"port", "protocol"}, Each: port}
	service := &model.Schema{Fields: map[string]*model.Schema{"spec": {Fields: map[string]*model.Schema{"ports": ports}}}}
	for path, want := range map[string]string{
		"spec.ports[port=80,protocol=TCP].targetPort": strings.Replace(file, "8080", "8081", 1),
		"spec.ports[port=53,protocol=UDP].targetPort": strings.Replace(file, "targetPort: 53", "targetPort: 8081", 1),
		"spec.ports[port=80,protocol=UDP].targetPort": "",
		"spec.ports[port=53,protocol=TCP].targetPort": "",
	} {
		was := "8080"
		if strings.Contains(path, "53") {
			was = "53"
		}
		got, err := yamledit.Object([]byte(file), 1, []yamledit.Change{{Path: path, Was: value(t, was), Value: value(t, "8081"), Schema: service}})
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}
