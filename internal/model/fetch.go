package model

import "time"

// A Fetch is the commit that a controller must fetch, according to the readings of its declaration.
type Fetch struct {
	// Commit is the commit in the last readings. Since is the time of the first reading that found
	// it, without another commit since then, and Read is the time of the last reading.
	Commit      string
	Since, Read time.Time
	// Replaced maps earlier commits to the time of the first reading that found another commit
	// instead.
	Replaced map[string]time.Time
	// Within is the time within which the controller must fetch a commit.
	Within time.Duration
}

// A Fetched is the commit that a controller last fetched, according to its status, with the time.
type Fetched struct {
	Commit string
	At     time.Time
	// Behind is the violation to report if the controller did not fetch the declared commit in
	// time.
	Behind Violation
}

// fetchSkew bounds how much the clock of the controller is behind.
const fetchSkew = 5 * time.Minute

// Judge reports in behind whether the controller has not fetched the commit in time, as of now. It
// sets undecided while there is time left, and while the controller may have fetched a commit that
// was not read yet.
func (f *Fetch) Judge(live *Fetched, now time.Time) (behind, undecided bool) {
	if live.Commit == f.Commit {
		return false, false
	}
	since, read := f.Replaced[live.Commit]
	if !read {
		since = f.Since
	}
	if live.At.After(since) {
		since = live.At
	}
	behind = now.Sub(since) > f.Within && f.Read.Sub(live.At) > fetchSkew
	return behind, !behind
}
