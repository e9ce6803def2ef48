package diff

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// ownerNames formats the names of owners as one line.
func ownerNames(owners []*model.Owner) string {
	var names []string
	for _, o := range owners {
		names = append(names, o.Name)
	}
	return strings.Join(names, " ")
}

// ownersOf returns the writers of a resource with these owners.
func ownersOf(t *testing.T, declared, live string, owners ...model.Owner) *writers {
	t.Helper()
	schema := testSchema()
	schema.Fields["frame"] = &model.Schema{Atomic: true, Each: &model.Schema{}}
	return &writers{schema: schema, declared: value(t, declared), controller: func(name string) bool { return strings.HasPrefix(name, "ctrl") },
		live: &model.Resource{Value: value(t, live), Created: created, Owners: owners}}
}

// TestOwnersOf returns the owners of a node, or of its closest owned parent.
func TestOwnersOf(t *testing.T) {
	t.Parallel()
	owner := func(name string, paths ...string) model.Owner { return model.Owner{Name: name, Fields: set(paths...)} }
	scale := owner("scale", "port")
	scale.Through = "scale"
	env := value(t, `{"name":"A","value":"1"}`)
	element := elementSegment(testSchema().Fields["env"], &env)
	for _, tc := range []struct {
		reason string
		path   path
		owners []model.Owner
		want   string
	}{
		{"nobody", path{fieldSegment("port")}, nil, ""},
		{"who has another field", path{fieldSegment("port")}, []model.Owner{owner("a", "cpu")}, ""},
		{"who has the field", path{fieldSegment("port")}, []model.Owner{owner("a", "port"), owner("b", "cpu")}, "a"},
		{"two who have the field", path{fieldSegment("port")}, []model.Owner{owner("a", "port"), owner("b", "port")}, "a b"},
		{"another subresource counts", path{fieldSegment("port")}, []model.Owner{scale}, "scale"},
		{"who has a field of the map", path{fieldSegment("probe"), fieldSegment("path")}, []model.Owner{owner("a", "probe/path"), owner("b", "probe/every")}, "a"},
		{"who has the map alone has no field of it", path{fieldSegment("probe"), fieldSegment("path")}, []model.Owner{owner("a", "probe")}, ""},
		{"who has the map has the map", path{fieldSegment("probe")}, []model.Owner{owner("a", "probe/path"), owner("b", "probe")}, "a b"},
		{"who has an atomic map has its fields", path{fieldSegment("frame"), fieldSegment("x")}, []model.Owner{owner("a", "frame")}, "a"},
		{"who has a list has its elements", path{fieldSegment("args"), indexSegment(1, 1)}, []model.Owner{owner("a", "args")}, "a"},
		{"who has a list has what is in its elements", path{fieldSegment("rules"), indexSegment(0, 0), fieldSegment("port")}, []model.Owner{owner("a", "rules")}, "a"},
		{"who has a named element", path{fieldSegment("env"), element}, []model.Owner{owner("a", `env/{"name":"A"}`), owner("b", `env/{"name":"B"}`)}, "a"},
		{"who has a field of a named element", path{fieldSegment("env"), element, fieldSegment("value")},
			[]model.Owner{owner("a", `env/{"name":"A"}`), owner("b", `env/{"name":"A"}/value`)}, "b"},
		{"the closest goes before the first", path{fieldSegment("frame"), fieldSegment("x")}, []model.Owner{owner("a", "frame"), owner("b", "frame/x")}, "b"},
		{"and stays when a farther one follows", path{fieldSegment("frame"), fieldSegment("x")}, []model.Owner{owner("b", "frame/x"), owner("a", "frame")}, "b"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			if got := ownerNames(ownersOf(t, `{}`, `{}`, tc.owners...).ownersAt(tc.path)); got != tc.want {
				t.Errorf("owners of %s: %q, want %q", tc.path, got, tc.want)
			}
		})
	}
}

// TestAtomicDepth counts the steps to the first node that is owned as one.
func TestAtomicDepth(t *testing.T) {
	t.Parallel()
	env := value(t, `{"name":"A"}`)
	w := ownersOf(t, `{}`, `{}`)
	for _, tc := range []struct {
		path path
		want int
	}{
		{path{}, 0},
		{path{fieldSegment("port")}, 1},
		{path{fieldSegment("probe"), fieldSegment("path")}, 2},
		{path{fieldSegment("frame"), fieldSegment("x")}, 1},
		{path{fieldSegment("frame"), fieldSegment("x"), fieldSegment("y")}, 1},
		{path{fieldSegment("args"), indexSegment(0, 0)}, 1},
		{path{fieldSegment("rules"), indexSegment(0, 0), fieldSegment("port")}, 1},
		{path{fieldSegment("env"), elementSegment(testSchema().Fields["env"], &env), fieldSegment("value")}, 3},
		{path{fieldSegment("unknown"), fieldSegment("below")}, 2},
	} {
		if got := w.atomicDepth(tc.path); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.path, got, tc.want)
		}
	}
}

// TestApplier returns the writer that applies the declaration.
func TestApplier(t *testing.T) {
	t.Parallel()
	owner := func(name string, paths ...string) model.Owner {
		return model.Owner{Name: name, At: later, Fields: set(paths...)}
	}
	with := func(o model.Owner, change func(*model.Owner)) model.Owner {
		change(&o)
		return o
	}
	const declared, live = `{"port":1,"cpu":1,"mode":"x","labels":{"a":"1"}}`, `{"port":2,"cpu":1,"mode":"x","labels":{"a":"1"}}`
	for _, tc := range []struct {
		reason string
		owners []model.Owner
		want   string
	}{
		{"nobody wrote it", nil, ""},
		{"who left the record", []model.Owner{owner("a", "cpu", "mode"), with(owner("b"), func(o *model.Owner) { o.Records = true })}, "b"},
		{"who has what is declared", []model.Owner{owner("a", "cpu")}, "a"},
		{"who has more of it", []model.Owner{owner("a", "cpu"), owner("b", "mode", "labels/a")}, "b"},
		{"of two with as much the first", []model.Owner{owner("a", "cpu"), owner("b", "mode")}, "a"},
		{"of two with as much who has less that differs", []model.Owner{owner("a", "cpu", "port"), owner("b", "mode")}, "b"},
		{"an editor is never it", []model.Owner{with(owner("a", "cpu", "mode"), func(o *model.Owner) { o.Edits = true })}, ""},
		{"a subresource is never it", []model.Owner{with(owner("a", "cpu"), func(o *model.Owner) { o.Through = "scale" })}, ""},
		{"who has only what differs", []model.Owner{owner("a", "port")}, ""},
		{"unless he made it", []model.Owner{with(owner("a", "port"), func(o *model.Owner) { o.At = created })}, "a"},
		{"or applies", []model.Owner{with(owner("a", "port"), func(o *model.Owner) { o.Applies = true })}, "a"},
		{"or delivers", []model.Owner{with(owner("a", "port"), func(o *model.Owner) { o.Delivers = true })}, "a"},
		{"who applies nothing of it", []model.Owner{with(owner("a", "verbs"), func(o *model.Owner) { o.Applies = true })}, ""},
		{"who made it and has nothing of it", []model.Owner{with(owner("a", "verbs"), func(o *model.Owner) { o.At = created })}, "a"},
		{"who made it, at no time", []model.Owner{with(owner("a", "port"), func(o *model.Owner) { o.At = time.Time{} })}, ""},
		{"who agrees goes before who made it", []model.Owner{with(owner("a", "port"), func(o *model.Owner) { o.At = created }), owner("b", "cpu")}, "b"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			w := ownersOf(t, declared, live, tc.owners...)
			for range 2 { // The second call returns the same.
				got := ""
				if o := w.applier(); o != nil {
					got = o.Name
				}
				if got != tc.want {
					t.Errorf("declarer %q, want %q", got, tc.want)
				}
			}
		})
	}
}

// TestIsApplier checks that the declarer is identified by its name and operation.
func TestIsApplier(t *testing.T) {
	t.Parallel()
	w := ownersOf(t, `{"cpu":1}`, `{"cpu":1}`, model.Owner{Name: "ci", Applies: true, Fields: set("cpu")}, model.Owner{Name: "ctrl-x", Fields: set("port")})
	for _, tc := range []struct {
		reason string
		owner  model.Owner
		want   bool
	}{
		{"itself", model.Owner{Name: "ci", Applies: true}, true},
		{"another name", model.Owner{Name: "other", Applies: true}, false},
		{"the same name by an update", model.Owner{Name: "ci"}, false},
		{"the same name through a subresource", model.Owner{Name: "ci", Applies: true, Through: "scale"}, false},
		{"who leaves the record", model.Owner{Name: "other", Records: true}, true},
	} {
		if got := w.isApplier(&tc.owner); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
	if nobody := ownersOf(t, `{}`, `{}`); nobody.isApplier(&model.Owner{Name: "ci"}) {
		t.Error("somebody declares what nobody wrote")
	}
}

// TestIsController checks that a controller is identified by all of its accounts, or else by
// its name.
func TestIsController(t *testing.T) {
	t.Parallel()
	w := ownersOf(t, `{}`, `{}`)
	for _, tc := range []struct {
		reason string
		owner  model.Owner
		want   bool
	}{
		{"by name", model.Owner{Name: "ctrl-a"}, true},
		{"another name", model.Owner{Name: "kubectl"}, false},
		{"by account", model.Owner{Name: "kubectl", Accounts: []string{"ctrl-a"}}, true},
		{"by all accounts", model.Owner{Name: "kubectl", Accounts: []string{"ctrl-a", "ctrl-b"}}, true},
		{"one account of a person", model.Owner{Name: "ctrl-a", Accounts: []string{"ctrl-a", "alice"}}, false},
		{"a person under the name of a controller", model.Owner{Name: "ctrl-a", Accounts: []string{"alice"}}, false},
	} {
		if got := w.isController(&tc.owner); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
	w.controller = nil
	if w.isController(&model.Owner{Name: "ctrl-a"}) || w.isController(&model.Owner{Name: "ctrl-a", Accounts: []string{"ctrl-a"}}) {
		t.Error("without a list of controllers somebody is one")
	}
}

// TestOverlapExceeds compares the overlaps of two writers with a declaration.
func TestOverlapExceeds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		t, u   overlap
		better bool
	}{
		{"agrees on more", overlap{agree: 2}, overlap{agree: 1}, true},
		{"agrees on fewer", overlap{agree: 1}, overlap{agree: 2}, false},
		{"agrees on more, though more differs", overlap{agree: 2, differ: 9}, overlap{agree: 1}, true},
		{"agrees on as much, fewer differ", overlap{agree: 1, differ: 1}, overlap{agree: 1, differ: 2}, true},
		{"agrees on as much, more differ", overlap{agree: 1, differ: 2}, overlap{agree: 1, differ: 1}, false},
		{"the same", overlap{agree: 1, differ: 1}, overlap{agree: 1, differ: 1}, false},
		{"agrees on nothing, more differ", overlap{differ: 2}, overlap{differ: 1}, true},
		{"agrees on nothing, fewer differ", overlap{differ: 1}, overlap{differ: 2}, false},
		{"nothing", overlap{}, overlap{}, false},
	} {
		if got := tc.t.exceeds(tc.u); got != tc.better {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.better)
		}
	}
	for _, tc := range []struct {
		t    overlap
		want bool
	}{
		{overlap{}, false},
		{overlap{agree: 1}, true},
		{overlap{made: true}, true},
		{overlap{delivers: true}, false},
		{overlap{delivers: true, differ: 1}, true},
		{overlap{differ: 1}, false},
	} {
		if got := tc.t.plausible(); got != tc.want {
			t.Errorf("plausible(%+v) = %v, want %v", tc.t, got, tc.want)
		}
	}
}

// TestOverlapCount counts the declared fields that one writer owns.
func TestOverlapCount(t *testing.T) {
	t.Parallel()
	const declared = `{"port":1,"cpu":1,"labels":{"a":"1","b":"2"},"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"args":["x"],"groups":"x"}`
	const live = `{"port":2,"cpu":1,"labels":{"a":"1"},"env":[{"name":"B","value":"9"},{"name":"A","value":"1"}],"args":["x"],"groups":"x"}`
	for _, tc := range []struct {
		paths []string
		want  overlap
	}{
		{nil, overlap{differ: 1}},
		{[]string{"cpu"}, overlap{agree: 1}},
		{[]string{"port"}, overlap{differ: 1}},
		{[]string{"verbs"}, overlap{}},
		{[]string{"labels"}, overlap{differ: 1}},
		{[]string{"labels/a", "labels/b"}, overlap{agree: 1, differ: 1}},
		{[]string{"args"}, overlap{agree: 1}},
		{[]string{`env/{"name":"A"}`}, overlap{agree: 1}},
		{[]string{`env/{"name":"B"}`}, overlap{differ: 1}},
		{[]string{`env/{"name":"A"}/value`, `env/{"name":"B"}/name`}, overlap{agree: 2}},
		{[]string{`env/{"name":"C"}`}, overlap{}},
		{[]string{"env"}, overlap{differ: 1}},
		{[]string{`verbs/{"name":"A"}`}, overlap{}},
		{[]string{`groups/{"name":"A"}`}, overlap{agree: 1}}, // A text in the place of a list is one value.
	} {
		fields := set(tc.paths...)
		var got overlap
		got.count(&fields, testSchema(), value(t, declared), value(t, live))
		if d := cmp.Diff(tc.want, got, cmp.AllowUnexported(overlap{})); d != "" {
			t.Errorf("%v (-want +got):\n%s", tc.paths, d)
		}
	}
}

// TestEditorsInOrder returns the writers since the last apply, in the order of the record.
func TestEditorsInOrder(t *testing.T) {
	t.Parallel()
	apply := model.Owner{Name: "ci", Applies: true, At: created.Add(time.Minute), Fields: set("cpu")}
	hand := func(name string, at time.Time) model.Owner {
		return model.Owner{Name: name, At: at, Fields: set("port")}
	}
	scaled := hand("scaled", later)
	scaled.Through = "scale"
	owners := []model.Owner{hand("b", later), apply, hand("before", created), hand("a", later), hand("ctrl-x", later), scaled, hand("with", apply.At)}
	live := &model.Resource{Value: value(t, `{"cpu":1,"port":1}`), Created: created, Owners: owners}
	s := subject(value(t, `{"cpu":1}`), live)
	w := newWalk(s, s.Claims[0], live.Value, Options{Controller: func(name string) bool { return strings.HasPrefix(name, "ctrl") }})
	if got := ownerNames(w.editorsSinceApply()); got != "b a with" {
		t.Errorf("hands %q, want b, a and with", got)
	}
	live.Owners = slices.DeleteFunc(slices.Clone(owners), func(o model.Owner) bool { return o.Applies })
	w = newWalk(s, s.Claims[0], live.Value, Options{})
	if got := ownerNames(w.editorsSinceApply()); got != "b a ctrl-x with" {
		t.Errorf("without an apply its maker declares it: hands %q, want all but the maker and the subresource", got)
	}
}
