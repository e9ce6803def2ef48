package classify

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// basisOf is that of the one finding of an outcome.
func basisOf(t *testing.T, o model.Outcome) string {
	t.Helper()
	found := Findings(input(o)).Current
	if len(found) != 1 || found[0].Basis == "" {
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
