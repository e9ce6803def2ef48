package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// CopyTo writes a copy of one consistent state of the database file to w and returns the number of
// bytes written. Other goroutines may use the store at the same time. The copy does not contain the
// secret key of the state folder.
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
		err = s.confirmDamage(err)
	}
	if err != nil {
		return n, fmt.Errorf("copy store: %w", err)
	}
	return n, nil
}

// WriteBackup creates the file at path with the content that fill writes, which must be a copy of a
// database. It returns an error if path exists. It writes to a temporary file, reads every record
// in it, and links it to path only if all records are intact. Only the owner can read the file.
func WriteBackup(path string, fill func(io.Writer) error) error {
	return writeCopy(path, fill, checkBackup)
}

// WriteCopy creates a file as WriteBackup does, but without reading the records. It is for a copy
// that is used immediately. Reading a damaged record then fails, except for records of the audit
// log.
func WriteCopy(path string, fill func(io.Writer) error) error {
	return writeCopy(path, fill, func(string, codec) error { return nil })
}

func writeCopy(path string, fill func(io.Writer) error, check func(path string, c codec) error) error {
	if occupied(path) {
		return fmt.Errorf("write backup: %s already exists: name a new file, or remove it", path)
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
		err = check(temp, c)
	}
	if err == nil {
		// os.Link, unlike os.Rename, fails if path exists.
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

// checkBackup returns an error if a record of the copy is damaged.
func checkBackup(path string, c codec) error {
	if err := verify(path, c); err != nil {
		return fmt.Errorf("the copy is damaged: %w: try again; if the error persists, the database itself may be damaged", err)
	}
	return nil
}
