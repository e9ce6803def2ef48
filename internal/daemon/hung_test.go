package daemon

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/model"
)

// A stuck loader and collector does not return when its context ends, like a read of a hung
// file system.
type stuck struct {
	of    *fakeDeclaration
	from  *fakeSource
	calls atomic.Int64
	// until is closed to end the call; nil if the call does not hang.
	until atomic.Pointer[chan struct{}]
}

func (s *stuck) hang() (release func()) {
	until := make(chan struct{})
	s.until.Store(&until)
	return func() {
		s.until.Store(nil)
		close(until)
	}
}

func (s *stuck) wait() {
	s.calls.Add(1)
	if until := s.until.Load(); until != nil {
		<-*until
	}
}

func (s *stuck) Load(ctx context.Context) (model.Declaration, error) {
	s.wait()
	return s.of.Load(ctx)
}

func (s *stuck) Collect(ctx context.Context) (model.Snapshot, error) {
	s.wait()
	return s.from.Collect(ctx)
}

// reasons returns the reasons of unchecked findings.
func reasons(r model.Report) string {
	var all []string
	for _, f := range r.Findings {
		if f.Verdict == model.Unchecked {
			all = append(all, f.Reason)
		}
	}
	return strings.Join(all, "\n")
}

// TestHungRead checks that a read that does not return is abandoned and not started a second
// time, and that results count again once it has returned.
func TestHungRead(t *testing.T) {
	t.Parallel()
	for name, hangs := range map[string]func(*Estate, *stuck){
		"declaration": func(e *Estate, s *stuck) {
			e.Declarations[0].Loader, e.Declarations[0].Timeout = s, 10*time.Second
		},
		"source": func(e *Estate, s *stuck) { e.Sources[0].Collector = s },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				hung := &stuck{}
				other := &fakeSource{name: "other"}
				b := newBench(t, 3, nil)
				hung.of, hung.from = b.declaration, b.source
				estate := b.engine.estate
				hangs(&estate, hung)
				estate.Sources = append(estate.Sources, Source{Name: "other", Collector: other})
				b.engine = b.restart(estate)
				wantVerdicts(t, b.cycle(t), "")
				release := hung.hang()
				began := time.Now()
				first := b.cycle(t)
				if took := time.Since(began); took > 45*time.Second {
					t.Errorf("the scan took %s", took)
				}
				if got := reasons(first); !strings.Contains(got, "did not return within 40s: is its file system hung?") {
					t.Errorf("reason: %q", got)
				}
				if strings.Contains(verdicts(first), "missing") {
					t.Errorf("findings: %s", verdicts(first))
				}
				reads, calls := other.reads, hung.calls.Load()
				began = time.Now()
				second := b.cycle(t)
				want := "not read again: the read that began at " + first.Scan.Started.UTC().Format(time.RFC3339) + " has not returned: is its file system hung?"
				if got := reasons(second); !strings.Contains(got, want) {
					t.Errorf("reason: %q, want %q", got, want)
				}
				if took := time.Since(began); took > 5*time.Second || hung.calls.Load() != calls || other.reads != reads+1 {
					t.Errorf("the next scan took %s, %d calls, %d reads of the other source", took, hung.calls.Load()-calls, other.reads-reads)
				}
				release()
				synctest.Wait()
				wantVerdicts(t, b.cycle(t), "")
			})
		})
	}
}

// TestHungReadAtStop checks that a hung read does not keep driftd from stopping.
func TestHungReadAtStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hung := &stuck{}
		b := newBench(t, 3, nil)
		hung.of = b.declaration
		estate := b.engine.estate
		estate.Declarations[0].Loader, estate.Declarations[0].Timeout = hung, time.Hour
		b.engine = b.restart(estate)
		release := hung.hang()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		began := time.Now()
		_, err := b.engine.Cycle(ctx, b.engine.Everything())
		// The scheduler waits for stopTimeout.
		if took := time.Since(began) - time.Minute; took >= stopTimeout || !errors.Is(err, context.Canceled) {
			t.Errorf("the scan ended %s after the stop: %v", took, err)
		}
		release()
		synctest.Wait()
	})
}

func (s *stuck) Probe(context.Context) (collectors.Probe, error) {
	s.wait()
	return collectors.Probe{Version: "1"}, nil
}

// TestProbe checks that a hung test of a source ends, and that a source whose collector is no
// Prober is read.
func TestProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hung := &stuck{}
		release := hung.hang()
		s := Source{Name: "x", Collector: hung}
		if _, err := s.Probe(t.Context(), 10*time.Second); err == nil || !strings.Contains(err.Error(), "did not return within 40s") {
			t.Errorf("hung: %v", err)
		}
		release()
		if p, err := s.Probe(t.Context(), 10*time.Second); err != nil || p.Version != "1" {
			t.Errorf("afterwards: %+v, %v", p, err)
		}
		synctest.Wait()
	})
	if p, err := (Source{Collector: &fakeSource{count: 1}}).Probe(t.Context(), time.Second); err != nil || len(p.Coverage) == 0 {
		t.Errorf("no Prober: %+v, %v", p, err)
	}
	refused := errors.New("401 Unauthorized")
	if _, err := (Source{Collector: &fakeSource{err: refused}}).Probe(t.Context(), time.Second); !errors.Is(err, refused) {
		t.Errorf("no Prober, and the source rejects the token: %v", err)
	}
}

// TestSupervise checks the result of a call that returns some time after its context ended.
func TestSupervise(t *testing.T) {
	t.Parallel()
	mine := errors.New("mine")
	for name, tc := range map[string]struct {
		reason  string
		after   time.Duration
		stopped bool
		want    string
	}{
		"at once":     {"a program is ended", 0, false, "mine"},
		"later":       {"a program takes its time to end", 25 * time.Second, false, "mine"},
		"too late":    {"a file system hangs", time.Minute, false, "did not return within 40s: is its file system hung?"},
		"at the stop": {"driftd waits for a program to end", 6 * time.Second, true, "mine"},
		"stopped":     {"driftd does not wait for a file system", time.Minute, true, "did not return within 12s: is its file system hung?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				parent, stop := context.WithCancel(t.Context())
				defer stop()
				ctx, cancel := context.WithTimeout(parent, 10*time.Second)
				defer cancel()
				if tc.stopped {
					time.AfterFunc(5*time.Second, stop)
				}
				_, err := supervise(parent, ctx, &calls{}, "source x", time.Now, func(ctx context.Context) (int, error) {
					<-ctx.Done()
					time.Sleep(tc.after)
					return 0, mine
				})
				if err == nil || err.Error() != tc.want {
					t.Errorf("%s: got %v, want %s", tc.reason, err, tc.want)
				}
				time.Sleep(tc.after) // until the abandoned call has returned
			})
		})
	}
}
