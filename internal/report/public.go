package report

import (
	"cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// public returns a finding without secrets, with times in UTC.
func public(f *model.Finding) model.Finding {
	p := f.Public()
	for i := range p.Changes {
		inUTC(&p.Changes[i])
	}
	for i := range p.Ignored {
		inUTC(&p.Ignored[i].Change)
	}
	p.Actor = publicActor(p.Actor)
	p.FirstSeen, p.LastSeen, p.Resolved = phrase.UTC(p.FirstSeen), phrase.UTC(p.LastSeen), phrase.UTC(p.Resolved)
	if p.Was != nil {
		p.Was = &model.Former{Verdict: p.Was.Verdict, At: phrase.UTC(p.Was.At)}
	}
	if p.Decision != nil {
		d := *p.Decision
		d.At, d.Until, d.Changes = phrase.UTC(d.At), phrase.UTC(d.Until), nil // the finding shows what was decided about
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

// publicOf is public for changes.
func publicOf(changes []model.Change) []model.Change {
	f := public(&model.Finding{Changes: changes})
	return f.Changes
}

// publicSide is publicActor for one side of a field; nil for nil.
func publicSide(a *model.Actor) *model.Actor {
	if a == nil {
		return nil
	}
	shown := publicActor(*a)
	return &shown
}

// publicActor returns an actor with a confidence and a time in UTC.
func publicActor(a model.Actor) model.Actor {
	a.At = phrase.UTC(a.At)
	a.Confidence = cmp.Or(a.Confidence, model.Unknown)
	return a
}
