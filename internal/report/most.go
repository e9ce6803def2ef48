package report

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// most returns the groups that a report shows in full, and the others: of more than limit groups
// those with the worst severity, the newest first. A limit of 0 is none.
func (o *outline) most(limit int) (shown, rest []group) {
	if limit == 0 || len(o.groups) <= limit {
		return o.groups, nil
	}
	sorted := slices.SortedStableFunc(slices.Values(o.groups), func(a, b group) int {
		return cmp.Or(cmp.Compare(a[0].Severity.Rank(), b[0].Severity.Rank()), b[0].FirstSeen.Compare(a[0].FirstSeen))
	})
	return sorted[:limit], sorted[limit:]
}

// A share is the number of findings with a severity and a verdict.
type share struct {
	severity model.Severity
	verdict  model.Verdict
	n        int
}

// sharesOf counts findings by severity and verdict, worst first.
func sharesOf(groups []group) []share {
	var shares []share
	for _, g := range groups {
		for _, f := range g {
			i := slices.IndexFunc(shares, func(s share) bool { return s.severity == f.Severity && s.verdict == f.Verdict })
			if i < 0 {
				i = len(shares)
				shares = append(shares, share{f.Severity, f.Verdict, 0})
			}
			shares[i].n++
		}
	}
	slices.SortFunc(shares, func(a, b share) int {
		return cmp.Or(cmp.Compare(a.severity.Rank(), b.severity.Rank()), cmp.Compare(slices.Index(model.Verdicts(), a.verdict), slices.Index(model.Verdicts(), b.verdict)))
	})
	return shares
}

// rest writes one line for each severity and verdict of findings that are not shown, with the
// command that lists them. whole is the command that shows all.
func (t *table) rest(groups []group, whole string, command func(model.Severity, model.Verdict) string) {
	shares, n, widest := sharesOf(groups), 0, 0
	texts := make([]string, len(shares))
	for i, s := range shares {
		texts[i] = phrase.Number(s.n) + " " + string(s.severity) + " " + phrase.Visible(string(s.verdict))
		n, widest = n+s.n, max(widest, phrase.Columns(texts[i]))
	}
	t.section("And "+phrase.Count(n, "more finding")+" ("+whole+")", n)
	for i, s := range shares {
		t.line("  ", pad(texts[i], widest), "  ", t.paint(dim, command(s.severity, s.verdict)))
	}
}
