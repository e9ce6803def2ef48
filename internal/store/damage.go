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

// A DamagedError reports that the database file is damaged. The content of the file was not
// changed. The file was renamed to Moved, or is still at Path if Moved is "".
type DamagedError struct {
	Path  string
	Moved string
	Err   error
}

// Error returns the path of the file, the damage and the next step.
func (e *DamagedError) Error() string {
	if e.Moved == "" {
		return fmt.Sprintf("%s is damaged (%v): restore a backup to this path, or move the file away and run `driftd scan` to create a new one", e.Path, e.Err)
	}
	return fmt.Sprintf("%s was damaged (%v) and was renamed to %s: restore a backup to %s, or start driftd again to create a new one", e.Path, e.Err, e.Moved, e.Path)
}

// Unwrap returns the damage that was found.
func (e *DamagedError) Unwrap() error { return e.Err }

// suspicious reports whether damage to the file may have caused the error.
func suspicious(err error) bool {
	var p *panicError
	return errors.As(err, &p) || errors.Is(err, errCorrupt) || errors.Is(err, berrors.ErrInvalid) ||
		errors.Is(err, berrors.ErrVersionMismatch) || errors.Is(err, berrors.ErrChecksum)
}

// explain converts an error of opening the file to the error that Open returns.
func (s *Store) explain(err error) error {
	var number syscall.Errno
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		if s.owner != nil {
			return &LockedError{Path: s.path} // this process owns the folder, so that the other one has the file open read-only
		}
		return &LockedError{Path: s.path, Holder: holder(filepath.Join(filepath.Dir(s.path), pidName))}
	case suspicious(err):
		return s.setAside(err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: nothing has been scanned yet; run `driftd scan` first", err)
	case errors.As(err, &number) && s.o.ReadOnly:
		return fmt.Errorf("%w: run this as root, as driftd's user, or as a member of its group, which can read the state folder %s", err, filepath.Dir(s.path))
	case errors.As(err, &number):
		return unwritable(filepath.Dir(s.path), err)
	}
	// bbolt returns an untyped error for a file that is too short.
	return s.setAside(err)
}

// asideMark separates a database's name from the time at which it was found damaged.
const asideMark = ".damaged-"

// SetAside returns the paths of the damaged databases that were renamed in a state folder, oldest
// first. driftd never removes them.
func SetAside(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list damaged databases: %w", err)
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

// setAside renames the damaged file so that it is neither opened nor overwritten. A read-only store
// does not rename it.
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

// confirmDamage handles an error that damage may have caused while the store was in use. It
// verifies the file with a second handle, because bbolt's locks may still be held. If the file is
// damaged, every later call returns a DamagedError. If the cause was a panic and the file is
// intact, the panic is a bug in driftd, and confirmDamage panics again.
func (s *Store) confirmDamage(cause error) error {
	s.confirming.Lock()
	defer s.confirming.Unlock()
	if damaged := s.damaged.Load(); damaged != nil {
		return damaged
	}
	// A shared lock admits the second handle and still excludes writers.
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
