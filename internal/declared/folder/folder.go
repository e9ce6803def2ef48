// Package folder reads the files of a declaration from a folder on disk. It does not follow symbolic links
// out of the folder, and does not block on named pipes.
package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// ErrNotRegular is returned when a name refers to neither a regular file nor a folder but, for example, to
// a named pipe or a device, from which a read might never return.
var ErrNotRegular = errors.New("not a regular file")

// An FS is a file system of the files below a folder. Folders named .git, which may contain credentials,
// are hidden. Symbolic links that lead out of the folder are not followed. An FS is safe for concurrent
// use.
type FS struct {
	root *os.Root
	// top is the folder, symbolic links followed.
	top string
	fs.FS
}

// Open returns a file system of the files below dir. The caller must close it.
func Open(dir string) (*FS, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open folder: %w", err)
	}
	top, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open folder: %w", err), root.Close())
	}
	return &FS{root, top, root.FS()}, nil
}

// Close closes the file system. Later calls of its methods fail.
func (f *FS) Close() error { return f.root.Close() }

// Open implements fs.FS. It returns ErrNotRegular for a name that is neither a regular file nor a folder,
// and does not block on named pipes.
func (f *FS) Open(name string) (fs.File, error) {
	info, err := f.Stat(name)
	if err == nil {
		err = check(name, info)
	}
	if err != nil {
		return nil, err
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	// The file may have been replaced since it was checked.
	if info, err = file.Stat(); err == nil {
		err = check(name, info)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Stat implements fs.StatFS. A hidden name is reported as fs.ErrNotExist.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	if f.isHidden(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return fs.Stat(f.FS, name)
}

// ReadDir implements fs.ReadDirFS. A hidden name is reported as fs.ErrNotExist.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	if f.isHidden(name) {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	return fs.ReadDir(f.FS, name)
}

// isHidden reports whether a name leads into a folder .git, symbolic links followed.
func (f *FS) isHidden(name string) bool {
	const hidden = ".git"
	if slices.Contains(strings.Split(name, "/"), hidden) {
		return true
	}
	resolved, err := filepath.EvalSymlinks(filepath.Join(f.root.Name(), filepath.FromSlash(name)))
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(f.top, resolved)
	return err == nil && slices.Contains(strings.Split(filepath.ToSlash(rel), "/"), hidden)
}

// OpenFile opens a file anywhere on disk for reading. It follows symbolic links and never blocks. It
// returns ErrNotRegular if the name refers to neither a regular file nor a folder.
func OpenFile(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err == nil {
		err = check(name, info)
	}
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	// The file may have been replaced since it was checked.
	if info, err = file.Stat(); err == nil {
		err = check(name, info)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// ReadFile is like os.ReadFile, but opens the file with OpenFile.
func ReadFile(name string) (_ []byte, err error) {
	file, err := OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(file)
}

// ErrTooLarge is returned for a file that exceeds the size limit of its reader.
var ErrTooLarge = errors.New("the file is too large")

// ReadBounded is like ReadFile, but returns ErrTooLarge if the file is larger than most bytes.
func ReadBounded(name string, most int64) (_ []byte, err error) {
	file, err := OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrTooLarge}
	}
	return text, err
}

func check(name string, info fs.FileInfo) error {
	if mode := info.Mode(); !mode.IsRegular() && !mode.IsDir() {
		return &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	return nil
}
