package daemon

import (
	"cmp"
	"context"
	"time"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/collectors"
)

// Probe tests the source within its timeout, or within the given one if it has none. A
// collector that does not return some time after that is left behind, and is an error. A
// source that reaches no server is not tested; ok is false then.
func (s Source) Probe(parent context.Context, timeout time.Duration) (p collectors.Probe, ok bool, err error) {
	prober, ok := s.Collector.(collectors.Prober)
	if !ok {
		return p, false, nil
	}
	t := s.task()
	t.timeout = cmp.Or(s.Timeout, timeout)
	p, err = run(parent, &calls{memory: budget.NewTotal(s.MaxMemory)}, t, time.Now, prober.Probe)
	return p, true, err
}
