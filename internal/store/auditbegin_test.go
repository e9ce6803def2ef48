package store

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

// removeLog removes the audit log and all that remembers it in the database, without the key.
func removeLog(t *txn) error {
	var keys [][]byte
	err := each(t.audit, nil, func(k, _ []byte) error {
		keys = append(keys, bytes.Clone(k))
		return nil
	})
	return errors.Join(err, removeAll(t.audit, keys), t.notes.remove([]byte(keyNote)), t.notes.remove([]byte(doubtNote)))
}

// A log that may have been begun anew in the place of another one begins in doubt.
func TestLogBegunAnew(t *testing.T) {
	t.Parallel()
	key := auditKey(t)
	withRecords := func(t *testing.T, dir string) {
		t.Helper()
		s, err := Open(dir, Options{Audit: key})
		if err != nil {
			t.Fatal(err)
		}
		save(t, s, scan(0, []model.Finding{finding("a", 0)}))
		tamper(t, s, removeLog)
		if err := errors.Join(s.Close(), os.Remove(Path(dir)+".head")); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		before func(t *testing.T, dir string)
		o      Options
		want   string
	}{
		"new, with a new key":             {nil, Options{KeyMade: true}, ""},
		"new, with a key of before":       {nil, Options{KeyFound: true}, "the log begins with a key that was there before"},
		"over records":                    {withRecords, Options{}, "the log begins over findings or decisions that no log records"},
		"over records, with a new key":    {withRecords, Options{KeyMade: true}, "the log begins over findings"},
		"over records, with a key before": {withRecords, Options{KeyFound: true}, "the log begins over findings"},
		"migrated, with a new key":        {func(t *testing.T, dir string) { t.Helper(); writeFixture(t, dir, "schema-1") }, Options{KeyMade: true}, ""},
		"migrated, with a key of before":  {func(t *testing.T, dir string) { t.Helper(); writeFixture(t, dir, "schema-1") }, Options{KeyFound: true}, "a key that was there before"},
		"beside a damaged database": {func(t *testing.T, dir string) {
			t.Helper()
			if err := os.WriteFile(Path(dir)+asideMark+"20261124T120000Z", nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, Options{KeyMade: true}, "the log begins beside "},
		"after the database was removed": {func(t *testing.T, dir string) {
			t.Helper()
			s, err := Open(dir, Options{Audit: key})
			if err != nil {
				t.Fatal(err)
			}
			save(t, s, scan(0, []model.Finding{finding("a", 0)}))
			if err := errors.Join(s.Close(), os.Remove(Path(dir))); err != nil {
				t.Fatal(err)
			}
		}, Options{KeyFound: true}, "2 entries were written, 0 are there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if test.before != nil {
				test.before(t, dir)
			}
			test.o.Audit = key
			s := openAt(t, dir, test.o)
			if test.o.KeyMade {
				wantHead(t, s)
			} else if name == "over records" {
				wantFaults(t, s, "the log has no entries, and the database has findings or decisions")
			}
			save(t, s, scan(1, []model.Finding{finding("a", 1), finding("b", 1)}))
			wantDoubt(t, s, test.want)
			wantFaults(t, s)
			if test.want == "" {
				return
			}
			// The log has the doubt, and a note that was removed does not hide it.
			tamper(t, s, func(t *txn) error { return t.notes.remove([]byte(doubtNote)) })
			wantFaults(t, s, "records a doubt about the log that no entry settles")
			if _, err := s.Trust("lena", "a new installation", nil); err != nil {
				t.Fatal(err)
			}
			wantFaults(t, s)
			wantDoubt(t, s, "")
			if got := kinds(t, s); got[0] != audit.KindBegin {
				t.Errorf("%v", got)
			}
		})
	}
}

// The first scan begins the log, also if nothing changed, so that a new installation has a head.
func TestFirstScanBeginsTheLog(t *testing.T) {
	t.Parallel()
	c := testClock{minute(0)}
	s := openAt(t, t.TempDir(), c.options(auditKey(t)))
	if _, err := s.AuditHead(); !errors.Is(err, audit.ErrEmpty) {
		t.Fatalf("before the first scan: %v", err)
	}
	for i := range 3 {
		save(t, s, scan(i, nil))
	}
	if diff := cmp.Diff([]audit.Kind{audit.KindBegin}, kinds(t, s)); diff != "" {
		t.Error(diff)
	}
	wantFaults(t, s)
	save(t, s, scan(4, []model.Finding{finding("a", 4)}))
	if diff := cmp.Diff([]audit.Kind{audit.KindBegin, audit.KindScan}, kinds(t, s)); diff != "" {
		t.Error(diff)
	}
	wantFaults(t, s)
}
