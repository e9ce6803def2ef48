package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// A HistoryEntry is a value that a resource had.
type HistoryEntry struct {
	// At is the time at which the value was first seen, and Actor is who wrote it.
	At    time.Time
	Actor model.Actor
	// Gone reports whether the resource did not exist.
	Gone bool
	// Changes are the fields that differ from the previous entry: Recorded is the old value and Live the
	// new one. It is empty for the first entry.
	Changes []model.Change
	// Value is the resource. It is nil if Gone is set, or if the caller omits it.
	Value *model.Value
}

// The kinds of a ResourceDiff.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// A ResourceDiff is the difference of one resource between two times.
type ResourceDiff struct {
	Key model.Key
	// Kind is Added, Removed or Changed.
	Kind string
	// At is the time of the change, and Actor is who made it.
	At    time.Time
	Actor model.Actor
	// Changes are the fields that differ: Recorded is the old value and Live the new one.
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

func stepFields(changes []model.Change) []phrase.Field {
	shown := publicOf(changes)
	fields := make([]phrase.Field, len(changes))
	for i := range changes {
		fields[i] = phrase.NewStep(&changes[i], &shown[i])
	}
	return fields
}

// WriteHistory writes the values that a resource had, newest first, as a table or as
// JSON.
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
		shown := version{At: phrase.UTC(v.At), Actor: publicActor(v.Actor), Gone: v.Gone, Changes: stepsOf(v.Changes)}
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

func historyTable(t *table, key model.Key, entries []HistoryEntry, c phrase.Clock) error {
	t.line(t.paint(bold, phrase.Visible(key.String())), ": ", phrase.Count(len(entries), "version"))
	for i := range entries {
		t.line()
		t.entry(&entries[i], i == len(entries)-1, c)
		if err := t.emit(); err != nil {
			return err
		}
	}
	return t.emit()
}

// entry writes one version. The oldest has no version to compare with.
func (t *table) entry(v *HistoryEntry, oldest bool, c phrase.Clock) {
	text := phrase.Phrase{}
	switch {
	case v.Gone:
		text = text.Words("gone")
	case len(v.Changes) > 0:
		text = text.Words(phrase.Count(len(v.Changes), "field") + " changed")
	case oldest:
		text = text.Words("first seen")
	default:
		text = text.Words("seen")
	}
	t.line(t.paint(bold, c.Exact(v.At)), "  ", text.Then(c.Actor("", v.Actor)).String())
	t.fields(stepFields(v.Changes))
}

// WriteDiff writes the differences between two times, sorted by key, as a table or as JSON.
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
		e.value("", difference{d.Key, d.Kind, phrase.UTC(d.At), publicActor(d.Actor), stepsOf(d.Changes)})
	}
	e.close("]")
	e.close("}")
	return e.err
}

func diffTable(t *table, diffs []ResourceDiff, c phrase.Clock) error {
	if len(diffs) == 0 {
		t.line("No differences.")
		return t.emit()
	}
	number := map[string]int{}
	for i := range diffs {
		number[diffs[i].Kind]++
	}
	t.line(t.paint(bold, fmt.Sprintf("%s added, %s changed, %s removed",
		phrase.Number(number[Added]), phrase.Number(number[Changed]), phrase.Number(number[Removed]))))
	for i := range diffs {
		t.line()
		t.difference(&diffs[i], c)
		if err := t.emit(); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) difference(d *ResourceDiff, c phrase.Clock) {
	st, sign, verb := yellow, "~ ", d.Kind
	switch d.Kind {
	case Added:
		st, sign, verb = green, "+ ", "created"
	case Removed:
		st, sign = red, "- "
	}
	t.line(t.paint(st, sign+phrase.Visible(d.Kind)), "  ", phrase.Visible(phrase.Kind(d.Key.Kind)), " ",
		t.paint(bold, phrase.Visible(d.Key.ID)), " in ", phrase.Visible(d.Key.Source))
	when := phrase.Phrase{}
	if !phrase.UTC(d.At).IsZero() && d.Actor.At.IsZero() {
		when = when.Time(c, d.At)
	}
	t.prose(plain, "  ", when.Then(c.Actor(verb, d.Actor)).Sentence())
	t.fields(stepFields(d.Changes))
}
