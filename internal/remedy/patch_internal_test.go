package remedy

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

// TestQuoteRoundTrip checks that a real shell reads quoted words as they were.
func TestQuoteRoundTrip(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		var line command
		for _, word := range rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.StringMatching("[ -~]{0,12}")), 1, 8).Draw(r, "words") {
			if _, ok := quote(word); ok {
				line = append(line, word)
			}
		}
		text, ok := append(command{"printf", `%s\n`}, line...).text()
		if !ok || len(line) == 0 {
			return
		}
		out, err := exec.Command(shell, "-c", text).Output()
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff([]string(line), strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")); diff != "" {
			r.Fatalf("%s (-want +got):\n%s", text, diff)
		}
	})
}

func TestQuoteRefusesHiddenCharacters(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"a\nb", "\x1b[2J", "\x00", "\xff", "\u202e", "\u200b", "\r"} {
		if quoted, ok := quote(word); ok {
			t.Errorf("%q was quoted as %q", word, quoted)
		}
	}
}

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
		var p patch
		for i := range changes {
			if why := p.change(&object, &changes[i], changes[i].Declared); why != "" {
				r.Fatalf("%s: %s", changes[i].Path, why)
			}
		}
		got, err := applyPatch(object, p.text())
		if err != nil {
			r.Fatal(err)
		}
		want := decoded(model.MapOf(model.Field{Name: "env", Value: model.ListOf(declared...)}))
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatalf("%s (-want +got):\n%s", p.text(), diff)
		}
		if len(changes) == 0 {
			return
		}
		moved := append([]model.Value{entry("new", "x")}, live...)
		if got, err := applyPatch(model.MapOf(model.Field{Name: "env", Value: model.ListOf(moved...)}), p.text()); err == nil {
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
	if fields, ok := tree.(map[string]any); ok && fields["env"] == nil {
		fields["env"] = []any{}
	}
	return tree
}

// applyPatch applies the operations that driftd writes, to a list of maps below one field.
func applyPatch(object model.Value, text string) (any, error) {
	var operations []struct {
		Op, Path string
		Value    any
	}
	if err := json.Unmarshal([]byte(text), &operations); err != nil {
		return nil, err
	}
	tree := decoded(object)
	for _, o := range operations {
		steps := strings.Split(o.Path, "/")[1:]
		list := tree.(map[string]any)[steps[0]].([]any)
		n, err := strconv.Atoi(steps[1])
		if err != nil || n >= len(list) {
			return nil, fmt.Errorf("no element %s", steps[1])
		}
		at := list[n]
		if len(steps) == 3 {
			at = list[n].(map[string]any)[steps[2]]
		}
		switch {
		case o.Op == "test" && !cmp.Equal(at, o.Value):
			return nil, fmt.Errorf("test of %s failed", o.Path)
		case o.Op == "replace":
			list[n].(map[string]any)[steps[2]] = o.Value
		case o.Op == "remove":
			tree.(map[string]any)[steps[0]] = slices.Delete(list, n, n+1)
		}
	}
	return tree, nil
}
