// Package atomicfile writes files atomically.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write writes data to the named file, creating its folder if necessary. It replaces the file as a
// whole: after an error or a crash, the file has either the old content or the new. The file has
// mode 0600. A process that is killed may leave a temporary file, whose name begins with "new-", in
// the same folder.
func Write(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	// CreateTemp makes files that only their owner may read.
	temporary, err := os.CreateTemp(filepath.Dir(file), "new-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(data)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}
