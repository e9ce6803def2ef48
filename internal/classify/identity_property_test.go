package classify

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

// drawOutcomes draws what one scan finds on the resource of a tale: each of a
// few fields differs for one claim with one verdict, or not at all.
func drawOutcomes(t *rapid.T) []string {
	switch rapid.IntRange(0, 9).Draw(t, "whole") {
	case 0:
		return []string{"missing d"}
	case 1:
		return []string{"unmanaged -"}
	case 2:
		return nil
	}
	found := map[string]string{}
	for _, field := range []string{"a", "b", "c", "b.x"} {
		claim := rapid.SampledFrom([]string{"", "changed d", "pending d", "bypassed d", "disputed d", "changed d2", "changed e", "disputed e"}).Draw(t, field)
		if claim != "" {
			found[claim] += " " + field
		}
	}
	var outcomes []string
	for claim, fields := range found {
		outcomes = append(outcomes, claim+fields)
	}
	slices.Sort(outcomes)
	if rapid.IntRange(0, 4).Draw(t, "silent") == 0 {
		outcomes = append(outcomes, "unmanaged not-f")
	}
	return outcomes
}

// drawTrouble draws what could not be read.
func drawTrouble(t *rapid.T) func(*Input) {
	switch rapid.IntRange(0, 9).Draw(t, "trouble") {
	case 0:
		return func(in *Input) { in.Declarations[1].Problems = []model.Problem{{Address: "all", Reason: "502"}} }
	case 1:
		return func(in *Input) { in.Snapshots, in.Judged = nil, nil }
	}
	return nil
}

// TestIdentityProperties lets the fields of a resource move between verdicts and
// claims in any way, and reads what becomes of the IDs.
func TestIdentityProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newTale()
		for range rapid.IntRange(1, 12).Draw(t, "scans") {
			outcomes, trouble := drawOutcomes(t), drawTrouble(t)
			in := s.input(outcomes)
			in.Now = s.now.Add(1)
			if trouble != nil {
				trouble(&in)
			}
			shuffled := in
			turn := rapid.IntRange(0, 9).Draw(t, "turn")
			shuffled.Earlier, shuffled.Recent = turned(in.Earlier, turn), turned(in.Recent, turn)
			if len(in.Judged) > 0 {
				j := in.Judged[0]
				j.Outcomes = turned(j.Outcomes, turn)
				shuffled.Judged = []model.Judged{j}
			}
			if diff := cmp.Diff(Findings(in), Findings(shuffled)); diff != "" {
				t.Fatalf("the order matters (-one +other):\n%s", diff)
			}
			checkIDs(t, s.open, s.scan(outcomes, trouble))
		}
	})
}

// turned returns a list in another order.
func turned[T any](list []T, by int) []T {
	if len(list) == 0 {
		return list
	}
	by %= len(list)
	turned := slices.Concat(list[by:], list[:by])
	slices.Reverse(turned[:len(turned)/2])
	return turned
}

// checkIDs checks what a scan made of the findings that were open before.
func checkIDs(t *rapid.T, before []model.Finding, r Result) {
	open := map[string]*model.Finding{}
	for _, list := range [][]model.Finding{r.Current, r.Remembered} {
		for i := range list {
			if f := &list[i]; open[f.ID] != nil {
				t.Fatalf("two findings have the ID %s", f.ID)
			} else {
				open[f.ID] = f
			}
		}
	}
	for _, f := range r.Resolved {
		into := open[f.MergedInto]
		switch {
		case open[f.ID] != nil:
			t.Fatalf("%s is open and resolved", f.ID)
		case f.MergedInto == "":
			checkOver(t, &f, r.Current)
		case into == nil || !slices.Contains(into.Merged, f.ID):
			t.Fatalf("%s was merged into %s, which does not have it", f.ID, f.MergedInto)
		case into.FirstSeen.After(f.FirstSeen):
			t.Fatalf("%s was merged into the younger %s", f.ID, into.ID)
		}
	}
	for _, f := range before {
		ended := slices.ContainsFunc(r.Resolved, func(g model.Finding) bool { return g.ID == f.ID })
		if open[f.ID] == nil && !ended {
			t.Fatalf("%s was lost", f.ID)
		}
		if now := open[f.ID]; now != nil && now.FirstSeen.After(f.FirstSeen) {
			t.Fatalf("%s became younger", f.ID)
		}
	}
	for id, f := range open {
		for _, merged := range f.Merged {
			if open[merged] != nil {
				t.Fatalf("%s is open and merged into %s", merged, id)
			}
		}
	}
}

// checkOver checks that nothing of a resolved finding is still wrong.
func checkOver(t *rapid.T, f *model.Finding, current []model.Finding) {
	for i := range current {
		g := &current[i]
		if overlap(f, g) > 0 || g.Verdict == model.Missing && f.Verdict.IsDrift() && !unclaimed(f) {
			t.Fatalf("%s (%s %s) is resolved, and %s (%s %s) is open", f.ID, f.Verdict, strings.Join(pathsOf(f), " "),
				g.ID, g.Verdict, strings.Join(pathsOf(g), " "))
		}
	}
}
