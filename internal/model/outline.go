package model

import (
	"slices"
	"time"
)

// An Outline is the part of a finding that lists show, filter and sort by. It has no fields,
// values, evidence and reasons.
type Outline struct {
	ID      string  `json:"id"`
	Verdict Verdict `json:"verdict"`
	// Unproven is Finding.IsUnproven.
	Unproven bool     `json:"unproven,omitempty"`
	Severity Severity `json:"severity"`
	Exposure Exposure `json:"exposure,omitempty"`
	Key
	Place       string `json:"namespace"`
	Name        string `json:"name"`
	Declaration string `json:"declaration"`
	Address     string `json:"address"`
	// Actor has a name, a time, Via and a confidence.
	Actor Actor `json:"actor"`
	// Actors are the names of the other actors of changes, each once.
	Actors     []string  `json:"actors,omitempty"`
	FirstSeen  time.Time `json:"first_seen"`
	LastSeen   time.Time `json:"last_seen"`
	Resolved   time.Time `json:"resolved,omitzero"`
	MergedInto string    `json:"merged_into,omitempty"`
	Owner      string    `json:"owner,omitempty"`
	Hidden     string    `json:"hidden,omitempty"`
	// Decision is the kind of the decision that holds for it; "" if none does. Until is when the
	// decision ends; zero if it has no end.
	Decision DecisionKind `json:"decision,omitempty"`
	Until    time.Time    `json:"until,omitzero"`
	Flapping bool         `json:"flapping,omitempty"`
}

// Outline returns the outline of the finding, with times in UTC.
func (f *Finding) Outline() Outline {
	o := Outline{
		ID: f.ID, Verdict: f.Verdict, Unproven: f.IsUnproven(), Severity: f.Severity, Exposure: f.Exposure,
		Key: f.Key, Place: f.Place, Name: f.Name, Declaration: f.Declaration, Address: f.Address,
		Actor:     Actor{Name: f.Actor.Name, At: f.Actor.At.UTC(), Via: f.Actor.Via, Confidence: f.Actor.Confidence},
		FirstSeen: f.FirstSeen.UTC(), LastSeen: f.LastSeen.UTC(), Resolved: f.Resolved.UTC(), MergedInto: f.MergedInto,
		Owner: f.Owner, Hidden: f.Hidden, Flapping: f.Flapping,
	}
	for i := range f.Changes {
		if a := f.Changes[i].Actor; a != nil && a.Label() != o.Actor.Label() && !slices.Contains(o.Actors, a.Label()) {
			o.Actors = append(o.Actors, a.Label())
		}
	}
	if f.Decision != nil {
		o.Decision, o.Until = f.Decision.Kind, f.Decision.Until.UTC()
	}
	return o
}

// Shown is Finding.Shown.
func (o *Outline) Shown() bool { return o.Hidden == "" && o.Decision != Accept }

// VerdictText is Finding.VerdictText.
func (o *Outline) VerdictText() string { return verdictText(o.Verdict, o.Unproven) }
