package model

import (
	"time"
	"unicode/utf8"
)

// An Outline is the part of a finding that lists display, filter and sort by. It contains no
// fields, values, evidence and reasons.
type Outline struct {
	// The fields of the usual columns are first, so that a list of many findings reads less memory.
	ID       string   `json:"id"`
	Verdict  Verdict  `json:"verdict"`
	Severity Severity `json:"severity"`
	// Check is Finding.Check.
	Check string `json:"check,omitempty"`
	// Unproven is Finding.IsUnproven.
	Unproven bool `json:"unproven,omitempty"`
	Flapping bool `json:"flapping,omitempty"`
	Key
	Name      string    `json:"name"`
	FirstSeen time.Time `json:"first_seen"`
	Resolved  time.Time `json:"resolved,omitzero"`
	Owner     string    `json:"owner,omitempty"`
	Hidden    string    `json:"hidden,omitempty"`
	// Decision is the kind of the decision that holds for the finding; "" if none does. Until is
	// the time at which that decision ends; zero if it has no end.
	Decision    DecisionKind `json:"decision,omitempty"`
	Actor       OutlineActor `json:"actor"`
	Until       time.Time    `json:"until,omitzero"`
	Exposure    Exposure     `json:"exposure,omitempty"`
	Place       string       `json:"namespace"`
	Declaration string       `json:"declaration"`
	Address     string       `json:"address"`
	// Actors lists the names of the other actors of changes, without duplicates. It is bounded.
	Actors     []string  `json:"actors,omitempty"`
	LastSeen   time.Time `json:"last_seen"`
	MergedInto string    `json:"merged_into,omitempty"`
}

// An OutlineActor is the part of an Actor that lists display. It is small because a list contains
// one for each finding.
type OutlineActor struct {
	Name       string     `json:"name"`
	At         time.Time  `json:"at,omitzero"`
	Via        string     `json:"via,omitempty"`
	Confidence Confidence `json:"confidence"`
}

// Label returns the same text as Actor.Label.
func (a *OutlineActor) Label() string { return actorLabel(a.Name) }

// Outline returns the outline of the finding, with times in UTC.
func (f *Finding) Outline() Outline {
	o := Outline{
		ID: f.ID, Verdict: f.Verdict, Check: f.Check, Unproven: f.IsUnproven(), Severity: f.Severity, Exposure: f.Exposure,
		Key: f.Key, Place: f.Place, Name: outlineText(f.Name), Declaration: f.Declaration, Address: outlineText(f.Address),
		Actor:     OutlineActor{Name: outlineText(f.Actor.Name), At: f.Actor.At.UTC(), Via: f.Actor.Via, Confidence: f.Actor.Confidence},
		FirstSeen: f.FirstSeen.UTC(), LastSeen: f.LastSeen.UTC(), Resolved: f.Resolved.UTC(), MergedInto: f.MergedInto,
		Owner: f.Owner, Hidden: f.Hidden, Flapping: f.Flapping,
	}
	o.Actors = f.otherActors(o.Actor.Label())
	if f.Decision != nil {
		o.Decision, o.Until = f.Decision.Kind, f.Decision.Until.UTC()
	}
	return o
}

// Bounds of an outline, whose memory a list has for all findings. Commits and live systems have texts of any length.
const (
	maxOutlineText   = 4 << 10
	maxOutlineActors = 100
)

// otherActors returns the names of the actors of changes except the given one, without duplicates
// and at most maxOutlineActors.
func (f *Finding) otherActors(than string) []string {
	var names []string
	seen := map[string]bool{than: true}
	for i := range f.Changes {
		a := f.Changes[i].Actor
		if a == nil || len(names) == maxOutlineActors {
			continue
		}
		if name := outlineText(a.Label()); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// outlineText returns a text as an outline has it: with at most maxOutlineText bytes, and with bytes that are not
// UTF-8 replaced as JSON does. Otherwise two actors could be different now, and equal when they are read from the store.
func outlineText(text string) string {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	if len(text) <= maxOutlineText {
		return text
	}
	end := maxOutlineText - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// Shown reports whether Finding.Shown is true for the finding.
func (o *Outline) Shown() bool { return o.Hidden == "" && o.Decision != Accept }

// VerdictText returns the same text as Finding.VerdictText.
func (o *Outline) VerdictText() string { return verdictText(o.Verdict, o.Unproven) }
