package model

import "time"

// A Fetch is the commit that a controller must fetch according to the readings of the declaration.
type Fetch struct {
	// Commit is the one that was read first at Since, without another one in between, and last at Read.
	Commit      string
	Since, Read time.Time
	// Replaced are the times at which another commit was first read instead of an earlier one.
	Replaced map[string]time.Time
	// Within is the time that the controller has.
	Within time.Duration
}

// A Fetched is the commit that a controller fetched last, at a time according to its status.
type Fetched struct {
	Commit string
	At     time.Time
	// Behind is the violation of a controller that did not fetch the declared commit in time.
	Behind Violation
}

// fetchSkew bounds how much the clock of the controller is behind.
const fetchSkew = 5 * time.Minute

// Judge reports whether the controller has not fetched the commit in time, as of a time. It is undecided before, and while the
// controller may have fetched a commit that was not read yet.
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
