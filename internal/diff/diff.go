// Package diff compares a subject's three sides, declared, recorded and live,
// by its kind's schema. It is pure: the same subject gives the same outcomes,
// sorted.
package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Options are what a comparison needs to know besides the subject.
type Options struct {
	// Controller reports whether a writer, or an account of the source's log, is a
	// known controller. It decides only who is named as an actor; nil knows none.
	Controller func(writer string) bool
	// Exempt returns the evidence for which a field that no declaration sets is
	// not drift; "" where it is drift. nil exempts nothing.
	Exempt func(*model.Write) string
	// exempted collects the exemptions; nil drops them.
	exempted *[]model.Exemption
}

// Judge compares a subject and returns the outcomes with the fields that were
// exempted, sorted by path.
func Judge(s *model.Subject, o Options) model.Judged {
	var exempted []model.Exemption
	o.exempted = &exempted
	j := model.Judged{Subject: s, Outcomes: Compare(s, o)}
	slices.SortStableFunc(exempted, func(a, b model.Exemption) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Declaration, b.Declaration))
	})
	j.Exempt = slices.CompactFunc(exempted, func(a, b model.Exemption) bool { return a.Path == b.Path })
	return j
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
		return append(outcomes, absent(s, claims)...)
	}
	disputes := disputed(s, claims, o)
	compared, disputes := compareClaims(s, claims, disputes, o)
	if len(disputes) > 0 {
		outcomes = append(outcomes, disputeOutcome(claims[0], disputes))
	}
	return append(append(outcomes, compared...), silent(s, claims)...)
}

func disputeOutcome(c *model.Claim, disputes []dispute) model.Outcome {
	slices.SortStableFunc(disputes, func(a, b dispute) int { return cmp.Compare(a.about.path, b.about.path) })
	out := model.Outcome{Verdict: model.Disputed, Claim: c, Changes: make([]model.Change, len(disputes))}
	var reasons []string
	for i, d := range disputes {
		out.Changes[i] = d.change
		switch {
		case d.reason == "":
		case len(disputes) > 1:
			reasons = append(reasons, d.change.Path+": "+d.reason)
		default:
			reasons = append(reasons, d.reason)
		}
	}
	out.Reason = strings.Join(reasons, "; ")
	out.Actor = model.LiftActor(out.Changes)
	return out
}

func unclaimed(s *model.Subject) []model.Outcome {
	if len(s.Silent) == 0 || s.Automatic != "" {
		return nil
	}
	if s.Live == nil {
		return []model.Outcome{{Verdict: model.Unchecked, Actor: model.UnknownActor("not checked"),
			Reason: "exists and is not in " + orList(s.Silent) + "; could not be read: " + s.Unread}}
	}
	out := model.Outcome{Verdict: model.Unmanaged, Actor: abandoner(s, slices.Concat(s.Silent...)), Reason: s.Outside}
	switch {
	case s.Partial != "":
		out.Reason = "not in " + orList(s.Silent) + "; " + s.Partial
	case len(s.Silent) > 1:
		out.Reason = "neither " + orList(s.Silent) + " speaks of it"
	}
	return []model.Outcome{out}
}

// silent reports a resource that some declarations claim, and others that should
// speak of it do not: an inventory lacks it, or what makes such things does.
func silent(s *model.Subject, claims []*model.Claim) []model.Outcome {
	if s.Live == nil || s.Automatic != "" {
		return nil
	}
	var outcomes []model.Outcome
	for _, group := range s.Silent {
		out := model.Outcome{Verdict: model.Unmanaged, Actor: abandoner(s, group),
			Reason: "live, and in " + claims[0].Declaration + " (" + claims[0].Address + "), but not in " + strings.Join(group, " or ")}
		if len(group) == 1 {
			out.Declaration = group[0]
		}
		outcomes = append(outcomes, out)
	}
	return outcomes
}

func orList(groups [][]string) string {
	texts := make([]string, len(groups))
	for i, group := range groups {
		texts[i] = strings.Join(group, " or ")
	}
	return strings.Join(texts, " nor ")
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

// absent is what is wrong with claims on a resource that is not there: it is
// missing, unless it waits for the apply that makes it, or was declared only now. What several
// declarations miss is said by the first.
func absent(s *model.Subject, claims []*model.Claim) []model.Outcome {
	var outcomes []model.Outcome
	missing := -1
	for _, c := range claims {
		switch {
		case c.Pending != "":
			outcomes = withPending(s, c, outcomes)
		case c.MayBeAbsent:
		case c.Value.IsNull() && c.Recorded != nil: // Declared no longer, and gone.
			outcomes = append(outcomes, model.Outcome{Verdict: model.Codified, Claim: c, Actor: remover(s, c)})
		case isNew(c):
			outcomes = append(outcomes, model.Outcome{Verdict: model.Pending, Claim: c, Actor: author(introduced(c.Evidence), c), Reason: "first declared within the deploy window"})
		case missing < 0 || outcomes[missing].Claim.Declaration == c.Declaration && outcomes[missing].Claim.Address != c.Address:
			missing = len(outcomes)
			outcomes = append(outcomes, model.Outcome{Verdict: model.Missing, Claim: c, Actor: remover(s, c)})
		case outcomes[missing].Claim.Declaration != c.Declaration && outcomes[missing].Reason == "":
			outcomes[missing].Reason = c.Declaration + " (" + c.Address + ") claims it, too"
		}
	}
	return outcomes
}

// withPending adds that a claim waits for an apply as a whole: to what waits of
// its fields, where some do.
func withPending(s *model.Subject, c *model.Claim, outcomes []model.Outcome) []model.Outcome {
	if c.Pending == "" {
		return outcomes
	}
	ruled, actor := ruleWhole(s, c)
	for i := range outcomes {
		if outcomes[i].Verdict == model.Pending && ruled.Verdict == model.Pending && outcomes[i].Claim == c {
			outcomes[i].Reason = ruled.Reason
			return outcomes
		}
	}
	return append(outcomes, model.Outcome{Verdict: ruled.Verdict, Claim: c, Reason: ruled.Reason, Unproven: ruled.Unproven, Actor: actor})
}

// compareClaims compares every claim with the live resource. What several
// claims agree on is reported once, of the first; what they disagree on in
// different words joins the disputes.
func compareClaims(s *model.Subject, claims []*model.Claim, disputes []dispute, o Options) ([]model.Outcome, []dispute) {
	differs := make([][]found, len(claims))
	for i, c := range claims {
		if !c.Value.IsNull() { // Else it is declared no longer.
			differs[i] = compareClaim(s, c, sameWords(claims, i), o)
		}
	}
	sayOnce(claims, differs, disputes)
	disputes = join(disputes, reconcileWords(s, claims, differs, o))
	var outcomes []model.Outcome
	for i, c := range claims {
		outcomes = append(outcomes, withPending(s, c, byVerdict(c, replaced(s, c, differs[i])))...)
	}
	return outcomes, disputes
}

// sayOnce removes fields that are disputed, and fields that another claim in the same
// words reports, too. The first claim reports a field, unless the history of a later one
// shows that it was bypassed, or may have been.
func sayOnce(claims []*model.Claim, differs [][]found, disputes []dispute) {
	type speaker struct {
		claim int
		found found
	}
	chosen := map[saying]speaker{}
	for _, d := range disputes {
		chosen[d.about] = speaker{claim: -1}
	}
	for i, c := range claims {
		for _, f := range differs[i] {
			about := saying{c.Lens, f.change.Path}
			before, said := chosen[about]
			if !said || f.waits() && before.found.waits() && rankFound(f) < rankFound(before.found) {
				chosen[about] = speaker{i, f}
			}
		}
	}
	for i, c := range claims {
		differs[i] = slices.DeleteFunc(differs[i], func(f found) bool { return chosen[saying{c.Lens, f.change.Path}].claim != i })
	}
}

// A saying is a field, in the words of the claim that speaks of it.
type saying struct {
	lens model.Lens
	path string
}

// sameWords returns the values of the other claims that are written in the
// words of claims[i].
func sameWords(claims []*model.Claim, i int) []model.Value {
	var values []model.Value
	for j, other := range claims {
		if j != i && other.Lens == claims[i].Lens {
			values = append(values, other.Value)
		}
	}
	return values
}

// compareClaim compares one claim with what the source holds, and, where some
// of that waits for a restart, with what is in effect until then.
func compareClaim(s *model.Subject, c *model.Claim, others []model.Value, o Options) []found {
	held := newWalk(s, c, s.Live.Value, o)
	held.others = others
	held.run()
	if len(s.Live.Running) == 0 {
		return held.found
	}
	effective := newWalk(s, c, inEffect(s.Live), o)
	effective.others = others
	effective.run()
	return waiting(held.found, effective.found)
}

// byVerdict groups what was found by verdict, worst first.
func byVerdict(c *model.Claim, all []found) []model.Outcome {
	var outcomes []model.Outcome
	for _, verdict := range model.Verdicts() {
		var changes []model.Change
		var reasons []string
		for _, f := range all {
			if f.verdict == verdict {
				changes = append(changes, f.change)
				if f.reason != "" && !slices.Contains(reasons, f.reason) {
					reasons = append(reasons, f.reason)
				}
			}
		}
		if len(changes) == 0 {
			continue
		}
		reason := strings.Join(reasons[:min(1, len(reasons))], "")
		if verdict == model.Unchecked { // Each field has its own next step.
			reason = strings.Join(reasons, "; ")
		}
		slices.SortStableFunc(changes, func(a, b model.Change) int { return cmp.Compare(a.Path, b.Path) })
		out := model.Outcome{Verdict: verdict, Claim: c, Changes: changes, Reason: reason}
		out.Actor = model.LiftActor(out.Changes)
		outcomes = append(outcomes, out)
	}
	return outcomes
}
