package diff

import (
	"cmp"
	"slices"
	"strings"

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
// logs: the last one that an entry names with the field, or else the last one
// whose entry names the resource and no field.
func (w *walk) traced() model.Actor {
	field := topField(w.livePath())
	named := func(t *model.Trace) bool { return t.Deed == model.Edited && slices.Contains(t.Fields, field) }
	if t := lastTrace(w.subject.Traces, named); t != nil {
		return t.Actor
	}
	unnamed := func(t *model.Trace) bool { return t.Deed == model.Edited && len(t.Fields) == 0 }
	if t := lastTrace(w.subject.Traces, unnamed); t != nil {
		return t.Actor
	}
	return noWriters(w.live)
}

// masked reports a field whose value the system never shows, where its logs
// tell that somebody else than the maker of the resource set it.
func (w *walk) masked(schema *model.Schema, d model.Value) {
	if !schema.Masked {
		return
	}
	field := topField(w.livePath())
	made := lastTrace(w.subject.Traces, func(t *model.Trace) bool { return t.Deed == model.Created })
	set := lastTrace(w.subject.Traces, func(t *model.Trace) bool {
		return t.Deed == model.Edited && slices.Contains(t.Fields, field)
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

// topField returns the first step of a path.
func topField(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}

// remover names who deleted a resource, after the source's logs.
func remover(s *model.Subject) model.Actor {
	if t := lastTrace(s.Traces, func(t *model.Trace) bool { return t.Deed == model.Deleted }); t != nil {
		return t.Actor
	}
	return model.UnknownActor("the source keeps no record of this deletion")
}

// noWriters says that nobody can be named.
func noWriters(live *model.Resource) model.Actor {
	return model.UnknownActor(cmp.Or(live.Unsigned, "the live object carries no record of its writers"))
}
