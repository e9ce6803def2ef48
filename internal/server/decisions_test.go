package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// deciding returns an API with findings that can be decided on, and a decision that is declared in
// a file.
func deciding(t *testing.T) API {
	t.Helper()
	s := emptyStore(t)
	at := begin()
	findings := []model.Finding{
		finding("f00d01", "prod", "Deployment.apps", model.Changed, at, at),
		finding("f00d02", "prod", "ConfigMap", model.Changed, at, at),
		finding("beef01", "prod", "Service", model.Missing, at, at),
	}
	for i := range findings {
		findings[i].Basis = fmt.Sprint("basis", i)
	}
	over := finding("0ver01", "prod", "Role", model.Missing, at, at)
	over.Basis = "gone"
	filed := model.Decision{ID: "f11e00", Kind: model.Accept, Subject: model.Target{Key: findings[2].Key}, Basis: "basis2", Reason: "sale", Owner: "bob",
		By: "acceptances.yaml:3", Via: "acceptances.yaml:3", From: "agreed", Until: now().Add(48 * time.Hour),
		Changes: []model.Change{{Path: "spec", Live: object(field("a", model.StringOf("tell nobody")))}}}
	model.IndexDecisions([]model.Decision{filed}).Settle(&findings[2], at)
	for i, r := range []store.Record{
		{Run: run("run-1", at), Findings: append(findings, over), Decisions: map[string][]model.Decision{"agreed": {filed}}},
		{Run: run("run-2", at.Add(time.Hour)), Findings: append(slices.Clone(findings), resolved(over, at.Add(time.Hour)))},
	} {
		if err := s.Save(r); err != nil {
			t.Fatal(i, err)
		}
	}
	return API{Store: s, Decider: storeDecider{s, now, bytes.NewReader(bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7}, 60))}, Version: "1.2.3", Now: now, Log: quiet()}
}

func resolved(f model.Finding, at time.Time) model.Finding {
	f.Resolved = at
	return f
}

func TestDecide(t *testing.T) {
	t.Parallel()
	a := deciding(t)
	c := client(a.Handler())
	me := thisProcess().visitor(nil)
	made, err := c.Decide(t.Context(), DecisionRequest{Kind: model.Accept, Findings: []string{"f00d01", "f00d02"}, Reason: "known", Owner: "team-shop", Until: "30d"})
	if err != nil {
		t.Fatal(err)
	}
	want := []model.DecisionStatus{decided("010203040506", "f00d01", "Deployment.apps", "basis0", me.Name), decided("070102030405", "f00d02", "ConfigMap", "basis1", me.Name)}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("Decide() (-want +got):\n%s", diff)
	}
	report, err := c.Report(t.Context(), Query{})
	if err != nil {
		t.Fatal(err)
	}
	if report.Summary.Accepted != 3 || report.Summary.Findings != 0 || len(report.Findings) != 0 {
		t.Errorf("after accepting: %+v, %d findings shown", report.Summary, len(report.Findings))
	}
	list, err := c.Decisions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 || list[2].ID != "f11e00" || list[2].Holds[0] != "beef01" || list[2].Changes[0].Live != nil {
		t.Errorf("Decisions() = %+v", list)
	}
	gone, err := c.Revoke(t.Context(), "0102")
	if err != nil || gone.Finding != "f00d01" {
		t.Errorf("Revoke() = %+v, %v", gone, err)
	}
	open, err := c.Findings(t.Context(), Query{})
	if err != nil || len(open) != 1 || open[0].ID != "f00d01" || open[0].Decision != nil {
		t.Errorf("after revoking %+v is shown, %v", open, err)
	}
}

func decided(id, finding, kind, basis, by string) model.DecisionStatus {
	return model.DecisionStatus{Holds: []string{finding}, Decision: model.Decision{ID: id, Kind: model.Accept, Finding: finding, Basis: basis, Severity: model.High,
		Subject: model.Target{Key: model.Key{Source: "prod", Kind: "kubernetes/" + kind, ID: "shop/web"}, Declaration: "shop", Verdict: model.Changed},
		Reason:  "known", Owner: "team-shop", By: by, At: now(), Via: via(access.With(context.Background(), thisProcess().visitor(nil))), Until: now().Add(30 * 24 * time.Hour)}}
}

func TestDecisionsAreRefused(t *testing.T) {
	t.Parallel()
	a := deciding(t)
	idle := a
	idle.Decider = nil
	const post, remove = http.MethodPost, http.MethodDelete
	for name, tc := range map[string]struct {
		reason, method, target, body string
		handler                      http.Handler
		status                       int
		message                      string
	}{
		"over TCP":      {"TCP is for reading", post, "decisions", `{}`, viewed(t, a), 403, "needs the role operator"},
		"revoke by TCP": {"TCP is for reading", remove, "decisions/f11e00", ``, viewed(t, a), 403, "needs the role operator"},
		"no decider":    {"somebody must keep it", post, "decisions", `{}`, idle.Handler(), 503, "decisions cannot be made here"},
		"no revoker":    {"somebody must forget it", remove, "decisions/f11e00", ``, idle.Handler(), 503, "decisions cannot be made here"},
		"no JSON":       {"a form is kept", post, "decisions", `kind=accept`, a.Handler(), 400, "the body is malformed"},
		"unknown key":   {"a typo is not ignored", post, "decisions", `{"kind":"snooze","find":[]}`, a.Handler(), 400, "unknown field"},
		"two":           {"one at a time", post, "decisions", `{"findings":["f00d01"]} {}`, a.Handler(), 400, "the body continues"},
		"nothing":       {"it is about something", post, "decisions", `{"kind":"snooze"}`, a.Handler(), 400, "no finding is named"},
		"empty":         {"the empty beginning is everything's", post, "decisions", `{"kind":"snooze","findings":[""]}`, a.Handler(), 400, "no finding is named"},
		"too many":      {"a request is bounded", post, "decisions", `{"kind":"snooze","findings":["a"` + strings.Repeat(`,"a"`, 1000) + `]}`, a.Handler(), 400, "1001 findings at once"},
		"large":         {"a body is bounded", post, "decisions", `{"kind":"` + strings.Repeat("a", 64<<10) + `"}`, a.Handler(), 413, "the body is over 65536 bytes"},
		"until":         {"an end has a form", post, "decisions", `{"kind":"snooze","findings":["f00d01"],"until":"soon"}`, a.Handler(), 400, `until \"soon\"","hint":"want`},
		"rules":         {"an acceptance wants a reason", post, "decisions", `{"kind":"accept","findings":["f00d01"],"until":"forever"}`, a.Handler(), 400, "wants a reason"},
		"unknown":       {"an id may be wrong", post, "decisions", `{"kind":"acknowledge","findings":["dead"]}`, a.Handler(), 404, "not found"},
		"ambiguous":     {"an id may be too short", post, "decisions", `{"kind":"acknowledge","findings":["f00d"]}`, a.Handler(), 409, "f00d01, f00d02"},
		"over":          {"what is over is over", post, "decisions", `{"kind":"acknowledge","findings":["0ver"]}`, a.Handler(), 400, "is over since"},
		"in a file":     {"the file says so again", remove, "decisions/f11e00", ``, a.Handler(), 409, "acceptances.yaml:3: remove it there"},
		"short finding": {"a slip may be unique", post, "decisions", `{"kind":"acknowledge","findings":["f00d01","bee"]}`, a.Handler(), 400, "write at least 4 characters"},
		"short id":      {"a slip may be unique", remove, "decisions/f11", ``, a.Handler(), 400, "write at least 4 characters"},
		"a finding":     {"IDs look alike", remove, "decisions/beef", ``, a.Handler(), 404, `is a finding, not a decision","hint":"name the decision that applies to it, f11e00`},
		"undecided":     {"IDs look alike", remove, "decisions/f00d01", ``, a.Handler(), 404, `is a finding, not a decision","hint":"no decision applies to it`},
		"no decision":   {"an id may be wrong", remove, "decisions/dead", ``, a.Handler(), 404, `no decision has an ID that begins with \"dead\"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := http.NewRequestWithContext(t.Context(), tc.method, "http://localhost/api/v1/"+tc.target, strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := InProcess(tc.handler).RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			if body := read(t, answer); answer.StatusCode != tc.status || !strings.Contains(body, tc.message) {
				t.Errorf("%s: %s %s = %d %s; want %d with %q", tc.reason, tc.method, tc.target, answer.StatusCode, body, tc.status, tc.message)
			}
		})
	}
	if list, err := a.Store.Decisions(); err != nil || len(list) != 1 {
		t.Errorf("what was refused was kept all the same: %+v, %v", list, err)
	}
}

// asked records who decides.
type asked struct {
	Decider
	request decide.Request
}

func (d *asked) Decide(_ context.Context, _ []string, r decide.Request) ([]model.Decision, error) {
	d.request = r
	return nil, nil
}

func TestWhoDecides(t *testing.T) {
	t.Parallel()
	o := options(t)
	d := &asked{}
	o.API.Decider = d
	serve(t, o)
	c, err := Dial(t.Context(), o.Socket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Decide(t.Context(), DecisionRequest{Kind: model.Accept, Findings: []string{"f00d01"}, Until: "forever"}); err != nil {
		t.Fatal(err)
	}
	me := thisProcess().visitor(nil)
	want := decide.Request{Kind: model.Accept, By: me.Name, Via: via(access.With(t.Context(), me)), Until: "forever"}
	if diff := cmp.Diff(want, d.request); diff != "" {
		t.Errorf("over the socket (-want +got):\n%s", diff)
	}
}

// TestPersonDecides checks that a person may replace and revoke the decisions that they made under
// another identity, and that a user with the same name may not.
func TestPersonDecides(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason    string
		visitor   access.Visitor
		permitted bool
	}{
		"same person":    {"alice logs in as al", access.Visitor{Name: "al", Role: access.Operator, Via: access.Session, Person: "alice"}, true},
		"another person": {"bob logs in as alice", access.Visitor{Name: "alice", Role: access.Operator, Via: access.Session, Person: "bob"}, false},
		"unlisted":       {"alice is not a person in the table", access.Visitor{Name: "alice", Role: access.Operator, Via: access.Session, Unmapped: "login:alice"}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := deciding(t)
			author := access.With(t.Context(), access.Visitor{Name: "alice", Role: access.Approver, Via: access.Local, Person: "alice", AsRoot: true})
			accept := DecisionRequest{Kind: model.Accept, Findings: []string{"f00d01"}, Reason: "sale", Owner: "shop", Until: "7d"}
			made, err := a.Decide(author, accept)
			if err != nil {
				t.Fatal(err)
			}
			d := made.Decisions[0]
			if d.By != "alice" || d.Via != "command line (as root)" {
				t.Errorf("decision by %q via %q", d.By, d.Via)
			}
			ctx := access.With(t.Context(), tt.visitor)
			for action, err := range map[string]error{"replace": a.permitReplacing(ctx, &accept), "revoke": a.permitRevoking(ctx, d.ID)} {
				var refused *access.Refused
				if permitted := err == nil; permitted != tt.permitted || !permitted && (!errors.As(err, &refused) || refused.Status != http.StatusForbidden) {
					t.Errorf("%s: %s: %v, want permitted: %v", tt.reason, action, err, tt.permitted)
				}
			}
		})
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	a := deciding(t)
	receivers := []model.ReceiverStatus{
		{Name: "ops", Type: "slack", Queued: 3, Error: "token <b>revoked</b>: make a new one", Stopped: true},
		{Name: "hook", Type: "webhook"},
		{Name: "night", Type: "webhook", Untold: 12},
	}
	a.Problems = func() []string { return []string{"the configuration <b> was not reloaded"} }
	a.Receivers = func() []model.ReceiverStatus { return receivers }
	c := client(a.Handler())
	s, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Problems) != 1 {
		t.Errorf("problems: %q", s.Problems)
	}
	if diff := cmp.Diff(receivers, s.Receivers); diff != "" {
		t.Errorf("receivers (-want +got):\n%s", diff)
	}
	if len(s.Ending) != 1 || s.Ending[0].ID != "f11e00" || s.Open.Accepted != 1 || s.Open.Findings != 2 {
		t.Errorf("status = %+v, open %+v", s, s.Open)
	}
	late := a
	late.Now = func() time.Time { return now().Add(-6 * 24 * time.Hour) }
	if s, err := client(late.Handler()).Status(t.Context()); err != nil || len(s.Ending) != 0 {
		t.Errorf("eight days before: %+v, %v", s.Ending, err)
	}
}

// storeDecider decides as the daemon does, without notifications.
type storeDecider struct {
	store  *store.Store
	now    func() time.Time
	random io.Reader
}

func (d storeDecider) Decide(_ context.Context, ids []string, r decide.Request) ([]model.Decision, error) {
	if r.Baseline != nil {
		return d.baseline(r)
	}
	findings := make([]model.Finding, 0, len(ids))
	for _, id := range ids {
		f, _, err := d.store.Finding(id)
		if err != nil {
			return nil, err
		}
		findings = append(findings, f)
	}
	now := d.now()
	made, err := decide.Make(findings, r, now, d.random)
	if err != nil {
		return nil, err
	}
	return made, d.store.Decide(made, now)
}

func (d storeDecider) Revoke(_ context.Context, id, by string) (model.Decision, error) {
	return d.store.Revoke(id, by, d.now())
}

func (d storeDecider) baseline(r decide.Request) ([]model.Decision, error) {
	run, err := d.store.LastRun()
	if err != nil {
		return nil, err
	}
	open, err := d.store.OpenFindings()
	if err != nil {
		return nil, err
	}
	now := d.now()
	run = run.At(now, open)
	preview := decide.PreviewBaseline(open, &run)
	made, err := preview.Make(r, now, d.random)
	if err != nil {
		return nil, err
	}
	return []model.Decision{made}, d.store.Decide([]model.Decision{made}, now)
}
