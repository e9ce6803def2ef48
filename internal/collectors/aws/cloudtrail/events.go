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
	type mention struct {
		at   time.Time
		name string
	}
	mentioned := map[string][]mention{}
	for i := range records {
		for _, id := range records[i].Mentions {
			mentioned[id] = append(mentioned[id], mention{records[i].At, records[i].Actor.Name})
		}
	}
	for i := range all {
		e := &all[i]
		later := func(m mention) bool { return !m.at.Before(e.Actor.At) && m.name != e.Actor.Name }
		name := e.ID[strings.LastIndexAny(e.ID, "/:")+1:]
		if e.Action == model.Edited && (slices.ContainsFunc(mentioned[e.ID], later) || slices.ContainsFunc(mentioned[name], later)) {
			e.Actor = doubt(e.Actor)
		}
	}
}
