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
	"go.etcd.io/bbolt"

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

// firstRecord returns the key and the value of the first record of a bucket.
func firstRecord(tb testing.TB, s *Store, bucket func(*txn) *bucket) (k, v []byte) {
	tb.Helper()
	err := s.view("read", func(t *txn) error {
		k, v = bucket(t).cursor().first()
		k, v = bytes.Clone(k), bytes.Clone(v)
		return nil
	})
	if err != nil || k == nil {
		tb.Fatalf("no record: %v", err)
	}
	return k, v
}

// tamper changes the database as an attacker does who has driftd's code, but not the key of the
// audit log: all checksums are right.
func tamper(tb testing.TB, s *Store, fn func(*txn) error) {
	tb.Helper()
	if err := s.update("change", fn); err != nil {
		tb.Fatal(err)
	}
}

func TestEditsOfTheDatabaseAreNamed(t *testing.T) {
	t.Parallel()
	findings := func(t *txn) *bucket { return t.findings }
	decisions := func(t *txn) *bucket { return t.decisions }
	for name, test := range map[string]struct {
		edit func(tb testing.TB, s *Store)
		want []string
	}{
		"nothing": {func(testing.TB, *Store) {}, nil},
		"finding edited": {func(tb testing.TB, s *Store) {
			k, v := firstRecord(tb, s, findings)
			tamper(tb, s, func(t *txn) error {
				body, err := t.unpack(v[8:])
				if err != nil {
					return err
				}
				packed, err := t.pack(bytes.Replace(body, []byte("kubectl"), []byte("nobody1"), 1))
				if err != nil || !bytes.Contains(body, []byte("kubectl")) {
					return errors.Join(err, fmt.Errorf("no actor in %s", body))
				}
				return t.findings.put(k, append(bytes.Clone(v[:8]), packed...))
			})
		}, []string{"was edited after entry 1 recorded it"}},
		"finding removed": {func(tb testing.TB, s *Store) {
			k, _ := firstRecord(tb, s, findings)
			tamper(tb, s, func(t *txn) error { return t.findings.remove(k) })
		}, []string{"of finding a is gone, entry 1 records it"}},
		"finding hidden": {func(tb testing.TB, s *Store) {
			tamper(tb, s, func(t *txn) error { return t.open.remove([]byte("a")) })
		}, []string{"finding a is not among the open ones, entry 1 records it"}},
		"finding resolved": {func(tb testing.TB, s *Store) {
			tamper(tb, s, func(t *txn) error {
				v := bytes.Clone(t.open.get([]byte("a")))
				return errors.Join(t.open.remove([]byte("a")), t.resolved.put([]byte("a"), v))
			})
		}, []string{"finding a is among the resolved ones, and no entry records it", "finding a is not among the open ones, entry 1 records it"}},
		"finding set back": {func(tb testing.TB, s *Store) {
			old, _ := firstRecord(tb, s, findings)
			_, head := firstRecord(tb, s, func(t *txn) *bucket { return t.open })
			save(tb, s, scan(2, []model.Finding{finding("a", 0, func(f *model.Finding) { f.Severity = model.Low })}))
			tamper(tb, s, func(t *txn) error {
				k, _ := t.findings.cursor().last()
				if bytes.Equal(k, old) {
					return errors.New("there is no other version")
				}
				return errors.Join(t.findings.remove(bytes.Clone(k)), t.open.put([]byte("a"), head))
			})
		}, []string{"the state of the open finding a was edited after entry 3 recorded it", "of finding a is gone, entry 3 records it"}},
		"finding backdated": {func(tb testing.TB, s *Store) {
			_, v := firstRecord(tb, s, findings)
			tamper(tb, s, func(t *txn) error { return t.findings.put(findingKey("a", momentOf(minute(-60))), v) })
		}, []string{"finding a has a version of " + minute(-60).Format(time.RFC3339) + ", and no entry records it"}},
		"finding of another source": {func(tb testing.TB, s *Store) {
			_, v := firstRecord(tb, s, func(t *txn) *bucket { return t.open })
			tamper(tb, s, func(t *txn) error { return t.open.put([]byte("a"), append(v[:headSize], "elsewhere"...)) })
		}, []string{"the state of the open finding a was edited after entry 1 recorded it"}},
		"decision backdated": {func(tb testing.TB, s *Store) {
			d := decision("d9", "b")
			d.At = minute(-60)
			tamper(tb, s, func(t *txn) error { return t.putDecision(&d) })
		}, []string{"decision d9 is in force, and no entry records it"}},
		"decision widened": {func(tb testing.TB, s *Store) {
			list, err := s.Decisions()
			if err != nil {
				tb.Fatal(err)
			}
			list[0].Covered = []model.Covered{{Finding: "b", Basis: "b"}}
			tamper(tb, s, func(t *txn) error { return t.putDecision(&list[0]) })
		}, []string{"decision d1 was edited after entry 2 recorded it"}},
		"edit before a retention": {func(tb testing.TB, s *Store) {
			tamper(tb, s, func(t *txn) error { return t.open.remove([]byte("a")) })
			tamper(tb, s, func(t *txn) error {
				return errors.Join((&pruner{txn: t, cut: never}).pruneFindings(),
					t.record(audit.Entry{Kind: audit.KindPrune, Time: minute(5), Data: pruneData{}}))
			})
		}, []string{"finding a is not among the open ones, entry 1 records it"}},
		"edit before a reseal": {func(tb testing.TB, s *Store) {
			list, err := s.Decisions()
			if err != nil {
				tb.Fatal(err)
			}
			list[0].Reason, list[0].Basis = "forged", ""
			tamper(tb, s, func(t *txn) error { return t.putDecision(&list[0]) })
			err = s.Reseal(Seal{Rules: "other", Value: func(_ string, v model.Value) model.Value { return v },
				Finding: func(f *model.Finding) { f.Basis = "other" }})
			if err != nil {
				tb.Fatal(err)
			}
		}, []string{"decision d1 was edited after entry 2 recorded it, before entry 3"}},
		"decision edited": {func(tb testing.TB, s *Store) {
			list, err := s.Decisions()
			if err != nil {
				tb.Fatal(err)
			}
			list[0].By = "mallory"
			tamper(tb, s, func(t *txn) error { return t.putDecision(&list[0]) })
		}, []string{"decision d1 was edited after entry 2 recorded it"}},
		"decision removed": {func(tb testing.TB, s *Store) {
			k, _ := firstRecord(tb, s, decisions)
			tamper(tb, s, func(t *txn) error { return t.decisions.remove(k) })
		}, []string{"decision d1 is gone, entry 2 records it"}},
		"decision added": {func(tb testing.TB, s *Store) {
			d := decision("d9", "b")
			d.At = minute(3)
			tamper(tb, s, func(t *txn) error { return t.putDecision(&d) })
		}, []string{"decision d9 is in force, and no entry records it"}},
		"list of an entry removed": {func(tb testing.TB, s *Store) {
			tamper(tb, s, func(t *txn) error { return t.audit.remove([]byte{'a', 0, 0, 0, 0, 0, 0, 0, 1}) })
		}, []string{"the list of entry 1 is gone"}},
		"doubt removed": {func(tb testing.TB, s *Store) {
			if err := s.PutInDoubt("restored"); err != nil {
				tb.Fatal(err)
			}
			tamper(tb, s, func(t *txn) error { return t.notes.remove([]byte(doubtNote)) })
		}, []string{"entry 3 records a doubt about the log that no entry settles"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testClock{minute(0)}
			s, err := Open(t.TempDir(), c.options(auditKey(t)))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			save(t, s, scan(0, []model.Finding{finding("a", 0, func(f *model.Finding) { f.Actor.Name = "kubectl" })}))
			if err := s.Decide([]model.Decision{decision("d1", "a")}, minute(1)); err != nil {
				t.Fatal(err)
			}
			test.edit(t, s)
			wantFaults(t, s, test.want...)
		})
	}
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

// Texts of any length neither keep a scan from being saved nor the log from being settled.
func TestLongTextsInTheLog(t *testing.T) {
	t.Parallel()
	c := testClock{minute(0)}
	s := openAt(t, t.TempDir(), c.options(auditKey(t)))
	save(t, s, scan(0, []model.Finding{finding("a", 0)}))
	long := strings.Repeat("<", 80_000)
	rec := scan(1, []model.Finding{finding("a", 1)})
	rec.Decisions = map[string][]model.Decision{long: {decision("d1", "a", func(d *model.Decision) {
		d.Reason, d.Owner, d.By, d.Via, d.Basis = long, "owner"+long, "by"+long, long, long
		d.Subject.ID = long
	})}}
	save(t, s, rec)
	wantFaults(t, s)
	wantDoubt(t, s, "")
	e, err := s.AuditEntry(2)
	if raw, ok := e.Data.(json.RawMessage); err != nil || !ok || !bytes.Contains(raw, []byte("by"+strings.Repeat(`\u003c`, 80_000))) {
		t.Errorf("entry 2: %d bytes, %v", len(raw), err)
	}
	if err := s.PutInDoubt(long); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Trust(long, long, nil); err != nil {
		t.Fatal(err)
	}
	wantFaults(t, s)
}

// What a person writes may look like the reference of a person.
func TestTextsThatLookLikeReferences(t *testing.T) {
	t.Parallel()
	c := testClock{minute(0)}
	s := openAt(t, t.TempDir(), c.options(auditKey(t)))
	save(t, s, scan(0, []model.Finding{finding("a", 0)}))
	d := decision("d1", "a", func(d *model.Decision) { d.Reason, d.Owner, d.Via = "person:anna", "person:bob", `person:"c"` })
	if err := s.Decide([]model.Decision{d}, minute(1)); err != nil {
		t.Fatal(err)
	}
	wantFaults(t, s)
	e, err := s.AuditEntry(2)
	var data decisionData
	if raw, ok := e.Data.(json.RawMessage); err != nil || !ok || json.Unmarshal(raw, &data) != nil {
		t.Fatal(e, err)
	}
	if got := []string{data.Reason, data.Owner, data.Via}; !slices.Equal(got, []string{d.Reason, d.Owner, d.Via}) {
		t.Errorf("%q", got)
	}
}

// A flipped bit in the log is named as an edit of it, and a person can settle it.
func TestFlippedBitInTheLog(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ key, want string }{
		"entry": {"e\x00\x00\x00\x00\x00\x00\x00\x01", "entry 1 was edited"},
		"hash":  {"h\x00\x00\x00\x00\x00\x00\x00\x01", "entry 1 was edited"},
		"list":  {"a\x00\x00\x00\x00\x00\x00\x00\x01", "the list of entry 1 is gone"},
		"head":  {"t", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testClock{minute(0)}
			dir, o := t.TempDir(), c.options(auditKey(t))
			s := openAt(t, dir, o)
			save(t, s, scan(0, []model.Finding{finding("a", 0), finding("b", 0)}))
			err := s.db.Update(func(tx *bbolt.Tx) error {
				b := tx.Bucket([]byte(auditBucket))
				v := bytes.Clone(b.Get([]byte(test.key)))
				v[len(v)/3] ^= 4
				return b.Put([]byte(test.key), v)
			})
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.VerifyAudit(nil)
			if err != nil || r.OK() || !strings.Contains(r.Faults[0], test.want) {
				t.Fatalf("%q, %v", r.Faults, err)
			}
			if _, err := s.Trust("lena", "a bad disk", nil); err != nil {
				t.Fatal(err)
			}
			save(t, s, scan(1, []model.Finding{finding("a", 1), finding("c", 1)}))
			wantFaults(t, s)
			if h, err := s.Verify(); err != nil || !h.Whole() && test.want == "" {
				t.Errorf("%+v, %v", h, err)
			}
		})
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
