package server

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// inactiveDecisions returns an API with decisions in a file, none of which is in force.
func inactiveDecisions(t *testing.T) API {
	t.Helper()
	a := deciding(t)
	s := a.Store.(*store.Store)
	web := model.Key{Source: "prod", Kind: "kubernetes/Deployment.apps", ID: "shop/web"}
	role, typo, lost := web, web, web
	role.Kind, typo.Source, lost.ID = "kubernetes/Role", "pord", "shop/wbe"
	filed := func(id string, d model.Decision) model.Decision {
		d.ID, d.Kind, d.From, d.By, d.Via = id, model.Accept, "agreed", "acceptances.yaml:1", "acceptances.yaml:1"
		return d
	}
	service := web
	service.Kind = "kubernetes/Service"
	decisions := []model.Decision{
		filed("a-ended", model.Decision{Subject: model.Target{Key: web}, Basis: "basis0", Until: now().Add(-time.Minute)}),
		filed("b-other", model.Decision{Subject: model.Target{Key: web}, Basis: "another"}),
		filed("c-over", model.Decision{Subject: model.Target{Key: role}, Basis: "gone"}),
		filed("d-source", model.Decision{Subject: model.Target{Key: typo}, Basis: "basis0"}),
		filed("e-lost", model.Decision{Subject: model.Target{Key: lost}, Basis: "basis0"}),
		filed("f-gone", model.Decision{Finding: "0ver01", Basis: "gone"}),
		filed("g-second", model.Decision{Subject: model.Target{Key: service}, Basis: "basis2", At: now().Add(-time.Hour)}),
		filed("h-first", model.Decision{Subject: model.Target{Key: service}, Basis: "basis2", At: now()}),
	}
	if err := s.Save(store.Record{Run: run("run-3", now()), Decisions: map[string][]model.Decision{"agreed": decisions}}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"i-replaced", "j-later"} {
		d := model.Decision{ID: id, Kind: model.Snooze, Finding: "0ver01", Basis: "gone", At: now(), Until: now().Add(time.Hour)}
		if err := s.Decide([]model.Decision{d}, now()); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func TestReasonsOfInactiveDecisions(t *testing.T) {
	t.Parallel()
	list, err := client(inactiveDecisions(t).Handler()).Decisions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, d := range list {
		got[d.ID] = d.Why
	}
	want := map[string]string{
		"a-ended":    "it has ended",
		"b-other":    "the finding has changed",
		"c-over":     "the finding is resolved",
		"d-source":   `no source is named "pord"`,
		"e-lost":     "there is no such finding",
		"f-gone":     "the finding is resolved",
		"g-second":   "decision h-first takes precedence",
		"h-first":    "",
		"i-replaced": "replaced by decision j-later",
		"j-later":    "the finding is resolved",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("why (-want +got):\n%s", diff)
	}
}

func TestEndingIsBounded(t *testing.T) {
	t.Parallel()
	s := Status{Ending: make([]model.DecisionStatus, 14)}
	if next, more := s.EndingNext(); len(next) != 10 || more != 4 {
		t.Errorf("%d are shown, and %d more said, want 10 and 4", len(next), more)
	}
	s.Ending = s.Ending[:3]
	if next, more := s.EndingNext(); len(next) != 3 || more != 0 {
		t.Errorf("%d are shown, and %d more said, want 3 and none", len(next), more)
	}
}
