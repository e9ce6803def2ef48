package classify

import (
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A plannedRoot is scanned again and again.
type plannedRoot struct {
	result Result
	serial int64
	now    time.Time
}

// scan makes a scan after a time. apply reports whether the state was written since the last one, and declared is the planned value; "" if
// the plan is empty.
func (r *plannedRoot) scan(after time.Duration, apply bool, declared string, more ...func(*Input)) []model.Finding {
	r.now = r.now.Add(after)
	if apply {
		r.serial++
	}
	in := Input{Now: r.now, Whole: true, Sources: []string{"plan:infra"}, Earlier: r.result.Open(), Records: r.result.Records, Recent: r.result.Resolved,
		Declarations: []model.Declaration{{Name: "infra", Governs: []string{"plan:infra"},
			States: []model.StateRead{{Address: "infra", Lineage: "l", Serial: r.serial, PlannedBy: "1.11.4"}}}},
		Snapshots: []model.Snapshot{{Source: "plan:infra", Coverage: []model.Coverage{{Source: "plan:infra", Complete: true}}}}}
	if declared != "" {
		value, recorded := model.StringOf(declared), model.StringOf("kept")
		key := model.Key{Source: "plan:infra", Kind: "terraform/lab_server", ID: "lab_server.web"}
		claim := &model.Claim{Declaration: "infra", Source: "plan:infra", Address: "lab_server.web", Kind: key.Kind, ID: key.ID}
		in.Judged = []model.Judged{{Subject: &model.Subject{Key: key, Name: "web", Claims: []*model.Claim{claim}},
			Outcomes: []model.Outcome{{Verdict: model.Pending, Declaration: "infra", Claim: claim,
				Changes: []model.Change{{Path: "name", Declared: &value, Recorded: &recorded, Live: &recorded}}}}}}
	}
	for _, change := range more {
		change(&in)
	}
	r.result = Findings(in)
	var found []model.Finding
	for _, f := range r.result.Current {
		if f.Check == "terraform/never-empty" {
			found = append(found, f)
		}
	}
	return found
}

const day = 24 * time.Hour

func newPlannedRoot() *plannedRoot {
	return &plannedRoot{serial: 7, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

func TestPlanThatIsNeverEmpty(t *testing.T) {
	t.Parallel()
	r := newPlannedRoot()
	r.scan(0, false, "Web")
	for n := range 3 {
		if found := r.scan(time.Hour, false, "Web"); len(found) > 0 {
			t.Errorf("after %d applies: found %v", n, found)
		}
		found := r.scan(day, true, "Web")
		if (len(found) == 1) != (n == 2) {
			t.Errorf("after %d applies: found %v", n+1, found)
		}
	}
	found := r.scan(time.Hour, false, "Web")
	if len(found) != 1 || !strings.Contains(found[0].Reason, "lab_server.web.") || found[0].Severity != model.Low || found[0].Verdict != model.Violated {
		t.Fatalf("found %+v", found)
	}
	if found := r.scan(time.Hour, true, ""); len(found) > 0 || len(r.result.Resolved) != 2 {
		t.Errorf("the plan is empty: found %v, resolved %v", found, r.result.Resolved)
	}
}

func TestPlansThatAreOnlyPending(t *testing.T) {
	t.Parallel()
	tests := map[string]func(r *plannedRoot) []model.Finding{
		"no apply in months": func(r *plannedRoot) (found []model.Finding) {
			for range 100 {
				found = append(found, r.scan(day, false, "Web")...)
			}
			return found
		},
		"one long apply that writes the state again and again": func(r *plannedRoot) (found []model.Finding) {
			for range 100 {
				found = append(found, r.scan(10*time.Minute, true, "Web")...)
			}
			return found
		},
		"each commit declares something else, which is then applied": func(r *plannedRoot) (found []model.Finding) {
			for _, declared := range []string{"a", "b", "c", "d", "e", "f"} {
				found = append(found, r.scan(day, true, declared)...)
			}
			return found
		},
		"the plan was empty in between": func(r *plannedRoot) (found []model.Finding) {
			for range 6 {
				found = append(found, r.scan(day, true, "Web")...)
				found = append(found, r.scan(day, true, "")...)
			}
			return found
		},
		"planned for the first time after many applies": func(r *plannedRoot) (found []model.Finding) {
			for range 6 {
				r.scan(day, true, "")
			}
			return append(r.scan(day, false, "Web"), r.scan(day, false, "Web")...)
		},
		"an ignore rule hides the difference": func(r *plannedRoot) (found []model.Finding) {
			for range 6 {
				found = append(found, r.scan(day, true, "Web", func(in *Input) { in.Rules = []Rule{{Kind: "terraform/*", Reason: "known"}} })...)
			}
			return found
		},
		"a state without a plan": func(r *plannedRoot) (found []model.Finding) {
			for range 6 {
				found = append(found, r.scan(day, true, "Web", func(in *Input) { in.Declarations[0].States[0].PlannedBy = "" })...)
			}
			return found
		},
	}
	for reason, scans := range tests {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			r := newPlannedRoot()
			r.scan(0, false, "")
			if found := scans(r); len(found) > 0 {
				t.Errorf("found %v", found)
			}
		})
	}
}

func TestNeverEmptyNamesFewAddresses(t *testing.T) {
	t.Parallel()
	f := neverEmptyFinding(&model.Declaration{Name: "infra"}, "infra", []string{"g", "a", "b", "c", "d", "e", "f", "a"})
	if !strings.Contains(f.Reason, "a, b, c, d, e and 2 more.") {
		t.Errorf("reason %q", f.Reason)
	}
}
