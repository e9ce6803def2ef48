package store

import "time"

// A span is the time between the first and the last of the runs of one record.
type span struct{ first, last moment }

// longestGap returns the longest time between two runs that counts towards an age. In a
// longer one driftd was stopped or the clock was set, and then a version may be young
// that seems old: a clock that is wrong must not remove what is to be kept. It is half
// of the age, from one day to eight, so that driftd may run once a week.
func longestGap(age time.Duration) time.Duration {
	const day = 24 * time.Hour
	return min(max(age/2, day), 8*day)
}

// cutOf returns the moment that lies an age before now, of the time in which runs were
// made. The spans of the runs are in the order in which they were saved, newest first.
// Time before all runs counts.
func cutOf(now moment, age time.Duration, runs []span) moment {
	left, gap, at := int64(age), int64(longestGap(age)), int64(now)
	// back goes to an earlier moment; a time that runs backwards is added again.
	back := func(to moment, whole bool) bool {
		if passed := at - int64(to); whole || max(passed, -passed) <= gap {
			if passed >= left {
				return false
			}
			left -= passed
		}
		at = int64(to)
		return true
	}
	for _, r := range runs {
		if !back(r.last, false) || !back(r.first, true) {
			break
		}
	}
	return moment(at - left)
}
