package bus

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/atomicfile"
	"github.com/driftd/driftd/internal/model"
)

// Limits: the events in total and per object, of which the last ones are kept, and the started
// requests without an end.
const (
	maxEvents    = 50_000
	maxPerObject = 64
	maxPending   = 4096
)

// An eventLog keeps events for a limited time.
type eventLog struct {
	keep time.Duration
	// file is the path of the file; "" for only in memory.
	file string

	savedEvents
	// known are the keys of the events. pending are the changes of requests that started and
	// have not ended.
	known   map[eventKey]bool
	pending map[pending]Event
}

// savedEvents is the content of the file.
type savedEvents struct {
	// Since is when the queue was created; earlier notifications are not known.
	Since  time.Time
	Events []Event `json:"Acts"`
}

type eventKey struct {
	model.Ref
	model.Action
	evidence string
}

type pending struct {
	model.Ref
	request string
}

func newEventLog(keep time.Duration, file string) *eventLog {
	b := &eventLog{keep: keep, file: file, known: map[eventKey]bool{}, pending: map[pending]Event{}}
	text, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(text, &b.savedEvents) != nil {
		// An unreadable file is discarded: only the authors of changes are lost.
		b.savedEvents = savedEvents{}
	}
	for i := range b.Events {
		b.known[keyOf(&b.Events[i])] = true
	}
	return b
}

func keyOf(a *Event) eventKey { return eventKey{a.Ref, a.Action, a.Evidence} }

// addPending adds the changes of a request that started.
func (b *eventLog) addPending(events []Event) {
	if len(b.pending)+len(events) > maxPending {
		clear(b.pending)
	}
	for _, a := range events {
		b.pending[pending{a.Ref, a.Request}] = a
	}
}

// maxClockSkew is how far a service's clock may be ahead of driftd's, including the duration of
// a scan.
const maxClockSkew = time.Hour

// add adds events that are not known yet: messages may arrive twice. An update without fields
// gets the fields of its request. An event with a time in the future gets the time now, so that
// it does not stay the last one.
func (b *eventLog) add(events []Event, now time.Time) {
	for _, a := range events {
		if b.known[keyOf(&a)] {
			continue
		}
		if a.At.After(now.Add(maxClockSkew)) {
			a.At, a.Doubtful = now, true
		}
		if updatedFields, ok := b.pending[pending{a.Ref, a.Request}]; ok {
			delete(b.pending, pending{a.Ref, a.Request})
			if a.Action == model.Edited && len(a.Fields) == 0 {
				a.Fields = updatedFields.Fields
			}
		}
		b.known[keyOf(&a)] = true
		b.Events = append(b.Events, a)
	}
}

// prune removes events that are too old or above the limits.
func (b *eventLog) prune(now time.Time) {
	byAge := func(x, y Event) int { return x.At.Compare(y.At) }
	if !slices.IsSortedFunc(b.Events, byAge) {
		slices.SortStableFunc(b.Events, byAge)
	}
	of := map[model.Ref]int{}
	rest := make([]Event, 0, len(b.Events))
	for _, a := range slices.Backward(b.Events) {
		of[a.Ref]++
		if now.Sub(a.At) > b.keep || of[a.Ref] > maxPerObject || len(rest) == maxEvents {
			delete(b.known, keyOf(&a))
			continue
		}
		rest = append(rest, a)
	}
	slices.Reverse(rest)
	b.Events = rest
}

// save writes the file atomically.
func (b *eventLog) save() error {
	if b.file == "" {
		return nil
	}
	text, err := json.Marshal(b.savedEvents)
	if err != nil {
		return fmt.Errorf("keep notifications: %w", err)
	}
	if err := atomicfile.Write(b.file, text); err != nil {
		return fmt.Errorf("keep notifications: %w", err)
	}
	return nil
}
