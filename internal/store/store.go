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

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

// Errors that methods of the store wrap. See also LockedError and DamagedError.
var (
	// ErrNotFound is returned if nothing is stored under the given key or ID.
	ErrNotFound = errors.New("not found")
	// ErrAmbiguous is returned if several IDs begin with the given prefix.
	ErrAmbiguous = errors.New("ambiguous")
)

// Options configures a store.
type Options struct {
	// ReadOnly makes Open, and all methods, leave the folder and the file unchanged.
	ReadOnly  bool
	Retention Retention
	// Wait is how long Open waits for another process that has opened the store; zero means 200 ms.
	Wait time.Duration
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
	// Audit is the key that signs the audit log; if it is nil, no log is written.
	Audit *audit.Key
	// KeyMade reports whether the key was created for a new database, and KeyFound whether it
	// existed before. A log that begins with an existing key is in doubt.
	KeyMade, KeyFound bool
	// AuditKey is the public key that the audit log must have; "" allows any.
	AuditKey string
	// Log receives events that concern the file as a whole; nil discards them.
	Log *slog.Logger
}

// A Retention limits the records that Prune keeps. A zero field means no limit. Existing resources
// and open findings are never removed.
type Retention struct {
	// MaxAge is the maximum age of past values.
	MaxAge time.Duration
	// MaxRuns is the maximum number of runs. The changes since the oldest remaining run are kept,
	// too.
	MaxRuns int
	// MaxRunBytes is the maximum size of all run records in bytes. Removing run records does not
	// remove the changes of their runs.
	MaxRunBytes int64
	// AuditMaxAge is the maximum age of the entries of the audit log. The hashes of removed entries
	// remain.
	AuditMaxAge time.Duration
}

// A Record is the result of one scan.
type Record struct {
	Run       model.Run
	Snapshots []model.Snapshot
	// FirstReads lists the first reads in this scan. They do not replace stored ones.
	FirstReads []model.FirstRead
	// Findings lists the open findings after the scan and those that it resolved.
	Findings []model.Finding
	// Decisions lists the declared decisions by the declaration that contains their file. They
	// replace the stored ones of that file; an empty list removes them.
	Decisions map[string][]model.Decision
	// Notices contains the changes of notifications that result from the findings.
	Notices model.NoticeChange
}

// A Store is an open database file. Its methods are safe for concurrent use.
type Store struct {
	path string
	o    Options
	codec
	*handle
	// owner is nil in a read-only store.
	owner *owner
	// migrated reports whether Open migrated the database from a schema without an audit log.
	migrated bool

	// damaged is set once, when the file is found to be damaged. No call uses the file after that.
	damaged    atomic.Pointer[DamagedError]
	confirming sync.Mutex
	// saving is held by Save and Prune, so that Prune does not remove contents before their versions are stored.
	saving sync.Mutex
	// committing is held from the beginning of a transaction until the head file is written.
	committing sync.Mutex
	closed     func() error
}

// Open opens the store in dir. Unless o.ReadOnly is set, it creates the folder and the file if they
// do not exist, and migrates a file of an earlier version. It returns a *LockedError if another
// process has opened the store. It returns a *DamagedError if the file is damaged; the file is then
// renamed, and the next Open creates a new one.
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

// attach takes the lock, creates the file if it does not exist, opens it, and migrates it to the
// wanted schema.
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
		s.o.Log.Warn("one of the store's two meta pages is damaged, using the other one; the last save may be missing", "path", s.path)
	}
	if err := s.upgrade(want); err != nil {
		return err
	}
	return s.checkAudit()
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
		s.o.Log.Warn("cannot write the lock holder to the pid file", "err", s.owner.unnamed)
	}
	return s.create(want)
}

func unwritable(dir string, err error) error {
	return fmt.Errorf("%w: check that driftd's user can write to the state folder %s and that there is free disk space", err, dir)
}

// Close waits for running calls and closes the file. Later calls return the result of the first
// one.
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

// Size returns the size of the file in bytes; 0 if it cannot be determined.
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

// update runs fn in one transaction, which stores all of its changes or none.
func (s *Store) update(what string, fn func(*txn) error) error {
	if s.o.ReadOnly {
		return fmt.Errorf("%s: the store is open read-only", what)
	}
	if s.damaged.Load() == nil && replaced(s.file, s.path) {
		return fmt.Errorf("%s: %s was removed or replaced while driftd had it open: put it back, or stop driftd and start it again", what, s.path)
	}
	written, err := s.commit(what, fn)
	if damaged := (*DamagedError)(nil); err != nil && written && !errors.As(err, &damaged) {
		return unwritable(filepath.Dir(s.path), fmt.Errorf("%w: nothing was saved", err))
	}
	return err
}

// commit runs fn in one transaction and writes the head file before the next transaction begins, so
// that the file has the last head. written reports whether fn and the writing of the audit entries
// succeeded. A failure to write the head file is an error only if the transaction is strict: commit
// then returns an *UnrecordedError and false, although the transaction is stored.
func (s *Store) commit(what string, fn func(*txn) error) (written bool, err error) {
	var unkept error
	var strict bool
	err = func() error {
		s.committing.Lock()
		defer s.committing.Unlock()
		var signed *audit.Head
		err := s.transact(what, true, s.db.Update, func(t *txn) error {
			err := fn(t)
			if err == nil {
				err = t.writeLog()
			}
			written, signed, strict = err == nil, t.signed, t.strict
			return err
		})
		if err == nil && signed != nil {
			unkept = s.keepHead(signed)
		}
		return err
	}()
	if unkept != nil {
		s.doubtHead(unkept)
		if strict {
			return false, &UnrecordedError{unkept.Error()}
		}
	}
	return written, err
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
			t.signer, t.begunOver = s.o.Audit, s.begunOver
			if writable {
				t.account()
			}
			if err := fn(t); err != nil || !writable {
				return err
			}
			return t.finish()
		})
	})
	if suspicious(err) {
		err = s.confirmDamage(err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
