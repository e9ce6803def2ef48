package manifests

import (
	"bytes"
	"io/fs"
	"path"
	"strconv"

	"github.com/driftd/driftd/internal/bounded"
)

// encryptedMark is in every value that SOPS encrypted.
const encryptedMark = "ENC[AES256_GCM,"

// An encryptedFS finds out whether a file that was read has a value that SOPS encrypted. In the
// second build, such a file has other content.
type encryptedFS struct {
	fs.FS
	limit int64
	build int
	found bool
}

// Open implements fs.FS.
func (f *encryptedFS) Open(name string) (fs.File, error) {
	info, err := fs.Stat(f.FS, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > f.limit {
		return f.FS.Open(name)
	}
	text, err := bounded.ReadFile(f.FS, name, f.limit)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: bounded.Cause(err)}
	}
	if bytes.Contains(text, []byte(encryptedMark)) {
		f.found = true
		text = bytes.ReplaceAll(text, []byte(encryptedMark), []byte(encryptedMark+strconv.Itoa(f.build)))
	}
	return &addedFile{addedInfo{path.Base(name), int64(len(text))}, bytes.NewReader(text)}, nil
}

// Stat implements fs.StatFS.
func (f *encryptedFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(f.FS, name) }

// ReadDir implements fs.ReadDirFS.
func (f *encryptedFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.FS, name) }
