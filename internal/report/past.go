package report

import (
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// An event is one step in the life of a finding: what became of it, and the
// fields that it shows since then.
type event struct {
	at     time.Time
	said   phrase
	fields string
}

func (e *event) same(f *event) bool {
	return e.fields == f.fields && e.said.String() == f.said.String()
}

// past writes what became of a finding, newest first. What happened again and
// again is written once.
func (t *table) past(versions []Version, c clock) {
	var events []event
	for i := range versions {
		before := &model.Finding{}
		if i+1 < len(versions) {
			before = &versions[i+1].Finding
		}
		if e := t.event(&versions[i], before, c); len(e.said) > 0 {
			events = append(events, e)
		}
	}
	for len(events) > 0 {
		period, times := again(events)
		for _, e := range events[:period] {
			t.prose(plain, "  ", append(phrase{}.say(c.both(e.at)+"  "), e.said...))
			t.WriteString(e.fields)
		}
		all := period * times
		if times > 1 {
			t.line("    ", thousands(times), " times since ", stamp(events[all-1].at))
		}
		events = events[all:]
	}
}

// again returns how many of the first events repeat as they are, and how often:
// what flaps goes through two.
func again(events []event) (period, times int) {
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

// event says what is new of a finding since the version before; nothing where
// that is nothing to see.
func (t *table) event(v *Version, before *model.Finding, c clock) event {
	f, e := &v.Finding, event{at: v.At}
	if !f.Resolved.IsZero() {
		e.said = e.said.say("resolved")
		return e
	}
	back := !before.Resolved.IsZero()
	if back {
		e.said = e.said.say("came back")
	}
	if back || f.Verdict != before.Verdict || f.Severity != before.Severity || !sameFields(f, before) {
		b, part := newBlock(f, c, mostFields), table{color: t.color, width: t.width}
		e.said = e.said.then(phrase{}.say(string(b.Severity) + " " + string(b.Verdict)))
		part.fields(b.Fields)
		part.prose(dim, "    ", b.Rest())
		e.fields = part.String()
	}
	e.said = e.said.then(c.decisionNews(f.Decision, before.Decision)).then(hiddenNews(f, before))
	switch {
	case f.Flapping && !before.Flapping:
		e.said = e.said.then(phrase{}.say("flapping: it goes back and forth"))
	case !f.Flapping && before.Flapping:
		e.said = e.said.then(phrase{}.say("steady again"))
	}
	return e
}

// decisionNews says what somebody decided since then.
func (c clock) decisionNews(now, before *model.Decision) phrase {
	switch {
	case now != nil && (before == nil || before.ID != now.ID):
		return c.decided(now)
	case now == nil && before != nil:
		return phrase{}.say(before.Kind.Participle() + " no more")
	}
	return nil
}

func hiddenNews(f, before *model.Finding) phrase {
	switch {
	case f.Hidden != "" && before.Hidden == "":
		return phrase{}.say("hidden: ").quote(f.Hidden)
	case f.Hidden == "" && before.Hidden != "":
		return phrase{}.say("hidden no more")
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
