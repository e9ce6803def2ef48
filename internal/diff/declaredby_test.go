package diff

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// who formats an actor as "name", or "unknown: reason".
func who(a model.Actor) string {
	if a.Reason != "" {
		return a.Name + ": " + a.Reason
	}
	return a.Name
}

// walkAt returns the walk of the first claim, at a field.
func walkAt(s *model.Subject, names ...string) *walk {
	w := newWalk(s, s.Claims[0], s.Live.Value, Options{})
	for _, name := range names {
		w.path = append(w.path, fieldSegment(name))
	}
	return w
}

// by returns the version of an author's commit; "" is no resource.
func by(t *testing.T, hash, author, declares string) model.Version {
	t.Helper()
	v := model.Version{From: model.Commit{Hash: hash, Author: author, When: hour(1)}}
	if declares != "" {
		v.Value = pointer(value(t, declares))
	}
	return v
}

// TestDeclaredBy names the actor that declared a port of 2: the author of the commit since
// which the ref declares it, or else the actor in the log of the declaration.
func TestDeclaredBy(t *testing.T) {
	t.Parallel()
	edited := func(who string, fields ...string) model.AuditEvent {
		return model.AuditEvent{Fields: fields, Actor: model.Actor{Name: who, Confidence: model.Exact}}
	}
	past := func(versions ...model.Version) *model.Evidence {
		return &model.Evidence{Past: model.Past{Versions: versions}}
	}
	branch, oldest, unknown, unsigned := by(t, "b", "eve", `{"port":2}`), by(t, "c1", "ann", `{"port":2}`), by(t, "c2", "bob", `{}`), by(t, "c3", "", `{"port":2}`)
	branch.Branch, oldest.From.Oldest, unknown.Unknown = "feature/x", true, []string{"port"}
	all := unknown
	all.Unknown = []string{""}
	elsewhere := by(t, "c2", "bob", `{"port":2}`)
	elsewhere.Unknown = []string{"cpu"}
	for _, tc := range []struct {
		reason string
		claim  model.Claim
		want   string
	}{
		{"nothing is known", model.Claim{}, "unknown: nothing tells who declared it"},
		{"the log names the field", model.Claim{ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{edited("ann", "port")}}}, "ann"},
		{"the log names another field", model.Claim{ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{edited("ann", "cpu")}}}, "unknown: nothing tells who declared it"},
		{"the log names no field", model.Claim{ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{edited("ann")}}}, "ann"},
		{"the last entry of the log counts", model.Claim{ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{edited("ann"), edited("bob", "port")}}}, "bob"},
		{"why the log has none", model.Claim{ClaimHistory: model.ClaimHistory{WriterUnknown: "the changelog is not read"}}, "unknown: the changelog is not read"},
		{"a state has no authors", model.Claim{RecordOnly: true},
			"unknown: the state does not record who set it; engine: plan with git shows who declared it"},
		{"a state with a reason of its own", model.Claim{RecordOnly: true, ClaimHistory: model.ClaimHistory{WriterUnknown: "the changelog is not read"}}, "unknown: the changelog is not read"},
		{"a state with a log", model.Claim{RecordOnly: true, ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{edited("ann", "port")}}}, "ann"},
		{"a log goes before the reason why it may lack somebody", model.Claim{ClaimHistory: model.ClaimHistory{WriterUnknown: "it began yesterday", AuditEvents: []model.AuditEvent{edited("ann")}}}, "ann"},
		{"no versions", model.Claim{ClaimHistory: model.ClaimHistory{Evidence: past()}}, "unknown: nothing tells who declared it"},
		{"the history is cut", model.Claim{ClaimHistory: model.ClaimHistory{Evidence: &model.Evidence{Past: model.Past{Gap: "history is cut"}}}},
			"unknown: nothing tells who declared it: history is cut"},
		{"the history is cut, and the log names the author", model.Claim{ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{edited("ann")},
			Evidence: &model.Evidence{Past: model.Past{Gap: "history is cut"}}}}, "ann"},
		{"the head declares it, and the commit before did not", model.Claim{ClaimHistory: model.ClaimHistory{Evidence: past(by(t, "c2", "bob", `{"port":2}`), by(t, "c1", "ann", `{"port":1}`))}}, "bob"},
		{"commits that kept it declared nothing", model.Claim{ClaimHistory: model.ClaimHistory{Evidence: past(by(t, "c3", "eve", `{"port":2,"cpu":1}`), by(t, "c2", "bob", `{"port":2}`),
			by(t, "c1", "ann", `{"port":1}`))}}, "bob"},
		{"the resource was not declared before", model.Claim{ClaimHistory: model.ClaimHistory{Evidence: past(by(t, "c2", "bob", `{"port":2}`), by(t, "c1", "ann", ""))}}, "bob"},
		{"a commit goes before the log", model.Claim{ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{edited("ann", "port")},
			Evidence: past(by(t, "c2", "bob", `{"port":2}`), by(t, "c1", "eve", `{"port":1}`))}}, "bob"},
		{"the head declares something else", model.Claim{ClaimHistory: model.ClaimHistory{Evidence: past(by(t, "c2", "bob", `{"port":3}`), by(t, "c1", "ann", `{"port":2}`))}},
			"unknown: nothing tells who declared it"},
		{"a branch declares it", model.Claim{ClaimHistory: model.ClaimHistory{Evidence: past(branch)}}, "unknown: nothing tells who declared it"},
		{"a branch between", model.Claim{ClaimHistory: model.ClaimHistory{Evidence: past(by(t, "c2", "bob", `{"port":2}`), branch, by(t, "c1", "ann", `{"port":1}`))}}, "bob"},
		{"an expression may have declared it before", model.Claim{ClaimHistory: model.ClaimHistory{Evidence: past(by(t, "c3", "ann", `{"port":2}`), unknown)}},
			"unknown: nothing tells who declared it"},
		{"an unreadable commit may have declared it before", model.Claim{ClaimHistory: model.ClaimHistory{Evidence: past(by(t, "c3", "ann", `{"port":2}`), all)}},
			"unknown: nothing tells who declared it"},
		{"an expression before it was declared otherwise", model.Claim{ClaimHistory: model.ClaimHistory{Evidence: past(by(t, "c3", "ann", `{"port":2}`), by(t, "c2", "bob", `{"port":1}`), unknown)}}, "ann"},
		{"an expression in another field", model.Claim{ClaimHistory: model.ClaimHistory{Evidence: past(by(t, "c3", "ann", `{"port":2}`), elsewhere, by(t, "c1", "eve", `{"port":1}`))}}, "bob"},
		{"the oldest commit read declares it", model.Claim{ClaimHistory: model.ClaimHistory{Evidence: past(by(t, "c2", "bob", `{"port":2}`), oldest)}},
			"unknown: declared by commit c1 or before, the oldest one that was read; raise history"},
		{"a commit without an author", model.Claim{ClaimHistory: model.ClaimHistory{WriterUnknown: "a merge", Evidence: past(unsigned, by(t, "c1", "ann", `{"port":1}`))}}, "unknown: a merge"},
		{"a version that only scans read", model.Claim{ClaimHistory: model.ClaimHistory{Evidence: past(by(t, "", "bob", `{"port":2}`), by(t, "c1", "ann", `{"port":1}`))}},
			"unknown: nothing tells who declared it"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			if got := who(declaredBy(&tc.claim, nil, path{fieldSegment("port")}, model.IntOf(2))); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestRemovedFromDeclarationBy names the actor that removed a field from the declaration. A
// version in which the resource is not declared does not remove its fields.
func TestRemovedFromDeclarationBy(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason   string
		versions []model.Version
		want     string
	}{
		{"removed by a commit", []model.Version{by(t, "c2", "bob", `{}`), by(t, "c1", "ann", `{"port":2}`)}, "bob"},
		{"never in it, and the resource is new", []model.Version{by(t, "c3", "ann", `{}`), by(t, "c2", "bob", ""), by(t, "c1", "eve", `{}`)}, "ann"},
		{"the head has it", []model.Version{by(t, "c2", "bob", `{"port":2}`)}, "unknown: nothing tells who declared it"},
	} {
		c := &model.Claim{ClaimHistory: model.ClaimHistory{Evidence: &model.Evidence{Past: model.Past{Versions: tc.versions}}}}
		if got := who(declaredBy(c, nil, path{fieldSegment("port")}, model.Value{})); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// TestIsUnknownAt checks that a version is unknown at a path if it is unknown there, above or
// below.
func TestIsUnknownAt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		unknown []string
		at      string
		want    bool
	}{
		{nil, "spec.port", false},
		{[]string{""}, "spec.port", true},
		{[]string{"spec.port"}, "spec.port", true},
		{[]string{"spec"}, "spec.port", true},
		{[]string{"spec.port.number"}, "spec.port", true},
		{[]string{"spec.portal"}, "spec.port", false},
		{[]string{"spec.po"}, "spec.port", false},
		{[]string{"meta", "spec[0]", "spec"}, "spec.port", true},
		{[]string{"meta", "spec[0]"}, "spec.port", false},
	} {
		if got := isUnknownAt(&model.Version{Unknown: tc.unknown}, tc.at); got != tc.want {
			t.Errorf("%v at %s: %v, want %v", tc.unknown, tc.at, got, tc.want)
		}
	}
}

// TestAuthor returns the author of a commit, or else the actor in the claim's log.
func TestAuthor(t *testing.T) {
	t.Parallel()
	logged := &model.Claim{ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{{Actor: model.Actor{Name: "mara", Confidence: model.Exact}}}}}
	commit := model.Commit{Hash: "0123456789abcdef", Author: "ann", When: hour(3), Message: "raise it"}
	want := model.Actor{Name: "ann", At: hour(3), Via: "git", Confidence: model.Likely, Message: "raise it", Evidence: "commit 0123456789ab"}
	if got := author(commit, logged); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	commit.Author = ""
	if got := author(commit, logged); got.Name != "mara" {
		t.Errorf("without an author: %+v, want mara", got)
	}
	if got := author(commit, &model.Claim{}); got != notAppliedActor() {
		t.Errorf("without an author and a log: %+v", got)
	}
	if got := author(model.Commit{Hash: "c1", Author: "ann"}, &model.Claim{}); got.Name != "ann" {
		t.Errorf("without a log: %+v, want ann", got)
	}
}

// TestWaitingActor names the actor of a waiting field: the one that declared it if it is
// pending, or the one that applied it if it is not, or may not be.
func TestWaitingActor(t *testing.T) {
	t.Parallel()
	before := by(t, "c1", "bob", `{"port":1}`)
	before.Until = model.Commit{Hash: "c2", When: hour(2)}
	later := before
	later.From.Author = ""
	for _, tc := range []struct {
		reason   string
		evidence *model.Evidence
		want     string
	}{
		{"no evidence", nil, "pending? apply"},
		{"declared by a commit", &model.Evidence{Past: model.Past{Versions: []model.Version{by(t, "c2", "ann", `{"port":2}`), before}}}, "pending ann"},
		{"declared by an unknown author", &model.Evidence{Past: model.Past{Versions: []model.Version{by(t, "c2", "", `{"port":2}`), before}}},
			"pending unknown: " + notAppliedActor().Reason},
		{"never declared", &model.Evidence{}, "bypassed apply"},
		{"the history is cut", &model.Evidence{Past: model.Past{Gap: "cut"}}, "pending? apply"},
	} {
		s := subject(value(t, `{"port":2}`), &model.Resource{Value: value(t, `{"port":1}`), Created: created,
			Owners: []model.Owner{{Name: "apply", Applies: true, At: created, Fields: set("port")}}})
		s.Claims[0].Evidence = tc.evidence
		outcomes := Compare(s, Options{})
		if len(outcomes) != 1 || len(outcomes[0].Changes) != 1 {
			t.Fatalf("%s: %+v, want one change", tc.reason, outcomes)
		}
		got := string(outcomes[0].Verdict)
		if outcomes[0].Changes[0].Unproven {
			got += "?"
		}
		if got += " " + who(outcomes[0].Actor); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}
