package classify

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

func TestWorstChangeRatesTheFinding(t *testing.T) {
	t.Parallel()
	kind := &model.Kind{Severities: []model.SeverityRule{
		{Path: "label", Severity: model.Low, Reason: "a label"},
		{Path: "net0", Severity: model.High, Reason: "reachable"},
		{Verdicts: []model.Verdict{model.Unmanaged}, Severity: model.Critical, Reason: "nobody's"},
	}}
	change := func(path, live string) model.Change { return model.Change{Path: path, LivePath: live} }
	tests := []struct {
		reason  string
		verdict model.Verdict
		changes []model.Change
		want    model.Severity
		why     string
	}{
		{"the only change", model.Changed, []model.Change{change("label", "")}, model.Low, "a label"},
		{"what no rule fits counts as usual", model.Changed, []model.Change{change("label", ""), change("size", "")}, model.Medium, ""},
		{"the worst of several", model.Changed, []model.Change{change("label", ""), change("net0.bridge", ""), change("size", "")}, model.High, "reachable"},
		{"rules are in the live words", model.Changed, []model.Change{change("network_device[0].bridge", "net0.bridge")}, model.High, "reachable"},
		{"no change is on the whole", model.Unmanaged, nil, model.Critical, "nobody's"},
		{"no rule fits the whole", model.Missing, nil, model.High, ""},
	}
	for _, test := range tests {
		severity, why := rate(kind, test.verdict, test.changes)
		if severity != test.want || why != test.why {
			t.Errorf("%s: %s (%q), want %s (%q)", test.reason, severity, why, test.want, test.why)
		}
	}
}
