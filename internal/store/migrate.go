package store

import (
	"bytes"
	"fmt"

	"go.etcd.io/bbolt"
)

// batch is how many bytes a filler writes in one transaction. It bounds the
// memory of a migration, whatever the size of the file.
const batch = 8 << 20

// A filler writes records into a new store, in transactions of bounded size. A
// file that is not finished never gets its name.
type filler struct {
	db      *bbolt.DB
	c       codec
	tx      *bbolt.Tx
	t       *txn
	written int
}

// fillStore lays a new store, and fills it with what fn adds.
func fillStore(db *bbolt.DB, c codec, version int, fn func(*filler) error) error {
	if err := db.Update(func(tx *bbolt.Tx) error { return lay(tx, version) }); err != nil {
		return err
	}
	f := &filler{db: db, c: c}
	if err := f.begin(); err != nil {
		return err
	}
	if err := fn(f); err != nil {
		return f.fail(err)
	}
	return f.commit()
}

func (f *filler) begin() (err error) {
	if f.tx, err = f.db.Begin(true); err != nil {
		return err
	}
	if f.t, err = begin(f.tx, f.c); err != nil {
		return f.fail(err)
	}
	f.written = 0
	return nil
}

func (f *filler) fail(err error) error {
	_ = f.tx.Rollback() // the file is thrown away
	return err
}

func (f *filler) commit() error {
	if err := f.t.finish(); err != nil {
		return f.fail(err)
	}
	return f.tx.Commit()
}

// wrote begins another transaction where the one at hand is large enough.
func (f *filler) wrote(n int) error {
	if f.written += n; f.written < batch {
		return nil
	}
	if err := f.commit(); err != nil {
		return err
	}
	return f.begin()
}

// copied copies the records of an old bucket, which may be missing, into the
// bucket that to returns, under the keys that rename returns; nil leaves one out.
func (f *filler) copied(from *bbolt.Bucket, to func(*txn) *bucket, rename func(k []byte) []byte) error {
	if from == nil {
		return nil
	}
	c := from.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		key := rename(k)
		if key == nil {
			continue
		}
		if err := to(f.t).put(key, v); err != nil {
			return err
		}
		if err := f.wrote(len(key) + len(v)); err != nil {
			return err
		}
	}
	return to(f.t).continueAt(from.Sequence())
}

// convert fills a store with what is in a file of schema version 1, which kept no
// decisions and notices, or 2. Neither has checksums.
func convert(old *bbolt.Tx, version int, to *filler) error {
	if version < 1 {
		return fmt.Errorf("version %d is too old for this driftd: use an earlier one first", version)
	}
	for i, name := range bucketNames() {
		var err error
		switch name {
		case runBucket:
			err = convertRuns(old.Bucket([]byte(name)), to)
		case noteBucket:
			err = to.copied(old.Bucket([]byte(metaBucket)), func(t *txn) *bucket { return t.notes }, func(k []byte) []byte {
				if bytes.Equal(k, []byte(schemaKey)) {
					return nil
				}
				return k
			})
		default:
			err = to.copied(old.Bucket([]byte(name)), func(t *txn) *bucket { return t.all[i] }, func(k []byte) []byte { return k })
		}
		if err != nil {
			return fmt.Errorf("bucket %s: %w", name, err)
		}
	}
	return nil
}
