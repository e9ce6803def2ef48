package daemon

import (
	"cmp"
	"context"
	"time"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/collectors"
)

// Probe tests the source within its timeout, or within the given one if it has none. A
// collector that does not return some time after that is abandoned, which is an error. ok is
// false for a source that connects to no server; it is not tested.
func (s Source) Probe(parent context.Context, timeout time.Duration) (p collectors.Probe, ok bool, err error) {
	prober, ok := s.Collector.(collectors.Prober)
	if !ok {
		return p, false, nil
	}
	t := s.task()
	t.timeout = cmp.Or(s.Timeout, timeout)
	p, err = callBounded(parent, &calls{memory: budget.NewTotal(s.MaxMemory)}, t, time.Now, prober.Probe)
	return p, true, err
}
