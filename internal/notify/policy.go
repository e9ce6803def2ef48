package notify

import (
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A Policy holds the routes and limits of notifications. It is never changed.
type Policy struct {
	// Routes are tried in order for each finding; the first that fits applies,
	// unless it has Continue set.
	Routes []Route
	// Receivers are the limits of each receiver of messages, by name.
	Receivers map[string]Pacing
	// UncheckedAfter is how long a finding is unchecked before there is a message.
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
	// Repeat is the interval of reminders for open findings; 0 is never.
	Repeat time.Duration
}

// Groupings are the words of Route.GroupBy. Cause is who did it where that is
// known, or else the source and declaration in which it came up.
func Groupings() []string {
	return []string{"cause", "source", "declaration", "kind", "namespace", "resource", "verdict", "severity", "owner", "actor"}
}

// Pacing holds the limits of one receiver.
type Pacing struct {
	// Messages bounds the messages in any period of Per; 0 is no bound.
	Messages int
	Per      time.Duration
	Quiet    QuietHours
	// Digest is the time of the daily summary after midnight; a negative time is never.
	Digest time.Duration
	// Location is the time zone of quiet hours and digests.
	Location *time.Location
}

// QuietHours are a part of the day during which a receiver gets only findings of the
// severities in Except. From and To are after midnight; with To before From
// they end on the next day. The zero QuietHours are none.
type QuietHours struct {
	From, To time.Duration
	// Days are those on which they begin; empty means all.
	Days []time.Weekday
	// Except are severities that are sent during quiet hours, as are worse ones.
	Except []model.Severity
}

// hold reports whether a time is in quiet hours.
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

// excepts reports whether a severity is sent during quiet hours.
func (q *QuietHours) excepts(s model.Severity) bool {
	return slices.ContainsFunc(q.Except, func(e model.Severity) bool { return s.Rank() <= e.Rank() })
}

// sinceMidnight returns the time of day.
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

// Wanted returns the findings for a receiver: those that a route sends there, that are
// not muted, and that are not unchecked for a short time only.
func (p *Policy) Wanted(receiver string, findings []model.Finding, now time.Time) []model.Finding {
	var wanted []model.Finding
	for i := range findings {
		if f := &findings[i]; p.route(f, receiver) != nil && p.loud(f, now) {
			wanted = append(wanted, f.Public())
		}
	}
	return wanted
}

// loud reports whether a finding causes messages.
func (p *Policy) loud(f *model.Finding, now time.Time) bool {
	age := now.Sub(f.FirstSeen)
	// a time in the future, from before the clock was set back, is long ago
	return !f.Muted() && (f.Verdict != model.Unchecked || age < 0 || age >= p.UncheckedAfter)
}
