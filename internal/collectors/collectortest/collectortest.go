// Package collectortest tests the contract of all collectors with faults in the systems that they
// read: a resource that was not read never counts as absent, the same estate results in the same
// snapshot, and the collector writes nothing.
package collectortest

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/model"
)

// A Subject describes a collector to test.
type Subject struct {
	// Open creates a new collector. It may shorten the pauses between attempts, except those that
	// the server requests.
	Open func(*testing.T, Settings) collectors.Collector
	// Estate returns a server with a small estate of at least two resources, all of which the user
	// can read. It uses order to shuffle its lists.
	Estate func(order *rand.Rand) http.Handler
	// Weak serves the same estate to a user without permissions.
	Weak http.Handler
	// Changes lists changes of the estate to test, if the collector reads single objects.
	Changes []Change
	// Allow lists the requests, in the form "METHOD /path", that are permitted besides GET and HEAD
	// because they change nothing on the server.
	Allow []string
}

// Settings contains the settings for the collector under test.
type Settings struct {
	URL string
	// Timeout limits each request, and MaxBody each response in bytes.
	Timeout time.Duration
	MaxBody int64
	// CacheDir is a folder that is initially empty.
	CacheDir string
}

const (
	// testTimeout bounds each operation, generously for a busy machine.
	testTimeout = time.Minute
	maxBody     = 1 << 20
	// networkBuffer bounds the bytes that the network buffers of an answer that is not read.
	networkBuffer = 16 << 20
)

// Run runs all tests of the contract as subtests of t.
func Run(t *testing.T, s Subject) {
	t.Helper()
	whole := s.healthy(t)
	t.Run("another order of lists", func(t *testing.T) {
		t.Parallel()
		s.order(t, whole.snapshot)
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		s.cancelled(t, whole)
	})
	t.Run("repeated page", func(t *testing.T) {
		t.Parallel()
		s.repeatedPage(t, whole.snapshot)
	})
	t.Run("credentials in errors", func(t *testing.T) {
		t.Parallel()
		s.quotedCredentials(t, whole)
	})
	t.Run("no permissions", func(t *testing.T) {
		t.Parallel()
		got, err := s.collect(t, s.Weak, testTimeout)
		checkCoverage(t, whole.snapshot, got, err)
	})
	t.Run("Retry-After", func(t *testing.T) {
		t.Parallel()
		s.retryAfter(t, whole.snapshot)
	})
	t.Run("timeout of the scan", func(t *testing.T) {
		t.Parallel()
		s.outOfTime(t, whole)
	})
	t.Run("single objects", func(t *testing.T) {
		t.Parallel()
		s.objects(t)
	})
	for _, f := range allFaults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s.faulty(t, whole, f)
		})
	}
}

// A healthyRun is the result of Collect without faults.
type healthyRun struct {
	snapshot model.Snapshot
	// paths are the paths of its requests, sorted.
	paths []string
}

func (s Subject) healthy(t *testing.T) healthyRun {
	t.Helper()
	log := &requestLog{}
	snapshot, err := s.collect(t, log.wrap(s.Estate(rand.New(rand.NewPCG(1, 1)))), testTimeout)
	if err != nil {
		t.Fatalf("Collect() of a healthy estate: %v", err)
	}
	if len(snapshot.Resources) < 2 {
		t.Fatalf("Collect() found %d resources: the estate needs at least two", len(snapshot.Resources))
	}
	for _, r := range snapshot.Resources {
		if ok, reason := snapshot.Covers(r.Kind, r.Place); !ok {
			t.Errorf("%s was read and is not covered: %s", r.Key, reason)
		}
	}
	return healthyRun{snapshot: snapshot, paths: log.paths()}
}

// collect reads an estate once with a new collector.
func (s Subject) collect(t *testing.T, estate http.Handler, timeout time.Duration) (model.Snapshot, error) {
	t.Helper()
	log := &requestLog{}
	server := httptest.NewServer(log.wrap(estate))
	// The log is complete only after every answer has ended.
	defer s.check(t, log)
	defer server.Close()
	return s.collectFrom(t.Context(), t, server.URL, timeout)
}

func (s Subject) collectFrom(ctx context.Context, t *testing.T, url string, timeout time.Duration) (model.Snapshot, error) {
	t.Helper()
	collector := s.Open(t, Settings{URL: url, Timeout: timeout, MaxBody: maxBody, CacheDir: t.TempDir()})
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	snapshot, err := collector.Collect(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("Collect() did not return within %s: %v", testTimeout, err)
	}
	return snapshot, err
}

// check checks that the collector only sent requests that read, and that it read no more
// of an answer than maxBody.
func (s Subject) check(t *testing.T, log *requestLog) {
	t.Helper()
	if log.largest > maxBody+networkBuffer {
		t.Errorf("Collect() read %d bytes of one answer, want at most %d", log.largest, maxBody)
	}
	for _, r := range log.requests() {
		read := strings.HasPrefix(r, http.MethodGet+" ") || strings.HasPrefix(r, http.MethodHead+" ")
		if !read && !slices.Contains(s.Allow, r) {
			t.Errorf("Collect() sent %s: a collector must not write", r)
		}
	}
}

// checkCoverage checks that the coverage of a snapshot does not include resources that are missing
// from the snapshot, and that all resources in it exist.
func checkCoverage(t *testing.T, whole, got model.Snapshot, err error) {
	t.Helper()
	if err != nil {
		if got.Resources != nil || got.Coverage != nil {
			t.Errorf("Collect() returns an error and a snapshot: %v", err)
		}
		return
	}
	for _, r := range whole.Resources {
		if slices.ContainsFunc(got.Resources, func(g model.Resource) bool { return g.Key == r.Key }) || unread(t, got, r.Key) {
			continue
		}
		if covered, _ := got.Covers(r.Kind, r.Place); covered {
			t.Errorf("%s was not read, but its scope is covered", r.Key)
		}
	}
	for _, g := range got.Resources {
		if !slices.ContainsFunc(whole.Resources, func(r model.Resource) bool { return g.Key == r.Key }) {
			t.Errorf("%s was found, but does not exist", g.Key)
		}
	}
	for _, c := range got.Coverage {
		if !c.Complete && c.Reason == "" {
			t.Errorf("coverage of %q %q is incomplete and has no reason", c.Kind, c.Place)
		}
	}
}

// unread reports whether the snapshot lists a resource as existing but unreadable.
func unread(t *testing.T, got model.Snapshot, key model.Key) bool {
	t.Helper()
	i := slices.IndexFunc(got.Unread, func(u model.Unread) bool { return u.Kind == key.Kind && u.ID == key.ID })
	if i >= 0 && got.Unread[i].Reason == "" {
		t.Errorf("%s is unreadable and has no reason", key)
	}
	return i >= 0
}

// everything compares all fields of snapshots. Functions, such as those of schemas that derive values,
// are compared by whether they exist.
func everything() cmp.Options {
	isFunc := func(p cmp.Path) bool { return p.Last().Type() != nil && p.Last().Type().Kind() == reflect.Func }
	return cmp.Options{
		cmp.Exporter(func(reflect.Type) bool { return true }),
		cmp.FilterPath(isFunc, cmp.Comparer(func(a, b any) bool { return reflect.ValueOf(a).IsNil() == reflect.ValueOf(b).IsNil() })),
	}
}

func (s Subject) order(t *testing.T, whole model.Snapshot) {
	t.Helper()
	for seed := range uint64(5) {
		got, err := s.collect(t, s.Estate(rand.New(rand.NewPCG(seed, 7))), testTimeout)
		if err != nil {
			t.Fatalf("Collect(): %v", err)
		}
		got.Taken = whole.Taken
		for i := range min(len(got.Positions), len(whole.Positions)) {
			got.Positions[i].Asked = whole.Positions[i].Asked
		}
		if diff := cmp.Diff(whole, got, everything()); diff != "" {
			t.Errorf("the order of the answers changes the snapshot (-first +other):\n%s", diff)
		}
	}
}

// cancelled cancels a scan after none, some and most of the responses, and before it begins. The
// parts that were read must be discarded.
func (s Subject) cancelled(t *testing.T, whole healthyRun) {
	t.Helper()
	for part := range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		answers := int64(len(whole.paths) * part / 4)
		estate := s.Estate(rand.New(rand.NewPCG(1, 1)))
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if atomic.AddInt64(&answers, -1) < 0 {
				cancel()
				faults.Hangs()(nil, nil, r)
				return
			}
			estate.ServeHTTP(w, r)
		}))
		for _, when := range []string{"during Collect", "before Collect"} {
			got, err := s.collectFrom(ctx, t, server.URL, testTimeout)
			if !errors.Is(err, context.Canceled) || got.Resources != nil || got.Coverage != nil {
				t.Errorf("cancelled %s, in part %d of 4: %d resources, error %v; want %v", when, part, len(got.Resources), err, context.Canceled)
			}
		}
		server.Close()
	}
}

// outOfTime tests a server that stops responding in the middle of a scan until the timeout of the
// scan. The snapshot must contain the resources that were read before, and must not cover the rest.
func (s Subject) outOfTime(t *testing.T, whole healthyRun) {
	t.Helper()
	kept := false
	for part := range 4 {
		answers := int64(len(whole.paths) * (part + 1) / 4)
		estate := s.Estate(rand.New(rand.NewPCG(1, 1)))
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if atomic.AddInt64(&answers, -1) < 0 {
				faults.Hangs()(nil, nil, r)
				return
			}
			estate.ServeHTTP(w, r)
		}))
		ctx, cancel := context.WithTimeoutCause(t.Context(), scanTimeout, &collectors.ExpiredError{Of: "the test", After: scanTimeout})
		got, err := s.Open(t, Settings{URL: server.URL, Timeout: testTimeout, MaxBody: maxBody, CacheDir: t.TempDir()}).Collect(ctx)
		cancel()
		server.Close()
		checkCoverage(t, whole.snapshot, got, err)
		late := func(c model.Coverage) bool {
			return !c.Complete && strings.Contains(c.Reason, "raise timeout of the source")
		}
		kept = kept || err == nil && len(got.Resources) > 0 && slices.ContainsFunc(got.Coverage, late)
	}
	if !kept && len(whole.paths) > 1 {
		t.Error("Collect() drops the resources that were read before the timeout, or does not report the timeout")
	}
}

// scanTimeout is the timeout of a scan of a server that stops answering.
const scanTimeout = time.Second
