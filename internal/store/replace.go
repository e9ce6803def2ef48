package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// replace makes the file at path in one step: build makes it under another
// name in the same folder. Only the folder's owner may call it.
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

// syncFolder makes a new name in the folder survive a power cut.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
