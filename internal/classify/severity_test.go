package classify

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// ratedScan is a scan of one Deployment in namespace shop, with labels on its live side and
// in its declaration, whose image and a label were changed.
func ratedScan(rules ...SeverityRule) Input {
	in := input(model.Outcome{Verdict: model.Changed, Claim: &model.Claim{Declaration: "d", Place: "shop"},
		Changes: []model.Change{{Path: "metadata.labels.a"}, {Path: "spec.containers[name=web].image"}},
		Actor:   model.Actor{Name: "alice", Confidence: model.Exact}})
	s := in.Judged[0].Subject
	s.Place = "shop"
	s.Live = &model.Resource{Key: key, Place: "shop", Value: labelled(map[string]string{"tier": "gold", "env": "sandbox"})}
	s.Kind = &model.Kind{Name: key.Kind, Namespaced: true, Labels: "metadata.labels",
		Severities: []model.SeverityRule{{Path: "spec.containers.image", Severity: model.High, Reason: "other code runs"},
			{Path: "metadata.labels", Severity: model.Low, Reason: "a label"}},
		Exposed: []model.ExposedField{{Path: "spec.containers", What: model.ExposesCode}}}
	in.Severities = rules
	return in
}

func labelled(labels map[string]string) model.Value {
	fields := make([]model.Field, 0, len(labels))
	for name, value := range labels {
		fields = append(fields, model.Field{Name: name, Value: model.StringOf(value)})
	}
	return model.MapOf(model.Field{Name: "metadata", Value: model.MapOf(model.Field{Name: "labels", Value: model.MapOf(fields...)})})
}

// declare gives the only claim of a scan labels and a place.
func declare(in *Input, place string, labels map[string]string) {
	c := in.Judged[0].Outcomes[0].Claim
	c.Value, c.Place = labelled(labels), place
}

// foreign makes the resource of a scan unmanaged.
func foreign(in *Input) {
	j := &in.Judged[0]
	j.Subject.Claims = nil
	j.Outcomes[0] = model.Outcome{Verdict: model.Unmanaged, Actor: j.Outcomes[0].Actor}
}

func set(severity model.Severity, match func(r *SeverityRule)) SeverityRule {
	r := SeverityRule{Set: severity, Reason: "because " + string(severity)}
	match(&r)
	return r
}

func TestSeverityRules(t *testing.T) {
	t.Parallel()
	source := func(r *SeverityRule) { r.Sources = []string{key.Source} }
	path := func(paths ...string) func(*SeverityRule) { return func(r *SeverityRule) { r.Paths = paths } }
	label := func(name, pattern string) func(*SeverityRule) {
		return func(r *SeverityRule) { r.Labels = map[string]string{name: pattern} }
	}
	namespace := func(r *SeverityRule) { r.Namespaces = []string{"shop"} }
	actor := func(name string) func(*SeverityRule) { return func(r *SeverityRule) { r.Actors = []string{name} } }
	verdict := func(verdicts ...model.Verdict) func(*SeverityRule) {
		return func(r *SeverityRule) { r.Verdicts = verdicts }
	}
	sandbox, gold := map[string]string{"env": "sandbox"}, map[string]string{"tier": "gold"}
	node := func(in *Input) { in.Judged[0].Subject.Kind.Namespaced = false }
	for name, tc := range map[string]struct {
		reason string
		rules  []SeverityRule
		change func(in *Input)
		want   string
	}{
		"no rule":     {"the kind rates", nil, nil, "high, because other code runs"},
		"lower":       {"all fields are rated by a rule without a path", []SeverityRule{set(model.Low, source)}, nil, "low was high: because low"},
		"raise":       {"", []SeverityRule{set(model.Critical, source)}, nil, "critical was high: because critical"},
		"another":     {"every key must fit", []SeverityRule{set(model.Low, func(r *SeverityRule) { source(r); r.Kinds = []string{"other"} })}, nil, "high"},
		"same":        {"the rule decides, although it changes nothing", []SeverityRule{set(model.High, path("spec.*"))}, nil, "high was high: because high"},
		"first":       {"the first that fits counts", []SeverityRule{set(model.Medium, source), set(model.Critical, source)}, nil, "medium was high: because medium"},
		"path":        {"only that field is rated, and the worst field counts", []SeverityRule{set(model.Info, path("metadata.*"))}, nil, "high"},
		"path raises": {"the worst field counts", []SeverityRule{set(model.Critical, path("metadata.labels.*"))}, nil, "critical was high: because critical"},
		"path lowers": {"the other field is the worst then, and the rule says why it is no worse", []SeverityRule{set(model.Info, path("spec.containers.image"))}, nil,
			"low was high: because info"},
		"keys":              {"a path with its keys", []SeverityRule{set(model.Critical, path("spec.containers[[]name=web].image"))}, nil, "critical was high: because critical"},
		"path, then source": {"each field has its first rule", []SeverityRule{set(model.Critical, path("spec.containers.image")), set(model.Low, source)}, nil, "critical was high: because critical"},
		"live path": {"a Terraform attribute goes by the live field too", []SeverityRule{set(model.Critical, path("memory"))},
			func(in *Input) {
				in.Judged[0].Outcomes[0].Changes = []model.Change{{Path: "memory[0].dedicated", LivePath: "memory"}}
			}, "critical was medium: because critical"},

		"live label lowers": {"whoever edits the object writes its labels", []SeverityRule{set(model.Low, label("env", "sandbox"))}, nil, "high"},
		"declared label lowers": {"the declaration says so", []SeverityRule{set(model.Low, label("env", "sandbox"))},
			func(in *Input) { declare(in, "shop", sandbox) }, "low was high: because low"},
		"declared label with another value live": {"the edit cannot take it away either", []SeverityRule{set(model.Critical, label("tier", "gold"))},
			func(in *Input) {
				declare(in, "shop", gold)
				in.Judged[0].Subject.Live.Value = labelled(nil)
			}, "critical was high: because critical"},
		"live label raises": {"nothing is won by it", []SeverityRule{set(model.Critical, label("tier", "g*"))}, nil, "critical was high: because critical"},
		"live label shadows": {"a milder rule that fits by what is live does not stand before a proven one",
			[]SeverityRule{set(model.Medium, label("env", "sandbox")), set(model.Critical, source)}, nil, "critical was high: because critical"},
		"live label as severe": {"nothing is rated by it", []SeverityRule{set(model.High, func(r *SeverityRule) { label("tier", "gold")(r); path("spec.*")(r) })}, nil, "high"},
		"live labels shadow each other": {"a milder rule that fits by what is live does not stand before another such rule",
			[]SeverityRule{set(model.Medium, label("env", "sandbox")), set(model.Critical, label("tier", "gold"))}, nil, "critical was high: because critical"},
		"live label shadows an actor": {"nor before a rule for a client's name",
			[]SeverityRule{set(model.High, label("env", "sandbox")), set(model.Critical, actor("alice"))},
			func(in *Input) { in.Judged[0].Outcomes[0].Actor.Confidence = model.Likely }, "critical was high: because critical"},
		"live labels of nobody's shadow each other": {"the worst of several counts",
			[]SeverityRule{set(model.Medium, label("env", "sandbox")), set(model.Critical, label("tier", "gold")), set(model.High, label("tier", "gold"))}, foreign,
			"critical was low: because critical"},
		"live label after a proven rule": {"the operator wrote the exception first", []SeverityRule{set(model.Low, source), set(model.Critical, label("tier", "gold"))}, nil,
			"low was high: because low"},
		"live label before a proven rule": {"", []SeverityRule{set(model.Critical, label("tier", "gold")), set(model.Low, source)}, nil, "critical was high: because critical"},
		"live label between rules":        {"it is worse than the proven rule", []SeverityRule{set(model.Medium, label("env", "sandbox")), set(model.Low, source)}, nil, "medium was high: because medium"},
		"label of any value":              {"it must be there", []SeverityRule{set(model.Critical, label("team", ""))}, nil, "high"},
		"label of any value, declared": {"", []SeverityRule{set(model.Low, label("env", ""))},
			func(in *Input) { declare(in, "shop", map[string]string{"env": "prod"}) }, "low was high: because low"},
		"label of another value": {"", []SeverityRule{set(model.Critical, label("tier", "silver"))}, nil, "high"},
		"two labels": {"both must fit", []SeverityRule{set(model.Critical, func(r *SeverityRule) { r.Labels = map[string]string{"tier": "gold", "env": "prod"} })}, nil,
			"high"},
		"two labels, one of each side": {"who writes one of them live wins nothing", []SeverityRule{set(model.Low, func(r *SeverityRule) { r.Labels = map[string]string{"tier": "gold", "env": "sandbox"} })},
			func(in *Input) { declare(in, "shop", sandbox) }, "high"},
		"label and proven actor": {"what is proven of one key proves nothing of another",
			[]SeverityRule{set(model.Low, func(r *SeverityRule) { label("env", "sandbox")(r); actor("alice")(r) })}, nil, "high"},
		"a kind of which nothing is known": {"it has no labels", []SeverityRule{set(model.Low, label("env", "sandbox")), set(model.Info, source)},
			func(in *Input) { in.Judged[0].Subject.Kind = nil }, "info was medium: because info"},
		"live label of nobody's": {"nobody declares its labels", []SeverityRule{set(model.Info, label("env", "sandbox"))}, foreign, "low"},
		"live label of nobody's raises": {"", []SeverityRule{set(model.High, label("env", "sandbox"))}, foreign,
			"high was low: because high"},
		"one of two declarations": {"both must have the label", []SeverityRule{set(model.Info, label("env", "sandbox"))},
			func(in *Input) {
				j := &in.Judged[0]
				j.Subject.Claims = []*model.Claim{{Declaration: "d", Value: labelled(sandbox)}, {Declaration: "e"}}
				j.Outcomes[0].Claim, j.Outcomes[0].Declaration = nil, "d"
			}, "high"},

		"namespace":          {"an object cannot leave its namespace", []SeverityRule{set(model.Low, namespace)}, nil, "low was high: because low"},
		"nobody's namespace": {"it lies where it lies", []SeverityRule{set(model.Info, namespace)}, foreign, "info was low: because info"},
		"moved there": {"the declaration has it elsewhere", []SeverityRule{set(model.Low, namespace)},
			func(in *Input) { declare(in, "prod", nil) }, "high"},
		"moved away": {"the declaration has it here", []SeverityRule{set(model.Critical, namespace)},
			func(in *Input) {
				in.Judged[0].Subject.Live.Place, in.Judged[0].Subject.Place = "prod", "prod"
			}, "critical was high: because critical"},
		"undeclared node": {"whoever moves a guest chooses its node", []SeverityRule{set(model.Low, namespace)},
			func(in *Input) { node(in); declare(in, "", nil) }, "high"},
		"declared node":  {"", []SeverityRule{set(model.Low, namespace)}, node, "low was high: because low"},
		"nobody's node":  {"whoever makes a guest chooses its node", []SeverityRule{set(model.Info, namespace)}, func(in *Input) { node(in); foreign(in) }, "low"},
		"node of a gone": {"what is missing lies where it is declared", []SeverityRule{set(model.Low, namespace)}, func(in *Input) { node(in); in.Judged[0].Subject.Live = nil }, "low was high: because low"},

		"actor": {"the system's own log names him", []SeverityRule{set(model.Info, actor("ali*"))}, nil, "info was high: because info"},
		"claimed actor": {"a client calls itself what it likes", []SeverityRule{set(model.Info, actor("alice"))},
			func(in *Input) { in.Judged[0].Outcomes[0].Actor.Confidence = model.Likely }, "high"},
		"claimed actor raises": {"nothing is won by it", []SeverityRule{set(model.Critical, actor("alice"))},
			func(in *Input) { in.Judged[0].Outcomes[0].Actor.Confidence = model.Likely }, "critical was high: because critical"},
		"actor of a field": {"each field has its own", []SeverityRule{set(model.Info, actor("alice"))},
			func(in *Input) {
				in.Judged[0].Outcomes[0].Changes[1].Actor = &model.Actor{Name: "mallory", Confidence: model.Exact}
			}, "high"},
		"nobody known": {"unknown is a name, too", []SeverityRule{set(model.Critical, actor("unknown"))},
			func(in *Input) { in.Judged[0].Outcomes[0].Actor = model.UnknownActor("no log") }, "critical was high: because critical"},

		"verdict": {"", []SeverityRule{set(model.Info, verdict(model.Changed, model.Missing))}, nil, "info was high: because info"},
		"may be bypassed": {"nothing proves that it is pending", []SeverityRule{set(model.Info, verdict(model.Pending))},
			func(in *Input) {
				in.Judged[0].Outcomes[0].Verdict, in.Judged[0].Outcomes[0].Unproven = model.Pending, true
			}, "high"},
		"is pending": {"the record proves it", []SeverityRule{set(model.Low, verdict(model.Pending))},
			func(in *Input) { in.Judged[0].Outcomes[0].Verdict = model.Pending }, "low was high: because low"},
		"may be bypassed, raised": {"it may be pending as well", []SeverityRule{set(model.Critical, verdict(model.Pending))},
			func(in *Input) {
				in.Judged[0].Outcomes[0].Verdict, in.Judged[0].Outcomes[0].Unproven = model.Pending, true
			}, "critical was high: because critical"},
		"may be bypassed, and any verdict": {"the rule rates all verdicts", []SeverityRule{set(model.Low, source)},
			func(in *Input) {
				in.Judged[0].Outcomes[0].Verdict, in.Judged[0].Outcomes[0].Unproven = model.Pending, true
			}, "low was high: because low"},
		"one field may be bypassed": {"the other one is pending", []SeverityRule{set(model.Info, verdict(model.Pending))},
			func(in *Input) {
				in.Judged[0].Outcomes[0].Verdict, in.Judged[0].Outcomes[0].Changes[0].Unproven = model.Pending, true
			}, "low was high: because info"},
		"either": {"the rule rates both", []SeverityRule{set(model.Low, verdict(model.Pending, model.Bypassed))},
			func(in *Input) {
				in.Judged[0].Outcomes[0].Verdict, in.Judged[0].Outcomes[0].Unproven = model.Pending, true
			}, "low was high: because low"},
		"whole": {"a finding without fields", []SeverityRule{set(model.Critical, verdict(model.Unmanaged))}, foreign, "critical was low: because critical"},
		"path of a whole": {"it has no fields", []SeverityRule{set(model.Critical, path("*"))}, foreign,
			"low"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := ratedScan(tc.rules...)
			if tc.change != nil {
				tc.change(&in)
			}
			f := Findings(in).Current[0]
			got := string(f.Severity)
			if f.Rated != nil {
				got += " was " + string(f.Rated.Was) + ": " + f.Rated.Reason
			}
			if want, _, _ := strings.Cut(tc.want, ", because"); got != want {
				t.Errorf("%s: %s, want %s", tc.reason, got, want)
			}
		})
	}
}

// lensOf is a lens under which the attribute "tags" is the live labels.
type lensOf struct{ model.Lens }

func (lensOf) LivePath(_ model.Value, path string) string {
	return map[string]string{"meta[0].labels": "metadata.labels", "meta": "metadata"}[path]
}

func TestDeclaredLabelsInOtherWords(t *testing.T) {
	t.Parallel()
	in := ratedScan(set(model.Info, func(r *SeverityRule) { r.Labels = map[string]string{"env": "sandbox"} }))
	claim := in.Judged[0].Outcomes[0].Claim
	claim.Lens = lensOf{}
	claim.Value = model.MapOf(model.Field{Name: "other", Value: model.StringOf("x")},
		model.Field{Name: "meta", Value: model.ListOf(model.MapOf(model.Field{Name: "labels", Value: model.MapOf(model.Field{Name: "env", Value: model.StringOf("sandbox")})}))})
	if f := Findings(in).Current[0]; f.Severity != model.Info {
		t.Errorf("severity %s: what the declaration calls otherwise is declared all the same", f.Severity)
	}
	claim.Value = model.MapOf(model.Field{Name: "labels", Value: model.MapOf(model.Field{Name: "env", Value: model.StringOf("sandbox")})})
	if f := Findings(in).Current[0]; f.Severity != model.High {
		t.Errorf("severity %s: an attribute of that name that stands for something else declares no label", f.Severity)
	}
}

func TestSeverityRulesAreCounted(t *testing.T) {
	t.Parallel()
	fits := set(model.Low, func(r *SeverityRule) { r.Sources, r.Verdicts = []string{key.Source}, []model.Verdict{model.Changed} })
	never := set(model.Low, func(r *SeverityRule) { r.Paths, r.Labels = []string{"x"}, map[string]string{"a": "b"} })
	got := Findings(ratedScan(fits, never)).Severities
	want := []model.RuleRun{
		{Rule: "source=" + key.Source + " verdict=changed", Reason: "because low", Set: model.Low, Findings: 1, Fields: 2},
		{Rule: "path=x label:a=b", Reason: "because low", Set: model.Low},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if got[0].Dead() || got[1].Why() != "it rates nothing" || got[1].Type() != "severity rule" {
		t.Errorf("dead: %q, %q", got[0].Why(), got[1].Why())
	}
}

// TestSeverityOfARememberedFinding: what could not be looked at again stays as it was
// rated, as long as the rule is there.
func TestSeverityOfARememberedFinding(t *testing.T) {
	t.Parallel()
	rule := set(model.Info, func(r *SeverityRule) { r.Paths = []string{"spec.*"} })
	scan := ratedScan(rule)
	blind := func(rules ...SeverityRule) Result {
		in := ratedScan(rules...)
		in.Earlier = Findings(scan).Current
		in.Judged, in.Snapshots, in.Sources = nil, nil, []string{key.Source}
		in.Now = now.Add(time.Hour)
		return Findings(in)
	}
	kept := blind(rule)
	if f := kept.Remembered[0]; f.Severity != model.Low || f.Rated == nil || kept.Severities[0].Dead() {
		t.Errorf("severity %s, rated %v, dead %v", f.Severity, f.Rated, kept.Severities[0].Why())
	}
	if f := blind().Remembered[0]; f.Severity != model.High || f.Rated != nil || f.Changes[1].Rated != nil {
		t.Errorf("without the rule: severity %s, rated %v", f.Severity, f.Rated)
	}
}

// TestSeverityKeepsTheActorOfBefore: a log that reaches back no longer so far makes
// no finding worse.
func TestSeverityKeepsTheActorOfBefore(t *testing.T) {
	t.Parallel()
	live := model.StringOf("x")
	scan := func() Input {
		in := ratedScan(set(model.Info, func(r *SeverityRule) { r.Actors = []string{"alice"} }))
		for i := range in.Judged[0].Outcomes[0].Changes {
			in.Judged[0].Outcomes[0].Changes[i].Live = &live
		}
		return in
	}
	in := scan()
	in.Earlier = Findings(scan()).Current
	in.Judged[0].Outcomes[0].Actor = model.UnknownActor("the log begins later")
	if f := Findings(in).Current[0]; f.Severity != model.Info {
		t.Errorf("severity %s, by %s", f.Severity, f.Actor.Name)
	}
}

func TestExposure(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(in *Input)
		want   model.Exposure
	}{
		"worst field": {"the image is the worst", func(*Input) {}, model.ExposesCode},
		"other field": {"a label exposes nothing", func(in *Input) { in.Judged[0].Outcomes[0].Changes = in.Judged[0].Outcomes[0].Changes[:1] }, ""},
		"around it":   {"a container that was added holds an image", func(in *Input) { in.Judged[0].Outcomes[0].Changes = []model.Change{{Path: "spec"}} }, model.ExposesCode},
		"nobody's":    {"whatever it runs, nobody declares it", foreign, model.ExposesCode},
		"missing":     {"nothing runs", func(in *Input) { in.Judged[0].Outcomes[0] = model.Outcome{Verdict: model.Missing} }, ""},
		"missing guard": {"a policy that is gone exposes", func(in *Input) {
			in.Judged[0].Outcomes[0] = model.Outcome{Verdict: model.Missing}
			in.Judged[0].Subject.Kind.Exposed = []model.ExposedField{{What: model.ExposesReach}}
		}, model.ExposesReach},
		"no kind": {"nothing is known of it", func(in *Input) { in.Judged[0].Subject.Kind = nil }, ""},
	} {
		in := ratedScan()
		tc.change(&in)
		if f := Findings(in).Current[0]; f.Exposure != tc.want {
			t.Errorf("%s: %s: exposes %q, want %q", name, tc.reason, f.Exposure, tc.want)
		}
	}
}
