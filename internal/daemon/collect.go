package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reach"
	"github.com/driftd/driftd/internal/store"
)

// collect reads what is due, every source and declaration at the same time,
// and keeps the results. It waits for all of them, and then reads what is
// declared in the sources.
func (e *Engine) collect(ctx context.Context, due Due) {
	var group sync.WaitGroup
	for _, s := range e.estate.Sources {
		if slices.Contains(due.Sources, s.Name) {
			group.Go(func() { e.keepLook(s.Name, e.look(ctx, s)) })
		}
	}
	for _, d := range e.estate.Declarations {
		if d.Loader != nil && slices.Contains(due.Declarations, d.Name) {
			group.Go(func() { e.load(ctx, d, d.Loader) })
		}
	}
	group.Wait()
	for _, s := range due.Seen {
		// A source that follows itself saw each deletion; it proves nothing
		// about a look that is held back.
		if before := e.before(s.Source); !before.held {
			s = e.estate.Secrets.Snapshot(s)
			marks := track(before.marks, &s, e.now())
			e.keepLook(s.Source, look{snapshot: s, believed: countKinds(&s), marks: marks})
		}
	}
	for _, l := range due.Lost {
		e.lose(ctx, l)
	}
	for _, d := range e.estate.Declarations {
		if due.derives(d) {
			e.load(ctx, d, derivation{d.Deriver, e.lookOf(d.Deriver.From())})
		}
	}
	e.canonicalize(ctx, due)
}

// lose keeps that a source went out of reach: what it showed last is not how it
// is now.
func (e *Engine) lose(ctx context.Context, l Loss) {
	before := e.before(l.Source)
	l.Err = e.estate.Secrets.Error(l.Err)
	e.complain(ctx, "source "+l.Source, l.Err)
	e.keepLook(l.Source, look{snapshot: model.Snapshot{Taken: before.snapshot.Taken}, err: l.Err, believed: before.believed, marks: before.marks})
}

// derives reports whether a declaration is to be read out of its source: because
// that was looked at, or for its own sake.
func (d Due) derives(declaration Declaration) bool {
	if declaration.Deriver == nil {
		return false
	}
	from := declaration.Deriver.From()
	return d.looksAt(from) || slices.Contains(d.Declarations, declaration.Name)
}

// looksAt reports whether the scan has a new look at the source.
func (d Due) looksAt(source string) bool {
	return slices.Contains(d.Sources, source) || slices.ContainsFunc(d.Seen, func(s model.Snapshot) bool { return s.Source == source }) ||
		slices.ContainsFunc(d.Lost, func(l Loss) bool { return l.Source == source })
}

// A derivation loads a declaration out of a look at its source.
type derivation struct {
	deriver declared.Deriver
	look    look
}

// Load implements declared.Loader.
func (d derivation) Load(context.Context) (model.Declaration, error) {
	err := d.look.err
	if err == nil && d.look.believed == nil {
		err = errNotYet
	}
	if stale := d.look.snapshot.Stale; err == nil && len(stale) > 0 {
		err = fmt.Errorf("possibly stale: %s", stale[0].Reason)
	}
	if err != nil {
		return model.Declaration{}, fmt.Errorf("read it from source %s: %w", d.deriver.From(), err)
	}
	return d.deriver.Derive(d.look.snapshot)
}

func (e *Engine) lookOf(source string) look {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.looks[source]
}

// before is the last look at a source, by this engine or by one before it.
func (e *Engine) before(source string) look {
	if l := e.lookOf(source); l.believed != nil {
		return l
	}
	return e.remembered(source)
}

func (e *Engine) keepLook(source string, l look) {
	e.calls.memory.Keep("source "+source, l.snapshot.Weight())
	e.mu.Lock()
	defer e.mu.Unlock()
	e.looks[source] = l
}

func (e *Engine) keepRead(declaration string, r read) {
	e.calls.memory.Keep("declaration "+declaration, r.declaration.Weight())
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reads[declaration] = r
}

// look looks at a source once; a second time when much has vanished and the
// estate wants that settled at once.
func (e *Engine) look(ctx context.Context, s Source) look {
	now := e.lookOnce(ctx, s)
	// The store is asked after the look, so that a scan holds it only briefly.
	before := e.before(s.Name)
	now = doubt(before, e.tracked(before, now))
	if now.held && e.estate.ConfirmAtOnce {
		now = doubt(now, e.tracked(now, e.lookOnce(ctx, s)))
	}
	if now.err != nil {
		now.believed, now.snapshot.Taken = before.believed, before.snapshot.Taken
		e.complain(ctx, "source "+s.Name, now.err)
	}
	return now
}

// tracked holds a look against the positions of those before it.
func (e *Engine) tracked(before, now look) look {
	now.marks = before.marks
	if now.err == nil {
		now.marks = track(before.marks, &now.snapshot, e.now())
	}
	return now
}

func (e *Engine) lookOnce(parent context.Context, s Source) look {
	started := e.now()
	snapshot, err := run(parent, &e.calls, s.task(), e.now, func(ctx context.Context) (model.Snapshot, error) {
		snapshot, err := s.Collector.Collect(ctx)
		return snapshot, cmp.Or(err, budget.Fits(ctx, snapshot.Weight()))
	})
	err = e.estate.Secrets.Error(err)
	took := e.now().Sub(started)
	e.observer.SourceScanned(s.Name, took, err)
	return look{snapshot: e.estate.Secrets.Snapshot(snapshot), err: err, duration: took}
}

// remembered is what the store knows of the last look at a source that this
// engine has not seen yet. It is asked once: what comes later is this engine's
// own.
func (e *Engine) remembered(source string) look {
	e.mu.Lock()
	known, ok := e.memory[source]
	e.mu.Unlock()
	if ok {
		return known
	}
	last, err := e.store.LastLook(source)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		e.log.Warn("read the last look", "source", source, "err", err)
		return look{}
	}
	known = look{snapshot: model.Snapshot{Taken: last.Taken}, believed: last.Kinds, held: last.Held, marks: last.Marks}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.memory[source] = known
	return known
}

const (
	vanishedShare = 0.20
	vanishedCount = 5
)

// doubt holds a look back at which much of what was there before is gone,
// unless the look before was held back for the same reason: a broken read
// looks like this, and a mass deletion will look the same again. Kinds that
// could not be read have not gone.
func doubt(before, now look) look {
	if now.err != nil {
		return now
	}
	counts := countKinds(&now.snapshot)
	gone, had := 0, 0
	for kind, n := range before.believed {
		if !reads(&now.snapshot, kind) {
			counts[kind] = n
			continue
		}
		had += n
		gone += max(0, n-counts[kind])
	}
	if gone <= vanishedCount || float64(gone) <= vanishedShare*float64(had) || before.held {
		now.believed = counts
		return now
	}
	now.held, now.believed = true, before.believed
	now.err = fmt.Errorf("%d of %d resources vanished since the last look; held back until the next look confirms it", gone, had)
	return now
}

// reads reports whether a kind was fully read in some place at least.
func reads(s *model.Snapshot, kind string) bool {
	whole, _ := s.Covers(kind, "")
	return whole || slices.ContainsFunc(s.Coverage, func(c model.Coverage) bool { return c.Kind == kind && c.Complete })
}

func countKinds(s *model.Snapshot) map[string]int {
	counts := map[string]int{}
	for i := range s.Resources {
		counts[s.Resources[i].Kind]++
	}
	return counts
}

// load reads a declaration and keeps it, with what its own engine saw of the
// live side as the look at a source of its own; a second time when much of that
// has vanished and the estate wants that settled at once.
func (e *Engine) load(ctx context.Context, d Declaration, loader declared.Loader) {
	name := declared.LiveSource(d.Name)
	before := e.before(name)
	r := e.read(ctx, d, loader)
	own, seen := r.live(d, before)
	if own.held && e.estate.ConfirmAtOnce {
		r = e.read(ctx, d, loader)
		own, seen = r.live(d, own)
	}
	e.keepRead(d.Name, r)
	if seen {
		e.keepLook(name, own)
	}
}

// live returns what a declaration's own engine saw; seen is false for one that
// never looks.
func (r read) live(d Declaration, before look) (own look, seen bool) {
	switch {
	case r.declaration.Live != nil:
		snapshot := *r.declaration.Live
		snapshot.Taken = r.at.Add(-r.duration)
		return doubt(before, look{snapshot: snapshot, duration: r.duration}), true
	case d.ClaimsNothing:
	case before.believed != nil || len(d.Governs) == 0:
		return look{snapshot: model.Snapshot{Taken: before.snapshot.Taken}, err: cmp.Or(r.err, errNoLive), duration: r.duration, believed: before.believed}, true
	}
	return look{}, false
}

// errNoLive says why a declaration that has a live side of its own has none now.
var errNoLive = errors.New("the declaration's engine did not read the live side")

// loadOnce reads a declaration within its timeout.
func (c *calls) loadOnce(parent context.Context, d Declaration, loader declared.Loader, now func() time.Time) (model.Declaration, error) {
	return run(parent, c, d.task(), now, func(ctx context.Context) (model.Declaration, error) {
		declaration, err := loader.Load(ctx)
		return declaration, cmp.Or(err, budget.Fits(ctx, declaration.Weight()))
	})
}

// Load reads the declaration within its timeout. A loader that does not return some
// time after that is left behind, and the declaration is an error.
func (d Declaration) Load(ctx context.Context) (model.Declaration, error) {
	return (&calls{}).loadOnce(ctx, d, d.Loader, time.Now)
}

func (e *Engine) read(parent context.Context, d Declaration, loader declared.Loader) read {
	started := e.now()
	declaration, err := e.calls.loadOnce(parent, d, loader, e.now)
	if err != nil {
		r := e.failed(parent, d, e.estate.Secrets.Error(err))
		r.duration = e.now().Sub(started)
		return r
	}
	e.observer.DeclarationLoaded(d.Name, nil)
	if _, derived := loader.(derivation); derived {
		declaration = e.estate.Secrets.Derived(declaration)
	} else {
		declaration = e.estate.Secrets.Declaration(declaration)
	}
	e.mu.Lock()
	before := e.reads[d.Name].declaration.Claims
	e.mu.Unlock()
	declaration.Claims = since(before, declaration.Claims, declaration.Revised)
	now := e.now()
	return read{declaration: declaration, duration: now.Sub(started), at: now, unsaved: true}
}

// failed returns the reading of a declaration that could not be read: it is
// unreadable as a whole.
func (e *Engine) failed(ctx context.Context, d Declaration, err error) read {
	e.complain(ctx, "declaration "+d.Name, err)
	e.observer.DeclarationLoaded(d.Name, err)
	return read{err: err, at: e.now(), declaration: model.Declaration{Name: d.Name, Governs: governed(d), Inventory: d.Deriver != nil,
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
		return []string{declared.LiveSource(d.Name)}
	}
	return d.Governs
}

// since notes on the claims when they last changed, as far as that was seen: by
// the commit that was read now, and not by the one that was read before. The
// time of reading would not do: it may be later than the apply. A claim that
// knows better keeps its own time.
func since(before, claims []model.Claim, revised time.Time) []model.Claim {
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

// complain logs what could not be read, unless driftd itself is stopping.
func (e *Engine) complain(ctx context.Context, of string, err error) {
	if ctx.Err() != nil {
		return
	}
	log := e.log.With("of", of, "err", err)
	if panicked, ok := errors.AsType[*panicError](err); ok {
		log = log.With("stack", string(panicked.recovered.Stack))
	}
	log.Error("cannot read")
}

// canonicalize asks sources that offer it what they would make of the claims,
// after either side was read anew.
func (e *Engine) canonicalize(ctx context.Context, due Due) {
	for _, s := range e.estate.Sources {
		canonicalizer, ok := s.Collector.(collectors.Canonicalizer)
		if !ok {
			continue
		}
		for _, d := range e.estate.Declarations {
			anew := slices.Contains(due.Sources, s.Name) || slices.Contains(due.Declarations, d.Name)
			if anew && slices.Contains(d.Governs, s.Name) {
				e.canonicalizeOne(ctx, s, d, canonicalizer)
			}
		}
	}
}

func (e *Engine) canonicalizeOne(parent context.Context, s Source, d Declaration, c collectors.Canonicalizer) {
	e.mu.Lock()
	r := e.reads[d.Name]
	failed := e.looks[s.Name].err != nil
	e.mu.Unlock()
	if r.err != nil || failed {
		return
	}
	t := s.task()
	t.what = "canonicalizing for source " + s.Name
	claims, err := run(parent, &e.calls, t, e.now, func(ctx context.Context) ([]model.Claim, error) {
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
	e.keepRead(d.Name, r)
}

// withTimeout bounds a part of a scan; zero means no bound of its own.
func withTimeout(ctx context.Context, timeout time.Duration, what string) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, timeout, &reach.Expired{What: what, After: timeout})
}
