package diff

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestUnreadFields compares claims with resources that were read without some fields.
func TestUnreadFields(t *testing.T) {
	t.Parallel()
	lens := newGuestLens()
	pool := []model.UnreadField{{Name: "pool", Reason: "lacks Pool.Audit"}}
	for _, tc := range []struct {
		reason, state, live string
		unread              []model.UnreadField
		running             []model.Field
		want                []string
	}{
		{"a field that was not read is not absent", `{"pool":"shop"}`, `{}`, pool, nil, []string{`unchecked pool "shop" -`}},
		{"a field that was read all the same is compared", `{"pool":"shop"}`, `{"pool":"test"}`, pool, nil, []string{`changed pool "shop" "test"`}},
		{"and is in sync", `{"pool":"shop"}`, `{"pool":"shop"}`, pool, nil, nil},
		{"what is declared to be nothing is no claim", `{"pool":""}`, `{}`, pool, nil, nil},
		{"what nobody declares is nobody's", `{}`, `{}`, pool, nil, nil},
		{"other fields are compared", `{"pool":"shop","cpu":[{"cores":2}]}`, `{"cores":4}`, pool, nil,
			[]string{"changed cpu[0].cores 2 4", `unchecked pool "shop" -`}},
		{"another field than the one that is absent", `{"pool":"shop"}`, `{}`, []model.UnreadField{{Name: "tags", Reason: "?"}}, nil, []string{`changed pool "shop" -`}},
		{"a list as a whole", `{"tags":["a"]}`, `{}`, []model.UnreadField{{Name: "tags", Reason: "?"}}, nil, []string{`unchecked tags ["a"] -`}},
		{"all that is absent", `{"pool":"shop","tags":["a"],"title":"x"}`, `{"title":"x"}`, []model.UnreadField{{Reason: "not all is shown"}}, nil,
			[]string{`unchecked pool "shop" -`, `unchecked tags ["a"] -`}},
		{"while something waits for a restart", `{"pool":"shop","cpu":[{"cores":2}]}`, `{"cores":4}`, pool, []model.Field{{Name: "cores", Value: model.IntOf(2)}},
			[]string{"pending-restart cpu[0].cores 2 4 running 2", `unchecked pool "shop" -`}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			s := &model.Subject{Live: &model.Resource{Value: value(t, tc.live), Running: tc.running, UnreadFields: tc.unread},
				Claims: []*model.Claim{{Value: value(t, tc.state), Lens: lens, RecordOnly: true, Complete: true}}}
			outcomes := Compare(s, Options{})
			if diff := gocmp.Diff(tc.want, sketch(outcomes)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, o := range outcomes {
				if o.Verdict == model.Unchecked && (o.Reason == "" || o.Actor.Confidence != model.Unknown) {
					t.Errorf("unchecked says %q, by %+v", o.Reason, o.Actor)
				}
			}
		})
	}
}

// TestUnreadFieldsHaveAllReasons has two fields that are unread for different reasons.
func TestUnreadFieldsHaveAllReasons(t *testing.T) {
	t.Parallel()
	s := subject(value(t, `{"a":1,"b":2,"c":3}`), &model.Resource{Value: value(t, `{}`),
		UnreadFields: []model.UnreadField{{Name: "a", Reason: "one"}, {Name: "b", Reason: "two"}, {Name: "c", Reason: "one"}}})
	outcomes := Compare(s, Options{})
	if len(outcomes) != 1 || outcomes[0].Verdict != model.Unchecked || outcomes[0].Reason != "one; two" || len(outcomes[0].Changes) != 3 {
		t.Errorf("got %+v", outcomes)
	}
}

// TestUnreadResourceWithoutDeclaration checks that an unread resource without a claim is
// unchecked if a declaration is expected to declare it.
func TestUnreadResourceWithoutDeclaration(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason  string
		subject model.Subject
		want    string
	}{
		{"expected", model.Subject{Unread: "node down", UndeclaredBy: [][]string{{"infra"}}}, "exists and is not in infra; could not be read: node down"},
		{"expected of several", model.Subject{Unread: "node down", UndeclaredBy: [][]string{{"infra"}, {"intent"}}}, "exists and is not in infra nor intent; could not be read: node down"},
		{"expected of nobody", model.Subject{Unread: "node down"}, ""},
		{"built in", model.Subject{Unread: "node down", UndeclaredBy: [][]string{{"infra"}}, SystemOwned: "built in"}, ""},
	} {
		got := ""
		for _, o := range Compare(&tc.subject, Options{}) {
			got = o.Reason
			if o.Verdict != model.Unchecked || o.Claim != nil {
				t.Errorf("%s: %+v", tc.reason, o)
			}
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// TestFieldsRecordedElsewhere checks that the actor is unknown for a field that is recorded
// outside of the object whose log names no field.
func TestFieldsRecordedElsewhere(t *testing.T) {
	t.Parallel()
	event := func(who string, fields ...string) model.AuditEvent {
		return model.AuditEvent{Action: model.Edited, Fields: fields, Actor: model.Actor{Name: who, Confidence: model.Likely}}
	}
	for _, tc := range []struct {
		reason, declared, live string
		events                 []model.AuditEvent
		want                   string
	}{
		{"nothing is logged", `{"pool":"shop"}`, `{"pool":"test"}`, nil, "look for /pools"},
		{"an edit of the object", `{"pool":"shop"}`, `{"pool":"test"}`, []model.AuditEvent{event("alice")}, "look for /pools"},
		{"an entry that names the field", `{"pool":"shop"}`, `{"pool":"test"}`, []model.AuditEvent{event("bob", "pool"), event("alice")}, "bob"},
		{"a part of the field", `{"pool":{"name":"shop"}}`, `{"pool":{"name":"test"}}`, []model.AuditEvent{event("alice")}, "look for /pools"},
		{"another field", `{"pools":"shop"}`, `{"pools":"test"}`, []model.AuditEvent{event("alice")}, "alice"},
	} {
		s := subject(value(t, tc.declared), &model.Resource{Value: value(t, tc.live), WriterUnknown: "see the task log"})
		s.Kind.LoggedElsewhere, s.AuditEvents = map[string]string{"pool": "look for /pools"}, tc.events
		outcomes := Compare(s, Options{})
		if len(outcomes) != 1 {
			t.Fatalf("%s: %+v", tc.reason, outcomes)
		}
		if a := outcomes[0].Actor; a.Name != tc.want && a.Reason != tc.want {
			t.Errorf("%s: by %s, %q; want %s", tc.reason, a.Name, a.Reason, strings.TrimSpace(tc.want))
		}
	}
}
