package diff

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestAuditedActors has a log beside the record of owners: it names the user of
// a field's owner, and where nobody owns a field that went, who edited since the
// last apply.
func TestAuditedActors(t *testing.T) {
	t.Parallel()
	hand := model.Owner{Name: "edit", Edits: true, At: later, Fields: set("port")}
	signed := hand
	signed.User, signed.Evidence = "alice", "audit 1, edit"
	shared := signed
	shared.Before = []string{"bob"}
	edit := func(user, writer string, after time.Duration, fields ...string) model.Trace {
		t := model.Trace{Deed: model.Edited, Fields: fields, Writer: writer, Actor: model.Actor{Name: user, At: created.Add(after), Via: model.AuditLog,
			Evidence: "audit " + user, Confidence: model.Likely}}
		if len(fields) > 0 {
			t.Actor.Confidence = model.Exact
		}
		return t
	}
	const hour = time.Hour
	other := model.Owner{Name: "edit", Edits: true, At: later, Fields: set("status")}
	const changed, removed, declared = `{"port":2,"cpu":1}`, `{"cpu":1}`, `{"port":1,"cpu":1}`
	const alices, nobody = "alice audit log likely: audit alice", "unknown  unknown: managedFields keeps no trace of who removed a field"
	several := func(names string) string { return nobody + ", and several wrote since the last apply: " + names }
	tests := map[string]struct {
		reason string
		live   string
		owners []model.Owner
		traces []model.Trace
		want   string
	}{
		"unsigned":     {"the record alone names the tool", changed, []model.Owner{hand}, nil, "edit managedFields likely: update"},
		"signed":       {"the record names the field, the log the user", changed, []model.Owner{signed}, nil, "alice audit log exact: audit 1, edit"},
		"a shared one": {"whose field it is, nobody tells", changed, []model.Owner{shared}, nil, "alice audit log likely: audit 1, edit, used before by bob"},
		"an edit of all that is owned": {"the owner tells more than the log", changed, []model.Owner{signed}, []model.Trace{edit("bob", "patch", 2*hour)},
			"alice audit log exact: audit 1, edit"},
		"removed":         {"one person alone can have done it", removed, nil, []model.Trace{edit("alice", "edit", hour), edit("alice", "patch", 2*hour)}, alices},
		"removed by one":  {"or the other", removed, nil, []model.Trace{edit("bob", "edit", hour), edit("alice", "patch", 2*hour)}, several("alice, bob")},
		"applied since":   {"the apply would have brought it back", removed, nil, []model.Trace{edit("bob", "edit", -hour), edit("alice", "patch", 2*hour)}, alices},
		"by the declarer": {"it applies what is declared", removed, nil, []model.Trace{edit("ci", "apply", 2*hour)}, nobody},
		"by a controller": {"it writes beside", removed, nil, []model.Trace{edit("alice", "edit", hour), edit("system", "controller", 2*hour)}, alices},
		"created":         {"who made it did not remove it", removed, nil, []model.Trace{{Deed: model.Created, Writer: "edit", Actor: model.Actor{Name: "bob", At: later}}}, nobody},
		"another hand":    {"it may have done it as well", removed, []model.Owner{other}, []model.Trace{edit("alice", "patch", 2*hour)}, several("alice, edit")},
		"that hand":       {"it is the one of the log", removed, []model.Owner{other}, []model.Trace{edit("alice", "edit", hour)}, alices},
		"named": {"the entry names the field", removed, nil, []model.Trace{edit("bob", "edit", 0), edit("alice", "apply", hour, "port")},
			"alice audit log exact: audit alice"},
		"named before":  {"an edit since may have written it too", removed, nil, []model.Trace{edit("alice", "apply", hour, "port"), edit("bob", "edit", 2*hour)}, nobody},
		"another named": {"it wrote something else", removed, nil, []model.Trace{edit("alice", "apply", hour, "mode")}, nobody},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live := &model.Resource{Value: value(t, tt.live), Created: created.Add(-hour), Generation: 3, OwnersFrom: "managedFields",
				Owners: append([]model.Owner{{Name: "apply", Applies: true, At: created, Fields: set("cpu")}}, tt.owners...)}
			s := subject(value(t, declared), live)
			s.Claims[0].Recorded = pointer(value(t, declared))
			s.Traces = tt.traces
			outcomes := Compare(s, Options{Controller: func(name string) bool { return name == "controller" }})
			if len(outcomes) != 1 {
				t.Fatalf("outcomes: %s", show(outcomes))
			}
			a := outcomes[0].Actor
			if got := fmt.Sprint(a.Name, " ", a.Via, " ", a.Confidence, ": ", a.Evidence, a.Reason); got != tt.want {
				t.Errorf("%s: %s\nwant %s", tt.reason, got, tt.want)
			}
		})
	}
}

// TestMaker has somebody make an object anew without a field that is declared, and
// perhaps somebody else edit it since.
func TestMaker(t *testing.T) {
	t.Parallel()
	maker := model.Owner{Name: "create", At: created, Fields: set("cpu"), User: "alice", Evidence: "audit 1, create"}
	hand := model.Owner{Name: "edit", Edits: true, At: later, Fields: set("mode"), User: "bob", Evidence: "audit 2, edit"}
	for _, tc := range []struct {
		reason string
		owners []model.Owner
		want   string
	}{
		{"nobody else wrote it", []model.Owner{maker}, "alice likely: audit 1, create, which made the object without the field"},
		{"another one may have removed it", []model.Owner{maker, hand}, "bob likely: audit 2, edit beside the removed field, the only one since the last apply"},
	} {
		live := &model.Resource{Value: value(t, `{"probe":{"path":"/x"}}`), Created: created, OwnersFrom: "managedFields", Owners: tc.owners}
		live.Owners[len(live.Owners)-1].Fields = set("probe/path")
		s := subject(value(t, `{"probe":{"path":"/x","every":5}}`), live)
		outcomes := Compare(s, Options{})
		if len(outcomes) != 1 {
			t.Fatalf("%s: outcomes: %s", tc.reason, show(outcomes))
		}
		if a := outcomes[0].Actor; fmt.Sprint(a.Name, " ", a.Confidence, ": ", a.Evidence) != tc.want {
			t.Errorf("%s: %+v, want %s", tc.reason, a, tc.want)
		}
	}
}

// TestSeveralUsedTheTool has two people use the one tool that wrote beside a field
// that went: neither is named as who removed it.
func TestSeveralUsedTheTool(t *testing.T) {
	t.Parallel()
	hand := model.Owner{Name: "patch", At: later, Fields: set("probe"), User: "alice", Evidence: "audit 2, patch", Before: []string{"bob"}}
	live := &model.Resource{Value: value(t, `{"probe":{"path":"/x"}}`), Created: created.Add(-time.Hour), Generation: 3, OwnersFrom: "managedFields",
		Owners: []model.Owner{{Name: "apply", Applies: true, At: created, Fields: set("probe/path")}, hand}}
	s := subject(value(t, `{"probe":{"path":"/x","every":5}}`), live)
	s.Claims[0].Recorded = pointer(s.Claims[0].Value)
	outcomes := Compare(s, Options{})
	if len(outcomes) != 1 || outcomes[0].Actor.Confidence != model.Unknown || !strings.HasSuffix(outcomes[0].Actor.Reason, ": alice, bob") {
		t.Errorf("outcomes %+v, want one by nobody, of which alice and bob are told", outcomes)
	}
}

// TestHandBeside has one hand that wrote beside a field that went.
func TestHandBeside(t *testing.T) {
	t.Parallel()
	hand := model.Owner{Name: "edit", Edits: true, At: later, Fields: set("probe"), User: "alice", Evidence: "audit 1, edit"}
	live := &model.Resource{Value: value(t, `{"probe":{"path":"/x"}}`), Created: created.Add(-time.Hour), Generation: 3, OwnersFrom: "managedFields",
		Owners: []model.Owner{{Name: "apply", Applies: true, At: created, Fields: set("probe/path")}, hand}}
	s := subject(value(t, `{"probe":{"path":"/x","every":5}}`), live)
	s.Claims[0].Recorded = pointer(s.Claims[0].Value)
	outcomes := Compare(s, Options{})
	if len(outcomes) != 1 {
		t.Fatalf("outcomes: %s", show(outcomes))
	}
	if a := outcomes[0].Actor; a.Name != "alice" || a.Confidence != model.Likely {
		t.Errorf("who removed a field beside others is likely, not certain: %+v", a)
	}
}

// TestDisputeAndAHand has two declarations that differ, and somebody who made the
// field a third value: who came last is named.
func TestDisputeAndAHand(t *testing.T) {
	t.Parallel()
	author := func(after time.Duration) []model.Trace {
		return []model.Trace{{Actor: model.Actor{Name: "gita", At: created.Add(after), Via: "git", Confidence: model.Likely}}}
	}
	hand := model.Owner{Name: "edit", Edits: true, At: later, Fields: set("port"), User: "bob", Evidence: "audit 1, edit"}
	apply := model.Owner{Name: "apply", Applies: true, At: created, Fields: set("port")}
	const twice = "two declarations differ; nobody needs to have touched the resource"
	tests := map[string]struct {
		reason, live string
		owners       []model.Owner
		wrote        []model.Trace
		want         string
	}{
		"a hand":              {"it made the value that none declares", `{"port":3}`, []model.Owner{hand}, author(0), "bob"},
		"a commit since":      {"it came last", `{"port":3}`, []model.Owner{hand}, author(2 * time.Hour), "gita"},
		"nobody's commit":     {"the hand is known all the same", `{"port":3}`, []model.Owner{hand}, nil, "bob"},
		"as one declares":     {"nobody needs to have touched it", `{"port":2}`, []model.Owner{apply}, nil, "unknown " + twice},
		"in another spelling": {"that is the same", `{"port":"2"}`, []model.Owner{apply}, nil, "unknown " + twice},
		"applied otherwise":   {"who applied it did", `{"port":3}`, []model.Owner{apply}, nil, "apply"},
		"owned by nobody": {"it says so", `{"port":3}`, []model.Owner{{Name: "apply", Applies: true, At: created, Fields: set("cpu")}}, nil,
			"unknown live is as none of the declarations has it, and managedFields does not tell who made it so"},
		"no record of owners": {"the source says why", `{"port":3}`, nil, nil, "unknown no log"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subject(value(t, `{"port":1}`), &model.Resource{Value: value(t, tt.live), Created: created.Add(-time.Hour), Owners: tt.owners,
				OwnersFrom: "managedFields", Unsigned: "no log"})
			s.Claims = append(s.Claims, &model.Claim{Declaration: "e", Value: value(t, `{"port":2}`), Traces: tt.wrote})
			outcomes := Compare(s, Options{})
			if len(outcomes) != 1 || outcomes[0].Verdict != model.Disputed {
				t.Fatalf("outcomes: %s", show(outcomes))
			}
			if a := outcomes[0].Actor; strings.TrimSpace(a.Name+" "+a.Reason) != tt.want {
				t.Errorf("%s: %s %s, want %s", tt.reason, a.Name, a.Reason, tt.want)
			}
		})
	}
}

// TestAppliedSince has somebody apply by hand what nobody committed: the author of
// the commit did declare what is pending, and the note tells of the apply.
func TestAppliedSince(t *testing.T) {
	t.Parallel()
	const note = "another version was applied after it was declared, by apply at 2026-01-01 00:00 UTC (managedFields, apply)"
	for _, tc := range []struct {
		reason    string
		committed time.Duration
		want      string
	}{
		{"the commit waits", time.Hour, ""},
		{"at the same time nothing is known", 0, ""},
		{"something else was applied since", -time.Hour, note},
	} {
		live := &model.Resource{Value: value(t, `{"port":1,"cpu":1}`), Created: created.Add(-2 * time.Hour), Generation: 3, OwnersFrom: "managedFields",
			Owners: []model.Owner{{Name: "apply", Applies: true, At: created, Fields: set("port", "cpu")}}}
		s := subject(value(t, `{"port":2,"cpu":1}`), live)
		s.Claims[0].Recorded = pointer(value(t, `{"port":1,"cpu":1}`))
		s.Claims[0].Traces = []model.Trace{{Actor: model.Actor{Name: "gita", At: created.Add(tc.committed), Confidence: model.Likely}}}
		outcomes := Compare(s, Options{})
		if len(outcomes) != 1 || outcomes[0].Verdict != model.Pending || outcomes[0].Actor.Name != "gita" || outcomes[0].Reason != tc.want {
			t.Errorf("%s: %+v, want pending by gita: %s", tc.reason, outcomes, tc.want)
		}
	}
}

func TestWhenIsKnownWithoutWho(t *testing.T) {
	t.Parallel()
	made, updated := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	live := &model.Resource{Value: value(t, `{"size":2}`), Created: made, Updated: updated, Unsigned: "no log tells"}
	for reason, tc := range map[string]struct {
		subject model.Subject
		want    model.Actor
	}{
		"what nobody declared came to be": {model.Subject{Live: live, Silent: [][]string{{"infra"}}},
			model.Actor{Name: "unknown", At: made, Via: "its creation", Confidence: model.Unknown, Reason: "no log tells"}},
		"an edit was no later than the last change": {
			model.Subject{Live: live, Claims: []*model.Claim{{Value: value(t, `{"size":1}`), RecordOnly: true}}},
			model.Actor{Name: "unknown", At: updated, Via: "its last change of any kind, so then or before", Confidence: model.Unknown, Reason: "no log tells"}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			outcomes := Compare(&tc.subject, Options{})
			if len(outcomes) != 1 || outcomes[0].Actor != tc.want {
				t.Errorf("%+v", outcomes)
			}
		})
	}
}
