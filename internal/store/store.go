package store

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/driftd/driftd/internal/model"
)

// The store's errors that callers tell apart; see also LockedError and
// DamagedError.
var (
	// ErrNotFound says that the store holds no such thing.
	ErrNotFound = errors.New("not found")
	// ErrAmbiguous says that several things answer to the name.
	ErrAmbiguous = errors.New("ambiguous")
)

// Options say how a store is opened.
type Options struct {
	// ReadOnly creates nothing and changes no byte.
	ReadOnly  bool
	Retention Retention
	// Wait is how long to wait for another process that has the store; zero
	// means a moment.
	Wait time.Duration
	// Now is the clock; nil is the system's.
	Now func() time.Time
	// Log gets what happens to the file as a whole; nil discards it.
	Log *slog.Logger
}

// Retention bounds what Prune keeps. Zero keeps all; what is current or open
// is never removed.
type Retention struct {
	// MaxAge is how far back the store can tell what was.
	MaxAge time.Duration
	// MaxRuns is how many runs are kept, with what has changed since the
	// oldest of them.
	MaxRuns int
	// MaxRunBytes bounds the size of the records of runs; what changed is kept
	// also where the oldest of them are removed.
	MaxRunBytes int64
}

// A Record is everything that one scan leaves behind.
type Record struct {
	Run       model.Run
	Snapshots []model.Snapshot
	// FirstLooks are those that this scan made; one that is known is left alone.
	FirstLooks []model.FirstRead
	// Findings are all that are open after the scan, and those that it
	// resolved.
	Findings []model.Finding
	// Decisions are by the declaration in whose file they stand. They take the
	// place of those that stood there before; an empty list removes them.
	Decisions map[string][]model.Decision
	// Notices are what receivers are told because of the findings.
	Notices model.NoticeChange
}

// A Store is the open file. It is safe for use by many goroutines.
type Store struct {
	path string
	o    Options
	codec
	*handle
	// owner is nil in a store that is open read-only.
	owner *owner

	// damaged is set once, when the file turns out to be damaged; nothing
	// touches the file any more then.
	damaged   atomic.Pointer[DamagedError]
	condemned sync.Mutex
	closed    func() error
}

// Open opens the store in dir, making both where they are missing, unless
// read-only. It returns a *LockedError when another process has it open, and a
// *DamagedError when the file cannot be trusted: a damaged file is set aside,
// and the next Open makes a new one.
func Open(dir string, o Options) (*Store, error) {
	return open(dir, o, currentSchema())
}

func open(dir string, o Options, want schema) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == 0 {
		o.Wait = lockTimeout
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c, err := newCodec()
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{path: Path(dir), o: o, codec: c}
	s.closed = sync.OnceValue(s.shut)
	if err := s.attach(want); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.Close())
	}
	return s, nil
}

// attach takes the lock, makes the file where it is missing, opens it and
// brings it to the schema that this driftd knows.
func (s *Store) attach(want schema) error {
	if !s.o.ReadOnly {
		if err := s.own(want); err != nil {
			return err
		}
	}
	h, err := openHandle(s.path, s.o.ReadOnly, s.o.Wait)
	if err != nil {
		return s.explain(err)
	}
	s.handle = h
	if h.oneMetaLost() {
		s.o.Log.Warn("half of the store's head is damaged, using the other half; the last save may be missing", "path", s.path)
	}
	return s.upgrade(want)
}

// own makes this process the only one that may write to the folder.
func (s *Store) own(want schema) error {
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return unwritable(dir, err)
	}
	var err error
	if s.owner, err = takeOwnership(dir, s.o.Now(), s.o.Wait); err != nil {
		return err
	}
	if s.owner.unnamed != nil {
		s.o.Log.Warn("cannot write who holds the store", "err", s.owner.unnamed)
	}
	return s.create(want)
}

func unwritable(dir string, err error) error {
	return fmt.Errorf("%w: see that the user that driftd runs as may write to the state folder %s and that its disk has room", err, dir)
}

// Close releases the file. It waits for calls under way; closing twice is
// harmless.
func (s *Store) Close() error { return s.closed() }

func (s *Store) shut() error {
	var errs []error
	if s.handle != nil {
		if s.damaged.Load() != nil {
			errs = append(errs, s.abandon())
		} else {
			errs = append(errs, s.close())
		}
	}
	if s.owner != nil {
		errs = append(errs, s.owner.release())
	}
	s.dec.Close()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

// Size is how many bytes the file takes on disk; 0 when it cannot be told.
func (s *Store) Size() int64 {
	info, err := s.file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// view runs fn on one consistent state of the store.
func (s *Store) view(what string, fn func(*txn) error) error {
	return s.transact(what, false, s.db.View, fn)
}

// update runs fn in one transaction: all that it writes is kept, or nothing.
func (s *Store) update(what string, fn func(*txn) error) error {
	if s.o.ReadOnly {
		return fmt.Errorf("%s: the store is open read-only", what)
	}
	if s.damaged.Load() == nil && replaced(s.file, s.path) {
		return fmt.Errorf("%s: %s was removed or replaced while driftd had it open: put it back, or stop driftd and start it again", what, s.path)
	}
	written := false
	err := s.transact(what, true, s.db.Update, func(t *txn) error {
		err := fn(t)
		written = err == nil
		return err
	})
	if damaged := (*DamagedError)(nil); err != nil && written && !errors.As(err, &damaged) {
		return unwritable(filepath.Dir(s.path), fmt.Errorf("%w: nothing of it was kept", err))
	}
	return err
}

func (s *Store) transact(what string, writable bool, run func(func(*bbolt.Tx) error) error, fn func(*txn) error) error {
	if damaged := s.damaged.Load(); damaged != nil {
		return fmt.Errorf("%s: %w", what, damaged)
	}
	err := guard(func() error {
		return run(func(tx *bbolt.Tx) error {
			t, err := begin(tx, s.codec)
			if err != nil {
				return err
			}
			if err := fn(t); err != nil || !writable {
				return err
			}
			return t.finish()
		})
	})
	if suspicious(err) {
		err = s.condemn(err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
