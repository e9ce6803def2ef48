// Package atomicfile writes files of which no reader sees a part.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write replaces a file, or leaves it as it was and returns an error. It makes the folder
// if it is missing. Only the owner may read the file. It does not wait for the disk: after
// a crash of the machine the file may be empty, so it is for what can be made again, such
// as caches. Files of the same folder that begin with "new-" are what a killed process left.
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
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}
