package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// replace replaces the file at path atomically: build writes a temporary file in the same folder,
// which is then renamed. Only the owner of the folder may call it.
func replace(path string, build func(temp string) error) error {
	temp := path + ".new"
	if err := removeAny(temp); err != nil {
		return err
	}
	if err := build(temp); err != nil {
		return errors.Join(err, removeAny(temp))
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, removeAny(temp))
	}
	return syncFolder(filepath.Dir(path))
}

func removeAny(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// syncFolder syncs a folder, so that a new name in it survives a power failure.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
