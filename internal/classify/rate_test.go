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
		{Path: "disk", Severity: model.Medium, Reason: "full"},
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
		{"of two as bad the one that says why", model.Changed, []model.Change{change("size", ""), change("disk", "")}, model.Medium, "full"},
		{"no change is on the whole", model.Unmanaged, nil, model.Critical, "nobody's"},
		{"no rule fits the whole", model.Missing, nil, model.High, ""},
	}
	for _, test := range tests {
		severity, why := rate(&model.Subject{Kind: kind}, nil, test.verdict, test.changes)
		if severity != test.want || why != test.why {
			t.Errorf("%s: %s (%q), want %s (%q)", test.reason, severity, why, test.want, test.why)
		}
	}
}

func TestWhatIsThereRatesTheFinding(t *testing.T) {
	t.Parallel()
	world := model.Condition{Path: "remote.prefix", In: []string{"0.0.0.0/0", "::/0", ""}}
	kind := &model.Kind{Severities: []model.SeverityRule{
		{Verdicts: []model.Verdict{model.Unmanaged, model.Missing}, Where: []model.Condition{{Path: "direction", In: []string{"ingress"}}, world},
			Severity: model.Critical, Reason: "lets anybody in"},
		{Path: "pairs", Where: []model.Condition{{Path: "pairs.ip", In: []string{"0.0.0.0/0"}}, {Path: "safe", In: []string{"false"}}},
			Severity: model.High, Reason: "any address"},
	}}
	for reason, test := range map[string]struct {
		verdict model.Verdict
		path    string
		live    string
		want    model.Severity
	}{
		"all of it holds":                  {model.Unmanaged, "", `{"direction":"ingress","remote":{"prefix":"::/0"}}`, model.Critical},
		"what is not there may be enough":  {model.Unmanaged, "", `{"direction":"ingress"}`, model.Critical},
		"what says nothing may be enough":  {model.Unmanaged, "", `{"direction":"ingress","remote":{"prefix":null}}`, model.Critical},
		"half of it holds":                 {model.Unmanaged, "", `{"direction":"egress","remote":{"prefix":"::/0"}}`, model.Low},
		"none of it holds":                 {model.Unmanaged, "", `{"direction":"egress","remote":{"prefix":"10.0.0.0/8"}}`, model.Low},
		"nothing is there":                 {model.Missing, "", ``, model.High},
		"another verdict":                  {model.Changed, "", `{"direction":"ingress"}`, model.Medium},
		"one element of a list is enough":  {model.Changed, "pairs", `{"safe":false,"pairs":[{"ip":"10.0.0.1"},{"ip":"0.0.0.0/0"}]}`, model.High},
		"no element of a list fits":        {model.Changed, "pairs", `{"safe":false,"pairs":[{"ip":"10.0.0.1"}]}`, model.Medium},
		"an empty list is not what is set": {model.Changed, "pairs", `{"safe":false,"pairs":[]}`, model.Medium},
	} {
		s := &model.Subject{Kind: kind}
		if test.live != "" {
			var live model.Value
			if err := live.UnmarshalJSON([]byte(test.live)); err != nil {
				t.Fatal(err)
			}
			s.Live = &model.Resource{Value: live}
		}
		var changes []model.Change
		if test.path != "" {
			changes = []model.Change{{Path: test.path}}
		}
		if got, _ := rate(s, nil, test.verdict, changes); got != test.want {
			t.Errorf("%s: %s, want %s", reason, got, test.want)
		}
	}
}

// TestSeverityOfEachChange notes the severity on the changes that differ from the
// usual one of the verdict.
func TestSeverityOfEachChange(t *testing.T) {
	t.Parallel()
	kind := &model.Kind{Severities: []model.SeverityRule{{Path: "net", Severity: model.High, Reason: "reachable"}, {Path: "same", Severity: model.High, Reason: "second"},
		{Path: "label", Severity: model.Low}}}
	changes := []model.Change{{Path: "net"}, {Path: "same"}, {Path: "label"}, {Path: "size"}}
	severity, why := rate(&model.Subject{Kind: kind}, nil, model.Changed, changes)
	if severity != model.High || why != "reachable" {
		t.Errorf("got %s (%s), want the reason of the first of the worst", severity, why)
	}
	for i, want := range []model.Severity{model.High, model.High, model.Low, ""} {
		if changes[i].Severity != want {
			t.Errorf("%s: got %q, want %q", changes[i].Path, changes[i].Severity, want)
		}
	}
}

// TestReasons joins the reason of the severity rule and that of the verdict.
func TestReasons(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct{ path, said, want string }{
		"both":             {"net", "applied by hand", "reachable; applied by hand"},
		"the rule's alone": {"net", "", "reachable"},
		"the verdict's":    {"size", "applied by hand", "applied by hand"},
		"none":             {"size", "", ""},
	} {
		o := changed(tc.path)
		o.Reason = tc.said
		in := input(o)
		in.Judged[0].Subject.Kind = &model.Kind{Severities: []model.SeverityRule{{Path: "net", Severity: model.High, Reason: "reachable"}}}
		if got := Findings(in).Current[0].Reason; got != tc.want {
			t.Errorf("%s: got %q, want %q", reason, got, tc.want)
		}
	}
}

// TestReasonShowsALiveText prints what a rule shows of the live resource after its reason.
func TestReasonShowsALiveText(t *testing.T) {
	t.Parallel()
	sealed := model.NewSealer([]byte("k")).Seal("secret")
	texts := model.ListOf(model.StringOf("a"), model.StringOf("b"))
	live := model.MapOf(model.Field{Name: "disk", Value: model.MapOf(model.Field{Name: "file", Value: model.StringOf("vm-501")})},
		model.Field{Name: "all", Value: texts}, model.Field{Name: "key", Value: sealed})
	for reason, tc := range map[string]struct{ show, want string }{
		"nothing":           {"", "why"},
		"a text":            {"disk.file", "why: vm-501"},
		"a list":            {"all", "why: a, b"},
		"a secret":          {"key", "why"},
		"a map":             {"disk", "why"},
		"what is not there": {"disk.size", "why"},
	} {
		in := input(changed("disk"))
		in.Judged[0].Subject.Live = &model.Resource{Value: live}
		in.Judged[0].Subject.Kind = &model.Kind{Severities: []model.SeverityRule{{Path: "disk", Severity: model.High, Reason: "why", Show: tc.show}}}
		if f := Findings(in).Current[0]; f.Reason != tc.want || f.Severity != model.High {
			t.Errorf("%s: %s, %q, want %q", reason, f.Severity, f.Reason, tc.want)
		}
	}
	in := input(changed("disk"))
	in.Judged[0].Subject.Kind = &model.Kind{Severities: []model.SeverityRule{{Path: "disk", Severity: model.High, Reason: "why", Show: "disk.file"}}}
	if f := Findings(in).Current[0]; f.Reason != "why" {
		t.Errorf("without a live resource: %q", f.Reason)
	}
}

// TestLiveReadRated checks that the rules of a kind see what the engine of a declaration read, and what
// only the source has.
func TestLiveReadRated(t *testing.T) {
	t.Parallel()
	rule := model.SeverityRule{Path: "cidr_ipv4", Where: []model.Condition{{Path: "cidr_ipv4", World: true}, {Path: "ip_protocol", NotIn: []string{"icmp"}}, {Path: "attached", In: []string{"true"}}},
		Severity: model.Critical, Reason: "open to the world"}
	s := &model.Subject{Kind: &model.Kind{Severities: []model.SeverityRule{rule}}, Live: &model.Resource{Value: model.MapOf(model.Field{Name: "attached", Value: model.BoolOf(true)})}}
	live, before := model.StringOf("0.0.0.0/0"), model.StringOf("10.0.0.0/8")
	claim := &model.Claim{LiveRead: &model.LiveRead{Value: model.MapOf(model.Field{Name: "cidr_ipv4", Value: live}, model.Field{Name: "ip_protocol", Value: model.StringOf("tcp")})}}
	severity, reason := rate(s, claim, model.Changed, []model.Change{{Path: "cidr_ipv4", Declared: &before, Live: &live}})
	if severity != model.Critical || reason != "open to the world" {
		t.Errorf("rated %s: %q", severity, reason)
	}
}
