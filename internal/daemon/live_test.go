package daemon

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// fakePlan is a declaration whose own engine reads the live side: count things, the last gone
// of which are not live.
type fakePlan struct {
	count, gone int
	err         error
	states      []model.StateRead
}

func (f *fakePlan) Load(context.Context) (model.Declaration, error) {
	if f.err != nil {
		return model.Declaration{}, f.err
	}
	own := model.LiveSource("root")
	d := model.Declaration{Name: "root", Governs: []string{own}, States: f.states, Tally: &model.Tally{Resources: f.count, Compared: f.count},
		Live: &model.Snapshot{Source: own, Coverage: []model.Coverage{{Source: own, Complete: true}}}}
	for i := range f.count {
		id := fmt.Sprintf("lab.a[%02d]", i)
		d.Claims = append(d.Claims, model.Claim{Declaration: "root", Source: own, Address: id, Kind: "terraform/lab", ID: id, Complete: true})
		if i >= f.gone {
			d.Live.Resources = append(d.Live.Resources, model.Resource{Key: model.Key{Source: own, Kind: "terraform/lab", ID: id}})
		}
	}
	return d, nil
}

func planBench(t *testing.T, plan *fakePlan) *bench {
	return newBench(t, 0, func(e *Estate) {
		e.Sources = nil
		e.Declarations = []Declaration{{Name: "root", Type: "test", Every: time.Minute, Loader: plan}}
	})
}

func TestDeclarationReadsItsOwnLiveSide(t *testing.T) {
	t.Parallel()
	plan := &fakePlan{count: 9}
	b := planBench(t, plan)
	r := b.cycle(t)
	wantVerdicts(t, r, "")
	if r.Summary.InSync != 9 {
		t.Errorf("summary %+v", r.Summary)
	}
	if run, err := b.store.LastRun(); err != nil || run.Declarations[0].Objects.Find("lab.a[03]", "", "") != model.Same {
		t.Errorf("the run does not have the objects of the plan: %+v, %v", run.Declarations, err)
	}
	if !r.Scan.Complete {
		t.Errorf("everything was read, and not checked are %+v", r.Scan.NotChecked)
	}
	plan.gone = 1
	wantVerdicts(t, b.cycle(t), "1 missing")
	plan.gone = 0
	wantVerdicts(t, b.cycle(t), "")
}

func TestPlanWithMassDisappearanceIsHeldBack(t *testing.T) {
	t.Parallel()
	plan := &fakePlan{count: 20}
	b := planBench(t, plan)
	b.cycle(t)
	plan.gone = 10
	r := b.cycle(t)
	if r.Summary.Unchecked != 20 || r.Summary.Findings != 0 {
		t.Errorf("half of the resources vanished at once and are not held back: %+v", r.Summary)
	}
	if r = b.cycle(t); r.Summary.Findings != 10 {
		t.Errorf("the second plan does not confirm it: %+v", r.Summary)
	}
}

func TestCommandLineConfirmsPlanAtOnce(t *testing.T) {
	t.Parallel()
	plan := &fakePlan{count: 20}
	b := newBench(t, 0, func(e *Estate) {
		e.Sources, e.ConfirmAtOnce = nil, true
		e.Declarations = []Declaration{{Name: "root", Type: "test", Every: time.Minute, Loader: plan}}
	})
	b.cycle(t)
	plan.gone = 10
	wantVerdicts(t, b.cycle(t), "10 missing")
}

func TestFailedPlanKeepsFindings(t *testing.T) {
	t.Parallel()
	plan := &fakePlan{count: 9, gone: 1}
	b := planBench(t, plan)
	b.cycle(t)
	plan.err = errors.New("no provider")
	r := b.cycle(t)
	if len(r.Findings) != 1 || r.Findings[0].Verdict != model.Unchecked || r.Findings[0].Reason != "no provider" {
		t.Errorf("the root is unchecked, got %+v", r.Findings)
	}
	open, err := b.store.OpenFindings()
	if err != nil || len(open) != 2 {
		t.Errorf("what was missing before is remembered, open are %d findings, %v", len(open), err)
	}
}

func TestRootThatNeverPlannedIsUnchecked(t *testing.T) {
	t.Parallel()
	b := planBench(t, &fakePlan{err: errors.New("no binary")})
	r := b.cycle(t)
	if len(r.Findings) != 1 || r.Findings[0].Source != model.LiveSource("root") || r.Scan.Complete {
		t.Errorf("report %+v", r)
	}
}

func TestRecordsSurviveARestart(t *testing.T) {
	t.Parallel()
	state := model.StateRead{Address: "a.tfstate", Lineage: "l", Serial: 12, Hash: "aa"}
	plan := &fakePlan{count: 1, states: []model.StateRead{state}}
	b := planBench(t, plan)
	wantVerdicts(t, b.cycle(t), "")
	estate := b.engine.estate
	b.engine = b.restart(estate)
	plan.err = errors.New("backend is down")
	b.cycle(t)
	b.engine = b.restart(estate)
	plan.err, plan.states = nil, []model.StateRead{{Address: "a.tfstate", Lineage: "l", Serial: 9, Hash: "bb"}}
	wantVerdicts(t, b.cycle(t), "1 changed")
	wantVerdicts(t, b.cycle(t), "1 changed")
	plan.states = []model.StateRead{{Address: "a.tfstate", Lineage: "l", Serial: 13, Hash: "cc"}}
	wantVerdicts(t, b.cycle(t), "")
}
