package phrase

import (
	"github.com/driftd/driftd/internal/model"
)

// The maximum widths of foreign text, in columns: of names, of messages of changes, and of reasons.
const (
	NameLimit    = 120
	messageLimit = 160
	ReasonLimit  = 300
)

// ActorOf returns the actor of a finding with verb, time, evidence and confidence. It returns nil if the
// actor was not determined, or if no change was made.
func (c Clock) ActorOf(f *model.Finding) Phrase {
	if f.Verdict == model.Unchecked && f.Actor.Confidence == model.Unknown {
		return nil
	}
	return c.Actor(Verb(f), f.Actor)
}

// Actor returns an actor with time, evidence, confidence and message: "created by alice 2 hours ago via
// audit log (likely)". If verb is "", the phrase begins with "by". Actor returns nil if the actor was not
// determined.
func (c Clock) Actor(verb string, a model.Actor) Phrase {
	switch {
	case a.Name == "":
		return nil
	case isUnknown(a):
		return c.unknown(verb, a).reason("", a.Reason)
	case verb != "":
		verb += " "
	}
	p := append(Words(verb+"by "), Span{Text: Line(a.Name, NameLimit), Data: true, Strong: true})
	if !UTC(a.At).IsZero() {
		p = p.Words(" ").Time(c, a.At)
	}
	before := " via "
	for _, evidence := range []string{a.Via, a.Evidence} {
		if evidence != "" {
			p, before = p.Words(before).Short(evidence, NameLimit), ", "
		}
	}
	if a.Confidence == model.Likely {
		p = p.reason("likely", a.Reason)
	} else {
		p = p.reason("", a.Reason)
	}
	if a.Message != "" {
		p = p.Words(": ").quoted(a.Message, messageLimit)
	}
	return p
}

// isUnknown reports whether an actor is that of model.UnknownActor.
func isUnknown(a model.Actor) bool {
	return a.Confidence == model.Unknown && a.Name == model.UnknownActor("").Name
}

// By returns the name of an actor: "by alice", or "actor unknown".
func By(a model.Actor) Phrase {
	if isUnknown(a) {
		return Words("actor unknown")
	}
	return Words("by ").Short(a.Name, NameLimit)
}

// WithoutEvidence returns the actor without the reference to a log entry that is its evidence.
func WithoutEvidence(a model.Actor) model.Actor {
	if a.Via != "" {
		a.Evidence = ""
	}
	return a
}

// unknown returns what is known of an unknown actor: the time, which is that of
// what Via names.
func (c Clock) unknown(verb string, a model.Actor) Phrase {
	noun := "actor unknown"
	if verb == "created" || a.Via == model.ViaCreation {
		noun = "creator unknown"
	}
	switch {
	case UTC(a.At).IsZero():
		return Words(noun)
	case a.Via == model.ViaCreation:
		return Words("created ").Time(c, a.At).Words("; " + noun)
	case a.Via == model.ViaLastChange:
		return Words("last changed ").Time(c, a.At).Words("; " + noun)
	case a.Via == "":
		return Words(noun+", ").Time(c, a.At)
	}
	return Words(noun+"; ").Short(a.Via, NameLimit).Words(" ").Time(c, a.At)
}

// reason appends a word of ours and a reason, in parentheses.
func (p Phrase) reason(word, reason string) Phrase {
	switch {
	case word == "" && reason == "":
		return p
	case reason == "":
		return p.Words(" (" + word + ")")
	case word != "":
		word += ": "
	}
	return p.Words(" ("+word).Short(reason, ReasonLimit).Words(")")
}

// Writer returns the phrase of Actor for the last writer of one side of a disputed field. It returns nil if
// a is nil.
func (c Clock) Writer(a *model.Actor) Phrase {
	if a == nil {
		return nil
	}
	return c.Actor("", *a)
}
