package jsonpatch_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/jsonpatch/jsonpatchtest"
	"github.com/driftd/driftd/internal/model"
)

// TestPatchRestoresDeclared applies patches with an implementation of RFC 6902 of its own: the
// result is the declared object with its order, and after any other change to a touched field
// nothing is written.
func TestPatchRestoresDeclared(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		values := rapid.SampledFrom([]string{"a", "b'", "~/x", "é\n\x1b", ""})
		names := rapid.SliceOfNDistinct(rapid.StringMatching("[A-D]{1,2}"), 1, 6, func(s string) string { return s }).Draw(r, "names")
		var changes []model.Change
		var declared, live []model.Value
		for _, name := range names {
			before, after := values.Draw(r, "before"), values.Draw(r, "after")
			was, is := entry(name, before), entry(name, after)
			switch rapid.IntRange(0, 2).Draw(r, "what") {
			case 0:
				declared, live = append(declared, was), append(live, is)
				if before != after {
					d, l := model.StringOf(before), model.StringOf(after)
					changes = append(changes, model.Change{Path: fmt.Sprintf("env[name=%s].value", name), Declared: &d, Live: &l})
				}
			case 1:
				live = append(live, is)
				changes = append(changes, model.Change{Path: fmt.Sprintf("env[name=%s]", name), Live: &is})
			default:
				declared, live = append(declared, was), append(live, was)
			}
		}
		object := model.MapOf(model.Field{Name: "env", Value: model.ListOf(live...)})
		p := jsonpatch.Patch{Live: &object}
		for i := range changes {
			if why := p.Set(changes[i].Path, changes[i].Live, changes[i].Declared); why != "" {
				r.Fatalf("%s: %s", changes[i].Path, why)
			}
		}
		got, err := jsonpatchtest.Apply(decoded(object), []byte(p.Text()))
		if err != nil {
			r.Fatal(err)
		}
		want := decoded(model.MapOf(model.Field{Name: "env", Value: model.ListOf(declared...)}))
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatalf("%s (-want +got):\n%s", p.Text(), diff)
		}
		if len(changes) == 0 {
			return
		}
		moved := append([]model.Value{entry("new", "x")}, live...)
		if got, err := jsonpatchtest.Apply(decoded(model.MapOf(model.Field{Name: "env", Value: model.ListOf(moved...)})), []byte(p.Text())); err == nil {
			r.Fatalf("the patch was applied to another list: %v", got)
		}
	})
}

func entry(name, value string) model.Value {
	return model.MapOf(model.Field{Name: "name", Value: model.StringOf(name)}, model.Field{Name: "value", Value: model.StringOf(value)})
}

func decoded(v model.Value) (tree any) {
	if err := json.Unmarshal(v.AppendJSON(nil), &tree); err != nil {
		panic(err)
	}
	return tree
}

// TestInsertKeepsOrder removes declared elements, adds others and changes values by hand: the patch
// restores the declared list with its order.
func TestInsertKeepsOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching("[A-D]{1,2}"), 0, 7, func(s string) string { return s }).Draw(r, "names")
		var changes []model.Change
		var declared, live []model.Value
		for _, name := range names {
			is := entry(name, "a")
			switch rapid.IntRange(0, 3).Draw(r, "what") {
			case 0:
				declared = append(declared, is)
				changes = append(changes, model.Change{Path: fmt.Sprintf("env[name=%s]", name), Declared: &is})
			case 1:
				live = append(live, is)
				changes = append(changes, model.Change{Path: fmt.Sprintf("env[name=%s]", name), Live: &is})
			case 2:
				d, l := model.StringOf("b"), model.StringOf("a")
				declared, live = append(declared, entry(name, "b")), append(live, is)
				changes = append(changes, model.Change{Path: fmt.Sprintf("env[name=%s].value", name), Declared: &d, Live: &l})
			default:
				declared, live = append(declared, is), append(live, is)
			}
		}
		object, want := model.MapOf(), model.MapOf(model.Field{Name: "env", Value: model.ListOf(declared...)})
		if len(live) > 0 || rapid.Bool().Draw(r, "empty") {
			object = object.With("env", model.ListOf(live...))
		}
		p := jsonpatch.Patch{Live: &object, Declared: &want}
		for _, c := range rapid.Permutation(changes).Draw(r, "changes") {
			if why := p.Set(c.Path, c.Live, c.Declared); why != "" {
				r.Fatalf("%s: %s", c.Path, why)
			}
		}
		got, err := jsonpatchtest.Apply(decoded(object), []byte(p.Text()))
		if err != nil {
			r.Fatal(err)
		}
		if got.(map[string]any)["env"] == nil {
			got.(map[string]any)["env"] = []any{}
		}
		if diff := cmp.Diff(decoded(want), got); diff != "" {
			r.Fatalf("%s (-want +got):\n%s", p.Text(), diff)
		}
		if diff := cmp.Diff(decoded(p.Result().With("env", model.ListOf(p.Result().At("env").Items()...))), got); diff != "" {
			r.Fatalf("%s (-result +got):\n%s", p.Text(), diff)
		}
		if len(changes) > 0 {
			again, err := jsonpatchtest.Apply(decoded(want), []byte(p.Text()))
			if err == nil {
				r.Fatalf("the patch was applied twice: %v", again)
			}
		}
	})
}

func TestInsert(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		declared, live, path, wanted, text, why string
	}{
		"a key that has its default": {
			declared: `{"ports":[{"port":80},{"port":443}]}`, live: `{"ports":[{"port":443,"protocol":"TCP"}]}`,
			path: "ports[port=80,protocol=TCP]", wanted: `{"port":80}`,
			text: `[{"op":"test","path":"/ports/0/port","value":443},{"op":"test","path":"/ports/0/protocol","value":"TCP"},{"op":"add","path":"/ports/0","value":{"port":80}}]`,
		},
		"after the declared predecessor, and not after what a controller added": {
			declared: `{"c":[{"name":"a"},{"name":"b"}]}`, live: `{"c":[{"name":"a"},{"name":"proxy"}]}`,
			path: "c[name=b]", wanted: `{"name":"b"}`,
			text: `[{"op":"test","path":"/c/0/name","value":"a"},{"op":"test","path":"/c/1/name","value":"proxy"},{"op":"add","path":"/c/1","value":{"name":"b"}}]`,
		},
		"a field of an absent map": {
			declared: `{"metadata":{"annotations":{"a/b":"1"}}}`, live: `{"metadata":{"name":"x"}}`,
			path: `metadata.annotations["a/b"]`, wanted: `"1"`,
			text: `[{"op":"test","path":"/metadata/annotations","value":null},{"op":"add","path":"/metadata/annotations","value":{"a/b":"1"}}]`,
		},
		"a field of a map": {
			declared: `{"m":{"a":1,"b":2}}`, live: `{"m":{"a":1}}`, path: `m.b`, wanted: `2`,
			text: `[{"op":"test","path":"/m/b","value":null},{"op":"add","path":"/m/b","value":2}]`,
		},
		"an element of an absent list in an element": {
			declared: `{"c":[{"name":"a","env":[{"name":"X"}]}]}`, live: `{"c":[{"name":"a"}]}`,
			path: "c[name=a].env[name=X]", wanted: `{"name":"X"}`,
			text: `[{"op":"test","path":"/c/0/name","value":"a"},{"op":"test","path":"/c/0/env","value":null},{"op":"add","path":"/c/0/env","value":[{"name":"X"}]}]`,
		},
		"an element of an empty list": {
			declared: `{"c":[{"name":"a"}]}`, live: `{"c":[]}`, path: "c[name=a]", wanted: `{"name":"a"}`,
			text: `[{"op":"test","path":"/c","value":[]},{"op":"add","path":"/c/0","value":{"name":"a"}}]`,
		},
		"an item of a set": {
			declared: `{"s":["a","b"]}`, live: `{"s":["b"]}`, path: "s[=a]", wanted: `"a"`,
			text: `[{"op":"test","path":"/s/0","value":"b"},{"op":"add","path":"/s/0","value":"a"}]`,
		},
		"not declared":               {declared: `{"c":[{"name":"a"}]}`, live: `{"c":[]}`, path: "c[name=b]", wanted: `{"name":"b"}`, why: "the declaration has no such element, or more than one"},
		"by position":                {declared: `{"c":["a"]}`, live: `{"c":[]}`, path: "c[0]", wanted: `"a"`, why: "its position in the list is not known, and the order counts"},
		"in an element that is gone": {declared: `{"c":[{"name":"a","x":1}]}`, live: `{"c":[]}`, path: "c[name=a].x", wanted: `1`, why: "the live list has no such element, or more than one"},
		"there already":              {declared: `{"m":{"a":1}}`, live: `{"m":{"a":2}}`, path: "m.a", wanted: `1`, why: "the live object has a value at its path"},
		"below a scalar":             {declared: `{"m":{"a":1}}`, live: `{"m":2}`, path: "m.a", wanted: `1`, why: "the live object has nothing at its path"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			declared, live, wanted := parsed(t, tt.declared), parsed(t, tt.live), parsed(t, tt.wanted)
			p := jsonpatch.Patch{Live: &live, Declared: &declared}
			if why := p.Set(tt.path, nil, &wanted); why != tt.why {
				t.Fatalf("got %q, want %q", why, tt.why)
			}
			if tt.why != "" {
				return
			}
			if diff := cmp.Diff(tt.text, p.Text()); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
			if _, err := jsonpatchtest.Apply(decoded(live), []byte(p.Text())); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	live := parsed(t, `{"c":[{"name":"a","x":1},{"name":"b"},{"name":"b"}]}`)
	for path, want := range map[string]string{
		"c[name=a].x": "1", "c[name=a].y": "none", "c[name=b].x": "the live list has no such element, or more than one",
		"d.e": "none", "c[": "its path cannot be translated", "c[name=z]": "none",
	} {
		found, why := jsonpatch.Find(live, path)
		got := why
		switch {
		case why == "" && found == nil:
			got = "none"
		case why == "":
			got = string(found.AppendJSON(nil))
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestFindDeclared(t *testing.T) {
	t.Parallel()
	declared := parsed(t, `{"p":[{"port":80,"name":"a"},{"port":81},{"port":81}],"s":["x"]}`)
	for path, want := range map[string]string{
		"p[port=80,protocol=TCP].name": `"a"`, "p[port=81,protocol=TCP]": "none", "s[=x]": `"x"`, "s[=y]": "none", "q.r": "none",
	} {
		found, why := jsonpatch.FindDeclared(declared, path)
		got := "none"
		if found != nil {
			got = string(found.AppendJSON(nil))
		}
		if got != want || why != "" {
			t.Errorf("%s: got %s, %q, want %s", path, got, why, want)
		}
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	object, one := parsed(t, `{"c":[{"name":"a","x":0}],"s":["x","y"]}`), model.IntOf(1)
	for path, want := range map[string]string{
		"c[name=a].x": `{"c":[{"name":"a","x":1}],"s":["x","y"]}`, "c[name=b].x": `{"c":[{"name":"a","x":0}],"s":["x","y"]}`,
	} {
		if got := string(jsonpatch.With(object, path, &one).AppendJSON(nil)); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	if got, want := string(jsonpatch.With(object, "s[=x]", nil).AppendJSON(nil)), `{"c":[{"name":"a","x":0}],"s":["y"]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func parsed(t *testing.T, text string) model.Value {
	t.Helper()
	v, err := decode.JSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
