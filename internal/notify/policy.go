package notify

import (
	"slices"
	"time"

	"github.com/driftd/driftd/internal/hours"
	"github.com/driftd/driftd/internal/model"
)

// A Policy contains the routes and limits of notifications. It is immutable.
type Policy struct {
	// Routes are tried in order for each finding. The first route that matches applies. If its Continue is
	// set, the next route that matches applies, too.
	Routes []Route
	// Receivers maps the names of the receivers of messages to their limits.
	Receivers map[string]Pacing
	// UncheckedAfter is the time after which an unchecked finding causes a message.
	UncheckedAfter time.Duration
	// GroupWindow is the time during which new findings are added to a thread of their group.
	GroupWindow time.Duration
	// URL is the address of driftd's web pages, or "".
	URL string
}

// A Route sends the findings that its Selector matches to receivers.
type Route struct {
	model.Selector
	// Receivers are the names of the receivers.
	Receivers []string
	// Continue reports whether later routes are tried, too.
	Continue bool
	// GroupBy lists the properties that all findings of a thread have in common; see Groupings.
	GroupBy []string
	// Repeat is the interval of reminders for open findings. 0 means no reminders.
	Repeat time.Duration
}

// Groupings returns the valid values of Route.GroupBy. "cause" is the actor if it is
// known, and the source and the declaration otherwise.
func Groupings() []string {
	return []string{"cause", "source", "declaration", "kind", "namespace", "resource", "verdict", "severity", "owner", "actor"}
}

// A Pacing contains the limits of one receiver.
type Pacing struct {
	// Messages is the maximum number of messages in any period of Per. 0 means no limit.
	Messages int
	Per      time.Duration
	// Quiet are the quiet hours.
	Quiet QuietHours
	// Digest is the time of the daily summary, as the duration since midnight. A negative value means that
	// there is none.
	Digest time.Duration
	// Location is the time zone of quiet hours and digests. nil is UTC.
	Location *time.Location
	// Each reports whether each finding has messages of its own. Those beyond the limit are sent later, one
	// by one.
	Each bool
	// Concerns reports whether the receiver is sent messages about a finding. nil means that it is for all
	// findings.
	Concerns func(*model.Finding) bool
}

// QuietHours are a part of the day during which a receiver is sent only findings of the severities in
// Except. The zero value means no quiet hours.
type QuietHours struct {
	// From and To are durations since midnight. If To is before From, the quiet hours end
	// on the next day.
	From, To time.Duration
	// Days are the days on which quiet hours begin. Empty means every day.
	Days []time.Weekday
	// Except lists the severities that are sent during quiet hours. Worse ones are sent,
	// too.
	Except []model.Severity
}

// contains reports whether the time at is in quiet hours.
func (q *QuietHours) contains(at time.Time) bool {
	return hours.Window{From: q.From, To: q.To, Days: q.Days}.Contains(at)
}

// excepts reports whether findings of severity s are sent during quiet hours.
func (q *QuietHours) excepts(s model.Severity) bool {
	return slices.ContainsFunc(q.Except, func(e model.Severity) bool { return s.Rank() <= e.Rank() })
}

// dueDigest returns the time at which the last daily digest before now was due. It
// returns the zero time for a receiver without digests.
func (p *Pacing) dueDigest(now time.Time) time.Time {
	if p.Digest < 0 {
		return time.Time{}
	}
	if today := p.digestOn(now, 0); !today.After(now) {
		return today
	}
	return p.digestOn(now, -1)
}

// digestOn returns the time at which the digest is due on the day that is the given number
// of days after now. A time of day that the change to summer time skips is moved forward
// by the same amount as the clocks.
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

// route returns the first route that sends f to receiver. It returns nil if there is none.
func (p *Policy) route(f *model.Finding, receiver string) *Route {
	if concerns := p.Receivers[receiver].Concerns; concerns != nil && !concerns(f) {
		return nil
	}
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

// Wanted returns the findings for a receiver: those that a route sends to it, except muted findings and
// findings that have been unchecked for less than UncheckedAfter.
func (p *Policy) Wanted(receiver string, findings []model.Finding, now time.Time) []model.Finding {
	var wanted []model.Finding
	for i := range findings {
		if f := &findings[i]; p.route(f, receiver) != nil && p.notifies(f, now) {
			wanted = append(wanted, f.Public())
		}
	}
	return wanted
}

// notifies reports whether f causes messages: it is not muted, and not unchecked for less
// than UncheckedAfter.
func (p *Policy) notifies(f *model.Finding, now time.Time) bool {
	age := now.Sub(f.FirstSeen)
	// A negative age means that the clock was set back. It counts as long ago.
	return !f.Muted() && (f.Verdict != model.Unchecked || age < 0 || age >= p.UncheckedAfter)
}
