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

// Bounds of what is remembered: acts in all, and those of one object, of which
// the last ones count; and requests that were begun, of which the last ones may
// yet come to their end.
const (
	maxActs     = 50_000
	maxOfObject = 64
	maxBegun    = 4096
)

// A book remembers acts, for a while.
type book struct {
	keep time.Duration
	// file is where it is kept; "" when nowhere.
	file string

	kept
	// known are the entries that acts were read from, begun those that wait for
	// their end.
	known map[entry]bool
	begun map[begun]Act
}

// kept is what a file holds.
type kept struct {
	// Since is when the queue was made: nothing is known of what was before.
	Since time.Time
	Acts  []Act
}

type entry struct {
	model.Ref
	model.Action
	evidence string
}

type begun struct {
	model.Ref
	request string
}

func newBook(keep time.Duration, file string) *book {
	b := &book{keep: keep, file: file, known: map[entry]bool{}, begun: map[begun]Act{}}
	text, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(text, &b.kept) != nil {
		// What cannot be read is forgotten: it costs names, and no more.
		b.kept = kept{}
	}
	for i := range b.Acts {
		b.known[entryOf(&b.Acts[i])] = true
	}
	return b
}

func entryOf(a *Act) entry { return entry{a.Ref, a.Deed, a.Evidence} }

// begin notes what a request is about to do.
func (b *book) begin(acts []Act) {
	if len(b.begun)+len(acts) > maxBegun {
		clear(b.begun)
	}
	for _, a := range acts {
		b.begun[begun{a.Ref, a.Request}] = a
	}
}

// ahead is how far the clock of a service may be ahead of driftd's, with the time
// that a look takes.
const ahead = time.Hour

// add notes acts, unless they are known: a message may come twice. An update of
// which no more is known touched what its request named. Nothing was done after it
// was heard of: an act of the future would be the last one for ever.
func (b *book) add(acts []Act, now time.Time) {
	for _, a := range acts {
		if b.known[entryOf(&a)] {
			continue
		}
		if a.At.After(now.Add(ahead)) {
			a.At, a.Doubtful = now, true
		}
		if asked, ok := b.begun[begun{a.Ref, a.Request}]; ok {
			delete(b.begun, begun{a.Ref, a.Request})
			if a.Deed == model.Edited && len(a.Fields) == 0 {
				a.Fields = asked.Fields
			}
		}
		b.known[entryOf(&a)] = true
		b.Acts = append(b.Acts, a)
	}
}

// prune drops what is too old, and what is too much.
func (b *book) prune(now time.Time) {
	byAge := func(x, y Act) int { return x.At.Compare(y.At) }
	if !slices.IsSortedFunc(b.Acts, byAge) {
		slices.SortStableFunc(b.Acts, byAge)
	}
	of := map[model.Ref]int{}
	rest := make([]Act, 0, len(b.Acts))
	for _, a := range slices.Backward(b.Acts) {
		of[a.Ref]++
		if now.Sub(a.At) > b.keep || of[a.Ref] > maxOfObject || len(rest) == maxActs {
			delete(b.known, entryOf(&a))
			continue
		}
		rest = append(rest, a)
	}
	slices.Reverse(rest)
	b.Acts = rest
}

// save writes the book to its file, as a whole or not at all.
func (b *book) save() error {
	if b.file == "" {
		return nil
	}
	text, err := json.Marshal(b.kept)
	if err != nil {
		return fmt.Errorf("keep notifications: %w", err)
	}
	if err := atomicfile.Write(b.file, text); err != nil {
		return fmt.Errorf("keep notifications: %w", err)
	}
	return nil
}
