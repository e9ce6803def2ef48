package store

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/driftd/driftd/internal/model"
)

// finding returns a finding that was first seen at minute 0 and last seen at the minute seen.
func finding(id string, seen int, edit ...func(*model.Finding)) model.Finding {
	live, declared := text("live"), text("declared")
	f := model.Finding{
		ID: id, Verdict: model.Changed, Severity: model.High, Key: key("shop/" + id), Place: "shop", Name: id,
		Declaration: "git", Address: "deploy/web.yaml:12",
		Changes:   []model.Change{{Path: "data", Live: &live, Declared: &declared}},
		Actor:     model.Actor{Name: "kubectl", At: start(), Via: "managedFields", Confidence: model.Likely},
		FirstSeen: start(), LastSeen: minute(seen),
	}
	for _, e := range edit {
		e(&f)
	}
	return f
}

func resolvedAt(n int) func(*model.Finding) {
	return func(f *model.Finding) { f.Resolved = minute(n) }
}

func reason(r string) func(*model.Finding) { return func(f *model.Finding) { f.Reason = r } }

func TestFindingRoundTrip(t *testing.T) {
	t.Parallel()
	secret, list := model.DigestOf("9f86d081"), model.ListOf(model.IntOf(1), model.Value{}, model.BoolOf(true))
	cases := map[string]struct {
		finding model.Finding
		reason  string
	}{
		"plain": {finding("a", 0), "what every finding has"},
		"secret": {finding("a", 0, func(f *model.Finding) {
			f.Changes = []model.Change{{Path: "data.password", Live: &secret, Secret: true}}
		}), "a digest must stay a digest, or the next scan takes it for a change"},
		"claims": {finding("a", 0, func(f *model.Finding) {
			f.Changes = []model.Change{{Path: "x", Claims: []model.ClaimedValue{{Declaration: "git", Address: "a:1", Value: list}},
				Actor: &model.Actor{Name: "bob", At: start(), Confidence: model.Exact}}}
		}), "everything below a change"},
		"whole resource": {finding("a", 0, func(f *model.Finding) { f.Changes, f.Verdict = nil, model.Missing }), "no changes"},
		"no times":       {finding("a", 0, func(f *model.Finding) { f.FirstSeen, f.LastSeen = time.Time{}, time.Time{} }), "zero times stay zero"},
		"resolved":       {finding("a", 0, resolvedAt(0)), "a resolved one is found by its id"},
		"judged": {finding("a", 0, func(f *model.Finding) {
			f.Owner, f.Labels, f.Basis, f.Hidden, f.Flapping = "team", map[string]string{"app": "web"}, "basis", "noise", true
			f.Ignored = []model.IgnoredChange{{Reason: "noise", Change: model.Change{Path: "x", Live: &secret, Secret: true}}}
			f.Decision = &model.Decision{ID: "d", Kind: model.Snooze, Finding: "a", By: "bob", At: start(), Until: minute(9)}
			f.Flips = []model.Flip{{At: start(), Basis: "basis"}, {At: minute(1)}}
		}), "whose it is, and what was decided"},
		"reclassified": {finding("a", 0, func(f *model.Finding) {
			f.Was, f.Merged, f.WorseBasis = &model.Former{Verdict: model.Pending, At: start()}, []string{"b", "c"}, "worse"
		}), "what it was, and what was merged into it"},
		"merged": {finding("a", 0, resolvedAt(0), func(f *model.Finding) { f.MergedInto = "b" }), "into which finding"},
		"other zone": {finding("a", 0, func(f *model.Finding) {
			f.FirstSeen = f.FirstSeen.In(time.FixedZone("X", 3600))
		}), "an instant is one in any zone"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openNew(t)
			save(t, s, scan(0, []model.Finding{c.finding}))
			got, versions, err := s.Finding("a")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.finding, got); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
			want := []FindingVersion{{At: minute(0), Finding: c.finding}}
			if diff := cmp.Diff(want, versions); diff != "" {
				t.Errorf("versions: %s", diff)
			}
		})
	}
}

func TestFindingVersions(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	life := []model.Finding{
		finding("a", 0), finding("a", 1), finding("a", 2, reason("worse")), finding("a", 3, reason("worse")),
		finding("a", 3, reason("worse"), resolvedAt(4)), finding("a", 6, reason("again")),
	}
	open := []bool{true, true, true, true, false, true}
	for i, f := range life {
		save(t, s, scan(i, []model.Finding{f}))
		got, err := s.OpenFindings()
		if err != nil {
			t.Fatal(err)
		}
		if open[i] != (len(got) == 1) {
			t.Errorf("scan %d: %d open findings, want open: %v", i, len(got), open[i])
		}
	}
	_, versions, err := s.Finding("a")
	if err != nil {
		t.Fatal(err)
	}
	want := []FindingVersion{{minute(0), life[1]}, {minute(2), life[3]}, {minute(4), life[4]}, {minute(5), life[5]}}
	if diff := cmp.Diff(want, versions); diff != "" {
		t.Errorf("a value's last sight belongs to it, and the sights between make no version: %s", diff)
	}
}

func TestLastSeen(t *testing.T) {
	t.Parallel()
	other := func(f *model.Finding) { f.Source = "stage" }
	cases := map[string]struct {
		scans  [][]model.Finding
		want   map[string]int
		reason string
	}{
		"seen again": {
			[][]model.Finding{{finding("a", 0), finding("b", 0)}, {finding("a", 1), finding("b", 1)}},
			map[string]int{"a": 1, "b": 1}, "all go with their source",
		},
		"one held back": {
			[][]model.Finding{{finding("a", 0), finding("b", 0)}, {finding("a", 1), finding("b", 0)}, {finding("a", 2), finding("b", 0)}},
			map[string]int{"a": 2, "b": 0}, "one that a scan could not see keeps its time",
		},
		"caught up": {
			[][]model.Finding{{finding("a", 0), finding("b", 0)}, {finding("a", 1), finding("b", 0)}, {finding("a", 2), finding("b", 2)}},
			map[string]int{"a": 2, "b": 2}, "and goes with its source again",
		},
		"not in the record": {
			[][]model.Finding{{finding("a", 0), finding("b", 0)}, {finding("a", 1)}, {finding("a", 2)}},
			map[string]int{"a": 2, "b": 0}, "what a record leaves out stays as it was",
		},
		"source not due": {
			[][]model.Finding{{finding("a", 0), finding("b", 0, other)}, {finding("a", 1), finding("b", 0, other)}},
			map[string]int{"a": 1, "b": 0}, "each source has its own time",
		},
		"clock went back": {
			[][]model.Finding{{finding("a", 5), finding("b", 5)}, {finding("a", 2)}},
			map[string]int{"a": 2, "b": 5}, "the record is believed",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openNew(t)
			for i, findings := range c.scans {
				save(t, s, scan(i, findings))
			}
			open, err := s.OpenFindings()
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]time.Time{}
			for _, f := range open {
				got[f.ID] = f.LastSeen
			}
			want := map[string]time.Time{}
			for id, n := range c.want {
				want[id] = minute(n)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
		})
	}
}

func TestFindingsFilter(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	severity := func(v model.Severity) func(*model.Finding) { return func(f *model.Finding) { f.Severity = v } }
	other := func(f *model.Finding) { f.Source, f.Verdict = "aaa", model.Missing }
	low, mid, top := severity(model.Low), severity(model.Medium), severity(model.Critical)
	save(t, s, scan(0, []model.Finding{finding("1", 0, low), finding("2", 0, top), finding("3", 0, low)}))
	save(t, s, scan(5, []model.Finding{finding("1", 5, low), finding("2", 5, top), finding("3", 0, low, resolvedAt(5)), finding("4", 5, low, other)}))
	save(t, s, scan(9, []model.Finding{finding("1", 9, mid), finding("2", 9, top), finding("4", 9, low, other)}))
	cases := map[string]struct {
		filter Filter
		want   string
		reason string
	}{
		"all open":      {Filter{}, "2 1 4", "worst first, then by key"},
		"with resolved": {Filter{Resolved: true}, "2 1 4 3", "source aaa before prod"},
		"since":         {Filter{Since: minute(9)}, "1", "only this one changed"},
		"since earlier": {Filter{Since: minute(5), Resolved: true}, "1 4 3", "came up, changed or was resolved"},
		"verdict":       {Filter{Verdicts: []model.Verdict{model.Missing, model.Moved}}, "4", "one of those asked for"},
		"source":        {Filter{Source: "prod"}, "2 1", "of this source only"},
		"nothing":       {Filter{Source: "none"}, "", "no such source"},
		"outline":       {Filter{Fits: func(o *model.Outline) bool { return o.Severity != model.Low }}, "2 1", "as the outline has it"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := s.Findings(c.filter)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, f := range found {
				ids = append(ids, f.ID)
			}
			if got := strings.Join(ids, " "); got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
			wantOutlines(t, s, c.filter, found)
		})
	}
}

// wantOutlines verifies that the store returns the outlines of the findings.
func wantOutlines(t *testing.T, s *Store, f Filter, found []model.Finding) {
	t.Helper()
	var want []*model.Outline
	for i := range found {
		o := found[i].Outline()
		want = append(want, &o)
	}
	got, err := s.Outlines(f)
	model.SortOutlines(got)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("outlines: %v\n%s", err, diff)
	}
}

func TestFindingByPrefix(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	all := []model.Finding{finding("abc1", 0), finding("abc2", 0, resolvedAt(0)), finding("abd", 0), finding("x", 0), finding("x1", 0)}
	for i := range 15 {
		all = append(all, finding("many"+string(rune('a'+i)), 0))
	}
	save(t, s, scan(0, all))
	cases := map[string]struct {
		prefix    string
		want      string
		err       error
		wantTexts []string
	}{
		"whole":        {prefix: "abc2", want: "abc2"},
		"beginning":    {prefix: "abd", want: "abd"},
		"exact wins":   {prefix: "x", want: "x"},
		"two":          {prefix: "abc", err: ErrAmbiguous, wantTexts: []string{"abc1", "abc2"}},
		"many":         {prefix: "many", err: ErrAmbiguous, wantTexts: []string{"manya", "manyj", "and 5 more"}},
		"none":         {prefix: "zz", err: ErrNotFound, wantTexts: []string{`"zz"`, "findings list"}},
		"empty prefix": {prefix: "", err: ErrNotFound},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, _, err := s.Finding(c.prefix)
			if !errors.Is(err, c.err) || f.ID != c.want {
				t.Fatalf("got %q, %v; want %q, %v", f.ID, err, c.want, c.err)
			}
			for _, say := range c.wantTexts {
				if !strings.Contains(err.Error(), say) {
					t.Errorf("error %q does not name %q", err, say)
				}
			}
		})
	}
}

func TestFindingWithoutIDIsRefused(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	save(t, s, scan(0, []model.Finding{finding("a", 0)}))
	for _, id := range []string{"", "a\x00b"} {
		if err := s.Save(scan(1, []model.Finding{finding("b", 1), finding(id, 1)}, snapshotAt(1, resource("shop/x", "1")))); err == nil {
			t.Errorf("id %q: no error", id)
		}
	}
	if open, err := s.OpenFindings(); err != nil || len(open) != 1 {
		t.Errorf("a record that is refused leaves nothing behind: %d open, %v", len(open), err)
	}
	if keys, err := s.Keys("x"); err != nil || len(keys) != 0 {
		t.Errorf("a record that is refused leaves nothing behind: %v, %v", keys, err)
	}
}

// TestNamesMakeNoVersion checks that a finding of which only names, links and positions changed is
// written into its last version, and that the file and the audit log verify.
func TestNamesMakeNoVersion(t *testing.T) {
	t.Parallel()
	names := func(all map[string]string) func(*model.Finding) {
		return func(f *model.Finding) {
			f.Position = "main.tf:" + strconv.Itoa(10+len(all["22"]))
			f.Links = []model.Link{{URL: "https://git.example.org/" + f.Position}}
			f.Changes[0].Names = all
			f.Changes[0].Claims = []model.ClaimedValue{{Declaration: "b", Position: f.Position, URL: f.Links[0].URL}}
			f.Ignored = []model.IgnoredChange{{Reason: "noise", Change: model.Change{Path: "x", Names: all}}}
		}
	}
	old, renamed := map[string]string{"22": "storage"}, map[string]string{"22": "backup"}
	clock := &testClock{minute(0)}
	s := openAt(t, t.TempDir(), clock.options(auditKey(t)))
	save(t, s, scan(0, []model.Finding{finding("a", 0, names(nil))}))
	for i, all := range []map[string]string{old, old, renamed, nil, renamed} {
		save(t, s, scan(i+1, []model.Finding{finding("a", i+1, names(all))}))
		got, versions, err := s.Finding("a")
		if err != nil {
			t.Fatal(err)
		}
		want := finding("a", i+1, names(all))
		if diff := cmp.Diff([]FindingVersion{{minute(0), want}}, versions); diff != "" {
			t.Errorf("scan %d: the versions (-want +got):\n%s", i+1, diff)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("scan %d: the finding (-want +got):\n%s", i+1, diff)
		}
	}
	last := finding("a", 6, names(old), reason("worse"))
	save(t, s, scan(6, []model.Finding{last}))
	_, versions, err := s.Finding("a")
	if err != nil {
		t.Fatal(err)
	}
	want := []FindingVersion{{minute(0), finding("a", 5, names(renamed))}, {minute(6), last}}
	if diff := cmp.Diff(want, versions); diff != "" {
		t.Errorf("another value makes a version (-want +got):\n%s", diff)
	}
	wantFaults(t, s)
}
