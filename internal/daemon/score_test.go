package daemon

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/model"
)

// TestScores checks what counts as good, and that nothing that was not checked does.
func TestScores(t *testing.T) {
	t.Parallel()
	declaration := func(d model.Declaration) declarationView {
		return declarationView{Declaration{Name: d.Name}, loaded{declaration: d}}
	}
	v := view{sources: []sourceView{{Source: Source{Name: "live"}}, {Source: Source{Name: "gone"}, collected: collected{err: errors.New("unreachable")}}},
		declarations: []declarationView{declaration(model.Declaration{Name: "good", PinsChecked: true}), declaration(model.Declaration{Name: "bad", PinsChecked: true, Unpinned: true}),
			declaration(model.Declaration{Name: "state", Undetermined: true}), declaration(model.Declaration{Name: "netbox", Inventory: true})}}
	subject := func(source, id, declaration string, live bool, verdicts ...model.Verdict) model.Judged {
		s := &model.Subject{Key: model.Key{Source: source, Kind: thing, ID: id}, Place: "p"}
		if live {
			s.Live = &model.Resource{Key: s.Key, Place: "p"}
		}
		j := model.Judged{Subject: s}
		if declaration != "" {
			s.Claims = []*model.Claim{{Declaration: declaration}}
		}
		for _, verdict := range verdicts {
			j.Outcomes = append(j.Outcomes, model.Outcome{Verdict: verdict})
		}
		return j
	}
	chance := subject("live", "chance", "good", true, model.Nondeterministic)
	chance.Subject.Claims[0].Violations = []model.Violation{{Verdict: model.Nondeterministic}}
	lent := unjudgedSubject("lent", model.Unjudged{Expected: true})
	automatic := unjudgedSubject("automatic", model.Unjudged{Expected: true})
	automatic.Subject.SystemOwned = "a controller"
	judged := []model.Judged{
		subject("live", "same", "good", true), subject("live", "absent at times", "good", false), chance,
		subject("live", "missing", "good", false, model.Missing), subject("live", "suspended", "bad", true, model.Violated),
		subject("live", "edited", "bad", true, model.Changed, model.Unchecked), subject("live", "unread", "state", true, model.Unchecked),
		subject("live", "stray", "", true, model.Unmanaged), subject("live", "listed", "netbox", true), subject("live", "foreign", "", true), lent, automatic,
		subject("gone", "same", "good", false, model.Unchecked),
	}
	want := []model.Score{
		{Source: "gone", Owner: "team-shop", Claims: 1, InSync: model.Checked{Unchecked: 1}, Deterministic: model.Checked{Good: 1}, Pinned: model.Checked{Good: 1}},
		{Source: "live", Live: 5, Declared: 3, Claims: 3, InSync: model.Checked{Good: 1, Unchecked: 1}, Deterministic: model.Checked{Good: 2, Unchecked: 1}, Pinned: model.Checked{Unchecked: 1}},
		{Source: "live", Owner: "team-shop", Live: 2, Declared: 2, Claims: 3, InSync: model.Checked{Good: 2}, Deterministic: model.Checked{Good: 2}, Pinned: model.Checked{Good: 3}},
	}
	got := scores(v, judged, []classify.OwnerRule{{Selector: model.Selector{Declarations: []string{"good"}}, Owner: "team-shop"}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := scores(view{sources: v.sources}, nil, nil); len(got) != 2 || got[0] != (model.Score{Source: "gone"}) {
		t.Errorf("sources without resources: %+v", got)
	}
}
