package store

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

const (
	// lockTimeout is how long Open waits for another process.
	lockTimeout = 200 * time.Millisecond
	// growStep is the number of bytes by which the file grows once it is larger than this. bbolt's
	// default of 16 MB would hide how much one scan adds.
	growStep = 64 << 10
	// mapped is the address space that a writer reserves, at no cost in memory or on disk. Each
	// time the file outgrows it, bbolt waits for all readers and copies the pages of the
	// transaction.
	mapped   = 256 << 20
	fileMode = 0o640
)

// A handle is an open database file with bbolt's lock on it: exclusive, or shared if read-only.
type handle struct {
	db   *bbolt.DB
	file *os.File
}

// openHandle opens an existing file. suspicious reports whether the error may be caused by damage
// to the file.
func openHandle(path string, readOnly bool, wait time.Duration) (*handle, error) {
	h := &handle{}
	err := guard(func() (err error) {
		o := &bbolt.Options{ReadOnly: readOnly, Timeout: wait, FreelistType: bbolt.FreelistMapType, OpenFile: h.openFile}
		if !readOnly {
			o.InitialMmapSize = mapped
		}
		h.db, err = bbolt.Open(path, fileMode, o)
		if err != nil {
			return err
		}
		h.db.AllocSize = growStep
		return h.checkSize()
	})
	if err == nil {
		return h, nil
	}
	if h.file != nil {
		err = errors.Join(err, h.abandon())
	}
	return nil, err
}

// openFile is the OpenFile function for bbolt. Unlike os.OpenFile, it never creates a file, and it
// returns an error for an empty file, which bbolt would initialize as a new database.
func (h *handle) openFile(name string, flag int, mode os.FileMode) (*os.File, error) {
	file, err := os.OpenFile(name, flag&^os.O_CREATE, mode)
	if err != nil {
		return nil, err
	}
	h.file = file
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 {
		return nil, fmt.Errorf("%w: the file is empty", errCorrupt)
	}
	return file, nil
}

// checkSize returns an error if the file was truncated. Reading past its end would be a memory
// fault.
func (h *handle) checkSize() error {
	info, err := h.file.Stat()
	if err != nil {
		return err
	}
	return h.db.View(func(tx *bbolt.Tx) error {
		if tx.Size() > info.Size() {
			return fmt.Errorf("%w: the file ends after %d of %d bytes", errCorrupt, info.Size(), tx.Size())
		}
		return nil
	})
}

// oneMetaLost reports whether one of the two meta pages fails its checksum. bbolt then uses the
// other one, which may be one transaction older.
func (h *handle) oneMetaLost() bool {
	// A page that is read during a write may fail its checksum.
	for range 3 {
		_, first := readMeta(h.file, 0)
		_, second := readMeta(h.file, int64(h.db.Info().PageSize))
		if first && second {
			return false
		}
	}
	return true
}

func (h *handle) close() error { return h.db.Close() }

// abandon releases a file on which bbolt panicked. It does not call bbolt, whose own locks may
// still be held. The mapping stays until the process ends and would keep the lock on the file, so
// abandon unlocks it first. It returns nil for a file that is closed already, as bbolt does after
// some errors.
func (h *handle) abandon() error {
	err := syscall.Flock(int(h.file.Fd()), syscall.LOCK_UN)
	if errors.Is(err, syscall.EBADF) {
		return nil
	}
	return errors.Join(err, h.file.Close())
}

// A panicError is a panic of bbolt's on a damaged file, or a fault in the memory that the file is
// mapped to.
type panicError struct {
	value any
	stack []byte
}

// Error returns the text of the panic, or a general one if that text describes driftd and not the
// file.
func (e *panicError) Error() string {
	if _, ok := e.value.(runtime.Error); ok {
		return "a page of the file cannot be read"
	}
	return fmt.Sprint(e.value)
}

// guard runs fn. It returns a panic or a memory fault as a *panicError, and the panic of a damaged
// record as its *RecordError.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if record, ok := r.(*RecordError); ok {
				err = record
				return
			}
			err = &panicError{value: r, stack: debug.Stack()}
		}
	}()
	return fn()
}
