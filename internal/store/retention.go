package store

import "time"

// A span is the time from the first to the last run of one record.
type span struct{ first, last moment }

// longestGap returns the longest time between two runs that counts towards an age. In a longer gap
// driftd was stopped or the clock was set, and then a young version may seem old: a wrong clock
// must not remove data. It is half of the age, from one day to eight, so that driftd may run once a
// week.
func longestGap(age time.Duration) time.Duration {
	const day = 24 * time.Hour
	return min(max(age/2, day), 8*day)
}

// cutOf returns the moment since which at most age has passed until now. It counts only time during
// which runs were made, and all time before the first run. The spans are in the order in which the
// runs were saved, newest first.
func cutOf(now moment, age time.Duration, runs []span) moment {
	left, gap, at := int64(age), int64(longestGap(age)), int64(now)
	// back moves at to an earlier moment. A negative step, of a clock that went back, is added
	// again.
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
