package model

import (
	"slices"
	"time"
)

// A Run is the record of one scan, or of consecutive scans with the same results. In the latter
// case, it is the record of the last scan, and Repeated describes all of them.
type Run struct {
	ID       string    `json:"id"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	// Complete reports whether everything was checked, so that NotChecked is zero. Run.At sets both
	// fields.
	Complete     bool             `json:"complete"`
	NotChecked   NotChecked       `json:"not_checked,omitzero"`
	Sources      []SourceRun      `json:"sources"`
	Declarations []DeclarationRun `json:"declarations"`
	Summary      Summary          `json:"summary"`
	Coverage     []Coverage       `json:"coverage"`
	// Rules lists the ignore rules in the order of the configuration, with the number of hidden
	// findings.
	Rules []RuleRun `json:"rules,omitempty"`
	// SeverityRules lists the severity rules in the order of the configuration, with the number of
	// rated findings.
	SeverityRules []RuleRun `json:"severity_rules,omitempty"`
	// Exempt lists the exempted fields. The list is bounded; Summary.Exempt is the number of all.
	// Only the last run has the list.
	Exempt []Exemption `json:"exempt,omitempty"`
	// NotJudged lists the live resources that no declaration claims and that were not judged,
	// grouped by reason.
	NotJudged []NotJudged `json:"not_judged,omitempty"`
	// NotGoverned lists the places into which declarations put objects but which no declaration
	// governs.
	NotGoverned []NotGoverned `json:"not_governed,omitempty"`
	// Scores contains the counts of the scorecard by source and owner; empty in runs of earlier
	// versions.
	Scores []Score `json:"scores,omitempty"`
	// Tool is the version of driftd that made the scan.
	Tool string `json:"tool"`
	// Repeated is nil for a single scan.
	Repeated *Repeated `json:"repeated,omitempty"`
}

// Includes reports whether the finding belongs to a source and a declaration of the run, and not to
// another scan with the same state folder.
func (r *Run) Includes(f *Finding) bool {
	known := f.Source == "" || slices.ContainsFunc(r.Sources, func(s SourceRun) bool { return s.Name == f.Source })
	return known && (f.Declaration == "" ||
		slices.ContainsFunc(r.Declarations, func(d DeclarationRun) bool { return d.Name == f.Declaration }))
}

// StaleIntervals is the number of intervals without a successful read after which a source is
// stale.
const StaleIntervals = 3

// A SourceRun is the part of a run that concerns one source.
type SourceRun struct {
	Name     string        `json:"name"`
	Type     string        `json:"type"`
	Version  string        `json:"version"`
	Duration time.Duration `json:"duration_ns"`
	// Resources is the number of resources in the last accepted snapshot, and Kinds the number by
	// kind.
	Resources int            `json:"resources"`
	Kinds     map[string]int `json:"kinds"`
	// Held reports whether the last snapshot is held back because too many resources were missing
	// from it.
	Held bool `json:"held"`
	// Taken is the time at which the compared snapshot was taken. It is earlier than the run if the
	// source was not due or could not be read.
	Taken time.Time `json:"taken,omitzero"`
	// Err is the reason why the source could not be read; "" if it was.
	Err string `json:"error"`
	// Marks lists the greatest positions of the parts of the source that were read.
	Marks []Mark `json:"marks,omitempty"`
	// Every is the interval at which the source is read; 0 without a schedule.
	Every time.Duration `json:"every_ns,omitempty"`
}

// A DeclarationRun is the part of a run that concerns one declaration.
type DeclarationRun struct {
	Name     string        `json:"name"`
	Type     string        `json:"type"`
	Revision string        `json:"revision"`
	Duration time.Duration `json:"duration_ns"`
	Claims   int           `json:"claims"`
	Problems []Problem     `json:"problems"`
	Err      string        `json:"error"`
	// Notes are Declaration.Notes.
	Notes []Note `json:"notes,omitempty"`
	// Governs lists the sources that the declaration governs; empty if there are none, and in runs
	// of earlier versions.
	Governs []string `json:"governs,omitempty"`
	// Tally counts the declared resources by whether they could be compared; nil if they are not
	// counted.
	Tally *Tally `json:"tally,omitempty"`
	// States lists the records with which the next ones are compared.
	States []StateRead `json:"states,omitempty"`
	// Objects is the sample of the objects that the declaration records as applied; empty if it has
	// no such record, and in runs of earlier versions. Only the last run has it.
	Objects ObjectSample `json:"objects,omitempty"`
}

// A RuleRun describes the effect of one ignore rule or severity rule in a run.
type RuleRun struct {
	// Rule contains the patterns of the rule, as in the configuration.
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
	// Set is the severity that a severity rule sets; "" for an ignore rule.
	Set Severity `json:"set,omitempty"`
	// Findings is the number of findings that the rule hides or rates as a whole, and Fields the
	// number of single fields that it hides or rates.
	Findings int `json:"findings"`
	Fields   int `json:"fields"`
	// Expires is the time at which the rule ends; zero if it does not.
	Expires time.Time `json:"expires,omitzero"`
	// Ended reports whether the rule has expired.
	Ended bool `json:"ended,omitempty"`
}

// Type returns "severity rule" or "ignore rule".
func (r *RuleRun) Type() string {
	if r.Set != "" {
		return "severity rule"
	}
	return "ignore rule"
}

// DeadRules returns the rules of the run that have no effect.
func (r *Run) DeadRules() []RuleRun {
	return slices.DeleteFunc(slices.Concat(r.Rules, r.SeverityRules), func(rule RuleRun) bool { return !rule.Dead() })
}

// Dead reports whether the rule has no effect.
func (r *RuleRun) Dead() bool { return r.Why() != "" }

// Why returns the reason why the rule has no effect; "" if it has one.
func (r *RuleRun) Why() string {
	switch {
	case r.Ended:
		return "its time is up"
	case r.Findings+r.Fields == 0 && r.Set != "":
		return "it rates nothing"
	case r.Findings+r.Fields == 0:
		return "it hides nothing"
	}
	return ""
}

// A Summary contains the counts of a scan. Resources is the number of resources that are declared
// or should be.
type Summary struct {
	Resources int `json:"resources"`
	InSync    int `json:"in_sync"`
	// Findings is the number of findings that are neither hidden nor accepted.
	Findings  int `json:"findings"`
	Unchecked int `json:"unchecked"`
	// Accepted is the number of accepted findings, and Hidden the number of findings that a rule
	// hides.
	Accepted int `json:"accepted,omitempty"`
	Hidden   int `json:"hidden,omitempty"`
	// Exempt is the number of fields that differ and are not drift: see Exemption.
	Exempt int `json:"exempt,omitempty"`
	// NotJudged is the number of live resources that an unreadable part of a declaration may
	// declare and that would be unmanaged otherwise.
	NotJudged int `json:"not_judged,omitempty"`
}

// CountFindings sets the numbers of findings, and of the resources that could not be checked, to
// those of the given open findings.
func (s *Summary) CountFindings(open []Finding) {
	s.Findings, s.Accepted, s.Hidden = 0, 0, 0
	unchecked := map[Key]bool{}
	for i := range open {
		switch f := &open[i]; {
		case f.Hidden != "":
			s.Hidden++
		case f.Accepted():
			s.Accepted++
		case f.Verdict.IsDrift():
			s.Findings++
		default:
			unchecked[f.Key] = true
		}
	}
	s.Unchecked = len(unchecked)
}

// A Report is the result of a scan in its published form.
type Report struct {
	Version  int        `json:"version"`
	Scan     Scan       `json:"scan"`
	Summary  Summary    `json:"summary"`
	Findings []Finding  `json:"findings"`
	Coverage []Coverage `json:"coverage"`
}

// A Scan describes the run on which a report is based.
type Scan struct {
	ID       string    `json:"id"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	// Complete reports whether everything was checked. NotChecked contains the counts of what was
	// not.
	Complete   bool       `json:"complete"`
	NotChecked NotChecked `json:"not_checked,omitzero"`
	// Declarations lists the declarations that have a commit, a tally or notes.
	Declarations []Revision `json:"declarations,omitempty"`
	// NotJudged and NotGoverned are those of the run.
	NotJudged   []NotJudged   `json:"not_judged,omitempty"`
	NotGoverned []NotGoverned `json:"not_governed,omitempty"`
}

// Scan returns the description of the run for a report.
func (r *Run) Scan() Scan {
	s := Scan{ID: r.ID, Started: r.Started, Finished: r.Finished, Complete: r.Complete, NotChecked: r.NotChecked,
		NotJudged: r.NotJudged, NotGoverned: r.NotGoverned}
	for _, d := range r.Declarations {
		if d.Revision != "" || d.Tally != nil || len(d.Notes) > 0 {
			s.Declarations = append(s.Declarations, Revision{Name: d.Name, Revision: d.Revision, Tally: d.Tally, Notes: d.Notes})
		}
	}
	return s
}

// A Revision describes one declaration in a scan: the commit that was read, if there is one, and
// the counts of the resources that could be compared.
type Revision struct {
	Name     string `json:"name"`
	Revision string `json:"revision,omitempty"`
	Tally    *Tally `json:"tally,omitempty"`
	Notes    []Note `json:"notes,omitempty"`
}

// ReportVersion is the version of the JSON form of Report.
const ReportVersion = 1
