package report

import (
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// What became of a finding, in one word, beside Changed.
const (
	Opened   = "opened"
	Decided  = "decided"
	Resolved = "resolved"
)

// An Event is one step in the life of a finding: what became of it, and the
// fields that it shows since then. Rest says which more there are.
type Event struct {
	At time.Time
	// What is Opened, Changed, Decided or Resolved.
	What   string
	Said   Phrase
	Fields []Field
	Rest   Phrase
}

func (e *Event) same(f *Event) bool {
	return e.Said.String() == f.Said.String() && e.Rest.String() == f.Rest.String() &&
		slices.EqualFunc(e.Fields, f.Fields, func(a, b Field) bool { return a.same(&b) })
}

// same tells whether two fields read the same.
func (f *Field) same(g *Field) bool {
	return f.Path == g.Path && f.LivePath == g.LivePath && f.Same == g.Same && slices.Equal(f.Sides, g.Sides) &&
		slices.Equal(f.Lines, g.Lines) && slices.EqualFunc(f.Claims, g.Claims, Claim.same) &&
		f.LiveWho.String() == g.LiveWho.String() && f.Who.String() == g.Who.String()
}

// A Chapter is what happened to a finding, newest first, Times times on end, all
// of it since Since.
type Chapter struct {
	Events []Event
	Times  int
	Since  time.Time
}

// chaptersOf says what became of a finding, newest first, of versions in that
// order. What happened again and again is one chapter.
func chaptersOf(versions []Version, c clock) []Chapter {
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

func eventsOf(versions []Version, c clock) []Event {
	var events []Event
	for i := range versions {
		before := &model.Finding{}
		if i+1 < len(versions) {
			before = &versions[i+1].Finding
		}
		if e := newEvent(&versions[i], before, c); len(e.Said) > 0 {
			events = append(events, e)
		}
	}
	return events
}

// past writes what became of a finding, newest first.
func (t *table) past(versions []Version, c clock) {
	for _, chapter := range chaptersOf(versions, c) {
		for i := range chapter.Events {
			e := &chapter.Events[i]
			t.prose(plain, "  ", append(Phrase{}.say(c.both(e.At)+"  "), e.Said...))
			t.fields(e.Fields)
			t.prose(dim, "    ", e.Rest)
		}
		if chapter.Times > 1 {
			t.line("    ", thousands(chapter.Times), " times since ", stamp(chapter.Since))
		}
	}
}

// again returns how many of the first events repeat as they are, and how often:
// what flaps goes through two.
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

// newEvent says what is new of a finding since the version before; nothing where
// that is nothing to see.
func newEvent(v *Version, before *model.Finding, c clock) Event {
	f, e := &v.Finding, Event{At: v.At, What: Decided}
	if !f.Resolved.IsZero() {
		e.What, e.Said = Resolved, closed(f)
		return e
	}
	back := !before.Resolved.IsZero()
	if back {
		e.Said = e.Said.say("came back")
	}
	if back || f.Verdict != before.Verdict || f.Severity != before.Severity || !sameFields(f, before) {
		b := newBlock(f, c, mostFields)
		e.What, e.Fields, e.Rest = Changed, b.Fields, b.Rest()
		if back || before.ID == "" {
			e.What = Opened
		}
		e.Said = e.Said.then(Phrase{}.say(string(b.Severity) + " " + b.VerdictText))
	}
	e.Said = e.Said.then(c.decisionNews(f.Decision, before.Decision)).then(hiddenNews(f, before))
	switch {
	case f.Flapping && !before.Flapping:
		e.Said = e.Said.then(Phrase{}.say("flapping: it goes back and forth"))
	case !f.Flapping && before.Flapping:
		e.Said = e.Said.then(Phrase{}.say("steady again"))
	}
	return e
}

// decisionNews says what somebody decided since then.
func (c clock) decisionNews(now, before *model.Decision) Phrase {
	switch {
	case now != nil && (before == nil || before.ID != now.ID):
		return c.decided(now)
	case now == nil && before != nil:
		return Phrase{}.say(before.Kind.Participle() + " no more")
	}
	return nil
}

func hiddenNews(f, before *model.Finding) Phrase {
	switch {
	case f.Hidden != "" && before.Hidden == "":
		return Phrase{}.say("hidden: ").quote(f.Hidden)
	case f.Hidden == "" && before.Hidden != "":
		return Phrase{}.say("hidden no more")
	}
	return nil
}

// sameFields tells whether two versions show the same.
func sameFields(a, b *model.Finding) bool {
	if a.Basis != "" && b.Basis != "" {
		return a.Basis == b.Basis
	}
	return slices.EqualFunc(a.Changes, b.Changes, func(c, d model.Change) bool {
		return c.Path == d.Path && sameValue(c.Declared, d.Declared) && sameValue(c.Recorded, d.Recorded) &&
			sameValue(c.Live, d.Live) && sameValue(c.Running, d.Running)
	})
}

func sameValue(a, b *model.Value) bool {
	return a == b || a != nil && b != nil && a.Equal(*b)
}
