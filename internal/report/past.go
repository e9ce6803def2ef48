package report

import (
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// The kinds of an Event, apart from Changed.
const (
	Opened   = "opened"
	Decided  = "decided"
	Resolved = "resolved"
)

// An Event is a change of a finding, with its fields from then on. Rest is a description of the omitted
// fields.
type Event struct {
	At time.Time
	// The field What is the kind of the event: Opened, Changed, Decided or Resolved.
	What   string
	Text   phrase.Phrase
	Fields []phrase.Field
	Rest   phrase.Phrase
}

func (e *Event) same(f *Event) bool {
	return e.Text.String() == f.Text.String() && e.Rest.String() == f.Rest.String() &&
		slices.EqualFunc(e.Fields, f.Fields, func(a, b phrase.Field) bool { return a.Equal(&b) })
}

// A Chapter is a sequence of events, newest first, that has occurred Times times since Since.
type Chapter struct {
	Events []Event
	Times  int
	Since  time.Time
}

// chaptersOf returns the history of a finding, newest first, from versions in that
// order. Events that repeat are one chapter.
func chaptersOf(versions []Version, c phrase.Clock) []Chapter {
	var chapters []Chapter
	events := eventsOf(versions, c)
	for len(events) > 0 {
		period, times := again(events)
		all := period * times
		chapters = append(chapters, Chapter{events[:period], times, events[all-1].At})
		events = events[all:]
	}
	return chapters
}

func eventsOf(versions []Version, c phrase.Clock) []Event {
	var events []Event
	for i := range versions {
		before := &model.Finding{}
		if i+1 < len(versions) {
			before = &versions[i+1].Finding
		}
		if e := newEvent(&versions[i], before, c); len(e.Text) > 0 {
			events = append(events, e)
		}
	}
	return events
}

// past writes the history of a finding, newest first.
func (t *table) past(versions []Version, c phrase.Clock) {
	for _, chapter := range chaptersOf(versions, c) {
		for i := range chapter.Events {
			e := &chapter.Events[i]
			t.prose(plain, "  ", append(phrase.Words(c.Exact(e.At)+"  "), e.Text...))
			t.fields(e.Fields)
			t.prose(dim, "    ", e.Rest)
		}
		if chapter.Times > 1 {
			t.line("    ", phrase.Number(chapter.Times), " times since ", phrase.Stamp(chapter.Since))
		}
	}
}

// again returns how many of the first events repeat, and how often. A flapping finding
// alternates between two.
func again(events []Event) (period, times int) {
	for period = 1; period <= model.FlapStates; period++ {
		n := period
		for n < len(events) && events[n].same(&events[n-period]) {
			n++
		}
		if times = n / period; times > 1 {
			return period, times
		}
	}
	return 1, 1
}

// newEvent returns the difference of a version from the one before. Its text is empty
// where there is none to show.
func newEvent(v *Version, before *model.Finding, c phrase.Clock) Event {
	f, e := &v.Finding, Event{At: v.At, What: Decided}
	if !f.Resolved.IsZero() {
		e.What, e.Text = Resolved, phrase.Closed(f.MergedInto)
		return e
	}
	back := !before.Resolved.IsZero()
	if back {
		e.Text = e.Text.Words("recurred")
	}
	if back || f.Verdict != before.Verdict || f.Severity != before.Severity || !sameFields(f, before) {
		b := newBlock(f, c, mostFields)
		e.What, e.Fields, e.Rest = Changed, b.Fields, b.Rest()
		if back || before.ID == "" {
			e.What = Opened
		}
		e.Text = e.Text.Then(phrase.Words(string(b.Severity) + " " + b.VerdictText))
	}
	e.Text = e.Text.Then(decisionNews(c, f.Decision, before.Decision)).Then(hiddenNews(f, before))
	switch {
	case f.Flapping && !before.Flapping:
		e.Text = e.Text.Then(phrase.Words(phrase.Flapping))
	case !f.Flapping && before.Flapping:
		e.Text = e.Text.Then(phrase.Words("stable again"))
	}
	return e
}

// decisionNews returns the change of the decision.
func decisionNews(c phrase.Clock, now, before *model.Decision) phrase.Phrase {
	switch {
	case now != nil && (before == nil || before.ID != now.ID):
		return c.Decision(now)
	case now == nil && before != nil:
		return phrase.Words("no longer " + before.Kind.Participle())
	}
	return nil
}

func hiddenNews(f, before *model.Finding) phrase.Phrase {
	switch {
	case f.Hidden != "" && before.Hidden == "":
		return phrase.HiddenBy(f.Hidden)
	case f.Hidden == "" && before.Hidden != "":
		return phrase.Words("no longer hidden")
	}
	return nil
}

// sameFields reports whether two versions have the same fields.
func sameFields(a, b *model.Finding) bool {
	if a.Basis != "" && b.Basis != "" {
		return a.Basis == b.Basis
	}
	return slices.EqualFunc(a.Changes, b.Changes, func(c, d model.Change) bool {
		return c.Path == d.Path && model.SameValue(c.Declared, d.Declared) && model.SameValue(c.Recorded, d.Recorded) &&
			model.SameValue(c.Live, d.Live) && model.SameValue(c.Running, d.Running)
	})
}
