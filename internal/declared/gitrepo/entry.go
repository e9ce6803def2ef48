package gitrepo

import (
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// An entry is a file, a folder, a symbolic link or a submodule of a commit.
type entry struct {
	name, path string
	hash       plumbing.Hash
	mode       fs.FileMode
	size       int64
	when       time.Time
}

// Name implements fs.FileInfo.
func (e *entry) Name() string { return e.name }

// Size implements fs.FileInfo.
func (e *entry) Size() int64 { return e.size }

// Mode implements fs.FileInfo.
func (e *entry) Mode() fs.FileMode { return e.mode }

// ModTime implements fs.FileInfo. It returns the time of the commit.
func (e *entry) ModTime() time.Time { return e.when }

// IsDir implements fs.FileInfo.
func (e *entry) IsDir() bool { return e.mode.IsDir() }

// Sys implements fs.FileInfo.
func (e *entry) Sys() any { return nil }

// A dirEntry is an entry of a folder. Symbolic links are not followed.
type dirEntry struct {
	files *FS
	*entry
}

// Type implements fs.DirEntry.
func (d dirEntry) Type() fs.FileMode { return d.mode.Type() }

// Info implements fs.DirEntry.
func (d dirEntry) Info() (fs.FileInfo, error) {
	if !d.mode.IsRegular() {
		return d.entry, nil
	}
	return d.files.Stat(d.path)
}

type openFile struct {
	io.ReadCloser
	info *entry
}

// Stat implements fs.File.
func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }

type openFolderFile struct {
	info    *entry
	entries []fs.DirEntry
}

// Stat implements fs.File.
func (f *openFolderFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// Read implements fs.File. A folder has no content.
func (f *openFolderFile) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.info.path, Err: errors.New("a folder")}
}

// Close implements fs.File.
func (f *openFolderFile) Close() error { return nil }

// ReadDir implements fs.ReadDirFile.
func (f *openFolderFile) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(f.entries)
	} else if len(f.entries) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(f.entries))
	read := f.entries[:n]
	f.entries = f.entries[n:]
	return read, nil
}
