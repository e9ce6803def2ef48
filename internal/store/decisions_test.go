package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// decision returns an acceptance, made at minute 0, of a finding as returned by finding.
func decision(id, about string, edit ...func(*model.Decision)) model.Decision {
	d := model.Decision{ID: id, Kind: model.Accept, Finding: about, Subject: model.Target{Key: key("shop/" + about)}, Basis: "basis",
		Reason: "so be it", Owner: "team", By: "alice", At: start(), Via: "command line"}
	for _, e := range edit {
		e(&d)
	}
	return d
}

func kind(k model.DecisionKind) func(*model.Decision) {
	return func(d *model.Decision) { d.Kind = k }
}

func until(n int) func(*model.Decision) {
	return func(d *model.Decision) { d.Until = minute(n) }
}

// inFile makes a decision one that is declared in a file, about a resource's current value.
func inFile(from string) func(*model.Decision) {
	return func(d *model.Decision) {
		d.From, d.Via, d.Finding, d.Basis = from, from+"/acceptances.yaml:3", "", ""
		d.Changes = finding("x", 0).Changes
	}
}

func based(f *model.Finding) { f.Basis = "basis" }

// decided returns a store with the open findings a, b and c, and these decisions.
func decided(t *testing.T, list ...model.Decision) *Store {
	t.Helper()
	s := openNew(t)
	save(t, s, scan(0, []model.Finding{finding("a", 0, based), finding("b", 0, based), finding("c", 0, based), finding("old", 0, resolvedAt(0))}))
	decide(t, s, 1, list...)
	return s
}

func decide(t *testing.T, s *Store, at int, list ...model.Decision) {
	t.Helper()
	if err := s.Decide(list, minute(at)); err != nil {
		t.Fatal(err)
	}
}

// decisions returns the IDs of the stored decisions.
func decisions(t *testing.T, s *Store) string {
	t.Helper()
	list, err := s.Decisions()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, d := range list {
		ids = append(ids, d.ID)
	}
	return strings.Join(ids, " ")
}

// noted returns the IDs of the open findings that have a decision, with its ID.
func noted(t *testing.T, s *Store) string {
	t.Helper()
	open, err := s.OpenFindings()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, f := range open {
		if f.Decision != nil {
			list = append(list, f.ID+"="+f.Decision.ID)
		}
	}
	return strings.Join(list, " ")
}

func TestDecide(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		first, then []model.Decision
		want, noted string
		reason      string
	}{
		"one":          {nil, []model.Decision{decision("1", "a")}, "1", "a=1", "it is noted on what it is about"},
		"another kind": {[]model.Decision{decision("1", "a", kind(model.Snooze))}, []model.Decision{decision("2", "a")}, "1 2", "a=2", "the stronger holds"},
		"same kind":    {[]model.Decision{decision("2", "a")}, []model.Decision{decision("1", "a", until(9))}, "1 2", "a=1", "the later replaces it, and both are kept"},
		"ended":        {[]model.Decision{decision("1", "a", until(2))}, []model.Decision{decision("2", "b")}, "1 2", "b=2", "what ended is not noted, and is kept"},
		"two at once":  {nil, []model.Decision{decision("1", "a"), decision("2", "a")}, "1 2", "a=2", "the last counts"},
		"same id":      {[]model.Decision{decision("1", "a")}, []model.Decision{decision("1", "b")}, "1", "b=1", "an ID is one decision"},
		"itself":       {[]model.Decision{decision("1", "a")}, []model.Decision{decision("1", "a")}, "1", "a=1", "decided twice"},
		"changed":      {nil, []model.Decision{decision("1", "a", func(d *model.Decision) { d.Basis = "other" })}, "1", "", "it is another finding by now"},
		"of a resource": {[]model.Decision{decision("1", "b", inFile("")), decision("2", "c", inFile(""))}, []model.Decision{decision("3", "b", inFile(""))},
			"1 2 3", "b=3 c=2", "two about other resources are not about the same"},
		"in a file":        {[]model.Decision{decision("1", "b", inFile("git"))}, []model.Decision{decision("2", "b")}, "1 2", "b=1", "what stands in a file stays there; made at one time, the first counts"},
		"in a file by id":  {[]model.Decision{decision("1", "b", func(d *model.Decision) { d.From = "git" })}, []model.Decision{decision("2", "b")}, "1 2", "b=1", "what stands in a file stays there"},
		"unknown finding":  {nil, []model.Decision{decision("1", "zz")}, "1", "", "it may come"},
		"resolved finding": {nil, []model.Decision{decision("1", "old")}, "1", "", "nothing is noted on what is over"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := decided(t, c.first...)
			decide(t, s, 3, c.then...)
			if got := decisions(t, s); got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
			if got := noted(t, s); got != c.noted {
				t.Errorf("%s: noted %q, want %q", c.reason, got, c.noted)
			}
		})
	}
}

// TestDecideReplaces: both decisions refer to each other, and only the one in force can be revoked.
func TestDecideReplaces(t *testing.T) {
	t.Parallel()
	s := decided(t, decision("1", "a"), decision("old", "b", until(2)))
	list := []model.Decision{decision("2", "a"), decision("3", "b")}
	decide(t, s, 3, list...)
	if list[0].Replaces != "1" || list[1].Replaces != "" {
		t.Errorf("the new decisions replace %q and %q, want 1 and none: what ended is not replaced", list[0].Replaces, list[1].Replaces)
	}
	_, err := s.Revoke("1", "lena", minute(4))
	if replaced := new(ReplacedError); !errors.As(err, &replaced) || !strings.Contains(err.Error(), "decision 2: revoke that one") {
		t.Errorf("revoke a replaced decision: %v", err)
	}
	if _, err := s.Revoke("2", "lena", minute(4)); err != nil {
		t.Fatal(err)
	}
	if got, now := decisions(t, s), noted(t, s); got != "1 3 old" || now != "b=3" {
		t.Errorf("after the later one was revoked: decisions %s, noted %s; the earlier one must not come back", got, now)
	}
}

// TestDecideOnMergedFinding: a decision about a merged finding applies to the finding that it was
// merged into.
func TestDecideOnMergedFinding(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	save(t, s, scan(0, []model.Finding{
		finding("a", 0, based, func(f *model.Finding) { f.Merged = []string{"b"} }),
		finding("b", 0, based, resolvedAt(0), func(f *model.Finding) { f.MergedInto = "a" }), finding("c", 0, based)}))
	decide(t, s, 1, decision("1", "b"))
	if got := noted(t, s); got != "a=1" {
		t.Errorf("noted %q, want it on a alone", got)
	}
}

func TestDecisionRoundTrip(t *testing.T) {
	t.Parallel()
	want := []model.Decision{decision("1", "a", until(9)), decision("2", "b", inFile("git")), decision("3", "c", kind(model.Snooze))}
	s := decided(t, want...)
	got, err := s.Decisions()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	s := decided(t, decision("1", "a", until(10)), decision("2", "b", until(20)), decision("3", "c"), decision("4", "c", kind(model.Snooze), until(10)))
	for _, c := range []struct {
		at, changed int
		want        string
	}{{2, 0, "a=1 b=2 c=3"}, {10, 1, "b=2 c=3"}, {10, 0, "b=2 c=3"}, {30, 1, "c=3"}, {5, 2, "a=1 b=2 c=3"}} {
		changed, err := s.Settle(minute(c.at))
		if got := noted(t, s); err != nil || changed != c.changed || got != c.want {
			t.Errorf("minute %d: noted %q, %d changed, %v; want %q, %d", c.at, got, changed, err, c.want, c.changed)
		}
	}
	f, versions, err := s.Finding("a")
	if err != nil || len(versions) != 4 || !f.LastSeen.Equal(minute(0)) {
		t.Errorf("each change is a version, and no scan followed: %d versions, last seen %s, %v", len(versions), f.LastSeen, err)
	}
	err = s.view("test", func(tx *txn) error {
		h, _, err := tx.head("a")
		if err == nil && h.seen != withSource {
			t.Errorf("a does not go with its source any more, and the next scan has to write it")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, scan(31, []model.Finding{finding("b", 31, based)}))
	open, err := s.OpenFindings()
	if err != nil || len(open) != 3 || !open[0].LastSeen.Equal(minute(0)) || !open[1].LastSeen.Equal(minute(31)) {
		t.Errorf("a later scan that leaves a out: %v, %v", open, err)
	}
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		prefix, want, left string
		err                error
		wantTexts          []string
	}{
		"whole":     {prefix: "ab12", want: "ab12", left: "b=file"},
		"beginning": {prefix: "ab1", want: "ab12", left: "b=file"},
		"two":       {prefix: "ab", left: "a=ab12 b=file", err: ErrAmbiguous, wantTexts: []string{"ab12", "ab2"}},
		"none":      {prefix: "zz", left: "a=ab12 b=file", err: ErrNotFound, wantTexts: []string{`revoke decision "zz"`}},
		"empty":     {prefix: "", left: "a=ab12 b=file", err: ErrNotFound},
		"in a file": {prefix: "fi", left: "a=ab12 b=file", wantTexts: []string{"it is declared in git/acceptances.yaml:3: remove it there"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := decided(t, decision("ab12", "a"), decision("ab2", "zz"), decision("file", "b", inFile("git")))
			d, err := s.Revoke(c.prefix, "lena", minute(2))
			if d.ID != c.want || (err == nil) != (c.want != "") || c.err != nil && !errors.Is(err, c.err) {
				t.Fatalf("got %q, %v; want %q, %v", d.ID, err, c.want, c.err)
			}
			if c.wantTexts != nil {
				wantTexts(t, err, c.wantTexts...)
			}
			if declared := (*DeclaredError)(nil); errors.As(err, &declared) != (name == "in a file") {
				t.Errorf("got %#v", err)
			}
			if got := noted(t, s); got != c.left {
				t.Errorf("noted %q, want %q", got, c.left)
			}
		})
	}
}

func TestSaveDecisions(t *testing.T) {
	t.Parallel()
	here := []model.Decision{decision("1", "a"), decision("2", "a", kind(model.Snooze)), decision("3", "a", kind(model.Acknowledge)), decision("4", "b", kind(model.Snooze))}
	files := map[string][]model.Decision{"git": {decision("f1", "a", inFile("git")), decision("f2", "a", inFile("git"), kind(model.Snooze))}, "other": {decision("o1", "b", inFile("other"))}}
	open := []model.Finding{finding("a", 2, based), finding("b", 2, based)}
	mergedInto := func(id string) func(*model.Finding) { return func(f *model.Finding) { f.MergedInto = id } }
	merged := func(ids ...string) func(*model.Finding) { return func(f *model.Finding) { f.Merged = ids } }
	cases := map[string]struct {
		files    map[string][]model.Decision
		findings []model.Finding
		want     string
		reason   string
	}{
		"not read": {nil, open, "1 2 3 4 f1 f2 o1", "what was not read stands"},
		"the same": {files, open, "1 2 3 4 f1 f2 o1", "nothing changed"},
		"replaced": {map[string][]model.Decision{"git": {decision("f2", "a"), decision("f3", "b")}}, open, "1 2 3 4 f2 f3 o1", "the file is the truth of the file"},
		"emptied":  {map[string][]model.Decision{"git": {}, "other": nil}, open, "1 2 3 4", "an empty list removes them"},
		"unknown":  {map[string][]model.Decision{"third": nil}, open, "1 2 3 4 f1 f2 o1", "a file without decisions"},
		"resolved": {nil, []model.Finding{finding("a", 1, based, resolvedAt(2)), open[1]}, "1 2 4 f1 f2 o1", "only who was on it is done with it"},
		"merged": {nil, []model.Finding{finding("a", 1, based, resolvedAt(2), mergedInto("b")), finding("b", 2, based, merged("a"))}, "1 2 3 4 f1 f2 o1",
			"what was decided goes with the finding that it was merged into"},
		"merged, and that resolved": {nil, []model.Finding{finding("b", 1, based, merged("x", "a"), resolvedAt(2))}, "1 2 4 f1 f2 o1", "and ends with it"},
		"both":                      {map[string][]model.Decision{"git": nil}, []model.Finding{finding("a", 1, based, resolvedAt(2))}, "1 2 4 o1", "each by its rule"},
		"other places":              {map[string][]model.Decision{"git": {decision("f1", "a", inFile("liar"))}}, open, "1 2 3 4 f1 o1", "it stands where it was read"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := decided(t, here...)
			rec := scan(1, open)
			rec.Decisions = files
			save(t, s, rec)
			rec = scan(2, c.findings)
			rec.Decisions = c.files
			save(t, s, rec)
			if got := decisions(t, s); got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
			list, err := s.Decisions()
			if err != nil || slices.ContainsFunc(list, func(d model.Decision) bool { return d.From == "liar" }) {
				t.Errorf("got %v, %v", list, err)
			}
		})
	}
}

func TestRecent(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	save(t, s, scan(0, []model.Finding{finding("a", 0), finding("b", 0), finding("c", 0), finding("d", 0)}))
	save(t, s, scan(2, []model.Finding{finding("d", 0, resolvedAt(1)), finding("b", 0, resolvedAt(2))}))
	late := finding("a", 3, func(f *model.Finding) { f.Resolved = minute(4).Add(time.Second) })
	save(t, s, scan(4, []model.Finding{late}))
	for _, c := range []struct {
		since  time.Time
		want   string
		reason string
	}{
		{time.Time{}, "a b d", "all that are resolved, and no open one"},
		{minute(1), "a b d", "the moment itself counts"},
		{minute(2), "a b", "d was over before, though kept then"},
		{minute(2).Add(1), "a", "b was over before"},
		{minute(4).Add(time.Second), "a", "when it was over counts, not when its scan began"},
		{minute(5), "", "nothing since"},
	} {
		found, err := s.Recent(c.since)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, f := range found {
			ids = append(ids, f.ID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("since %s: %s: got %q, want %q", c.since.Sub(start()), c.reason, got, c.want)
		}
	}
	flipVersion(t, s, "b", minute(2))
	if found, err := s.Recent(minute(3)); err != nil || len(found) != 1 {
		t.Errorf("what was over long before is not read: got %v, %v", found, err)
	}
	flipVersion(t, s, "b", minute(2))
}

// flipVersion makes a version of a finding unreadable. A second call restores it.
func flipVersion(t *testing.T, s *Store, id string, at time.Time) {
	t.Helper()
	err := s.update("flip", func(tx *txn) error {
		k := findingKey(id, momentOf(at))
		v := slices.Clone(tx.findings.get(k))
		if v == nil {
			return fmt.Errorf("no version of %s", id)
		}
		return tx.findings.put(k, flip(8, len(v)-8)(v))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPruneDecisions(t *testing.T) {
	t.Parallel()
	s := openAt(t, t.TempDir(), Options{Retention: Retention{MaxAge: 10 * time.Minute}})
	decide(t, s, 0, decision("early", "a", until(9)), decision("edge", "b", until(10)), decision("late", "c", until(11)), decision("forever", "d"))
	decide(t, s, 0, decision("replaced early", "e"), decision("replaced late", "f"))
	decide(t, s, 10, decision("g", "e", until(11)))
	decide(t, s, 11, decision("h", "f", until(12)))
	saveNotices(t, s, notices(0, 3))
	removed, err := s.Prune(minute(20))
	if got := decisions(t, s); err != nil || removed != 3 || got != "forever g h late replaced late" {
		t.Errorf("left %q, removed %d, %v", got, removed, err)
	}
	if _, err := s.Prune(minute(1_000_000)); err != nil {
		t.Fatal(err)
	}
	queues, err := s.Queues()
	if diff := cmp.Diff(map[string]model.Queue{"mail": {Length: 1, Oldest: start()}, "slack": {Length: 1, Oldest: start()}}, queues); err != nil || diff != "" {
		t.Errorf("what waits stays, however old: %v %s", err, diff)
	}
	if n, err := s.Notices(); err != nil || len(n.Threads) != 1 || len(n.Paces) != 1 {
		t.Errorf("notified threads stay: %v, %v", n, err)
	}
}

func TestEncodedInUTC(t *testing.T) {
	t.Parallel()
	full := func(zone *time.Location) model.Finding {
		at := start().In(zone)
		f := finding("a", 0)
		f.FirstSeen, f.Actor.At = at, at
		f.Flips = []model.Flip{{At: at, Basis: "b"}}
		f.Was = &model.Former{Verdict: model.Pending, At: at}
		f.Decision = &model.Decision{ID: "d", At: at, Until: at}
		f.Changes[0].Actor = &model.Actor{Name: "bob", At: at}
		f.Ignored = []model.IgnoredChange{{Reason: "r", Change: model.Change{Path: "p", Actor: &model.Actor{Name: "bob", At: at}}}}
		return f
	}
	east := full(time.FixedZone("X", 3600))
	got, err := encodeFinding(east)
	if err != nil {
		t.Fatal(err)
	}
	want, err := encodeFinding(full(time.UTC))
	if diff := cmp.Diff(string(want), string(got)); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if diff := cmp.Diff(full(time.FixedZone("X", 3600)), east, cmp.Comparer(func(a, b time.Time) bool { return a.Format(time.RFC3339) == b.Format(time.RFC3339) })); diff != "" {
		t.Errorf("the finding itself was changed: %s", diff)
	}
}
