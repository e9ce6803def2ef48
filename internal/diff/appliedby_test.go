package diff

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestAppliedValue returns the declared value at the time of the live value: absent if the
// system filled it in, otherwise the live value itself.
func TestAppliedValue(t *testing.T) {
	t.Parallel()
	apply := model.Owner{Name: "apply", Applies: true, At: created, Fields: set("cpu")}
	owns := func(name string, applies bool) model.Owner {
		return model.Owner{Name: name, Applies: applies, At: later, Fields: set("cpu", "mode")}
	}
	for _, tc := range []struct {
		reason   string
		recorded string
		live     string
		owners   []model.Owner
		want     string
	}{
		{"the system filled in the default", ``, `"auto"`, []model.Owner{apply}, `-`},
		{"without a record of owners, too", ``, `"auto"`, nil, `-`},
		{"the declarer owns the default", ``, `"auto"`, []model.Owner{owns("apply", true)}, `-`},
		{"somebody set the default", ``, `"auto"`, []model.Owner{apply, owns("hand", false)}, `"auto"`},
		{"another value is nobody's default", ``, `"manual"`, []model.Owner{apply}, `"manual"`},
		{"another value of the declarer", ``, `"manual"`, []model.Owner{owns("apply", true)}, `"manual"`},
		{"it was recorded", `"manual"`, `"auto"`, []model.Owner{apply}, `"auto"`},
		{"the default was recorded", `"auto"`, `"auto"`, []model.Owner{apply}, `"auto"`},
	} {
		s := subject(value(t, `{"cpu":1}`), &model.Resource{Value: value(t, `{"cpu":1}`), Created: created, Owners: tc.owners})
		w := walkAt(s, "mode")
		if got := texts(w.appliedValue(testSchema().Fields["mode"], value(t, tc.recorded), value(t, tc.live))); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
		}
	}
}

// TestInClaimForm returns earlier values of the resource in the form of the claim.
func TestInClaimForm(t *testing.T) {
	t.Parallel()
	s := subject(value(t, `{"ram":4}`), &model.Resource{Value: value(t, `{"memory":4}`)})
	if got := walkAt(s).inClaimForm(pointer(value(t, `{"memory":8}`))); texts(*got) != `{"memory":8}` {
		t.Errorf("without a lens: %s", texts(*got))
	}
	s.Claims[0].Lens = newRenamedLens(map[string]string{"ram": "memory"}, "")
	if got := walkAt(s).inClaimForm(pointer(value(t, `{"memory":8}`))); texts(*got) != `{"ram":8}` {
		t.Errorf("with a lens: %s", texts(*got))
	}
	if got := walkAt(s).inClaimForm(nil); got != nil {
		t.Errorf("a resource that was gone was seen as %s", texts(*got))
	}
}

// TestLastWriter returns the last writer of a field, or the declaration's writer if the field
// has no owner.
func TestLastWriter(t *testing.T) {
	t.Parallel()
	owner := func(name string, at float64, paths ...string) model.Owner {
		return model.Owner{Name: name, Applies: name == "apply", At: hour(at), Fields: set(paths...)}
	}
	for _, tc := range []struct {
		reason string
		owners []model.Owner
		want   string
	}{
		{"nobody writes anything", nil, ""},
		{"one owner", []model.Owner{owner("apply", 1, "cpu"), owner("hand", 2, "port")}, "hand"},
		{"the later of two", []model.Owner{owner("apply", 1, "cpu"), owner("a", 3, "port"), owner("b", 2, "port")}, "a"},
		{"the first of two at one time", []model.Owner{owner("apply", 1, "cpu"), owner("a", 2, "port"), owner("b", 2, "port")}, "a"},
		{"the declarer for a field without owners", []model.Owner{owner("apply", 1, "cpu"), owner("hand", 2, "mode")}, "apply"},
		{"nobody for a field without owners and declarer", []model.Owner{owner("hand", 2, "mode")}, ""},
	} {
		s := subject(value(t, `{"cpu":1}`), &model.Resource{Value: value(t, `{"cpu":1,"port":2}`), Created: created, Owners: tc.owners})
		got, at := "", walkAt(s, "port").lastWrite()
		if o := walkAt(s, "port").lastWriter(); o != nil {
			got = o.Name
			if !at.Equal(o.At) {
				t.Errorf("%s: written at %s, want %s", tc.reason, at, o.At)
			}
		} else if !at.IsZero() {
			t.Errorf("%s: written at %s by nobody", tc.reason, at)
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// TestWhoApplied names the actor that applied the live value. The record of owners can be
// forged: a different value that a scan read after the owner's last write disproves it, and so
// does a later write in the source's log.
func TestWhoApplied(t *testing.T) {
	t.Parallel()
	apply := model.Owner{Name: "apply", Applies: true, At: hour(1), Fields: set("cpu", "port")}
	applyCPU := apply
	applyCPU.Fields = set("cpu")
	edit := func(writer string, at float64) model.AuditEvent {
		return model.AuditEvent{Action: model.Edited, Writer: writer, Actor: model.Actor{Name: "alice", At: hour(at), Confidence: model.Exact, Evidence: "audit 1"}}
	}
	other := edit("curl", 3)
	other.Action = model.Created
	for _, tc := range []struct {
		reason string
		owners []model.Owner
		live   string
		seen   []model.Observation
		events []model.AuditEvent
		want   string
	}{
		{"the owner", []model.Owner{apply}, `2`, nil, nil, "apply"},
		{"no record of owners: the log", nil, `2`, nil, []model.AuditEvent{edit("", 3)}, "alice"},
		{"a later write of a writer that the record lacks", []model.Owner{apply}, `2`, nil, []model.AuditEvent{edit("curl", 3)}, "alice"},
		{"an earlier write of a writer that the record lacks", []model.Owner{apply}, `2`, nil, []model.AuditEvent{edit("curl", 0.5)}, "apply"},
		{"a write at the same time", []model.Owner{apply}, `2`, nil, []model.AuditEvent{edit("curl", 1)}, "apply"},
		{"a later write without a writer", []model.Owner{apply}, `2`, nil, []model.AuditEvent{edit("", 3)}, "apply"},
		{"a later write of a writer of the record", []model.Owner{apply}, `2`, nil, []model.AuditEvent{edit("apply", 3)}, "apply"},
		{"the creation is no edit", []model.Owner{apply}, `2`, nil, []model.AuditEvent{other}, "apply"},
		{"a forged time: another value was read after it", []model.Owner{apply}, `2`, observations(t, `2 {"port":1}`), []model.AuditEvent{edit("apply", 3)}, "alice"},
		{"the same value was read after it", []model.Owner{apply}, `2`, observations(t, `2 {"port":2}`), []model.AuditEvent{edit("apply", 3)}, "apply"},
		{"another value was read before it", []model.Owner{apply}, `2`, observations(t, `0.5 {"port":1}`), []model.AuditEvent{edit("apply", 3)}, "apply"},
		{"the resource was gone after it", []model.Owner{apply}, `2`, observations(t, `2 gone`), []model.AuditEvent{edit("apply", 3)}, "alice"},
		{"a forged time without a log", []model.Owner{apply}, `2`, observations(t, `2 {"port":1}`), nil, "apply"},
		{"a field that was removed since", []model.Owner{applyCPU}, ``, observations(t, `2 {"port":1}`), nil,
			"unknown: managedFields keeps no trace of who removed a field"},
		{"a field that was removed with its owner left behind", []model.Owner{applyCPU, {Name: "hand", At: hour(1), Fields: set("port")}}, ``,
			observations(t, `2 {"port":1}`), nil, "hand"},
		{"a field that never was", []model.Owner{applyCPU}, ``, nil, nil, "apply"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			s := subject(value(t, `{"cpu":1,"port":3}`), &model.Resource{Value: value(t, `{"cpu":1}`), Created: created, OwnersFrom: "managedFields", Owners: tc.owners})
			s.AuditEvents, s.Claims[0].Evidence = tc.events, &model.Evidence{Live: tc.seen}
			if got := who(walkAt(s, "port").appliedBy(nil, value(t, tc.live))); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestLaterWriteIsLikely checks that a later write in the log does not prove the writer of the
// field.
func TestLaterWriteIsLikely(t *testing.T) {
	t.Parallel()
	s := subject(value(t, `{"port":3}`), &model.Resource{Value: value(t, `{"port":2}`), OwnersFrom: "managedFields",
		Owners: []model.Owner{{Name: "apply", Applies: true, At: hour(1), Fields: set("port")}}})
	s.AuditEvents = []model.AuditEvent{{Writer: "curl", Actor: model.Actor{Name: "alice", At: hour(3), Confidence: model.Exact, Evidence: "audit 1"}}}
	got := walkAt(s, "port").appliedBy(nil, model.IntOf(2))
	if want := "audit 1, a later write than the one that managedFields records"; got.Confidence != model.Likely || got.Evidence != want {
		t.Errorf("%s %q, want likely %q", got.Confidence, got.Evidence, want)
	}
	if s.AuditEvents[0].Actor.Confidence != model.Exact {
		t.Error("the entry of the log was changed")
	}
}

// TestDestroyed reports whether a resource was deleted while it was declared.
func TestDestroyed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason         string
		declared, live []string
		want           bool
	}{
		{"nothing was read", nil, nil, false},
		{"it was live and declared, and went", []string{`1 {}`}, []string{`3 gone`, `1 {}`}, true},
		{"it went in this scan", []string{`1 {}`}, []string{`1 {}`}, true},
		{"it went before it was declared", []string{`4 {}`}, []string{`3 gone`, `1 {}`}, false},
		{"it went when it was declared", []string{`3 {}`}, []string{`3 gone`, `1 {}`}, false},
		{"another declaration of it does not count anew", []string{`5 {"port":2}`, `1 {"port":1}`}, []string{`3 gone`, `1 {}`}, true},
		{"it was declared again after it went", []string{`5 {}`, `2 gone`, `1 {}`}, []string{`3 gone`, `1 {}`}, false},
		{"it is declared no longer", []string{`2 gone`, `1 {}`}, []string{`3 gone`, `1 {}`}, false},
		{"it never was live", []string{`1 {}`}, []string{`3 gone`, `1 gone`}, false},
		{"its live side was not read", []string{`1 {}`}, nil, false},
		{"its declaration was not read", nil, []string{`3 gone`, `1 {}`}, false},
		{"only its last time counts", []string{`4 {}`}, []string{`5 gone`, `4 {}`, `3 gone`, `1 {}`}, true},
	} {
		e := &model.Evidence{Declared: observations(t, tc.declared...), Live: observations(t, tc.live...)}
		if got := destroyed(e); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
}
