// Package bounded reads files and streams up to a maximum size, and reports errors of files without
// their paths.
package bounded

import (
	"errors"
	"io"
	"io/fs"
)

// ErrTooLarge is returned if the content exceeds the limit.
var ErrTooLarge = errors.New("too large")

// ReadAll is like io.ReadAll. It returns ErrTooLarge, and no content, if there are more
// than limit bytes.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(content)) > limit {
		return nil, ErrTooLarge
	}
	return content, err
}

// ReadFile is like fs.ReadFile. It returns ErrTooLarge, and no content, if the file has
// more than limit bytes.
func ReadFile(files fs.FS, name string, limit int64) (content []byte, err error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return ReadAll(f, limit)
}
