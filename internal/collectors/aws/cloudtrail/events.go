package cloudtrail

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// auditEvents returns the changes of records, which are sorted by time, as audit events,
// sorted by kind, ID and time.
func auditEvents(records []record) []model.AuditEvent {
	var all []model.AuditEvent
	// deleted has the last event of each resource if it deleted the resource; nil if it did not.
	deleted := map[model.Ref]*record{}
	for i := range records {
		r := &records[i]
		for _, c := range r.Changes {
			ref := model.Ref{Kind: c.Kind, ID: c.ID}
			event := model.AuditEvent{Ref: ref, Action: c.Action, Fields: c.Fields, Actor: r.Actor}
			gone, known := deleted[ref]
			if c.Puts && (gone != nil || !known) {
				made := event
				made.Action = model.Created
				// The log may begin after the creation, and the event of a copy may be forged.
				if !known || gone.From != "" {
					made.Actor = doubt(made.Actor)
				}
				all = append(all, made)
			}
			deleted[ref] = nil
			if c.Action == model.Deleted {
				deleted[ref] = r
			}
			all = append(all, event)
		}
	}
	slices.SortStableFunc(all, func(a, b model.AuditEvent) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID), a.Actor.At.Compare(b.Actor.At))
	})
	doubtSimultaneous(all)
	doubtFollowed(all, records)
	return all
}

func doubt(a model.Actor) model.Actor {
	if a.Confidence == model.Exact {
		a.Confidence = model.Likely
	}
	return a
}

// doubtSimultaneous makes edits of one resource by several people in the same second likely:
// times have whole seconds.
func doubtSimultaneous(all []model.AuditEvent) {
	for i := 1; i < len(all); i++ {
		a, b := &all[i-1], &all[i]
		if a.Ref == b.Ref && a.Actor.At.Equal(b.Actor.At) && a.Actor.Name != b.Actor.Name {
			a.Actor, b.Actor = doubt(a.Actor), doubt(b.Actor)
		}
	}
}

// doubtFollowed makes edits likely if a later event of another actor, whose effect is
// unknown, names the resource.
func doubtFollowed(all []model.AuditEvent, records []record) {
	// A last is the time and the actor of the last event that names a resource, and the time of the last one of other
	// actors. A copy can have so many that they cannot be compared one by one.
	type last struct {
		at, other time.Time
		name      string
	}
	mentioned := map[string]last{}
	for i := range records {
		for _, id := range records[i].Mentions {
			l, name := mentioned[id], records[i].Actor.Name
			if l.name != name {
				l.other, l.name = l.at, name
			}
			l.at = records[i].At
			mentioned[id] = l
		}
	}
	later := func(e *model.AuditEvent, id string) bool {
		l, ok := mentioned[id]
		at := l.at
		if l.name == e.Actor.Name {
			at = l.other
		}
		return ok && !at.Before(e.Actor.At)
	}
	for i := range all {
		e := &all[i]
		name := e.ID[strings.LastIndexAny(e.ID, "/:")+1:]
		if e.Action == model.Edited && (later(e, e.ID) || later(e, name)) {
			e.Actor = doubt(e.Actor)
		}
	}
}
