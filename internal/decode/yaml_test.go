package decode_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	kubectl "sigs.k8s.io/yaml"

	"github.com/driftd/driftd/internal/decode"
)

// render shows documents as "line: JSON", one a line.
func render(docs []decode.Document) []string {
	lines := []string{}
	for _, d := range docs {
		lines = append(lines, fmt.Sprintf("%d: %s", d.Line, d.Value.AppendJSON(nil)))
	}
	return lines
}

func TestYAML(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		data   string
		want   []string
	}{
		"Nothing":       {"an empty stream holds no document", "", []string{}},
		"Comments":      {"comments alone are no document", "# a\n---\n# b\n---\n", []string{}},
		"Null":          {"a null document is left out", "---\nnull\n---\n~\n", []string{}},
		"Many":          {"several documents, with their lines", "a: 1\n---\nb: 2\n--- # third\n\n# why\nc: 3\n", []string{`1: {"a":1}`, `3: {"b":2}`, `7: {"c":3}`}},
		"SameLine":      {"content beside the marker", "--- {a: 1}\n--- text\n", []string{`1: {"a":1}`, `2: "text"`}},
		"End":           {"the end marker, and directives after it", "a: 1\n...\n%YAML 1.1\n---\nb: 2\n...\n", []string{`1: {"a":1}`, `5: {"b":2}`}},
		"NotMarker":     {"dashes that are no marker", "a: |\n  ---\nb: ----\n", []string{`1: {"a":"---\n","b":"----"}`}},
		"CRLF":          {"Windows line ends", "a: 1\r\n---\r\nb: |\r\n  x\r\n  y\r\n", []string{`1: {"a":1}`, `3: {"b":"x\ny\n"}`}},
		"BOM":           {"a byte order mark", "\ufeff# c\na: 1\n", []string{`2: {"a":1}`}},
		"JSON":          {"JSON documents, one after another", "\ufeff{\"a\": 1}\n{\"b\":\n2}\n---\n{\"c\": 3}\n", []string{`1: {"a":1}`, `2: {"b":2}`, `5: {"c":3}`}},
		"Flow":          {"flow style that is not JSON", "{a: 1, b: [x, 'y',],}\n", []string{`1: {"a":1,"b":["x","y"]}`}},
		"Anchors":       {"aliases and merge keys", "a: &x {p: 1, q: 2}\nb: *x\nc:\n  <<: *x\n  q: 3\nd:\n  <<: [*x, {p: 5, r: 6}]\n", []string{`1: {"a":{"p":1,"q":2},"b":{"p":1,"q":2},"c":{"p":1,"q":3},"d":{"p":1,"q":2,"r":6}}`}},
		"AliasKey":      {"an alias as a key", "a: &k name\n*k : v\n", []string{`1: {"a":"name","name":"v"}`}},
		"LateMerge":     {"a merge key that stands later wins, as in kubectl", "a: &x {p: 1}\nb: {p: 2, <<: *x}\n", []string{`1: {"a":{"p":1},"b":{"p":1}}`}},
		"BlockScalars":  {"literal and folded text", "a: |-\n  x\n\n  y\nb: >\n  x\n  y\n", []string{`1: {"a":"x\n\ny","b":"x y\n"}`}},
		"TabsInContent": {"tabs that indent nothing", "a:\t1\nb: \"x\ty\"\n", []string{`1: {"a":1,"b":"x\ty"}`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs, err := decode.YAML(strings.NewReader(tc.data))
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, render(docs)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestYAMLScalars holds plain scalars against the parser that kubectl uses, so
// that what is compared is what would be applied.
func TestYAMLScalars(t *testing.T) {
	t.Parallel()
	texts := strings.Fields(`y Y n N yes Yes YES no No NO on On ON off Off OFF true True TRUE tRUE yEs false null Null NULL ~
		0 -0 +1 1 0644 0o644 0O17 08 09 0b101 -0b11 0x1F 0X1f -0x1F 1_000 1__0 0_8 1_0.5 123456789012345678 9223372036854775808
		18446744073709551615 18446744073709551616 -9223372036854775809 12345678901234567890123 1e3 1E3 1e-3 1.5e+3 .5 -.5 +.5 5. ._5
		1e400 1.10 0.1 -0.0 1.7976931348623157e308 5e-324 1:30 190:20:30 2001-01-01 2001-12-14T21:59:43Z 2001-1-1 12e03 0x 0b 1_
		_1 . .. .e5 .infinity +Inf Infinity nan 500m 128Mi 1.4.2 v1 = 10.0.0.1 1-2 - -- -a
		'' "" "1" 'yes' "0644"`)
	texts = append(texts, "!!str 12", `!!int "12"`, "!!float 3", "!!bool yes", "!!null", "!!null ''", "!!binary aGk=", "!foo 12",
		"!!timestamp 2001-01-01", "!<tag:yaml.org,2002:str> 12", "!!str", "!!binary /w==")
	for _, text := range texts {
		against(t, "k: "+text)
		against(t, text+" : v")
	}
}

// against compares one document with what kubectl makes of it: what we read,
// it reads the same way.
func against(t *testing.T, data string) {
	t.Helper()
	docs, err := decode.YAML(strings.NewReader(data))
	if err != nil || len(docs) != 1 {
		return
	}
	reference, err := kubectl.YAMLToJSON([]byte(data))
	if err != nil {
		for _, known := range []string{"uint64", "excessive aliasing", "control characters"} {
			if strings.Contains(err.Error(), known) || strings.Contains(data, "\t") {
				return // fewer keys, aliases, tabs; JSON's DEL is read as JSON
			}
		}
		t.Errorf("%q: got %s, and kubectl says %v", data, docs[0].Value.AppendJSON(nil), err)
		return
	}
	want, err := decode.JSON(reference)
	if err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	if !docs[0].Value.Equal(want) {
		t.Errorf("%q: got %s, kubectl reads %s", data, docs[0].Value.AppendJSON(nil), reference)
	}
}

// bomb returns nine levels of nine aliases: 9^9 values.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 10; i++ {
		alias := fmt.Sprintf("*a%d", i-1)
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.Join([]string{alias, alias, alias, alias, alias, alias, alias, alias, alias}, ", "))
	}
	return b.String()
}

func TestYAMLRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		data   string
		want   []string
		errs   []string
	}{
		"Between":     {"a broken document costs only itself", "a: 1\n---\nb: [1\n---\nc: 3\n", []string{`1: {"a":1}`, `5: {"c":3}`}, []string{"line 3: did not find expected ',' or ']'"}},
		"Two":         {"each broken document is named", "a: }\n---\nb: 1\n---\n\"x\n", []string{`3: {"b":1}`}, []string{"line 1: did not find expected node content", "line 5: found unexpected end of stream"}},
		"Twice":       {"one key twice: both lines", "---\na:\n  b: 1\n  c: 2\n  b: 3\n", []string{}, []string{`line 5: key "b" stands here and in line 3`}},
		"TwiceMerged": {"one key twice beside a merge key", "x: &x {p: 1}\na:\n  <<: *x\n  b: 1\n  b: 2\n", []string{}, []string{`line 5: key "b" stands here and in line 4`}},
		"TwiceSpelt":  {"two spellings of one key", "1: a\n\"1\": b\n", []string{}, []string{`line 2: key "1" stands here and in line 1`}},
		"TwiceJSON":   {"one name twice in JSON", "\n{\"a\": 1,\n\"a\": 2}\n", []string{}, []string{`line 3: key "a" stands here and in line 2`}},
		"Tab":         {"a tab as indentation", "a:\n  b: 1\n\tc: 2\n", []string{}, []string{"line 3: a tab indents this line; YAML wants spaces"}},
		"TabList":     {"a tab before a list", "a: 1\n---\na:\n\t- b\n", []string{`1: {"a":1}`}, []string{"line 4: a tab indents this line; YAML wants spaces"}},
		"UTF8":        {"bytes that are not UTF-8", "a: 1\n---\nb: 1\nc: \xff\xfe\n---\nd: 1\n", []string{`1: {"a":1}`, `6: {"d":1}`}, []string{"line 4: not UTF-8 text; save the file as UTF-8"}},
		"UTF16":       {"UTF-16 text", "\xff\xfea\x00:\x00 \x001\x00", []string{}, []string{"line 1: not UTF-8 text; save the file as UTF-8"}},
		"Control":     {"a control character", "a: 1\nb: x\x01\n", []string{}, []string{"line 2: control characters are not allowed"}},
		"Bomb":        {"aliases that explode", "x: 1\n---\n" + bomb(), []string{`1: {"x":1}`}, []string{"line 8: aliases stand for more than 100000 values"}},
		"Recursive":   {"an alias inside what it stands for", "a: &a\n  b: [*a]\n", []string{}, []string{"line 2: alias *a stands for what holds it"}},
		"Anchor":      {"an alias without anchor", "a: 1\nb: *nobody\n", []string{}, []string{"line 2: an alias (*) without an anchor (&): quote a value that begins with *"}},
		"Deep":        {"one level too many", nested("[", "]", decode.MaxDepth+1), []string{}, []string{"line 1: more than 200 levels deep"}},
		"DeepBlocks":  {"far too many levels", strings.Repeat("- ", 100_000), []string{}, []string{"line 1: exceeded max depth of 10000"}},
		"DeepAliases": {"levels that aliases add up", deepAliases(), []string{}, []string{"line 2: more than 200 levels deep"}},
		"Infinite":    {"a number that JSON cannot write", "a: .inf\n---\nb: -.NaN\n---\nc: .nan\n", []string{`3: {"b":"-.NaN"}`}, []string{"line 1: a number that is infinite or not a number; JSON has none", "line 5: a number that is infinite or not a number; JSON has none"}},
		"Tagged":      {"text that its tag contradicts; the text is not shown", "a: !!int hunter2\n", []string{}, []string{"line 1: tagged !!int, and is !!str"}},
		"NoBase64":    {"binary that is not base64", "a: !!binary '?'\n", []string{}, []string{"line 1: tagged !!binary, and is not base64"}},
		"MapAsKey":    {"a template", "a: 1\nb: {{ .Values.x }}\n", []string{}, []string{"line 2: a list or map stands where a key belongs (a template that was not rendered?)"}},
		"Template":    {"another template", "a: 1\n{{- if x }}\nb: 2\n{{ end }}\n", []string{}, []string{"line 2: could not find expected ':' (a template that was not rendered?)"}},
		"NullKey":     {"a key that is null", "a: {~: 1}\n", []string{}, []string{"line 1: a key is null"}},
		"BadMerge":    {"a merge of what is no map", "a: 1\n<<: 2\n", []string{}, []string{"line 2: a merge key (<<) wants a map or a list of maps"}},
		"AfterJSON":   {"text after a JSON document", "{\"a\": 1}\n{\"b\": x}\n", []string{`1: {"a":1}`}, []string{"line 2: at /b: invalid character 'x' at start of value"}},
		"TwoMaps":     {"a second document without a marker", "{a: 1}\n{b: 2}\n", []string{`1: {"a":1}`}, []string{"line 2: did not find expected <document start>"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs, err := decode.YAML(strings.NewReader(tc.data))
			if diff := cmp.Diff(tc.want, render(docs)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			errs := []string{}
			for _, e := range decode.SyntaxErrors(err) {
				errs = append(errs, e.Error())
			}
			if diff := cmp.Diff(tc.errs, errs); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// deepAliases nests an alias whose own depth is legal into a depth that is not.
func deepAliases() string {
	half := decode.MaxDepth/2 + 1
	return "a: &a " + nested("[", "]", half) + "\nb: " + strings.Repeat("[", half) + "*a" + strings.Repeat("]", half) + "\n"
}

func TestYAMLItemLines(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		data   string
		want   []int
	}{
		"YAML":    {"a list in YAML", "# c\n---\nkind: List\nitems:\n- a: 1\n\n- a: 2\n", []int{5, 7}},
		"JSON":    {"a list in JSON", "---\n{\"items\": [\n {\"a\": 1},\n\n {\"a\": 2}],\n \"kind\": \"PodList\"}", []int{3, 5}},
		"Empty":   {"a list without items", "kind: List\nitems: []\n", []int{}},
		"Alias":   {"items behind an alias", "x: &x\n- a: 1\n- a: 2\nkind: List\nitems: *x\n", []int{2, 3}},
		"Merged":  {"items that are merged in, instead of others", "x: &x\n  items: [1, 2]\nkind: List\nitems: [3]\n<<: *x\n", []int{1, 1}},
		"NoKind":  {"items of something else", "kind: Menu\nitems: [1]\n", nil},
		"NoItems": {"a list of nothing", "kind: AllowList\nitems: 3\n", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs, err := decode.YAML(strings.NewReader(tc.data))
			if err != nil || len(docs) != 1 {
				t.Fatalf("%s: got %d documents, %v", tc.reason, len(docs), err)
			}
			if diff := cmp.Diff(tc.want, docs[0].ItemLines); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestYAMLStream(t *testing.T) {
	t.Parallel()
	gone := errors.New("disk gone")
	if _, err := decode.YAML(iotest.ErrReader(gone)); !errors.Is(err, gone) || decode.SyntaxErrors(err) != nil {
		t.Errorf("a stream that cannot be read: got %v", err)
	}
	endless := io.MultiReader(strings.NewReader("a: 1\n"), zeros{})
	if _, err := decode.YAML(endless); err == nil || err.Error() != "more than 256 MiB" {
		t.Errorf("a stream without end: got %v", err)
	}
}

// zeros is an endless stream.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestYAMLCutOff proves that a large JSON document that was cut off is not
// tried as YAML, which would take much memory.
func TestYAMLCutOff(t *testing.T) {
	t.Parallel()
	data := `{"items": [` + strings.Repeat(`"x",`, 1<<19)
	_, err := decode.YAML(strings.NewReader(data))
	if err == nil || err.Error() != "line 1: at /items: the document ends too early" {
		t.Errorf("got %v", err)
	}
}

func TestYAMLTenThousandDocuments(t *testing.T) {
	t.Parallel()
	var stream bytes.Buffer
	for i := range 10_000 {
		fmt.Fprintf(&stream, "---\ni: %d\n", i)
	}
	docs, err := decode.YAML(&stream)
	if err != nil || len(docs) != 10_000 {
		t.Fatalf("got %d documents, %v", len(docs), err)
	}
	if last := render(docs[9_999:])[0]; last != `20000: {"i":9999}` {
		t.Errorf("got %s", last)
	}
}

func FuzzYAML(f *testing.F) {
	for _, seed := range []string{
		"a: 1\n---\nb: [x, {c: 'd'}]\n", "a: &x {p: 1}\nb:\n  <<: *x\n", "\tb", "? a\n: b\n", "{\"a\": 1}{", "a: |\n  x\n...\n",
		"--- !!int 3\n", "%YAML 1.1\n---\na: 0x1F\n", "kind: List\nitems: [a]", "a: \"\\x41\"\n", "a: 1_0\nyes: no\n", bomb(),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		docs, err := decode.YAML(strings.NewReader(data))
		lines := 1
		for _, r := range data {
			if strings.ContainsRune("\n\r\u0085\u2028\u2029", r) {
				lines++ // YAML 1.1 has five line breaks
			}
		}
		for _, d := range docs {
			if d.Line < 1 || d.Line > lines {
				t.Errorf("a document in line %d of %d", d.Line, lines)
			}
		}
		for _, e := range decode.SyntaxErrors(err) {
			if e.Line < 1 || e.Line > lines+1 {
				t.Errorf("an error in line %d of %d", e.Line, lines)
			}
		}
		// The parser does not distinguish "! 12" (text, in kubectl) from 12, and the
		// reference reads one document only.
		if !strings.Contains(data, "!") && !strings.Contains(data, "---") && !strings.Contains(data, "...") {
			against(t, data)
		}
	})
}

func BenchmarkYAML(b *testing.B) {
	var stream bytes.Buffer
	for i := range 1000 {
		fmt.Fprintf(&stream, `---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-%d
  labels: {app: web}
spec:
  replicas: 3
  template:
    spec:
      containers:
      - name: web
        image: registry.example.org/web:1.4
        ports:
        - containerPort: 8080
          protocol: TCP
        resources:
          limits: {cpu: 500m, memory: 128Mi}
`, i)
	}
	b.SetBytes(int64(stream.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decode.YAML(bytes.NewReader(stream.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}
