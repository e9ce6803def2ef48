package store

import (
	"errors"
	"os"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// TestMigrationOfDamagedFileNamesTheNewFile verifies that the error of a migration that finds damage has one file, and
// does not state that it is unchanged in its place.
func TestMigrationOfDamagedFileNamesTheNewFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFixture(t, dir, "schema-5")
	db, err := bbolt.Open(Path(dir), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(findingBucket)).Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.First() {
			if err := c.Delete(); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = Open(dir, Options{})
	damaged, ok := errors.AsType[*DamagedError](err)
	if !ok || damaged.Moved == "" || !strings.Contains(err.Error(), damaged.Moved) || strings.Contains(err.Error(), "unchanged") {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(damaged.Moved); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(Path(dir)); err == nil {
		t.Error("the file is still in its place")
	}
}
