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
	node := model.Claim{Declaration: "infra", ClaimApply: model.ClaimApply{Replaces: []model.Replacement{{Path: "node"}}}}
	planned := model.Claim{Declaration: "infra", ClaimApply: model.ClaimApply{Replaced: true}}
	grown := model.Claim{Declaration: "infra", ClaimApply: model.ClaimApply{Replaces: []model.Replacement{{Path: "disk.size", Larger: true}}}}
	block := model.Claim{Declaration: "infra", ClaimApply: model.ClaimApply{Replaces: []model.Replacement{{Path: "disk.size"}}}}
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
	c := model.Claim{ClaimApply: model.ClaimApply{Replaces: []model.Replacement{{Path: "node"}}}}
	o := model.Outcome{Verdict: model.Changed, Claim: &c, Changes: []model.Change{{Path: "cores"}, {Path: "node"}}}
	f := newFinding(&model.Subject{Claims: []*model.Claim{&c}, Live: &model.Resource{}}, &o, newIgnorer(nil, now))
	if f.Changes[0].Severity != "" || f.Changes[1].Severity != model.High {
		t.Errorf("got %q and %q", f.Changes[0].Severity, f.Changes[1].Severity)
	}
}

// TestReplacedIsAccepted keeps what was accepted as changed when it is called moved.
func TestReplacedIsAccepted(t *testing.T) {
	t.Parallel()
	c := model.Claim{ClaimApply: model.ClaimApply{Replaces: []model.Replacement{{Path: "node"}}}}
	s := &model.Subject{Claims: []*model.Claim{&c}, Live: &model.Resource{}}
	finding := func(v model.Verdict) model.Finding {
		return newFinding(s, &model.Outcome{Verdict: v, Claim: &c, Changes: []model.Change{{Path: "node"}}}, newIgnorer(nil, now))
	}
	if changed, moved := finding(model.Changed), finding(model.Moved); moved.WorseBasis != changed.Basis {
		t.Errorf("worse basis %q, want %q", moved.WorseBasis, changed.Basis)
	}
}

// TestReplacedByADeclaration asks the claim of the finding, and of a dispute each claim for
// what it declares itself.
func TestReplacedByADeclaration(t *testing.T) {
	t.Parallel()
	one, two := model.IntOf(1), model.IntOf(2)
	claim := func(declaration, address string, paths ...string) *model.Claim {
		c := &model.Claim{Declaration: declaration, Address: address}
		for _, path := range paths {
			c.Replaces = append(c.Replaces, model.Replacement{Path: path})
		}
		return c
	}
	said := func(declaration, address, path string, value model.Value) model.ClaimedValue {
		return model.ClaimedValue{Declaration: declaration, Address: address, Path: path, Value: value}
	}
	infra, intent := claim("infra", "a", "node"), claim("intent", "b")
	for _, tc := range []struct {
		reason  string
		verdict model.Verdict
		claims  []*model.Claim
		claim   *model.Claim
		sides   []model.ClaimedValue
		live    *model.Value
		want    bool
	}{
		{"changed for the one that replaces it", model.Changed, []*model.Claim{infra, intent}, infra, nil, &one, true},
		{"changed for the other one", model.Changed, []*model.Claim{infra, intent}, intent, nil, &one, false},
		{"changed for nobody", model.Changed, []*model.Claim{infra}, nil, nil, &one, false},
		{"disputed, and the first side replaces it", model.Disputed, []*model.Claim{infra, intent}, nil,
			[]model.ClaimedValue{said("infra", "a", "", two), said("intent", "b", "", one)}, &one, true},
		{"disputed, and the second side replaces it", model.Disputed, []*model.Claim{intent, infra}, nil,
			[]model.ClaimedValue{said("intent", "b", "", one), said("infra", "a", "", two)}, &one, true},
		{"disputed, and the side that replaces it is as live", model.Disputed, []*model.Claim{infra, intent}, nil,
			[]model.ClaimedValue{said("infra", "a", "", one), said("intent", "b", "", two)}, &one, false},
		{"disputed, and nothing is live", model.Disputed, []*model.Claim{infra, intent}, nil,
			[]model.ClaimedValue{said("infra", "a", "", one), said("intent", "b", "", two)}, nil, true},
		{"disputed, and that side is no party", model.Disputed, []*model.Claim{infra, intent}, nil,
			[]model.ClaimedValue{said("intent", "b", "", two), said("plan", "c", "", one)}, &one, false},
		{"disputed, and another claim of the declaration is a party", model.Disputed, []*model.Claim{infra, intent}, nil,
			[]model.ClaimedValue{said("infra", "other", "", two), said("intent", "b", "", one)}, &one, false},
		{"disputed, in other words that replace it", model.Disputed, []*model.Claim{claim("infra", "a", "node_name")}, nil,
			[]model.ClaimedValue{said("infra", "a", "node_name", two)}, &one, true},
		{"disputed, in other words that do not", model.Disputed, []*model.Claim{infra}, nil,
			[]model.ClaimedValue{said("infra", "a", "node_name", two)}, &one, false},
	} {
		f := model.Finding{Verdict: tc.verdict, Severity: model.Low, Changes: []model.Change{{Path: "node", Live: tc.live, Claims: tc.sides}}}
		markReplaced(&f, &model.Subject{Live: &model.Resource{}, Claims: tc.claims}, tc.claim)
		want := model.Low
		if tc.want {
			want = model.High
		}
		if f.Replaces != tc.want || f.Severity != want || (f.Reason == replacedReason) != tc.want {
			t.Errorf("%s: replaces %t, %s, %q", tc.reason, f.Replaces, f.Severity, f.Reason)
		}
	}
	if _, differs := claimedPath(model.Disputed, &model.Change{Path: "node"}, infra); differs {
		t.Error("a claim that is no party differs from nothing")
	}
}

// TestDestroyed checks that a manual change of a resource that the next apply destroys is high, and the removal alone is
// rated as any pending change.
func TestDestroyed(t *testing.T) {
	t.Parallel()
	claim := &model.Claim{ClaimApply: model.ClaimApply{Destroyed: true}}
	for _, tc := range []struct {
		verdict model.Verdict
		changes []model.Change
		want    model.Severity
	}{
		{model.Changed, []model.Change{{Path: "a"}}, model.High},
		{model.Pending, nil, model.Low},
	} {
		f := model.Finding{Verdict: tc.verdict, Severity: model.Low, Changes: tc.changes}
		markReplaced(&f, &model.Subject{Live: &model.Resource{}, Claims: []*model.Claim{claim}}, claim)
		if !f.Destroys || f.Replaces || f.Severity != tc.want || (f.Reason == destroyedReason) != (tc.want == model.High) {
			t.Errorf("%s: got %+v", tc.verdict, f)
		}
	}
}

// TestReplacedKeepsWhatIsWorse: what is critical stays critical, and what the next apply
// does not act on is not replaced.
func TestReplacedKeepsWhatIsWorse(t *testing.T) {
	t.Parallel()
	claim := &model.Claim{ClaimApply: model.ClaimApply{Replaced: true}}
	for _, verdict := range model.Verdicts() {
		for _, severity := range model.Severities() {
			f := model.Finding{Verdict: verdict, Severity: severity, Changes: []model.Change{{Path: "a", Severity: severity}, {Path: "b", Severity: model.Info}}}
			markReplaced(&f, &model.Subject{Live: &model.Resource{}, Claims: []*model.Claim{claim}}, claim)
			want := severity
			if changedByApply(verdict) && severity != model.Critical {
				want = model.High
			}
			if f.Severity != want || f.Changes[0].Severity != want || f.Changes[1].Severity != model.Info {
				t.Errorf("%s %s: %s, fields %s and %s, want %s", verdict, severity, f.Severity, f.Changes[0].Severity, f.Changes[1].Severity, want)
			}
			if f.Replaces != changedByApply(verdict) {
				t.Errorf("%s: replaces %t", verdict, f.Replaces)
			}
		}
	}
}

// TestReplacesAt compares the path of a changed field with that of a replacement.
func TestReplacesAt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, replaces, path string
		want                   bool
	}{
		{"the field", "disk.size", "disk.size", true},
		{"the field of an element", "disk.size", "disk[1].size", true},
		{"the field of an element with a key", "disk.size", `disk[interface=scsi0].size`, true},
		{"what has it", "disk.size", "disk", true},
		{"an element that has it", "disk.size", "disk[0]", true},
		{"what it has", "disk", "disk[0].size", true},
		{"a field of it with a quoted name", "labels", `labels["a.b/c"]`, true},
		{"the field with a quoted name", `labels["a.b/c"]`, `labels["a.b/c"]`, true},
		{"the map of a field with a quoted name", `labels["a.b/c"]`, "labels", true},
		{"another field with a quoted name", `labels["a.b/c"]`, `labels["a.b/d"]`, false},
		{"a field beside it", "disk.size", "disk[0].file", false},
		{"a name that begins alike", "disk", "disks", false},
		{"a longer name that begins alike", "disks", "disk", false},
		{"a part of a name that begins alike", "disk.si", "disk.size", false},
		{"another one with that last name", "disk.size", "swap.size", false},
	} {
		c := &model.Claim{ClaimApply: model.ClaimApply{Replaces: []model.Replacement{{Path: "other"}, {Path: tc.replaces}}}}
		if got := replacesAt(c, tc.path, &model.Change{}); got != tc.want {
			t.Errorf("%s: %t", tc.reason, got)
		}
	}
}

// TestIsLarger compares numbers, and nothing else.
func TestIsLarger(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, declared, recorded, live string
		want                             bool
	}{
		{"larger", `1`, ``, `2`, true},
		{"as large", `2`, ``, `2`, false},
		{"smaller", `2`, ``, `1`, false},
		{"larger by a fraction", `1`, ``, `1.5`, true},
		{"larger, with more digits", `9`, ``, `10`, true},
		{"larger than the smallest", `-1`, ``, `0`, true},
		{"larger than the recorded one", ``, `1`, `2`, true},
		{"larger than the recorded one only", `3`, `1`, `2`, false},
		{"nothing is live", `1`, ``, ``, false},
		{"nothing was declared", ``, ``, `1`, false},
		{"nothing at all", ``, ``, ``, false},
		{"texts", `"1"`, ``, `"2"`, false},
		{"a text is live", `1`, ``, `"2"`, false},
		{"a text was declared", `"1"`, ``, `2`, false},
	} {
		c := &model.Change{Declared: parsed(t, tc.declared), Recorded: parsed(t, tc.recorded), Live: parsed(t, tc.live)}
		if got := isLarger(c); got != tc.want {
			t.Errorf("%s: %t", tc.reason, got)
		}
		claim := &model.Claim{ClaimApply: model.ClaimApply{Replaces: []model.Replacement{{Path: "disk.size", Larger: true}}}}
		if got := replacesAt(claim, "disk[0].size", c); got != tc.want {
			t.Errorf("%s: replaces it: %t", tc.reason, got)
		}
		if replacesAt(claim, "disk", c) {
			t.Errorf("%s: the disk as a whole is not larger", tc.reason)
		}
	}
}
