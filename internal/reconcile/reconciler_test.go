package reconcile_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

func TestApprovedActionConverges(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.propose(t, "")
	if a.State != reconcile.Proposed || b.live.Value != "web:evil" {
		t.Fatalf("after the proposal the action is %s, and the live value %s", a.State, b.live.Value)
	}
	a, err := b.approve(t, &a, "alice")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := stepsOf(&a), "[proposed approved armed written converged]"; got != want {
		t.Errorf("got steps %s, want %s", got, want)
	}
	if b.live.Value != "web:1" || b.live.Owner != "git" || b.live.Writes != 1 {
		t.Errorf("the live value is %s of %s after %d writes", b.live.Value, b.live.Owner, b.live.Writes)
	}
	if _, err := b.approve(t, &a, "bob"); err == nil || !strings.Contains(err.Error(), "is converged") {
		t.Errorf("a second approval: %v", err)
	}
}

func TestAutomaticAction(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(r *reconcile.Rule) { r.Mode = reconcile.Auto })
	if a := b.propose(t, ""); a.State != reconcile.Converged || b.live.Value != "web:1" {
		t.Errorf("the action is %s, and the live value %s", a.State, b.live.Value)
	}
}

// TestAutomaticRuleWithPerson checks that an action of an automatic rule that a person asks for
// needs another person.
func TestAutomaticRuleWithPerson(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(r *reconcile.Rule) { r.Mode = reconcile.Auto })
	b.finding.Verdict = model.Bypassed
	if _, err := b.Propose(t.Context(), b.finding, reconcile.Request{}); err == nil || !strings.Contains(err.Error(), "needs a person") {
		t.Fatalf("without a person: %v", err)
	}
	a := b.propose(t, "alice")
	if a.State != reconcile.Proposed {
		t.Fatalf("it is %s", a.State)
	}
	if a, err := b.approve(t, &a, "bob"); err != nil || a.State != reconcile.Converged {
		t.Errorf("it is %s: %v", a.State, err)
	}
}

func TestWhoMayApprove(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		requester, approver, digest, want string
	}{
		"nobody":               {"", "", "", "must be a person"},
		"the requester":        {"alice", "alice", "", "another person must approve"},
		"the author":           {"", "mallory", "", "made the drift"},
		"of another plan":      {"", "alice", "0000", "look again"},
		"another person":       {"alice", "bob", "", ""},
		"a person for driftd":  {"", "alice", "", ""},
		"of an earlier digest": {"alice", "bob", "x", "look again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			a := b.propose(t, c.requester)
			if c.digest != "" {
				a.Digest = c.digest
			}
			_, err := b.approve(t, &a, c.approver)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if c.want != "" && b.live.Writes > 0 {
				t.Error("it wrote")
			}
		})
	}
}

func TestTwoApprovals(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(r *reconcile.Rule) { r.Approvals = 2 })
	a := b.propose(t, "")
	if a, err := b.approve(t, &a, "alice"); err != nil || a.State != reconcile.Proposed {
		t.Fatalf("after one approval it is %s: %v", a.State, err)
	}
	if _, err := b.approve(t, &a, "alice"); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("twice the same person: %v", err)
	}
	if a, err := b.approve(t, &a, "bob"); err != nil || a.State != reconcile.Converged {
		t.Errorf("after two approvals it is %s: %v", a.State, err)
	}
}

// TestApproversAtOnce checks that an action that several persons approve at the same time is carried
// out once.
func TestApproversAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.propose(t, "")
	results := make(chan error, 8)
	for n := range cap(results) {
		go func() {
			_, err := b.Approve(t.Context(), a.ID, reconcile.Request{By: string(rune('a' + n)), Digest: a.Digest})
			results <- err
		}()
	}
	done := 0
	for range cap(results) {
		if err := <-results; err == nil {
			done++
		}
	}
	if done != 1 || b.live.Writes != 1 {
		t.Errorf("%d approvals succeeded, and %d writes were made", done, b.live.Writes)
	}
}

func TestChangedSince(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*bench){
		"the live value":      func(b *bench) { b.live.Set("web:3") },
		"the object":          func(b *bench) { b.live.UID = "2" },
		"the finding":         func(b *bench) { b.finding.Basis = "other" },
		"the finding is over": func(b *bench) { b.store.findings = nil },
		"the rule":            func(b *bench) { b.Rules[0].PerHour++ },
		"the declaration":     func(b *bench) { b.reads.refresh = func() { b.store.findings = nil } },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			a := b.propose(t, "")
			edit(b)
			_, err := b.approve(t, &a, "alice")
			if refusal := (*reconcile.Refusal)(nil); !errors.As(err, &refusal) || refusal.Guard != "still-so" {
				t.Errorf("got %v", err)
			}
			if b.live.Writes != 0 {
				t.Error("it wrote")
			}
		})
	}
}

func TestFreezeBetweenApprovalAndWrite(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.propose(t, "")
	freeze := func() {
		if _, err := b.AddControl(reconcile.Control{Kind: reconcile.Freeze, Until: b.now.Add(time.Hour), By: "alice", Reason: "sale"}); err != nil {
			t.Fatal(err)
		}
	}
	freeze()
	if _, err := b.approve(t, &a, "bob"); err == nil || !strings.Contains(err.Error(), "actions are frozen until 2026-11-25 13:00 UTC by freeze ") {
		t.Errorf("got %v", err)
	}
	if got := b.store.actions[0]; got.State != reconcile.Proposed || len(got.Approvals) > 0 {
		t.Errorf("an approval during a freeze ends the proposal: it is %s", got.State)
	}
	if _, err := b.AddControl(reconcile.Control{Kind: reconcile.Thaw, By: "alice", Reason: "over"}); err != nil {
		t.Fatal(err)
	}
	b.reads.refresh = freeze
	if _, err := b.approve(t, &a, "bob"); err == nil {
		t.Error("it is carried out during a freeze")
	}
	if got := b.store.actions[0]; got.State != reconcile.Refused || got.Guard != "frozen" || b.live.Writes != 0 {
		t.Errorf("it is %s by guard %q after %d writes", got.State, got.Guard, b.live.Writes)
	}
}

func TestLostAnswer(t *testing.T) {
	t.Parallel()
	lost := errors.New("connection reset")
	for name, c := range map[string]struct {
		edit func(*bench)
		want string
		sets string
	}{
		"after the write":          {func(b *bench) { b.live.After = func() error { return lost } }, "[proposed approved armed unknown converged]", "web:1"},
		"before the write":         {func(b *bench) { b.live.Before = func() error { return lost } }, "[proposed approved armed unknown failed]", "web:evil"},
		"and somebody else writes": {func(b *bench) { b.live.After = func() error { b.live.Set("web:3"); return lost } }, "[proposed approved armed unknown not-converged]", "web:3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			a := b.propose(t, "")
			c.edit(b)
			if _, err := b.approve(t, &a, "alice"); err != nil && !strings.Contains(err.Error(), "unknown") {
				t.Fatal(err)
			}
			b.now = b.now.Add(time.Minute)
			if err := b.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := stepsOf(&b.store.actions[0]); got != c.want || b.live.Value != c.sets {
				t.Errorf("got %s with %s, want %s with %s", got, b.live.Value, c.want, c.sets)
			}
		})
	}
}

// TestUnknownStaysOpen checks that a resource that cannot be read stays unknown, and that nothing else is
// done to it or under its rule.
func TestUnknownStaysOpen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.propose(t, "")
	b.live.After = func() error { b.live.InspectErr = errors.New("down"); return b.live.InspectErr }
	a, _ = b.approve(t, &a, "alice")
	if a.State != reconcile.Unknown {
		t.Fatalf("it is %s", a.State)
	}
	if err := b.Recover(t.Context()); err == nil {
		t.Error("Recover reports no error")
	}
	if _, err := b.Propose(t.Context(), b.finding, reconcile.Request{By: "bob"}); err == nil || !strings.Contains(err.Error(), "is unknown") {
		t.Errorf("another action: %v", err)
	}
	other := b.drift("f2", "web")
	if _, err := b.Propose(t.Context(), other, reconcile.Request{By: "bob"}); err == nil || !strings.Contains(err.Error(), `rule "shop" is stopped`) {
		t.Errorf("another resource: %v", err)
	}
	b.live.InspectErr = nil
	if err := b.Recover(t.Context()); err != nil || b.store.actions[0].State != reconcile.Converged {
		t.Errorf("it is %s: %v", b.store.actions[0].State, err)
	}
}

// TestKills kills the process at each of its writes to the store. After a restart it is known
// whether the request took effect, and it took effect once at most.
func TestKills(t *testing.T) {
	t.Parallel()
	const writes = 5 // proposed, approved, armed, written, converged
	for killAt := 1; killAt <= writes; killAt++ {
		b := newBench(t)
		b.store.killAt = killAt
		a, err := b.Propose(t.Context(), b.finding, reconcile.Request{})
		if err == nil {
			_, err = b.approve(t, &a, "alice")
		}
		if !errors.Is(err, errKilled) {
			t.Fatalf("killed at write %d: %v", killAt, err)
		}
		wrote := b.live.Writes
		b = b.restart()
		b.now = b.now.Add(time.Minute)
		if err := b.Recover(t.Context()); err != nil {
			t.Fatalf("killed at write %d: %v", killAt, err)
		}
		if b.live.Writes > 1 || b.live.Writes < wrote {
			t.Errorf("killed at write %d: %d writes", killAt, b.live.Writes)
		}
		for i := range b.store.actions {
			a := &b.store.actions[i]
			if a.State == reconcile.Converged != (b.live.Value == "web:1") || a.State.MayHaveWritten() {
				t.Errorf("killed at write %d: the action is %s, and the live value %s", killAt, stepsOf(a), b.live.Value)
			}
			if a.State == reconcile.Converged && b.live.Owner != "git" {
				t.Errorf("killed at write %d: %s owns the field", killAt, b.live.Owner)
			}
		}
	}
}

// TestHandBackLater checks that an action whose fields could not be handed back is unknown until they are.
func TestHandBackLater(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.propose(t, "")
	b.live.HandErr = errors.New("conflict")
	if a, _ = b.approve(t, &a, "alice"); a.State != reconcile.Unknown {
		t.Fatalf("it is %s", a.State)
	}
	b.live.HandErr = nil
	if err := b.Recover(t.Context()); err != nil || b.live.Owner != "git" || b.store.actions[0].State != reconcile.Converged || b.store.actions[0].Outcome != "" {
		t.Errorf("it is %s, %s owns the field: %v", b.store.actions[0].State, b.live.Owner, err)
	}
}

func TestAskedIsNotGot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		a := b.propose(t, "")
		b.live.Rewrite = func(v string) string { return "mirror/" + v }
		a, err := b.approve(t, &a, "alice")
		if err != nil || a.State != reconcile.NotConverged {
			t.Fatalf("it is %s: %v", a.State, err)
		}
		if _, err := b.Propose(t.Context(), b.drift("f2", "web"), reconcile.Request{By: "bob"}); err == nil || !strings.Contains(err.Error(), "driftd rules resume shop") {
			t.Errorf("another action: %v", err)
		}
	})
}

func TestFight(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(r *reconcile.Rule) { r.Mode, r.Soak = reconcile.Auto, 0 })
	for round := range 2 {
		if a := b.propose(t, ""); a.State != reconcile.Converged {
			t.Fatalf("round %d: it is %s", round, a.State)
		}
		b.now = b.now.Add(10 * time.Minute)
		b.live.Set("web:evil")
	}
	_, err := b.Propose(t.Context(), b.finding, reconcile.Request{})
	if err == nil || !strings.Contains(err.Error(), "driftd and a person overwrite each other") {
		t.Fatalf("got %v", err)
	}
	if _, err := b.AddControl(reconcile.Control{Kind: reconcile.Resume, Rule: "shop", By: "alice"}); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(time.Minute)
	if a := b.propose(t, ""); a.State != reconcile.Converged {
		t.Errorf("after the resumption it is %s", a.State)
	}
}

func TestObserve(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.drift("f2", "web")
	observe := func() {
		t.Helper()
		if err := b.Observe(t.Context(), b.store.findings); err != nil {
			t.Fatal(err)
		}
	}
	observe()
	observe()
	if len(b.store.actions) != 2 {
		t.Fatalf("%d actions for two findings and two scans", len(b.store.actions))
	}
	if _, err := b.Answer(t.Context(), b.store.actions[0].ID, reconcile.DeclineAnswer, reconcile.Request{By: "alice", Reason: "wanted"}); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(2 * time.Hour)
	observe()
	if got := []reconcile.State{b.store.actions[0].State, b.store.actions[1].State}; got[0] != reconcile.Declined || got[1] != reconcile.Expired {
		t.Errorf("got %v", got)
	}
	observe()
	if len(b.store.actions) != 2 {
		t.Errorf("what was declined or expired was proposed again: %d actions", len(b.store.actions))
	}
	b.store.findings[0].Basis = "new"
	observe()
	if len(b.store.actions) != 3 {
		t.Fatalf("a finding that changed was not proposed: %d actions", len(b.store.actions))
	}
	b.store.findings = nil
	observe()
	if got := b.store.actions[2]; got.State != reconcile.Superseded {
		t.Errorf("the proposal for a resolved finding is %s", got.State)
	}
}

// An approver who made the drift under another name is refused.
func TestApproverUnderAnotherName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.people(map[string][]string{"Mallory M": {"unix:1001", "kubernetes:mallory"}})
	a := b.propose(t, "")
	_, err := b.Approve(t.Context(), a.ID, reconcile.Request{By: "Mallory M", Digest: a.Digest})
	if err == nil || !strings.Contains(err.Error(), "made the drift") {
		t.Errorf("got %v", err)
	}
}

// A rule has a limited number of proposals, and a finding for which no plan can be made is planned again only after a
// while, or when it changes, or comes again after it was over.
func TestObserveIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(r *reconcile.Rule) { r.PerHour = 3 })
	for _, id := range []string{"f2", "f3", "f4", "f5"} {
		b.drift(id, id)
	}
	observe := func() {
		t.Helper()
		if err := b.Observe(t.Context(), b.store.findings); err != nil {
			t.Fatal(err)
		}
	}
	observe()
	observe()
	if len(b.store.actions) != 3 {
		t.Errorf("%d proposals, want 3", len(b.store.actions))
	}
	b.store.actions, b.store.findings = nil, b.store.findings[:1]
	plans := 0
	b.live.BeforePlan = func() error { plans++; return &reconcile.Refusal{Guard: "declarer", Why: "Flux applies it"} }
	observe()
	observe()
	if plans != 1 {
		t.Errorf("%d plans, want 1", plans)
	}
	b.now = b.now.Add(11 * time.Minute)
	observe()
	b.store.findings[0].Basis = "other"
	observe()
	if plans != 3 {
		t.Errorf("%d plans, want 3", plans)
	}
	again := b.store.findings
	b.store.findings = nil
	observe()
	b.store.findings = again
	observe()
	observe()
	if plans != 4 {
		t.Errorf("%d plans, want 4", plans)
	}
}

func TestPreviewChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, err := b.Preview(t.Context(), b.finding, "alice")
	if err != nil || !p.Allowed() || p.Digest == "" || len(b.store.actions) > 0 || b.live.Writes > 0 {
		t.Errorf("got %+v, %v", p, err)
	}
	b.live.BeforePlan = func() error { return &reconcile.Refusal{Guard: "declarer", Why: "Flux applies it"} }
	if p, err = b.Preview(t.Context(), b.finding, "alice"); err != nil || p.Allowed() || p.Guards[len(p.Guards)-1].Why != "Flux applies it" {
		t.Errorf("got %+v, %v", p, err)
	}
}

// TestAuthorsDoNotApprove checks that no person with a part in the drift approves, by any of their names, and that
// a person with the name of a field manager does.
func TestAuthorsDoNotApprove(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.finding.Actor = model.Actor{Name: "alice", Via: model.ViaManagedFields, Confidence: model.Likely}
	b.finding.Changes[0].LiveActor = &model.Actor{Name: "bob@example.org", Via: model.AuditLog, Confidence: model.Exact}
	b.people(map[string][]string{"alice": {"login:alice"}, "bob": {"oidc:bob@example.org"}})
	a := b.propose(t, "")
	_, err := b.Approve(t.Context(), a.ID, reconcile.Request{By: "bob", Digest: a.Digest})
	if err == nil || !strings.Contains(err.Error(), "bob made the drift") {
		t.Errorf("the author: %v", err)
	}
	if a, err := b.approve(t, &a, "alice"); err != nil || a.State != reconcile.Converged {
		t.Errorf("another person: %s, %v", a.State, err)
	}
}

// TestControlsAreOfKnownNames checks that a control that would have no effect is an error.
func TestControlsAreOfKnownNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for want, c := range map[string]reconcile.Control{
		"no freeze holds": {Kind: reconcile.Thaw}, `no freeze of source "prdo" holds`: {Kind: reconcile.Thaw, Source: "prdo"},
		`no rule "shpo"`: {Kind: reconcile.Resume, Rule: "shpo"}, `source "prdo" has no writer: name one of prod`: {Kind: reconcile.Freeze, Source: "prdo"}} {
		if _, err := b.AddControl(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for _, c := range []reconcile.Control{{Kind: reconcile.Resume, Rule: "shop"}, {Kind: reconcile.Freeze, Source: "prod", Until: b.now.Add(time.Hour)}, {Kind: reconcile.Thaw}} {
		if _, err := b.AddControl(c); err != nil {
			t.Error(err)
		}
	}
}

// TestSentTwice checks that a rejection of a request that was carried out before counts as written.
func TestSentTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.propose(t, "")
	b.live.Before = func() error { b.live.Set("web:1"); return nil }
	if a, err := b.approve(t, &a, "alice"); err != nil || stepsOf(&a) != "[proposed approved armed written converged]" {
		t.Errorf("got %s: %v", stepsOf(&a), err)
	}
}
