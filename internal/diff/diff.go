// Package diff compares a subject's three sides, declared, recorded and live,
// by its kind's schema. It is pure: the same subject gives the same outcomes,
// sorted.
package diff

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// Options are what a comparison needs to know besides the subject.
type Options struct {
	// Controller tells whether a writer is known to set fields beside what is
	// declared (a controller, an injector); nil knows none.
	Controller func(writer string) bool
}

// Compare judges a subject. No outcome means in-sync, or a live resource that
// nobody is expected to declare.
func Compare(s *model.Subject, o Options) []model.Outcome {
	if len(s.Claims) == 0 {
		return unclaimed(s)
	}
	claims, outcomes := checkable(s)
	if len(claims) == 0 {
		return outcomes
	}
	if s.Live == nil {
		return append(outcomes, absent(claims[0]))
	}
	disputes := disputed(s, claims)
	if len(disputes) > 0 {
		outcomes = append(outcomes, model.Outcome{Verdict: model.Disputed, Claim: claims[0], Changes: disputes,
			Actor: model.UnknownActor("two declarations differ; nobody needs to have touched the resource")})
	}
	return append(outcomes, compareClaims(s, claims, disputes, o)...)
}

func unclaimed(s *model.Subject) []model.Outcome {
	if s.Live == nil || !s.Governed || s.Live.Automatic != "" {
		return nil
	}
	return []model.Outcome{{Verdict: model.Unmanaged, Actor: creator(s.Live)}}
}

// checkable returns the claims that can be compared, and an outcome for each
// that cannot.
func checkable(s *model.Subject) ([]*model.Claim, []model.Outcome) {
	var claims []*model.Claim
	var outcomes []model.Outcome
	for _, c := range s.Claims {
		reason := c.Unchecked
		switch {
		case reason != "":
		case s.Live == nil:
			reason = s.Unread
		case s.Kind != nil && otherVersion(s.Kind, c.Version):
			reason = "declared in version " + c.Version + ", read in version " + s.Kind.Version +
				"; declare it in " + s.Kind.Version
		}
		if reason == "" {
			claims = append(claims, c)
			continue
		}
		outcomes = append(outcomes, model.Outcome{Verdict: model.Unchecked, Claim: c, Reason: reason,
			Actor: model.UnknownActor("not checked")})
	}
	return claims, outcomes
}

// otherVersion tells whether the kind may have other fields in the version.
func otherVersion(kind *model.Kind, version string) bool {
	return kind.Version != "" && version != "" && kind.Version != version && !slices.Contains(kind.Alike, version)
}

func absent(c *model.Claim) model.Outcome {
	return model.Outcome{Verdict: model.Missing, Claim: c,
		Actor: model.UnknownActor("the source keeps no record of deletions")}
}

// compareClaims compares every claim with the live resource. What several
// claims agree on is said once, of the first.
func compareClaims(s *model.Subject, claims []*model.Claim, disputes []model.Change, o Options) []model.Outcome {
	said := map[string]bool{}
	for _, d := range disputes {
		said[d.Path] = true
	}
	var outcomes []model.Outcome
	for i, c := range claims {
		w := newWalk(s, c, o)
		for j, other := range claims {
			if j != i {
				w.others = append(w.others, other.Value)
			}
		}
		w.node(w.schema, c.Value, w.record.value, s.Live.Value)
		outcomes = append(outcomes, w.outcomes(said)...)
	}
	return outcomes
}

// outcomes groups what the walk found by verdict, worst first.
func (w *walk) outcomes(said map[string]bool) []model.Outcome {
	var outcomes []model.Outcome
	for _, verdict := range model.Verdicts() {
		var changes []model.Change
		reason := ""
		for _, f := range w.found {
			if f.verdict == verdict && !said[f.change.Path] {
				said[f.change.Path] = true
				changes = append(changes, f.change)
				reason = cmp.Or(reason, f.reason)
			}
		}
		if len(changes) == 0 {
			continue
		}
		slices.SortFunc(changes, func(a, b model.Change) int { return cmp.Compare(a.Path, b.Path) })
		out := model.Outcome{Verdict: verdict, Claim: w.claim, Changes: changes, Reason: reason}
		out.Actor = liftActor(out.Changes)
		outcomes = append(outcomes, out)
	}
	return outcomes
}

// liftActor makes the latest actor of the changes the outcome's, and leaves it
// on those changes only that have another one.
func liftActor(changes []model.Change) model.Actor {
	best := *changes[0].Actor
	for _, c := range changes[1:] {
		if a := *c.Actor; rankActor(a, best) < 0 {
			best = a
		}
	}
	for i := range changes {
		if *changes[i].Actor == best {
			changes[i].Actor = nil
		}
	}
	return best
}

// rankActor orders actors: the known before the unknown, the later first.
func rankActor(a, b model.Actor) int {
	known := func(x model.Actor) int {
		if x.Confidence == model.Unknown {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(known(a), known(b)), b.At.Compare(a.At), cmp.Compare(a.Name, b.Name))
}
