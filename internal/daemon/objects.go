package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/model"
)

// SourceObjects lists objects of a source for a partial scan. The scan reads only these objects and
// uses the last result for the rest of the source. If that is not possible, it reads the whole
// source. See docs/decisions/0056.
type SourceObjects struct {
	Source string
	Names  []model.ObjectName

	// read describes the objects that were read; "" if the whole source was read.
	read string
}

// A reread is a partial read of a source, whose snapshot has only some objects.
type reread struct {
	// began is the position of the read (Engine.begin).
	began uint64
	part  model.Snapshot
}

// existing returns how many of the objects that were read exist, or did so before.
func (r reread) existing(before *model.Snapshot) int {
	n := 0
	for _, o := range r.part.Reread {
		if before.Has(o.Ref) || r.part.Has(o.Ref) {
			n++
		}
	}
	return n
}

// unproven returns an object that the read did not find and that is in the present snapshot, but not in the one that the collector
// had: it did not check whether it may see the object. It returns the zero Ref if there is none.
func (r reread) unproven(last, now *model.Snapshot) model.Ref {
	for _, o := range r.part.Reread {
		if !r.part.Has(o.Ref) && now.Has(o.Ref) && !last.Has(o.Ref) {
			return o.Ref
		}
	}
	return model.Ref{}
}

// maxRereads is how many partial reads a source has until it is read in full again.
const maxRereads = 100

// with returns the result with a partial read on top.
func (c collected) with(r reread) collected {
	c.snapshot = c.snapshot.With(&r.part)
	c.counts = c.expected(&c.snapshot)
	c.rereads = append(slices.Clip(c.rereads), r)
	return c
}

// mergeable returns the reason why a partial read cannot be added to the result, or "" if it can.
func (c collected) mergeable() string {
	switch {
	case c.kinds == nil:
		return "it was not read in full since the start"
	case c.err != nil:
		return "its last full read failed"
	case c.worse:
		return "its last full read failed in part"
	case len(c.snapshot.Stale) > 0:
		return "its last full read may be of an old copy"
	case len(c.rereads) >= maxRereads:
		return fmt.Sprintf("it was read in part %d times since its last full read", maxRereads)
	}
	return ""
}

// collectObjects reads objects of a source. If that fails, it reads the whole source: the rest of
// the last result does not prove any more what the named objects are.
func (e *Engine) collectObjects(ctx context.Context, s Source, o *SourceObjects) {
	err := e.rereadObjects(ctx, s, o)
	if err == nil {
		return
	}
	reason := err.Error()
	if whole, ok := errors.AsType[*collectors.WholeError](err); ok {
		reason = whole.Reason
	}
	e.log.InfoContext(ctx, "cannot read single objects, reads the whole source", "source", s.Name, "reason", reason)
	before, now := e.collectedFrom(s.Name), e.collectSource(ctx, s)
	now.worse = now.failedScopes() > before.failedScopes()
	e.setCollected(s.Name, now)
}

// failedScopes returns the number of scopes that could not be read.
func (c collected) failedScopes() int {
	n := 0
	for _, scope := range c.snapshot.Coverage {
		if scope.Failed() {
			n++
		}
	}
	return n
}

// rereadObjects reads objects of a source and adds them to its last result.
func (e *Engine) rereadObjects(ctx context.Context, s Source, o *SourceObjects) error {
	collector, ok := s.Collector.(collectors.ObjectCollector)
	if !ok {
		return &collectors.WholeError{Reason: "sources of type " + s.Type + " are always read in full"}
	}
	last := e.collectedFrom(s.Name)
	if reason := last.mergeable(); reason != "" {
		return &collectors.WholeError{Reason: reason}
	}
	began := e.begin()
	part, err := callBounded(ctx, &e.calls, s.task(), e.now, func(ctx context.Context) (model.Snapshot, error) {
		part, err := collector.CollectObjects(ctx, o.Names, &last.snapshot)
		return part, cmp.Or(err, budget.Fits(ctx, part.Weight()))
	})
	if err != nil {
		return e.estate.Secrets.Error(err)
	}
	return e.addReread(s.Name, last, reread{began, e.estate.Secrets.Snapshot(part)}, o)
}

// addReread adds a partial read to the last result of its source. It does nothing if another read
// began later, or if none of the objects exists or existed before. last is the result that the
// collector received.
func (e *Engine) addReread(source string, last collected, r reread, o *SourceObjects) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.collected[source]
	later := before.began > r.began || len(before.rereads) > 0 && before.rereads[len(before.rereads)-1].began > r.began
	if later {
		o.read = "objects of source " + source + " that a later read includes"
		return nil
	}
	if reason := before.mergeable(); reason != "" {
		return &collectors.WholeError{Reason: reason}
	}
	if gone := r.unproven(&last.snapshot, &before.snapshot); gone != (model.Ref{}) {
		return &collectors.WholeError{Reason: gone.Kind + " " + gone.ID + " is absent, and was found by a read that ended after this one began"}
	}
	marks := track(before.marks, &r.part, e.now())
	if len(r.part.Stale) > 0 {
		return errors.New(r.part.Stale[0].Reason)
	}
	existing := r.existing(&before.snapshot)
	if existing == 0 {
		o.read = fmt.Sprintf("0 of %d objects of source %s", len(before.snapshot.Resources), source)
		return nil
	}
	now := before.with(r)
	if held := holdBack(before, now); held.held {
		return &collectors.WholeError{Reason: held.err.Error()}
	}
	now.marks = marks
	o.read = fmt.Sprintf("%d of %d objects of source %s", existing, len(now.snapshot.Resources), source)
	e.keep(source, now)
	return nil
}

// keep sets the result of a source. The caller holds mu.
func (e *Engine) keep(source string, l collected) {
	e.calls.memory.Keep("source "+source, l.snapshot.Weight())
	e.collected[source] = l
}
