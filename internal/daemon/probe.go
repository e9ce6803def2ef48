package daemon

import (
	"cmp"
	"context"
	"time"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/model"
)

// Probe tests whether the source can be read, within the timeout of the source or, if it has none,
// the given timeout. If its collector does not implement collectors.Prober, Probe reads the whole
// source. If the collector does not return some time after the timeout, Probe abandons it and
// returns an error.
func (s Source) Probe(parent context.Context, timeout time.Duration) (collectors.Probe, error) {
	test := func(ctx context.Context) (collectors.Probe, error) {
		snapshot, err := s.Collector.Collect(ctx)
		return collectors.Probe{Version: snapshot.Version, Coverage: snapshot.Coverage}, err
	}
	if prober, ok := s.Collector.(collectors.Prober); ok {
		test = prober.Probe
	}
	return callWithin(parent, s, timeout, test)
}

// Read calls read within the limits of the source, as Probe calls its collector.
func (s Source) Read(parent context.Context, timeout time.Duration, read func(context.Context) (model.Snapshot, error)) (model.Snapshot, error) {
	return callWithin(parent, s, timeout, read)
}

func callWithin[T any](parent context.Context, s Source, timeout time.Duration, call func(context.Context) (T, error)) (T, error) {
	t := s.task()
	t.timeout = cmp.Or(s.Timeout, timeout)
	return callBounded(parent, &calls{memory: budget.NewTotal(s.MaxMemory)}, t, time.Now, call)
}
