package report

import (
	"cmp"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// public returns a finding as anybody may see it, with times in UTC.
func public(f *model.Finding) model.Finding {
	p := f.Public()
	for i := range p.Changes {
		inUTC(&p.Changes[i])
	}
	for i := range p.Ignored {
		inUTC(&p.Ignored[i].Change)
	}
	p.Actor = publicActor(p.Actor)
	p.FirstSeen, p.LastSeen, p.Resolved = utc(p.FirstSeen), utc(p.LastSeen), utc(p.Resolved)
	if p.Was != nil {
		p.Was = &model.Former{Verdict: p.Was.Verdict, At: utc(p.Was.At)}
	}
	if p.Decision != nil {
		d := *p.Decision
		d.At, d.Until, d.Changes = utc(d.At), utc(d.Until), nil // the finding shows what was decided about
		p.Decision = &d
	}
	return p
}

func inUTC(c *model.Change) {
	if c.Actor != nil {
		a := publicActor(*c.Actor)
		c.Actor = &a
	}
}

// publicOf does for changes alone what public does for a finding.
func publicOf(changes []model.Change) []model.Change {
	f := public(&model.Finding{Changes: changes})
	return f.Changes
}

// publicActor says of an actor without any evidence that there is none.
func publicActor(a model.Actor) model.Actor {
	a.At = utc(a.At)
	a.Confidence = cmp.Or(a.Confidence, model.Unknown)
	return a
}

// utc returns t in UTC, or zero for a year that RFC 3339 cannot write.
func utc(t time.Time) time.Time {
	t = t.UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}
