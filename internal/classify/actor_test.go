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

// TestLastTime decides whether a field shows what it showed before, side by side.
func TestLastTime(t *testing.T) {
	t.Parallel()
	value := func(n int64) *model.Value { v := model.IntOf(n); return &v }
	claims := func(declaration string, n int64) []model.ClaimedValue {
		return []model.ClaimedValue{{Declaration: declaration, Value: model.IntOf(n)}}
	}
	all := model.Change{Path: "a", Declared: value(1), Recorded: value(2), Live: value(3), Running: value(4), Claims: claims("d", 5)}
	for reason, tc := range map[string]struct {
		before, now model.Change
		same        bool
	}{
		"the same on all sides":          {all, all, true},
		"the path differs":               {all, model.Change{Path: "b", Declared: value(1), Recorded: value(2), Live: value(3), Running: value(4), Claims: claims("d", 5)}, false},
		"declared differs":               {all, model.Change{Path: "a", Declared: value(9), Recorded: value(2), Live: value(3), Running: value(4), Claims: claims("d", 5)}, false},
		"recorded differs":               {all, model.Change{Path: "a", Declared: value(1), Recorded: value(9), Live: value(3), Running: value(4), Claims: claims("d", 5)}, false},
		"live differs":                   {all, model.Change{Path: "a", Declared: value(1), Recorded: value(2), Live: value(9), Running: value(4), Claims: claims("d", 5)}, false},
		"running differs":                {all, model.Change{Path: "a", Declared: value(1), Recorded: value(2), Live: value(3), Running: value(9), Claims: claims("d", 5)}, false},
		"what is claimed differs":        {all, model.Change{Path: "a", Declared: value(1), Recorded: value(2), Live: value(3), Running: value(4), Claims: claims("d", 9)}, false},
		"another declaration claims it":  {all, model.Change{Path: "a", Declared: value(1), Recorded: value(2), Live: value(3), Running: value(4), Claims: claims("e", 5)}, false},
		"it is not claimed":              {all, model.Change{Path: "a", Declared: value(1), Recorded: value(2), Live: value(3), Running: value(4)}, false},
		"it is not declared any more":    {all, model.Change{Path: "a", Recorded: value(2), Live: value(3), Running: value(4), Claims: claims("d", 5)}, false},
		"it is not live any more":        {all, model.Change{Path: "a", Declared: value(1), Recorded: value(2), Running: value(4), Claims: claims("d", 5)}, false},
		"it is live now":                 {model.Change{Path: "a", Declared: value(1)}, model.Change{Path: "a", Declared: value(1), Live: value(3)}, false},
		"only declared":                  {model.Change{Path: "a", Declared: value(1)}, model.Change{Path: "a", Declared: value(1)}, true},
		"only recorded":                  {model.Change{Path: "a", Recorded: value(1)}, model.Change{Path: "a", Recorded: value(1)}, true},
		"only live":                      {model.Change{Path: "a", Live: value(1)}, model.Change{Path: "a", Live: value(1)}, true},
		"a secret that cannot be read":   {model.Change{Path: "a", Secret: true}, model.Change{Path: "a", Secret: true}, false},
		"a null is a value as any other": {model.Change{Path: "a", Live: &model.Value{}}, model.Change{Path: "a", Live: &model.Value{}}, true},
	} {
		carol := model.Actor{Name: "carol"}
		tc.before.Actor = &carol
		before := model.Finding{Actor: model.Actor{Name: "dave"}, Changes: []model.Change{{Path: "0"}, tc.before}}
		was := earlierActor(&before, &tc.now)
		if same := was != nil; same != tc.same || same && was.Name != "carol" {
			t.Errorf("%s: got %+v", reason, was)
		}
	}
}

// TestForgot decides whether less is known of the same edit than before.
func TestForgot(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	actor := func(confidence model.Confidence, via string, after time.Duration) model.Actor {
		return model.Actor{Confidence: confidence, Via: via, At: at.Add(after)}
	}
	const log, owners = model.AuditLog, "managedFields"
	for reason, tc := range map[string]struct {
		now, was model.Actor
		want     bool
	}{
		"less sure":                                {actor(model.Likely, owners, 0), actor(model.Exact, owners, 0), true},
		"not known any more":                       {actor(model.Unknown, "", 0), actor(model.Likely, owners, 0), true},
		"surer":                                    {actor(model.Exact, owners, 0), actor(model.Likely, owners, 0), false},
		"as sure":                                  {actor(model.Likely, owners, 0), actor(model.Likely, owners, 0), false},
		"as sure, and the log does not tell now":   {actor(model.Likely, owners, 0), actor(model.Likely, log, 0), true},
		"as sure, and the log tells now":           {actor(model.Likely, log, 0), actor(model.Likely, owners, 0), false},
		"as sure, and the log tells both times":    {actor(model.Likely, log, 0), actor(model.Likely, log, 0), false},
		"surer without the log":                    {actor(model.Exact, owners, 0), actor(model.Likely, log, 0), false},
		"less sure with the log":                   {actor(model.Likely, log, 0), actor(model.Exact, owners, 0), true},
		"less sure, and later":                     {actor(model.Likely, owners, time.Second), actor(model.Exact, owners, 0), false},
		"less sure, and of an earlier edit":        {actor(model.Likely, owners, -time.Second), actor(model.Exact, owners, 0), true},
		"neither is known":                         {actor(model.Unknown, "", 0), actor(model.Unknown, "", 0), false},
		"without the log, and later":               {actor(model.Likely, owners, time.Second), actor(model.Likely, log, 0), false},
		"a confidence that is none is not known":   {actor("", "", 0), actor(model.Likely, owners, 0), true},
		"not known, where none was known any time": {actor("", "", 0), actor(model.Unknown, "", 0), false},
	} {
		if got := lessCertain(tc.now, tc.was); got != tc.want {
			t.Errorf("%s: %t", reason, got)
		}
	}
}

// TestNothingIsKept has a finding of which no field was known better before: it stays as
// it was judged, although the actor of the finding is that of no field.
func TestNothingIsKept(t *testing.T) {
	t.Parallel()
	value := model.IntOf(1)
	alice := model.Actor{Name: "alice", Confidence: model.Exact}
	now := model.Finding{Actor: model.UnknownActor("several"), Changes: []model.Change{{Path: "a", Live: &value, Actor: &alice}}}
	before := model.Finding{Actor: model.UnknownActor("several"), Changes: []model.Change{{Path: "a", Live: &value}}}
	keepActor(&now, &before)
	if now.Actor.Name != "unknown" || now.Changes[0].Actor != &alice {
		t.Errorf("by %s, and the field by %+v", now.Actor.Name, now.Changes[0].Actor)
	}
}

// TestActorOfAnotherVerdict: who declared what is pending did not apply what
// bypasses it.
func TestActorOfAnotherVerdict(t *testing.T) {
	t.Parallel()
	v := model.StringOf("x")
	by := func(verdict model.Verdict, a model.Actor) model.Judged {
		return model.Judged{Subject: &model.Subject{Key: key}, Outcomes: []model.Outcome{{Verdict: verdict, Claim: &model.Claim{Declaration: "d"}, Actor: a,
			Changes: []model.Change{{Path: "a", Declared: &v}}}}}
	}
	committer := model.Actor{Name: "committer", Confidence: model.Exact}
	in := input()
	in.Judged = []model.Judged{by(model.Pending, committer)}
	in.Earlier = Findings(in).Current
	for verdict, want := range map[model.Verdict]string{model.Pending: "committer", model.Bypassed: "unknown"} {
		in.Judged = []model.Judged{by(verdict, model.UnknownActor("no log"))}
		f := Findings(in).Current[0]
		if f.ID != in.Earlier[0].ID || actorOf(&f, &f.Changes[0]).Name != want {
			t.Errorf("%s by %s, want %s", verdict, actorOf(&f, &f.Changes[0]).Name, want)
		}
	}
}
