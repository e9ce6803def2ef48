package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// CopyTo writes one consistent state of the whole database to w, and returns how
// many bytes that were. Others may read and write meanwhile. What is written is
// a database file; the key of the digests is not in it.
func (s *Store) CopyTo(w io.Writer) (n int64, err error) {
	if damaged := s.damaged.Load(); damaged != nil {
		return 0, fmt.Errorf("copy store: %w", damaged)
	}
	err = guard(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			n, err = tx.WriteTo(w)
			return err
		})
	})
	if suspicious(err) {
		err = s.condemn(err)
	}
	if err != nil {
		return n, fmt.Errorf("copy store: %w", err)
	}
	return n, nil
}

// WriteBackup makes the file at path, which must not be there, of what fill
// writes: the copy of a database. The file appears under its name only when all
// of it was read again and is whole; only its owner may read it.
func WriteBackup(path string, fill func(io.Writer) error) error {
	if occupied(path) {
		return fmt.Errorf("write backup: %s is there already: name a new file, or remove it", path)
	}
	c, err := newCodec()
	if err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	defer c.dec.Close()
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	temp := file.Name()
	err = fill(file)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = checkBackup(temp, c)
	}
	if err == nil {
		// A link, unlike a rename, takes nobody else's place.
		err = os.Link(temp, path)
	}
	if err = errors.Join(err, removeAny(temp)); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	return nil
}

// checkBackup reads every record of a copy.
func checkBackup(path string, c codec) error {
	if err := verify(path, c); err != nil {
		return fmt.Errorf("the copy is not whole: %w: try again; if it stays so, the database itself may be damaged", err)
	}
	return nil
}
