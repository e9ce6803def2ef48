package classify

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestLastingFindings checks that rules with OlderThan raise the severity of findings that last, and never lower one.
func TestLastingFindings(t *testing.T) {
	t.Parallel()
	const week = 7 * 24 * time.Hour
	lasting := SeverityRule{Checks: []string{"flux/*"}, OlderThan: week, Set: model.High, Reason: "lasting"}
	mild := SeverityRule{Checks: []string{"flux/*"}, Set: model.Low, Reason: "mild"}
	lowering := lasting
	lowering.Set = model.Info
	byPath := SeverityRule{Paths: []string{"spec.suspend"}, OlderThan: week, Set: model.High, Reason: "path"}
	suspended := func(severity model.Severity) model.Outcome { return check("flux/suspended", severity, "spec.suspend") }
	difference := changed("spec.suspend")
	for reason, tc := range map[string]struct {
		outcome model.Outcome
		rules   []SeverityRule
		// first and actor are how long ago a scan found it, and its actor caused it; zero stands for this scan, and for an unknown time.
		first, actor time.Duration
		want         model.Severity
	}{
		"found a week ago":             {suspended(model.Medium), []SeverityRule{lasting}, week, 0, model.High},
		"found later":                  {suspended(model.Medium), []SeverityRule{lasting}, week - time.Second, 0, model.Medium},
		"found now, caused a week ago": {suspended(model.Medium), []SeverityRule{lasting}, 0, week, model.High},
		"found a week ago, a writer claims a later time": {suspended(model.Medium), []SeverityRule{lasting}, week, time.Hour, model.High},
		"found now, caused now":                          {suspended(model.Medium), []SeverityRule{lasting}, 0, time.Hour, model.Medium},
		"a rule that would lower":                        {suspended(model.Medium), []SeverityRule{lowering}, week, week, model.Medium},
		"a milder rule after it":                         {suspended(model.Medium), []SeverityRule{lasting, mild}, week, 0, model.High},
		"a milder rule after it, found later":            {suspended(model.Medium), []SeverityRule{lasting, mild}, time.Hour, 0, model.Low},
		"a milder rule before it":                        {suspended(model.Medium), []SeverityRule{mild, lasting}, week, 0, model.Low},
		"another check":                                  {check("argocd/degraded", model.Medium, ""), []SeverityRule{lasting}, week, week, model.Medium},
		"a difference has no check":                      {difference, []SeverityRule{lasting}, week, week, model.Medium},
		"a difference of the field":                      {difference, []SeverityRule{byPath}, week, 0, model.High},
		"a check of the field":                           {suspended(model.Medium), []SeverityRule{byPath}, week, 0, model.High},
	} {
		outcome := tc.outcome
		if tc.actor > 0 {
			outcome.Actor = model.Actor{Name: "flux", At: now.Add(-tc.actor), Confidence: model.Likely}
		}
		in := input(outcome)
		if tc.first > 0 {
			in.Snapshots[0].Taken = now.Add(-tc.first)
			in.Earlier = Findings(in).Current
			in.Snapshots[0].Taken = now
		}
		in.Severities = tc.rules
		if got := Findings(in).Current[0].Severity; got != tc.want {
			t.Errorf("%s: %s, want %s", reason, got, tc.want)
		}
	}
	if got, want := lasting.String(), "check=flux/* older_than=168h0m0s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLastingObjectsOfAnInstallation checks that an unmanaged object that no scan found before is not taken for one that has lasted
// for all time.
func TestLastingObjectsOfAnInstallation(t *testing.T) {
	t.Parallel()
	r := newRater([]SeverityRule{{OlderThan: time.Hour, Set: model.High, Reason: "old"}}, now)
	f := model.Finding{Verdict: model.Unmanaged, Severity: model.Low, Key: key}
	r.rate(&f, &findingEvidence{})
	if f.Severity != model.Low {
		t.Errorf("got %s, want low", f.Severity)
	}
}
