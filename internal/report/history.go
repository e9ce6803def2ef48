package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A HistoryEntry is one value that a resource had.
type HistoryEntry struct {
	// At is when it was first seen, Actor who made it so.
	At    time.Time
	Actor model.Actor
	// Gone tells that the resource was not there.
	Gone bool
	// Changes are the fields that differ from the entry before: Recorded is
	// what was, Live what came. The first entry has none.
	Changes []model.Change
	// Value is the whole of it; nil when Gone, or when the caller keeps it.
	Value *model.Value
}

// The ways in which a resource differs between two moments.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// A ResourceDiff is how one resource differs between two moments.
type ResourceDiff struct {
	Key model.Key
	// Kind is Added, Removed or Changed.
	Kind string
	// At is when it became so, Actor who did it.
	At    time.Time
	Actor model.Actor
	// Changes are the fields that differ: Recorded is what was, Live what came.
	Changes []model.Change
}

// step is a change over time in JSON.
type step struct {
	Path   string       `json:"path"`
	Before *model.Value `json:"before,omitempty"`
	After  *model.Value `json:"after,omitempty"`
	Secret bool         `json:"secret"`
}

func stepsOf(changes []model.Change) []step {
	shown := publicOf(changes)
	steps := make([]step, len(shown))
	for i := range shown {
		steps[i] = step{shown[i].Path, shown[i].Recorded, shown[i].Live, shown[i].Secret}
	}
	return steps
}

func stepFields(changes []model.Change) []Field {
	shown := publicOf(changes)
	fields := make([]Field, len(changes))
	for i := range changes {
		fields[i] = newStep(&changes[i], &shown[i])
	}
	return fields
}

// WriteHistory writes what a resource was over time, newest first, as a table
// or as JSON.
func WriteHistory(w io.Writer, format string, key model.Key, entries []HistoryEntry, o Options) error {
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b HistoryEntry) int { return b.At.Compare(a.At) })
	return choose(w, format, "write history",
		func(b *bufio.Writer) error { return historyTable(newTable(b, o), key, entries, newClock(o)) },
		func(b *bufio.Writer) error { return historyJSON(b, key, entries) })
}

func historyJSON(w *bufio.Writer, key model.Key, entries []HistoryEntry) error {
	type version struct {
		At      time.Time    `json:"at"`
		Actor   model.Actor  `json:"actor"`
		Gone    bool         `json:"gone"`
		Changes []step       `json:"changes"`
		Value   *model.Value `json:"value,omitempty"`
	}
	e := emitter{w: w}
	e.open("", "{")
	e.value("version", model.ReportVersion)
	e.value("source", key.Source)
	e.value("kind", key.Kind)
	e.value("resource", key.ID)
	e.open("history", "[")
	for i := range entries {
		v := &entries[i]
		shown := version{At: utc(v.At), Actor: publicActor(v.Actor), Gone: v.Gone, Changes: stepsOf(v.Changes)}
		if v.Value != nil {
			value := v.Value.Public()
			shown.Value = &value
		}
		e.value("", shown)
	}
	e.close("]")
	e.close("}")
	return e.err
}

func historyTable(t *table, key model.Key, entries []HistoryEntry, c clock) error {
	t.line(t.paint(bold, visible(key.String())), ": ", count(len(entries), "version"))
	for i := range entries {
		t.line()
		t.entry(&entries[i], i == len(entries)-1, c)
		if err := t.emit(); err != nil {
			return err
		}
	}
	return t.emit()
}

// entry writes one version; the oldest has nothing to be compared with.
func (t *table) entry(v *HistoryEntry, oldest bool, c clock) {
	said := Phrase{}
	switch {
	case v.Gone:
		said = said.say("gone")
	case len(v.Changes) > 0:
		said = said.say(count(len(v.Changes), "field") + " changed")
	case oldest:
		said = said.say("first seen")
	default:
		said = said.say("seen")
	}
	t.line(t.paint(bold, c.both(v.At)), "  ", said.then(c.who(v.Actor)).String())
	t.fields(stepFields(v.Changes))
}

// WriteDiff writes what differs between two moments, by key, as a table or as
// JSON.
func WriteDiff(w io.Writer, format string, diffs []ResourceDiff, o Options) error {
	diffs = slices.Clone(diffs)
	slices.SortStableFunc(diffs, func(a, b ResourceDiff) int {
		return cmp.Or(a.Key.Compare(b.Key), a.At.Compare(b.At))
	})
	return choose(w, format, "write diff",
		func(b *bufio.Writer) error { return diffTable(newTable(b, o), diffs, newClock(o)) },
		func(b *bufio.Writer) error { return diffJSON(b, diffs) })
}

func diffJSON(w *bufio.Writer, diffs []ResourceDiff) error {
	type difference struct {
		model.Key
		Change  string      `json:"change"`
		At      time.Time   `json:"at"`
		Actor   model.Actor `json:"actor"`
		Changes []step      `json:"changes"`
	}
	e := emitter{w: w}
	e.open("", "{")
	e.value("version", model.ReportVersion)
	e.open("resources", "[")
	for i := range diffs {
		d := &diffs[i]
		e.value("", difference{d.Key, d.Kind, utc(d.At), publicActor(d.Actor), stepsOf(d.Changes)})
	}
	e.close("]")
	e.close("}")
	return e.err
}

func diffTable(t *table, diffs []ResourceDiff, c clock) error {
	if len(diffs) == 0 {
		t.line("No differences.")
		return t.emit()
	}
	number := map[string]int{}
	for i := range diffs {
		number[diffs[i].Kind]++
	}
	t.line(t.paint(bold, fmt.Sprintf("%s added, %s changed, %s removed",
		thousands(number[Added]), thousands(number[Changed]), thousands(number[Removed]))))
	for i := range diffs {
		t.line()
		t.difference(&diffs[i], c)
		if err := t.emit(); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) difference(d *ResourceDiff, c clock) {
	st, sign := yellow, "~ "
	switch d.Kind {
	case Added:
		st, sign = green, "+ "
	case Removed:
		st, sign = red, "- "
	}
	t.line(t.paint(st, sign+visible(d.Kind)), "  ", visible(shortKind(d.Key.Kind)), " ",
		t.paint(bold, visible(d.Key.ID)), " in ", visible(d.Key.Source))
	when := Phrase{}
	if !utc(d.At).IsZero() && d.Actor.At.IsZero() {
		when = when.at(c, d.At)
	}
	t.prose(plain, "  ", when.then(c.who(d.Actor)))
	t.fields(stepFields(d.Changes))
}
