package daemon

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/model"
)

// scores counts, by source and owner, how many resources can be rebuilt from their declarations.
// Rules and decisions do not affect the counts. An inventory does not declare resources, since it
// only lists them.
func scores(v view, judged []model.Judged, owners []classify.OwnerRule) []model.Score {
	type key struct{ source, owner string }
	found := map[key]*model.Score{}
	known, declarations := map[string]bool{}, map[string]*model.Declaration{}
	for i := range v.declarations {
		declarations[v.declarations[i].Name] = &v.declarations[i].declaration
	}
	for i := range judged {
		j := &judged[i]
		claim := claimFor(j.Subject, declarations)
		if claim == nil && !isExpected(j) || claim != nil && j.Subject.Live == nil && len(j.Outcomes) == 0 {
			continue // not declared, and not expected to be; or declared to be absent at times
		}
		known[j.Subject.Source] = true
		at := key{j.Subject.Source, classify.Owner(j.Subject, claim, owners)}
		if found[at] == nil {
			found[at] = &model.Score{Source: at.source, Owner: at.owner}
		}
		count(found[at], j, claim, declarations)
	}
	all := make([]model.Score, 0, len(found))
	for _, s := range v.sources {
		if !known[s.Name] { // nothing is known of the source, or it has nothing
			all = append(all, model.Score{Source: s.Name})
		}
	}
	for _, s := range found {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b model.Score) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Owner, b.Owner))
	})
	return all
}

// claimFor returns the first claim of a subject that is not that of an inventory; nil if there is none.
func claimFor(s *model.Subject, declarations map[string]*model.Declaration) *model.Claim {
	for _, c := range s.Claims {
		if d := declarations[c.Declaration]; d != nil && !d.Inventory {
			return c
		}
	}
	return nil
}

// isExpected reports whether a live resource without a claim is expected to have one, also if that was not judged.
func isExpected(j *model.Judged) bool {
	s := j.Subject
	if s.Live == nil {
		return false
	}
	return s.Unjudged != nil && s.Unjudged.Expected && s.SystemOwned == "" ||
		slices.ContainsFunc(j.Outcomes, func(o model.Outcome) bool { return o.Verdict == model.Unmanaged })
}

// count adds one resource to the score.
func count(s *model.Score, j *model.Judged, claim *model.Claim, declarations map[string]*model.Declaration) {
	if j.Subject.Live != nil {
		s.Live++
	}
	if claim == nil {
		return
	}
	if j.Subject.Live != nil {
		s.Declared++
	}
	s.Claims++
	has := func(is func(model.Verdict) bool) bool {
		return slices.ContainsFunc(j.Outcomes, func(o model.Outcome) bool { return is(o.Verdict) })
	}
	differs := has(func(v model.Verdict) bool {
		return v != model.Unchecked && v != model.Violated && v != model.Nondeterministic
	})
	s.InSync.Count(!differs, !differs && has(func(v model.Verdict) bool { return v == model.Unchecked }))
	d := declarations[claim.Declaration]
	s.Deterministic.Count(!slices.ContainsFunc(claim.Violations, func(v model.Violation) bool { return v.Verdict == model.Nondeterministic }),
		d.Undetermined || claim.Unchecked != "")
	s.Pinned.Count(!d.Unpinned, !d.PinsChecked)
}
