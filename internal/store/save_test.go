package store

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func TestValueRoundTrip(t *testing.T) {
	t.Parallel()
	big, _ := model.NumberOf("123456789012345678901234567890.000000000000000000001")
	cases := map[string]model.Value{
		"null":          {},
		"number":        big,
		"secret":        model.MapOf(model.Field{Name: "password", Value: model.DigestOf("9f86d0818")}),
		"forged secret": model.StringOf("\x00secret:9f86d0818"),
		"nul":           model.StringOf("\x00\x00x"),
		"text":          model.StringOf("ü\n\"\\<&>\u2028𝄞"),
		"empty":         model.MapOf(model.Field{Name: "a", Value: model.ListOf()}, model.Field{Name: "b", Value: model.MapOf()}),
		"long":          model.StringOf(strings.Repeat("all work and no play ", 100_000)),
	}
	for name, value := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openNew(t)
			r := model.Resource{Key: key("shop/a"), Value: value, OwnersFrom: "managedFields", Owners: []model.Owner{{Name: "kubectl", At: start()}}}
			save(t, s, scan(0, nil, snapshotAt(0, r)))
			got, err := s.History(r.Key)
			if err != nil {
				t.Fatal(err)
			}
			want := []Version{{At: minute(0), Value: &value, Actor: r.LastWriter()}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// history formats a history as "minute value" lines.
func history(tb testing.TB, s *Store, id string) []string {
	tb.Helper()
	versions, err := s.History(key(id))
	if err != nil {
		tb.Fatal(err)
	}
	var lines []string
	for i, v := range versions {
		if i > 0 && !v.At.After(versions[i-1].At) {
			tb.Errorf("version %d of %s is not after the one before it", i, id)
		}
		line := v.At.Sub(start()).String() + " gone"
		if v.Value != nil {
			line = v.At.Sub(start()).String() + " " + v.Value.At("data").Str()
		}
		lines = append(lines, line)
	}
	return lines
}

func TestVersions(t *testing.T) {
	t.Parallel()
	cov := func(snap model.Snapshot, coverage ...model.Coverage) model.Snapshot {
		snap.Coverage = coverage
		return snap
	}
	unread := func(snap model.Snapshot, r model.Resource) model.Snapshot {
		snap.Unread = []model.Unread{{Ref: model.Ref{Kind: r.Kind, ID: r.ID}}}
		return snap
	}
	all := func(snap model.Snapshot) model.Snapshot {
		snap.Unread[0].All = true
		return snap
	}
	a1, a2, b1 := resource("shop/a", "1"), resource("shop/a", "2"), resource("shop/b", "1")
	other := snapshotAt(1)
	other.Source, other.Resources = "stage", nil
	cases := map[string]struct {
		snapshots []model.Snapshot
		want      []string
		reason    string
	}{
		"unchanged":     {[]model.Snapshot{snapshotAt(0, a1), snapshotAt(1, a1)}, []string{"0s 1"}, "one version"},
		"changed":       {[]model.Snapshot{snapshotAt(0, a1), snapshotAt(1, a2), snapshotAt(2, a1)}, []string{"0s 1", "1m0s 2", "2m0s 1"}, "each value, also one that it had before"},
		"gone and back": {[]model.Snapshot{snapshotAt(0, a1), snapshotAt(1, b1), snapshotAt(2, b1), snapshotAt(3, a1)}, []string{"0s 1", "1m0s gone", "3m0s 1"}, "absent inside coverage, once"},
		"not covered":   {[]model.Snapshot{snapshotAt(0, a1), cov(snapshotAt(1, b1))}, []string{"0s 1"}, "absence proves nothing"},
		"other place covered": {[]model.Snapshot{snapshotAt(0, a1), cov(snapshotAt(1), model.Coverage{Kind: "kubernetes/ConfigMap", Place: "else", Complete: true})},
			[]string{"0s 1"}, "the place where it lay was not read"},
		"its place covered": {[]model.Snapshot{snapshotAt(0, a1), cov(snapshotAt(1), model.Coverage{Kind: "kubernetes/ConfigMap", Place: "shop", Complete: true})},
			[]string{"0s 1", "1m0s gone"}, "the place where it lay was read"},
		"partly read": {[]model.Snapshot{snapshotAt(0, a1), cov(snapshotAt(1), model.Coverage{Complete: true}, model.Coverage{Kind: "kubernetes/ConfigMap", Reason: "403"})},
			[]string{"0s 1"}, "the kind was not read"},
		"not read": {[]model.Snapshot{snapshotAt(0, a1), unread(snapshotAt(1, b1), a1), snapshotAt(2, a1), unread(snapshotAt(3), b1)}, []string{"0s 1", "3m0s gone"},
			"one that could not be read is not gone"},
		"list not read": {[]model.Snapshot{snapshotAt(0, a1, b1), all(unread(snapshotAt(1), resource("shop/", ""))), snapshotAt(2, b1)}, []string{"0s 1", "2m0s gone"},
			"one of a list that could not be read is not gone"},
		"another list not read": {[]model.Snapshot{snapshotAt(0, a1), all(unread(snapshotAt(1), b1))}, []string{"0s 1", "1m0s gone"}, "that list does not have it"},
		"other source":          {[]model.Snapshot{snapshotAt(0, a1), other}, []string{"0s 1"}, "an empty source wantTexts nothing of another one"},
		"seen twice":            {[]model.Snapshot{snapshotAt(0, a1, a2, b1), snapshotAt(1, a2, a2, b1)}, []string{"0s 2"}, "the last counts"},
		"clock went back":       {[]model.Snapshot{snapshotAt(5, a1), snapshotAt(2, a2), snapshotAt(3, a1)}, []string{"5m0s 1", "5m0.000000001s 2", "5m0.000000002s 1"}, "no version is lost or out of order"},
		"same moment":           {[]model.Snapshot{snapshotAt(0, a1), snapshotAt(0, a2), snapshotAt(0)}, []string{"0s 1", "1ns 2", "2ns gone"}, "no version is overwritten"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openNew(t)
			for i, snap := range c.snapshots {
				save(t, s, scan(i, nil, snap))
			}
			if diff := cmp.Diff(c.want, history(t, s, "shop/a")); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
		})
	}
}

func TestClockOutOfRange(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	for i, year := range []int{9999, 9999, 1, 2026} {
		snap := snapshotAt(0, resource("shop/a", strings.Repeat("x", i)))
		snap.Taken = time.Date(year, 2, 1, 0, 0, 0, 0, time.UTC)
		save(t, s, scan(i, nil, snap))
	}
	if got := history(t, s, "shop/a"); len(got) != 4 {
		t.Errorf("got versions %q, want 4", got)
	}
}

func TestSnapshotWithoutTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openAt(t, dir, Options{Now: func() time.Time { return minute(7) }})
	snap := snapshotAt(0, resource("shop/a", "1"))
	snap.Taken = time.Time{}
	save(t, s, Record{Run: model.Run{ID: "x"}, Snapshots: []model.Snapshot{snap}})
	if diff := cmp.Diff([]string{"7m0s 1"}, history(t, s, "shop/a")); diff != "" {
		t.Error(diff)
	}
}

func TestMovedToAnotherPlace(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	a := resource("a", "1")
	save(t, s, scan(0, nil, snapshotAt(0, a)))
	a.Place = "else"
	save(t, s, scan(1, nil, snapshotAt(1, a)))
	only := snapshotAt(2)
	only.Coverage = []model.Coverage{{Kind: a.Kind, Place: "else", Complete: true}}
	save(t, s, scan(2, nil, only))
	if diff := cmp.Diff([]string{"0s 1", "2m0s gone"}, history(t, s, "a")); diff != "" {
		t.Errorf("the place is kept without a new version: %s", diff)
	}
}

func TestSaveRefusesInvalidSnapshot(t *testing.T) {
	t.Parallel()
	stray := resource("shop/a", "1")
	stray.Source = "stage"
	nul := resource("shop/a", "1")
	nul.Kind = "a\x00b"
	cases := map[string]struct {
		snap      model.Snapshot
		wantTexts string
	}{
		"not sorted":     {snapshotAt(0, resource("b", "1"), resource("a", "1")), "key order"},
		"another source": {snapshotAt(0, stray), "another source"},
		"nul in kind":    {snapshotAt(0, nul), "NUL"},
		"long key":       {snapshotAt(0, resource(strings.Repeat("x", 40_000), "1")), "too large"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openNew(t)
			err := s.Save(scan(0, nil, c.snap))
			if err == nil || !strings.Contains(err.Error(), c.wantTexts) || !strings.Contains(err.Error(), "prod") {
				t.Errorf("got error %v, want one that names the source and %q", err, c.wantTexts)
			}
			if _, err := s.LastRun(); err == nil {
				t.Error("a record that is refused leaves its run behind")
			}
		})
	}
}

func TestFileGrowth(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	n := 20_000
	if testing.Short() {
		n = 2_000
	}
	snap := estate(n, 0)
	findings := make([]model.Finding, 0, n/10)
	for i := range n / 10 {
		f := finding(strings.Repeat("f", 20)+snap.Resources[i].ID, 0)
		findings = append(findings, f)
	}
	save(t, s, scan(0, findings, snap))
	first := s.Size()
	for round := 1; round <= 3; round++ {
		for i := range findings {
			findings[i].LastSeen = minute(round)
		}
		snap.Taken = minute(round)
		save(t, s, scan(round, findings, snap))
	}
	if grown := s.Size() - first; grown > 200_000 {
		t.Errorf("three unchanged scans of %d resources grew the file by %d bytes, from %d", n, grown, first)
	}
	snap.Resources[n/2].Value = text("changed")
	save(t, s, scan(4, findings, snap))
	if grown := s.Size() - first; grown > 300_000 {
		t.Errorf("one changed resource grew the file by %d bytes", grown)
	}
}

func TestEqualContentIsStoredOnce(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	save(t, s, scan(0, nil, snapshotAt(0, resource("a", "same"), resource("b", "same"))))
	save(t, s, scan(1, nil, snapshotAt(1, resource("a", "other"), resource("b", "same"))))
	save(t, s, scan(2, nil, snapshotAt(2, resource("a", "same"), resource("b", "same"), resource("c", "other"))))
	if n := contents(t, s); n != 2 {
		t.Errorf("got %d contents, want 2", n)
	}
}

func contents(tb testing.TB, s *Store) int {
	tb.Helper()
	n := 0
	err := s.view("count", func(t *txn) error {
		n = t.contents.raw.Stats().KeyN
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

func TestRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openAt(t, dir, Options{})
	if _, err := s.LastRun(); err == nil || !strings.Contains(err.Error(), "nothing has been scanned") {
		t.Errorf("an empty store: got %v", err)
	}
	want := make([]model.Run, 3)
	for i := range want {
		run := model.Run{
			ID: string(rune('a' + i)), Started: minute(9 - i), Finished: minute(10), Complete: i == 0, Tool: "v1",
			Sources:      []model.SourceRun{{Name: "prod", Type: "kubernetes", Version: "v1.37", Duration: time.Second, Resources: i, Taken: minute(i)}},
			Declarations: []model.DeclarationRun{{Name: "shop", Revision: "abc", Problems: []model.Problem{{Address: "a:1", Reason: "bad"}}}},
			Summary:      model.Summary{Resources: 4, InSync: 1, Findings: 2, Unchecked: 1},
			Coverage:     []model.Coverage{{Source: "prod", Kind: "x", Place: "y", Reason: "403"}},
		}
		want[2-i] = run
		save(t, s, Record{Run: run})
	}
	for limit, n := range map[int]int{0: 3, -1: 3, 1: 1, 2: 2, 9: 3} {
		got, err := s.Runs(limit)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[:n], got); diff != "" {
			t.Errorf("limit %d: the run that was saved last comes first, whatever the clock: %s", limit, diff)
		}
	}
	if last, err := s.LastRun(); err != nil || last.ID != "c" {
		t.Errorf("last run: got %q, %v", last.ID, err)
	}
}

func TestVolatileFieldsHaveNoHistory(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	for round := range 3 {
		r := resource("shop/a", "1")
		r.Value = model.MapOf(model.Field{Name: "size", Value: text("7")}, model.Field{Name: "seen", Value: model.IntOf(int64(round))})
		seen := snapshotAt(round, r)
		seen.Kinds = map[string]*model.Kind{r.Kind: {Schema: &model.Schema{Fields: map[string]*model.Schema{"seen": {Volatile: true}}}}}
		save(t, s, scan(round, nil, seen))
	}
	versions, err := s.History(key("shop/a"))
	if err != nil || len(versions) != 1 || versions[0].Value == nil || !versions[0].Value.At("seen").IsNull() {
		t.Errorf("history %+v, %v; want one version, without what changes by itself", versions, err)
	}
}
