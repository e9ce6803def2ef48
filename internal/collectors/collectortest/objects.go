package collectortest

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/model"
)

// A Change is a change of the estate. Make applies the change, and Names lists the objects in the
// events about it.
type Change struct {
	Name  string
	Make  func(estate http.Handler)
	Names []model.ObjectName
}

// objects tests a collector that reads single objects. After each change, the last snapshot updated
// by the objects must be equal to the snapshot of a full read, even with faulty responses.
func (s Subject) objects(t *testing.T) {
	t.Helper()
	_, able := s.open(t, "https://192.0.2.1", testTimeout).(collectors.ObjectCollector)
	if able != (len(s.Changes) > 0) {
		t.Fatalf("the collector reads single objects: %t; the test has %d changes", able, len(s.Changes))
	}
	for _, c := range s.Changes {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			x := s.changing(t, c)
			x.complete(t)
			x.faulty(t)
		})
	}
}

func (s Subject) open(t *testing.T, url string, timeout time.Duration) collectors.Collector {
	t.Helper()
	return s.Open(t, Settings{URL: url, Timeout: timeout, MaxBody: maxBody, CacheDir: t.TempDir()})
}

// A changing is an estate that was read, and has changed since then.
type changing struct {
	Subject
	Change
	estate http.Handler
	// served is what the server at url answers with.
	served atomic.Pointer[http.Handler]
	url    string
	before model.Snapshot
	// after is the snapshot of a full read, and paths are those that a partial read requests.
	after model.Snapshot
	paths []string
}

func (s Subject) changing(t *testing.T, c Change) *changing {
	t.Helper()
	x := &changing{Subject: s, Change: c, estate: s.Estate(rand.New(rand.NewPCG(1, 1)))}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*x.served.Load()).ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	x.url = server.URL
	x.serve(x.estate)
	x.before = x.full(t)
	x.Make(x.estate)
	x.after = x.full(t)
	return x
}

func (x *changing) serve(handler http.Handler) { x.served.Store(&handler) }

func (x *changing) full(t *testing.T) model.Snapshot {
	t.Helper()
	snapshot, err := x.open(t, x.url, testTimeout).Collect(t.Context())
	if err != nil {
		t.Fatalf("Collect(): %v", err)
	}
	return snapshot
}

// part reads the objects from a server, and returns the last snapshot with them.
func (x *changing) part(t *testing.T, handler http.Handler, timeout time.Duration) (model.Snapshot, error) {
	t.Helper()
	x.serve(handler)
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	part, err := x.open(t, x.url, timeout).(collectors.ObjectCollector).CollectObjects(ctx, x.Names, &x.before)
	if err != nil && (part.Resources != nil || part.Reread != nil) {
		t.Errorf("CollectObjects() returns an error and a snapshot: %v", err)
	}
	if len(part.Coverage) > 0 {
		t.Error("CollectObjects() returns coverage: only a full read has it")
	}
	return x.before.With(&part), err
}

// complete tests a partial read without faults.
func (x *changing) complete(t *testing.T) {
	t.Helper()
	log := &requestLog{}
	got, err := x.part(t, log.wrap(x.estate), testTimeout)
	if err != nil {
		t.Fatalf("CollectObjects(): %v", err)
	}
	x.paths = log.paths()
	if len(got.Reread) == len(x.after.Resources) {
		t.Error("CollectObjects() read the whole source")
	}
	want := x.after
	want.Taken, want.Reread, want.Positions = got.Taken, got.Reread, got.Positions
	if diff := cmp.Diff(want, got, everything()); diff != "" {
		t.Errorf("the snapshot with the objects differs from that of a full read (-full +objects):\n%s", diff)
	}
}

// faulty tests partial reads with faulty responses and without permissions. They must fail or be
// correct.
func (x *changing) faulty(t *testing.T) {
	t.Helper()
	for _, f := range allFaults() {
		for _, at := range f.places(x.paths) {
			x.faultyAt(t, f, at)
		}
	}
	got, err := x.part(t, x.Weak, testTimeout)
	for _, r := range x.before.Resources {
		if ref := (model.Ref{Kind: r.Kind, ID: r.ID}); err == nil && x.after.Has(ref) && !got.Has(ref) {
			t.Errorf("%s is hidden from the account, and counts as absent", r.Key)
		}
	}
}

// faultyAt tests a fault at one path, or at all paths if at is "".
func (x *changing) faultyAt(t *testing.T, f fault, at string) {
	t.Helper()
	timeout := testTimeout
	if f.slow {
		timeout = 50 * time.Millisecond
	}
	got, err := x.part(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at == "" || r.URL.Path == at {
			f.answer(x.estate, w, r)
			return
		}
		x.estate.ServeHTTP(w, r)
	}), timeout)
	if at == "" && err == nil {
		t.Errorf("CollectObjects() succeeds without an answer: %s", f.name)
	}
	if err == nil && !slices.EqualFunc(x.after.Resources, got.Resources, sameValue) {
		t.Errorf("the objects are wrong with the fault %s at path %q", f.name, at)
	}
}

func sameValue(a, b model.Resource) bool { return a.Key == b.Key && a.Value.Equal(b.Value) }
