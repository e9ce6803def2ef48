// Package classify converts outcomes to findings. It rates them, keeps their IDs from scan to scan,
// applies ignore rules, and resolves the findings that a scan proves to be over. Its functions are
// pure: the time and the earlier findings are arguments.
package classify

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// An Input contains the results of one scan and the findings of earlier ones.
type Input struct {
	Judged []model.Judged
	// Snapshots and Declarations are those that the scan compared.
	Snapshots    []model.Snapshot
	Declarations []model.Declaration
	// Sources lists the names of all sources of the estate, including those that could not be read.
	// Whole reports whether there are no other sources and declarations than these, so that
	// findings of others are resolved.
	Sources []string
	Whole   bool
	// Earlier lists the findings that were open before the scan. Records maps the names of
	// declarations to their last accepted records of applied state.
	Earlier []model.Finding
	Records map[string][]model.StateRead
	// Recent lists the findings that were resolved recently. One that returns may be flapping.
	Recent []model.Finding
	Rules  []Rule
	// Severities lists rules for severities. The first one that matches applies.
	Severities []SeverityRule
	// Owners lists rules for owners. The first one that matches applies.
	Owners []OwnerRule
	// Decisions lists the decisions about findings.
	Decisions []model.Decision
	Now       time.Time
}

// A Result contains the findings of a scan. Each list is sorted by Sort.
type Result struct {
	// Current lists the findings of this scan.
	Current []model.Finding
	// Remembered lists earlier findings that could not be compared again. They remain open and
	// unchanged.
	Remembered []model.Finding
	// Resolved lists earlier findings that the scan proved to be over.
	Resolved []model.Finding
	// Records is the Input.Records of the next scan.
	Records map[string][]model.StateRead
	// Rules and Severities contain the number of findings that each ignore rule hid and that each
	// severity rule rated, in the order of the rules.
	Rules, Severities []model.RuleRun
}

// Open returns the findings that are open after the scan: Current followed by Remembered.
func (r Result) Open() []model.Finding { return append(slices.Clone(r.Current), r.Remembered...) }

// All returns every finding of the result: Current, Remembered and Resolved.
func (r Result) All() []model.Finding { return append(r.Open(), r.Resolved...) }

// Findings returns the findings of a scan. It converts each outcome to a finding, and applies the
// ignore rules and the severities of its kind. If a finding continues one of an earlier scan, it
// keeps the ID and the history of that finding; otherwise it gets a new ID. Findings then applies
// the configured severities and the decisions, and determines which of the other earlier findings
// are resolved.
//
// The severity of a finding is set in this order: by the rules of its kind; at least medium if its
// resource was recreated; at least high if the next apply replaces its resource; and last by the
// configured rules. See docs/decisions/0033 and 0034.
func Findings(in Input) Result {
	proof := newProof(&in)
	records, rewritten := checkRecords(&in)
	rules, decisions := newIgnorer(in.Rules, in.Now), model.IndexDecisions(in.Decisions)
	carried, rater := newCarriedOver(in.Earlier, proof), newRater(in.Severities, in.Now)
	found := findCurrent(&in, proof, carried, rules, records, rewritten)
	result := Result{Current: found.findings, Records: records}
	ids := identify(&in, proof, found)
	open := ids.open(result.Current)
	for i := range result.Current {
		f := &result.Current[i]
		f.LastSeen = proof.readAt(f.Key)
		f.FirstSeen = f.LastSeen
		resume(f, ids.continues[i], ids.again[i], in.Now)
		rater.rate(f, &found.evidence[i])
		f.Merged = ids.withoutSeparate(f.Merged, open)
		decisions.Settle(f, in.Now)
	}
	unmanaged := found.unmanaged()
	for _, f := range in.Earlier {
		switch {
		case open[f.ID]:
		case ids.merged[f.ID] != "", proof.isResolved(&f):
			into := cmp.Or(ids.merged[f.ID], found.foldedInto(&f, unmanaged))
			result.Resolved = append(result.Resolved, end(f, into, in.Now))
		default:
			rules.reapply(&f)
			rater.reapply(&f)
			f.Merged = ids.withoutSeparate(f.Merged, open)
			decisions.Settle(&f, in.Now)
			result.Remembered = append(result.Remembered, f)
		}
	}
	for _, list := range [][]model.Finding{result.Current, result.Remembered, result.Resolved} {
		model.SortWorst(list)
	}
	result.Rules, result.Severities = rules.runs, rater.runs
	return result
}

// resume copies the history of the earlier findings that f continues, or else of the resolved
// finding that returned as f.
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

// end resolves a finding, or merges it into the one with the ID.
func end(f model.Finding, into string, now time.Time) model.Finding {
	f.Resolved, f.Decision, f.MergedInto = now, nil, into
	f.Flipped(now, "")
	f.Flapping = f.Flaps(now)
	return f
}

// keepReason keeps the earlier reason of an unchecked finding if only numbers in it differ,
// such as a port or a duration.
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

// flip records that a finding appeared or changed.
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

// The current findings are those of this scan, without IDs.
type current struct {
	findings []model.Finding
	// evidence is the evidence for each finding, claims the text of claimDiscriminator, and
	// installers Outcome.InstalledBy. All are by index.
	evidence   []findingEvidence
	claims     []string
	installers []model.Ref
	// folded are the findings that became part of the finding about the installation with that
	// key.
	folded map[model.Key]model.Key
}

// add adds the finding of an outcome.
func (c *current) add(s *model.Subject, o *model.Outcome, in *Input, rules *ignorer) {
	c.findings = append(c.findings, newFinding(s, o, rules))
	c.claims = append(c.claims, claimDiscriminator(s, o.Claim))
	c.installers = append(c.installers, o.InstalledBy)
	var evidence findingEvidence
	if len(in.Severities) > 0 {
		evidence = newFindingEvidence(s, o.Claim)
	}
	c.evidence = append(c.evidence, evidence)
}

// findCurrent returns the findings of this scan. rewritten contains those about records.
func findCurrent(in *Input, p *proof, carried carriedOver, rules *ignorer, records map[string][]model.StateRead, rewritten []model.Finding) current {
	var c current
	for i := range in.Judged {
		j := &in.Judged[i]
		for k := range j.Outcomes {
			if o, ok := carried.without(j.Subject.Key, &j.Outcomes[k]); ok {
				c.add(j.Subject, &o, in, rules)
			}
		}
	}
	c.foldInstalled(in, p, rules)
	for i := range in.Declarations {
		c.findings = append(c.findings, problems(&in.Declarations[i])...)
		c.findings = append(c.findings, violations(&in.Declarations[i], rules)...)
	}
	rewritten = append(rewritten, neverEmpty(in, records, c.findings)...)
	for i := range rewritten {
		rules.apply(&rewritten[i])
		rewritten[i].ID = ""
	}
	c.findings = append(c.findings, rewritten...)
	for i := range c.findings {
		f := &c.findings[i]
		f.Owner = owner(f, in.Owners)
		if f.Basis == "" {
			f.Basis = basis(f, nil)
		}
	}
	// A finding without a subject has no evidence and no claim.
	c.evidence = append(c.evidence, make([]findingEvidence, len(c.findings)-len(c.evidence))...)
	c.claims = append(c.claims, make([]string, len(c.findings)-len(c.claims))...)
	return c
}

func newFinding(s *model.Subject, o *model.Outcome, rules *ignorer) model.Finding {
	f := model.Finding{Verdict: o.Verdict, Check: o.Check, Key: s.Key, Place: s.Place, Name: s.Name, Changes: slices.Clone(o.Changes),
		Actor: o.Actor, Reason: o.Reason, Labels: labels(s, o.Claim), Declaration: o.Declaration, Unproven: o.Unproven}
	if o.Claim != nil {
		f.Declaration, f.Address, f.Position, f.AlsoIn = o.Claim.Declaration, o.Claim.Address, o.Claim.Position, o.Claim.AlsoIn
	}
	f.Unenforced = unenforced(s, o)
	rules.apply(&f)
	f.Basis = basis(&f, o.Claim, exposedContent(s, &f)...)
	if f.Check != "" {
		rateCheck(&f, o.Severity)
		return f
	}
	var why string
	if f.Severity, why = rate(s, o.Claim, ratedAs(f.Verdict, f.Unproven), f.Changes); why != "" && f.Reason != "" {
		why += "; "
	}
	if o.Severity != "" {
		f.Severity = worse(f.Severity, o.Severity)
	}
	f.Reason = why + f.Reason
	rateRecreated(&f, o.Claim)
	if cause := causes(&f, o.Claim); cause != "" {
		f.Reason = strings.TrimPrefix(f.Reason+"; "+cause, "; ")
	}
	if s.Stale != "" {
		f.Reason = strings.TrimPrefix(f.Reason+"; possibly stale: "+s.Stale, "; ")
	}
	f.WorseBasis = worseBasis(s, f, o.Claim)
	markReplaced(&f, s, o.Claim)
	expose(s, &f)
	return f
}

// unenforced returns why the tool that applies the claim of an outcome does not put the resource back; "" if it does, or if there is nothing
// to put back.
func unenforced(s *model.Subject, o *model.Outcome) string {
	switch o.Verdict {
	case model.Unmanaged:
		if s.Live != nil && o.Claim == nil {
			return s.Live.Origin.Unenforced
		}
	case model.Changed, model.Undeclared, model.Bypassed, model.Conflict, model.Missing:
		if o.Claim != nil {
			return o.Claim.UnenforcedWhole()
		}
	}
	return ""
}

// claimDiscriminator distinguishes the claims of one declaration on one resource: it is ""
// for the first and the address for others. It does not depend on which of them drifted. It
// is "" for nil.
func claimDiscriminator(s *model.Subject, claim *model.Claim) string {
	if claim == nil {
		return ""
	}
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

// problems returns findings for the parts of a declaration that could not be read.
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

// violations returns findings for the failed checks of parts of a declaration.
func violations(d *model.Declaration, rules *ignorer) []model.Finding {
	var findings []model.Finding
	for i := range d.Violations {
		v := &d.Violations[i]
		f := model.Finding{Verdict: cmp.Or(v.Verdict, model.Violated), Check: v.Check, Name: v.Address, Declaration: d.Name, Address: v.Address,
			Reason: v.Reason, Actor: v.Actor, Key: model.Key{Source: firstOf(d.Governs), Kind: PartKind, ID: model.PartID(d.Name, v.Address)}}
		if v.Path != "" {
			f.Changes = []model.Change{{Path: v.Path, Declared: v.Value}}
		}
		rules.apply(&f)
		f.Basis = basis(&f, nil)
		rateCheck(&f, v.Severity)
		findings = append(findings, f)
	}
	return findings
}

// rateCheck sets the severity of the finding of a failed check, and adds the check to its reason.
func rateCheck(f *model.Finding, severity model.Severity) {
	f.Severity, f.Reason = severity, f.Check+": "+f.Reason
	for i := range f.Changes {
		f.Changes[i].Severity = severity
	}
}

func firstOf(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// PartKind is the kind of a finding about a part of a declaration that could not be read or that
// fails a check.
const PartKind = model.PartKind
