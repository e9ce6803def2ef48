package decode_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

func nested(open, shut string, depth int) string {
	return strings.Repeat(open, depth) + strings.Repeat(shut, depth)
}

func TestJSON(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		data   string
		want   string
	}{
		"Scalars":  {"every kind of scalar", `[null,true,false,"a",1,-2.50,1e3]`, `[null,true,false,"a",1,-2.5,1000]`},
		"Sorted":   {"one form whatever the order of names", `{"b":1,"a":{"d":[],"c":{}}}`, `{"a":{"c":{},"d":[]},"b":1}`},
		"Escapes":  {"escaped text is unescaped, in names as well", `{"\u0061\n":"\ud83d\ude00\/"}`, `{"a\n":"😀/"}`},
		"Long":     {"no digit of a long number is lost", `123456789012345678901234567890`, `123456789012345678901234567890`},
		"Space":    {"white space around the document", "\r\n\t {} \n", `{}`},
		"Deepest":  {"the deepest legal nesting", nested("[", "]", decode.MaxDepth), nested("[", "]", decode.MaxDepth)},
		"Repeated": {"a document long enough for repeated texts to be kept", `["` + strings.Repeat(`a","b","`, 2000) + `c"]`, `["` + strings.Repeat(`a","b","`, 2000) + `c"]`},
		"LongText": {"text longer than what is kept", `"` + strings.Repeat("x", 500) + `"`, `"` + strings.Repeat("x", 500) + `"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := decode.JSON([]byte(tc.data))
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if text := string(got.AppendJSON(nil)); text != tc.want {
				t.Errorf("%s:\n got %s\nwant %s", tc.reason, text, tc.want)
			}
		})
	}
}

func TestJSONRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		data   string
		line   int
		says   string
	}{
		"Empty":      {"nothing is no document", "", 1, "ends too early"},
		"Truncated":  {"a body that was cut off", "{\n\"a\": [1,", 2, "ends too early"},
		"InText":     {"a body that was cut off in a string", `{"a": "b`, 1, "ends too early"},
		"Twice":      {"one name twice", "{\"a\": {\n\"b\": 1,\n\"b\": 2}}", 3, `at /a/b: duplicate`},
		"Rest":       {"something after the document", "{}\n{}", 2, "follows the document"},
		"Comma":      {"a comma after the document", "{},", 1, "follows the document"},
		"Number":     {"an exponent beyond reason", `[1e99999]`, 1, "out of range"},
		"UTF8":       {"bytes that are not UTF-8", "{\"a\": \"\xff\"}", 1, "UTF-8"},
		"Surrogate":  {"half a surrogate pair", `"\ud83d"`, 1, "surrogate"},
		"TooDeep":    {"one level too many", nested("[", "]", decode.MaxDepth+1), 1, "levels deep"},
		"MuchDeeper": {"far too many levels", strings.Repeat(`{"a":[`, 1_000_000), 1, "levels deep"},
		"BareName":   {"a name that is no string", `{1: 2}`, 1, "name must be a string"},
		"Trailing":   {"a comma too many", "[1,\n2,]", 2, "invalid character"},
		"Single":     {"single quotes", `{'a': 1}`, 1, "invalid character"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := decode.JSON([]byte(tc.data))
			syntax, ok := errors.AsType[*decode.SyntaxError](err)
			if !ok {
				t.Fatalf("%s: got %v, want a SyntaxError", tc.reason, err)
			}
			if syntax.Line != tc.line || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: got %q, want line %d and %q", tc.reason, err, tc.line, tc.says)
			}
		})
	}
}

func TestJSONErrorsKeepSecrets(t *testing.T) {
	t.Parallel()
	for _, data := range []string{`{"password": "hunter2`, `{"password": hunter2}`, `{"password": "hunter2" "x"}`, `{"password": "hunter2\q"}`} {
		_, err := decode.JSON([]byte(data))
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want an error without the value", data, err)
		}
	}
}

// values draws trees of every kind but secrets.
func values() *rapid.Generator[model.Value] {
	return rapid.Custom(func(t *rapid.T) model.Value { return drawValue(t, 4) })
}

func drawValue(t *rapid.T, depth int) model.Value {
	kinds := 4
	if depth > 0 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return model.Value{}
	case 1:
		return model.BoolOf(rapid.Bool().Draw(t, "bool"))
	case 2:
		n, _ := model.NumberOf(rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,20})?([eE][-+]?[0-9]{1,2})?`).Draw(t, "number"))
		return n
	case 3:
		return model.StringOf(rapid.String().Draw(t, "text"))
	case 4:
		return model.ListOf(drawList(t, depth-1)...)
	}
	var fields []model.Field
	for i, v := range drawList(t, depth-1) {
		fields = append(fields, model.Field{Name: rapid.String().Draw(t, fmt.Sprint("name", i)), Value: v})
	}
	return model.MapOf(fields...)
}

func drawList(t *rapid.T, depth int) []model.Value {
	items := make([]model.Value, rapid.IntRange(0, 5).Draw(t, "len"))
	for i := range items {
		items[i] = drawValue(t, depth)
	}
	return items
}

func TestJSONRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := values().Filter(plain).Draw(t, "value")
		text := v.AppendJSON(nil)
		got, err := decode.JSON(text)
		if err != nil {
			t.Fatalf("decode %s: %v", text, err)
		}
		if !got.Equal(v) {
			t.Fatalf("got %s, want %s", got.AppendJSON(nil), text)
		}
	})
}

// plain reports whether AppendJSON marks no string of a tree: it escapes those that begin
// with a zero byte, for its own decoder.
func plain(v model.Value) bool { return !bytes.Contains(v.AppendJSON(nil), []byte(`\u0000`)) }

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5,"b",null,true]}`, `[]`, `{"a":1,"a":2}`, `1e400`, "\"\xff\"", `{"items":[{},`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := decode.JSON(data)
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("accepted what encoding/json refuses")
		}
		if !plain(v) {
			return
		}
		again, err := decode.JSON(v.AppendJSON(nil))
		if err != nil || !again.Equal(v) {
			t.Fatalf("not the same after a round: %v", err)
		}
	})
}

func BenchmarkJSONSmall(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decode.JSON([]byte(`{"name":"web","protocol":"TCP"}`)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJSON(b *testing.B) {
	var list bytes.Buffer
	list.WriteString(`{"apiVersion":"v1","kind":"List","items":[`)
	for i := range 1000 {
		if i > 0 {
			list.WriteByte(',')
		}
		fmt.Fprintf(&list, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web-%d","namespace":"shop",`+
			`"labels":{"app":"web"},"managedFields":[{"manager":"kubectl","operation":"Apply","fieldsV1":{"f:metadata":`+
			`{"f:labels":{"f:app":{}}},"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":`+
			`{"k:{\"name\":\"web\"}":{"f:image":{},"f:name":{}}}}}}}}]},"spec":{"replicas":3,"template":{"spec":`+
			`{"containers":[{"name":"web","image":"registry.example.org/web:1.%d","ports":[{"containerPort":8080,`+
			`"protocol":"TCP"}],"env":[{"name":"A","value":"b"}],"resources":{"limits":{"cpu":"500m","memory":"128Mi"}}}]}}}}`, i, i)
	}
	list.WriteString("]}")
	b.SetBytes(int64(list.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decode.JSON(list.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}
