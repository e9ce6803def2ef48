package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// collectAndLoad collects the sources and loads the declarations that are due, all concurrently,
// and then loads the declarations that are derived from sources.
func (e *Engine) collectAndLoad(ctx context.Context, due Due) {
	var group sync.WaitGroup
	for _, s := range e.estate.Sources {
		if slices.Contains(due.Sources, s.Name) {
			group.Go(func() { e.setCollected(s.Name, e.collectSource(ctx, s)) })
		}
	}
	for i := range due.Objects {
		o := &due.Objects[i]
		for _, s := range e.estate.Sources {
			if s.Name == o.Source {
				group.Go(func() { e.collectObjects(ctx, s, o) })
			}
		}
	}
	for _, d := range e.estate.Declarations {
		if d.Loader != nil && slices.Contains(due.Declarations, d.Name) {
			group.Go(func() { e.loadDeclaration(ctx, d, d.Loader) })
		}
	}
	group.Wait()
	for _, s := range due.Watched {
		// A watch reports each deletion, so its result is not held back. It does
		// not confirm a result that is.
		if before := e.previous(s.Source); !before.held {
			s = e.estate.Secrets.Snapshot(s)
			marks := track(before.marks, &s, e.now())
			e.setCollected(s.Source, collected{began: e.begin(), snapshot: s, counts: before.expected(&s), marks: marks})
		}
	}
	for _, l := range due.Lost {
		e.recordLoss(ctx, l)
	}
	for _, d := range e.estate.Declarations {
		if due.derives(d) {
			e.loadDeclaration(ctx, d, deriveLoader{d.Deriver, e.collectedFrom(d.Deriver.From())})
		}
	}
	e.canonicalize(ctx, due)
}

// recordLoss sets the result of a source that became unreachable.
func (e *Engine) recordLoss(ctx context.Context, l Loss) {
	before := e.previous(l.Source)
	l.Err = e.estate.Secrets.Error(l.Err)
	e.logUnread(ctx, "source "+l.Source, l.Err)
	e.setCollected(l.Source, collected{began: e.begin(), snapshot: model.Snapshot{Taken: before.snapshot.Taken}, err: l.Err, counts: before.counts, marks: before.marks})
}

// derives reports whether a declaration is to be derived from its source: the source was
// read, or the declaration is due.
func (d Due) derives(declaration Declaration) bool {
	if declaration.Deriver == nil {
		return false
	}
	from := declaration.Deriver.From()
	return d.collects(from) || slices.Contains(d.Declarations, declaration.Name)
}

// maxNamed bounds the names in the text of a Due.
const maxNamed = 10

// String returns the names of the sources and declarations to read, such as "source prod,
// declaration git", or "nothing".
func (d Due) String() string {
	var names []string
	for _, s := range d.Sources {
		names = append(names, "source "+s)
	}
	for _, o := range d.Objects {
		names = append(names, cmp.Or(o.read, "source "+o.Source))
	}
	for _, s := range d.Watched {
		names = append(names, "source "+s.Source)
	}
	for _, l := range d.Lost {
		names = append(names, "source "+l.Source)
	}
	for _, name := range d.Declarations {
		names = append(names, "declaration "+name)
	}
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return cmp.Or(strings.Join(names, ", "), "nothing")
}

// collects reports whether the scan has a new result of the source.
func (d Due) collects(source string) bool {
	return slices.Contains(d.Sources, source) || slices.ContainsFunc(d.Objects, func(o SourceObjects) bool { return o.Source == source }) || slices.ContainsFunc(d.Watched, func(s model.Snapshot) bool { return s.Source == source }) ||
		slices.ContainsFunc(d.Lost, func(l Loss) bool { return l.Source == source })
}

// collectsWhole reports whether the scan has read the whole source.
func (d Due) collectsWhole(source string) bool {
	return slices.Contains(d.Sources, source) || slices.ContainsFunc(d.Objects, func(o SourceObjects) bool { return o.Source == source && o.read == "" })
}

// A deriveLoader derives a declaration from a result of its source.
type deriveLoader struct {
	deriver declared.Deriver
	from    collected
}

// Load implements declared.Loader.
func (d deriveLoader) Load(context.Context) (model.Declaration, error) {
	err := d.from.err
	if err == nil && d.from.kinds == nil {
		err = errNotYet
	}
	if stale := d.from.snapshot.Stale; err == nil && len(stale) > 0 {
		err = fmt.Errorf("possibly stale: %s", stale[0].Reason)
	}
	if err != nil {
		return model.Declaration{}, fmt.Errorf("read it from source %s: %w", d.deriver.From(), err)
	}
	return d.deriver.Derive(d.from.snapshot)
}

func (e *Engine) collectedFrom(source string) collected {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.collected[source]
}

// previous returns the last result of a source, of this engine or an earlier one.
func (e *Engine) previous(source string) collected {
	if l := e.collectedFrom(source); l.kinds != nil {
		return l
	}
	return e.restore(source)
}

// begin returns the position of a read among all reads of the engine: reads that begin later have a greater one.
func (e *Engine) begin() uint64 { return e.reads.Add(1) }

// setCollected sets the result of a source, unless there is one of a read that began later.
// Partial reads that began later are added to it.
func (e *Engine) setCollected(source string, l collected) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.collected[source]
	if before.began > l.began {
		return
	}
	for _, r := range before.rereads {
		if r.began > l.began && l.err == nil {
			l = l.with(r)
		}
	}
	e.keep(source, l)
}

// setLoaded sets the result of a declaration, unless there is one of a read that began later.
func (e *Engine) setLoaded(declaration string, r loaded) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.loaded[declaration].began > r.began {
		return
	}
	e.calls.memory.Keep("declaration "+declaration, r.declaration.Weight())
	e.loaded[declaration] = r
}

// collectSource reads a source. With ConfirmAtOnce it reads the source again if the result is held
// back.
func (e *Engine) collectSource(ctx context.Context, s Source) collected {
	began := e.begin()
	now := e.collectOnce(ctx, s)
	// The store is read after the source, so that it is in use for a short time only.
	before := e.previous(s.Name)
	now = holdBack(before, e.withMarks(before, now))
	if now.held && e.estate.ConfirmAtOnce {
		now = holdBack(now, e.withMarks(now, e.collectOnce(ctx, s)))
	}
	if now.err != nil {
		now.counts, now.snapshot.Taken = before.counts, before.snapshot.Taken
		e.logUnread(ctx, "source "+s.Name, now.err)
	}
	now.began = began
	return now
}

// withMarks compares the positions of a result with those of earlier ones.
func (e *Engine) withMarks(before, now collected) collected {
	now.marks = before.marks
	if now.err == nil {
		now.marks = track(before.marks, &now.snapshot, e.now())
	}
	return now
}

func (e *Engine) collectOnce(parent context.Context, s Source) collected {
	started := e.now()
	snapshot, err := callBounded(parent, &e.calls, s.task(), e.now, func(ctx context.Context) (model.Snapshot, error) {
		snapshot, err := s.Collector.Collect(ctx)
		return snapshot, cmp.Or(err, budget.Fits(ctx, snapshot.Weight()))
	})
	err = e.estate.Secrets.Error(err)
	took := e.now().Sub(started)
	e.observer.SourceScanned(s.Name, took, err)
	return collected{snapshot: e.estate.Secrets.Snapshot(snapshot), err: err, duration: took}
}

// restore returns the last result of a source from the store. It reads the store only once, since
// later results come from this engine.
func (e *Engine) restore(source string) collected {
	e.mu.Lock()
	known, ok := e.restored[source]
	e.mu.Unlock()
	if ok {
		return known
	}
	last, err := e.store.LastRead(source)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		e.log.Warn("read the last result", "source", source, "err", err)
		return collected{}
	}
	known = collected{snapshot: model.Snapshot{Taken: last.Taken}, counts: counts{kinds: last.Kinds}, held: last.Held, marks: last.Marks}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.restored[source] = known
	return known
}

// loadDeclaration reads a declaration. If the engine of the declaration also read the live side,
// that is the result of a separate source. With ConfirmAtOnce it reads the declaration again if
// that result is held back.
func (e *Engine) loadDeclaration(ctx context.Context, d Declaration, loader declared.Loader) {
	name, began := model.LiveSource(d.Name), e.begin()
	before := e.previous(name)
	r := e.loadOnce(ctx, d, loader)
	own, seen := r.ownSnapshot(d, before)
	if own.held && e.estate.ConfirmAtOnce {
		r = e.loadOnce(ctx, d, loader)
		own, seen = r.ownSnapshot(d, own)
	}
	r.began, own.began = began, began
	e.setLoaded(d.Name, r)
	if seen {
		e.setCollected(name, own)
	}
}

// ownSnapshot returns the result of the live side that a declaration's engine read; seen
// is false if it never reads that.
func (r loaded) ownSnapshot(d Declaration, before collected) (own collected, seen bool) {
	switch {
	case r.declaration.Live != nil:
		snapshot := *r.declaration.Live
		snapshot.Taken = r.at.Add(-r.duration)
		return holdBack(before, collected{snapshot: snapshot, duration: r.duration}), true
	case d.ClaimsNothing:
	case before.kinds != nil || len(d.Governs) == 0:
		return collected{snapshot: model.Snapshot{Taken: before.snapshot.Taken}, err: cmp.Or(r.err, errNoLive), duration: r.duration, counts: before.counts}, true
	}
	return collected{}, false
}

// errNoLive is the error of a declaration whose engine usually reads the live side and did
// not.
var errNoLive = errors.New("the declaration's engine did not read the live side")

// loadOnce reads a declaration within its timeout.
func (c *calls) loadOnce(parent context.Context, d Declaration, loader declared.Loader, now func() time.Time) (model.Declaration, error) {
	return callBounded(parent, c, d.task(), now, func(ctx context.Context) (model.Declaration, error) {
		declaration, err := loader.Load(ctx)
		return declaration, cmp.Or(err, budget.Fits(ctx, declaration.Weight()))
	})
}

// Load reads the declaration within its timeout. If the loader does not return some time after the
// timeout, Load abandons it and returns an error.
func (d Declaration) Load(ctx context.Context) (model.Declaration, error) {
	return (&calls{}).loadOnce(ctx, d, d.Loader, time.Now)
}

func (e *Engine) loadOnce(parent context.Context, d Declaration, loader declared.Loader) loaded {
	started := e.now()
	declaration, err := e.calls.loadOnce(parent, d, loader, e.now)
	if err != nil {
		r := e.failed(parent, d, e.estate.Secrets.Error(err))
		r.duration = e.now().Sub(started)
		return r
	}
	e.observer.DeclarationLoaded(d.Name, nil)
	if _, derived := loader.(deriveLoader); derived {
		declaration = e.estate.Secrets.Derived(declaration)
	} else {
		declaration = e.estate.Secrets.Declaration(declaration)
	}
	e.mu.Lock()
	before := e.loaded[d.Name].declaration.Claims
	e.mu.Unlock()
	declaration.Claims = withSince(before, declaration.Claims, declaration.Revised)
	now := e.now()
	return loaded{declaration: declaration, duration: now.Sub(started), at: now, unsaved: true}
}

// failed returns the result of a declaration that could not be read.
func (e *Engine) failed(ctx context.Context, d Declaration, err error) loaded {
	e.logUnread(ctx, "declaration "+d.Name, err)
	e.observer.DeclarationLoaded(d.Name, err)
	return loaded{err: err, at: e.now(), declaration: model.Declaration{Name: d.Name, Governs: governed(d), Inventory: d.Deriver != nil,
		Problems: unreadable(d, err)}}
}

// unreadable returns the problem of a declaration that could not be read as a whole.
func unreadable(d Declaration, err error) []model.Problem {
	p := model.Problem{Address: d.Name, Reason: err.Error()}
	if d.Deriver != nil {
		p.Source = d.Deriver.From()
	}
	return []model.Problem{p}
}

// governed returns the sources that a declaration speaks of, at least its own
// live side where it has one.
func governed(d Declaration) []string {
	if len(d.Governs) == 0 && !d.ClaimsNothing {
		return []string{model.LiveSource(d.Name)}
	}
	return d.Governs
}

// withSince sets Since of the claims that changed since the last read to the time of the commit,
// because the time of the read may be later than the apply. A claim with a time of its own keeps
// it.
func withSince(before, claims []model.Claim, revised time.Time) []model.Claim {
	if len(before) == 0 || revised.IsZero() {
		return claims
	}
	type id struct{ kind, id string }
	known := make(map[id]*model.Claim, len(before))
	for i := range before {
		known[id{before[i].Kind, before[i].ID}] = &before[i]
	}
	dated := slices.Clone(claims)
	for i := range dated {
		c := &dated[i]
		if !c.Since.IsZero() {
			continue
		}
		c.Since = revised
		if old := known[id{c.Kind, c.ID}]; old != nil && old.Value.Equal(c.Value) {
			c.Since = old.Since
		}
	}
	return dated
}

// logUnread logs a failed read, unless driftd is stopping.
func (e *Engine) logUnread(ctx context.Context, of string, err error) {
	if ctx.Err() != nil {
		return
	}
	log := e.log.With("of", of, "err", err)
	if panicked, ok := errors.AsType[*panicError](err); ok {
		log = log.With("stack", string(panicked.recovered.Stack))
	}
	log.Error("cannot read")
}

// canonicalize sets the canonical form of the claims of sources that can return it, for the
// sources and declarations that due names. A change that a watch reports does not affect
// that form.
func (e *Engine) canonicalize(ctx context.Context, due Due) {
	for _, s := range e.estate.Sources {
		canonicalizer, ok := s.Collector.(collectors.Canonicalizer)
		if !ok {
			continue
		}
		for _, d := range e.estate.Declarations {
			anew := due.collectsWhole(s.Name) || slices.Contains(due.Declarations, d.Name)
			if anew && slices.Contains(d.Governs, s.Name) {
				e.canonicalizeOne(ctx, s, d, canonicalizer)
			}
		}
	}
}

func (e *Engine) canonicalizeOne(parent context.Context, s Source, d Declaration, c collectors.Canonicalizer) {
	e.mu.Lock()
	r := e.loaded[d.Name]
	failed := e.collected[s.Name].err != nil
	e.mu.Unlock()
	if r.err != nil || failed {
		return
	}
	t := s.task()
	t.what = "canonicalizing for source " + s.Name
	claims, err := callBounded(parent, &e.calls, t, e.now, func(ctx context.Context) ([]model.Claim, error) {
		return c.Canonicalize(ctx, r.declaration.Claims)
	})
	if err != nil {
		e.log.Warn("canonicalize claims", "source", s.Name, "declaration", d.Name, "err", e.estate.Secrets.Error(err))
		return
	}
	claims = e.estate.Secrets.Canonical(r.declaration.Claims, claims)
	canonical := map[string][]model.Claim{s.Name: claims}
	for source, other := range r.canonical {
		if source != s.Name {
			canonical[source] = other
		}
	}
	r.canonical = canonical
	e.setLoaded(d.Name, r)
}

// withTimeout bounds a part of a scan; zero means no bound of its own.
func withTimeout(ctx context.Context, timeout time.Duration, what string) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, timeout, &collectors.ExpiredError{Of: what, After: timeout})
}
