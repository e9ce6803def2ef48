package diff

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// lastEvent returns the last event for which fits returns true, or nil.
func lastEvent(events []model.AuditEvent, fits func(*model.AuditEvent) bool) *model.AuditEvent {
	for i := len(events) - 1; i >= 0; i-- {
		if fits(&events[i]) {
			return &events[i]
		}
	}
	return nil
}

// loggedActor returns who changed the field at the walk's path according to the source's
// logs.
func (w *walk) loggedActor() model.Actor { return loggedActorAt(w.subject, w.livePath()) }

// loggedActorAt returns the actor that changed the live field at a path: that of the last entry
// with the field, or else that of the last entry about the resource without a field, unless changes
// of the field are recorded elsewhere.
func loggedActorAt(s *model.Subject, path string) model.Actor {
	named := func(t *model.AuditEvent) bool { return t.Action == model.Edited && names(t, path) }
	if t := lastEvent(s.AuditEvents, named); t != nil {
		return t.Actor
	}
	if where := recordedElsewhere(s.Kind, path); where != "" {
		return model.UnknownActor(where)
	}
	unnamed := func(t *model.AuditEvent) bool {
		return t.Action == model.Edited && len(t.Fields) == 0 && !excepts(t, path)
	}
	if t := lastEvent(s.AuditEvents, unnamed); t != nil {
		return t.Actor
	}
	return unknownEditor(s.Live)
}

// recordedElsewhere returns Kind.Elsewhere of the field that a live path leads to.
func recordedElsewhere(kind *model.Kind, path string) string {
	if kind == nil {
		return ""
	}
	for field, where := range kind.LoggedElsewhere {
		if model.Below(path, field) {
			return where
		}
	}
	return ""
}

// names reports whether a log's entry contains the field at a path, one above it or one
// below it.
func names(t *model.AuditEvent, path string) bool {
	return path != "" && !excepts(t, path) && slices.ContainsFunc(t.Fields, func(f string) bool { return model.Overlap(path, f) })
}

// excepts reports whether a log's entry is no evidence for the field at a path.
func excepts(t *model.AuditEvent, path string) bool {
	return slices.ContainsFunc(t.Excluded, func(f string) bool { return model.Below(path, f) })
}

// claimAuthor returns who last set the declared value at a path according to the
// declaration's own log.
func claimAuthor(c *model.Claim, path string) model.Actor {
	fits := func(t *model.AuditEvent) bool {
		return t.Action != model.Deleted && (len(t.Fields) == 0 && !excepts(t, path) || names(t, path))
	}
	if t := lastEvent(c.AuditEvents, fits); t != nil {
		return t.Actor
	}
	return model.UnknownActor(cmp.Or(c.WriterUnknown, "nothing tells who declared it"))
}

// claimAuthorOrUnapplied returns claimAuthor of a value that was not applied yet, with a
// reason of its own if that is unknown.
func claimAuthorOrUnapplied(c *model.Claim, path string) model.Actor {
	if a := claimAuthor(c, path); a.Confidence != model.Unknown {
		return a
	}
	return notAppliedActor()
}

// completeActor returns the latest of three actors: the given one, the one that changed the field
// in the declaration according to its log, and the one that changed many resources at once.
func (w *walk) completeActor(d, l model.Value, actor model.Actor) model.Actor {
	path := w.path.String()
	if t := lastEvent(w.claim.AuditEvents, func(t *model.AuditEvent) bool { return t.Action == model.Edited && names(t, path) }); t != nil {
		actor = orReason(latest(actor, t.Actor), t.Actor)
	} else {
		actor = orReason(actor, model.UnknownActor(w.claim.LogUnread))
	}
	if len(w.subject.BroadEvents) == 0 {
		return actor
	}
	live := w.livePath()
	broad := func(t *model.AuditEvent) bool { return names(t, live) && touches(t, d, l) }
	if t := lastEvent(w.subject.BroadEvents, broad); t != nil {
		actor = latest(actor, t.Actor)
	}
	return actor
}

// touches reports whether the difference between two values contains a text that the
// entry added, removed or replaced.
func touches(t *model.AuditEvent, d, l model.Value) bool {
	switch len(t.Texts) {
	case 0:
		return true
	case 2:
		return !holds(d, t.Texts[1]) && holds(l, t.Texts[1])
	}
	return slices.ContainsFunc(t.Texts, func(of string) bool { return holds(d, of) != holds(l, of) })
}

// holds reports whether a value is a text, or a list that contains it.
func holds(v model.Value, text string) bool {
	return v.Text() == text && v.Kind() == model.String ||
		slices.ContainsFunc(v.Items(), func(item model.Value) bool { return item.Text() == text })
}

// latest returns the later actor; a known one precedes an unknown one.
func latest(a, b model.Actor) model.Actor {
	if b.Compare(a) < 0 {
		return b
	}
	return a
}

// orReason returns the actor; if it is unknown, with the reason of the other one, if
// that has one and is unknown, too.
func orReason(a, other model.Actor) model.Actor {
	if a.Confidence == model.Unknown && other.Confidence == model.Unknown && other.Reason != "" {
		a.Reason = other.Reason
	}
	return a
}

// asMoved sets the verdict of all differences to Moved and adds one for the ID, if another resource
// replaced the resource of the claim.
func asMoved(s *model.Subject, c *model.Claim, all []difference, o Options) []difference {
	if c.Former == "" {
		return all
	}
	former, now := model.StringOf(c.Former), model.StringOf(s.ID)
	made := lastEvent(s.AuditEvents, func(t *model.AuditEvent) bool { return t.Action == model.Created })
	actor := latest(remover(s, c), creator(s, o))
	change := model.Change{Path: "id", Recorded: &former, Live: &now, Actor: &actor}
	if !c.RecordOnly {
		change.Declared = &former
	}
	moved := []difference{{verdict: model.Moved, change: change, reason: "made again: " + c.Former + " is gone, and this stands in its place; the next apply creates a second one"}}
	for _, f := range all {
		f.verdict, f.reason = model.Moved, ""
		if path := cmp.Or(f.change.LivePath, f.change.Path); f.change.Actor.Confidence == model.Unknown && (made == nil || !excepts(made, path)) {
			f.change.Actor = &actor
		}
		moved = append(moved, f)
	}
	return moved
}

// reportMasked reports a field whose value the system never returns, if the logs contain another
// actor for the field than for the creation of the resource.
func (w *walk) reportMasked(schema *model.Schema, d, l model.Value) {
	if !schema.Masked {
		return
	}
	path := w.livePath()
	made := lastEvent(w.subject.AuditEvents, func(t *model.AuditEvent) bool { return t.Action == model.Created })
	set := lastEvent(w.subject.AuditEvents, func(t *model.AuditEvent) bool {
		return t.Action == model.Edited && names(t, path)
	})
	verdict := model.Changed
	if absentEquals(schema, d) && !l.IsEmpty() && w.declaredAbsent(schema) {
		verdict = model.Undeclared
	}
	if d.IsNull() && verdict == model.Changed || set == nil || made != nil && made.Actor.Name == set.Actor.Name {
		return
	}
	w.differences = append(w.differences, difference{verdict: verdict, reason: "the source never shows the value; its log tells that it was set",
		change: model.Change{Path: w.path.String(), LivePath: w.changedLivePath(), Secret: true, Actor: &set.Actor}})
}

// livePath returns the path of the live field at the walk's path.
func (w *walk) livePath() string {
	if w.claim.Lens == nil {
		return w.path.String()
	}
	return w.claim.Lens.LivePath(w.live.Value, w.path.live().String())
}

// changedLivePath returns livePath for a claim with a lens; "" otherwise.
func (w *walk) changedLivePath() string {
	if w.claim.Lens == nil {
		return ""
	}
	return w.livePath()
}

// remover returns the actor that deleted a resource according to the source's logs. The actor that
// declared the resource is mentioned in the reason only: the resource of a claim that is matched by
// identities may never have existed, or not since it was declared again.
func remover(s *model.Subject, c *model.Claim) model.Actor {
	gone := lastEvent(s.AuditEvents, func(t *model.AuditEvent) bool { return t.Action == model.Deleted })
	var made *model.AuditEvent
	if c.ByIdentity {
		made = lastEvent(c.AuditEvents, func(t *model.AuditEvent) bool { return t.Action == model.Created })
	}
	switch {
	case gone != nil && madeAfter(s.AuditEvents, gone):
		return model.UnknownActor("created again after the last deletion in " + s.Source + "'s logs: its removal is not in them yet")
	case gone != nil && (made == nil || !gone.Actor.At.Before(made.Actor.At)):
		return gone.Actor
	case made != nil:
		return model.UnknownActor("never made, or removed and not found in " + s.Source + "'s logs: it was declared by " + describeActor(made.Actor))
	}
	reason := "never created, or deleted: the source keeps no record of deletions"
	if s.Kind != nil {
		reason = cmp.Or(s.Kind.WriterUnknown, reason)
	}
	if c.ByIdentity {
		reason = cmp.Or(c.WriterUnknown, reason)
	}
	return model.UnknownActor(reason)
}

// deleter returns the actor who deletes a live resource according to the source's logs, or else the given one.
func deleter(s *model.Subject, otherwise model.Actor) model.Actor {
	if gone := lastEvent(s.AuditEvents, func(t *model.AuditEvent) bool { return t.Action == model.Deleted }); gone != nil {
		return gone.Actor
	}
	return otherwise
}

// madeAfter reports whether the events, sorted by time, contain the creation of a resource after its deletion.
func madeAfter(events []model.AuditEvent, gone *model.AuditEvent) bool {
	made := lastEvent(events, func(t *model.AuditEvent) bool { return t.Action == model.Created && t.Ref == gone.Ref })
	return made != nil && made.Actor.At.After(gone.Actor.At)
}

// unmanagedActor returns who created a live resource that the declarations do not declare,
// or removed it from one of them later. If neither is known, the reason is that a log
// could not be read, if there is one.
func unmanagedActor(s *model.Subject, declarations []string, o Options) model.Actor {
	actor := creator(s, o)
	for i := range s.Dropped {
		if d := &s.Dropped[i]; slices.Contains(declarations, d.Declaration) {
			actor = orReason(latest(actor, d.Actor), d.Actor)
		}
	}
	return actor
}

// describeActor returns a text with the name of the actor, the time and the evidence.
func describeActor(a model.Actor) string {
	text := a.Name
	if !a.At.IsZero() {
		text += " at " + a.At.UTC().Format("2006-01-02 15:04 UTC")
	}
	if where := strings.Join(slices.DeleteFunc([]string{a.Via, a.Evidence}, func(s string) bool { return s == "" }), ", "); where != "" {
		text += " (" + where + ")"
	}
	return text
}

// unknownEditor returns an unknown actor with the time of the last change.
func unknownEditor(live *model.Resource) model.Actor {
	return unknownActorAt(live, live.Updated, model.ViaLastChange)
}

// unknownActorAt returns an unknown actor with the reason and the time, if it is known.
func unknownActorAt(live *model.Resource, at time.Time, via string) model.Actor {
	actor := model.UnknownActor(cmp.Or(live.WriterUnknown, "the live object carries no record of its writers"))
	if !at.IsZero() {
		actor.At, actor.Via = at, via
	}
	return actor
}
