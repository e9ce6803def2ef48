package classify

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

// rule returns a rule for fields at paths, or without one for all, with a reason of its own.
func rule(severity model.Severity, reason string, paths ...string) SeverityRule {
	return SeverityRule{Set: severity, Reason: reason, Paths: paths}
}

// TestRatingOfTheFinding: a finding is as severe as its worst field, and names the rule
// that set this, or that made milder what was worse.
func TestRatingOfTheFinding(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		rules  []SeverityRule
		// low and high are the fields that are rated so without rules.
		want, low, high string
	}{
		{"no rule", nil, "high", "low", "high"},
		{"a rule for no field of it", []SeverityRule{rule(model.Info, "a", "status")}, "high", "low", "high"},
		{"one for all fields", []SeverityRule{rule(model.Medium, "a")}, "medium was high: a", "medium was low: a", "medium was high: a"},
		{"the worst field", []SeverityRule{rule(model.Critical, "a", "spec.*")}, "critical was high: a", "low", "critical was high: a"},
		{"the other field becomes the worst", []SeverityRule{rule(model.Critical, "a", "metadata.*")}, "critical was high: a", "critical was low: a", "high"},
		{"the other field becomes as bad", []SeverityRule{rule(model.High, "a", "metadata.*")}, "high was high: a", "high was low: a", "high"},
		{"the other field becomes worse, and is milder still", []SeverityRule{rule(model.Medium, "a", "metadata.*")}, "high", "medium was low: a", "high"},
		{"the worst field becomes milder, and is the worst still", []SeverityRule{rule(model.Medium, "a", "spec.*")}, "medium was high: a", "low", "medium was high: a"},
		{"the worst field becomes the milder one", []SeverityRule{rule(model.Info, "a", "spec.*")}, "low was high: a", "low", "info was high: a"},
		{"the worst field becomes as mild", []SeverityRule{rule(model.Low, "a", "spec.*")}, "low was high: a", "low", "low was high: a"},
		{"the worst field stays as it is", []SeverityRule{rule(model.High, "a", "spec.*")}, "high was high: a", "low", "high was high: a"},
		{"two rules, as bad: the first field counts", []SeverityRule{rule(model.Critical, "a", "spec.*"), rule(model.Critical, "b", "metadata.*")},
			"critical was high: b", "critical was low: b", "critical was high: a"},
		{"two rules, one worse", []SeverityRule{rule(model.Medium, "a", "spec.*"), rule(model.Critical, "b", "metadata.*")},
			"critical was high: b", "critical was low: b", "medium was high: a"},
		{"two rules that swap the fields", []SeverityRule{rule(model.Low, "a", "spec.*"), rule(model.High, "b", "metadata.*")},
			"high was high: b", "high was low: b", "low was high: a"},
		{"two rules for one field: the first counts", []SeverityRule{rule(model.Low, "a", "spec.*"), rule(model.Critical, "b", "spec.*")},
			"low was high: a", "low", "low was high: a"},
		{"the exception stands first", []SeverityRule{rule(model.Info, "a", "metadata.labels.*"), rule(model.Critical, "b")},
			"critical was high: b", "info was low: a", "critical was high: b"},
		{"the exception stands last", []SeverityRule{rule(model.Critical, "b"), rule(model.Info, "a", "metadata.labels.*")},
			"critical was high: b", "critical was low: b", "critical was high: b"},
	} {
		f := Findings(ratedScan(tc.rules...)).Current[0]
		text := func(severity model.Severity, rated *model.Rating) string {
			if rated == nil {
				return string(severity)
			}
			return fmt.Sprintf("%s was %s: %s", severity, rated.Was, rated.Reason)
		}
		if got := text(f.Severity, f.Rated); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
		}
		for i, want := range []string{tc.low, tc.high} {
			if c := &f.Changes[i]; text(f.SeverityOf(c), c.Rated) != want {
				t.Errorf("%s: %s is %s, want %s", tc.reason, c.Path, text(f.SeverityOf(c), c.Rated), want)
			}
		}
	}
}

// TestRatingOfAReplacedResource: the operator's rules rate what the next apply replaces as
// well, each for the fields that it fits.
func TestRatingOfAReplacedResource(t *testing.T) {
	t.Parallel()
	infra := func(r *SeverityRule) { r.Sources = []string{key.Source} }
	node := model.Claim{Declaration: "d", ClaimApply: model.ClaimApply{Replaces: []model.Replacement{{Path: "node"}}}}
	planned := model.Claim{Declaration: "d", ClaimApply: model.ClaimApply{Replaced: true}}
	both, cores := []model.Change{{Path: "cores"}, {Path: "node"}}, []model.Change{{Path: "cores"}}
	for _, tc := range []struct {
		reason  string
		verdict model.Verdict
		claim   model.Claim
		changes []model.Change
		rules   []SeverityRule
		want    model.Severity
		was     model.Severity
	}{
		{"no rule", model.Changed, node, both, nil, model.High, ""},
		{"another field of it is rated milder", model.Changed, node, both, []SeverityRule{rule(model.Info, "a", "cores")}, model.High, ""},
		{"the field that requires it is rated milder", model.Changed, node, both, []SeverityRule{rule(model.Low, "a", "node")}, model.Medium, model.High},
		{"all fields are rated milder", model.Changed, node, both, []SeverityRule{set(model.Low, infra)}, model.Low, model.High},
		{"the field that requires it is rated worse", model.Changed, node, both, []SeverityRule{rule(model.Critical, "a", "node")}, model.Critical, model.High},
		{"planned, and no rule", model.Pending, planned, cores, nil, model.High, ""},
		{"planned, and another field is rated", model.Pending, planned, cores, []SeverityRule{rule(model.Info, "a", "node")}, model.High, ""},
		{"planned, and the source is rated", model.Pending, planned, cores, []SeverityRule{set(model.Low, infra)}, model.Low, model.High},
		{"the whole is planned", model.Pending, planned, nil, nil, model.High, ""},
		{"the whole is planned, and the source is rated", model.Pending, planned, nil, []SeverityRule{set(model.Critical, infra)}, model.Critical, model.High},
		{"the whole is planned, and a path is rated", model.Pending, planned, nil, []SeverityRule{rule(model.Info, "a", "*")}, model.High, ""},
		{"the whole is planned, and a live label is rated", model.Pending, planned, nil,
			[]SeverityRule{set(model.Low, func(r *SeverityRule) { r.Labels = map[string]string{"env": "sandbox"} })}, model.High, ""},
	} {
		in := input(model.Outcome{Verdict: tc.verdict, Claim: &tc.claim, Changes: tc.changes})
		s := in.Judged[0].Subject
		s.Claims, s.Kind = []*model.Claim{&tc.claim}, &model.Kind{Labels: "metadata.labels"}
		s.Live = &model.Resource{Value: labelled(map[string]string{"env": "sandbox"})}
		in.Severities = tc.rules
		f := Findings(in).Current[0]
		if f.Severity != tc.want || !f.Replaces || (f.Rated == nil) != (tc.was == "") || f.Rated != nil && f.Rated.Was != tc.was {
			t.Errorf("%s: %s, rated %+v, replaces %t; want %s, was %s", tc.reason, f.Severity, f.Rated, f.Replaces, tc.want, tc.was)
		}
	}
}

// TestRatingWithoutARule keeps the severity of a finding whose fields are not rated, also
// if it is another one than that of its fields.
func TestRatingWithoutARule(t *testing.T) {
	t.Parallel()
	in := input(model.Outcome{Verdict: model.Moved, Claim: &model.Claim{Declaration: "d", ClaimMatching: model.ClaimMatching{Former: "4"}}, Changes: []model.Change{{Path: "name"}}})
	in.Severities = []SeverityRule{rule(model.Critical, "a", "node")}
	if f := Findings(in).Current[0]; f.Severity != model.Medium || f.Rated != nil {
		t.Errorf("%s, rated %v: what was made again is medium", f.Severity, f.Rated)
	}
}

// TestRatingOfRememberedFindings drops from a finding that was not judged again what no
// rule sets any more, and keeps the rest.
func TestRatingOfRememberedFindings(t *testing.T) {
	t.Parallel()
	rated := func(severity, was model.Severity, reason string) *model.Finding {
		return &model.Finding{Verdict: model.Unmanaged, Severity: severity, Rated: &model.Rating{Was: was, Reason: reason}}
	}
	field := func(f model.Finding, severity model.Severity, rating *model.Rating) *model.Finding {
		f.Verdict, f.Changes = model.Changed, []model.Change{{Path: "a", Severity: severity, Rated: rating}, {Path: "b"}}
		return &f
	}
	one := []SeverityRule{rule(model.Low, "a")}
	for _, tc := range []struct {
		reason  string
		rules   []SeverityRule
		finding *model.Finding
		want    model.Severity
		keeps   bool
		counted int
	}{
		{"the rule is there", one, rated(model.Low, model.High, "a"), model.Low, true, 1},
		{"no rule is there", nil, rated(model.Low, model.High, "a"), model.High, false, 0},
		{"the rule has another reason now", one, rated(model.Low, model.High, "b"), model.High, false, 0},
		{"the rule sets another severity now", one, rated(model.Info, model.High, "a"), model.High, false, 0},
		{"it raised, and is gone", nil, rated(model.Critical, model.Low, "a"), model.Low, false, 0},
		{"it was not rated", one, &model.Finding{Verdict: model.Unmanaged, Severity: model.Low}, model.Low, false, 0},
		{"a field, and the rule is there", one, field(model.Finding{Severity: model.Medium}, model.Low, &model.Rating{Was: model.High, Reason: "a"}), model.Medium, true, 1},
		{"a field, and no rule is there", nil, field(model.Finding{Severity: model.Medium}, model.Low, &model.Rating{Was: model.High, Reason: "a"}), model.High, false, 0},
		{"a field, and the rule has another reason", one, field(model.Finding{Severity: model.Medium}, model.Low, &model.Rating{Was: model.High, Reason: "b"}), model.High, false, 0},
		{"fields that are not rated", one, field(model.Finding{Severity: model.High}, "", nil), model.High, false, 0},
		{"an unreadable part", one, &model.Finding{Verdict: model.Unchecked, Severity: model.Medium}, model.Medium, false, 0},
	} {
		before := slices.Clone(tc.finding.Changes)
		r := newRater(tc.rules, now)
		f := *tc.finding
		r.reapply(&f)
		if f.Severity != tc.want || (f.Rated != nil) != tc.keeps {
			t.Errorf("%s: %s, rated %+v, want %s", tc.reason, f.Severity, f.Rated, tc.want)
		}
		counted := 0
		for _, run := range r.runs {
			counted += run.Fields
		}
		if counted != tc.counted {
			t.Errorf("%s: %d counted", tc.reason, counted)
		}
		for i := range before {
			if tc.finding.Changes[i].Severity != before[i].Severity || tc.finding.Changes[i].Rated != before[i].Rated {
				t.Errorf("%s: the earlier finding was changed", tc.reason)
			}
		}
	}
}

// TestRatingOfAWholeIsKept: a resource that cannot be looked at again keeps its rating for
// as long as the rule is there.
func TestRatingOfAWholeIsKept(t *testing.T) {
	t.Parallel()
	critical := set(model.Critical, func(r *SeverityRule) { r.Verdicts = []model.Verdict{model.Unmanaged} })
	scan := ratedScan(critical)
	foreign(&scan)
	for reason, tc := range map[string]struct {
		rules []SeverityRule
		want  model.Severity
	}{
		"the rule is there":  {[]SeverityRule{critical}, model.Critical},
		"another rule":       {[]SeverityRule{rule(model.High, "b")}, model.Low},
		"no rule is there":   {nil, model.Low},
		"it stands second":   {[]SeverityRule{rule(model.High, "b"), critical}, model.Critical},
		"it stands first":    {[]SeverityRule{critical, rule(model.High, "b")}, model.Critical},
		"with a new matcher": {[]SeverityRule{rule(model.Critical, critical.Reason, "x")}, model.Critical},
	} {
		in := ratedScan(tc.rules...)
		in.Earlier = Findings(scan).Current
		in.Judged, in.Snapshots, in.Sources, in.Now = nil, nil, []string{key.Source}, now.Add(time.Hour)
		if f := Findings(in).Remembered[0]; f.Severity != tc.want || (f.Rated != nil) != (tc.want == model.Critical) {
			t.Errorf("%s: %s, rated %v, want %s", reason, f.Severity, f.Rated, tc.want)
		}
	}
}

// drawRule draws a rule by what the live side or a client may claim, and by what it may not.
func drawRule(t *rapid.T, i int) SeverityRule {
	r := SeverityRule{Set: rapid.SampledFrom(model.Severities()).Draw(t, "set"), Reason: fmt.Sprint("rule ", i)}
	switch rapid.IntRange(0, 5).Draw(t, "by") {
	case 0, 1:
		r.Labels = map[string]string{rapid.SampledFrom([]string{"tier", "env"}).Draw(t, "label"): rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "value")}
	case 2:
		r.Namespaces = []string{rapid.SampledFrom([]string{"p", "q"}).Draw(t, "place")}
	case 3:
		r.Actors = []string{rapid.SampledFrom([]string{"alice", "bob"}).Draw(t, "actor")}
	case 4:
		r.Sources = []string{key.Source}
	case 5:
		r.Paths = []string{rapid.SampledFrom([]string{"spec.*", "metadata.*"}).Draw(t, "path")}
	}
	return r
}

// TestClaimsNeverRateMilder: with any live labels and node of a resource, and any name of
// the client that edits it, no finding is milder than without all of these.
func TestClaimsNeverRateMilder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var rules []SeverityRule
		for i := range rapid.IntRange(0, 5).Draw(t, "rules") {
			rules = append(rules, drawRule(t, i))
		}
		labels := rapid.MapOf(rapid.SampledFrom([]string{"tier", "env"}), rapid.SampledFrom([]string{"a", "b"}))
		declared, managed := labels.Draw(t, "declared"), rapid.Bool().Draw(t, "managed")
		place := rapid.SampledFrom([]string{"", "p", "q"}).Draw(t, "declared place")
		severity := func(live map[string]string, node, who string) model.Severity {
			in := ratedScan(rules...)
			in.Judged[0].Subject.Kind.Namespaced = false
			in.Judged[0].Outcomes[0].Actor = model.Actor{Name: who, Confidence: model.Likely}
			declare(&in, place, declared)
			in.Judged[0].Subject.Live = &model.Resource{Key: key, Place: node, Value: labelled(live)}
			if !managed {
				foreign(&in)
			}
			return Findings(in).Current[0].Severity
		}
		home := place // To stay on the declared node claims nothing.
		if !managed {
			home = ""
		}
		plain := severity(nil, home, "nobody")
		claimed := severity(labels.Draw(t, "live"), rapid.SampledFrom([]string{"p", "q", home}).Draw(t, "node"), rapid.SampledFrom([]string{"alice", "bob"}).Draw(t, "who"))
		if claimed.Rank() > plain.Rank() {
			t.Errorf("claims make it %s, it is %s without", claimed, plain)
		}
	})
}
