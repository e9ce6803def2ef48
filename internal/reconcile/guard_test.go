package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/reconcile/reconciletest"
)

// situation returns one that no guard refuses.
func situation() *reconcile.Situation {
	return &reconcile.Situation{Now: start(), Writer: true, Evidence: reconcile.Evidence{Declared: 100},
		Rule: &reconcile.Rule{Name: "shop", Mode: reconcile.Approve, Limits: reconcile.DefaultLimits()},
		Finding: &model.Finding{ID: "f1", Verdict: model.Changed, Key: model.Key{Source: "prod", Kind: "kubernetes/Deployment.apps", ID: "shop/api"},
			Declaration: "git", FirstSeen: start().Add(-time.Hour), Actor: model.Actor{Name: "mallory"}}}
}

// past returns an action of the rule on a resource that ended some time ago.
func past(id, resource string, state reconcile.State, ago time.Duration) reconcile.Action {
	s := situation()
	at := start().Add(-ago)
	a := reconcile.Action{ID: id, Subject: model.Key{Source: "prod", Kind: "kubernetes/Deployment.apps", ID: resource}, Declaration: "git",
		Rule: "shop", RuleDigest: s.Rule.Digest(), Drift: model.Actor{Name: "mallory"}, At: at}
	if state != reconcile.Proposed {
		a.Enter(reconcile.Armed, at, "")
	}
	a.Enter(state, at, "")
	return a
}

// cores returns a change of a number of cores that waits for a restart.
func cores(declared, live, running int64) []model.Change {
	d, l, r := model.IntOf(declared), model.IntOf(live), model.IntOf(running)
	return []model.Change{{Path: "cores", Declared: &d, Live: &l, Running: &r}}
}

func TestGuards(t *testing.T) {
	t.Parallel()
	if refusal := reconcile.Check(situation()); refusal != nil {
		t.Fatalf("without a reason: %v", refusal)
	}
	history := func(list ...reconcile.Action) func(*reconcile.Situation) {
		return func(s *reconcile.Situation) { s.History = list }
	}
	for name, c := range map[string]struct {
		edit        func(*reconcile.Situation)
		guard, want string
	}{
		"no rule":        {func(s *reconcile.Situation) { s.Rule = nil }, "off", "no rule of reconcile.rules matches"},
		"off":            {func(s *reconcile.Situation) { s.Rule.Mode = reconcile.Off }, "off", `rule "shop" has the mode off`},
		"suggest":        {func(s *reconcile.Situation) { s.Rule.Mode = reconcile.Suggest }, "off", "driftd suggest f1"},
		"no credentials": {func(s *reconcile.Situation) { s.Writer = false }, "off", "source prod has no writer"},
		"doubt":          {func(s *reconcile.Situation) { s.Doubt = "restored" }, "quarantine", "restored"},
		"pending":        {func(s *reconcile.Situation) { s.Finding.Verdict = model.Pending }, "verdict", "pending findings are never put back"},
		"conflict":       {func(s *reconcile.Situation) { s.Finding.Verdict = model.Conflict }, "verdict", "never"},
		"disputed":       {func(s *reconcile.Situation) { s.Finding.Verdict = model.Disputed }, "verdict", "never"},
		"grouped": {func(s *reconcile.Situation) {
			s.Finding.Verdict, s.Finding.Declaration, s.Finding.Objects, s.Rule.Delete = model.Unmanaged, "", []string{"Service web/redis"}, true
		}, "verdict", "remove them with that tool"},
		"violated":         {func(s *reconcile.Situation) { s.Finding.Verdict = model.Violated }, "verdict", "never"},
		"unmanaged":        {func(s *reconcile.Situation) { s.Finding.Verdict = model.Unmanaged }, "verdict", "never"},
		"nondeterministic": {func(s *reconcile.Situation) { s.Finding.Verdict = model.Nondeterministic }, "verdict", "nondeterministic findings are never put back"},
		"unchecked":        {func(s *reconcile.Situation) { s.Finding.Verdict = model.Unchecked }, "verdict", "never"},
		"missing":          {func(s *reconcile.Situation) { s.Finding.Verdict = model.Missing }, "verdict", "does not set create"},
		"unproven":         {func(s *reconcile.Situation) { s.Finding.Unproven = true }, "verdict", "may be pending"},
		"resolved":         {func(s *reconcile.Situation) { s.Finding.Resolved = start() }, "verdict", "resolved"},
		"automatic bypass": {func(s *reconcile.Situation) { s.Finding.Verdict, s.Rule.Mode = model.Bypassed, reconcile.Auto }, "verdict", "needs a person"},
		"automatic restart": {func(s *reconcile.Situation) {
			s.Finding.Verdict, s.Rule.Mode, s.Finding.Changes = model.PendingRestart, reconcile.Auto, cores(2, 4, 2)
		}, "verdict", "a change that waits for a restart needs a person"},
		"set, and waiting": {func(s *reconcile.Situation) {
			s.Finding.Verdict, s.Finding.Changes = model.PendingRestart, cores(2, 2, 4)
		}, "verdict", "it is set as declared"},
		"accepted": {func(s *reconcile.Situation) {
			s.Finding.Decision = &model.Decision{ID: "d1", Kind: model.Accept, By: "alice"}
		}, "decided", "it was accepted: revoke decision d1 first"},
		"hidden":            {func(s *reconcile.Situation) { s.Finding.Hidden = "sandbox" }, "decided", "sandbox"},
		"flapping":          {func(s *reconcile.Situation) { s.Finding.Flapping = true }, "flapping", "flapping"},
		"not read":          {func(s *reconcile.Situation) { s.Unread = "source prod could not be read" }, "coverage", "could not be read"},
		"nothing declared":  {func(s *reconcile.Situation) { s.Declared = 0 }, "coverage", "declares no resource"},
		"not in a commit":   {func(s *reconcile.Situation) { s.Uncommitted = "use git" }, "declaration", "use git"},
		"differs by chance": {func(s *reconcile.Situation) { s.Nondeterministic = "the chart calls now" }, "nondeterministic", "the chart calls now"},
		"too young":         {func(s *reconcile.Situation) { s.Finding.FirstSeen = start().Add(-time.Minute) }, "age", "wait until it is as it is for 5m0s"},
		"changed just now": {func(s *reconcile.Situation) {
			s.Finding.Flips = []model.Flip{{At: start().Add(-20 * time.Minute)}, {At: start().Add(-time.Minute)}}
		}, "age", "it changed 1m0s ago"},
		"the future": {func(s *reconcile.Situation) { s.Finding.FirstSeen = start().Add(time.Minute) }, "age", "clock was set back"},
		"too old": {func(s *reconcile.Situation) {
			s.Rule.Mode, s.Finding.FirstSeen = reconcile.Auto, start().Add(-25*time.Hour)
		}, "age", "needs a person"},
		"open action":   {history(past("a1", "shop/api", reconcile.Proposed, time.Minute)), "open", "action a1 of the same resource is proposed"},
		"not converged": {history(past("a1", "shop/web", reconcile.NotConverged, 48*time.Hour)), "breaker", "action a1 was not-converged"},
		"unknown":       {history(past("a1", "shop/web", reconcile.Unknown, time.Minute)), "breaker", "action a1 was unknown"},
		"unknown before": {func(s *reconcile.Situation) {
			a := past("a1", "shop/web", reconcile.Unknown, 2*time.Hour)
			a.Enter(reconcile.Converged, start().Add(-time.Hour), "")
			s.History = []reconcile.Action{a}
		}, "breaker", "action a1 was unknown"},
		"two failures":  {history(past("a1", "shop/web", reconcile.Failed, 2*time.Hour), past("a2", "shop/db", reconcile.Failed, time.Hour)), "breaker", "2 actions failed in succession, a2 last"},
		"one at a time": {history(past("a1", "shop/web", reconcile.Armed, time.Minute)), "canary", "one at a time"},
		"soak":          {history(past("a1", "shop/web", reconcile.Converged, time.Minute)), "canary", "watched until 2026-11-25 12:09 UTC"},
		"share": {func(s *reconcile.Situation) {
			s.Declared, s.History = 10, []reconcile.Action{past("a1", "shop/web", reconcile.Converged, 50*time.Minute)}
		}, "blast", "2 of the 10 resources"},
		"per hour": {func(s *reconcile.Situation) {
			s.Rule.PerHour = 1
			a := past("a1", "shop/web", reconcile.Converged, 50*time.Minute)
			a.Rule = "other"
			s.History = []reconcile.Action{a}
		}, "blast", "1 actions on source prod in the last hour"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := situation()
			c.edit(s)
			refusal := reconcile.Check(s)
			if refusal == nil || refusal.Guard != c.guard || !strings.Contains(refusal.Why, c.want) {
				t.Errorf("got %v, want guard %s with %q", refusal, c.guard, c.want)
			}
		})
	}
}

// TestFailuresInSuccession checks that a success between two failures ends the row, and that a resumption
// does.
func TestFailuresInSuccession(t *testing.T) {
	t.Parallel()
	s := situation()
	s.History = []reconcile.Action{past("a1", "shop/a", reconcile.Failed, 9*time.Hour), past("a2", "shop/b", reconcile.Converged, 8*time.Hour),
		past("a3", "shop/c", reconcile.Failed, 7*time.Hour)}
	if refusal := reconcile.Check(s); refusal != nil {
		t.Errorf("after a success: %v", refusal)
	}
	s.History = append(s.History, past("a4", "shop/d", reconcile.NotConverged, 6*time.Hour))
	s.Controls = []reconcile.Control{{Kind: reconcile.Resume, Rule: "shop", At: start().Add(-time.Hour)}}
	if refusal := reconcile.Check(s); refusal != nil {
		t.Errorf("after the resumption: %v", refusal)
	}
}

func TestFrozen(t *testing.T) {
	t.Parallel()
	at := func(hour int) time.Time { return start().Add(time.Duration(hour) * time.Hour) }
	controls := []reconcile.Control{
		{ID: "all", Kind: reconcile.Freeze, At: at(0), Until: at(4)},
		{ID: "prod", Kind: reconcile.Freeze, Source: "prod", At: at(1), Until: at(8)},
		{ID: "dev", Kind: reconcile.Freeze, Source: "dev", At: at(1), Until: at(8)},
	}
	names := func(list []reconcile.Control) string {
		var all []string
		for _, c := range list {
			all = append(all, c.ID)
		}
		return strings.Join(all, " ")
	}
	for name, c := range map[string]struct {
		thaw []reconcile.Control
		now  time.Time
		want string
	}{
		"all":            {nil, at(2), "all prod dev"},
		"the first over": {nil, at(4), "prod dev"},
		"all over":       {nil, at(8), ""},
		"thaw of one":    {[]reconcile.Control{{Kind: reconcile.Thaw, Source: "prod"}}, at(2), "all dev"},
		"thaw":           {[]reconcile.Control{{Kind: reconcile.Thaw}}, at(2), ""},
	} {
		if got := names(reconcile.Frozen(append(controls, c.thaw...), c.now)); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestRulePaths checks that all fields of a finding must match, and that the key of an element that only
// the live side has does not count.
func TestRulePaths(t *testing.T) {
	t.Parallel()
	declared := model.StringOf("x")
	rules := []reconcile.Rule{{Name: "images", Paths: []string{`spec.containers\[name=web\].image`, "spec.containers.env"}}}
	for path, c := range map[string]struct {
		declared *model.Value
		want     bool
	}{
		"spec.containers[name=web].image":  {&declared, true},
		"spec.containers[name=side].image": {&declared, false},
		"spec.containers[name=web].env":    {nil, true},
		"spec.replicas":                    {&declared, false},
	} {
		f := &model.Finding{Changes: []model.Change{{Path: path, Declared: c.declared}}}
		if got := reconcile.Find(rules, f) != nil; got != c.want {
			t.Errorf("%s: got %t", path, got)
		}
	}
	f := &model.Finding{Changes: []model.Change{{Path: "spec.containers[name=web].image", Declared: &declared}, {Path: "spec.replicas", Declared: &declared}}}
	if reconcile.Find(rules, f) != nil {
		t.Error("a rule for one of two fields matches")
	}
}

// TestObsolete checks that what guards depend on is kept.
func TestObsolete(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	s := reconcile.Standing{History: []reconcile.Action{
		past("old", "shop/a", reconcile.Converged, 40*day), past("young", "shop/a", reconcile.Converged, 20*day),
		past("stops", "shop/a", reconcile.NotConverged, 40*day), past("open", "shop/a", reconcile.Unknown, 40*day)},
		Controls: []reconcile.Control{
			{ID: "r1", Kind: reconcile.Resume, Rule: "shop", At: start().Add(-60 * day)},
			{ID: "r2", Kind: reconcile.Resume, Rule: "shop", At: start().Add(-50 * day)},
			{ID: "f1", Kind: reconcile.Freeze, At: start().Add(-50 * day), Until: start().Add(day)},
			{ID: "f2", Kind: reconcile.Freeze, At: start().Add(-50 * day), Until: start().Add(-40 * day)},
		}}
	actions, controls := s.Obsolete(start(), start())
	if len(actions) != 1 || actions[0].ID != "old" {
		t.Errorf("actions: %v", actions)
	}
	if len(controls) != 2 || controls[0].ID != "r1" || controls[1].ID != "f2" {
		t.Errorf("controls: %v", controls)
	}
}

// TestRecordingRules checks the guards of a rule that writes what is live into the declaration.
func TestRecordingRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit        func(*reconcile.Situation)
		guard, want string
	}{
		"a change":                {func(*reconcile.Situation) {}, "", ""},
		"a declaration alone":     {func(s *reconcile.Situation) { s.Uncommitted = "use git" }, "", ""},
		"a dispute":               {func(s *reconcile.Situation) { s.Finding.Verdict = model.Disputed }, "", ""},
		"no writer":               {func(s *reconcile.Situation) { s.Writer = false }, "off", "of type netbox"},
		"missing":                 {func(s *reconcile.Situation) { s.Finding.Verdict = model.Missing }, "verdict", "never written into a declaration"},
		"unmanaged":               {func(s *reconcile.Situation) { s.Finding.Verdict = model.Unmanaged }, "verdict", "never written into a declaration"},
		"automatic":               {func(s *reconcile.Situation) { s.Rule.Mode = reconcile.Auto }, "", ""},
		"a dispute, automatic":    {func(s *reconcile.Situation) { s.Rule.Mode, s.Finding.Verdict = reconcile.Auto, model.Disputed }, "verdict", "a disputed finding needs a person"},
		"moved, automatic":        {func(s *reconcile.Situation) { s.Rule.Mode, s.Finding.Verdict = reconcile.Auto, model.Moved }, "verdict", "a moved finding needs a person"},
		"not read":                {func(s *reconcile.Situation) { s.Unread = "netbox could not be read" }, "coverage", "could not be read"},
		"an inventory, automatic": {func(s *reconcile.Situation) { s.Rule.Mode, s.Rule.Changes, s.Logged = reconcile.Auto, "", true }, "verdict", "what no commit declares needs a person"},
		"an inventory":            {func(s *reconcile.Situation) { s.Rule.Changes, s.Logged = "", true }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := situation()
			s.Rule.Changes = reconcile.Declared
			c.edit(s)
			refusal := reconcile.Check(s)
			if refusal == nil {
				refusal = &reconcile.Refusal{}
			}
			if refusal.Guard != c.guard || !strings.Contains(refusal.Why, c.want) {
				t.Errorf("%v, want guard %q with %q", refusal, c.guard, c.want)
			}
		})
	}
}

// TestDisputedDeclaration checks which declaration a rule changes of those that disagree.
func TestDisputedDeclaration(t *testing.T) {
	t.Parallel()
	two := model.IntOf(2)
	f := &model.Finding{Verdict: model.Disputed, Key: model.Key{Source: "pve"}, Declaration: "infra", Changes: []model.Change{{Path: "cpu[0].cores", Declared: &two, Claims: []model.ClaimedValue{
		{Declaration: "infra", Address: "vm.web", Value: two}, {Declaration: "intent", Address: "virtual-machines/6", Path: "vcpus", Value: model.IntOf(8)},
	}}}}
	live, netbox, other := &reconciletest.System{Value: "live"}, &reconciletest.System{Value: "netbox"}, &reconciletest.System{Value: "other"}
	w := reconcile.Writers{Actuators: map[string]reconcile.Actuator{"pve": live}, Recorders: map[string]reconcile.Recorder{"intent": {Actuator: netbox, Source: "netbox"}}}
	if got := w.For(f, &reconcile.Rule{Changes: reconcile.Declared}); got != netbox {
		t.Errorf("a rule that changes the declaration has %v", got)
	}
	if got := w.For(f, &reconcile.Rule{}); got != live {
		t.Errorf("a rule that changes what is live has %v", got)
	}
	w.Recorders["infra"] = reconcile.Recorder{Actuator: other}
	if got := w.For(f, &reconcile.Rule{Changes: reconcile.Declared}); got != nil {
		t.Errorf("with two declarations that can be written, a rule has %v", got)
	}
}
