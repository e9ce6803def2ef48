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

// fileName is the name of the database in the state folder.
const fileName = "driftd.db"

// Path returns the path of the database file in a state folder.
func Path(dir string) string { return filepath.Join(dir, fileName) }

// metaBucket holds the schema's version under schemaKey, in decimal and without a checksum, so that
// every version of driftd can read it.
const (
	metaBucket = "meta"
	schemaKey  = "schema"
)

// totalBucket holds the total of each other bucket by name. Its records have checksums too.
const totalBucket = "totals"

// The buckets of records and their contents. Each value ends with a checksum.
const (
	noteBucket     = "notes"     // the keys of notes are below.
	resourceBucket = "resources" // key → state.
	versionBucket  = "versions"  // resource number, moment → digest, actor; nothing when gone.
	contentBucket  = "contents"  // digest → compressed value.
	openBucket     = "open"      // finding id → head with the outline.
	resolvedBucket = "resolved"  // finding id → head with the outline.
	findingBucket  = "findings"  // finding id, NUL, moment → last seen, compressed finding.
	seenBucket     = "seen"      // source → when its findings were last seen.
	runBucket      = "runs"      // number → header, run compressed with the following run as the dictionary.
	newestBucket   = "newest"    // number → header, compressed run: the last two.
	decisionBucket = "decisions" // id → compressed decision.
	threadBucket   = "threads"   // id → receiver, NUL, compressed thread.
	paceBucket     = "paces"     // receiver → compressed pace.
	outboxBucket   = "outbox"    // receiver, NUL, number → begun, time, key, NUL, thread, NUL, compressed message.
	auditBucket    = "audit"     // the audit log, in the records of audit.Log.
	receiptBucket  = "receipts"  // receiver, NUL, thread → compressed receipt.
	actionBucket   = "actions"   // what is recorded of actions, see actions.go.
)

// The keys of notes, or their prefixes.
const (
	// versionNote is a second copy of the schema's version, with a checksum.
	versionNote = "schema"
	// sealNote identifies the rules by which the values of the file are sealed.
	sealNote = "sealed"
	// firstNote is the prefix of first reads; the source, the kind and the place follow.
	firstNote = "first\x00"
	// lastNote is the prefix of last reads, stateNote that of the last state reads; the source or
	// the declaration follows.
	lastNote, stateNote = "look\x00", "state\x00"
	// doubtNote is the Doubt about the audit log, quietNote the count of scans that changed nothing
	// since the last entry.
	doubtNote, quietNote = "doubt", "quiet"
	// keyNote is the public key of the audit log.
	keyNote = "auditkey"
	// witnessNote is the prefix of what was sent to witnesses; the name of the witness follows.
	witnessNote = "witness\x00"
)

// bucketNames returns the names of the buckets of records. findingBucket is before the buckets of
// heads: a migration makes a head from the version that it refers to.
func bucketNames() []string {
	return []string{noteBucket, resourceBucket, versionBucket, contentBucket, findingBucket, openBucket,
		resolvedBucket, seenBucket, runBucket, newestBucket, decisionBucket, threadBucket, paceBucket,
		outboxBucket, receiptBucket, auditBucket, actionBucket}
}

// A schema is a version of the file format with the conversion from earlier versions.
type schema struct {
	version int
	// convert fills a new store from a file of an earlier version.
	convert func(old *bbolt.Tx, version int, to *filler) error
}

func currentSchema() schema { return schema{version: 6, convert: convert} }

// create creates an empty store if the file does not exist. It gives the file its final name only
// when it is complete.
func (s *Store) create(want schema) error {
	if _, err := os.Stat(s.path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := replace(s.path, func(temp string) error {
		return build(temp, func(db *bbolt.DB) error {
			return db.Update(func(tx *bbolt.Tx) error { return createBuckets(tx, want.version) })
		})
	})
	if err != nil {
		return unwritable(filepath.Dir(s.path), err)
	}
	s.o.Log.Info("created a store", "path", s.path)
	return nil
}

// build creates a database file and runs fill on it.
func build(path string, fill func(*bbolt.DB) error) error {
	db, err := bbolt.Open(path, fileMode, &bbolt.Options{Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType, NoSync: true})
	if err != nil {
		return err
	}
	return errors.Join(fill(db), db.Sync(), db.Close())
}

// createBuckets creates the buckets of an empty store.
func createBuckets(tx *bbolt.Tx, version int) error {
	for _, name := range append([]string{metaBucket, totalBucket}, bucketNames()...) {
		if _, err := tx.CreateBucket([]byte(name)); err != nil {
			return fmt.Errorf("create bucket %s: %w", name, err)
		}
	}
	totals := newBucket(totalBucket, tx.Bucket([]byte(totalBucket)))
	for _, name := range bucketNames() {
		if err := totals.put([]byte(name), total{}.encode()); err != nil {
			return err
		}
	}
	return setVersion(tx, version)
}

// setVersion writes the schema's version: without a checksum for all versions of driftd, and with
// one for this version.
func setVersion(tx *bbolt.Tx, version int) error {
	t, err := begin(tx, codec{})
	if err != nil {
		return err
	}
	text := []byte(strconv.Itoa(version))
	if err := t.notes.put([]byte(versionNote), text); err != nil {
		return err
	}
	if err := t.finish(); err != nil {
		return err
	}
	return tx.Bucket([]byte(metaBucket)).Put([]byte(schemaKey), text)
}

// firstChecked is the first schema version whose records have checksums.
const firstChecked = 3

// firstAudited is the first schema version with an audit log.
const firstAudited = 4

// versionOf returns the version of the schema. If the file has checksums and the checksummed copy
// of the version differs, it returns a *RecordError.
func versionOf(tx *bbolt.Tx) (int, error) {
	meta := tx.Bucket([]byte(metaBucket))
	if meta == nil {
		return 0, fmt.Errorf("%w: it is not a driftd database", errCorrupt)
	}
	text := string(meta.Get([]byte(schemaKey)))
	version, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%w: the schema version is unreadable", errCorrupt)
	}
	raw := tx.Bucket([]byte(noteBucket))
	if raw == nil && version < firstChecked {
		return version, nil
	}
	if raw == nil {
		return 0, &RecordError{Bucket: noteBucket, What: "the bucket is missing"}
	}
	if sealed := newBucket(noteBucket, raw).get([]byte(versionNote)); string(sealed) != text {
		return 0, &RecordError{Bucket: metaBucket, Key: schemaKey, What: fmt.Sprintf("it is %s but was written as %s", printable(text), printable(string(sealed)))}
	}
	return version, nil
}

// upgrade migrates the file to the wanted schema and verifies that all buckets exist.
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
		return fmt.Errorf("%s has schema version %d; this version of driftd supports versions up to %d: upgrade driftd", s.path, version, want.version)
	case version < want.version && s.o.ReadOnly:
		return fmt.Errorf("%s has schema version %d; this version of driftd needs %d: run `driftd scan` once, or start the daemon, to migrate it", s.path, version, want.version)
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

// inspect runs fn while the file is being opened. If the file is damaged, it sets the file aside
// and returns a *DamagedError.
func (s *Store) inspect(run func(func(*bbolt.Tx) error) error, fn func(*bbolt.Tx) error) error {
	err := guard(func() error { return run(fn) })
	if !suspicious(err) {
		return err
	}
	damaged := s.setAside(err)
	s.damaged.Store(damaged)
	return damaged
}

// migrate creates a new file of the wanted schema and replaces the old file, which is kept as a
// backup.
func (s *Store) migrate(from int, want schema) error {
	backup := s.path + ".schema-" + strconv.Itoa(from)
	what := fmt.Sprintf("migrate %s from schema version %d to %d", s.path, from, want.version)
	err := replace(s.path, func(temp string) error {
		err := build(temp, func(db *bbolt.DB) error {
			return s.inspect(s.db.View, func(tx *bbolt.Tx) error {
				return fillStore(db, s.codec, want.version, func(f *filler) error { return want.convert(tx, from, f) })
			})
		})
		if err != nil {
			return err
		}
		return errors.Join(removeAny(backup), os.Link(s.path, backup))
	})
	if damaged, ok := errors.AsType[*DamagedError](err); ok {
		return fmt.Errorf("%s: %w", what, damaged) // it has the new name of the file
	}
	if err != nil {
		return fmt.Errorf("%s: %w; the file is unchanged", what, unwritable(filepath.Dir(s.path), err))
	}
	if err := s.reopen(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	s.migrated = from < firstAudited
	s.o.Log.Info("migrated the store", "path", s.path, "from", from, "to", want.version, "backup", backup)
	return nil
}

// reopen opens the file that is now at the path, and closes the one that was open.
func (s *Store) reopen() error {
	h, err := openHandle(s.path, s.o.ReadOnly, s.o.Wait)
	if err != nil {
		return err
	}
	old := s.handle
	s.handle = h
	return old.close()
}
