package box

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Pool starts boxes, and bounds how many jobs run at once.
type Pool struct {
	slots chan struct{}

	mu     sync.Mutex
	report *Report
}

// maxJobs is how many jobs run at once: each may take its limit of memory.
const maxJobs = 4

// NewPool returns a pool.
func NewPool() *Pool { return &Pool{slots: make(chan struct{}, maxJobs)} }

// Open returns a box. The caller closes it.
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

// A Report says what a box that has no network holds to on this machine.
type Report struct {
	// Seals are in force: "seccomp", "landlock 7", "memory limit".
	Seals []string
	// Lacks are not, each with the reason.
	Lacks []string
}

// String returns the report in one line.
func (r Report) String() string {
	if len(r.Lacks) == 0 {
		return "sealed: " + strings.Join(r.Seals, ", ")
	}
	return fmt.Sprintf("weak: no %s; has %s", strings.Join(r.Lacks, ", no "), strings.Join(r.Seals, ", "))
}

// Probe starts a box, and returns what it holds to.
func (p *Pool) Probe() (Report, error) {
	if r, known := p.Report(); known {
		return r, nil
	}
	process, err := p.start(Limits{Memory: minMemory})
	if err != nil {
		return Report{}, err
	}
	r, _ := p.Report()
	return r, process.end()
}

// Report returns what the last box without a network held to; known is false before
// the first one.
func (p *Pool) Report() (r Report, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.report == nil {
		return Report{}, false
	}
	return Report{slices.Clone(p.report.Seals), slices.Clone(p.report.Lacks)}, true
}

func (p *Pool) note(r Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report = &r
}
