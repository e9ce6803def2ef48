package daemon

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// askedStore counts how often the past is searched.
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

// A declaration that has no live side of its own, and a source that cannot be
// reached, are read for years: what the store knows of them is read once.
func TestThePastIsSearchedOnce(t *testing.T) {
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

func TestThePastIsSearchedAgainWhenItCouldNotBeRead(t *testing.T) {
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

// blindStore cannot read what was found before, as a damaged one.
type blindStore struct{ Store }

func (blindStore) OpenFindings() ([]model.Finding, error) {
	return nil, errors.New("damaged")
}

// heardSaved notes what an engine says of its store.
type heardSaved struct {
	Observer
	err error
}

func (h *heardSaved) Saved(err error) { h.err = err }

func TestStoreThatCannotBeReadIsWaitedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t, 3, nil)
	heard := &heardSaved{Observer: noObserver{}}
	b.engine = New(b.engine.estate, Options{Store: blindStore{b.store}, Observer: heard, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if _, err := b.engine.Cycle(t.Context(), b.engine.Everything()); err == nil {
		t.Fatal("a scan that is compared with nothing has a report")
	}
	if heard.err == nil {
		t.Error("nobody hears that the scan was not stored")
	}
	if got := b.engine.Waiting(); len(got) != 1 {
		t.Errorf("ready although the last scan could not be stored: waiting for %v", got)
	}
}
