// Package folder reads a folder of the disk as a declaration may: without leaving
// it, and without waiting for what is no file.
package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular reports a name that is neither a regular file nor a folder, such as a
// named pipe or a device. Reading it could wait, or go on, forever.
var ErrNotRegular = errors.New("not a regular file")

// An FS holds the files below a folder. Symbolic links are followed inside the
// folder only. It is safe for concurrent use.
type FS struct {
	root *os.Root
	fs.FS
}

// Open returns the files below dir. The caller closes it.
func Open(dir string) (*FS, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open folder: %w", err)
	}
	return &FS{root, root.FS()}, nil
}

// Close makes later calls fail.
func (f *FS) Close() error { return f.root.Close() }

// Open implements fs.FS. It opens regular files and folders only, and never waits for
// a writer.
func (f *FS) Open(name string) (fs.File, error) {
	info, err := fs.Stat(f.FS, name)
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
	// What was checked may have been replaced meanwhile.
	if info, err = file.Stat(); err == nil {
		err = check(name, info)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Stat implements fs.StatFS.
func (f *FS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(f.FS, name) }

// ReadDir implements fs.ReadDirFS.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.FS, name) }

func check(name string, info fs.FileInfo) error {
	if mode := info.Mode(); !mode.IsRegular() && !mode.IsDir() {
		return &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	return nil
}
