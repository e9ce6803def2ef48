// Package diff compares the declared, recorded and live values of a subject by the schema of its
// kind. Its functions are pure: equal subjects have equal outcomes in the same order.
package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Options configures a comparison.
type Options struct {
	// Controller reports whether a writer, or an account in the source's log, is a known
	// controller. Only the actors of findings depend on it. If it is nil, there are no controllers.
	Controller func(writer string) bool
	// Exempt returns the evidence that a field which no declaration sets is not drift, or "" if it
	// is drift. If it is nil, no field is exempt.
	Exempt func(*model.Write) string
	// exempted collects the exemptions; nil drops them.
	exempted *[]model.Exemption
}

// Judge compares a subject and returns its outcomes and the exempt fields, sorted by path.
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

// Compare returns the outcomes of comparing a subject, including those of failed checks. It returns
// none if the subject is in sync, or if no declaration is expected to declare it.
func Compare(s *model.Subject, o Options) []model.Outcome {
	return withViolations(s, outcomes(s, o))
}

func outcomes(s *model.Subject, o Options) []model.Outcome {
	if len(s.Claims) == 0 {
		return judgeUnclaimed(s, o)
	}
	claims, outcomes := checkable(s)
	if len(claims) == 0 {
		return outcomes
	}
	if s.Live == nil {
		return append(outcomes, judgeAbsent(s, claims)...)
	}
	disputes := disputed(s, claims, o)
	compared, disputes := compareClaims(s, claims, disputes, o)
	if len(disputes) > 0 {
		outcomes = append(outcomes, disputeOutcome(claims[0], disputes))
	}
	return append(append(outcomes, compared...), judgeUndeclaredElsewhere(s, claims, o)...)
}

func disputeOutcome(c *model.Claim, disputes []dispute) model.Outcome {
	slices.SortStableFunc(disputes, func(a, b dispute) int { return cmp.Compare(a.field.path, b.field.path) })
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

func judgeUnclaimed(s *model.Subject, o Options) []model.Outcome {
	if len(s.UndeclaredBy) == 0 || s.SystemOwned != "" {
		return nil
	}
	if s.Live == nil {
		return []model.Outcome{{Verdict: model.Unchecked, Actor: model.UnknownActor("not checked"),
			Reason: "exists and is not in " + orList(s.UndeclaredBy) + "; could not be read: " + s.Unread}}
	}
	out := model.Outcome{Verdict: model.Unmanaged, Actor: unmanagedActor(s, slices.Concat(s.UndeclaredBy...), o), Reason: s.Outside}
	switch {
	case s.Partial != "":
		out.Reason = "not in " + orList(s.UndeclaredBy) + "; " + s.Partial
	case len(s.UndeclaredBy) > 1:
		out.Reason = "neither " + orList(s.UndeclaredBy) + " speaks of it"
	}
	by, reason := judgeInstalled(s, o)
	if s.LeftBy != "" {
		reason = fmt.Sprintf("its labels name %s, whose inventory lacks it: it is not removed with the declaration", s.LeftBy)
	}
	if out.InstalledBy = by; by != (model.Ref{}) {
		out.Content = content(s, o)
	}
	out.Reason = strings.TrimPrefix(out.Reason+"; "+reason, "; ")
	out.Reason = strings.TrimSuffix(out.Reason, "; ")
	return []model.Outcome{out}
}

// judgeUndeclaredElsewhere reports a claimed resource that other declarations, such as an
// inventory, should declare, too, but do not.
func judgeUndeclaredElsewhere(s *model.Subject, claims []*model.Claim, o Options) []model.Outcome {
	if s.Live == nil || s.SystemOwned != "" {
		return nil
	}
	var outcomes []model.Outcome
	for _, group := range s.UndeclaredBy {
		out := model.Outcome{Verdict: model.Unmanaged, Actor: unmanagedActor(s, group, o),
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

// checkable returns the claims that can be compared, and an outcome for each of the others.
func checkable(s *model.Subject) ([]*model.Claim, []model.Outcome) {
	var claims []*model.Claim
	var outcomes []model.Outcome
	for _, c := range s.Claims {
		reason := c.Unchecked
		switch {
		case reason != "":
		case s.Live == nil:
			reason = s.Unread
		case c.LiveRead != nil && c.LiveRead.Value.IsNull():
			reason = s.Source + " lists it, and " + c.Declaration + " did not find it: the next scan reads both again"
		case s.Kind != nil && c.Lens != nil && c.Lens.Misfit(s.Kind.Schema) != "":
			reason = "the mapping reads fields that " + s.Key.Kind + " does not have: " + c.Lens.Misfit(s.Kind.Schema)
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

// otherVersion reports whether the kind may have different fields in the version.
func otherVersion(kind *model.Kind, version string) bool {
	return kind.Version != "" && version != "" && kind.Version != version && !slices.Contains(kind.CompatibleVersions, version)
}

// judgeAbsent returns the outcomes of claims on a resource that does not exist. The resource is
// missing unless an apply that creates it is pending, or it was declared only now. If several
// declarations claim it, the first one reports it.
func judgeAbsent(s *model.Subject, claims []*model.Claim) []model.Outcome {
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

// withPending returns the outcomes of a claim. If its whole resource waits for an apply, it
// adds that to the pending outcome of the fields, or as an outcome of its own.
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

// compareClaims compares every claim with the live resource. It reports a difference that several
// claims share only once, for the first of them. It returns the outcomes, and disputes extended by
// those between claims of different forms.
func compareClaims(s *model.Subject, claims []*model.Claim, disputes []dispute, o Options) ([]model.Outcome, []dispute) {
	differences := make([][]difference, len(claims))
	for i, c := range claims {
		switch {
		case !c.Value.IsNull():
			differences[i] = compareClaim(s, c, sameFormValues(claims, i), o)
		case c.Recorded != nil: // It is declared no longer: an apply would erase the edits since the last one.
			last := *c
			last.Value, last.RecordOnly = *c.Recorded, true
			differences[i] = compareClaim(s, &last, nil, o)
		}
	}
	deduplicate(claims, differences, disputes)
	disputes = mergeDisputes(disputes, reconcileForms(s, claims, differences, o))
	var outcomes []model.Outcome
	for i, c := range claims {
		outcomes = append(outcomes, withPending(s, c, byVerdict(c, asMoved(s, c, differences[i], o)))...)
	}
	return outcomes, disputes
}

// deduplicate removes fields that are disputed, and fields that another claim of the same form
// reports. A field is reported by the first claim, unless the history of a later one shows that it
// was bypassed or may have been.
func deduplicate(claims []*model.Claim, differences [][]difference, disputes []dispute) {
	type reporter struct {
		claim int
		difference
	}
	chosen := map[fieldRef]reporter{}
	for _, d := range disputes {
		chosen[d.field] = reporter{claim: -1}
	}
	for i, c := range claims {
		for _, d := range differences[i] {
			field := fieldRef{c.Lens, d.change.Path}
			earlier, reported := chosen[field]
			if !reported || d.isPending() && earlier.isPending() && rankDifference(d) < rankDifference(earlier.difference) {
				chosen[field] = reporter{i, d}
			}
		}
	}
	for i, c := range claims {
		differences[i] = slices.DeleteFunc(differences[i], func(d difference) bool { return chosen[fieldRef{c.Lens, d.change.Path}].claim != i })
	}
}

// A fieldRef is a field in the form of a claim.
type fieldRef struct {
	lens model.Lens
	path string
}

// sameFormValues returns the values of the other claims of the same form as claims[i].
func sameFormValues(claims []*model.Claim, i int) []model.Value {
	var values []model.Value
	for j, other := range claims {
		if j != i && other.Lens == claims[i].Lens {
			values = append(values, other.Value)
		}
	}
	return values
}

// compareClaim compares one claim with the live value, and with the value that is in
// effect until a restart, if there is one.
func compareClaim(s *model.Subject, c *model.Claim, others []model.Value, o Options) []difference {
	accepted := newWalk(s, c, s.Live.Value, o)
	accepted.others = others
	accepted.run()
	if len(s.Live.Running) == 0 {
		return accepted.differences
	}
	effective := newWalk(s, c, inEffect(s.Live), o)
	effective.others = others
	effective.run()
	return mergeRunning(accepted.differences, effective.differences)
}

// byVerdict returns an outcome for each verdict among the differences, worst first.
func byVerdict(c *model.Claim, all []difference) []model.Outcome {
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
