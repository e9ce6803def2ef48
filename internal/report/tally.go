package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// tallies say of each declaration that counts it how much of it could be
// compared at all.
func (o *outline) tallies() []Phrase {
	var phrases []Phrase
	for _, d := range sortedRevisions(o.report.Scan.Declarations) {
		if d.Tally != nil {
			phrases = append(phrases, tallied(d.Name, d.Tally))
		}
	}
	return phrases
}

// notes are those of each declaration.
func (o *outline) notes() []Phrase {
	var phrases []Phrase
	for _, d := range sortedRevisions(o.report.Scan.Declarations) {
		for _, n := range d.Notes {
			p := Phrase{}.quote(d.Name).say(": ")
			if n.Address != "" {
				p = p.quote(n.Address).say(": ")
			}
			phrases = append(phrases, p.quote(n.Text))
		}
	}
	return phrases
}

func tallied(name string, t *model.Tally) Phrase {
	p := Phrase{}.quote(name).say(": " + count(t.Resources, "resource") + ", " + thousands(t.Compared) + " compared")
	if t.Without > 0 {
		p = p.say(", " + thousands(t.Without) + " without a live side")
	}
	if unmapped := total(t.Unmapped); unmapped > 0 {
		p = p.say(", "+thousands(unmapped)+" without a mapping (").list(mostFirst(t.Unmapped), 5).say(")")
	}
	if t.Unchecked > 0 {
		p = p.say(", " + thousands(t.Unchecked) + " unchecked")
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

// mostFirst lists the types, those of the most resources first.
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
