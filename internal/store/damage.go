package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"
)

// A DamagedError says that the database file cannot be trusted. Nothing of it
// was changed or lost: it lies at Moved, or still at Path when Moved is "".
type DamagedError struct {
	Path  string
	Moved string
	Err   error
}

// Error names the file, where it lies now and what to do.
func (e *DamagedError) Error() string {
	if e.Moved == "" {
		return fmt.Sprintf("%s is damaged (%v): put a backup in its place, or move it away and let `driftd scan` begin a new one", e.Path, e.Err)
	}
	return fmt.Sprintf("%s was damaged (%v) and is set aside as %s: put a backup at %s, or start driftd again to begin a new one", e.Path, e.Err, e.Moved, e.Path)
}

// Unwrap returns what is wrong with the file.
func (e *DamagedError) Unwrap() error { return e.Err }

// suspicious tells an error for which the file may be to blame.
func suspicious(err error) bool {
	var p *panicError
	return errors.As(err, &p) || errors.Is(err, errCorrupt) || errors.Is(err, berrors.ErrInvalid) ||
		errors.Is(err, berrors.ErrVersionMismatch) || errors.Is(err, berrors.ErrChecksum)
}

// explain turns an error of opening the file into what the caller may see.
func (s *Store) explain(err error) error {
	var number syscall.Errno
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		if s.owner != nil {
			return &LockedError{Path: s.path} // no other writer: somebody reads
		}
		return &LockedError{Path: s.path, Holder: holder(filepath.Join(filepath.Dir(s.path), pidName))}
	case suspicious(err):
		return s.setAside(err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: nothing has been scanned yet; run `driftd scan` first", err)
	case errors.As(err, &number) && s.o.ReadOnly:
		return fmt.Errorf("%w: run this as root, as the user that driftd runs as, or as one of its group: they may read the state folder %s", err, filepath.Dir(s.path))
	case errors.As(err, &number):
		return unwritable(filepath.Dir(s.path), err)
	}
	// What is left is bbolt's word on a file that is too short.
	return s.setAside(err)
}

// asideMark stands between a database's name and the time at which it was found
// damaged.
const asideMark = ".damaged-"

// SetAside returns the databases in a state folder that were damaged and set
// aside, oldest first: nobody has looked after them yet.
func SetAside(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("look for damaged databases: %w", err)
	}
	var found []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), fileName+asideMark) {
			found = append(found, filepath.Join(dir, entry.Name()))
		}
	}
	slices.Sort(found)
	return found, nil
}

// setAside gives the damaged file another name, so that nothing takes it for
// a good one and nothing overwrites it. A reader leaves it where it is.
func (s *Store) setAside(cause error) *DamagedError {
	damaged := &DamagedError{Path: s.path, Err: cause}
	if s.o.ReadOnly {
		return damaged
	}
	name := s.path + asideMark + s.o.Now().UTC().Format("20060102T150405Z")
	moved := name
	for try := 2; occupied(moved); try++ {
		moved = fmt.Sprintf("%s-%d", name, try)
	}
	if err := os.Rename(s.path, moved); err != nil {
		damaged.Err = errors.Join(cause, err)
		return damaged
	}
	damaged.Moved = moved
	return damaged
}

func occupied(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// condemn looks into a suspicion that came up while the store was in use. It
// looks with a second handle, because bbolt may have stumbled with its locks
// held; this store answers nothing more, unless it was a mistake of driftd's
// own, which is no damage and stays a panic.
func (s *Store) condemn(cause error) error {
	s.condemned.Lock()
	defer s.condemned.Unlock()
	if damaged := s.damaged.Load(); damaged != nil {
		return damaged
	}
	// A shared lock lets the second handle in, and still no writer.
	if err := syscall.Flock(int(s.file.Fd()), syscall.LOCK_SH); err != nil {
		cause = errors.Join(cause, err)
	}
	found := verify(s.path, s.codec)
	var p *panicError
	if found == nil && errors.As(cause, &p) {
		panic(fmt.Sprintf("store: %v\n\n%s", p.value, p.stack))
	}
	damaged := &DamagedError{Path: s.path, Err: cause}
	if found != nil {
		damaged = s.setAside(found)
	}
	s.damaged.Store(damaged)
	return damaged
}
