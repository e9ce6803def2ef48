package bounded

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular is returned for a folder, a named pipe, a device or a socket.
var ErrNotRegular = errors.New("not a regular file")

// OpenRegular is like os.OpenFile, but never blocks: it returns a *fs.PathError with ErrNotRegular for
// everything but a regular file. It follows symbolic links, unless flag contains syscall.O_NOFOLLOW.
func OpenRegular(name string, flag int, perm fs.FileMode) (*os.File, error) {
	// Opening a device may change it, such as rewind a tape.
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, notRegular(name)
	}
	f, err := os.OpenFile(name, flag|syscall.O_NONBLOCK, perm)
	if err != nil {
		return nil, err
	}
	// The file may have been replaced since it was checked.
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func notRegular(name string) error {
	return &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
}

// ReadRegular reads a file that OpenRegular opens. It returns a *fs.PathError with ErrTooLarge, and no
// content, if the file has more than limit bytes.
func ReadRegular(name string, limit int64) (content []byte, err error) {
	f, err := OpenRegular(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if content, err = ReadAll(f, limit); errors.Is(err, ErrTooLarge) {
		err = &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return content, err
}

// Cause returns the error of a *fs.PathError without its path, for a caller that reports the path
// itself. It returns other errors unchanged.
func Cause(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}
