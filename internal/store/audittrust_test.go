package store

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

// auditRecord returns the key of a record of the audit log.
func auditRecord(kind byte, index byte) []byte { return []byte{kind, 0, 0, 0, 0, 0, 0, 0, index} }

// edited returns a store whose log has an edited entry 2, a decision, and whose entry 1 is gone.
func edited(t *testing.T) (*Store, *testClock) {
	t.Helper()
	c := &testClock{minute(0)}
	s := openAt(t, t.TempDir(), c.options(auditKey(t)))
	save(t, s, scan(0, []model.Finding{finding("a", 0)}))
	if err := s.Decide([]model.Decision{decision("d1", "a", func(d *model.Decision) { d.Reason = "the sale" })}, minute(1)); err != nil {
		t.Fatal(err)
	}
	tamper(t, s, func(t *txn) error {
		k := auditRecord('e', 2)
		b := bytes.Replace(t.audit.get(k), []byte("the sale"), []byte("the rest"), 1)
		return errors.Join(t.audit.put(k, b), t.audit.remove(auditRecord('e', 1)))
	})
	return s, c
}

func wantEdited(t *testing.T, s *Store) {
	t.Helper()
	list, err := s.AuditEntries(0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		want := map[int64]audit.State{1: audit.StateGone, 2: audit.StateEdited}[e.Index]
		if e.State != want {
			t.Errorf("entry %d is %q, want %q", e.Index, e.State, want)
		}
	}
	var changed *audit.TamperedError
	if _, err := s.ProveEntry(2); !errors.As(err, &changed) || !strings.Contains(err.Error(), "entry 2 was edited") {
		t.Errorf("prove: %v", err)
	}
	if e, err := s.AuditEntry(2); err != nil || e.State != audit.StateEdited || !strings.Contains(fmt.Sprintf("%s", e.Data), "the rest") {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := s.ProveEntry(0); err != nil {
		t.Errorf("prove 0: %v", err)
	}
}

// An entry that was edited, or is gone, is marked before and after a person settled it, and neither
// before nor after can it be proved. Heads of before lead to the log.
func TestEditedEntriesAreMarked(t *testing.T) {
	t.Parallel()
	s, c := edited(t)
	was, err := s.AuditHead()
	if err != nil {
		t.Fatal(err)
	}
	wantEdited(t, s)
	c.now = minute(2)
	if _, err := s.Trust("lena", "a bad disk", nil); err != nil {
		t.Fatal(err)
	}
	wantEdited(t, s)
	save(t, s, scan(3, []model.Finding{finding("b", 3)}))
	wantEdited(t, s)
	r, err := s.VerifyAudit([]audit.Witnessed{{From: "w", Head: was}})
	if err != nil || !r.OK() || len(r.Settled) < 2 || r.Settled[0] != "entry 2 was edited (settled by lena with entry 3)" || r.Settled[1] != "entry 1 is gone (settled by lena with entry 3)" {
		t.Errorf("%q, %q, %v", r.Faults, r.Settled, err)
	}
	err = s.ExportAudit(func(string, []byte) error { return nil })
	if !errors.Is(err, audit.ErrDropped) {
		t.Errorf("export: %v", err)
	}
}

// A database whose head and head file are gone has nothing that shows what was signed: it goes on,
// and nothing of before can be proved.
func TestTrustWithoutAnyHead(t *testing.T) {
	t.Parallel()
	s, c := edited(t)
	tamper(t, s, func(t *txn) error { return t.audit.remove([]byte{'t'}) })
	if err := removeAny(s.headPath()); err != nil {
		t.Fatal(err)
	}
	c.now = minute(2)
	if _, err := s.Trust("lena", "a bad disk", nil); err != nil {
		t.Fatal(err)
	}
	wantFaults(t, s)
	for i := range int64(3) {
		if _, err := s.ProveEntry(i); err == nil {
			t.Errorf("entry %d is proved", i)
		}
	}
	if _, err := s.ProveEntry(3); err != nil {
		t.Error(err)
	}
}

// With the head file, a head that is gone costs nothing: it shows what was signed.
func TestTrustByTheKeptHead(t *testing.T) {
	t.Parallel()
	s, c := edited(t)
	tamper(t, s, func(t *txn) error { return t.audit.remove([]byte{'t'}) })
	c.now = minute(2)
	if _, err := s.Trust("lena", "a bad disk", nil); err != nil {
		t.Fatal(err)
	}
	wantEdited(t, s)
}

// The retention drops entries that were edited and settled, and what was settled stays known.
func TestRetentionKeepsSettledEdits(t *testing.T) {
	t.Parallel()
	s, c := edited(t)
	s.o.Retention.AuditMaxAge = time.Hour
	if _, err := s.Trust("lena", "a bad disk", nil); err != nil {
		t.Fatal(err)
	}
	before, err := s.VerifyAudit(nil)
	if err != nil || len(before.Settled) < 2 {
		t.Fatalf("%q, %v", before.Settled, err)
	}
	for i := 1; i <= 5; i++ {
		c.now = minute(300 * i)
		save(t, s, scan(300*i, []model.Finding{finding(fmt.Sprint("b", i), 300*i)}))
		if _, err := s.Prune(c.now); err != nil {
			t.Fatal(err)
		}
		after, err := s.VerifyAudit(nil)
		if err != nil || !after.OK() || after.Dropped < 3 || strings.Join(after.Settled, "\n") != strings.Join(before.Settled, "\n") {
			t.Errorf("%q, %q, %d dropped, %v", after.Faults, after.Settled, after.Dropped, err)
		}
	}
}
