package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

func auditKey(tb testing.TB) *audit.Key {
	tb.Helper()
	text, err := audit.GenerateKey("driftd.example/test")
	if err != nil {
		tb.Fatal(err)
	}
	key, err := audit.ParseKey(text)
	if err != nil {
		tb.Fatal(err)
	}
	return &key
}

// A testClock is a clock that a test sets.
type testClock struct{ now time.Time }

func (c *testClock) options(key *audit.Key) Options {
	return Options{Audit: key, Now: func() time.Time { return c.now }}
}

// kinds returns the kinds of all entries, oldest first.
func kinds(t *testing.T, s *Store) []audit.Kind {
	t.Helper()
	list, err := s.AuditEntries(0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	found := make([]audit.Kind, len(list))
	for i, e := range list {
		found[len(list)-1-i] = e.Kind
	}
	return found
}

func wantFaults(t *testing.T, s *Store, want ...string) {
	t.Helper()
	r, err := s.VerifyAudit(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Faults) != len(want) {
		t.Fatalf("faults %q, want %q", r.Faults, want)
	}
	for i := range want {
		if !strings.Contains(r.Faults[i], want[i]) {
			t.Errorf("fault %q, want %q", r.Faults[i], want[i])
		}
	}
}

func wantDoubt(t *testing.T, s *Store, want string) {
	t.Helper()
	d, err := s.Doubt()
	switch {
	case err != nil:
		t.Fatal(err)
	case want == "" && d != nil:
		t.Errorf("in doubt: %+v", d)
	case want != "" && (d == nil || !strings.Contains(d.What, want)):
		t.Errorf("doubt %+v, want %q", d, want)
	}
}

func TestAuditEntries(t *testing.T) {
	t.Parallel()
	c := testClock{minute(0)}
	o := c.options(auditKey(t))
	o.Retention = Retention{MaxRuns: 1}
	s := openAt(t, t.TempDir(), o)
	save(t, s, scan(0, []model.Finding{finding("a", 0), finding("b", 0)}))
	for i := 1; i <= 70; i++ {
		c.now = minute(i)
		save(t, s, scan(i, []model.Finding{finding("a", i), finding("b", i)}))
	}
	save(t, s, scan(71, []model.Finding{finding("a", 71), finding("b", 70, resolvedAt(71))}))
	d := decision("d1", "a")
	d.By, d.Owner, d.Reason = "alice", "team-db", "until the migration"
	if err := s.Decide([]model.Decision{d}, minute(71)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Revoke("d1", "bob", minute(72)); err != nil {
		t.Fatal(err)
	}
	rec := scan(73, []model.Finding{finding("a", 73)})
	rec.Decisions = map[string][]model.Decision{"git": {decision("d2", "a")}}
	save(t, s, rec)
	rec.Decisions = map[string][]model.Decision{"git": {}}
	save(t, s, rec)
	c.now = minute(74)
	if _, err := s.Prune(c.now); err != nil {
		t.Fatal(err)
	}
	if err := s.Reseal(Seal{Rules: "new", Value: func(_ string, v model.Value) model.Value { return v }, Finding: func(*model.Finding) {}}); err != nil {
		t.Fatal(err)
	}
	want := []audit.Kind{audit.KindBegin, audit.KindScan, audit.KindQuiet, audit.KindScan, audit.KindDecision, audit.KindRevoke,
		audit.KindDecision, audit.KindRevoke, audit.KindPrune, audit.KindReseal}
	got := kinds(t, s)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	e, err := s.AuditEntry(4)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(e)
	if err != nil || !strings.Contains(string(raw), `"by":"alice"`) || !strings.Contains(string(raw), `"owner":"team-db"`) || !strings.Contains(string(raw), "until the migration") {
		t.Errorf("%s, %v", raw, err)
	}
	wantFaults(t, s)
	wantDoubt(t, s, "")
}

// A database that is not the one that was written last puts the log in doubt, and a person settles
// it.
func TestDoubt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// edit changes the closed database in dir; old is a copy of it before the last scan.
		edit func(tb testing.TB, dir string, old []byte)
		want string
	}{
		"nothing": {func(testing.TB, string, []byte) {}, ""},
		"older copy": {func(tb testing.TB, dir string, old []byte) {
			if err := os.WriteFile(Path(dir), old, 0o600); err != nil {
				tb.Fatal(err)
			}
		}, "the database is an older copy, or entries were removed"},
		"moved": {func(tb testing.TB, dir string, _ []byte) {
			if err := os.Remove(Path(dir) + ".head"); err != nil {
				tb.Fatal(err)
			}
		}, "the database was restored or moved"},
		"begun anew": {func(tb testing.TB, dir string, _ []byte) {
			if err := os.Remove(Path(dir)); err != nil {
				tb.Fatal(err)
			}
		}, "entries were written, 0 are there"},
		"another machine": {func(tb testing.TB, dir string, _ []byte) {
			path := Path(dir) + ".head"
			b, err := os.ReadFile(path)
			if err != nil {
				tb.Fatal(err)
			}
			b = bytes.Replace(b, []byte(`"machine":"`), []byte(`"machine":"0`), 1)
			if err := os.WriteFile(path, b, 0o600); err != nil {
				tb.Fatal(err)
			}
		}, "moved here from another machine"},
		"unreadable": {func(tb testing.TB, dir string, _ []byte) {
			if err := os.WriteFile(Path(dir)+".head", []byte("{"), 0o600); err != nil {
				tb.Fatal(err)
			}
		}, "driftd.db.head"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testClock{minute(0)}
			dir, o := t.TempDir(), c.options(auditKey(t))
			write := func(at int) {
				s, err := Open(dir, o)
				if err != nil {
					t.Fatal(err)
				}
				save(t, s, scan(at, []model.Finding{finding("a", at), finding(fmt.Sprint("b", at), at)}))
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			write(0)
			old, err := os.ReadFile(Path(dir))
			if err != nil {
				t.Fatal(err)
			}
			write(1)
			test.edit(t, dir, old)
			s := openAt(t, dir, o)
			wantDoubt(t, s, test.want)
			if test.want == "" {
				wantFaults(t, s)
				return
			}
			// driftd goes on looking.
			save(t, s, scan(2, []model.Finding{finding("a", 2), finding("c", 2)}))
			wantDoubt(t, s, test.want)
			settled, err := s.Trust("lena", "restored the backup of Monday", nil)
			if err != nil {
				t.Fatal(err)
			}
			wantDoubt(t, s, "")
			wantFaults(t, s)
			if list := kinds(t, s); !slices.Contains(list, audit.KindTrust) {
				t.Errorf("%v records no trust (%+v)", list, settled)
			}
		})
	}
}

func TestClockSetBackIsDoubted(t *testing.T) {
	t.Parallel()
	c := testClock{minute(10)}
	s := openAt(t, t.TempDir(), c.options(auditKey(t)))
	save(t, s, scan(0, []model.Finding{finding("a", 0)}))
	c.now = minute(9)
	save(t, s, scan(1, []model.Finding{finding("a", 1), finding("b", 1)}))
	wantDoubt(t, s, "")
	c.now = minute(5)
	save(t, s, scan(2, []model.Finding{finding("a", 2), finding("c", 2)}))
	wantDoubt(t, s, "the clock was set back")
}

// The next append does not sign an edit of the log.
func TestEditedLogIsNotContinued(t *testing.T) {
	t.Parallel()
	c := testClock{minute(0)}
	s := openAt(t, t.TempDir(), c.options(auditKey(t)))
	save(t, s, scan(0, []model.Finding{finding("a", 0)}))
	before := kinds(t, s)
	tamper(t, s, func(t *txn) error { return t.audit.remove([]byte{'t'}) })
	save(t, s, scan(1, []model.Finding{finding("a", 1), finding("b", 1)}))
	wantDoubt(t, s, "the head is gone")
	c.now = minute(2)
	if _, err := s.Trust("lena", "looked into it", nil); err != nil {
		t.Fatal(err)
	}
	wantDoubt(t, s, "")
	if got := kinds(t, s); len(got) != len(before)+1 {
		t.Errorf("%v after %v", got, before)
	}
}

func TestAuditWithoutKey(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	save(t, s, scan(0, []model.Finding{finding("a", 0)}))
	for name, call := range map[string]func() error{
		"list":   func() error { _, err := s.AuditEntries(0, 1); return err },
		"show":   func() error { _, err := s.AuditEntry(0); return err },
		"prove":  func() error { _, err := s.ProveEntry(0); return err },
		"verify": func() error { _, err := s.VerifyAudit(nil); return err },
		"trust":  func() error { _, err := s.Trust("lena", "", nil); return err },
		"erase":  func() error { return s.EraseName("lena", "bob", minute(0)) },
	} {
		if err := call(); !errors.Is(err, ErrNoAuditKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEraseName(t *testing.T) {
	t.Parallel()
	c := testClock{minute(0)}
	s := openAt(t, t.TempDir(), c.options(auditKey(t)))
	save(t, s, scan(0, []model.Finding{finding("a", 0)}))
	if err := s.Decide([]model.Decision{decision("d1", "a")}, minute(1)); err != nil {
		t.Fatal(err)
	}
	proof, err := s.ProveEntry(2)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.EraseName("alice", "bob", minute(2)); err != nil {
		t.Fatal(err)
	}
	e, err := s.AuditEntry(2)
	if raw, ok := e.Data.(json.RawMessage); err != nil || !ok || strings.Contains(string(raw), "alice") {
		t.Errorf("%s, %v", raw, err)
	}
	if _, _, err := audit.Check(proof, s.o.Audit.Public()); err != nil {
		t.Errorf("the proof of before: %v", err)
	}
	wantDoubt(t, s, "")
	wantFaults(t, s)
	if err := s.EraseName("alice", "bob", minute(3)); !errors.Is(err, audit.ErrNoPerson) {
		t.Errorf("again: %v", err)
	}
	// A person who erases the own name stays known as the same person.
	if err := s.EraseName("bob", "bob", minute(4)); err != nil {
		t.Fatal(err)
	}
	h, err := s.AuditHead()
	if err != nil {
		t.Fatal(err)
	}
	e, err = s.AuditEntry(h.Size - 1)
	var data audit.Erase
	if raw, ok := e.Data.(json.RawMessage); err != nil || !ok || json.Unmarshal(raw, &data) != nil || !strings.HasPrefix(data.By, "person:") || data.By != data.Person {
		t.Errorf("erased by oneself: %+v, %v", data, err)
	}
	wantFaults(t, s)
}

// Entries beyond the maximum age are dropped. The log still verifies, and what it accounted for and
// what was settled stay known.
func TestAuditMaxAge(t *testing.T) {
	t.Parallel()
	c := testClock{minute(0)}
	o := c.options(auditKey(t))
	o.Retention.AuditMaxAge = time.Hour
	s := openAt(t, t.TempDir(), o)
	other := openAt(t, t.TempDir(), c.options(o.Audit))
	save(t, other, scan(0, []model.Finding{finding("x", 0)}))
	elsewhere, err := other.AuditHead()
	if err != nil {
		t.Fatal(err)
	}
	witnessed := []audit.Witnessed{{From: "w", Head: elsewhere}}
	for i := range 10 {
		c.now = minute(10 * i)
		save(t, s, scan(10*i, []model.Finding{finding("a", i), finding(fmt.Sprint("b", i), i)}))
		if i == 2 {
			if _, err := s.Trust("lena", "looked into it", witnessed); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Decide([]model.Decision{decision("d1", "a")}, c.now); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.Prune(c.now); err != nil {
			t.Fatal(err)
		}
	}
	r, err := s.VerifyAudit(witnessed)
	if err != nil || !r.OK() || r.Dropped != 6 || len(r.Settled) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := s.AuditEntry(3); !errors.Is(err, audit.ErrDropped) {
		t.Errorf("%v", err)
	}
	if got := kinds(t, s); len(got) != 9 || got[7] != audit.KindDrop || got[8] != audit.KindTrust {
		t.Errorf("%v", got)
	}
	tamper(t, s, func(t *txn) error { return t.open.remove([]byte("b1")) })
	wantFaults(t, s, "finding b1 is not among the open ones, entry 13 records it")
	c.now = minute(300)
	if _, err := s.Prune(c.now); err != nil {
		t.Fatal(err)
	}
	wantFaults(t, s, "finding b1 is not among the open ones")
}

// A clock that is wrong for a time removes nothing, as for other records: age counts only time during which
// scans were made.
func TestWrongClockDropsNothing(t *testing.T) {
	t.Parallel()
	c := testClock{minute(0)}
	o := c.options(auditKey(t))
	o.Retention = Retention{MaxAge: 90 * 24 * time.Hour, AuditMaxAge: 365 * 24 * time.Hour}
	s := openAt(t, t.TempDir(), o)
	const day, years = 24 * 60, 2 * 365 * 24 * 60
	for i, at := range []int{0, day, years, years + 1, 2 * day, 3 * day} {
		c.now = minute(at)
		save(t, s, scan(at, []model.Finding{finding("a", at), finding(fmt.Sprint("b", i), at)}))
		if _, err := s.Prune(c.now); err != nil {
			t.Fatal(err)
		}
		if e, err := s.AuditEntry(0); err != nil || e.Kind != audit.KindBegin {
			t.Fatalf("on day %d: %v", at/day, err)
		}
	}
	wantDoubt(t, s, "the clock was set back")
	if _, err := s.Trust("lena", "the clock was wrong", nil); err != nil {
		t.Fatal(err)
	}
	// Time that passes with scans counts.
	for at := 4 * day; at < 370*day; at += 4 * day {
		c.now = minute(at)
		save(t, s, scan(at, []model.Finding{finding("a", at)}))
	}
	if _, err := s.Prune(c.now); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AuditEntry(0); err != nil {
		t.Errorf("before its age: %v", err)
	}
	for at := 370 * day; at < 410*day; at += 4 * day {
		c.now = minute(at)
		save(t, s, scan(at, []model.Finding{finding("a", at)}))
	}
	if _, err := s.Prune(c.now); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AuditEntry(0); !errors.Is(err, audit.ErrDropped) {
		t.Errorf("beyond its age: %v", err)
	}
}

// A key that was replaced signs nothing, and the log goes on with the next one.
func TestReplacedKey(t *testing.T) {
	t.Parallel()
	c := testClock{minute(0)}
	dir, old := t.TempDir(), auditKey(t)
	next := auditKey(t)
	use := func(key *audit.Key, do func(*Store)) {
		s, err := Open(dir, c.options(key))
		if err != nil {
			t.Fatal(err)
		}
		do(s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	use(old, func(s *Store) {
		save(t, s, scan(0, []model.Finding{finding("a", 0)}))
		if err := s.RotateKey(*next); err != nil {
			t.Fatal(err)
		}
	})
	use(next, func(s *Store) { wantFaults(t, s); wantDoubt(t, s, "") })
	use(old, func(s *Store) {
		wantDoubt(t, s, "the log has the key")
		save(t, s, scan(1, []model.Finding{finding("a", 1), finding("b", 1)}))
		if err := s.RotateKey(*auditKey(t)); err == nil {
			t.Error("a replaced key is replaced again")
		}
	})
	c.now = minute(2)
	use(next, func(s *Store) {
		wantDoubt(t, s, "the log has the key")
		if keys, err := s.AuditKeys(); err != nil || len(keys) != 2 {
			t.Errorf("%d keys, %v", len(keys), err)
		}
		if _, err := s.Trust("lena", "the old key was used by mistake", nil); err != nil {
			t.Fatal(err)
		}
		wantFaults(t, s)
		wantDoubt(t, s, "")
		if _, err := s.Trust("lena", "again", nil); !errors.Is(err, ErrNoDoubt) {
			t.Errorf("a log without doubt is settled: %v", err)
		}
	})
}

// A database that goes on with a new key, because the old one is lost, verifies after it was settled.
func TestLostKey(t *testing.T) {
	t.Parallel()
	c := testClock{minute(0)}
	dir := t.TempDir()
	s, err := Open(dir, c.options(auditKey(t)))
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, scan(0, []model.Finding{finding("a", 0)}))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, dir, c.options(auditKey(t)))
	wantDoubt(t, s, "the log has the key")
	if err := s.Decide([]model.Decision{decision("d1", "a")}, minute(1)); err != nil {
		t.Fatal(err)
	}
	c.now = minute(2)
	if _, err := s.Trust("lena", "the disk with the key is lost", nil); err != nil {
		t.Fatal(err)
	}
	wantFaults(t, s)
	wantDoubt(t, s, "")
}
