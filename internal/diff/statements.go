package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A statement is the value that one claim declares for one live field.
type statement struct {
	claim *model.Claim
	// path is the path in the claim, livePath the path of the live field.
	path, livePath string
	// claimPath is path as segments. viewPath and schema are of the field in the view of
	// the claim's lens.
	claimPath path
	viewPath  path
	schema    *model.Schema
	// declared is the declared value, live the live one, both in the form of the claim.
	// agrees reports whether they are equal.
	declared, live model.Value
	agrees         bool
	// implied is the live value that follows from declared; known reports whether one
	// does.
	implied model.Value
	known   bool
	// pending reports whether the field waits for an apply of the claim's declaration.
	pending bool
}

// recordStatement records the value that the claim declares at the walk's path. A claim declares no value for what it leaves to
// something else.
func (w *walk) recordStatement(schema *model.Schema, d, l model.Value) {
	if w.statements == nil || d.IsNull() {
		return
	}
	if by := w.decider(schema, d, l); by != nil && !by.Among {
		return
	}
	if lens := w.claim.Lens; lens != nil && lens.IsShared(w.path.String()) {
		return
	}
	live := w.livePath()
	if live == "" {
		return
	}
	s := statement{claim: w.claim, path: w.path.String(), livePath: live, claimPath: slices.Clone(w.path), viewPath: slices.Clone(w.path.live()), schema: schema,
		declared: d, live: l, agrees: Equal(schema, d, l)}
	if w.claim.Lens == nil {
		s.implied, s.known = d, true
	} else {
		s.implied, s.known = w.claim.Lens.LiveValue(w.live.Value, s.path, d)
	}
	*w.statements = append(*w.statements, s)
}

// differInForm reports whether the claims have different lenses.
func differInForm(claims []*model.Claim) bool {
	return slices.ContainsFunc(claims, func(c *model.Claim) bool { return c.Lens != claims[0].Lens })
}

// collectStatements returns, by the path of the live field, the statements on each field that
// claims of different forms declare, in the order of the claims.
func collectStatements(s *model.Subject, claims []*model.Claim, differences [][]difference, o Options) map[string][]statement {
	byField := map[string][]statement{}
	for i, c := range claims {
		if c.Value.IsNull() {
			continue
		}
		var statements []statement
		w := newWalk(s, c, s.Live.Value, o)
		w.others, w.statements = sameFormValues(claims, i), &statements
		w.run()
		for _, st := range statements {
			st.pending = slices.ContainsFunc(differences[i], func(d difference) bool {
				return d.change.Path == st.path && (d.isPending() || d.verdict == model.Codified)
			})
			byField[st.livePath] = append(byField[st.livePath], st)
		}
	}
	for field, statements := range byField {
		if !differInForm(claimsOf(statements)) {
			delete(byField, field)
		}
	}
	return byField
}

func claimsOf(statements []statement) []*model.Claim {
	claims := make([]*model.Claim, len(statements))
	for i, s := range statements {
		claims[i] = s.claim
	}
	return claims
}

// contradict reports whether two of the statements exclude each other and no apply is
// pending that may change this.
func contradict(live model.Value, statements []statement) bool {
	if slices.ContainsFunc(statements, func(s statement) bool { return s.pending }) {
		return false
	}
	for i, a := range statements {
		for _, b := range statements[i+1:] {
			if ok, known := compatible(live, a, b); known && !ok && a.claim != b.claim {
				return true
			}
		}
	}
	return false
}

// compatible reports whether one live value can agree with both statements: whether one
// of them agrees with the live value, or would agree with the value that the other one
// implies. known is false if neither implies a value.
func compatible(live model.Value, a, b statement) (ok, known bool) {
	for _, pair := range [][2]statement{{a, b}, {b, a}} {
		one, other := pair[0], pair[1]
		switch {
		case one.agrees:
			ok, known = ok || other.agrees, true
		case one.known:
			holds, decided := other.holdsWith(live, one.implied)
			ok, known = ok || holds, known || decided
		}
	}
	return ok, known
}

// holdsWith reports whether the statement would agree if its live field had the value v.
// decided is false if the view of the claim does not follow from that field: the
// attributes of a server do not follow from the ID of its flavor.
func (s *statement) holdsWith(live, v model.Value) (holds, decided bool) {
	if s.known && equalInSomeFormat(s.implied, v) {
		return true, true
	}
	changed, ok := withValueAt(live, s.livePath, v)
	if !ok || s.claim.Lens == nil {
		return false, true
	}
	seen, _ := lookUp(s.claim.Lens.View(changed), s.viewPath)
	holds = Equal(s.schema, s.declared, seen)
	return holds, holds || s.known || !Equal(s.schema, s.live, seen)
}

// withValueAt returns a copy of tree in which v replaces the field at a path. If the path contains
// a list, ok is false.
func withValueAt(tree model.Value, path string, v model.Value) (changed model.Value, ok bool) {
	name, rest, nested := strings.Cut(path, ".")
	if strings.ContainsAny(path, `["`) || tree.Kind() != model.Map && !tree.IsNull() {
		return tree, false
	}
	if nested {
		if v, ok = withValueAt(tree.At(name), rest, v); !ok {
			return tree, false
		}
	}
	if v.IsNull() {
		return tree.Without(name), true
	}
	return tree.With(name, v), true
}

// equalInSomeFormat compares live values that claims of different forms imply: a number
// may be a text, and names and addresses have several spellings.
func equalInSomeFormat(a, b model.Value) bool {
	for _, format := range []model.Format{model.Plain, model.IntOrString, model.CaseFold, model.Address} {
		if Equal(&model.Schema{Format: format, List: model.Bag, Each: &model.Schema{Format: format}}, a, b) {
			return true
		}
	}
	return false
}

// repeats reports whether both statements, of different declarations, differ from the
// live value in the same way.
func repeats(live model.Value, a, b statement) bool {
	if a.agrees || b.agrees || a.claim.Declaration == b.claim.Declaration {
		return false
	}
	ok, _ := compatible(live, a, b)
	return ok
}

// reconcileForms compares the values that claims of different forms declare for the same live
// field. It returns a dispute for each field on which they contradict each other. It removes from
// differences those that a dispute or an earlier claim reports.
func reconcileForms(s *model.Subject, claims []*model.Claim, differences [][]difference, o Options) []dispute {
	if len(claims) < 2 || !differInForm(claims) || !slices.ContainsFunc(differences, func(d []difference) bool { return len(d) > 0 }) {
		return nil
	}
	var disputes []dispute
	for _, statements := range sortedStatements(collectStatements(s, claims, differences, o)) {
		if contradict(s.Live.Value, statements) {
			d := newDispute(s, statements)
			if first := differenceAt(claims, differences, statements[0]); first != nil {
				d.change.Running = first.change.Running
			}
			disputes = append(disputes, d)
			dropDifferences(claims, differences, statements)
			continue
		}
		for i, st := range statements {
			same := func(earlier statement) bool {
				return repeats(s.Live.Value, earlier, st) || waitsForRestart(claims, differences, earlier) && waitsForRestart(claims, differences, st)
			}
			if first := slices.IndexFunc(statements[:i], same); first >= 0 {
				if isMoved(claims, differences, st) {
					markMoved(claims, differences, statements[first])
				}
				dropDifferences(claims, differences, statements[i:i+1])
			}
		}
	}
	return disputes
}

// differenceAt returns the difference that the statement's claim has there, or nil.
func differenceAt(claims []*model.Claim, differences [][]difference, s statement) *difference {
	all := differences[slices.Index(claims, s.claim)]
	at := slices.IndexFunc(all, func(d difference) bool { return d.change.Path == s.path })
	if at < 0 {
		return nil
	}
	return &all[at]
}

// waitsForRestart reports whether the declared value is accepted and is in effect after a
// restart only.
func waitsForRestart(claims []*model.Claim, differences [][]difference, s statement) bool {
	d := differenceAt(claims, differences, s)
	return s.agrees && d != nil && d.verdict == model.PendingRestart
}

func sortedStatements(byField map[string][]statement) [][]statement {
	all := make([][]statement, 0, len(byField))
	for _, statements := range byField {
		all = append(all, statements)
	}
	slices.SortFunc(all, func(a, b []statement) int { return cmp.Compare(a[0].livePath, b[0].livePath) })
	return all
}

// isMoved reports whether the statement's claim has the verdict Moved there.
func isMoved(claims []*model.Claim, differences [][]difference, s statement) bool {
	d := differenceAt(claims, differences, s)
	return d != nil && d.verdict == model.Moved
}

// markMoved replaces the verdict Changed of the statement's claim by Moved.
func markMoved(claims []*model.Claim, differences [][]difference, s statement) {
	if d := differenceAt(claims, differences, s); d != nil && d.verdict == model.Changed {
		d.verdict = model.Moved
	}
}

// dropDifferences removes the differences at the statements.
func dropDifferences(claims []*model.Claim, differences [][]difference, statements []statement) {
	for i, c := range claims {
		differences[i] = slices.DeleteFunc(differences[i], func(d difference) bool {
			return slices.ContainsFunc(statements, func(s statement) bool { return s.claim == c && s.path == d.change.Path })
		})
	}
}

// newDispute returns a dispute with the live value and the value of each claim, in the form of the
// first claim.
func newDispute(s *model.Subject, statements []statement) dispute {
	first := statements[0]
	change := model.Change{Path: first.path, LivePath: first.livePath, Declared: side(first.declared), Live: side(first.live)}
	actor := loggedActorAt(s, first.livePath)
	liveActor := actor
	change.LiveActor = &liveActor
	for _, st := range withoutPartialAgreement(statements) {
		who := declaredBy(st.claim, st.schema, st.claimPath, st.declared)
		claimed := model.ClaimedValue{Declaration: st.claim.Declaration, Address: st.claim.Address, Position: st.claim.Position, Value: st.declared, Actor: &who}
		if st.path != first.path {
			claimed.Path = st.path
		}
		change.Claims = append(change.Claims, claimed)
		change.Secret = change.Secret || st.declared.HasSecret() || st.live.HasSecret()
		actor = latest(actor, who)
	}
	if c := contradicted(statements); actor.Confidence == model.Unknown && len(c) == 1 && c[0].WriterUnknown != "" {
		// The only claim that differs was changed last; its log does not record by whom.
		actor = model.UnknownActor(c[0].WriterUnknown)
	}
	change.Actor = &actor
	d := dispute{field: fieldRef{first.claim.Lens, first.path}, change: change, reason: minority(s, statements)}
	for _, st := range statements {
		d.statements = append(d.statements, fieldRef{st.claim.Lens, st.path})
	}
	return d
}

// withoutPartialAgreement returns the statements without the agreeing ones of claims that
// have differing ones, too.
func withoutPartialAgreement(statements []statement) []statement {
	differing := contradicted(statements)
	return slices.DeleteFunc(slices.Clone(statements), func(s statement) bool { return s.agrees && slices.Contains(differing, s.claim) })
}

// mergeDisputes returns the disputes between claims of different forms, and those between
// claims of the same form that no other one includes.
func mergeDisputes(sameForm, crossForm []dispute) []dispute {
	sameForm = slices.DeleteFunc(sameForm, func(d dispute) bool {
		return slices.ContainsFunc(crossForm, func(c dispute) bool { return slices.Contains(c.statements, d.field) })
	})
	return append(sameForm, crossForm...)
}

// contradicted returns the claims that differ from the live value.
func contradicted(statements []statement) []*model.Claim {
	var claims []*model.Claim
	for _, s := range statements {
		if !s.agrees && !slices.Contains(claims, s.claim) {
			claims = append(claims, s.claim)
		}
	}
	return claims
}

// minority returns the reason of a dispute: the side that differs from all others, or that all of
// them differ.
func minority(s *model.Subject, statements []statement) string {
	var with, others []string
	for _, st := range statements {
		if st.agrees {
			with = append(with, st.claim.Declaration)
		} else if !slices.Contains(others, st.claim.Declaration) {
			others = append(others, st.claim.Declaration)
		}
	}
	slices.Sort(with)
	with = slices.DeleteFunc(slices.Compact(with), func(d string) bool { return slices.Contains(others, d) })
	switch {
	case len(others) == 1 && len(with) == 0:
		return others[0] + " differs from " + s.Source
	case len(others) == 1:
		return others[0] + " differs, " + strings.Join(append(with, s.Source), " and ") + " agree"
	case len(with) == 0 && len(others) == 2:
		return strings.Join(others, ", ") + " and " + s.Source + " all differ"
	}
	return ""
}
