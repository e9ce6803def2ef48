// Package classify turns verdicts into findings: rated, kept under one ID from
// scan to scan, hidden where a rule says so, resolved when a scan proves it.
// It is pure: time and earlier findings come in as values.
package classify

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// Input is what one scan judged, and what is known from before.
type Input struct {
	Judged []model.Judged
	// Snapshots and Declarations are what the scan looked at.
	Snapshots    []model.Snapshot
	Declarations []model.Declaration
	// Sources are the names of all sources of the estate, those included that
	// could not be read. Whole reports that there is nothing beside them and
	// Declarations: findings of others are over.
	Sources []string
	Whole   bool
	// Earlier are the findings that were open before, and Records the records
	// of what was applied that were good last, by declaration.
	Earlier []model.Finding
	Records map[string][]model.StateRead
	// Recent are findings that were resolved lately: what comes again goes back
	// and forth.
	Recent []model.Finding
	Rules  []Rule
	// Severities set severities: the first that fits.
	Severities []SeverityRule
	// Owners say who answers for what: the first that fits.
	Owners []OwnerRule
	// Decisions are what people decided about findings.
	Decisions []model.Decision
	Now       time.Time
}

// A Result is every finding that a scan makes, keeps or ends; each list is
// sorted as Sort does.
type Result struct {
	// Current are what the scan found.
	Current []model.Finding
	// Remembered were found before and could not be looked at again: they stay
	// open as they were last seen.
	Remembered []model.Finding
	// Resolved were open before, and the scan proved that they are over.
	Resolved []model.Finding
	// Records are those that the next scan is to be given, by declaration.
	Records map[string][]model.StateRead
	// Rules tell what each of the rules hid, in their order, and Severities what
	// each of the severity rules rated.
	Rules, Severities []model.RuleRun
}

// Open returns the findings that are open after the scan.
func (r Result) Open() []model.Finding { return append(slices.Clone(r.Current), r.Remembered...) }

// All returns every finding of the result.
func (r Result) All() []model.Finding { return append(r.Open(), r.Resolved...) }

// Findings makes the findings of a scan.
func Findings(in Input) Result {
	proof := newProof(&in)
	records, rewritten := heldRecords(&in)
	rules, decisions := newIgnorer(in.Rules, in.Now), model.IndexDecisions(in.Decisions)
	standing, rater := newStanding(in.Earlier, proof), newRater(in.Severities)
	found, witnesses := current(&in, standing, rules, rewritten)
	result := Result{Current: found, Records: records}
	ids := identify(&in, proof, result.Current)
	open := ids.open(result.Current)
	for i := range result.Current {
		f := &result.Current[i]
		f.LastSeen = proof.lookedAt(f.Source)
		f.FirstSeen = f.LastSeen
		resume(f, ids.continues[i], ids.again[i], in.Now)
		rater.rate(f, &witnesses[i])
		f.Merged = ids.withoutSeparate(f.Merged, open)
		decisions.Settle(f, in.Now)
	}
	for _, f := range in.Earlier {
		switch {
		case open[f.ID]:
		case ids.merged[f.ID] != "", proof.over(&f):
			result.Resolved = append(result.Resolved, end(f, ids.merged[f.ID], in.Now))
		default:
			rules.again(&f)
			rater.again(&f)
			f.Merged = ids.withoutSeparate(f.Merged, open)
			decisions.Settle(&f, in.Now)
			result.Remembered = append(result.Remembered, f)
		}
	}
	for _, list := range [][]model.Finding{result.Current, result.Remembered, result.Resolved} {
		Sort(list)
	}
	result.Rules, result.Severities = rules.runs, rater.runs
	return result
}

// resume takes over what is known of a finding from the earlier ones that it
// continues, or else from the one that came back.
func resume(f *model.Finding, earlier []*model.Finding, again *model.Finding, now time.Time) {
	if again != nil {
		f.Recall(again, now)
	}
	if len(earlier) == 0 {
		flip(f, nil, again, now)
		return
	}
	f.Continue(earlier[0], now)
	f.Merge(earlier[1:]...)
	for _, before := range earlier {
		if before.Verdict == f.Verdict {
			keepReason(f, before)
			keepActor(f, before)
		}
	}
	flip(f, earlier[0], nil, now)
}

// end closes a finding that is over, or was merged into the one with the ID.
func end(f model.Finding, into string, now time.Time) model.Finding {
	f.Resolved, f.Decision, f.MergedInto = now, nil, into
	f.Flipped(now, "")
	f.Flapping = f.Flaps(now)
	return f
}

// keepReason keeps the reason why something could not be compared, where only
// its numbers differ (a port, how long it took): it is the same as before.
func keepReason(f, before *model.Finding) {
	if f.Verdict == model.Unchecked && withoutDigits(f.Reason) == withoutDigits(before.Reason) {
		f.Reason = before.Reason
	}
}

func withoutDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, text)
}

// flip notes that a finding came, or shows something else than before.
func flip(f, before, resolved *model.Finding, now time.Time) {
	switch {
	case before != nil:
		f.Flips, f.Flapping = before.Flips, before.Flapping
		if before.Basis != f.Basis {
			f.Flipped(now, f.Basis)
		}
	case resolved != nil:
		f.Flips, f.Flapping = resolved.Flips, resolved.Flapping
		f.Flipped(now, f.Basis)
	default:
		f.Flipped(now, f.Basis)
	}
	f.Flapping = f.Flaps(now)
}

// Sort orders findings as model.CompareWorst does.
func Sort(findings []model.Finding) {
	slices.SortFunc(findings, func(a, b model.Finding) int { return model.CompareWorst(&a, &b) })
}

// current returns the findings of this scan, without their IDs: ID holds what
// identify expects there. Each has its witness.
func current(in *Input, standing standing, rules *ignorer, rewritten []model.Finding) ([]model.Finding, []witness) {
	var findings []model.Finding
	var witnesses []witness
	for i := range in.Judged {
		j := &in.Judged[i]
		for k := range j.Outcomes {
			if o, said := standing.without(j.Subject.Key, &j.Outcomes[k]); said {
				findings = append(findings, newFinding(j.Subject, &o, rules))
				if len(in.Severities) > 0 {
					witnesses = append(witnesses, testify(j.Subject, o.Claim))
				}
			}
		}
	}
	for i := range in.Declarations {
		findings = append(findings, problems(&in.Declarations[i])...)
	}
	for i := range rewritten {
		rules.apply(&rewritten[i])
		rewritten[i].ID = ""
	}
	findings = append(findings, rewritten...)
	for i := range findings {
		f := &findings[i]
		f.Owner = owner(f, in.Owners)
		if f.Basis == "" {
			f.Basis = basis(f, nil)
		}
	}
	// What is no subject has no labels and no place.
	return findings, append(witnesses, make([]witness, len(findings)-len(witnesses))...)
}

func newFinding(s *model.Subject, o *model.Outcome, rules *ignorer) model.Finding {
	f := model.Finding{Verdict: o.Verdict, Key: s.Key, Place: s.Place, Name: s.Name, Changes: slices.Clone(o.Changes),
		Actor: o.Actor, Reason: o.Reason, Labels: labels(s, o.Claim), Declaration: o.Declaration, Unproven: o.Unproven}
	if o.Claim != nil {
		f.Declaration, f.Address = o.Claim.Declaration, o.Claim.Address
		f.ID = besides(s, o.Claim)
	}
	rules.apply(&f)
	f.Basis = basis(&f, o.Claim)
	var why string
	if f.Severity, why = rate(s, o.Claim, ratedAs(f.Verdict, f.Unproven), f.Changes); why != "" && f.Reason != "" {
		why += "; "
	}
	f.Reason = why + f.Reason
	rateMadeAgain(&f, o.Claim)
	if s.Stale != "" {
		f.Reason = strings.TrimPrefix(f.Reason+"; possibly stale: "+s.Stale, "; ")
	}
	f.WorseBasis = worseBasis(s, f, o.Claim)
	markReplaced(&f, s, o.Claim)
	expose(s, &f)
	return f
}

// besides tells apart the claims of one declaration on one thing: "" for the first
// of them, for another one its address. It does not depend on which of them drifted.
func besides(s *model.Subject, claim *model.Claim) string {
	for _, c := range s.Claims {
		if c.Declaration == claim.Declaration {
			if c.Address == claim.Address {
				return ""
			}
			return claim.Address
		}
	}
	return ""
}

// problems are the parts of a declaration that could not be read, as findings:
// what they declare is not known.
func problems(d *model.Declaration) []model.Finding {
	var findings []model.Finding
	for _, p := range d.Problems {
		f := model.Finding{Verdict: model.Unchecked, Severity: model.Medium, Name: p.Address,
			Declaration: d.Name, Address: p.Address, Reason: p.Reason, Actor: model.UnknownActor("not checked"),
			Key: model.Key{Source: cmp.Or(p.Source, firstOf(d.Governs)), Kind: PartKind, ID: model.PartID(d.Name, p.Address)}}
		findings = append(findings, f)
	}
	return findings
}

func firstOf(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// PartKind is the kind of a finding about a part of a declaration that could
// not be read.
const PartKind = model.PartKind
