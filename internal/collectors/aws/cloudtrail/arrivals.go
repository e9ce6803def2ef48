package cloudtrail

import (
	"slices"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// settled is the number of polls after which a lower number of messages counts: the numbers of
// SQS may be wrong for a minute.
const settled = int(time.Minute / pollEvery)

// An arrivals determines from the number of messages in a queue whether some are new, so that a
// scan is due. Messages that scans leave in the queue are not new. It is safe for concurrent use;
// its zero value is ready.
type arrivals struct {
	mu sync.Mutex
	// read reports whether a scan has read the queue.
	read bool
	// known is the number of messages that are not new.
	known int
	// below counts the polls in a row with fewer messages than known, and lowest is the smallest of
	// their numbers.
	below, lowest int
	// left are the messages that the last readings left in the queue.
	left []leftMessages
	// deleted is the number of messages that all readings deleted.
	deleted int
	// late is the time at which SQS got an event that a scan read after it had begun, so that its
	// change may have been too late for the scan; zero if there is none.
	late time.Time
}

// leftMessages are messages that a reading left in the queue. Other readings do not receive them
// for some time.
type leftMessages struct {
	at     time.Time
	number int
}

// note records the reading of a queue, which deleted some of the messages. whole reports whether
// it ended without an error.
func (a *arrivals) note(d *drain, deleted int, whole bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left = slices.DeleteFunc(a.left, func(l leftMessages) bool { return d.begun.Sub(l.at) >= hidden })
	a.left = append(a.left, leftMessages{d.begun, d.received - deleted})
	a.deleted += deleted
	if !a.late.After(d.now) {
		a.late = time.Time{}
	}
	a.late = model.Later(a.late, d.late)
	if !whole {
		return
	}
	a.read, a.known, a.below = true, 0, 0
	for _, l := range a.left {
		a.known += l.number
	}
}

// due reports whether a scan is due while the queue has a number of messages. None is due before
// the first scan.
func (a *arrivals) due(messages int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case !a.read:
		return false
	case messages >= a.known:
		a.below = 0
	default:
		if a.below == 0 || messages < a.lowest {
			a.lowest = messages
		}
		if a.below++; a.below == settled {
			a.known, a.below = a.lowest, 0
		}
	}
	return messages > a.known || !a.late.IsZero()
}

// begin is called before a scan that is due. It returns a function to call after the scan: if no
// message was deleted meanwhile, those that started the scan start no other one.
func (a *arrivals) begin(messages int) (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.late = time.Time{}
	before := a.deleted
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.deleted == before {
			a.known = max(a.known, messages)
		}
	}
}
