package model

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCompareWorst(t *testing.T) {
	t.Parallel()
	seen := time.Date(2026, 11, 20, 6, 0, 10, 0, time.UTC)
	at := func(id string) Finding {
		return Finding{ID: id, Verdict: Changed, Severity: High, Key: Key{Source: "prod", Kind: "k", ID: "b"}, FirstSeen: seen}
	}
	for name, tc := range map[string]struct {
		reason string
		first  func(f *Finding)
	}{
		"severity":    {"the severity counts first, whatever is exposed and however old the other is", func(f *Finding) { f.Severity = Critical }},
		"exposure":    {"what exposes something comes before what only differs", func(f *Finding) { f.Exposure, f.FirstSeen = ExposesCode, seen.Add(time.Hour) }},
		"age":         {"the oldest first, before the key", func(f *Finding) { f.FirstSeen, f.Key.ID = seen.Add(-time.Minute), "c" }},
		"same minute": {"two sources of one scan are read within seconds: the key decides", func(f *Finding) { f.FirstSeen, f.Key.ID = seen.Add(20*time.Second), "a" }},
		"verdict":     {"the verdict says nothing of how bad it is", func(f *Finding) { f.Verdict, f.Key.ID = Unmanaged, "a" }},
		"declaration": {"two claims on one thing", func(f *Finding) { f.Declaration = "" }},
		"address":     {"two claims of one declaration", func(f *Finding) { f.Address = "" }},
		"id":          {"no two findings are equal", func(f *Finding) { f.ID = "0" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := at("1"), at("2")
			a.Declaration, a.Address, b.Declaration, b.Address = "d", "x", "d", "x"
			tc.first(&a)
			if CompareWorst(&a, &b) >= 0 || CompareWorst(&b, &a) <= 0 || CompareWorst(&a, &a) != 0 {
				t.Errorf("%s: %d, %d", tc.reason, CompareWorst(&a, &b), CompareWorst(&b, &a))
			}
		})
	}
}

// TestSortWorst orders findings of one age by severity, resource, verdict and ID, from any
// order.
func TestSortWorst(t *testing.T) {
	t.Parallel()
	of := func(id string, severity Severity, verdict Verdict, k Key) Finding {
		return Finding{ID: id, Severity: severity, Verdict: verdict, Key: k}
	}
	a, b := Key{Source: "s", Kind: "k", ID: "a"}, Key{Source: "s", Kind: "k", ID: "b"}
	want := []Finding{
		of("9", Critical, Unchecked, b),
		of("8", High, Conflict, b),
		of("7", High, Missing, b),
		of("5", Medium, Changed, a),
		of("6", Medium, Missing, a),
		of("1", Medium, Changed, b),
		of("4", Medium, Changed, b),
		of("3", Low, Conflict, a),
		of("2", Info, Conflict, a),
		of("0", "unheard-of", Conflict, a),
	}
	for turn := range want {
		got := slices.Concat(want[turn:], want[:turn])
		slices.Reverse(got[:len(got)/2])
		SortWorst(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("turn %d (-want +got):\n%s", turn, diff)
		}
	}
}

func TestWorstFirstChanges(t *testing.T) {
	t.Parallel()
	paths := func(f Finding) (paths []string) {
		for _, c := range f.WorstFirst().Changes {
			paths = append(paths, c.Path)
		}
		return paths
	}
	changes := []Change{{Path: "a"}, {Path: "b", Severity: Low}, {Path: "c", Severity: High}, {Path: "d", Exposure: ExposesReach}}
	for verdict, want := range map[Verdict][]string{
		Changed:  {"c", "d", "a", "b"}, // usually medium
		Conflict: {"d", "a", "c", "b"}, // usually high: a field without a severity of its own is as bad
		Bypassed: {"c", "d", "a", "b"}, // rated like changed
		Pending:  {"c", "b", "d", "a"}, // usually info
	} {
		f := Finding{Verdict: verdict, Changes: slices.Clone(changes)}
		if diff := cmp.Diff(want, paths(f)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", verdict, diff)
		}
		if f.Changes[0].Path != "a" {
			t.Errorf("%s: WorstFirst() changed the finding itself", verdict)
		}
	}
	f := Finding{Verdict: Pending, Unproven: true}
	if got := f.SeverityOf(&Change{}); got != Medium {
		t.Errorf("what may be bypassed is %s, want it rated like changed", got)
	}
}

func TestWhy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		finding Finding
		want    string
	}{
		"no rule":  {Finding{Reason: "other code runs"}, "other code runs"},
		"nothing":  {Finding{}, ""},
		"rule":     {Finding{Severity: Low, Rated: &Rating{High, "a sandbox"}}, "rated low by a severity rule, otherwise high: a sandbox"},
		"both":     {Finding{Severity: Low, Reason: "other code runs", Rated: &Rating{High, "a sandbox"}}, "other code runs; rated low by a severity rule, otherwise high: a sandbox"},
		"the same": {Finding{Severity: Low, Rated: &Rating{Low, "a sandbox"}}, "rated low by a severity rule: a sandbox"},
	} {
		if got := tc.finding.Why(); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
