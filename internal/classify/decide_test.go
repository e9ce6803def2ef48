package classify

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
)

// basisOf is that of the one finding of an outcome.
func basisOf(t *testing.T, o model.Outcome) string {
	t.Helper()
	found := Findings(input(o)).Current
	if len(found) != 1 || len(found[0].Basis) != 32 {
		t.Fatalf("got %+v", found)
	}
	return found[0].Basis
}

func TestBasis(t *testing.T) {
	t.Parallel()
	set := func(by string, at time.Time) model.Outcome {
		return model.Outcome{Verdict: model.Changed, Claim: &model.Claim{Declaration: "d"},
			Changes: []model.Change{{Path: "cipassword", Secret: true, Actor: &model.Actor{Name: by, At: at}}}}
	}
	missing := func(declared string) model.Outcome {
		return model.Outcome{Verdict: model.Missing, Claim: &model.Claim{Declaration: "d", Value: model.StringOf(declared)}}
	}
	unchecked := func(reason string) model.Outcome {
		return model.Outcome{Verdict: model.Unchecked, Claim: &model.Claim{Declaration: "d"}, Reason: reason}
	}
	values := func(declared, recorded, live string, by string) model.Outcome {
		side := func(text string) *model.Value {
			if text == "" {
				return nil
			}
			v := model.StringOf(text)
			return &v
		}
		return model.Outcome{Verdict: model.Changed, Claim: &model.Claim{Declaration: "d"},
			Changes: []model.Change{{Path: "a", Declared: side(declared), Recorded: side(recorded), Live: side(live), Actor: &model.Actor{Name: by, At: now}}}}
	}
	disputed := func(declaration, value string) model.Outcome {
		o := changed("a")
		o.Verdict = model.Disputed
		o.Changes[0].Claims = []model.ClaimedValue{{Declaration: declaration, Value: model.StringOf(value)}}
		return o
	}
	pending := func(recorded, why string) model.Outcome {
		o := model.Outcome{Verdict: model.Pending, Claim: &model.Claim{Declaration: "d", ClaimApply: model.ClaimApply{Pending: why}}}
		if recorded != "" {
			v := model.StringOf(recorded)
			o.Claim.Recorded = &v
		}
		return o
	}
	unmanaged := func(reason string) model.Outcome { return model.Outcome{Verdict: model.Unmanaged, Reason: reason} }
	later := changed("a")
	later.Actor = model.Actor{Name: "bob"}
	for reason, tc := range map[string]struct {
		a, b model.Outcome
		same bool
	}{
		"the same":                           {changed("a"), changed("a"), true},
		"another field":                      {changed("a"), changed("b"), false},
		"who did it is no part of it":        {changed("a"), later, true},
		"a secret was set once more":         {set("bob", now), set("bob", now.Add(time.Second)), false},
		"a secret was set by somebody else":  {set("bob", now), set("mallory", now), false},
		"the same secret, looked at again":   {set("bob", now), set("bob", now), true},
		"something else is declared missing": {missing("1"), missing("2"), false},
		"why nobody could look is no part":   {unchecked("refused"), unchecked("timeout"), true},
		"another declared value":             {values("x", "y", "z", ""), values("X", "y", "z", ""), false},
		"another recorded value":             {values("x", "y", "z", ""), values("x", "Y", "z", ""), false},
		"another live value":                 {values("x", "y", "z", ""), values("x", "y", "Z", ""), false},
		"the same value on another side":     {values("x", "", "z", ""), values("", "x", "z", ""), false},
		"who set a declared value":           {values("x", "", "", "ann"), values("x", "", "", "bob"), true},
		"who set a recorded value":           {values("", "x", "", "ann"), values("", "x", "", "bob"), true},
		"who set a live value":               {values("", "", "x", "ann"), values("", "", "x", "bob"), true},
		"who set a value that is not shown":  {values("", "", "", "ann"), values("", "", "", "bob"), false},
		"another value in a dispute":         {disputed("d", "x"), disputed("d", "y"), false},
		"another declaration in a dispute":   {disputed("d", "x"), disputed("e", "x"), false},
		"another record waits":               {pending("x", "to destroy"), pending("y", "to destroy"), false},
		"a record waits, and none":           {pending("x", "to destroy"), pending("", "to destroy"), false},
		"something else is to be done":       {pending("x", "to destroy"), pending("x", "to make"), false},
		"unmanaged for another reason":       {unmanaged("outside"), unmanaged("inside"), false},
	} {
		if same := basisOf(t, tc.a) == basisOf(t, tc.b); same != tc.same {
			t.Errorf("%s: the bases are the same: %t", reason, same)
		}
	}
}

func TestUncheckedKeepsItsReason(t *testing.T) {
	t.Parallel()
	outcome := func(reason string) model.Outcome {
		return model.Outcome{Verdict: model.Unchecked, Claim: &model.Claim{Declaration: "d"}, Reason: reason}
	}
	for reason, want := range map[string]string{
		"read 10.0.0.1:41234: refused": "read 10.0.0.1:40000: refused",
		"no answer within 30s":         "no answer within 30s",
		"read 10.0.0.9:1: refused":     "read 10.0.0.1:40000: refused",
		"read 10.0.0.1:: refused":      "read 10.0.0.1:40000: refused",
		"read 10.0.0.1:40000; refused": "read 10.0.0.1:40000; refused",
	} {
		in := input(outcome(reason))
		in.Earlier = before(outcome("read 10.0.0.1:40000: refused"))
		if got := Findings(in).Current[0].Reason; got != want {
			t.Errorf("%q is said as %q, want %q", reason, got, want)
		}
	}
}

// TestRulesOfWhatIsRemembered: a rule counts for what could not be looked at
// again, too, and so does its end.
func TestRulesOfWhatIsRemembered(t *testing.T) {
	t.Parallel()
	two := changed("a")
	two.Changes = append(two.Changes, changed("b").Changes...)
	in := input(two)
	in.Rules = []Rule{{Path: "a", Reason: "r", Expires: now.Add(time.Hour)}, {Path: "b", Reason: "r", Expires: now.Add(time.Hour)}}
	first := Findings(in).Current
	if first[0].Hidden == "" || len(first[0].Ignored) != 1 {
		t.Fatalf("got %+v, want it hidden", first)
	}
	in.Earlier, in.Judged, in.Snapshots, in.Now = first, nil, nil, now.Add(2*time.Hour)
	got := Findings(in).Remembered
	if len(got) != 1 || got[0].Hidden != "" || len(got[0].Ignored) != 0 || len(got[0].Changes) != 2 {
		t.Errorf("got %+v, want both fields shown again", got)
	}
}

// TestUnreadablePartsAreNeverHidden: neither when they are found nor when they
// are remembered.
func TestUnreadablePartsAreNeverHidden(t *testing.T) {
	t.Parallel()
	in := input()
	in.Rules = []Rule{{Source: "s", Reason: "r"}}
	in.Declarations[0].Problems = []model.Problem{{Address: "x.yaml:3", Reason: "tab"}}
	first := Findings(in).Current
	in.Earlier, in.Declarations = first, nil
	remembered := Findings(in).Remembered
	if len(first) != 1 || first[0].Hidden != "" || len(remembered) != 1 || remembered[0].Hidden != "" {
		t.Errorf("found %+v, remembered %+v, want both shown", first, remembered)
	}
}

// TestAcceptanceOfAWorseVerdict: who accepted values as bypassed accepted them as
// pending, but not the other way round, and nothing else.
func TestAcceptanceOfAWorseVerdict(t *testing.T) {
	t.Parallel()
	found := func(verdict model.Verdict, value string) model.Outcome {
		v := model.StringOf(value)
		return model.Outcome{Verdict: verdict, Claim: &model.Claim{Declaration: "d"}, Changes: []model.Change{{Path: "a", Live: &v}}}
	}
	for reason, tc := range map[string]struct {
		accepted, now model.Outcome
		severities    []model.SeverityRule
		holds         bool
	}{
		"bypassed, now pending":           {found(model.Bypassed, "x"), found(model.Pending, "x"), nil, true},
		"pending, now bypassed":           {found(model.Pending, "x"), found(model.Bypassed, "x"), nil, false},
		"changed, now moved":              {found(model.Changed, "x"), found(model.Moved, "x"), nil, true},
		"moved, now changed":              {found(model.Moved, "x"), found(model.Changed, "x"), nil, false},
		"changed, now pending":            {found(model.Changed, "x"), found(model.Pending, "x"), nil, false},
		"bypassed, now another pending":   {found(model.Bypassed, "x"), found(model.Pending, "y"), nil, false},
		"bypassed, and pending is worse":  {found(model.Bypassed, "x"), found(model.Pending, "x"), []model.SeverityRule{{Verdicts: []model.Verdict{model.Pending}, Severity: model.High}}, false},
		"bypassed, and pending is as bad": {found(model.Bypassed, "x"), found(model.Pending, "x"), []model.SeverityRule{{Severity: model.High}}, true},
	} {
		scan := func(o model.Outcome) Input {
			in := input(o)
			in.Judged[0].Subject.Kind = &model.Kind{Severities: tc.severities}
			return in
		}
		in := scan(tc.now)
		in.Earlier = Findings(scan(tc.accepted)).Current
		in.Decisions = []model.Decision{{ID: "1", Kind: model.Accept, Finding: in.Earlier[0].ID, Basis: in.Earlier[0].Basis}}
		f := Findings(in).Current[0]
		if f.ID != in.Earlier[0].ID || f.Accepted() != tc.holds {
			t.Errorf("%s: accepted %t, want %t", reason, f.Accepted(), tc.holds)
		}
	}
}

// TestAcceptanceOfAMergedFinding: an acceptance goes with the fields, whichever ID
// they have.
func TestAcceptanceOfAMergedFinding(t *testing.T) {
	t.Parallel()
	s := newTale()
	s.scan([]string{"disputed d a"}, nil)
	both := s.scan([]string{"disputed d a", "changed d b"}, nil).Current
	younger := both[slices.IndexFunc(both, func(f model.Finding) bool { return f.Verdict != model.Disputed })]
	if younger.Verdict != model.Changed {
		t.Fatalf("the younger finding is %s", younger.Verdict)
	}
	r := s.scan([]string{"disputed d a b"}, nil)
	s.decisions = []model.Decision{{ID: "1", Kind: model.Accept, Finding: younger.ID, Basis: r.Current[0].Basis}}
	if f := s.scan([]string{"disputed d a b"}, nil).Current[0]; !f.Accepted() {
		t.Errorf("the acceptance of %s does not hold for %s, into which it was merged", younger.ID, f.ID)
	}
	if f := s.scan([]string{"disputed d a b c"}, nil).Current[0]; f.Accepted() {
		t.Error("the acceptance holds although it shows more")
	}
}

// TestReasonIsKeptOfUncheckedAlone: numbers in the reason of a difference matter.
func TestReasonIsKeptOfUncheckedAlone(t *testing.T) {
	t.Parallel()
	one, two := changed("a"), changed("a")
	one.Reason, two.Reason = "applied 1 hour ago", "applied 2 hours ago"
	in := input(two)
	in.Earlier = before(one)
	if got := Findings(in).Current[0].Reason; got != two.Reason {
		t.Errorf("got %q, want %q", got, two.Reason)
	}
	one.Reason, two.Reason = "1", "2"
	in = input(two)
	in.Earlier = before(one)
	if got := Findings(in).Current[0].Reason; got != "2" {
		t.Errorf("got %q, want 2", got)
	}
}

// TestFlips counts when a finding comes, shows something else, ends and comes back.
func TestFlips(t *testing.T) {
	t.Parallel()
	s := newTale()
	count := func(reason string, want int, found ...string) Result {
		t.Helper()
		r := s.scan(found, nil)
		f := append(r.Current, r.Resolved...)[0]
		if len(f.Flips) != want {
			t.Errorf("%s: %d flips, want %d", reason, len(f.Flips), want)
		}
		return r
	}
	count("it came", 1, "changed d a")
	count("nothing new", 1, "changed d a")
	count("another field", 2, "changed d a b")
	count("it ended", 3)
	came := count("it came back", 4, "changed d a b").Current[0]
	if last := came.Flips[3]; last.Basis != came.Basis || !last.At.Equal(s.now) {
		t.Errorf("the last flip is %+v, want %s now", last, came.Basis)
	}
	for range 4 {
		count("it ended again", len(came.Flips)+1)
		came = s.scan([]string{"changed d a b"}, nil).Current[0]
	}
	if !came.Flapping {
		t.Errorf("%d flips are no flapping", len(came.Flips))
	}
	if ended := s.scan(nil, nil).Resolved[0]; !ended.Flapping {
		t.Error("it ended, and the flapping is forgotten")
	}
}

// TestAcceptedResourceThatBecomesMoreSevere has an accepted unmanaged resource. The finding
// has no values, so that only its severity shows a change.
func TestAcceptedResourceThatBecomesMoreSevere(t *testing.T) {
	t.Parallel()
	scan := func(privileged string) Input {
		in := input(model.Outcome{Verdict: model.Unmanaged})
		s := in.Judged[0].Subject
		s.Claims = nil
		s.Kind = &model.Kind{Severities: []model.SeverityRule{{Where: []model.Condition{{Path: "privileged", In: []string{"true"}}}, Severity: model.Critical, Reason: "root"}}}
		s.Live = &model.Resource{Key: key, Value: model.MapOf(model.Field{Name: "privileged", Value: model.StringOf(privileged)})}
		return in
	}
	found := Findings(scan("false")).Current
	accepted, err := decide.Make(found, decide.Request{Kind: model.Accept, Reason: "r", Owner: "o", By: "b", Until: "forever"}, now, strings.NewReader("random"))
	if err != nil {
		t.Fatal(err)
	}
	for privileged, holds := range map[string]bool{"false": true, "true": false} {
		in := scan(privileged)
		in.Earlier, in.Decisions = found, accepted
		if f := Findings(in).Current[0]; (f.Decision != nil) != holds {
			t.Errorf("privileged %s: it is %s, and accepted: %v", privileged, f.Severity, f.Decision)
		}
	}
}
