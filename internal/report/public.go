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
	c.Actor, c.LiveActor = publicSide(c.Actor), publicSide(c.LiveActor)
	for i := range c.Claims {
		c.Claims[i].Actor = publicSide(c.Claims[i].Actor)
	}
}

// publicOf does for changes alone what public does for a finding.
func publicOf(changes []model.Change) []model.Change {
	f := public(&model.Finding{Changes: changes})
	return f.Changes
}

// publicSide returns publicActor of one side of a field; nil of nil.
func publicSide(a *model.Actor) *model.Actor {
	if a == nil {
		return nil
	}
	shown := publicActor(*a)
	return &shown
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
