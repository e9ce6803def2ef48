package daemon

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/driftd/driftd/internal/model"
)

// unjudgedSubject returns a live subject that was not judged.
func unjudgedSubject(id string, u model.Unjudged) model.Judged {
	key := model.Key{Source: "live", Kind: thing, ID: id}
	return model.Judged{Subject: &model.Subject{Key: key, Place: "p", Unjudged: &u, Live: &model.Resource{Key: key, Place: "p"}}}
}

func TestNotJudged(t *testing.T) {
	t.Parallel()
	part := model.Unjudged{Declaration: "d", Address: "x", Reason: "broken", Expected: true}
	other, doubted, older := part, part, part
	other.Address = "a"
	doubted.Expected = false
	older.Older, older.Reason = true, "it is dangerous"
	automatic := unjudgedSubject("automatic", part)
	automatic.Subject.SystemOwned = "owned"
	watched := unjudgedSubject("older", older)
	watched.Subject.Live.Watched = "it is dangerous"
	got := notJudged([]model.Judged{unjudgedSubject("b", part), watched, unjudgedSubject("c", part), automatic,
		unjudgedSubject("doubted", doubted), unjudgedSubject("a", other), {Subject: &model.Subject{}}})
	row := func(id, why string) model.NotJudgedResource {
		return model.NotJudgedResource{Kind: thing, ID: id, Place: "p", Watched: why}
	}
	want := []model.NotJudged{
		{Source: "live", Declaration: "d", Address: "a", Reason: "broken", Count: 1, Resources: []model.NotJudgedResource{row("a", "")}},
		{Source: "live", Declaration: "d", Address: "x", Reason: "broken", Count: 2, Resources: []model.NotJudgedResource{row("b", ""), row("c", "")}},
		{Source: "live", Older: true, Reason: olderReason, Count: 1, Resources: []model.NotJudgedResource{row("older", "it is dangerous")}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := countHeld(got); n != 3 {
		t.Errorf("%d are held back, want the 3 that are not older", n)
	}
}

func TestNotJudgedIsBounded(t *testing.T) {
	t.Parallel()
	var judged []model.Judged
	for i := range model.MaxUnjudged + 5 {
		judged = append(judged, unjudgedSubject(fmt.Sprintf("%04d", i), model.Unjudged{Declaration: "d", Expected: true}))
	}
	got := notJudged(judged)
	if len(got) != 1 || got[0].Count != model.MaxUnjudged+5 || len(got[0].Resources) != model.MaxUnjudged {
		t.Errorf("%d counted, %d listed; want all counted and %d listed", got[0].Count, len(got[0].Resources), model.MaxUnjudged)
	}
}

func TestNotGoverned(t *testing.T) {
	t.Parallel()
	puts := model.Declaration{Name: "d", NotGoverned: []model.NotGoverned{{Place: "shared", Remedy: "list it"}, {Place: "other", Remedy: "list it"}}}
	governs := model.Declaration{Name: "e", Scopes: []model.Scope{{Place: "shared"}, {Kind: thing, Place: "other"}}}
	v := view{sources: []sourceView{
		{Source: Source{Name: "z"}, declarations: []model.Declaration{puts}},
		{Source: Source{Name: "live"}, declarations: []model.Declaration{puts, governs}},
	}}
	want := []model.NotGoverned{
		{Source: "live", Place: "other", Declaration: "d", Remedy: "list it"},
		{Source: "z", Place: "other", Declaration: "d", Remedy: "list it"},
		{Source: "z", Place: "shared", Declaration: "d", Remedy: "list it"},
	}
	if diff := cmp.Diff(want, notGoverned(v), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// growing is a source of watched objects, each created a minute after the one before.
type growing struct {
	objects int
	refused bool
}

func (g *growing) Collect(context.Context) (model.Snapshot, error) {
	s := model.Snapshot{Source: "live", Taken: time.Now(), Kinds: map[string]*model.Kind{thing: {Name: thing, Watched: true}},
		Coverage: []model.Coverage{{Source: "live", Complete: true}}}
	if g.refused {
		s.Coverage = []model.Coverage{{Source: "live", Kind: thing, Reason: "forbidden"}, {Source: "live", Complete: true}}
		return s, nil
	}
	for i := range g.objects {
		s.Resources = append(s.Resources, model.Resource{Key: model.Key{Source: "live", Kind: thing, ID: fmt.Sprint(i)}, Name: fmt.Sprint(i),
			Watched: "it is dangerous", Created: time.Unix(int64(i)*60, 0)})
	}
	return s, nil
}

// watching is a declaration that declares nothing and watches.
type watching struct{ problems []model.Problem }

func (w *watching) Load(context.Context) (model.Declaration, error) {
	return model.Declaration{Name: "git", Governs: []string{"live"}, Scopes: []model.Scope{{Place: "p"}}, Watches: true, Problems: w.problems}, nil
}

// TestWatchedObjectsAreJudgedFromTheFirstLookOn scans a growing source: the first complete look
// is saved, and used by another process, too.
func TestWatchedObjectsAreJudgedFromTheFirstLookOn(t *testing.T) {
	t.Parallel()
	source, declaration := &growing{objects: 2, refused: true}, &watching{}
	b := newBench(t, 0, func(e *Estate) {
		e.Sources[0].Collector, e.Declarations[0].Loader = source, declaration
	})
	report := func(want string, older int) {
		t.Helper()
		r := b.cycle(t)
		got := ""
		for _, f := range r.Findings {
			got += string(f.Verdict) + " " + f.Key.ID + ";"
		}
		n := 0
		for _, entry := range r.Scan.NotJudged {
			if entry.Older {
				n += entry.Count
			}
		}
		if got != want || n != older {
			t.Errorf("findings %q and %d older, want %q and %d", got, n, want, older)
		}
	}
	report("", 0) // not read: no first look
	source.refused = false
	report("", 2)
	source.objects = 3
	report("unmanaged 2;", 2)
	b.engine = b.restart(b.engine.estate)
	report("unmanaged 2;", 2)
	declaration.problems = []model.Problem{{Address: "x", Reason: "broken"}}
	r := b.cycle(t)
	if r.Summary.NotJudged != 1 {
		t.Errorf("%d not judged, want the new one, which the broken part may declare", r.Summary.NotJudged)
	}
	if open, err := b.store.OpenFindings(); err != nil || len(open) != 2 {
		t.Errorf("open: %v, %v; want the object, as it was last seen, and the broken part", open, err)
	}
	declaration.problems = nil
	source.objects = 2
	report("", 2)
}
