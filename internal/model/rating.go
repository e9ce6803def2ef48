package model

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Rating describes a severity that a rule of the configuration set.
type Rating struct {
	// Was is the severity without the rule.
	Was Severity `json:"was"`
	// Reason is the reason of the rule.
	Reason string `json:"reason"`
}

// An Exposure is the kind of access that depends on a field.
type Exposure string

// The exposures.
const (
	ExposesAccess Exposure = "access" // who may do what
	ExposesReach  Exposure = "reach"  // what can be reached, and from where
	ExposesCode   Exposure = "code"   // what code runs, and with which rights
)

// An ExposedField is a field of a kind that has an Exposure.
type ExposedField struct {
	// Path is a prefix of the field's path without list keys; "" means every field, and the
	// resource as a whole.
	Path string
	What Exposure
}

// UsualSeverity returns the severity of a finding with the verdict to which no rule applies.
func (v Verdict) UsualSeverity() Severity {
	switch v {
	case Conflict, Missing:
		return High
	case Changed, Bypassed, Disputed, Undeclared:
		return Medium
	case Pending, Codified:
		return Info
	}
	return Low
}

// SeverityOf returns the severity of c, which is a change of the finding: that of the rule that
// rates it, or else the usual one of the verdict.
func (f *Finding) SeverityOf(c *Change) Severity {
	usual := f.Verdict.UsualSeverity()
	if f.Unproven {
		usual = Changed.UsualSeverity()
	}
	return cmp.Or(c.Severity, usual)
}

// IsDangerous reports whether the live state should be put back first. That is so if the finding is
// critical, or if its severity is High and its exposure is ExposesAccess or ExposesReach.
func (f *Finding) IsDangerous() bool {
	if f.Severity == Critical {
		return true
	}
	return f.Severity.Rank() <= High.Rank() && (f.Exposure == ExposesAccess || f.Exposure == ExposesReach)
}

// WorstFirst returns a copy of the finding in which the changes are sorted by severity, worst
// first, and then by exposure.
func (f Finding) WorstFirst() Finding {
	f.Changes = slices.Clone(f.Changes)
	slices.SortStableFunc(f.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(f.SeverityOf(&a).Rank(), f.SeverityOf(&b).Rank()), compareExposure(a.Exposure, b.Exposure))
	})
	return f
}

// Why returns the reasons why the finding has its severity, why it could not be checked, and why
// the tool that applies the declaration does not put the resource back, separated by "; ". It may
// be empty.
func (f *Finding) Why() string {
	return strings.Join(slices.DeleteFunc([]string{f.Reason, f.whyRated(), f.Unenforced}, func(text string) bool { return text == "" }), "; ")
}

// whyRated returns the rule of the configuration that rates the finding; "" if none does.
func (f *Finding) whyRated() string {
	if f.Rated == nil {
		return ""
	}
	text := "rated " + string(f.Severity) + " by a severity rule"
	if f.Rated.Was != f.Severity {
		text += ", otherwise " + string(f.Rated.Was)
	}
	return text + ": " + f.Rated.Reason
}

// SortWorst sorts findings in place in the order of CompareWorst. It moves each finding only once,
// because they are large.
func SortWorst(findings []Finding) {
	order := make([]*Finding, len(findings))
	for i := range findings {
		order[i] = &findings[i]
	}
	slices.SortFunc(order, CompareWorst)
	sorted := make([]Finding, len(findings))
	for i, f := range order {
		sorted[i] = *f
	}
	copy(findings, sorted)
}

// CompareWorst orders findings, worst first: by severity, exposure, age in minutes, key,
// declaration, address, verdict and ID. It returns a negative number if a sorts before b.
func CompareWorst(a, b *Finding) int {
	x, y := rank{urgency(a.Severity, a.Exposure, a.FirstSeen), &a.Key, a.Declaration, a.Address, a.Verdict, a.ID},
		rank{urgency(b.Severity, b.Exposure, b.FirstSeen), &b.Key, b.Declaration, b.Address, b.Verdict, b.ID}
	return x.compare(&y)
}

// A rank contains the values by which a list of findings is sorted.
type rank struct {
	urgency              uint64
	key                  *Key
	declaration, address string
	verdict              Verdict
	id                   string
}

func (r *rank) compare(s *rank) int {
	if r.urgency != s.urgency {
		return cmp.Compare(r.urgency, s.urgency)
	}
	return cmp.Or(
		r.key.Compare(*s.key),
		cmp.Compare(r.declaration, s.declaration),
		cmp.Compare(r.address, s.address),
		cmp.Compare(r.verdict, s.verdict),
		cmp.Compare(r.id, s.id))
}

// urgency returns a number that is lower for a worse severity, then for an exposure, then for an
// earlier minute.
func urgency(s Severity, e Exposure, firstSeen time.Time) uint64 {
	const exposed, yearOne = 59, -62_135_596_800
	n := uint64(s.Rank()) << (exposed + 1)
	if e == "" {
		n |= 1 << exposed
	}
	return n | uint64(max(firstSeen.Unix()-yearOne, 0)/60)
}

// compareExposure orders fields with an exposure first.
func compareExposure(a, b Exposure) int {
	switch {
	case (a == "") == (b == ""):
		return 0
	case a != "":
		return -1
	}
	return 1
}
