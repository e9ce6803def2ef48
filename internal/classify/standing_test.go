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
