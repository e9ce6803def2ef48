package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestFields lists the changes between two values of one resource.
func TestFields(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, before, after string
		want                  []string
	}{
		{"nothing", `{"a":1}`, `{"a":1}`, nil},
		{"a value", `{"mode":"x"}`, `{"mode":"y"}`, []string{`mode "x" "y"`}},
		{"a field that came", `{}`, `{"mode":"y"}`, []string{`mode - "y"`}},
		{"a field that went", `{"mode":"x"}`, `{}`, []string{`mode "x" -`}},
		{"fields on both sides, in order", `{"a":1,"c":1}`, `{"b":1,"c":2}`, []string{`a 1 -`, `b - 1`, `c 1 2`}},
		{"what is below a map that came", `{}`, `{"probe":{"path":"/","every":1}}`, []string{`probe.every - 1`, `probe.path - "/"`}},
		{"what is below a map that went", `{"probe":{"path":"/"}}`, `{}`, []string{`probe.path "/" -`}},
		{"an empty map that came", `{}`, `{"probe":{}}`, nil},
		{"volatile fields count", `{"noise":1}`, `{"noise":2}`, []string{`noise 1 2`}},
		{"spelling counts", `{"cpu":"1"}`, `{"cpu":"1000m"}`, []string{`cpu "1" "1000m"`}},
		{"a map became a text", `{"probe":{"path":"/"}}`, `{"probe":"x"}`, []string{`probe {"path":"/"} "x"`}},
		{"a text became a map", `{"probe":"x"}`, `{"probe":{"path":"/"}}`, []string{`probe "x" {"path":"/"}`}},
		{"an ordered list is one value", `{"args":["a","b"]}`, `{"args":["b","a"]}`, []string{`args ["a","b"] ["b","a"]`}},
		{"an element of a set that came", `{"groups":["a"]}`, `{"groups":["b","a"]}`, []string{`groups[=b] - "b"`}},
		{"a set that came", `{}`, `{"groups":["b"]}`, []string{`groups[=b] - "b"`}},
		{"a set that went", `{"groups":["b"]}`, `{}`, []string{`groups[=b] "b" -`}},
		{"a set became a text", `{"groups":["b"]}`, `{"groups":"b"}`, []string{`groups ["b"] "b"`}},
		{"a field of a keyed element", `{"env":[{"name":"A","value":"1"}]}`, `{"env":[{"name":"A","value":"2"}]}`, []string{`env[name=A].value "1" "2"`}},
		{"keyed elements in another order", `{"env":[{"name":"A"},{"name":"B"}]}`, `{"env":[{"name":"B"},{"name":"A"}]}`, nil},
		{"elements that share a name are compared as one list", `{"env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]}`, `{"env":[{"name":"A","value":"1"}]}`,
			[]string{`env [{"name":"A","value":"1"},{"name":"A","value":"2"}] [{"name":"A","value":"1"}]`}},
		{"all of it came", ``, `{"mode":"x"}`, []string{`mode - "x"`}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range Fields(testSchema(), value(t, tc.before), value(t, tc.after)) {
				sides := []model.Value{{}, {}}
				for i, v := range []*model.Value{c.Recorded, c.Live} {
					if v != nil {
						sides[i] = *v
					}
				}
				got = append(got, c.Path+" "+texts(sides...))
				if c.Secret {
					t.Errorf("%s is a secret", c.Path)
				}
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestFieldsOfSecrets checks that a field is secret if the value on either side is.
func TestFieldsOfSecrets(t *testing.T) {
	t.Parallel()
	secret := model.DigestOf("0123456789abcdef")
	for _, tc := range []struct {
		reason        string
		before, after model.Value
		want          bool
	}{
		{"it was a secret", secret, model.StringOf("a"), true},
		{"it became a secret", model.StringOf("a"), secret, true},
		{"it came", model.Value{}, secret, true},
		{"it never was", model.StringOf("a"), model.StringOf("b"), false},
	} {
		changes := Fields(nil, model.MapOf(model.Field{Name: "x", Value: tc.before}), model.MapOf(model.Field{Name: "x", Value: tc.after}))
		if len(changes) != 1 || changes[0].Secret != tc.want {
			t.Errorf("%s: %+v, want one change with secret %v", tc.reason, changes, tc.want)
		}
	}
}

// TestFieldsWithoutSchema compares lists as wholes and maps by field.
func TestFieldsWithoutSchema(t *testing.T) {
	t.Parallel()
	changes := Fields(nil, value(t, `{"a":[1,2],"b":{"c":1}}`), value(t, `{"a":[2,1],"b":{"c":2}}`))
	var got []string
	for _, c := range changes {
		got = append(got, fmt.Sprintf("%s %s", c.Path, texts(*c.Recorded, *c.Live)))
	}
	if want := "a [1,2] [2,1]; b.c 1 2"; strings.Join(got, "; ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "; "), want)
	}
}
