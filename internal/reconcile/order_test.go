package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// TestClockSetBack checks that what persons and actions did counts in the order in which it was stored, also if the clock
// was set back.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	b, a := unknown(t)
	b.live.Set("web:evil")
	other := b.drift("f2", "web")
	propose := func() error {
		_, err := b.Propose(t.Context(), other, reconcile.Request{By: "bob"})
		return err
	}
	other.FirstSeen = b.now.Add(-48 * time.Hour)
	b.now = b.now.Add(-24 * time.Hour)
	if _, err := b.Settle(t.Context(), a.ID, settlement(reconcile.Converged)); err != nil {
		t.Fatal(err)
	}
	if err := propose(); err == nil || !strings.Contains(err.Error(), "is stopped") {
		t.Errorf("before the resumption: %v", err)
	}
	if _, err := b.AddControl(reconcile.Control{Kind: reconcile.Resume, Rule: "shop", By: "bob"}); err != nil {
		t.Fatal(err)
	}
	if err := propose(); err != nil {
		t.Errorf("after a resumption with an earlier time: %v", err)
	}
	// A thaw with an earlier time than its freeze ends it.
	b.now = b.now.Add(time.Hour)
	for _, c := range []reconcile.Control{{Kind: reconcile.Freeze, Until: b.now.Add(48 * time.Hour)}, {Kind: reconcile.Thaw}} {
		if _, err := b.AddControl(c); err != nil {
			t.Fatal(err)
		}
		b.now = b.now.Add(-time.Hour)
	}
	if o, err := b.Overview(); err != nil || len(o.Freezes) != 0 {
		t.Errorf("it is frozen by %+v: %v", o.Freezes, err)
	}
}

// TestRecordsOfBefore checks that steps and controls without a position are ordered by time, and are older than
// those with one.
func TestRecordsOfBefore(t *testing.T) {
	t.Parallel()
	s := situation()
	s.History = []reconcile.Action{past("a1", "shop/web", reconcile.NotConverged, 3*time.Hour)}
	s.Controls = []reconcile.Control{{Kind: reconcile.Resume, Rule: "shop", At: start().Add(-4 * time.Hour)}}
	if refusal := reconcile.Check(s); refusal == nil || refusal.Guard != "breaker" {
		t.Errorf("a resumption before it: %v", refusal)
	}
	resume := reconcile.Control{Kind: reconcile.Resume, Rule: "shop", At: start().Add(-5 * time.Hour)}
	s.NumberControl(&resume)
	s.Controls = append(s.Controls, resume)
	s.Sort()
	if refusal := reconcile.Check(s); refusal != nil {
		t.Errorf("a resumption after it: %v", refusal)
	}
	if resume.Seq != 1 {
		t.Errorf("the first position is %d", resume.Seq)
	}
}

// renamed returns a situation after an action of rule "old", which the configuration does not have any more.
func renamed(match model.Selector, state reconcile.State) *reconcile.Situation {
	s := situation()
	s.Rule.Match = match
	s.Rules = []reconcile.Rule{*s.Rule}
	a := past("a1", "shop/web", state, time.Hour)
	a.Rule, a.Place, a.Name, a.Verdict = "old", "shop", "web", model.Changed
	s.History = []reconcile.Action{a}
	return s
}

// TestRenamedRule checks that a rule stays stopped under another name, until one of the names is resumed.
func TestRenamedRule(t *testing.T) {
	t.Parallel()
	prod := model.Selector{Sources: []string{"prod"}}
	for name, c := range map[string]struct {
		s       *reconcile.Situation
		guard   string
		resumed []string
		reason  string
	}{
		"renamed":              {renamed(prod, reconcile.NotConverged), "breaker", []string{"shop", "old"}, "it matches the same findings"},
		"narrowed":             {renamed(model.Selector{Sources: []string{"prod"}, Resources: []string{"shop/api"}}, reconcile.NotConverged), "breaker", []string{"shop", "old"}, "no rule matches the finding"},
		"unknown":              {renamed(model.Selector{}, reconcile.Unknown), "breaker", nil, "a rule without sources matches all"},
		"one at a time":        {renamed(prod, reconcile.Armed), "canary", nil, "it is not over"},
		"of another source":    {renamed(model.Selector{Sources: []string{"lab"}}, reconcile.NotConverged), "", nil, "the rule never acts there"},
		"another rule has it":  {withRule(renamed(prod, reconcile.NotConverged), "old", model.Selector{}), "", nil, "the rule with the name is stopped"},
		"names were exchanged": {withRule(renamed(prod, reconcile.NotConverged), "old", model.Selector{Kinds: []string{"v1/Pod"}}), "breaker", []string{"shop", "old"}, "the rule matches the finding of the action now"},
	} {
		refusal := reconcile.Check(c.s)
		if c.guard == "" && refusal != nil || c.guard != "" && (refusal == nil || refusal.Guard != c.guard || !strings.Contains(refusal.Why, `of rule "old"`)) {
			t.Errorf("%s: %s: got %v", name, c.reason, refusal)
		}
		for _, rule := range c.resumed {
			c.s.Controls = []reconcile.Control{{Kind: reconcile.Resume, Rule: rule, At: start()}}
			if refusal := reconcile.Check(c.s); refusal != nil {
				t.Errorf("%s, %s resumed: %v", name, rule, refusal)
			}
		}
	}
}

// withRule puts a rule before the others.
func withRule(s *reconcile.Situation, name string, match model.Selector) *reconcile.Situation {
	s.Rules = append([]reconcile.Rule{{Name: name, Mode: reconcile.Approve, Match: match, Limits: reconcile.DefaultLimits()}}, s.Rules...)
	return s
}

// TestFailuresUnderTwoNames checks that failures in succession count together if the rule was renamed between them.
func TestFailuresUnderTwoNames(t *testing.T) {
	t.Parallel()
	s := renamed(model.Selector{}, reconcile.Failed)
	s.History = append(s.History, past("a2", "shop/db", reconcile.Failed, time.Minute))
	if refusal := reconcile.Check(s); refusal == nil || refusal.Guard != "breaker" || !strings.Contains(refusal.Why, "2 actions failed in succession, a2 last") {
		t.Errorf("got %v", refusal)
	}
}

// TestResumeOldName checks that a rule of which only actions are left can be resumed.
func TestResumeOldName(t *testing.T) {
	t.Parallel()
	b, _ := unknown(t)
	b.Rules[0].Name = "new"
	for _, name := range []string{"shop", "new"} {
		if _, err := b.AddControl(reconcile.Control{Kind: reconcile.Resume, Rule: name, By: "bob"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.AddControl(reconcile.Control{Kind: reconcile.Resume, Rule: "shpo", By: "bob"}); err == nil {
		t.Error("an unknown name is accepted")
	}
}

// TestRefusalsAreCounted checks that each refusal is counted once, at the proposal and before the request is sent.
func TestRefusalsAreCounted(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]reconcile.Mode{"approved": reconcile.Approve, "automatic": reconcile.Auto} {
		b := newBench(t, func(r *reconcile.Rule) { r.Mode = mode })
		b.reads.refresh = func() { b.reads.evidence.Unread = "the declaration could not be read" }
		a, err := b.Propose(t.Context(), b.finding, reconcile.Request{})
		if err == nil {
			_, err = b.approve(t, &a, "alice")
		}
		if err == nil {
			t.Fatalf("%s: it was not refused", name)
		}
		if _, err := b.Propose(t.Context(), b.finding, reconcile.Request{}); err == nil {
			t.Fatalf("%s: it was not refused", name)
		}
		if o, err := b.Overview(); err != nil || o.Refusals["coverage"] != 2 || len(o.Refusals) != 1 {
			t.Errorf("%s: got %v, %v", name, o.Refusals, err)
		}
	}
}

// TestRevision checks that an action has the commit of the declaration that was read last before it was armed.
func TestRevision(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.reads.evidence.Revision = "c0ffee"
	a := b.propose(t, "")
	if a.Revision != "c0ffee" {
		t.Errorf("proposed at %q", a.Revision)
	}
	b.reads.refresh = func() { b.reads.evidence.Revision = "decaf" }
	if a, err := b.approve(t, &a, "alice"); err != nil || a.Revision != "decaf" {
		t.Errorf("armed at %q: %v", a.Revision, err)
	}
}

// TestReasonsNameNoPerson checks that what is stored of a refusal has no name that may be erased.
func TestReasonsNameNoPerson(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*reconcile.Situation){
		"freeze": func(s *reconcile.Situation) {
			s.Controls = []reconcile.Control{{ID: "c1", Kind: reconcile.Freeze, Until: start().Add(time.Hour), By: "alice", Reason: "sale"}}
		},
		"decision": func(s *reconcile.Situation) {
			s.Finding.Decision = &model.Decision{ID: "d1", Kind: model.Accept, By: "alice", Owner: "alice"}
		},
		"fight": func(s *reconcile.Situation) {
			s.Finding.Actor = model.Actor{Name: "alice", Via: model.AuditLog, Confidence: model.Exact}
			s.History = []reconcile.Action{past("a1", "shop/api", reconcile.Converged, 3*time.Hour), past("a2", "shop/api", reconcile.Converged, 2*time.Hour)}
			s.History[1].Drift = s.Finding.Actor
		},
	} {
		s := situation()
		edit(s)
		if refusal := reconcile.Check(s); refusal == nil || strings.Contains(refusal.Error(), "alice") {
			t.Errorf("%s: got %v", name, refusal)
		}
	}
}
