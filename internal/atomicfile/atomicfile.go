// Package atomicfile writes files as a whole or not at all.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write replaces a file, or leaves it as it was and returns an error. It makes the folder
// if it is missing. Only the owner may read the file. After a crash of the machine the file
// has the old content or the new one. A process that is killed may leave a file in the same
// folder whose name begins with "new-".
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
