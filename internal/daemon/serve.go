package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/sourcegraph/conc/panics"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// Run runs scans until ctx ends, and returns after all of its jobs have stopped. Each source and
// each declaration has a separate job, so that none waits for another: it is read immediately and
// then on its schedule, delayed by up to jitter. Run also follows the sources that can be watched, and
// those that are notified of changes.
// A failed scan is logged and repeated when it is next due. Run returns an error only if it cannot
// start.
func (e *Engine) Run(ctx context.Context, jitter time.Duration) error {
	scheduler, err := gocron.NewScheduler(gocron.WithStopTimeout(stopTimeout), gocron.WithClock(newSteadyClock(e.now)))
	if err != nil {
		return fmt.Errorf("start scheduler: %w", err)
	}
	if err := e.schedule(ctx, scheduler, jitter); err != nil {
		return errors.Join(err, scheduler.Shutdown())
	}
	e.checkClock()
	scheduler.Start()
	var group sync.WaitGroup
	for _, s := range e.estate.Sources {
		if watcher, ok := s.Collector.(collectors.Watcher); ok {
			group.Go(func() { e.watch(ctx, s, watcher) })
		}
		if notifier, ok := s.Collector.(collectors.Notifier); ok {
			group.Go(func() { e.listen(ctx, s, notifier) })
		}
	}
	group.Go(func() { e.retrySaves(ctx) })
	group.Go(func() { e.tick(ctx) })
	if len(e.reconciler.Rules)+len(e.reconciler.Sources()) > 0 {
		group.Go(func() { e.act(ctx) })
	}
	<-ctx.Done()
	group.Wait()
	if err := scheduler.Shutdown(); err != nil {
		return fmt.Errorf("stop scheduler: %w", err)
	}
	return nil
}

// stopTimeout bounds the wait for scans whose context has ended.
const stopTimeout = 8 * time.Second

// retryStore is the interval at which saving a failed scan is tried again.
const retryStore = 15 * time.Second

// retrySaves saves the last scan again if that failed, such as on a full disk.
func (e *Engine) retrySaves(ctx context.Context) {
	ticker := time.NewTicker(retryStore)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if e.hasUnsaved() {
				e.cycleAndLog(ctx, Due{})
			}
		}
	}
}

// schedule adds one job for each source and each declaration. It does not start a job again while
// it is still running.
func (e *Engine) schedule(ctx context.Context, scheduler gocron.Scheduler, jitter time.Duration) error {
	add := func(name string, every time.Duration, due Due) error {
		_, err := scheduler.NewJob(gocron.DurationRandomJob(every, every+max(min(jitter, every), 1)),
			gocron.NewTask(func() { e.cycleAndLog(ctx, due) }), gocron.WithName(name),
			gocron.WithStartAt(gocron.WithStartImmediately()), gocron.WithSingletonMode(gocron.LimitModeReschedule))
		if err != nil {
			return fmt.Errorf("schedule %s: %w", name, err)
		}
		return nil
	}
	for _, s := range e.estate.Sources {
		if err := add("source "+s.Name, s.Every, Due{Sources: []string{s.Name}}); err != nil {
			return err
		}
	}
	for _, d := range e.estate.Declarations {
		if d.Deriver != nil {
			continue
		}
		if err := add("declaration "+d.Name, d.Every, Due{Declarations: []string{d.Name}}); err != nil {
			return err
		}
	}
	return nil
}

// cycleAndLog calls Cycle and logs its error.
func (e *Engine) cycleAndLog(ctx context.Context, due Due) {
	if _, err := e.Cycle(ctx, due); err != nil && ctx.Err() == nil {
		e.log.Error("scan", "err", err)
	}
}

// watch follows a source that can be watched until ctx ends.
func (e *Engine) watch(ctx context.Context, s Source, watcher collectors.Watcher) {
	lose := func(err error) { e.cycleAndLog(ctx, Due{Lost: []Loss{{s.Name, err}}}) }
	e.follow(ctx, s, lose, func(within context.Context) error {
		return watcher.Watch(within, func(snapshot model.Snapshot) { e.cycleAndLog(ctx, Due{Watched: []model.Snapshot{snapshot}}) }, lose)
	})
}

// listen runs a scan of a source, and of the declarations that govern it, after each notification
// of a change until ctx ends.
func (e *Engine) listen(ctx context.Context, s Source, notifier collectors.Notifier) {
	changed := func() {
		due, err := e.dueFor([]string{s.Name})
		if err == nil {
			e.cycleAndLog(ctx, due)
		}
	}
	e.follow(ctx, s, func(err error) { e.logUnread(ctx, "notifications of source "+s.Name, err) }, func(within context.Context) error {
		return notifier.Notify(within, changed)
	})
}

// follow calls run until ctx ends. After it returned or panicked, it calls failed with the error, and
// run again some time later.
func (e *Engine) follow(ctx context.Context, s Source, failed func(error), run func(within context.Context) error) {
	within := e.calls.memory.Scope(ctx, s.MaxMemory)
	for ctx.Err() == nil {
		var err error
		panicked := panics.Try(func() { err = run(within) })
		if panicked != nil {
			err = newPanicError(panicked)
		}
		if recovered, ok := errors.AsType[*panics.ErrRecovered](err); ok {
			err = newPanicError(&recovered.Recovered)
		}
		if ctx.Err() == nil && err != nil {
			failed(err)
		}
		_ = httpclient.Wait(ctx, retryWatch)
	}
}

// retryWatch is the delay before a failed watch is restarted.
const retryWatch = 30 * time.Second

// ErrUnknownSource reports that a source is not part of the estate.
var ErrUnknownSource = errors.New("unknown source")

// Scan reads the named sources, and every declaration that governs one of them, and runs a scan. If
// sources is empty, it reads everything. For an unknown name, it returns an error that wraps
// ErrUnknownSource.
func (e *Engine) Scan(ctx context.Context, sources []string) (model.Report, error) {
	due := e.Everything()
	if len(sources) > 0 {
		var err error
		if due, err = e.dueFor(sources); err != nil {
			return model.Report{}, err
		}
	}
	return e.Cycle(ctx, due)
}

// Read reads the sources, declarations and objects in due and runs a scan. If there are none, it
// reads everything. It ignores unknown names.
func (e *Engine) Read(ctx context.Context, due Due) error {
	if len(due.Sources)+len(due.Declarations)+len(due.Objects) == 0 {
		due = e.Everything()
	}
	_, err := e.Cycle(ctx, due)
	return err
}

// add makes a declaration due, and the source that it is derived from.
func (d *Due) add(declaration Declaration) {
	d.Declarations = append(d.Declarations, declaration.Name)
	if from := declaration.Deriver; from != nil && !slices.Contains(d.Sources, from.From()) {
		d.Sources = append(d.Sources, from.From())
	}
}

func (e *Engine) dueFor(sources []string) (Due, error) {
	due := Due{Sources: slices.Clone(sources)}
	for _, name := range sources {
		known := false
		for _, s := range e.estate.Sources {
			known = known || s.Name == name
		}
		if !known {
			return Due{}, fmt.Errorf("%w %q", ErrUnknownSource, name)
		}
		for _, d := range e.estate.Declarations {
			for _, governed := range d.Governs {
				if governed == name {
					due.add(d)
				}
			}
		}
	}
	return due, nil
}
