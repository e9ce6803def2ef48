package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/model"
)

const (
	keyName = "secret.key"
	keySize = 32
)

// Sealer returns the sealer of this installation. Its key is a file in dir that only its owner can
// read. On first use, Sealer creates the key from random bytes; concurrent processes get the same
// key. Sealer returns an error if others can read the file or if its size is wrong.
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

// refuseOrphan returns an error if there is a database without its key. With a new key every stored
// secret would appear to have changed, and the change would be attributed to an actor.
func refuseOrphan(dir, path string) error {
	database := Path(dir)
	if _, err := os.Stat(database); err != nil {
		return nil //nolint:nilerr // there is no database, or Open will report the error
	}
	return fmt.Errorf("the secret key %s is missing, but %s was made with it: restore the key from a backup, or move the database away to start with a new one", path, database)
}

func readKey(path string) ([]byte, error) {
	key, err := readOwn(path, keySize+1)
	if err != nil {
		return nil, err
	}
	if len(key) != keySize {
		return nil, fmt.Errorf("%s has %d bytes, but a key has %d: restore it from a backup, or move it and the database away to start with new ones", path, len(key), keySize)
	}
	return key, nil
}

// readOwn reads up to limit bytes of a file. It returns an error if others can read the file.
func readOwn(path string, limit int64) ([]byte, error) {
	file, err := bounded.OpenRegular(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // opened read-only
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by other users (mode %04o): run chmod 600 on it; if others may have read it, move it and the database away to start with new ones", path, mode)
	}
	return io.ReadAll(io.LimitReader(file, limit))
}

func makeKey(path string) error {
	key := make([]byte, keySize)
	rand.Read(key)
	return makeOwn(path, key)
}

// makeOwn atomically creates a file that only its owner can read. It keeps a file that another
// process created in the meantime.
func makeOwn(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	// os.CreateTemp creates files that only their owner can read.
	temp, err := os.CreateTemp(dir, filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err == nil {
		err = os.Link(temp.Name(), path)
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return errors.Join(err, os.Remove(temp.Name()), syncFolder(dir))
}
