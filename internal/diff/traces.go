package diff

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// lastTrace returns the last trace that fits, or nil.
func lastTrace(traces []model.Trace, fits func(*model.Trace) bool) *model.Trace {
	for i := len(traces) - 1; i >= 0; i-- {
		if fits(&traces[i]) {
			return &traces[i]
		}
	}
	return nil
}

// traced names who changed the field at the walk's path, after the source's
// logs.
func (w *walk) traced() model.Actor { return tracedIn(w.subject, w.livePath()) }

// tracedIn names who changed the live field at a path: the last one that an
// entry names with the field, or else the last one whose entry names the
// resource and no field, unless the field is no part of the resource itself.
func tracedIn(s *model.Subject, path string) model.Actor {
	named := func(t *model.Trace) bool { return t.Deed == model.Edited && names(t, path) }
	if t := lastTrace(s.Traces, named); t != nil {
		return t.Actor
	}
	if where := recordedElsewhere(s.Kind, path); where != "" {
		return model.UnknownActor(where)
	}
	unnamed := func(t *model.Trace) bool { return t.Deed == model.Edited && len(t.Fields) == 0 && !excepts(t, path) }
	if t := lastTrace(s.Traces, unnamed); t != nil {
		return t.Actor
	}
	return noWriters(s.Live)
}

// recordedElsewhere returns Kind.Elsewhere of the field that a live path leads to.
func recordedElsewhere(kind *model.Kind, path string) string {
	if kind == nil {
		return ""
	}
	for field, where := range kind.Elsewhere {
		if below(path, field) {
			return where
		}
	}
	return ""
}

// names tells whether a log's entry names the field at a path, one above it or
// one below.
func names(t *model.Trace, path string) bool {
	return path != "" && !excepts(t, path) && slices.ContainsFunc(t.Fields, func(f string) bool { return below(path, f) || below(f, path) })
}

// excepts reports whether a log's entry is no evidence for the field at a path.
func excepts(t *model.Trace, path string) bool {
	return slices.ContainsFunc(t.Except, func(f string) bool { return below(path, f) })
}

// below tells whether a path is the other one, or leads on from it.
func below(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// claimActor names who made a claim say what it says at a path, after the
// declaration's own log.
func claimActor(c *model.Claim, path string) model.Actor {
	fits := func(t *model.Trace) bool {
		return t.Deed != model.Deleted && (len(t.Fields) == 0 && !excepts(t, path) || names(t, path))
	}
	if t := lastTrace(c.Traces, fits); t != nil {
		return t.Actor
	}
	return model.UnknownActor(cmp.Or(c.Unsigned, "nothing tells who declared it"))
}

// declarer names who declared what was not applied yet.
func declarer(c *model.Claim, path string) model.Actor {
	if a := claimActor(c, path); a.Confidence != model.Unknown {
		return a
	}
	return notApplied()
}

// by completes the actor of a change: whoever changed the declaration, where its
// log names the field, or changed many resources at once.
func (w *walk) by(d, l model.Value, actor model.Actor) model.Actor {
	path := w.path.String()
	if t := lastTrace(w.claim.Traces, func(t *model.Trace) bool { return t.Deed == model.Edited && names(t, path) }); t != nil {
		actor = orReason(latest(actor, t.Actor), t.Actor)
	} else {
		actor = orReason(actor, model.UnknownActor(w.claim.LogUnread))
	}
	if len(w.subject.Broad) == 0 {
		return actor
	}
	live := w.livePath()
	broad := func(t *model.Trace) bool { return names(t, live) && touches(t, d, l) }
	if t := lastTrace(w.subject.Broad, broad); t != nil {
		actor = latest(actor, t.Actor)
	}
	return actor
}

// touches tells whether what came or went between two values is what the entry
// tells of: where one text became another, that one is there now.
func touches(t *model.Trace, d, l model.Value) bool {
	switch len(t.Of) {
	case 0:
		return true
	case 2:
		return !holds(d, t.Of[1]) && holds(l, t.Of[1])
	}
	return slices.ContainsFunc(t.Of, func(of string) bool { return holds(d, of) != holds(l, of) })
}

// holds tells whether a value is a text, or a list that has it.
func holds(v model.Value, text string) bool {
	return v.Text() == text && v.Kind() == model.String ||
		slices.ContainsFunc(v.Items(), func(item model.Value) bool { return item.Text() == text })
}

// latest returns the actor who came last; one who is known before one who is not.
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

// replaced turns what a claim differs in into one story, where another resource
// stands in the place of the one that it knew.
func replaced(s *model.Subject, c *model.Claim, all []found) []found {
	if c.Former == "" {
		return all
	}
	former, now := model.StringOf(c.Former), model.StringOf(s.ID)
	made := lastTrace(s.Traces, func(t *model.Trace) bool { return t.Deed == model.Created })
	actor := latest(remover(s, c), creator(s))
	change := model.Change{Path: "id", Recorded: &former, Live: &now, Actor: &actor}
	if !c.RecordOnly {
		change.Declared = &former
	}
	moved := []found{{verdict: model.Moved, change: change, reason: "made again: " + c.Former + " is gone, and this stands in its place; the next apply creates a second one"}}
	for _, f := range all {
		f.verdict, f.reason = model.Moved, ""
		if path := cmp.Or(f.change.LivePath, f.change.Path); f.change.Actor.Confidence == model.Unknown && (made == nil || !excepts(made, path)) {
			f.change.Actor = &actor
		}
		moved = append(moved, f)
	}
	return moved
}

// masked reports a field whose value the system never shows, where its logs
// tell that somebody else than the maker of the resource set it.
func (w *walk) masked(schema *model.Schema, d model.Value) {
	if !schema.Masked {
		return
	}
	path := w.livePath()
	made := lastTrace(w.subject.Traces, func(t *model.Trace) bool { return t.Deed == model.Created })
	set := lastTrace(w.subject.Traces, func(t *model.Trace) bool {
		return t.Deed == model.Edited && names(t, path)
	})
	if d.IsNull() || set == nil || made != nil && made.Actor.Name == set.Actor.Name {
		return
	}
	w.found = append(w.found, found{verdict: model.Changed, reason: "the source never shows the value; its log tells that it was set",
		change: model.Change{Path: w.path.String(), LivePath: w.changedLivePath(), Secret: true, Actor: &set.Actor}})
}

// livePath returns the path of the walk in the live resource's words.
func (w *walk) livePath() string {
	if w.claim.Lens == nil {
		return w.path.String()
	}
	return w.claim.Lens.LivePath(w.live.Value, w.path.live().String())
}

// changedLivePath is what a change says of the live path: nothing where it is
// the same.
func (w *walk) changedLivePath() string {
	if w.claim.Lens == nil {
		return ""
	}
	return w.livePath()
}

// remover names who deleted a resource, after the source's logs. Who says that
// it should be there removed nothing, and is named in the reason alone: where a
// claim goes by identities, what it means may never have been there, or not since
// it was declared again.
func remover(s *model.Subject, c *model.Claim) model.Actor {
	gone := lastTrace(s.Traces, func(t *model.Trace) bool { return t.Deed == model.Deleted })
	var made *model.Trace
	if c.ByIdentity {
		made = lastTrace(c.Traces, func(t *model.Trace) bool { return t.Deed == model.Created })
	}
	switch {
	case gone != nil && (made == nil || !gone.Actor.At.Before(made.Actor.At)):
		return gone.Actor
	case made != nil:
		return model.UnknownActor("never made, or removed and not found in " + s.Source + "'s logs: it was declared by " + told(made.Actor))
	}
	reason := "never created, or deleted: the source keeps no record of deletions"
	if s.Kind != nil {
		reason = cmp.Or(s.Kind.Unsigned, reason)
	}
	if c.ByIdentity {
		reason = cmp.Or(c.Unsigned, reason)
	}
	return model.UnknownActor(reason)
}

// abandoner names who made a live resource one that the declarations do not declare:
// who made it, or who removed it from one of them later. Where neither is known, the
// log that could not be read comes first.
func abandoner(s *model.Subject, declarations []string) model.Actor {
	actor := creator(s)
	for i := range s.Dropped {
		if d := &s.Dropped[i]; slices.Contains(declarations, d.Declaration) {
			actor = orReason(latest(actor, d.Actor), d.Actor)
		}
	}
	return actor
}

// told says in words who did something, when and where that is written.
func told(a model.Actor) string {
	text := a.Name
	if !a.At.IsZero() {
		text += " at " + a.At.UTC().Format("2006-01-02 15:04 UTC")
	}
	if where := strings.Join(slices.DeleteFunc([]string{a.Via, a.Evidence}, func(s string) bool { return s == "" }), ", "); where != "" {
		text += " (" + where + ")"
	}
	return text
}

// noWriters says that nobody can be named for an edit, and when the last one was.
func noWriters(live *model.Resource) model.Actor {
	return someone(live, live.Updated, "its last change of any kind, so then or before")
}

// someone says that nobody can be named, and what is known of the time.
func someone(live *model.Resource, at time.Time, via string) model.Actor {
	actor := model.UnknownActor(cmp.Or(live.Unsigned, "the live object carries no record of its writers"))
	if !at.IsZero() {
		actor.At, actor.Via = at, via
	}
	return actor
}
