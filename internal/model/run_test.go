package model

import "testing"

func TestRunHolds(t *testing.T) {
	t.Parallel()
	run := Run{Sources: []SourceRun{{Name: "prod"}}, Declarations: []DeclarationRun{{Name: "shop"}}}
	of := func(source, declaration string) Finding {
		return Finding{Key: Key{Source: source}, Declaration: declaration}
	}
	for reason, tc := range map[string]struct {
		finding Finding
		want    bool
	}{
		"both were looked at":                        {of("prod", "shop"), true},
		"nobody declares it":                         {of("prod", ""), true},
		"a declaration that could not be read":       {of("", "shop"), true},
		"the source is another scan's":               {of("edge", "shop"), false},
		"the declaration is another scan's":          {of("prod", "infra"), false},
		"the declaration is, and there is no source": {of("", "infra"), false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			if got := run.Includes(&tc.finding); got != tc.want {
				t.Errorf("Holds() = %v, want %v: %s", got, tc.want, reason)
			}
		})
	}
}

// TestCountFindings checks that each finding is counted once, and that the other counts remain.
func TestCountFindings(t *testing.T) {
	t.Parallel()
	of := func(id string, v Verdict, hidden string, kind DecisionKind) Finding {
		return Finding{Key: Key{ID: id}, Verdict: v, Hidden: hidden, Decision: &Decision{Kind: kind}}
	}
	s := Summary{Resources: 9, InSync: 2, Exempt: 3, NotJudged: 4, Findings: 70, Unchecked: 71, Accepted: 72, Hidden: 73}
	s.CountFindings([]Finding{
		{Key: Key{ID: "a"}, Verdict: Changed}, of("a", Violated, "", Snooze), of("b", Unmanaged, "", Acknowledge),
		of("c", Changed, "", Accept), of("d", Unchecked, "", Accept), of("e", Changed, "rule", Accept),
		of("f", Unchecked, "rule", Snooze), of("g", Unchecked, "", Snooze), of("g", Unchecked, "", Snooze), of("h", Unchecked, "", Snooze),
	})
	want := Summary{Resources: 9, InSync: 2, Exempt: 3, NotJudged: 4, Findings: 3, Unchecked: 2, Accepted: 2, Hidden: 2}
	if s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
}
