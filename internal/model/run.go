package model

import (
	"slices"
	"time"
)

// A Run is the record of one scan, or of consecutive scans with the same results: then it
// is that of the last one, and Repeated describes all.
type Run struct {
	ID       string    `json:"id"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	// Complete reports whether everything was checked: NotChecked is zero. Run.At
	// sets both.
	Complete     bool             `json:"complete"`
	NotChecked   NotChecked       `json:"not_checked,omitzero"`
	Sources      []SourceRun      `json:"sources"`
	Declarations []DeclarationRun `json:"declarations"`
	Summary      Summary          `json:"summary"`
	Coverage     []Coverage       `json:"coverage"`
	// Rules are the ignore rules, in the configuration's order, with the number of hidden
	// findings.
	Rules []RuleRun `json:"rules,omitempty"`
	// SeverityRules are the severity rules, in the configuration's order, with the number
	// of rated findings.
	SeverityRules []RuleRun `json:"severity_rules,omitempty"`
	// Exempt lists the fields that were exempted, as many as a record holds;
	// Summary.Exempt counts all. Only the last run keeps the list.
	Exempt []Exemption `json:"exempt,omitempty"`
	// NotJudged are the live resources that no declaration claims and that were
	// not judged, by reason.
	NotJudged []NotJudged `json:"not_judged,omitempty"`
	// NotGoverned are the places into which declarations put objects and which
	// no declaration governs.
	NotGoverned []NotGoverned `json:"not_governed,omitempty"`
	// Scores are the counts of the scorecard, by source and owner; empty in runs of earlier
	// versions.
	Scores []Score `json:"scores,omitempty"`
	// Tool is the version of driftd that ran.
	Tool string `json:"tool"`
	// Repeated is nil for a single scan.
	Repeated *Repeated `json:"repeated,omitempty"`
}

// Includes reports whether the finding is of a source and declaration of the run, instead
// of those of another scan that shares the state folder.
func (r *Run) Includes(f *Finding) bool {
	known := f.Source == "" || slices.ContainsFunc(r.Sources, func(s SourceRun) bool { return s.Name == f.Source })
	return known && (f.Declaration == "" ||
		slices.ContainsFunc(r.Declarations, func(d DeclarationRun) bool { return d.Name == f.Declaration }))
}

// StaleIntervals is the number of intervals without a read after which a source is stale.
const StaleIntervals = 3

// A SourceRun is one source's part of a run.
type SourceRun struct {
	Name     string        `json:"name"`
	Type     string        `json:"type"`
	Version  string        `json:"version"`
	Duration time.Duration `json:"duration_ns"`
	// Resources is the number of resources in the last accepted snapshot, Kinds the same
	// by kind.
	Resources int            `json:"resources"`
	Kinds     map[string]int `json:"kinds"`
	// Held reports whether the last snapshot is held back, because too many resources had
	// vanished.
	Held bool `json:"held"`
	// Taken is when the snapshot that was compared was taken: earlier than
	// the run for a source that was not due, or that could not be read since.
	Taken time.Time `json:"taken,omitzero"`
	// Err is why the source could not be read; "" if it was.
	Err string `json:"error"`
	// Marks are the greatest positions of the source's parts that were seen.
	Marks []Mark `json:"marks,omitempty"`
	// Every is the interval at which the source is read; 0 without a schedule.
	Every time.Duration `json:"every_ns,omitempty"`
}

// A DeclarationRun is one declaration's part of a run.
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
	// Governs are the sources that it governs; empty if it governs none, and in runs of
	// earlier versions.
	Governs []string `json:"governs,omitempty"`
	// Tally counts how much of it could be compared.
	Tally *Tally `json:"tally,omitempty"`
	// States are the records that the next ones are compared with.
	States []StateRead `json:"states,omitempty"`
	// Objects has the objects that the declaration records as applied; empty if it has no such
	// record, and in runs of earlier versions. Only the last run keeps it.
	Objects ObjectSample `json:"objects,omitempty"`
}

// A RuleRun is the part that one ignore rule or severity rule has in a run.
type RuleRun struct {
	// Rule is its patterns, as in the configuration.
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
	// Set is the severity that a severity rule sets; "" for an ignore rule.
	Set Severity `json:"set,omitempty"`
	// Findings and Fields count what an ignore rule hides: whole findings, and
	// fields of others; or what a severity rule rates: findings, and their fields.
	Findings int `json:"findings"`
	Fields   int `json:"fields"`
	// Expires is when it ends; zero means never.
	Expires time.Time `json:"expires,omitzero"`
	// Ended reports whether it has expired.
	Ended bool `json:"ended,omitempty"`
}

// Type returns the sort of rule as text.
func (r *RuleRun) Type() string {
	if r.Set != "" {
		return "severity rule"
	}
	return "ignore rule"
}

// DeadRules returns the rules of the run that do nothing.
func (r *Run) DeadRules() []RuleRun {
	return slices.DeleteFunc(slices.Concat(r.Rules, r.SeverityRules), func(rule RuleRun) bool { return !rule.Dead() })
}

// Dead reports whether the rule has no effect.
func (r *RuleRun) Dead() bool { return r.Why() != "" }

// Why returns why the rule has no effect; "" if it has one.
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

// A Summary has the counts of a scan. Resources are those that are declared, or should
// be.
type Summary struct {
	Resources int `json:"resources"`
	InSync    int `json:"in_sync"`
	// Findings is the number of findings that are neither hidden nor accepted.
	Findings  int `json:"findings"`
	Unchecked int `json:"unchecked"`
	// Accepted counts the findings that are accepted, Hidden those that a rule hides.
	Accepted int `json:"accepted,omitempty"`
	Hidden   int `json:"hidden,omitempty"`
	// Exempt counts the fields that are not drift because of the evidence of a
	// controller.
	Exempt int `json:"exempt,omitempty"`
	// NotJudged counts the live resources that an unreadable part of a
	// declaration may declare, and that would be unmanaged otherwise.
	NotJudged int `json:"not_judged,omitempty"`
}

// A Report is the result of a scan in its published form.
type Report struct {
	Version  int        `json:"version"`
	Scan     Scan       `json:"scan"`
	Summary  Summary    `json:"summary"`
	Findings []Finding  `json:"findings"`
	Coverage []Coverage `json:"coverage"`
}

// A Scan describes the run of a report.
type Scan struct {
	ID       string    `json:"id"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	// Complete reports whether everything was checked, and NotChecked counts what
	// was not.
	Complete   bool       `json:"complete"`
	NotChecked NotChecked `json:"not_checked,omitzero"`
	// Declarations are those that have a commit, a tally or notes.
	Declarations []Revision `json:"declarations,omitempty"`
	// NotJudged and NotGoverned are the run's.
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

// A Revision is the commit of a declaration that was read, if it has one, and how much of
// it could be compared.
type Revision struct {
	Name     string `json:"name"`
	Revision string `json:"revision,omitempty"`
	Tally    *Tally `json:"tally,omitempty"`
	Notes    []Note `json:"notes,omitempty"`
}

// ReportVersion is the version of Report's JSON form.
const ReportVersion = 1
