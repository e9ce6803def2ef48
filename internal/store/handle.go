package store

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

const (
	// lockTimeout is how long an opener waits for another process.
	lockTimeout = 200 * time.Millisecond
	// growStep is by how much the file grows once it is larger than this.
	// bbolt's own step of 16 MB would hide what a scan costs.
	growStep = 64 << 10
	// mapped is how much address space a writer reserves, at no cost in memory
	// or on disk. Each time that a file outgrows it, bbolt waits for all
	// readers and copies what the transaction holds.
	mapped   = 256 << 20
	fileMode = 0o640
)

// A handle is an open database file with bbolt's lock on it: exclusive, or
// shared when read-only.
type handle struct {
	db   *bbolt.DB
	file *os.File
}

// openHandle opens a file that exists. The error is suspicious when the file
// is to blame.
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

// openFile is os.OpenFile for bbolt, but it never makes a file, and it refuses
// an empty one, which bbolt would take for a new database.
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

// checkSize finds a file that was cut off. Reading behind its end would be a
// fault in the mapped memory.
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

// oneMetaLost tells that one of the two meta pages fails its checksum. bbolt
// then goes by the other, which may be one transaction older.
func (h *handle) oneMetaLost() bool {
	// What is read while it is being written may seem damaged once.
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

// abandon lets go of a file that bbolt stumbled over. Its own locks may be held
// for good, so bbolt is not asked; the mapping stays until the process ends,
// and would keep the lock on the file. A file that is closed already, as where
// bbolt saw the error itself, is fine.
func (h *handle) abandon() error {
	err := syscall.Flock(int(h.file.Fd()), syscall.LOCK_UN)
	if errors.Is(err, syscall.EBADF) {
		return nil
	}
	return errors.Join(err, h.file.Close())
}

// A panicError is what bbolt said of a damaged file, or a fault in the memory
// that the file is mapped to.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprint(e.value) }

// guard runs fn and turns a panic or a memory fault into a *panicError, and that
// of a damaged record into its *RecordError.
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
