package classify

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

var (
	now     = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	earlier = now.Add(-time.Hour)
	key     = model.Key{Source: "s", Kind: "test/Thing", ID: "p/a"}
)

func changed(path string) model.Outcome {
	v := model.StringOf("x")
	return model.Outcome{Verdict: model.Changed, Claim: &model.Claim{Declaration: "d", Address: "a.yaml:1"},
		Changes: []model.Change{{Path: path, Live: &v}}}
}

// input is a scan that saw one subject with the outcomes.
func input(outcomes ...model.Outcome) Input {
	s := &model.Subject{Key: key, Place: "p", Name: "a", Claims: []*model.Claim{{Declaration: "d"}}}
	return Input{
		Judged:       []model.Judged{{Subject: s, Outcomes: outcomes}},
		Snapshots:    []model.Snapshot{{Source: "s", Taken: now, Coverage: []model.Coverage{{Source: "s", Complete: true}}}},
		Declarations: []model.Declaration{{Name: "d", Governs: []string{"s"}}},
		Now:          now,
	}
}

// before is the finding that an earlier scan made of the outcome.
func before(o model.Outcome) []model.Finding {
	in := input(o)
	in.Snapshots[0].Taken = earlier
	return Findings(in).Current
}

func TestFindingKeepsItsIDAndFirstSeen(t *testing.T) {
	t.Parallel()
	in := input(changed("b"))
	in.Earlier = before(changed("a"))
	got := Findings(in)
	if len(got.Current) != 1 || len(got.Remembered)+len(got.Resolved) != 0 {
		t.Fatalf("got %+v, want the one finding", got)
	}
	f := got.Current[0]
	if f.ID != in.Earlier[0].ID || !f.FirstSeen.Equal(earlier) || !f.LastSeen.Equal(now) || f.Changes[0].Path != "b" {
		t.Errorf("got %+v, want the earlier one with new changes", f)
	}
}

func TestWhatAScanProves(t *testing.T) {
	t.Parallel()
	whole := model.Outcome{Verdict: model.Missing, Claim: &model.Claim{Declaration: "d"}}
	unmanaged := model.Outcome{Verdict: model.Unmanaged}
	disputed := changed("a")
	disputed.Verdict = model.Disputed
	disputed.Changes[0].Claims = []model.ClaimedValue{{Declaration: "d"}, {Declaration: "e"}}
	for _, tc := range []struct {
		reason   string
		earlier  model.Outcome
		change   func(*Input)
		resolved bool
	}{
		{"disputed, and the other side could not be read", disputed, func(*Input) {}, false},
		{"disputed, and the other side left the estate", disputed, func(in *Input) { in.Whole, in.Sources = true, []string{"s"} }, true},
		{"looked at and in sync", changed("a"), func(*Input) {}, true},
		{"the source could not be read", changed("a"), func(in *Input) { in.Snapshots, in.Judged = nil, nil }, false},
		{"the declaration could not be read", changed("a"), func(in *Input) { in.Declarations = nil }, false},
		{"the resource could not be checked", changed("a"), func(in *Input) {
			in.Judged[0].Outcomes = []model.Outcome{{Verdict: model.Unchecked, Claim: &model.Claim{Declaration: "d"}}}
		}, false},
		{"it is one of those that an unclear claim may mean", changed("a"), func(in *Input) {
			in.Judged[0].Subject.Claims = nil
			in.Judged = append(in.Judged, model.Judged{Subject: &model.Subject{Key: model.Key{Source: "s", Kind: key.Kind, ID: "web"}},
				Outcomes: []model.Outcome{{Verdict: model.Unchecked, Claim: &model.Claim{Declaration: "d", ClaimMatching: model.ClaimMatching{Covers: []model.Ref{{Kind: key.Kind, ID: key.ID}}}}}}})
		}, false},
		{"neither live nor declared any longer", whole, func(in *Input) { in.Judged = nil }, true},
		{"no longer declared, and its kind not read", whole, func(in *Input) {
			in.Judged = nil
			in.Snapshots[0].Coverage = []model.Coverage{{Source: "s", Kind: key.Kind, Reason: "forbidden"}}
		}, false},
		{"it may stand in the part that could not be read", changed("a"), func(in *Input) {
			in.Judged[0].Subject.Claims = nil
			in.Declarations[0].Problems = []model.Problem{{Address: "x", Reason: "broken"}}
		}, false},
		{"it stands in another part", changed("a"), func(in *Input) {
			in.Declarations[0].Problems = []model.Problem{{Address: "x", Reason: "broken"}}
		}, true},
		{"unmanaged, and now deleted", unmanaged, func(in *Input) { in.Judged = nil }, true},
		{"unmanaged, and a part that may declare it is unreadable", unmanaged, func(in *Input) {
			in.Declarations[0].Problems = []model.Problem{{Address: "x", Reason: "broken"}}
			in.Judged[0].Subject.Unjudged = &model.Unjudged{Declaration: "d", Address: "x", Reason: "broken"}
		}, false},
		{"in one declaration, and a part of the other is unreadable", model.Outcome{Verdict: model.Unmanaged, Declaration: "d"}, func(in *Input) {
			in.Judged[0].Subject.Partial = "x of e could not be read"
		}, false},
		{"unmanaged, and the unreadable part cannot declare it", unmanaged, func(in *Input) {
			in.Declarations[0].Problems = []model.Problem{{Address: "x", Reason: "broken"}}
		}, true},
		{"unmanaged, now deleted, and a part is unreadable", unmanaged, func(in *Input) {
			in.Judged = nil
			in.Declarations[0].Problems = []model.Problem{{Address: "x", Reason: "broken"}}
		}, true},
		{"unmanaged, and now older than the first complete look", unmanaged, func(in *Input) {
			in.Judged[0].Subject.Unjudged = &model.Unjudged{Older: true, Expected: true}
		}, true},
		{"unmanaged, and no declaration governs the source in this scan", unmanaged, func(in *Input) { in.Declarations = nil }, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			in := input()
			in.Earlier = before(tc.earlier)
			tc.change(&in)
			got := Findings(in)
			if resolved := len(got.Resolved) == 1; resolved != tc.resolved || len(got.Resolved)+len(got.Remembered) != 1 {
				t.Errorf("resolved %d, remembered %d, want resolved %t", len(got.Resolved), len(got.Remembered), tc.resolved)
			}
		})
	}
}

func TestSeverity(t *testing.T) {
	t.Parallel()
	kind := &model.Kind{Severities: []model.SeverityRule{
		{Verdicts: []model.Verdict{model.Changed}, Path: "spec.containers.image", Severity: model.Critical, Reason: "other code"},
		{Verdicts: []model.Verdict{model.Missing}, Severity: model.Low},
	}}
	for _, tc := range []struct {
		reason  string
		outcome model.Outcome
		want    model.Severity
	}{
		{"a rule's path fits with list keys left out", changed(`spec.containers[name=a].image`), model.Critical},
		{"and what stands below it", changed(`spec.containers[name="x]y"].image.tag`), model.Critical},
		{"but not a longer name", changed(`spec.containers[name=a].imagePullPolicy`), model.Medium},
		{"a rule without a path", model.Outcome{Verdict: model.Missing}, model.Low},
		{"no rule", model.Outcome{Verdict: model.Conflict}, model.High},
		{"declared and not applied is information", model.Outcome{Verdict: model.Pending}, model.Info},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			if got, _ := rate(&model.Subject{Kind: kind}, nil, tc.outcome.Verdict, tc.outcome.Changes); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	two := changed("a.b")
	two.Changes = append(two.Changes, changed("c").Changes...)
	for _, tc := range []struct {
		reason string
		rule   Rule
		hidden bool
		paths  int
	}{
		{"another kind", Rule{Kind: "test/Other", Reason: "r"}, false, 2},
		{"this kind, in full or by its own name", Rule{Kind: "Thing", Reason: "r"}, true, 2},
		{"this resource", Rule{Resource: "p/*", Reason: "r"}, true, 2},
		{"one of two fields goes out of the finding", Rule{Path: "a.*", Reason: "r"}, false, 1},
		{"both fields", Rule{Path: "*", Reason: "r"}, true, 2},
		{"an expired rule", Rule{Kind: "Thing", Reason: "r", Expires: now}, false, 2},
		{"a broken pattern fits nothing", Rule{Kind: "[", Reason: "r"}, false, 2},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			in := input(two)
			in.Rules = []Rule{tc.rule}
			f := Findings(in).Current[0]
			if (f.Hidden != "") != tc.hidden || len(f.Changes) != tc.paths {
				t.Errorf("hidden %q with %d changes, want %t with %d", f.Hidden, len(f.Changes), tc.hidden, tc.paths)
			}
		})
	}
}

func TestUnreadablePartIsAFinding(t *testing.T) {
	t.Parallel()
	in := input()
	in.Declarations[0].Problems = []model.Problem{{Address: "x.yaml:3", Reason: "tab"}}
	f := Findings(in).Current
	if len(f) != 1 || f[0].Verdict != model.Unchecked || f[0].Address != "x.yaml:3" || f[0].Reason != "tab" || f[0].Source != "s" || f[0].Basis == "" {
		t.Errorf("got %+v", f)
	}
	in.Declarations[0].Governs = nil
	if f = Findings(in).Current; len(f) != 1 || f[0].Source != "" {
		t.Errorf("of a declaration that governs nothing: got %+v", f)
	}
}

func TestIDsAreDistinct(t *testing.T) {
	t.Parallel()
	in := input(changed("a"), changed("b"), model.Outcome{Verdict: model.Undeclared, Claim: &model.Claim{Declaration: "d"}})
	seen := map[string]bool{}
	for _, f := range Findings(in).Current {
		if seen[f.ID] || f.ID == "" {
			t.Errorf("ID %q twice or empty", f.ID)
		}
		seen[f.ID] = true
	}
}

// TestClaimsKeepTheirIDs: of several claims on one resource, a finding of one has the same
// ID if another one drifts, too.
func TestClaimsKeepTheirIDs(t *testing.T) {
	t.Parallel()
	drift := func(address string) model.Outcome {
		o := changed("a")
		o.Claim.Address = address
		return o
	}
	claims := []*model.Claim{{Declaration: "d", Address: "main"}, {Declaration: "d", Address: "route"}}
	ids := func(outcomes ...model.Outcome) map[string]string {
		in := input(outcomes...)
		in.Judged[0].Subject.Claims = claims
		all := map[string]string{}
		for _, f := range Findings(in).Current {
			all[f.Address] = f.ID
		}
		return all
	}
	one, other, both := ids(drift("main")), ids(drift("route")), ids(drift("main"), drift("route"))
	if one["main"] != both["main"] || other["route"] != both["route"] || both["main"] == both["route"] {
		t.Errorf("alone %v and %v, together %v", one, other, both)
	}
	claims = claims[:1]
	if only := ids(drift("main")); only["main"] != one["main"] {
		t.Errorf("the first claim has ID %s, and alone on the thing %s", one["main"], only["main"])
	}
}

// TestLists has one finding that is made, one that is remembered and one that ends.
func TestLists(t *testing.T) {
	t.Parallel()
	in := input(changed("a"))
	ended, unread := before(changed("a"))[0], before(changed("a"))[0]
	ended.Key.ID, ended.ID, unread.Key.Source, unread.ID = "p/b", "ended", "unread", "unread"
	in.Earlier = []model.Finding{ended, unread}
	in.Decisions = []model.Decision{{Kind: model.Accept, Finding: "unread", Basis: unread.Basis, At: earlier}}
	r := Findings(in)
	if len(r.Current) != 1 || len(r.Remembered) != 1 || len(r.Resolved) != 1 {
		t.Fatalf("got %d, %d and %d", len(r.Current), len(r.Remembered), len(r.Resolved))
	}
	if len(r.Open()) != 2 || len(r.All()) != 3 || r.All()[2].ID != "ended" {
		t.Errorf("open %d, all %d", len(r.Open()), len(r.All()))
	}
	if r.Remembered[0].Decision == nil || r.Current[0].Decision != nil {
		t.Errorf("accepted %v and %v, want what is remembered alone", r.Remembered[0].Decision, r.Current[0].Decision)
	}
	if len(r.Current[0].ID) != 12 {
		t.Errorf("ID %s, want 12 digits", r.Current[0].ID)
	}
}

// TestBesides gives the first claim of each declaration no name, and the others theirs.
func TestBesides(t *testing.T) {
	t.Parallel()
	a, b, other := &model.Claim{Declaration: "d", Address: "a"}, &model.Claim{Declaration: "d", Address: "b"}, &model.Claim{Declaration: "e", Address: "b"}
	s := &model.Subject{Claims: []*model.Claim{a, other, b}}
	for reason, tc := range map[string]struct {
		claim *model.Claim
		want  string
	}{
		"the first":                          {a, ""},
		"the second of the same declaration": {b, "b"},
		"the first of another declaration":   {other, ""},
		"of a declaration without a claim":   {&model.Claim{Declaration: "f", Address: "c"}, ""},
	} {
		if got := claimDiscriminator(s, tc.claim); got != tc.want {
			t.Errorf("%s: %q, want %q", reason, got, tc.want)
		}
	}
}
