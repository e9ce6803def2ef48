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
)

// pidName is the file that says who writes to the folder. Its owner holds a
// lock on it, so that one that was left behind is told from one in use.
const pidName = "driftd.pid"

// retryStep is how often a waiting opener tries again.
const retryStep = 20 * time.Millisecond

// A LockedError says that another process has the store open.
type LockedError struct {
	// Path of the database file.
	Path string
	// Holder is the other process's command line, number and start; "" when
	// it is not known, as for one that only reads.
	Holder string
}

// Error names the holder and what to do.
func (e *LockedError) Error() string {
	if e.Holder == "" {
		return fmt.Sprintf("%s is in use by another process: try again, or find it with: fuser %s", e.Path, e.Path)
	}
	return fmt.Sprintf("%s is in use by %s: stop that one first", e.Path, e.Holder)
}

// An owner is this process's right to write to a folder.
type owner struct {
	file *os.File
	// unnamed is why the file does not tell who the owner is; nil when it does.
	unnamed error
}

// takeOwnership waits a little for another writer to leave.
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

// lockFile locks the file at path, making it where it is missing; it returns
// nil while another process holds it.
func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	// Its last owner may have removed it between the two calls.
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

// replaced tells that another file lies at path than the open one, or none.
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

// sign writes who owns the file: the process's number, its command line, and
// since when, a line each.
func sign(file *os.File, now time.Time) error {
	command := strings.Join(strings.Fields(strings.Join(os.Args, " ")), " ")
	text := fmt.Sprintf("%d\n%s\n%s\n", os.Getpid(), command, now.UTC().Format(time.RFC3339))
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(text), 0)
	return err
}

// release lets the next writer in.
func (o *owner) release() error {
	err := os.Remove(o.file.Name())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, o.file.Close())
}

// holder says who owns the folder now; "" when nobody does, or it is not said.
func holder(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }() // only read
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
