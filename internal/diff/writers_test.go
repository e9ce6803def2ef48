package diff

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestAuditedActors has a log in addition to the record of owners: it has the user of a field's
// owner, and for a removed field without an owner the editors since the last apply.
func TestAuditedActors(t *testing.T) {
	t.Parallel()
	hand := model.Owner{Name: "edit", Edits: true, At: later, Fields: set("port")}
	signed := hand
	signed.User, signed.Evidence = "alice", "audit 1, edit"
	shared := signed
	shared.Before = []string{"bob"}
	edit := func(user, writer string, after time.Duration, fields ...string) model.AuditEvent {
		t := model.AuditEvent{Action: model.Edited, Fields: fields, Writer: writer, Actor: model.Actor{Name: user, At: created.Add(after), Via: model.AuditLog,
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
		events []model.AuditEvent
		want   string
	}{
		"unsigned":     {"the record alone names the tool", changed, []model.Owner{hand}, nil, "edit managedFields likely: update"},
		"signed":       {"the record names the field, the log the user", changed, []model.Owner{signed}, nil, "alice audit log exact: audit 1, edit"},
		"a shared one": {"whose field it is, nobody tells", changed, []model.Owner{shared}, nil, "alice audit log likely: audit 1, edit, used before by bob"},
		"an edit of all that is owned": {"the owner tells more than the log", changed, []model.Owner{signed}, []model.AuditEvent{edit("bob", "patch", 2*hour)},
			"alice audit log exact: audit 1, edit"},
		"at no time": {"the record can be forged, and the log knows of one person", changed, []model.Owner{{Name: "controller", Fields: set("port")}},
			[]model.AuditEvent{edit("alice", "edit", hour)}, alices},
		"at no time by one": {"or the other", changed, []model.Owner{{Name: "scale", Fields: set("port")}}, []model.AuditEvent{edit("bob", "edit", hour), edit("alice", "patch", 2*hour)},
			"scale managedFields likely: update"},
		"at no time, and nobody else": {"the record is all there is", changed, []model.Owner{{Name: "scale", Fields: set("port")}}, nil, "scale managedFields likely: update"},
		"removed":                     {"one person alone can have done it", removed, nil, []model.AuditEvent{edit("alice", "edit", hour), edit("alice", "patch", 2*hour)}, alices},
		"removed by one":              {"or the other", removed, nil, []model.AuditEvent{edit("bob", "edit", hour), edit("alice", "patch", 2*hour)}, several("alice, bob")},
		"applied since":               {"the apply would have brought it back", removed, nil, []model.AuditEvent{edit("bob", "edit", -hour), edit("alice", "patch", 2*hour)}, alices},
		"by the declarer":             {"it applies what is declared", removed, nil, []model.AuditEvent{edit("ci", "apply", 2*hour)}, nobody},
		"by a controller":             {"it writes beside", removed, nil, []model.AuditEvent{edit("alice", "edit", hour), edit("system", "controller", 2*hour)}, alices},
		"created":                     {"who made it did not remove it", removed, nil, []model.AuditEvent{{Action: model.Created, Writer: "edit", Actor: model.Actor{Name: "bob", At: later}}}, nobody},
		"another hand":                {"it may have done it as well", removed, []model.Owner{other}, []model.AuditEvent{edit("alice", "patch", 2*hour)}, several("alice, edit")},
		"that hand":                   {"it is the one of the log", removed, []model.Owner{other}, []model.AuditEvent{edit("alice", "edit", hour)}, alices},
		"by the log and its owner":    {"one of several is told once", removed, []model.Owner{other, {Name: "fix", Edits: true, At: later, Fields: set("mode")}}, []model.AuditEvent{edit("alice", "edit", hour)}, several("alice, fix")},
		"deleted before":              {"a deletion is no edit", removed, []model.Owner{other}, []model.AuditEvent{{Action: model.Deleted, Writer: "edit", Actor: model.Actor{Name: "bob", At: later}}, edit("alice", "edit", hour)}, alices},
		"named": {"the entry names the field", removed, nil, []model.AuditEvent{edit("bob", "edit", 0), edit("alice", "apply", hour, "port")},
			"alice audit log exact: audit alice"},
		"named before":  {"an edit since may have written it too", removed, nil, []model.AuditEvent{edit("alice", "apply", hour, "port"), edit("bob", "edit", 2*hour)}, nobody},
		"another named": {"it wrote something else", removed, nil, []model.AuditEvent{edit("alice", "apply", hour, "mode")}, nobody},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live := &model.Resource{Value: value(t, tt.live), Created: created.Add(-hour), Generation: 3, OwnersFrom: "managedFields",
				Owners: append([]model.Owner{{Name: "apply", Applies: true, At: created, Fields: set("cpu")}}, tt.owners...)}
			s := subject(value(t, declared), live)
			s.Claims[0].Recorded = pointer(value(t, declared))
			s.AuditEvents = tt.events
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

// TestCreatorRemovedField has an object that was created again without a declared field, and
// perhaps edited by another person since.
func TestCreatorRemovedField(t *testing.T) {
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

// TestSeveralUsedTheTool has two users of the only tool that wrote other fields than a removed
// one: neither is named as the actor that removed it.
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

// TestOneManualWriter has one manual writer of other fields than a removed one.
func TestOneManualWriter(t *testing.T) {
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

// TestDisputeWithManualChange has two declarations that differ, and a third value that was set
// by hand: the last actor is named.
func TestDisputeWithManualChange(t *testing.T) {
	t.Parallel()
	author := func(after time.Duration) []model.AuditEvent {
		return []model.AuditEvent{{Actor: model.Actor{Name: "gita", At: created.Add(after), Via: "git", Confidence: model.Likely}}}
	}
	hand := model.Owner{Name: "edit", Edits: true, At: later, Fields: set("port"), User: "bob", Evidence: "audit 1, edit"}
	apply := model.Owner{Name: "apply", Applies: true, At: created, Fields: set("port")}
	const twice = "what is declared differs: the resource itself may be unchanged"
	tests := map[string]struct {
		reason, live string
		owners       []model.Owner
		wrote        []model.AuditEvent
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
				OwnersFrom: "managedFields", WriterUnknown: "no log"})
			s.Claims = append(s.Claims, &model.Claim{Declaration: "e", Value: value(t, `{"port":2}`), ClaimHistory: model.ClaimHistory{AuditEvents: tt.wrote}})
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

func TestTimeOfUnknownActor(t *testing.T) {
	t.Parallel()
	made, updated := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	live := &model.Resource{Value: value(t, `{"size":2}`), Created: made, Updated: updated, WriterUnknown: "no log tells"}
	for reason, tc := range map[string]struct {
		subject model.Subject
		want    model.Actor
	}{
		"what nobody declared came to be": {model.Subject{Live: live, UndeclaredBy: [][]string{{"infra"}}},
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

// TestCreatorWithoutTheField names the creator of an object without a declared field only if no
// other actor can have removed it.
func TestCreatorWithoutTheField(t *testing.T) {
	t.Parallel()
	maker := model.Owner{Name: "create", At: created, Fields: set("cpu"), User: "alice", Evidence: "audit 1"}
	applied, late := maker, maker
	applied.Applies, late.At = true, later
	for reason, tc := range map[string]struct {
		owner model.Owner
		want  string
	}{
		"its maker":                {maker, "alice"},
		"who applies it":           {applied, "unknown"},
		"who wrote it afterwards":  {late, "unknown"},
		"a tool for editing alone": {model.Owner{Name: "edit", Edits: true, At: created, Fields: set("mode"), User: "bob"}, "unknown"},
	} {
		live := &model.Resource{Value: value(t, `{"cpu":1}`), Created: created, OwnersFrom: "managedFields", Owners: []model.Owner{tc.owner}, Generation: 3}
		s := subject(value(t, `{"cpu":1,"port":1}`), live)
		s.Claims[0].Recorded = pointer(s.Claims[0].Value)
		outcomes := Compare(s, Options{})
		if len(outcomes) != 1 || outcomes[0].Actor.Name != tc.want {
			t.Errorf("%s: %+v, want one by %s", reason, outcomes, tc.want)
		}
	}
}

// TestEditorsSinceApply returns the manual writers since the last apply.
func TestEditorsSinceApply(t *testing.T) {
	t.Parallel()
	apply := model.Owner{Name: "apply", Applies: true, At: created, Fields: set("cpu")}
	hand := func(name string, after time.Duration, subresource string) model.Owner {
		return model.Owner{Name: name, Edits: true, At: created.Add(after), Through: subresource, Fields: set("port")}
	}
	for reason, tc := range map[string]struct {
		owners []model.Owner
		want   string
	}{
		"after the apply":            {[]model.Owner{apply, hand("a", 1, ""), hand("b", 2, "")}, "a b"},
		"at the time of the apply":   {[]model.Owner{apply, hand("a", 0, "")}, "a"},
		"before the apply":           {[]model.Owner{apply, hand("a", -1, "")}, ""},
		"through a subresource":      {[]model.Owner{apply, hand("a", 1, "scale")}, ""},
		"a controller":               {[]model.Owner{apply, hand("controller", 1, "")}, ""},
		"nobody applied the object":  {[]model.Owner{hand("a", -1, ""), hand("b", 1, "")}, "a b"},
		"the apply is no hand's own": {[]model.Owner{apply}, ""},
	} {
		live := &model.Resource{Value: value(t, `{"cpu":1,"port":1}`), Owners: tc.owners}
		w := newWalk(subject(value(t, `{"cpu":1}`), live), &model.Claim{Value: value(t, `{"cpu":1}`)}, live.Value,
			Options{Controller: func(name string) bool { return name == "controller" }})
		var got []string
		for _, o := range w.editorsSinceApply() {
			got = append(got, o.Name)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: got %v, want %q", reason, got, tc.want)
		}
	}
}

// TestIsManualEdit reports whether an audit event is a manual edit since the apply.
func TestIsManualEdit(t *testing.T) {
	t.Parallel()
	apply := model.Owner{Name: "apply", Applies: true, At: created, Fields: set("cpu")}
	for reason, tc := range map[string]struct {
		owners []model.Owner
		event  model.AuditEvent
		want   bool
	}{
		"after the apply":                  {[]model.Owner{apply}, model.AuditEvent{Writer: "edit", Actor: model.Actor{At: later}}, true},
		"before the apply":                 {[]model.Owner{apply}, model.AuditEvent{Writer: "edit", Actor: model.Actor{At: created.Add(-1)}}, false},
		"by the declarer":                  {[]model.Owner{apply}, model.AuditEvent{Writer: "apply", Actor: model.Actor{At: later}}, false},
		"nobody applied the object":        {nil, model.AuditEvent{Writer: "edit", Actor: model.Actor{At: later}}, true},
		"a controller by its name":         {[]model.Owner{apply}, model.AuditEvent{Writer: "controller", Actor: model.Actor{At: later}}, false},
		"a controller by its account":      {[]model.Owner{apply}, model.AuditEvent{Writer: "edit", Account: "controller", Actor: model.Actor{At: later}}, false},
		"a person under a name":            {[]model.Owner{apply}, model.AuditEvent{Writer: "controller", Account: "alice", Actor: model.Actor{At: later}}, true},
		"an entry that names other fields": {[]model.Owner{apply}, model.AuditEvent{Writer: "edit", Fields: []string{"mode"}, Actor: model.Actor{At: later}}, false},
	} {
		live := &model.Resource{Value: value(t, `{"cpu":1}`), Owners: tc.owners}
		w := newWalk(subject(value(t, `{"cpu":1}`), live), &model.Claim{Value: value(t, `{"cpu":1}`)}, live.Value,
			Options{Controller: func(name string) bool { return name == "controller" }})
		if got := w.isManualEdit(&tc.event); got != tc.want {
			t.Errorf("%s: got %t", reason, got)
		}
	}
}

// TestCreator names the creator of a resource according to a log or the record of writers.
func TestCreator(t *testing.T) {
	t.Parallel()
	owner := func(name string, at time.Time, subresource string) model.Owner {
		return model.Owner{Name: name, At: at, Through: subresource}
	}
	made := model.AuditEvent{Action: model.Created, Actor: model.Actor{Name: "ann", At: created, Evidence: "log"}}
	for reason, tc := range map[string]struct {
		owners  []model.Owner
		events  []model.AuditEvent
		created time.Time
		want    string
	}{
		"the log names it":              {[]model.Owner{owner("one", created, "")}, []model.AuditEvent{made, {Action: model.Edited, Actor: model.Actor{Name: "bob"}}}, created, "ann 00:00 log"},
		"the first writer":              {[]model.Owner{owner("two", later, ""), owner("one", created, "")}, nil, time.Time{}, "one 00:00 update"},
		"the first writer is listed so": {[]model.Owner{owner("one", created, ""), owner("two", later, "")}, nil, time.Time{}, "one 00:00 update"},
		"of two at once the first":      {[]model.Owner{owner("one", created, ""), owner("two", created, "")}, nil, time.Time{}, "one 00:00 update"},
		"a controller reacts":           {[]model.Owner{owner("controller", created, ""), owner("two", created, "")}, nil, time.Time{}, "two 00:00 update"},
		"its creation has a time":       {[]model.Owner{owner("one", later, "")}, nil, created, "one 00:00 update"},
		"through a subresource":         {[]model.Owner{owner("one", created, "scale"), owner("two", later, "")}, nil, time.Time{}, "two 01:00 update"},
		"a writer without a time":       {[]model.Owner{owner("one", time.Time{}, ""), owner("two", later, "")}, nil, time.Time{}, "two 01:00 update"},
		"nobody":                        {nil, nil, later, "unknown 01:00 "},
	} {
		a := creator(&model.Subject{Live: &model.Resource{Owners: tc.owners, Created: tc.created}, AuditEvents: tc.events}, Options{Controller: func(name string) bool { return name == "controller" }})
		if got := a.Name + " " + a.At.Format("15:04") + " " + a.Evidence; got != tc.want {
			t.Errorf("%s: got %q, want %q", reason, got, tc.want)
		}
	}
	scaled := ownerActor(&model.Resource{}, &model.Owner{Name: "one", Applies: true, Through: "scale"})
	if scaled.Evidence != "apply through scale" {
		t.Errorf("got %q, want the subresource named", scaled.Evidence)
	}
}
