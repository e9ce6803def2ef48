package classify

import (
	"slices"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

func TestWhatStandsAlready(t *testing.T) {
	t.Parallel()
	key := model.Key{Source: "pve", Kind: "proxmox/qemu", ID: "1"}
	moved := model.Finding{Verdict: model.Moved, Key: key, Declaration: "infra", Changes: []model.Change{{Path: "title", LivePath: "name"}}}
	changed := model.Outcome{Verdict: model.Changed, Changes: []model.Change{{Path: "title", LivePath: "name"}, {Path: "mem", LivePath: "memory"}}}
	infra := model.Declaration{Name: "infra", Governs: []string{"pve"}}
	for _, tc := range []struct {
		reason   string
		earlier  model.Finding
		problems []model.Problem
		want     int
	}{
		{"an inventory that may say that it moved was not read", moved, []model.Problem{{Reason: "502"}}, 1},
		{"all were read", moved, nil, 2},
		{"the open finding has all fields", model.Finding{Verdict: model.Moved, Key: key, Declaration: "infra",
			Changes: []model.Change{{Path: "name"}, {Path: "memory"}}}, []model.Problem{{Reason: "502"}}, 0},
		{"the open finding has a field that does not differ any more", model.Finding{Verdict: model.Moved, Key: key, Declaration: "infra",
			Changes: []model.Change{{Path: "cores"}}}, []model.Problem{{Reason: "502"}}, 2},
		{"what only changed is judged by those who were read", model.Finding{Verdict: model.Changed, Key: key, Declaration: "infra", Changes: moved.Changes}, []model.Problem{{Reason: "502"}}, 2},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			intent := model.Declaration{Name: "intent", Governs: []string{"pve"}, Inventory: true, Problems: tc.problems}
			in := Input{Earlier: []model.Finding{tc.earlier}, Declarations: []model.Declaration{infra, intent}, Sources: []string{"pve"}}
			left, said := newCarriedOver(in.Earlier, newProof(&in)).without(key, &changed)
			if len(left.Changes) != tc.want || said != (tc.want > 0) {
				t.Errorf("%d changes are left, want %d; found: %t", len(left.Changes), tc.want, said)
			}
		})
	}
}

// TestUnmanagedStands has a resource that a declaration lacks, while a part of
// another one cannot be read and may declare it. It is a finding, unless one on the
// same resource is open: that one keeps its reason and its basis.
func TestUnmanagedStands(t *testing.T) {
	t.Parallel()
	partial := model.Outcome{Verdict: model.Unmanaged, Reason: "not in d; x of e could not be read"}
	for reason, tc := range map[string]struct {
		earlier             []model.Finding
		partial             string
		current, remembered int
	}{
		"nothing is open":                    {nil, "x", 1, 0},
		"neither had it":                     {before(model.Outcome{Verdict: model.Unmanaged, Reason: "neither d nor e speaks of it"}), "x", 0, 1},
		"the other had it":                   {before(model.Outcome{Verdict: model.Unmanaged, Declaration: "d", Reason: "in e, but not in d"}), "x", 0, 1},
		"both were read again":               {before(model.Outcome{Verdict: model.Unmanaged, Reason: "neither d nor e speaks of it"}), "", 1, 0},
		"another verdict is open":            {before(changed("a")), "x", 1, 0},
		"another resource's finding is open": {[]model.Finding{{ID: "x", Verdict: model.Unmanaged, Key: model.Key{Source: "s", Kind: key.Kind, ID: "p/b"}}}, "x", 1, 0},
		"the open one's declaration is gone": {[]model.Finding{{ID: "x", Verdict: model.Unmanaged, Key: key, Declaration: "gone"}}, "x", 1, 0},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			in := input(partial)
			in.Earlier, in.Whole, in.Sources = tc.earlier, true, []string{"s"}
			in.Judged[0].Subject.Claims, in.Judged[0].Subject.Partial = nil, tc.partial
			got := Findings(in)
			if len(got.Current) != tc.current || len(got.Remembered) != tc.remembered {
				t.Fatalf("%d current and %d remembered, want %d and %d", len(got.Current), len(got.Remembered), tc.current, tc.remembered)
			}
			for _, f := range got.Remembered {
				if f.ID != tc.earlier[0].ID || f.Reason != tc.earlier[0].Reason || f.Basis != tc.earlier[0].Basis {
					t.Errorf("got %+v, want the earlier one as it was", f)
				}
			}
		})
	}
}

// TestWholeOutcomesBesideStandingFields has an open dispute that cannot be judged again. It
// hides no outcome on the whole resource, and no dispute.
func TestWholeOutcomesBesideStandingFields(t *testing.T) {
	t.Parallel()
	key := model.Key{Source: "pve", Kind: "proxmox/qemu", ID: "1"}
	fields := []model.Change{{Path: "name"}}
	for reason, tc := range map[string]struct {
		outcome model.Outcome
		said    bool
	}{
		"it is missing":                       {model.Outcome{Verdict: model.Missing}, true},
		"it cannot be compared":               {model.Outcome{Verdict: model.Unchecked}, true},
		"no declaration claims it":            {model.Outcome{Verdict: model.Unmanaged}, true},
		"the same field is disputed":          {model.Outcome{Verdict: model.Disputed, Changes: fields}, true},
		"the same field changed":              {model.Outcome{Verdict: model.Changed, Changes: fields}, false},
		"the same field has another path now": {model.Outcome{Verdict: model.Changed, Changes: []model.Change{{Path: "title", LivePath: "name"}}}, false},
		"another field changed":               {model.Outcome{Verdict: model.Changed, Changes: []model.Change{{Path: "memory"}}}, true},
	} {
		left, said := carriedOver{key: fields}.without(key, &tc.outcome)
		if said != tc.said || said && len(left.Changes) != len(tc.outcome.Changes) {
			t.Errorf("%s: found %t with %d changes", reason, said, len(left.Changes))
		}
		if _, said := (carriedOver{}).without(key, &tc.outcome); !said {
			t.Errorf("%s: not found, and nothing else is open", reason)
		}
	}
}

// TestStandingFieldThatChangedAgain has an open dispute that cannot be judged again,
// because a declaration was not read, and an edit of the disputed field since.
func TestStandingFieldThatChangedAgain(t *testing.T) {
	t.Parallel()
	value := func(text string) *model.Value { v := model.StringOf(text); return &v }
	disputed := model.Change{Path: "cidr", Live: value("10.0.0.0/8"), Claims: []model.ClaimedValue{{Declaration: "d"}, {Declaration: "e"}}}
	for reason, tc := range map[string]struct {
		now     model.Change
		current int
	}{
		"as it was":                     {model.Change{Path: "cidr", Declared: value("10.1.0.0/16"), Live: value("10.0.0.0/8")}, 0},
		"edited since":                  {model.Change{Path: "cidr", Declared: value("10.1.0.0/16"), Live: value("0.0.0.0/0")}, 1},
		"removed since":                 {model.Change{Path: "cidr", Declared: value("10.1.0.0/16")}, 1},
		"as it was, in different words": {model.Change{Path: "net", LivePath: "cidr", Declared: value("10.1.*"), Live: value("10.*")}, 0},
	} {
		in := input(model.Outcome{Verdict: model.Changed, Declaration: "d", Changes: []model.Change{tc.now}})
		in.Earlier = []model.Finding{{ID: "x", Verdict: model.Disputed, Key: key, Declaration: "d", Changes: []model.Change{disputed}}}
		in.Whole, in.Sources = true, []string{"s"}
		in.Declarations = append(in.Declarations, model.Declaration{Name: "e", Governs: []string{"s"}})
		unreadE(&in)
		got := slices.DeleteFunc(Findings(in).Current, func(f model.Finding) bool { return f.Kind == PartKind })
		if len(got) != tc.current {
			t.Errorf("%s: %d findings, want %d: %+v", reason, len(got), tc.current, got)
		}
	}
}

// TestStands decides whether an open finding cannot be judged again, for each verdict.
func TestStands(t *testing.T) {
	t.Parallel()
	disputed := []model.Change{{Path: "a", Claims: []model.ClaimedValue{{Declaration: "d"}, {Declaration: "e"}}}}
	for reason, tc := range map[string]struct {
		finding model.Finding
		change  func(*Input)
		want    bool
	}{
		"a dispute of which all were read":         {model.Finding{Verdict: model.Disputed, Key: key, Declaration: "d", Changes: disputed}, nil, false},
		"a dispute with a party that was not read": {model.Finding{Verdict: model.Disputed, Key: key, Declaration: "d", Changes: disputed}, unreadE, true},
		"a dispute with a party that left":         {model.Finding{Verdict: model.Disputed, Key: key, Declaration: "d", Changes: disputed}, leftE, false},
		"a dispute of a declaration that left":     {model.Finding{Verdict: model.Disputed, Key: key, Declaration: "e", Changes: disputed}, leftE, false},
		"a change, and another was not read":       {model.Finding{Verdict: model.Changed, Key: key, Declaration: "d"}, unreadE, false},
		"a change of one that was not read":        {model.Finding{Verdict: model.Changed, Key: key, Declaration: "e"}, unreadE, false},
		"missing, and it was not read":             {model.Finding{Verdict: model.Missing, Key: key, Declaration: "e"}, unreadE, false},
		"unmanaged, and all were read":             {model.Finding{Verdict: model.Unmanaged, Key: key}, nil, false},
		"unmanaged, and a part may declare it": {model.Finding{Verdict: model.Unmanaged, Key: key}, func(in *Input) {
			in.Judged[0].Subject.Partial = "x of e could not be read"
		}, true},
		"unmanaged, and gone": {model.Finding{Verdict: model.Unmanaged, Key: model.Key{Source: "s", Kind: key.Kind, ID: "p/gone"}}, unreadE, false},
	} {
		in := input()
		in.Whole, in.Sources = true, []string{"s"}
		in.Declarations = append(in.Declarations, model.Declaration{Name: "e", Governs: []string{"s"}})
		if tc.change != nil {
			tc.change(&in)
		}
		if got := newProof(&in).isCarriedOver(&tc.finding); got != tc.want {
			t.Errorf("%s: %t, want %t", reason, got, tc.want)
		}
	}
}

// unreadE and leftE change an input in which e is the last declaration.
func unreadE(in *Input) {
	in.Declarations[len(in.Declarations)-1].Problems = []model.Problem{{Address: "x", Reason: "502"}}
}

func leftE(in *Input) { in.Declarations = in.Declarations[:len(in.Declarations)-1] }
