package classify

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestReplaced rates what the next apply replaces.
func TestReplaced(t *testing.T) {
	t.Parallel()
	number := func(n int64) *model.Value { v := model.IntOf(n); return &v }
	change := func(path string, declared, live int64) model.Change {
		return model.Change{Path: path, Declared: number(declared), Live: number(live)}
	}
	node := model.Claim{Declaration: "infra", Replaces: []model.Replacement{{Path: "node"}}}
	planned := model.Claim{Declaration: "infra", Replaced: true}
	grown := model.Claim{Declaration: "infra", Replaces: []model.Replacement{{Path: "disk.size", Larger: true}}}
	block := model.Claim{Declaration: "infra", Replaces: []model.Replacement{{Path: "disk.size"}}}
	disputed := func(declared int64) model.Change {
		c := change("device", 2, 1)
		c.Claims = []model.ClaimedValue{{Declaration: "intent", Value: *number(2)}, {Declaration: "infra", Path: "node", Value: *number(declared)}}
		return c
	}
	for reason, tt := range map[string]struct {
		verdict  model.Verdict
		claim    model.Claim
		changes  []model.Change
		said     string
		gone     bool
		replaces bool
		severity model.Severity
		why      string
	}{
		"moved":                              {verdict: model.Moved, claim: node, changes: []model.Change{change("node", 1, 2)}, replaces: true, severity: model.High, why: "the next apply replaces it"},
		"moved, and migrated in place":       {verdict: model.Moved, claim: model.Claim{Declaration: "infra"}, changes: []model.Change{change("node", 1, 2)}, severity: model.Low},
		"another field":                      {verdict: model.Changed, claim: node, changes: []model.Change{change("node_name", 1, 2)}, severity: model.Medium},
		"one of two fields":                  {verdict: model.Changed, claim: node, changes: []model.Change{change("cores", 1, 2), change("node", 1, 2)}, replaces: true, severity: model.High, why: "the next apply replaces it"},
		"below a block":                      {verdict: model.Changed, claim: block, changes: []model.Change{change("disk[0].size", 1, 2)}, replaces: true, severity: model.High, why: "the next apply replaces it"},
		"the block as a whole":               {verdict: model.Changed, claim: block, changes: []model.Change{change("disk", 1, 2)}, replaces: true, severity: model.High, why: "the next apply replaces it"},
		"grown":                              {verdict: model.Changed, claim: grown, changes: []model.Change{change("disk[0].size", 1, 2)}, replaces: true, severity: model.High, why: "the next apply replaces it"},
		"shrunk":                             {verdict: model.Changed, claim: grown, changes: []model.Change{change("disk[0].size", 2, 1)}, severity: model.Medium},
		"planned, for whatever reason":       {verdict: model.Changed, claim: planned, changes: []model.Change{change("size", 1, 2)}, replaces: true, severity: model.High, why: "the next apply replaces it"},
		"planned, and declared so":           {verdict: model.Pending, claim: planned, changes: []model.Change{change("size", 1, 2)}, replaces: true, severity: model.High, why: "the next apply replaces it"},
		"planned for the whole":              {verdict: model.Pending, claim: planned, said: "tainted: the next apply replaces it", replaces: true, severity: model.High, why: "tainted: the next apply replaces it"},
		"with a reason of the verdict":       {verdict: model.Bypassed, claim: planned, changes: []model.Change{change("size", 1, 2)}, said: "by hand", replaces: true, severity: model.High, why: "the next apply replaces it; by hand"},
		"codified: nothing is applied":       {verdict: model.Codified, claim: node, changes: []model.Change{change("node", 1, 2)}, severity: model.Info},
		"gone: it is created":                {verdict: model.Missing, claim: planned, gone: true, severity: model.High},
		"disputed, one side differs":         {verdict: model.Disputed, claim: node, changes: []model.Change{disputed(2)}, replaces: true, severity: model.High, why: "the next apply replaces it"},
		"disputed, and that side is as live": {verdict: model.Disputed, claim: node, changes: []model.Change{disputed(1)}, severity: model.Medium},
	} {
		o := model.Outcome{Verdict: tt.verdict, Claim: &tt.claim, Changes: tt.changes, Reason: tt.said}
		s := &model.Subject{Claims: []*model.Claim{&tt.claim}, Live: &model.Resource{}}
		if tt.gone {
			s.Live = nil
		}
		f := newFinding(s, &o, newIgnorer(nil, now))
		if f.Replaces != tt.replaces || f.Severity != tt.severity || f.Reason != tt.why {
			t.Errorf("%s: replaces %v, %s, %q; want %v, %s, %q", reason, f.Replaces, f.Severity, f.Reason, tt.replaces, tt.severity, tt.why)
		}
	}
}

// TestReplacedField notes on the field itself that it is severe.
func TestReplacedField(t *testing.T) {
	t.Parallel()
	c := model.Claim{Replaces: []model.Replacement{{Path: "node"}}}
	o := model.Outcome{Verdict: model.Changed, Claim: &c, Changes: []model.Change{{Path: "cores"}, {Path: "node"}}}
	f := newFinding(&model.Subject{Claims: []*model.Claim{&c}, Live: &model.Resource{}}, &o, newIgnorer(nil, now))
	if f.Changes[0].Severity != "" || f.Changes[1].Severity != model.High {
		t.Errorf("got %q and %q", f.Changes[0].Severity, f.Changes[1].Severity)
	}
}

// TestReplacedIsAccepted keeps what was accepted as changed when it is called moved.
func TestReplacedIsAccepted(t *testing.T) {
	t.Parallel()
	c := model.Claim{Replaces: []model.Replacement{{Path: "node"}}}
	s := &model.Subject{Claims: []*model.Claim{&c}, Live: &model.Resource{}}
	finding := func(v model.Verdict) model.Finding {
		return newFinding(s, &model.Outcome{Verdict: v, Claim: &c, Changes: []model.Change{{Path: "node"}}}, newIgnorer(nil, now))
	}
	if changed, moved := finding(model.Changed), finding(model.Moved); moved.WorseBasis != changed.Basis {
		t.Errorf("worse basis %q, want %q", moved.WorseBasis, changed.Basis)
	}
}
