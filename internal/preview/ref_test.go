package preview_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/preview"
)

func TestFromRef(t *testing.T) {
	t.Parallel()
	mara := by("mara", time.Hour)
	size := func(declared, recorded, live string) model.Change {
		return model.Change{Path: "size", Declared: text(declared), Recorded: text(recorded), Live: text(live)}
	}
	shop := func(f model.Finding) model.Finding {
		f.Key, f.Declaration, f.Address = model.Key{Source: "prod", Kind: "kubernetes/Service", ID: "shop/web"}, "shop", "web.yaml:1"
		return f
	}
	unrecorded := size("3", "", "8")
	unrecorded.Recorded = nil
	doubtful := size("3", "2", "8")
	doubtful.Unproven = true
	unmanaged := shop(found(model.Unmanaged, mara))
	unmanaged.Declaration = ""
	replaced := found(model.Pending, mara, size("3", "2", "2"))
	replaced.Replaces = true
	web := model.Claim{Address: "web.yaml:1", Kind: "kubernetes/Service", ID: "shop/web"}
	server := model.Claim{Address: "lab_server.web", ClaimApply: model.ClaimApply{Destroyed: true}}
	broken := []model.Problem{{Address: "a.yaml", Reason: "no YAML"}}
	for name, tc := range map[string]struct {
		reason      string
		stored      []model.Finding
		at          []model.Finding
		declaration model.Declaration
		want        []string
		kept        int
	}{
		"unchanged": {"the ref declares what the tracked one does", []model.Finding{shop(found(model.Changed, mara, size("2", "2", "8")))},
			[]model.Finding{shop(found(model.Changed, by("nobody", 0), size("2", "2", "8")))}, model.Declaration{Name: "shop", Claims: []model.Claim{web}},
			[]string{"overwrite changed web.yaml:1 size by mara"}, 0},
		"third": {"the ref declares another value", []model.Finding{shop(found(model.Changed, mara, size("2", "2", "8")))},
			[]model.Finding{shop(found(model.Conflict, by("nobody", 0), size("3", "2", "8")))}, model.Declaration{Name: "shop", Claims: []model.Claim{web}},
			[]string{"overwrite conflict web.yaml:1 size by mara"}, 0},
		"adopted": {"the ref declares the live value", []model.Finding{shop(found(model.Changed, mara, size("2", "2", "8")))},
			[]model.Finding{shop(found(model.Codified, mara, size("8", "2", "8")))}, model.Declaration{Name: "shop", Claims: []model.Claim{web}}, nil, 0},
		"pruned": {"the ref declares it no more", []model.Finding{shop(found(model.Changed, mara, size("2", "2", "8"))), shop(found(model.Undeclared, by("ben", time.Hour), model.Change{Path: "b"}))},
			[]model.Finding{unmanaged}, model.Declaration{Name: "shop"}, []string{"destroy changed web.yaml:1 size by mara b by ben"}, 0},
		"pruned, gone": {"nothing is there to destroy", []model.Finding{shop(found(model.Missing, mara))}, nil, model.Declaration{Name: "shop"}, nil, 0},
		"unread":       {"what cannot be read may declare it", []model.Finding{shop(found(model.Changed, mara, size("2", "2", "8")))}, nil, model.Declaration{Name: "shop", Problems: broken}, nil, 0},
		"destroyed": {"the plan at the ref destroys it", []model.Finding{found(model.Changed, mara, size("2", "2", "8"))},
			[]model.Finding{found(model.Pending, model.UnknownActor(""))}, model.Declaration{Name: "infra", Claims: []model.Claim{server}},
			[]string{"destroy changed lab_server.web size by mara"}, 0},
		"forgotten": {"a plan without a claim destroys nothing", []model.Finding{found(model.Changed, mara, size("2", "2", "8"))}, nil, model.Declaration{Name: "infra"}, nil, 0},
		"replaced": {"a plan at the ref replaces it", nil, []model.Finding{replaced}, model.Declaration{Name: "infra"},
			[]string{"replace pending lab_server.web by mara"}, 0},
		"configuration": {"only the ref changes it", nil, []model.Finding{shop(found(model.Pending, mara, size("3", "2", "2")))}, model.Declaration{Name: "shop"}, nil, 0},
		"bypassed": {"it was applied and is in no commit", []model.Finding{shop(found(model.Bypassed, mara, size("2", "8", "8")))},
			[]model.Finding{shop(found(model.Pending, by("lena", 0), size("3", "8", "8")))}, model.Declaration{Name: "shop", Claims: []model.Claim{web}},
			[]string{"overwrite bypassed web.yaml:1 size by mara"}, 0},
		"other value": {"the stored author wrote another value", []model.Finding{shop(found(model.Changed, mara, size("2", "2", "7")))},
			[]model.Finding{shop(found(model.Changed, by("ben", 0), size("2", "2", "8")))}, model.Declaration{Name: "shop", Claims: []model.Claim{web}},
			[]string{"overwrite changed web.yaml:1 size by ben"}, 0},
		"unrecorded": {"without a record, only a stored finding proves a manual change", nil,
			[]model.Finding{shop(found(model.Changed, mara, unrecorded))}, model.Declaration{Name: "shop"}, nil, 0},
		"doubtful": {"it may be a change of a commit", nil, []model.Finding{shop(found(model.Changed, mara, doubtful))}, model.Declaration{Name: "shop"}, nil, 0},
		"created by hand": {"the ref declares an unmanaged resource otherwise", []model.Finding{unmanaged},
			[]model.Finding{shop(found(model.Changed, by("ben", 0), unrecorded))}, model.Declaration{Name: "shop", Claims: []model.Claim{web}},
			[]string{"overwrite changed web.yaml:1 size by mara"}, 0},
		"new":     {"it is not there yet", nil, []model.Finding{shop(found(model.Missing, mara))}, model.Declaration{Name: "shop"}, nil, 0},
		"removed": {"it was removed by hand, and is created again", []model.Finding{shop(found(model.Missing, mara))}, []model.Finding{shop(found(model.Missing, by("ben", 0)))}, model.Declaration{Name: "shop", Claims: []model.Claim{web}}, []string{"create missing web.yaml:1 by mara"}, 0},
		"undeclared": {"an apply of manifests keeps fields of others", nil,
			[]model.Finding{shop(found(model.Undeclared, mara, model.Change{Path: "b"}))}, model.Declaration{Name: "shop"}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := known().Run
			at := preview.AtRef{Ref: "branch", Findings: tc.at, Run: *run, Declarations: []model.Declaration{tc.declaration}}
			p, err := preview.FromRef(at, known(tc.stored...), options())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, lines(&p)); diff != "" || len(p.Kept) != tc.kept || p.Ref != "branch" || len(p.Gaps) > 0 {
				t.Errorf("%s: %d kept, want %d; gaps %v (-want +got):\n%s", tc.reason, len(p.Kept), tc.kept, p.Gaps, diff)
			}
		})
	}
}

func TestFromRefNotScanned(t *testing.T) {
	t.Parallel()
	at := preview.AtRef{Ref: "branch", Run: model.Run{Complete: true}, Declarations: []model.Declaration{{Name: "new"}}}
	p, err := preview.FromRef(at, known(), options())
	want := []preview.Gap{{Declaration: "new", Reason: "driftd has not scanned it: run driftd scan first"}}
	if diff := cmp.Diff(want, p.Gaps); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	o := options()
	o.Declaration = "shpo"
	if _, err := preview.FromRef(at, known(), o); err == nil {
		t.Error("no error for a declaration that does not exist")
	}
}
