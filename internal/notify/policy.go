package notify

import (
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A Policy says who is told what, and how often. It is only read.
type Policy struct {
	// Routes are tried in order for each finding; the first that fits counts,
	// unless it says to continue.
	Routes []Route
	// Receivers are those that are told messages, by name.
	Receivers map[string]Pacing
	// UncheckedAfter is how long a finding may be unchecked before somebody is
	// told.
	UncheckedAfter time.Duration
	// GroupWindow is how long new findings join a thread of their group.
	GroupWindow time.Duration
	// URL is where driftd's pages begin, or "".
	URL string
}

// A Route sends the findings that it fits to receivers.
type Route struct {
	model.Selector
	Receivers []string
	Continue  bool
	// GroupBy is what findings of one thread have in common, of Groupings.
	GroupBy []string
	// Repeat is how long after the last word on open findings they are called to
	// mind; 0 is never.
	Repeat time.Duration
}

// Groupings are the words of Route.GroupBy. Cause is who did it where that is
// known, or else the source and declaration in which it came up.
func Groupings() []string {
	return []string{"cause", "source", "declaration", "kind", "namespace", "resource", "verdict", "severity", "owner", "actor"}
}

// Pacing says how much one receiver is told, and when.
type Pacing struct {
	// Messages in any time of Per are the most; Messages 0 is no bound.
	Messages int
	Per      time.Duration
	Quiet    QuietHours
	// Digest is when on each day it is told how all stands, after midnight; a
	// negative time is never.
	Digest time.Duration
	// Location is where quiet hours and digests count.
	Location *time.Location
}

// QuietHours are a part of the day during which a receiver is told only of what
// is as bad as Except says. From and To are after midnight; with To before From
// they end on the next day. The zero QuietHours are none.
type QuietHours struct {
	From, To time.Duration
	// Days are those on which they begin; empty means all.
	Days []time.Weekday
	// Except are severities that are told all the same, and worse ones too.
	Except []model.Severity
}

// hold tells whether it is quiet at a time of some day.
func (q *QuietHours) hold(at time.Time) bool {
	if q.From == q.To {
		return false
	}
	since := sinceMidnight(at)
	on := func(day time.Weekday) bool { return len(q.Days) == 0 || slices.Contains(q.Days, day) }
	if q.From < q.To {
		return since >= q.From && since < q.To && on(at.Weekday())
	}
	return since >= q.From && on(at.Weekday()) || since < q.To && on((at.Weekday()+6)%7)
}

// excepts tells whether something is bad enough to be told all the same.
func (q *QuietHours) excepts(s model.Severity) bool {
	return slices.ContainsFunc(q.Except, func(e model.Severity) bool { return s.Rank() <= e.Rank() })
}

// sinceMidnight is what a clock on the wall shows.
func sinceMidnight(at time.Time) time.Duration {
	hour, minute, second := at.Clock()
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
}

// dueDigest returns when the last daily digest before now was due; zero for a
// receiver that has none.
func (p *Pacing) dueDigest(now time.Time) time.Time {
	if p.Digest < 0 {
		return time.Time{}
	}
	if today := p.digestOn(now, 0); !today.After(now) {
		return today
	}
	return p.digestOn(now, -1)
}

// digestOn returns when a digest is due so many days after the day of now. A time of day
// that a change to summer time skips is moved by as much as the clocks are.
func (p *Pacing) digestOn(now time.Time, days int) time.Time {
	year, month, day := now.In(p.location()).Date()
	return time.Date(year, month, day+days, 0, 0, int(p.Digest/time.Second), 0, p.location())
}

func (p *Pacing) location() *time.Location {
	if p.Location == nil {
		return time.UTC
	}
	return p.Location
}

// route returns the first route that sends a finding to a receiver.
func (p *Policy) route(f *model.Finding, receiver string) *Route {
	for i := range p.Routes {
		r := &p.Routes[i]
		if !r.Fits(f) {
			continue
		}
		if slices.Contains(r.Receivers, receiver) {
			return r
		}
		if !r.Continue {
			return nil
		}
	}
	return nil
}

// Wanted returns the findings that a receiver is to be told of: those that a
// route sends there, that nobody muted, and that were unchecked for long enough.
func (p *Policy) Wanted(receiver string, findings []model.Finding, now time.Time) []model.Finding {
	var wanted []model.Finding
	for i := range findings {
		if f := &findings[i]; p.route(f, receiver) != nil && p.loud(f, now) {
			wanted = append(wanted, f.Public())
		}
	}
	return wanted
}

// loud tells whether a finding is worth a word.
func (p *Policy) loud(f *model.Finding, now time.Time) bool {
	age := now.Sub(f.FirstSeen)
	// What was seen in a future that is not any more was seen long ago.
	return !f.Muted() && (f.Verdict != model.Unchecked || age < 0 || age >= p.UncheckedAfter)
}
