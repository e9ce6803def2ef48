package store

import (
	"bytes"
	"fmt"

	"go.etcd.io/bbolt"
)

// batch is the number of bytes that a filler writes in one transaction. It bounds the memory of a
// migration.
const batch = 8 << 20

// A filler writes records into a new store, in transactions of bounded size. The file is renamed to
// its final name only when it is complete.
type filler struct {
	db      *bbolt.DB
	c       codec
	tx      *bbolt.Tx
	t       *txn
	written int
}

// fillStore creates the buckets of a new store and runs fn to fill them.
func fillStore(db *bbolt.DB, c codec, version int, fn func(*filler) error) error {
	if err := db.Update(func(tx *bbolt.Tx) error { return createBuckets(tx, version) }); err != nil {
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
	_ = f.tx.Rollback() // the file is discarded
	return err
}

func (f *filler) commit() error {
	if err := f.t.finish(); err != nil {
		return f.fail(err)
	}
	return f.tx.Commit()
}

// wrote counts n written bytes, and begins a new transaction once the current one has batch bytes.
func (f *filler) wrote(n int) error {
	if f.written += n; f.written < batch {
		return nil
	}
	if err := f.commit(); err != nil {
		return err
	}
	return f.begin()
}

// put writes a record of an earlier version. It adds the outline to the head of a finding.
func (f *filler) put(b *bucket, k, v []byte) (err error) {
	if b == f.t.open || b == f.t.resolved {
		if v, err = f.t.outlined(k, v); err != nil {
			return err
		}
	}
	if err := b.put(k, v); err != nil {
		return err
	}
	return f.wrote(len(k) + len(v))
}

// outlined returns the head of a finding for a head without an outline, which ends with the source.
func (t *txn) outlined(id, v []byte) ([]byte, error) {
	if len(v) < headSize {
		return nil, fmt.Errorf("%w: finding of %d bytes", errCorrupt, len(v))
	}
	h := head{at: momentAt(v), seen: momentAt(v[8:]), sum: digest(v[16:headSize]), source: string(v[headSize:])}
	f, err := t.finding(string(id), &h)
	if err != nil {
		return nil, err
	}
	h.outline = encodeOutline(&f)
	return h.encode(), nil
}

// copied copies the records of an old bucket, which may be nil, to the bucket that to returns,
// under the keys that rename returns. It skips a record if rename returns nil.
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
		if err := f.put(to(f.t), key, v); err != nil {
			return err
		}
	}
	return to(f.t).continueAt(from.Sequence())
}

// convert fills a store from a file of an earlier schema version. Version 1 has no decisions and
// notices, 2 no checksums, 3 no audit log, 4 no actions, and 5 no outlines.
func convert(old *bbolt.Tx, version int, to *filler) error {
	if version < 1 {
		return fmt.Errorf("version %d is too old for this version of driftd: migrate it with an earlier version first", version)
	}
	if version >= firstChecked {
		return convertChecked(old, to)
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

// convertChecked copies the buckets of a file with checksums. Buckets that the file does not have
// remain empty.
func convertChecked(old *bbolt.Tx, to *filler) error {
	for i, name := range bucketNames() {
		raw := old.Bucket([]byte(name))
		if raw == nil {
			continue
		}
		from := newBucket(name, raw)
		c := from.cursor()
		for k, v := c.first(); k != nil; k, v = c.next() {
			if name == noteBucket && string(k) == versionNote {
				continue
			}
			if err := to.put(to.t.all[i], k, v); err != nil {
				return fmt.Errorf("bucket %s: %w", name, err)
			}
		}
		if err := to.t.all[i].continueAt(raw.Sequence()); err != nil {
			return fmt.Errorf("bucket %s: %w", name, err)
		}
	}
	return nil
}
