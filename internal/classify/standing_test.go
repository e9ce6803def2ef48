package classify

import (
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
		{"what only changed is judged by those who were read", model.Finding{Verdict: model.Changed, Key: key, Declaration: "infra", Changes: moved.Changes}, []model.Problem{{Reason: "502"}}, 2},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			intent := model.Declaration{Name: "intent", Governs: []string{"pve"}, Inventory: true, Problems: tc.problems}
			in := Input{Earlier: []model.Finding{tc.earlier}, Declarations: []model.Declaration{infra, intent}, Sources: []string{"pve"}}
			left, said := newStanding(in.Earlier, newProof(&in)).without(key, &changed)
			if len(left.Changes) != tc.want || !said {
				t.Errorf("%d changes are left, want %d", len(left.Changes), tc.want)
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
