package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"go.etcd.io/bbolt"
)

// fileName is the database's name in the state folder.
const fileName = "driftd.db"

// The buckets, and what lies in them.
const (
	metaBucket     = "meta"      // "schema" → the schema's version, in decimal; first looks
	resourceBucket = "resources" // key → state
	versionBucket  = "versions"  // resource number, moment → digest, actor; nothing when gone
	contentBucket  = "contents"  // digest → compressed value
	openBucket     = "open"      // finding id → head
	resolvedBucket = "resolved"  // finding id → head
	findingBucket  = "findings"  // finding id, NUL, moment → last seen, compressed finding
	seenBucket     = "seen"      // source → when its findings were last seen
	runBucket      = "runs"      // number → start, compressed run
	decisionBucket = "decisions" // id → compressed decision
	threadBucket   = "threads"   // id → receiver, NUL, compressed thread
	paceBucket     = "paces"     // receiver → compressed pace
	outboxBucket   = "outbox"    // receiver, NUL, number → begun, time, key, NUL, thread, NUL, compressed message
	receiptBucket  = "receipts"  // receiver, NUL, thread → compressed receipt
)

const schemaKey = "schema"

func bucketNames() []string {
	return []string{metaBucket, resourceBucket, versionBucket, contentBucket, openBucket,
		resolvedBucket, findingBucket, seenBucket, runBucket, decisionBucket, threadBucket, paceBucket,
		outboxBucket, receiptBucket}
}

// A schema is the shape of the file that a driftd knows, and the way there
// from earlier ones.
type schema struct {
	version int
	// steps take a file from the version that they stand under to the next.
	steps map[int]func(*bbolt.Tx) error
}

func currentSchema() schema {
	return schema{version: 2, steps: map[int]func(*bbolt.Tx) error{1: addNotices}}
}

// addNotices makes room for what people decide and are told, which version 1
// did not keep.
func addNotices(tx *bbolt.Tx) error {
	return makeBuckets(tx, decisionBucket, threadBucket, paceBucket, outboxBucket, receiptBucket)
}

// create makes an empty store where there is no file. It appears under its
// name only when it is whole.
func (s *Store) create(want schema) error {
	if _, err := os.Stat(s.path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := replace(s.path, func(temp string) error {
		db, err := bbolt.Open(temp, fileMode, &bbolt.Options{Timeout: lockTimeout})
		if err != nil {
			return err
		}
		return errors.Join(db.Update(func(tx *bbolt.Tx) error { return lay(tx, want.version) }), db.Close())
	})
	if err != nil {
		return unwritable(filepath.Dir(s.path), err)
	}
	s.o.Log.Info("created a new store", "path", s.path)
	return nil
}

// lay makes the buckets of an empty store.
func lay(tx *bbolt.Tx, version int) error {
	if err := makeBuckets(tx, bucketNames()...); err != nil {
		return err
	}
	return setVersion(tx, version)
}

func makeBuckets(tx *bbolt.Tx, names ...string) error {
	for _, name := range names {
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return fmt.Errorf("create bucket %s: %w", name, err)
		}
	}
	return nil
}

func setVersion(tx *bbolt.Tx, version int) error {
	return tx.Bucket([]byte(metaBucket)).Put([]byte(schemaKey), []byte(strconv.Itoa(version)))
}

func versionOf(tx *bbolt.Tx) (int, error) {
	meta := tx.Bucket([]byte(metaBucket))
	if meta == nil {
		return 0, fmt.Errorf("%w: it is no store of driftd's", errCorrupt)
	}
	version, err := strconv.Atoi(string(meta.Get([]byte(schemaKey))))
	if err != nil {
		return 0, fmt.Errorf("%w: the schema version is unreadable", errCorrupt)
	}
	return version, nil
}

// upgrade brings the file to the wanted schema and sees that it is whole.
func (s *Store) upgrade(want schema) error {
	var version int
	err := s.inspect(s.db.View, func(tx *bbolt.Tx) (err error) {
		version, err = versionOf(tx)
		return err
	})
	switch {
	case err != nil:
		return err
	case version > want.version:
		return fmt.Errorf("%s has schema version %d, and this driftd knows versions up to %d: upgrade driftd", s.path, version, want.version)
	case version < want.version && s.o.ReadOnly:
		return fmt.Errorf("%s has schema version %d, and this driftd needs %d: run `driftd scan` once, or start the daemon, to migrate it", s.path, version, want.version)
	case version < want.version:
		if err := s.migrate(version, want); err != nil {
			return err
		}
	}
	return s.inspect(s.db.View, func(tx *bbolt.Tx) error {
		_, err := begin(tx, s.codec)
		return err
	})
}

// inspect looks into the file while it is being opened, where damage means
// that it cannot be.
func (s *Store) inspect(run func(func(*bbolt.Tx) error) error, fn func(*bbolt.Tx) error) error {
	err := guard(func() error { return run(fn) })
	if !suspicious(err) {
		return err
	}
	damaged := s.setAside(err)
	s.damaged.Store(damaged)
	return damaged
}

// migrate takes the file step by step to the wanted schema, all in one
// transaction, after it has put a copy aside.
func (s *Store) migrate(from int, want schema) error {
	backup := s.path + ".schema-" + strconv.Itoa(from)
	what := fmt.Sprintf("migrate %s from schema version %d to %d", s.path, from, want.version)
	if err := s.backup(backup); err != nil {
		return fmt.Errorf("%s: %w", what, unwritable(filepath.Dir(s.path), err))
	}
	err := s.inspect(s.db.Update, func(tx *bbolt.Tx) error {
		for version := from; version < want.version; version++ {
			step, ok := want.steps[version]
			if !ok {
				return fmt.Errorf("version %d is too old for this driftd: use an earlier one first", version)
			}
			if err := step(tx); err != nil {
				return fmt.Errorf("version %d: %w", version, err)
			}
		}
		return setVersion(tx, want.version)
	})
	if err != nil {
		return fmt.Errorf("%s: %w: the file is as it was", what, err)
	}
	s.o.Log.Info("migrated the store", "path", s.path, "from", from, "to", want.version, "backup", backup)
	return nil
}

// backup copies the open file.
func (s *Store) backup(path string) error {
	return replace(path, func(temp string) error {
		file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
		if err != nil {
			return err
		}
		err = s.inspect(s.db.View, func(tx *bbolt.Tx) error {
			_, err := tx.WriteTo(file)
			return err
		})
		return errors.Join(err, file.Sync(), file.Close())
	})
}
