package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestSortOutlines verifies that outlines are in the order of CompareWorst of their findings.
func TestSortOutlines(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	for _, n := range []int{0, 1, 2, 1000, 10_000} {
		findings := make([]Finding, n)
		list := make([]*Outline, n)
		for i := range findings {
			f := &findings[i]
			f.ID = fmt.Sprint(i)
			f.Severity, f.Verdict = Severities()[random.IntN(5)], Verdicts()[random.IntN(3)]
			f.Exposure = Exposure(pick("", string(ExposesAccess), string(ExposesReach)))
			f.Source, f.Kind, f.Key.ID = pick("a", "b"), pick("k", "kubernetes/A", "kubernetes/B"), pick("", "shop", "shop/a", "shop/abcdef", "shop/abcdeg", "shop/abc\x00")
			f.Declaration, f.Address = pick("", "d"), pick("", "x", "y")
			f.FirstSeen = time.Date(2026, 1, 1, 0, random.IntN(3), random.IntN(60), 0, time.UTC)
			if random.IntN(10) == 0 {
				f.FirstSeen = time.Time{}
			}
			o := f.Outline()
			list[i] = &o
		}
		random.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
		SortOutlines(list)
		slices.SortFunc(findings, func(a, b Finding) int { return CompareWorst(&a, &b) })
		for i := range findings {
			if list[i].ID != findings[i].ID {
				t.Fatalf("%d outlines: number %d is %s, want %s", n, i, list[i].ID, findings[i].ID)
			}
		}
	}
}
