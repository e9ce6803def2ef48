package box

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// A Pool starts boxes, and limits the number of jobs that run concurrently.
type Pool struct {
	slots chan struct{}

	report atomic.Pointer[Report]
}

// maxJobs is how many jobs run at once: each may take its limit of memory.
const maxJobs = 4

// NewPool returns a Pool.
func NewPool() *Pool { return &Pool{slots: make(chan struct{}, maxJobs)} }

// Open returns a box with the given limits. The caller must close it.
func (p *Pool) Open(l Limits) *Box { return &Box{pool: p, limits: l} }

// enter waits for a free slot.
func (p *Pool) enter(ctx context.Context) (leave func(), err error) {
	select {
	case p.slots <- struct{}{}:
		return func() { <-p.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A Report lists the protections of a box without a network on this machine.
type Report struct {
	// Seals are the protections in force: "memory limit", "landlock 7", "seccomp".
	Seals []string `json:"seals"`
	// Lacks are the protections that the kernel does not support, each with the reason. It is never nil.
	Lacks []string `json:"lacks"`
}

// String returns the report in one line.
func (r *Report) String() string {
	if len(r.Lacks) == 0 {
		return "sealed: " + strings.Join(r.Seals, ", ")
	}
	return fmt.Sprintf("weak: no %s; has %s", strings.Join(r.Lacks, ", no "), strings.Join(r.Seals, ", "))
}

// maxProbe bounds a probe.
const maxProbe = 30 * time.Second

// Probe starts a box and returns its report.
func (p *Pool) Probe() (*Report, error) {
	ctx, cancel := context.WithTimeout(context.Background(), maxProbe)
	defer cancel()
	process, err := p.start(ctx, Limits{Memory: minMemory})
	if err != nil {
		return nil, err
	}
	return p.Report(), process.end()
}

// Report returns the report of the last box without a network, or nil before the first one.
func (p *Pool) Report() *Report { return p.report.Load() }
