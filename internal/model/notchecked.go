package model

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// PartKind is the kind of a finding about a part of a declaration that could not be read or that
// fails a check.
const PartKind = "declaration/part"

// PartID returns the ID of a finding of PartKind: "declaration/address", or only the name of the
// declaration if the address is equal to it, as for a declaration that could not be read at all.
func PartID(declaration, address string) string {
	if address == declaration {
		return declaration
	}
	return declaration + "/" + address
}

// NotChecked counts the things that should have been checked but were not. Unchecked findings that
// are accepted or hidden by an ignore rule are not counted.
type NotChecked struct {
	// Unreachable is the number of sources whose last read failed.
	Unreachable int `json:"unreachable"`
	// Stale is the number of sources whose last read is too old or is held back.
	Stale int `json:"stale"`
	// Scopes is the number of kinds, or kinds in one place, that could not be read in full.
	Scopes int `json:"scopes"`
	// Parts is the number of declarations, and of parts of declarations, that could not be read.
	Parts int `json:"parts"`
	// Resources is the number of declared resources that could not be compared.
	Resources int `json:"resources"`
}

// Any reports whether something was not checked.
func (n NotChecked) Any() bool { return n != NotChecked{} }

// Sources returns the number of sources that were not read.
func (n NotChecked) Sources() int { return n.Unreachable + n.Stale }

// String returns the counts that are not zero, such as "1 source unreachable, 2 scopes"; "" if
// everything was checked.
func (n NotChecked) String() string {
	var parts []string
	for _, p := range []struct {
		n         int
		one, many string
	}{
		{n.Unreachable, "source unreachable", "sources unreachable"},
		{n.Stale, "source stale", "sources stale"},
		{n.Scopes, "scope", "scopes"},
		{n.Parts, "part of a declaration", "parts of declarations"},
		{n.Resources, "resource", "resources"},
	} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 "+p.one)
		case p.n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.many))
		}
	}
	return strings.Join(parts, ", ")
}

// At returns a copy of the run with NotChecked and Complete set for the time now and the findings
// that are open then. No other function computes these two fields. At adds an entry to Coverage for
// each source whose last read is too old. It ignores findings of sources and declarations that are
// not part of the run.
func (r Run) At(now time.Time, open []Finding) Run {
	r.Coverage = slices.DeleteFunc(append([]Coverage{}, r.Coverage...), func(c Coverage) bool { return strings.HasPrefix(c.Reason, stalePrefix) })
	r.NotChecked = NotChecked{}
	down := map[string]bool{}
	for i := range r.Sources {
		s := &r.Sources[i]
		reason := s.Trouble(now)
		if reason == "" {
			continue
		}
		down[s.Name] = true
		if s.Err != "" && !s.Held {
			r.NotChecked.Unreachable++
			continue
		}
		if r.NotChecked.Stale++; s.Err == "" {
			r.Coverage = append(r.Coverage, Coverage{Source: s.Name, Reason: reason})
		}
	}
	r.NotChecked.Scopes = failedScopes(r.Coverage, down)
	r.NotChecked.add(r.holding(open))
	r.NotChecked.Parts += r.unfoundProblems(open)
	r.Complete = !r.NotChecked.Any()
	return r
}

// failedScopes counts the scopes that could not be read, except those of sources in down.
func failedScopes(coverage []Coverage, down map[string]bool) int {
	type scope struct{ source, kind, place string }
	failed := map[scope]bool{}
	for _, c := range coverage {
		if c.Failed() && !down[c.Source] {
			failed[scope{c.Source, c.Kind, c.Place}] = true
		}
	}
	return len(failed)
}

// add counts the unchecked findings among the open ones, each resource once.
func (n *NotChecked) add(open []*Finding) {
	resources := map[Key]bool{}
	for _, f := range open {
		switch {
		case f.Verdict != Unchecked || !f.Resolved.IsZero() || !f.Shown():
		case f.Kind == PartKind:
			n.Parts++
		default:
			resources[f.Key] = true
		}
	}
	n.Resources = len(resources)
}

// unfoundProblems returns the number of problems of declarations for which there is no finding,
// accepted or not.
func (r *Run) unfoundProblems(open []Finding) int {
	found := map[string]bool{}
	for i := range open {
		if open[i].Kind == PartKind && open[i].Verdict == Unchecked {
			found[open[i].Key.ID] = true
		}
	}
	unfound := 0
	for _, d := range r.Declarations {
		for _, p := range d.Problems {
			if !found[PartID(d.Name, p.Address)] {
				unfound++
			}
		}
	}
	return unfound
}

// holding returns the findings of the run's sources and declarations.
func (r *Run) holding(open []Finding) []*Finding {
	var held []*Finding
	for i := range open {
		if r.Includes(&open[i]) {
			held = append(held, &open[i])
		}
	}
	return held
}

// stalePrefix begins the reason of a stale source. Collectors do not use this prefix.
const stalePrefix = "stale: "

// unscheduledAge is the age from which on a source without a schedule is stale.
const unscheduledAge = time.Hour

// Trouble returns the reason why the last read of the source does not show its current state as of
// now; "" if it does.
func (s *SourceRun) Trouble(now time.Time) string {
	limit := StaleIntervals * s.Every
	if s.Every <= 0 {
		limit = unscheduledAge
	}
	age := now.Sub(s.Taken)
	switch {
	case s.Err != "":
		return s.Err
	case s.Held:
		return stalePrefix + "the last read is held back: too many resources had vanished"
	case s.Taken.IsZero():
		return stalePrefix + "not read yet"
	case age.Abs() <= limit:
		return ""
	case age < 0:
		return fmt.Sprintf(stalePrefix+"not read since the clock was set back: the last read was at %s", s.Taken.UTC().Format(time.RFC3339))
	case s.Every > 0:
		return fmt.Sprintf(stalePrefix+"not read for %d of its intervals of %s", age/s.Every, s.Every)
	}
	return fmt.Sprintf(stalePrefix+"not read for more than %s", unscheduledAge)
}
