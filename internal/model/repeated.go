package model

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// A Repeated describes consecutive scans with the same results.
type Repeated struct {
	// Runs is the number of scans, at least 2.
	Runs int `json:"runs"`
	// FirstID and FirstStarted are the ID and the start time of the first scan.
	FirstID      string    `json:"first_id"`
	FirstStarted time.Time `json:"first_started"`
	// Shortest and Longest are the shortest and the longest duration of a scan, and Total is the
	// sum of all durations.
	Shortest time.Duration `json:"shortest_ns"`
	Longest  time.Duration `json:"longest_ns"`
	Total    time.Duration `json:"total_ns"`
	// LongestPause is the longest time between the starts of two consecutive scans.
	LongestPause time.Duration `json:"longest_pause_ns"`
}

// Follow returns the joint record of the run and of next, if both have the same results. If they
// differ, or if next started before r because the clock was set back, ok is false.
func (r *Run) Follow(next *Run) (joined Run, ok bool) {
	pause := next.Started.Sub(r.Started)
	if pause < 0 || !sameOutcome(r, next) {
		return Run{}, false
	}
	joined = *next
	took := next.Finished.Sub(next.Started)
	all := r.all()
	joined.Repeated = &Repeated{
		Runs: all.Runs + 1, FirstID: all.FirstID, FirstStarted: all.FirstStarted,
		Shortest: min(all.Shortest, took), Longest: max(all.Longest, took), Total: all.Total + took,
		LongestPause: max(all.LongestPause, pause),
	}
	return joined, true
}

// all describes the scans that the record stands for, also where it is one.
func (r *Run) all() Repeated {
	if r.Repeated != nil {
		return *r.Repeated
	}
	took := r.Finished.Sub(r.Started)
	return Repeated{Runs: 1, FirstID: r.ID, FirstStarted: r.Started, Shortest: took, Longest: took, Total: took}
}

// Runs returns the number of scans that the record describes.
func (r *Run) Runs() int { return r.all().Runs }

// First returns the start time of the first scan that the record describes.
func (r *Run) First() time.Time { return r.all().FirstStarted }

// sameOutcome reports whether two runs read, judged and failed alike: whether their
// records differ only in times, durations, and the positions of sources.
func sameOutcome(a, b *Run) bool {
	x, errX := json.Marshal(a.outcome())
	y, errY := json.Marshal(b.outcome())
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// outcome is the run without what two scans that find the same do not share. Of the
// exemptions and objects it has the counts alone: only the last run lists them.
func (r *Run) outcome() Run {
	o := *r
	o.ID, o.Started, o.Finished, o.Repeated, o.Exempt = "", time.Time{}, time.Time{}, nil, nil
	o.Sources = slices.Clone(o.Sources)
	for i := range o.Sources {
		s := &o.Sources[i]
		s.Taken, s.Duration, s.Marks = time.Time{}, 0, nil
	}
	o.Declarations = slices.Clone(o.Declarations)
	for i := range o.Declarations {
		o.Declarations[i].Duration, o.Declarations[i].Objects = 0, nil
	}
	return o
}
