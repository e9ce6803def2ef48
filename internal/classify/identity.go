package classify

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A finding gets its ID once and keeps it when its verdict changes. identify
// decides which earlier finding each finding of this scan continues;
// docs/decisions/0030 lists the cases.

// identities are the results of identify, by index of the scan's findings and
// by ID of the earlier ones.
type identities struct {
	// continues holds the earlier open findings that the finding at that index
	// continues. The first one is the oldest and gives the ID; the others were
	// merged into it.
	continues [][]*model.Finding
	// again holds the recently ended finding that came back as the finding at that
	// index.
	again []*model.Finding
	// merged maps the ID of an earlier finding that was merged to the ID of the
	// finding that it was merged into.
	merged map[string]string
	// separate holds the IDs of the earlier findings that were not merged.
	separate map[string]bool
}

// identify sets the ID of each finding of the scan. The result does not depend on the order of the
// findings, as long as no two are equal.
func identify(in *Input, p *proof, found current) identities {
	current := found.findings
	m := &continuation{proof: p, current: current, claims: found.claims, kept: map[string]bool{},
		preferred: make([]string, len(current)), identities: identities{merged: map[string]string{},
			continues: make([][]*model.Finding, len(current)), again: make([]*model.Finding, len(current))}}
	taken := map[string]bool{}
	earlier, recent := byKey(in.Earlier, taken), byKey(in.Recent, taken)
	order := found.canonical()
	m.prefer(order)
	for _, group := range byResource(current, order) {
		key := current[group[0]].Key
		m.match(earlier[key], group)
		m.matchReturned(recent[key], group)
	}
	m.replacements(in.Earlier, order)
	for _, i := range order {
		m.assignID(i, taken)
	}
	m.separate = make(map[string]bool, len(in.Earlier))
	for i := range in.Earlier {
		m.separate[in.Earlier[i].ID] = m.merged[in.Earlier[i].ID] == ""
	}
	return m.identities
}

// open returns the IDs of the findings of the scan.
func (ids *identities) open(current []model.Finding) map[string]bool {
	open := make(map[string]bool, len(current))
	for i := range current {
		open[current[i].ID] = true
	}
	return open
}

// withoutSeparate returns merged without the IDs of findings that are open or
// separate again.
func (ids *identities) withoutSeparate(merged []string, open map[string]bool) []string {
	var left []string
	for _, id := range merged {
		if !open[id] && !ids.separate[id] {
			left = append(left, id)
		}
	}
	return left
}

// byKey groups findings by resource, the oldest first, and adds their IDs to
// ids.
func byKey(findings []model.Finding, ids map[string]bool) map[model.Key][]*model.Finding {
	found := make(map[model.Key][]*model.Finding, len(findings))
	for i := range findings {
		f := &findings[i]
		found[f.Key] = append(found[f.Key], f)
		ids[f.ID] = true
	}
	for _, list := range found {
		slices.SortFunc(list, older)
	}
	return found
}

// older orders findings by age. It never returns 0 for two of them.
func older(a, b *model.Finding) int {
	return cmp.Or(a.FirstSeen.Compare(b.FirstSeen), cmp.Compare(a.ID, b.ID))
}

// canonical returns the indexes of the findings in an order that depends only on
// their content.
func (c *current) canonical() []int {
	order := make([]int, len(c.findings))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &c.findings[i], &c.findings[j]
		return cmp.Or(a.Key.Compare(b.Key), cmp.Compare(a.Declaration, b.Declaration), cmp.Compare(c.claims[i], c.claims[j]),
			cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(a.Check, b.Check), cmp.Compare(a.Address, b.Address), cmp.Compare(a.Basis, b.Basis),
			cmp.Compare(a.Reason, b.Reason))
	})
	return order
}

// byResource splits indexes in canonical order by resource.
func byResource(findings []model.Finding, order []int) [][]int {
	var groups [][]int
	for _, i := range order {
		if n := len(groups); n > 0 && findings[groups[n-1][0]].Key == findings[i].Key {
			groups[n-1] = append(groups[n-1], i)
		} else {
			groups = append(groups, []int{i})
		}
	}
	return groups
}

// fingerprint returns the ID that a new finding gets: a digest of resource,
// declaration, verdict, claim and check, and of a number if several findings share
// these.
func fingerprint(f *model.Finding, claim string, number int) string {
	text := strings.Join([]string{f.Source, f.Kind, f.Key.ID, f.Declaration, string(f.Verdict)}, "\x00")
	if claim != "" {
		text += "\x00" + claim
	}
	if f.Check != "" {
		text += "\x00check " + f.Check
	}
	if number > 1 {
		text += fmt.Sprintf("\x00%d", number)
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// A continuation finds the earlier finding that each current one continues.
type continuation struct {
	identities
	proof   *proof
	current []model.Finding
	// kept are the IDs of the earlier findings that were paired or merged.
	kept map[string]bool
	// claims distinguishes the claims of one declaration. preferred holds the IDs
	// that the findings get if they continue none. Both are by index.
	claims, preferred []string
}

// prefer records the ID that each finding would get as a new one.
func (m *continuation) prefer(order []int) {
	seen := map[string]int{}
	for _, i := range order {
		f := &m.current[i]
		first := fingerprint(f, m.claims[i], 1)
		seen[first]++
		m.preferred[i] = fingerprint(f, m.claims[i], seen[first])
	}
}

// The ranks of a pair of an earlier and a current finding, the best first.
const (
	sameVerdict = iota // same claim and verdict, about the same fields
	sameFields         // another verdict or declaration, about the same fields
	sameClaim          // same claim and verdict, about other fields
	lastResort         // same claim, and there is no other candidate
	noMatch
)

// A pair is an earlier finding that the current one at an index may continue.
type pair struct {
	earlier *model.Finding
	index   int
	rank    int
	// own reports whether both are about the same claim, and same whether they also
	// have the same verdict.
	own, same bool
	// fields counts the fields in common.
	fields int
}

// pairs returns the pairs of earlier and current findings to which rate gives a rank.
func (m *continuation) pairs(earlier []*model.Finding, group []int, rate func(p *pair, f *model.Finding)) []pair {
	var pairs []pair
	for _, e := range earlier {
		for _, i := range group {
			f := &m.current[i]
			if e.Check != f.Check {
				continue
			}
			p := pair{earlier: e, index: i, rank: noMatch, own: m.own(e, i), fields: overlap(e, f)}
			p.same = p.own && e.Verdict == f.Verdict
			if rate(&p, f); p.rank < noMatch {
				pairs = append(pairs, p)
			}
		}
	}
	return pairs
}

// match pairs the earlier open findings on a resource with the current ones, the best pairs first.
// An earlier finding without a pair is merged into the current finding that contains its fields.
func (m *continuation) match(earlier []*model.Finding, group []int) {
	pairs := m.pairs(earlier, group, m.rankContinued)
	m.assign(pairs)
	var left []*model.Finding
	for _, e := range earlier {
		switch into := m.mergeTarget(pairs, e); {
		case m.kept[e.ID] || !e.Verdict.IsDrift() || !m.proof.isResolved(e):
		case into >= 0:
			m.continues[into] = append(m.continues[into], e)
			m.kept[e.ID] = true
		default:
			left = append(left, e)
		}
	}
	m.matchRest(left, group)
}

// assign accepts pairs in order, the best first. It accepts each finding only once.
func (m *continuation) assign(pairs []pair) {
	pairs = slices.Clone(pairs)
	slices.SortStableFunc(pairs, func(a, b pair) int {
		f, g := &m.current[a.index], &m.current[b.index]
		return cmp.Or(cmp.Compare(a.rank, b.rank), model.CompareBool(b.own, a.own), cmp.Compare(b.fields, a.fields),
			model.CompareBool(b.earlier.ID == m.preferred[b.index], a.earlier.ID == m.preferred[a.index]),
			cmp.Compare(f.Severity.Rank(), g.Severity.Rank()), cmp.Compare(f.Verdict, g.Verdict))
	})
	for _, p := range pairs {
		if !m.kept[p.earlier.ID] && len(m.continues[p.index]) == 0 {
			m.continues[p.index] = []*model.Finding{p.earlier}
			m.kept[p.earlier.ID] = true
		}
	}
}

// rankContinued sets the rank of a pair of an earlier open finding and a current one.
func (m *continuation) rankContinued(p *pair, f *model.Finding) {
	if p.fields == 0 && m.aboutWhole(p, f) {
		p.fields = 1
	}
	drift := f.Verdict.IsDrift() && p.earlier.Verdict.IsDrift()
	switch {
	case p.same && (p.fields > 0 || !f.Verdict.IsDrift()):
		p.rank = sameVerdict
	case !drift || !m.decided(p):
	case p.fields > 0:
		p.rank = sameFields
	case p.same:
		p.rank = sameClaim
	}
}

// aboutWhole reports whether both findings are on one thing, and at least one is about
// the whole resource.
func (m *continuation) aboutWhole(p *pair, f *model.Finding) bool {
	e := p.earlier
	return (len(e.Changes) == 0 || len(f.Changes) == 0) && (p.own || isParty(e, f) || m.onWholeResource(e, f))
}

// decided reports whether the scan decided on what the earlier finding is about.
func (m *continuation) decided(p *pair) bool {
	e := p.earlier
	return m.proof.isResolved(e) || (p.own || m.proof.compared(e)) && !m.proof.isCarriedOver(e)
}

// own reports whether an earlier finding is about the same claim as the current finding at an
// index.
func (m *continuation) own(e *model.Finding, i int) bool {
	f := &m.current[i]
	if e.Declaration != f.Declaration || e.Check != f.Check {
		return false
	}
	judged := m.proof.judgedOn(f.Key)
	if judged == nil {
		return true
	}
	var claims []*model.Claim
	for _, c := range judged.Subject.Claims {
		if c.Declaration == e.Declaration {
			claims = append(claims, c)
		}
	}
	known := slices.ContainsFunc(claims, func(c *model.Claim) bool { return c.Address == e.Address })
	if len(claims) < 2 || !known {
		return true // one claim, or lines of the file have moved
	}
	return m.claims[i] == claimDiscriminator(judged.Subject, &model.Claim{Declaration: e.Declaration, Address: e.Address})
}

// onWholeResource reports whether one of two findings is about the resource as a whole
// for every claim: it is missing, or no declaration claims it.
func (m *continuation) onWholeResource(e, f *model.Finding) bool {
	return e.Verdict == model.Missing || f.Verdict == model.Missing || unclaimed(e) ||
		unclaimed(f) && len(m.proof.judgedOn(f.Key).Subject.Claims) == 0
}

// unclaimed reports whether a finding is on a resource that no declaration
// claims. It is also true if some declarations claim the resource and one of
// several others should.
func unclaimed(f *model.Finding) bool { return f.Verdict == model.Unmanaged && f.Declaration == "" }

// isParty reports whether one of two findings is a dispute of the other one's declaration.
func isParty(a, b *model.Finding) bool {
	return disputes(a, b.Declaration) || disputes(b, a.Declaration)
}

func disputes(f *model.Finding, declaration string) bool {
	return slices.ContainsFunc(f.Changes, func(c model.Change) bool {
		return slices.ContainsFunc(c.Claims, func(v model.ClaimedValue) bool { return v.Declaration == declaration })
	})
}

// mergeTarget returns the index of the current finding that has the fields of an
// earlier finding without a pair; -1 if there is none.
func (m *continuation) mergeTarget(pairs []pair, e *model.Finding) int {
	targets := slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool {
		return p.earlier != e || p.rank > sameFields || unclaimed(e) || len(m.continues[p.index]) == 0
	})
	if len(targets) == 0 {
		return -1
	}
	return slices.MinFunc(targets, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.fields, a.fields))
	}).index
}

// matchRest pairs the findings of a claim that are left over, if they are exactly
// one earlier and one current finding: it was reclassified, with other fields.
func (m *continuation) matchRest(left []*model.Finding, group []int) {
	var pairs []pair
	earlier, current := map[*model.Finding]int{}, map[int]int{}
	for _, e := range left {
		for _, i := range group {
			if len(m.continues[i]) == 0 && m.current[i].Verdict.IsDrift() && m.own(e, i) {
				pairs = append(pairs, pair{earlier: e, index: i, rank: lastResort})
				earlier[e]++
				current[i]++
			}
		}
	}
	m.assign(slices.DeleteFunc(pairs, func(p pair) bool { return earlier[p.earlier] > 1 || current[p.index] > 1 }))
}

// matchReturned pairs recently resolved findings with new findings on a resource: those
// with the same claim and verdict, or those with a field in common whose ID is the one
// that the new finding would get.
func (m *continuation) matchReturned(recent []*model.Finding, group []int) {
	m.assign(m.pairs(recent, group, m.rankReturned))
	for _, i := range group {
		if e := m.continues[i]; len(e) == 1 && !e[0].Resolved.IsZero() {
			m.again[i], m.continues[i] = e[0], nil
		}
	}
}

// rankReturned sets the rank of a new finding and one that was resolved recently.
func (m *continuation) rankReturned(p *pair, f *model.Finding) {
	e, i := p.earlier, p.index
	switch whole := len(e.Changes) == 0 && len(f.Changes) == 0; {
	case p.same && (p.fields > 0 || whole):
		p.rank = sameVerdict
	case p.fields > 0 && e.ID == m.preferred[i]:
		p.rank = sameFields
	case p.same:
		p.rank = sameClaim
	}
}

// replacements pairs missing findings with moved findings of the same claim, whose resource was
// created again under another ID.
func (m *continuation) replacements(earlier []model.Finding, order []int) {
	type claim struct{ source, kind, declaration, address string }
	of := func(f *model.Finding) claim { return claim{f.Source, f.Kind, f.Declaration, f.Address} }
	missing := map[claim][]*model.Finding{}
	for i := range earlier {
		if e := &earlier[i]; e.Verdict == model.Missing && e.Address != "" && !m.kept[e.ID] && m.proof.isResolved(e) {
			missing[of(e)] = append(missing[of(e)], e)
		}
	}
	if len(missing) == 0 {
		return
	}
	var pairs []pair
	for _, i := range order {
		f := &m.current[i]
		if e := missing[of(f)]; f.Verdict == model.Moved && len(e) == 1 && m.again[i] == nil {
			pairs = append(pairs, pair{earlier: e[0], index: i, rank: lastResort})
		}
	}
	m.assign(pairs)
}

// assignID sets the ID of the finding at an index and records the findings that were merged into
// it.
func (m *continuation) assignID(i int, taken map[string]bool) {
	f := &m.current[i]
	switch all := m.continues[i]; {
	case len(all) > 0:
		slices.SortFunc(all, older)
		f.ID = all[0].ID
		for _, e := range all[1:] {
			m.merged[e.ID] = f.ID
		}
	case m.again[i] != nil:
		f.ID = m.again[i].ID
	default:
		f.ID = fingerprint(f, m.claims[i], 1)
		for n := 2; taken[f.ID]; n++ {
			f.ID = fingerprint(f, m.claims[i], n)
		}
	}
	taken[f.ID] = true
}
