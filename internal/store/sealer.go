package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/driftd/driftd/internal/model"
)

const (
	keyName = "secret.key"
	keySize = 32
)

// Sealer returns the sealer of this installation. Its key is a file in dir,
// readable by its owner only, made from random bytes on first use; several
// processes may ask at once and get one key. A key that others may read, or of
// another size, is refused.
func Sealer(dir string) (model.Sealer, error) {
	path := filepath.Join(dir, keyName)
	key, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := refuseOrphan(dir, path); err != nil {
			return model.Sealer{}, err
		}
		if err := makeKey(path); err != nil {
			return model.Sealer{}, fmt.Errorf("make secret key: %w", unwritable(dir, err))
		}
		key, err = readKey(path)
	}
	if err != nil {
		return model.Sealer{}, fmt.Errorf("read secret key: %w", err)
	}
	return model.NewSealer(key), nil
}

// refuseOrphan refuses to make a key beside a database: under a new key every
// secret in it would seem to have changed, and somebody would be named for it.
func refuseOrphan(dir, path string) error {
	database := Path(dir)
	if _, err := os.Stat(database); err != nil {
		return nil //nolint:nilerr // no database, or none that can be looked at: opening it will tell
	}
	return fmt.Errorf("the secret key %s is gone, and %s was made with it: restore the key from a backup, or move the database away to begin anew", path, database)
}

func readKey(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("%s may be read by others (mode %04o): run chmod 600 on it; if others have read it, move it and the database away to begin anew", path, mode)
	}
	key, err := io.ReadAll(io.LimitReader(file, keySize+1))
	if err != nil {
		return nil, err
	}
	if len(key) != keySize {
		return nil, fmt.Errorf("%s has %d bytes, and a key has %d: restore it from a backup, or move it and the database away to begin anew", path, info.Size(), keySize)
	}
	return key, nil
}

// makeKey makes the file in one step, and leaves one that another process has
// made meanwhile.
func makeKey(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	// CreateTemp makes files that only their owner may read.
	temp, err := os.CreateTemp(dir, keyName+".*")
	if err != nil {
		return err
	}
	key := make([]byte, keySize)
	rand.Read(key)
	_, err = temp.Write(key)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err == nil {
		err = os.Link(temp.Name(), path)
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return errors.Join(err, os.Remove(temp.Name()), syncFolder(dir))
}
