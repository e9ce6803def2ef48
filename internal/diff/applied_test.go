package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestNewRecord returns the last applied values: the declaration's own record or else the
// record on the resource, in the form of the claim.
func TestNewRecord(t *testing.T) {
	t.Parallel()
	port := func(n int64) *model.Value {
		return pointer(model.MapOf(model.Field{Name: "port", Value: model.IntOf(n)}))
	}
	for _, tc := range []struct {
		reason string
		live   model.Resource
		claim  model.Claim
		want   string
	}{
		{"none", model.Resource{}, model.Claim{Value: *port(1)}, "part -"},
		{"a state has the applied values", model.Resource{}, model.Claim{Value: *port(1), RecordOnly: true}, `whole {"port":1}`},
		{"a state goes before the resource", model.Resource{LastApplied: port(2)}, model.Claim{Value: *port(1), RecordOnly: true}, `whole {"port":1}`},
		{"the declaration's record", model.Resource{}, model.Claim{Value: *port(1), Recorded: port(3)}, `whole {"port":3}`},
		{"the declaration's record goes before the resource", model.Resource{LastApplied: port(2)}, model.Claim{Value: *port(1), Recorded: port(3)}, `whole {"port":3}`},
		{"the resource's record", model.Resource{LastApplied: port(2)}, model.Claim{Value: *port(1)}, `whole {"port":2}`},
		{"the resource's record in the form of the source", model.Resource{LastApplied: port(2)}, model.Claim{Value: *port(1), Written: port(2)}, `whole {"port":1}`},
		{"the resource's record of another value", model.Resource{LastApplied: port(3)}, model.Claim{Value: *port(1), Written: port(2)}, `whole {"port":3}`},
	} {
		r := newRecord(&tc.live, &tc.claim)
		got := map[bool]string{true: "whole ", false: "part "}[r.whole] + texts(r.value)
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
		}
	}
}

// TestCanonicalizedRecord converts a record with the written value to the form of the source.
func TestCanonicalizedRecord(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, recorded, written, canonical, want string }{
		{"as it was written", `"1000m"`, `"1000m"`, `"1"`, `"1"`},
		{"another value", `"2000m"`, `"1000m"`, `"1"`, `"2000m"`},
		{"one field of two", `{"a":"x","b":"y"}`, `{"a":"x","b":"z"}`, `{"a":"X","b":"Z"}`, `{"a":"X","b":"y"}`},
		{"a field that is written no more", `{"a":"x","b":"y"}`, `{"a":"x"}`, `{"a":"X"}`, `{"a":"X","b":"y"}`},
		{"a field that the source adds", `{"a":"y"}`, `{"a":"x"}`, `{"a":"X","b":"Z"}`, `{"a":"y"}`},
		{"an element of two", `["x","y"]`, `["x","z"]`, `["X","Z"]`, `["X","y"]`},
		{"lists of other lengths", `["x","y"]`, `["x"]`, `["X"]`, `["x","y"]`},
		{"the source made another list of it", `["x","y"]`, `["x","z"]`, `["X"]`, `["x","y"]`},
		{"below maps and lists", `{"l":[{"a":"x","b":1}]}`, `{"l":[{"a":"x","b":2}]}`, `{"l":[{"a":"X","b":2}]}`, `{"l":[{"a":"X","b":1}]}`},
		{"a map became a text", `{"a":"x"}`, `"x"`, `"X"`, `{"a":"x"}`},
	} {
		got := texts(canonicalRecord(value(t, tc.recorded), value(t, tc.written), value(t, tc.canonical)))
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
		}
	}
}

// TestBySystem checks that a live value that was never applied is the system's own if the
// system fills it in, or if no writer except the declarer owns it.
func TestBySystem(t *testing.T) {
	t.Parallel()
	apply := model.Owner{Name: "apply", Applies: true, At: created, Fields: set("cpu", "port")}
	applyCPU := apply
	applyCPU.Fields = set("cpu")
	hand := model.Owner{Name: "hand", At: later, Fields: set("port")}
	for _, tc := range []struct {
		reason string
		live   string
		owners []model.Owner
		want   bool
	}{
		{"nothing is the system's", ``, nil, true},
		{"an empty value is the system's", `0`, []model.Owner{apply, hand}, true},
		{"another value without a record of owners is not", `2`, nil, false},
		{"a value that only the declarer owns is", `2`, []model.Owner{apply}, true},
		{"an unowned value is", `2`, []model.Owner{applyCPU}, true},
		{"an owned value is not", `2`, []model.Owner{applyCPU, hand}, false},
		{"a value with a second owner is not", `2`, []model.Owner{apply, hand}, false},
	} {
		s := subject(value(t, `{"cpu":1}`), &model.Resource{Value: value(t, `{"cpu":1,"port":2}`), Created: created, Owners: tc.owners})
		if got := walkAt(s, "port").bySystem(nil, value(t, tc.live)); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
}

// TestDeclaredLaterThan checks that a declared field that is not live was declared after the
// last apply if the declaration has a later time, or if no other writer can have removed it.
func TestDeclaredLaterThan(t *testing.T) {
	t.Parallel()
	hand := model.Owner{Name: "hand", At: later, Fields: set("spec/port")}
	noted := model.Owner{Name: "hand", At: later, Fields: set("metadata/labels")}
	for _, tc := range []struct {
		reason     string
		path       []string
		since      float64
		applied    float64
		generation int64
		others     []model.Owner
		want       bool
	}{
		{"declared after the last apply", []string{"spec"}, 3, 2, 5, []model.Owner{hand}, true},
		{"declared when it was applied", []string{"spec"}, 2, 2, 1, nil, false},
		{"declared before the last apply", []string{"spec"}, 1, 2, 1, nil, false},
		{"never changed since it was made", []string{"spec"}, 0, 0, 1, []model.Owner{hand}, true},
		{"changes are not counted", []string{"spec"}, 0, 2, 0, nil, false},
		{"changed by applies alone", []string{"spec"}, 0, 2, 3, nil, true},
		{"changed by applies, and a hand on metadata", []string{"spec"}, 0, 2, 3, []model.Owner{noted}, true},
		{"changed by a hand", []string{"spec"}, 0, 2, 3, []model.Owner{hand}, false},
		{"changed, and applied when it was made", []string{"spec"}, 0, 0, 3, nil, false},
		{"metadata is not counted", []string{"metadata", "labels"}, 0, 2, 1, nil, false},
		{"metadata declared after the last apply", []string{"metadata", "labels"}, 3, 2, 1, nil, true},
		{"the resource itself", nil, 0, 2, 1, nil, false},
	} {
		apply := model.Owner{Name: "apply", Applies: true, At: hour(tc.applied), Fields: set("spec/cpu")}
		s := subject(value(t, `{"spec":{"cpu":1}}`), &model.Resource{Value: value(t, `{"spec":{"cpu":1}}`), Created: created, Generation: tc.generation,
			Owners: append([]model.Owner{apply}, tc.others...)})
		if tc.since > 0 {
			s.Claims[0].Since = hour(tc.since)
		}
		w := walkAt(s, tc.path...)
		if got := w.declaredLater(w.writers.applier()); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
}

// TestAppliedSince checks server-side applies, which do not update the resource's record.
func TestAppliedSince(t *testing.T) {
	t.Parallel()
	records := model.Owner{Name: "kubectl", Records: true, At: hour(2), Fields: set("cpu")}
	applies := model.Owner{Name: "argo", Applies: true, At: hour(3), Fields: set("port")}
	with := func(o model.Owner, change func(*model.Owner)) model.Owner {
		change(&o)
		return o
	}
	earlier := with(applies, func(o *model.Owner) { o.At = hour(1) })
	atOnce := with(applies, func(o *model.Owner) { o.At = hour(2) })
	updates := with(applies, func(o *model.Owner) { o.Applies = false })
	through := with(applies, func(o *model.Owner) { o.Through = "scale" })
	both := with(records, func(o *model.Owner) { o.Fields = set("cpu", "port") })
	unrecorded := with(records, func(o *model.Owner) { o.Records, o.Applies = false, true })
	record := value(t, `{"port":1}`)
	for _, tc := range []struct {
		reason string
		owners []model.Owner
		change func(*model.Subject)
		want   bool
	}{
		{"applied since", []model.Owner{records, applies}, nil, true},
		{"applied at the time of the record", []model.Owner{records, atOnce}, nil, true},
		{"applied before", []model.Owner{records, earlier}, nil, false},
		{"updated since", []model.Owner{records, updates}, nil, false},
		{"through a subresource", []model.Owner{records, through}, nil, false},
		{"the writer of the record has the field, too", []model.Owner{both, applies}, nil, false},
		{"no record", []model.Owner{unrecorded, applies}, nil, false},
		{"no owner", []model.Owner{records}, nil, false},
		{"the resource has no record", []model.Owner{records, applies}, func(s *model.Subject) { s.Live.LastApplied = nil }, false},
		{"the declaration has a record of its own", []model.Owner{records, applies}, func(s *model.Subject) { s.Claims[0].Recorded = &record }, false},
		{"a state has a record of its own", []model.Owner{records, applies}, func(s *model.Subject) { s.Claims[0].RecordOnly = true }, false},
	} {
		s := subject(value(t, `{"cpu":1}`), &model.Resource{Value: value(t, `{"cpu":1,"port":2}`), LastApplied: &record, Owners: tc.owners})
		if tc.change != nil {
			tc.change(s)
		}
		w := walkAt(s, "port")
		if got := w.appliedSince(w.writers.ownersAt(w.path)); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
}

// TestAppliedAsDeclared checks that a field that was applied as it is declared was changed,
// without further proof. Without a record it may be pending.
func TestAppliedAsDeclared(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason   string
		recorded string
		want     bool
	}{
		{"recorded as declared", `{"port":1}`, false},
		{"nothing recorded", ``, true},
	} {
		s := subject(value(t, `{"port":1}`), &model.Resource{Value: value(t, `{"port":2}`)})
		if tc.recorded != "" {
			s.Claims[0].Recorded = pointer(value(t, tc.recorded))
		}
		outcomes := Compare(s, Options{})
		if len(outcomes) != 1 || outcomes[0].Verdict != model.Changed || outcomes[0].Changes[0].Unproven != tc.want {
			t.Errorf("%s: %+v, want one change, unproven %v", tc.reason, outcomes, tc.want)
		}
	}
}

// TestAppliedBesideRecord checks that an apply that does not update the resource's record
// counts if the record is not as declared.
func TestAppliedBesideRecord(t *testing.T) {
	t.Parallel()
	records := model.Owner{Name: "kubectl", Records: true, At: hour(2), Fields: set("cpu")}
	applies := model.Owner{Name: "argo", Applies: true, At: hour(3), Fields: set("port")}
	edits := model.Owner{Name: "vim", At: hour(3), Fields: set("port")}
	for _, tc := range []struct {
		reason             string
		declared, recorded string
		owner              model.Owner
		want               string
	}{
		{"recorded as declared, another value applied", `{"port":1}`, `{"port":1}`, applies, "changed 1 2"},
		{"recorded as declared, another value set by hand", `{"port":1}`, `{"port":1}`, edits, "changed 1 2"},
		{"not recorded, another value applied", `{"port":1}`, `{}`, applies, "changed? - 2"},
		{"recorded otherwise, another value applied", `{"port":1}`, `{"port":3}`, applies, "changed? - 2"},
		{"recorded otherwise, another value set by hand", `{"port":1}`, `{"port":3}`, edits, "conflict 3 2"},
		{"recorded otherwise, the declared value applied", `{"port":2}`, `{"port":3}`, applies, ""},
		{"recorded otherwise, the declared value set by hand", `{"port":2}`, `{"port":3}`, edits, "codified 3 2"},
		{"recorded as live, and declared anew", `{"port":1}`, `{"port":2}`, edits, "pending? 2 2"},
	} {
		s := subject(value(t, tc.declared), &model.Resource{Value: value(t, `{"port":2}`), LastApplied: pointer(value(t, tc.recorded)),
			Created: created, Owners: []model.Owner{records, tc.owner}})
		got := ""
		for _, o := range Compare(s, Options{}) {
			got += string(o.Verdict)
			if o.Changes[0].Unproven {
				got += "?"
			}
			got += " " + texts(deref(o.Changes[0].Recorded), deref(o.Changes[0].Live))
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// TestDeclaredOverDefault checks that a declared value is pending if live has the default and
// no writer owns it.
func TestDeclaredOverDefault(t *testing.T) {
	t.Parallel()
	apply := model.Owner{Name: "apply", Applies: true, At: created, Fields: set("cpu")}
	hand := model.Owner{Name: "hand", At: later, Fields: set("verbs")}
	onMode := model.Owner{Name: "hand", At: later, Fields: set("mode")}
	for _, tc := range []struct {
		reason string
		live   string
		owners []model.Owner
		want   string
	}{
		{"the default", `{"cpu":1,"mode":"auto"}`, []model.Owner{apply, hand}, "pending mode apply"},
		{"the default, set by hand", `{"cpu":1,"mode":"auto"}`, []model.Owner{apply, hand, onMode}, "changed mode hand"},
		{"nothing at all", `{"cpu":1}`, []model.Owner{apply, hand}, "changed mode"},
		{"another value without an owner", `{"cpu":1,"mode":"off"}`, []model.Owner{apply, hand}, "changed mode"},
	} {
		s := subject(value(t, `{"cpu":1,"mode":"manual"}`), &model.Resource{Value: value(t, tc.live), Created: created, Generation: 5, Owners: tc.owners})
		if d := cmp.Diff(tc.want, show(Compare(s, Options{}))); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, d)
		}
	}
}

// TestDeclaredWhenApplied checks that a value of a writer without a record was applied as
// declared if a commit, a scan or the last ruling proves it.
func TestDeclaredWhenApplied(t *testing.T) {
	t.Parallel()
	one := value(t, `1`)
	old := by(t, "c1", "ann", `{"port":1}`)
	old.Until = model.Commit{Hash: "c2", When: hour(5)}
	pending := map[string]model.Ruling{"port": {Verdict: model.Pending, Live: &one}}
	unproven := map[string]model.Ruling{"port": {Verdict: model.Pending, Unproven: true, Live: &one}}
	other := map[string]model.Ruling{"port": {Verdict: model.Pending, Live: pointer(value(t, `7`))}}
	for _, tc := range []struct {
		reason   string
		edits    bool
		evidence *model.Evidence
		want     bool
	}{
		{"no evidence", false, nil, false},
		{"never declared", false, &model.Evidence{}, false},
		{"a commit declared it", false, &model.Evidence{Past: model.Past{Versions: []model.Version{old}}}, true},
		{"a scan read it as declared", false, &model.Evidence{Declared: observations(t, `2 {"port":1}`), Live: observations(t, `2 {"port":1}`)}, true},
		{"the last ruling stands", false, &model.Evidence{Past: model.Past{Gap: "cut"}, Rulings: pending, Live: observations(t, `2 {"port":1}`)}, true},
		{"the last ruling was unproven", false, &model.Evidence{Past: model.Past{Gap: "cut"}, Rulings: unproven, Live: observations(t, `2 {"port":1}`)}, false},
		{"the last ruling was on another value", false, &model.Evidence{Past: model.Past{Gap: "cut"}, Rulings: other, Live: observations(t, `2 {"port":1}`)}, false},
		{"the value moved since the last ruling", false, &model.Evidence{Past: model.Past{Gap: "cut"}, Rulings: pending, Live: observations(t, `2 {"port":9}`)}, false},
		{"by hand, as a commit declared it", true, &model.Evidence{Past: model.Past{Versions: []model.Version{old}}}, false},
		{"by hand, and read while it was declared", true, &model.Evidence{Declared: observations(t, `2 {"port":1}`), Live: observations(t, `2 {"port":1}`)}, true},
	} {
		s := subject(value(t, `{"port":2}`), &model.Resource{Value: value(t, `{"port":1}`), Created: created,
			Owners: []model.Owner{{Name: "writer", Edits: tc.edits, At: hour(2), Fields: set("port")}}})
		s.Claims[0].Evidence = tc.evidence
		if got := walkAt(s, "port").declaredWhenApplied(nil, model.IntOf(2), model.IntOf(1)); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
}
