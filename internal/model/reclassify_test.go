package model

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestContinue(t *testing.T) {
	t.Parallel()
	was := &Former{Verdict: Pending, At: noon.Add(-time.Hour)}
	before := Finding{ID: "a", Verdict: Changed, FirstSeen: noon, Was: was, Merged: []string{"b"}, MergedInto: "c", Basis: "1"}
	for reason, tc := range map[string]struct {
		verdict Verdict
		recall  bool
		want    Finding
	}{
		"the same verdict":                  {Changed, false, Finding{ID: "a", Verdict: Changed, FirstSeen: noon, Was: was, Merged: []string{"b"}}},
		"another verdict":                   {Disputed, false, Finding{ID: "a", Verdict: Disputed, FirstSeen: noon, Was: &Former{Changed, noon.Add(time.Hour)}, Merged: []string{"b"}}},
		"it came back":                      {Changed, true, Finding{ID: "a", Verdict: Changed, Merged: []string{"b"}}},
		"it came back with another verdict": {Disputed, true, Finding{ID: "a", Verdict: Disputed, Was: &Former{Changed, noon.Add(time.Hour)}, Merged: []string{"b"}}},
	} {
		f := Finding{Verdict: tc.verdict}
		if tc.recall {
			f.Recall(&before, noon.Add(time.Hour))
		} else {
			f.Continue(&before, noon.Add(time.Hour))
		}
		if diff := cmp.Diff(tc.want, f); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	many := Finding{ID: "many"}
	for i := range MaxMerged {
		many.Merged = append(many.Merged, fmt.Sprint(i))
	}
	for reason, tc := range map[string]struct {
		f      Finding
		others []*Finding
		want   []string
	}{
		"nothing":                       {Finding{ID: "a", Merged: []string{"b"}}, nil, []string{"b"}},
		"another":                       {Finding{ID: "a"}, []*Finding{{ID: "b"}}, []string{"b"}},
		"with what was merged into it":  {Finding{ID: "a", Merged: []string{"b"}}, []*Finding{{ID: "c", Merged: []string{"d"}}, {ID: "e"}}, []string{"b", "d", "c", "e"}},
		"what came and went before":     {Finding{ID: "a", Merged: []string{"b", "c"}}, []*Finding{{ID: "b", Merged: []string{"a"}}}, []string{"c", "b"}},
		"the oldest of many is dropped": {Finding{ID: "a"}, []*Finding{&many}, append(slices.Clone(many.Merged[1:]), "many")},
	} {
		f := tc.f
		f.Merge(tc.others...)
		if diff := cmp.Diff(tc.want, f.Merged); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

func TestPublicFormer(t *testing.T) {
	t.Parallel()
	f := Finding{WorseBasis: "1", Was: &Former{Changed, noon.In(time.FixedZone("CET", 3600))}}
	p := f.Public()
	if p.WorseBasis != "" || p.Was == f.Was || p.Was.At.Location() != time.UTC || !p.Was.At.Equal(noon) || p.Was.Verdict != Changed {
		t.Errorf("got %+v and %q", p.Was, p.WorseBasis)
	}
	if empty := (Finding{}).Public(); empty.Was != nil {
		t.Errorf("a finding that was nothing before was %v", empty.Was)
	}
}

// TestDecisionsOfReclassified: a decision goes with the finding, and with what
// that was merged into, and holds while the values are the same and the verdict
// is no worse.
func TestDecisionsOfReclassified(t *testing.T) {
	t.Parallel()
	key := Key{Source: "s", Kind: "test/Thing", ID: "p/a"}
	for reason, tc := range map[string]struct {
		decision Decision
		finding  Finding
		want     bool
	}{
		"the same basis":                   {Decision{Finding: "a", Basis: "1"}, Finding{ID: "a", Basis: "1"}, true},
		"another basis":                    {Decision{Finding: "a", Basis: "1"}, Finding{ID: "a", Basis: "2", WorseBasis: "3"}, false},
		"made under the worse verdict":     {Decision{Finding: "a", Basis: "1"}, Finding{ID: "a", Basis: "2", WorseBasis: "1"}, true},
		"made under the milder verdict":    {Decision{Finding: "a", Basis: "2"}, Finding{ID: "a", Basis: "1"}, false},
		"of any basis, on another value":   {Decision{Finding: "a", Changes: []Change{{Path: "x"}}}, Finding{ID: "a", Basis: "1"}, false},
		"merged, and the same basis":       {Decision{Finding: "b", Basis: "1"}, Finding{ID: "a", Basis: "1", Merged: []string{"c", "b"}}, true},
		"merged, and other values":         {Decision{Finding: "b", Basis: "1"}, Finding{ID: "a", Basis: "2", Merged: []string{"b"}}, false},
		"neither it nor merged":            {Decision{Finding: "b", Basis: "1"}, Finding{ID: "a", Basis: "1", Merged: []string{"c"}}, false},
		"in a file, of the worse verdict":  {Decision{Subject: Target{Key: key, Verdict: Bypassed}, Basis: "1"}, Finding{ID: "a", Key: key, Verdict: Pending, Basis: "2", WorseBasis: "1"}, true},
		"in a file, of another verdict":    {Decision{Subject: Target{Key: key, Verdict: Bypassed}, Basis: "1"}, Finding{ID: "a", Key: key, Verdict: Pending, Basis: "1"}, false},
		"in a file, values, other verdict": {Decision{Subject: Target{Key: key, Verdict: Bypassed}}, Finding{ID: "a", Key: key, Verdict: Pending}, false},
	} {
		f := tc.finding
		IndexDecisions([]Decision{tc.decision}).Settle(&f, noon)
		if holds := f.Decision != nil; holds != tc.want || tc.decision.Holds(&tc.finding, noon) != tc.want {
			t.Errorf("%s: it holds: %t", reason, holds)
		}
	}
}
