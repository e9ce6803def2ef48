package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/driftd/driftd/internal/bounded"
)

// pidName is the file that names the process that writes to the folder. That process holds a lock
// on it, which distinguishes a file in use from one left behind by a crash.
const pidName = "driftd.pid"

// retryStep is the pause between two attempts to take the lock.
const retryStep = 20 * time.Millisecond

// A LockedError reports that another process has opened the store.
type LockedError struct {
	// Path is the path of the database file.
	Path string
	// Holder is the command line, the process ID and the start time of the other process; "" if
	// unknown, as for a read-only process.
	Holder string
}

// Error returns the holder and the next step.
func (e *LockedError) Error() string {
	if e.Holder == "" {
		return fmt.Sprintf("%s is in use by another process: try again, or find it with: fuser %s", e.Path, e.Path)
	}
	return fmt.Sprintf("%s is in use by %s: stop that process first", e.Path, e.Holder)
}

// An owner is this process's exclusive right to write to a folder.
type owner struct {
	file *os.File
	// unnamed is the error of writing the owner into the file; nil if it was written.
	unnamed error
}

// takeOwnership locks the folder. If another writer holds the lock, it waits up to wait for it to
// be released.
func takeOwnership(dir string, now time.Time, wait time.Duration) (*owner, error) {
	path := filepath.Join(dir, pidName)
	for waited := time.Duration(0); ; waited += retryStep {
		file, err := lockFile(path)
		if err != nil {
			return nil, unwritable(dir, err)
		}
		if file != nil {
			return &owner{file: file, unnamed: sign(file, now)}, nil
		}
		if waited >= wait {
			return nil, &LockedError{Path: Path(dir), Holder: holder(path)}
		}
		time.Sleep(retryStep)
	}
}

// lockFile creates the file at path if it does not exist, and locks it. It returns nil if another
// process holds the lock.
func lockFile(path string) (*os.File, error) {
	file, err := bounded.OpenRegular(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	// The previous owner may have removed the file between the two calls.
	if err == nil && !replaced(file, path) {
		return file, nil
	}
	if closed := file.Close(); closed != nil {
		return nil, closed
	}
	if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return nil, nil
}

// replaced reports whether the file at path is missing or is not the open one.
func replaced(file *os.File, path string) bool {
	mine, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !os.SameFile(mine, there)
}

// sign writes the process ID, the command line and the start time to the file, a line each.
func sign(file *os.File, now time.Time) error {
	command := strings.Join(strings.Fields(strings.Join(os.Args, " ")), " ")
	text := fmt.Sprintf("%d\n%s\n%s\n", os.Getpid(), command, now.UTC().Format(time.RFC3339))
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(text), 0)
	return err
}

// release removes the file and releases the lock.
func (o *owner) release() error {
	err := os.Remove(o.file.Name())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, o.file.Close())
}

// holder returns a description of the process that owns the folder; "" if there is none, or if the
// file does not name it.
func holder(path string) string {
	file, err := bounded.OpenRegular(path, os.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }() // opened read-only
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(file, 4096))
	line := strings.Split(string(text), "\n")
	if err != nil || len(line) < 3 {
		return ""
	}
	if _, err := strconv.Atoi(line[0]); err != nil {
		return ""
	}
	return fmt.Sprintf("%s (pid %s, since %s)", line[1], line[0], line[2])
}
