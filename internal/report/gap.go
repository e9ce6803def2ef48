package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// A gap is a set of scopes of one source that were not fully read for one reason.
type gap struct {
	source string
	text   phrase.Phrase
}

// gaps returns the gaps of the report, sorted by source and reason.
func (o *outline) gaps() []gap { return gapsOf(o.report.Coverage) }

// unread returns a phrase for each gap, except for reasons that are already given for
// unchecked resources.
func (o *outline) unread() []phrase.Phrase {
	given := map[cause]bool{}
	for _, f := range o.unseen {
		given[cause{f.Source, f.Reason}] = true
	}
	rest := slices.DeleteFunc(slices.Clone(o.report.Coverage), func(c model.Coverage) bool { return given[cause{c.Source, c.Reason}] })
	var phrases []phrase.Phrase
	for _, g := range gapsOf(rest) {
		phrases = append(phrases, append(phrase.Phrase{}.Data(g.source).Words(": "), g.text...))
	}
	return phrases
}

// A cause is the reason why scopes of one source could not be read.
type cause struct{ source, reason string }

// gapsOf returns one gap for all scopes that could not be read for one reason, also
// where the reason contains the name of each.
func gapsOf(coverage []model.Coverage) []gap {
	byCause := map[cause][]model.Coverage{}
	for why, scopes := range failures(coverage) {
		common := cause{why.source, commonReason(scopes[0])}
		if slices.ContainsFunc(scopes, func(c model.Coverage) bool { return commonReason(c) != common.reason }) {
			common = why
		}
		byCause[common] = append(byCause[common], scopes...)
	}
	causes := slices.SortedFunc(maps.Keys(byCause), func(a, b cause) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.reason, b.reason))
	})
	gaps := make([]gap, len(causes))
	for i, why := range causes {
		scopes := byCause[why]
		reason := scopes[0].Reason
		if slices.ContainsFunc(scopes, func(c model.Coverage) bool { return c.Reason != reason }) {
			reason = why.reason
		}
		gaps[i] = gap{why.source, scopesPhrase(scopes).Words(": ").Data(cmp.Or(reason, "no reason was given"))}
	}
	return gaps
}

// failures returns the scopes that could not be read.
func failures(coverage []model.Coverage) map[cause][]model.Coverage {
	failed := map[cause][]model.Coverage{}
	for _, c := range coverage {
		if c.Failed() {
			why := cause{c.Source, c.Reason}
			failed[why] = append(failed[why], c)
		}
	}
	return failed
}

// commonReason returns the reason without the words that name the scope's own kind and
// place, in which it differs from that of another scope. Quoted words, as the name of
// a user, are kept.
func commonReason(c model.Coverage) string {
	words := strings.Split(c.Reason, " ")
	for i, word := range words {
		bare := strings.TrimRight(word, ".,;:")
		if bare != "" && !strings.Contains(bare, `"`) && (bare == c.Place || names(strings.ToLower(bare), kindStem(c.Kind))) {
			words[i] = phrase.Ellipsis + word[len(bare):]
		}
	}
	return strings.Join(words, " ")
}

// kindStem is how the words begin that name a kind: networkpolic, of
// NetworkPolicy and networkpolicies. Of a wildcard it is the group.
func kindStem(kind string) string {
	if _, group, ok := strings.Cut(kind, "/*"); ok {
		return strings.ToLower(strings.TrimPrefix(group, "."))
	}
	return strings.TrimSuffix(strings.ToLower(phrase.Kind(kind)), "y")
}

// names reports whether a word in text begins with stem.
func names(text, stem string) bool {
	if stem == "" {
		return false
	}
	for from := 0; ; {
		at := strings.Index(text[from:], stem)
		if at < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:from+at])
		if !unicode.IsLetter(before) {
			return true
		}
		from += at + len(stem)
	}
}

// scopesPhrase names a few scopes, or counts many and names some.
func scopesPhrase(scopes []model.Coverage) phrase.Phrase {
	const few = 3
	all, kinds, places := map[string]bool{}, map[string]bool{}, map[string]bool{}
	thing := "kind"
	for _, c := range scopes {
		all[scopeName(c)] = true
		kinds[kindName(c.Kind)] = true
		if c.Place != "" {
			places[c.Place] = true
		}
		if c.Kind == "" || strings.Contains(c.Kind, "/*") {
			thing = "part"
		}
	}
	if len(all) <= few {
		return phrase.Phrase{}.List(slices.Sorted(maps.Keys(all)), few)
	}
	named := slices.Sorted(maps.Keys(kinds))
	p := phrase.Phrase{}
	if len(named) > few {
		p = p.Words(phrase.Count(len(named), thing) + ", among them ")
	}
	p = p.List(named[:min(few, len(named))], few)
	if len(places) > 0 {
		p = p.Words(" in " + phrase.Count(len(places), "place"))
	}
	return p
}

func sortedCoverage(coverage []model.Coverage) []model.Coverage {
	return slices.SortedFunc(slices.Values(coverage), func(a, b model.Coverage) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Place, b.Place),
			model.CompareBool(a.Complete, b.Complete), cmp.Compare(a.Reason, b.Reason))
	})
}

func scopeName(c model.Coverage) string {
	if c.Place == "" {
		return kindName(c.Kind)
	}
	return kindName(c.Kind) + " (in " + c.Place + ")"
}

func kindName(kind string) string {
	if _, group, ok := strings.Cut(kind, "/*"); ok {
		return "every kind of " + strings.TrimPrefix(group, ".")
	}
	if kind == "" {
		return "everything"
	}
	return phrase.Kind(kind)
}
