package manifests

import (
	"bytes"
	"io/fs"
	"path"
	"time"
)

// An addedFS is a file system with further files, or with other content of some files. The
// further files are in no list of a folder.
type addedFS struct {
	fs.FS
	files map[string][]byte
}

// Open implements fs.FS.
func (a addedFS) Open(name string) (fs.File, error) {
	if text, added := a.files[name]; added {
		return &addedFile{addedInfo{path.Base(name), int64(len(text))}, bytes.NewReader(text)}, nil
	}
	return a.FS.Open(name)
}

// Stat implements fs.StatFS.
func (a addedFS) Stat(name string) (fs.FileInfo, error) {
	if text, added := a.files[name]; added {
		return addedInfo{path.Base(name), int64(len(text))}, nil
	}
	return fs.Stat(a.FS, name)
}

// ReadDir implements fs.ReadDirFS.
func (a addedFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(a.FS, name) }

// An addedFile is a further file.
type addedFile struct {
	addedInfo
	content *bytes.Reader
}

// Read implements fs.File.
func (f *addedFile) Read(p []byte) (int, error) { return f.content.Read(p) }

// Stat implements fs.File.
func (f *addedFile) Stat() (fs.FileInfo, error) { return f.addedInfo, nil }

// Close implements fs.File.
func (f *addedFile) Close() error { return nil }

// An addedInfo is the info of a further file.
type addedInfo struct {
	name string
	size int64
}

// Name implements fs.FileInfo.
func (i addedInfo) Name() string { return i.name }

// Size implements fs.FileInfo.
func (i addedInfo) Size() int64 { return i.size }

// Mode implements fs.FileInfo.
func (i addedInfo) Mode() fs.FileMode { return 0o444 }

// ModTime implements fs.FileInfo.
func (i addedInfo) ModTime() time.Time { return time.Time{} }

// IsDir implements fs.FileInfo.
func (i addedInfo) IsDir() bool { return false }

// Sys implements fs.FileInfo.
func (i addedInfo) Sys() any { return nil }
