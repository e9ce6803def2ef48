package daemon

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// askedStore counts the reads of earlier results.
type askedStore struct {
	Store
	searches atomic.Int32
	err      error
}

func (s *askedStore) LastRead(source string) (model.SourceRun, error) {
	s.searches.Add(1)
	if s.err != nil {
		return model.SourceRun{}, s.err
	}
	return s.Store.LastRead(source)
}

// TestEarlierResultsAreReadOnce checks that the store is read once for a declaration without a
// live side of its own, and for a source that is never reachable.
func TestEarlierResultsAreReadOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, 3, nil)
	b.source.err = errors.New("unreachable")
	asked := &askedStore{Store: b.store}
	b.engine = New(b.engine.estate, Options{Store: asked, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	for range 5 {
		b.cycle(t)
	}
	if n := asked.searches.Load(); n > 2 {
		t.Errorf("the store's records were searched %d times in 5 scans, want once for the source and once for the declaration", n)
	}
}

func TestEarlierResultsAreReadAgainAfterAnError(t *testing.T) {
	t.Parallel()
	b := newBench(t, 3, nil)
	asked := &askedStore{Store: b.store, err: errors.New("disk")}
	b.engine = New(b.engine.estate, Options{Store: asked, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if got := b.engine.restore("live"); got.kinds != nil {
		t.Errorf("remembered %+v of a store that could not be read", got)
	}
	b.cycle(t)
	asked.err = nil
	if got := b.engine.restore("live"); got.kinds[thing] != 3 {
		t.Errorf("remembered %+v, want the three things that the run stored", got)
	}
}

// blindStore returns an error for the open findings, like a damaged store.
type blindStore struct{ Store }

func (blindStore) OpenFindings() ([]model.Finding, error) {
	return nil, errors.New("damaged")
}

// savedObserver records the last error that an engine reported of its store.
type savedObserver struct {
	Observer
	err error
}

func (h *savedObserver) Saved(err error) { h.err = err }

func TestScanWaitsForUnreadableStore(t *testing.T) {
	t.Parallel()
	b := newBench(t, 3, nil)
	observer := &savedObserver{Observer: NoObserver{}}
	b.engine = New(b.engine.estate, Options{Store: blindStore{b.store}, Observer: observer, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if _, err := b.engine.Cycle(t.Context(), b.engine.Everything()); err == nil {
		t.Fatal("a scan that is compared with nothing has a report")
	}
	if observer.err == nil {
		t.Error("the observer was not notified that the scan was not saved")
	}
	if got := b.engine.Waiting(); len(got) != 1 {
		t.Errorf("ready although the last scan could not be stored: waiting for %v", got)
	}
}
