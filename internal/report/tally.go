package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// tallies returns for each declaration with counts how many resources were compared.
func (o *outline) tallies() []phrase.Phrase {
	var phrases []phrase.Phrase
	for _, d := range sortedRevisions(o.report.Scan.Declarations) {
		if d.Tally != nil {
			phrases = append(phrases, tallied(d.Name, d.Tally))
		}
	}
	return phrases
}

// notes returns the notes of each declaration.
func (o *outline) notes() []phrase.Phrase {
	var phrases []phrase.Phrase
	for _, d := range sortedRevisions(o.report.Scan.Declarations) {
		for _, n := range d.Notes {
			p := phrase.Phrase{}.Data(d.Name).Words(": ")
			if n.Address != "" {
				p = p.Data(n.Address).Words(": ")
			}
			phrases = append(phrases, p.Data(n.Text))
		}
	}
	return phrases
}

func tallied(name string, t *model.Tally) phrase.Phrase {
	p := phrase.Phrase{}.Data(name).Words(": " + phrase.Count(t.Resources, "resource") + ", " + phrase.Number(t.Compared) + " compared")
	if t.ExistenceOnly > 0 {
		p = p.Words(" (" + phrase.Number(t.ExistenceOnly) + " for existence only)")
	}
	if t.Without > 0 {
		p = p.Words(", " + phrase.Number(t.Without) + " without a live side")
	}
	if unmapped := total(t.Unmapped); unmapped > 0 {
		p = p.Words(", "+phrase.Number(unmapped)+" without a mapping (").List(mostFirst(t.Unmapped), 5).Words(")")
	}
	if t.Unchecked > 0 {
		p = p.Words(", " + phrase.Number(t.Unchecked) + " unchecked")
	}
	return p
}

func total(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// mostFirst returns the types, the most frequent first.
func mostFirst(counts map[string]int) []string {
	types := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for i, typ := range types {
		if n := counts[typ]; n > 1 {
			types[i] = fmt.Sprintf("%s × %d", typ, n)
		}
	}
	return types
}
