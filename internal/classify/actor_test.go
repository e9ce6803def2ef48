package classify

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A log that reaches back no longer so far, or that was lost in a restart, does
// not make anybody less known.
func TestWhoWasNamedIsKept(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	actor := func(name, via string, sure model.Confidence, after time.Duration) model.Actor {
		return model.Actor{Name: name, Via: via, Confidence: sure, At: at.Add(after)}
	}
	exact, other := actor("alice", model.AuditLog, model.Exact, 0), actor("bob", model.AuditLog, model.Exact, time.Hour)
	shared, tool := actor("alice", model.AuditLog, model.Likely, 0), actor("kubectl-edit", "managedFields", model.Likely, 0)
	nobody := model.UnknownActor("gone")
	for _, tc := range []struct {
		reason      string
		before, now model.Actor
		live        int64
		want        string
	}{
		{"the log forgot", exact, tool, 1, "alice"},
		{"it told of several users of the tool", shared, tool, 1, "alice"},
		{"the source knows nobody any more", tool, nobody, 1, "kubectl-edit"},
		{"the log tells more now", tool, shared, 1, "alice"},
		{"somebody else set the same again", exact, other, 1, "bob"},
		{"somebody set it again later, and the log does not tell who", exact, actor("kubectl-edit", "managedFields", model.Likely, time.Hour), 1, "kubectl-edit"},
		{"it shows something else", exact, tool, 2, "kubectl-edit"},
	} {
		one, live := model.IntOf(1), model.IntOf(tc.live)
		before := model.Finding{Basis: "a", Actor: tc.before, Changes: []model.Change{{Path: "x", Live: &one}}}
		now := model.Finding{Basis: "b", Actor: tc.now, Changes: []model.Change{{Path: "x", Live: &live}}}
		keepActor(&now, &before)
		if now.Actor.Name != tc.want || now.Changes[0].Actor != nil {
			t.Errorf("%s: by %s (%+v), want %s", tc.reason, now.Actor.Name, now.Changes[0].Actor, tc.want)
		}
		before.Changes, now.Changes, now.Actor = nil, nil, tc.now
		if before.Basis = "b"; tc.live > 1 {
			before.Basis = "a"
		}
		if keepActor(&now, &before); now.Actor.Name != tc.want {
			t.Errorf("%s, as a whole: by %s, want %s", tc.reason, now.Actor.Name, tc.want)
		}
	}
}

// TestWhoWasNamedIsKeptOfEachField has a log that forgot one of two edits, and a
// third edit since: each field keeps its own name.
func TestWhoWasNamedIsKeptOfEachField(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	value := model.IntOf(1)
	change := func(path string, by *model.Actor) model.Change {
		return model.Change{Path: path, Live: &value, Actor: by}
	}
	carol := model.Actor{Name: "carol", At: at, Confidence: model.Exact}
	dave := model.Actor{Name: "dave", At: at.Add(time.Hour), Confidence: model.Exact}
	erin := model.Actor{Name: "erin", At: at.Add(2 * time.Hour), Confidence: model.Exact}
	nobody := model.UnknownActor("the log is too short")
	before := model.Finding{Basis: "a", Actor: dave, Changes: []model.Change{change("cores", &carol), change("memory", nil)}}
	now := model.Finding{Basis: "b", Actor: erin, Changes: []model.Change{change("cores", &nobody), change("memory", &nobody), change("name", nil)}}
	seen := now.Changes
	keepActor(&now, &before)
	if now.Actor.Name != "erin" || now.Changes[0].Actor == nil || now.Changes[0].Actor.Name != "carol" ||
		now.Changes[1].Actor == nil || now.Changes[1].Actor.Name != "dave" || now.Changes[2].Actor != nil {
		t.Errorf("by %s: %+v", now.Actor.Name, now.Changes)
	}
	if seen[0].Actor != &nobody || seen[2].Actor != nil {
		t.Error("what was judged is changed")
	}
}

// TestWritersOfSidesAreKept has the log of each side of a dispute forget its entry: a side
// that shows the same keeps its name, and a side that changed does not.
func TestWritersOfSidesAreKept(t *testing.T) {
	t.Parallel()
	alice, bob, nobody := model.Actor{Name: "alice", Confidence: model.Likely}, model.Actor{Name: "bob", Confidence: model.Exact}, model.UnknownActor("gone")
	dispute := func(git, intent, live int64, one, two, three *model.Actor) model.Finding {
		is := model.IntOf(live)
		return model.Finding{Actor: nobody, Changes: []model.Change{{Path: "x", Live: &is, LiveActor: three, Claims: []model.ClaimedValue{
			{Declaration: "git", Value: model.IntOf(git), Actor: one}, {Declaration: "intent", Value: model.IntOf(intent), Actor: two}}}}}
	}
	for _, tc := range []struct {
		reason            string
		git, intent, live int64
		before            *model.Actor
		want              [3]string
	}{
		{"the logs forgot", 1, 2, 3, &alice, [3]string{"alice", "bob", "bob"}},
		{"git changed", 9, 2, 3, &alice, [3]string{"unknown", "bob", "bob"}},
		{"live changed", 1, 2, 9, &alice, [3]string{"alice", "bob", "unknown"}},
		{"found by an earlier version", 1, 2, 3, nil, [3]string{"unknown", "bob", "bob"}},
	} {
		before := dispute(1, 2, 3, tc.before, &bob, &bob)
		now := dispute(tc.git, tc.intent, tc.live, &nobody, &nobody, &nobody)
		keepActor(&now, &before)
		c := now.Changes[0]
		if got := [3]string{c.Claims[0].Actor.Name, c.Claims[1].Actor.Name, c.LiveActor.Name}; got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
}
