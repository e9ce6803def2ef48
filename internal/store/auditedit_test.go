package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

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

// editedHead returns the head of a finding with changes.
func editedHead(tb testing.TB, v []byte, edit func(*head)) []byte {
	tb.Helper()
	h, err := parseHead(v)
	if err != nil {
		tb.Fatal(err)
	}
	edit(&h)
	return h.encode()
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
			tamper(tb, s, func(t *txn) error {
				return t.open.put([]byte("a"), editedHead(tb, v, func(h *head) { h.source = "elsewhere" }))
			})
		}, []string{"the state of the open finding a was edited after entry 1 recorded it"}},
		"finding with another outline": {func(tb testing.TB, s *Store) {
			_, v := firstRecord(tb, s, func(t *txn) *bucket { return t.open })
			f := finding("a", 0, func(f *model.Finding) { f.Severity = model.Info })
			tamper(tb, s, func(t *txn) error {
				return t.open.put([]byte("a"), editedHead(tb, v, func(h *head) { h.outline = encodeOutline(&f) }))
			})
		}, []string{"the state of the open finding a was edited: it is not that of the last version"}},
		"edit before a scan that writes over it": {func(tb testing.TB, s *Store) {
			_, v := firstRecord(tb, s, func(t *txn) *bucket { return t.open })
			tamper(tb, s, func(t *txn) error {
				return t.open.put([]byte("a"), editedHead(tb, v, func(h *head) { h.source = "elsewhere" }))
			})
			save(tb, s, scan(2, []model.Finding{finding("a", 2, func(f *model.Finding) { f.Actor.Name = "kubectl" })}))
		}, []string{"the state of the open finding a was edited after entry 1 recorded it, before entry 3"}},
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
		}, []string{"the list of entry 1 is gone", "the findings and decisions were not compared"}},
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

// Texts that persons write may look like references.
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
		"list":  {"a\x00\x00\x00\x00\x00\x00\x00\x01", "the list of entry 1 was edited"},
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

// An entry that was edited to be none does not stop the retention after a person settled it.
func TestRetentionAfterAnEditedEntry(t *testing.T) {
	t.Parallel()
	c := testClock{minute(0)}
	o := c.options(auditKey(t))
	o.Retention.AuditMaxAge = time.Hour
	s := openAt(t, t.TempDir(), o)
	save(t, s, scan(0, []model.Finding{finding("a", 0)}))
	if err := s.PutInDoubt("restored"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Trust("lena", "restored", nil); err != nil {
		t.Fatal(err)
	}
	tamper(t, s, func(t *txn) error {
		return t.audit.put([]byte("e\x00\x00\x00\x00\x00\x00\x00\x03"), []byte("driftd/v1 trust\n{"))
	})
	if _, err := s.Trust("lena", "a bad disk", nil); err != nil {
		t.Fatal(err)
	}
	wantFaults(t, s)
	c.now = minute(300)
	save(t, s, scan(300, []model.Finding{finding("b", 300)}))
	if _, err := s.Prune(c.now); err != nil {
		t.Fatal(err)
	}
	wantFaults(t, s)
	if _, err := s.AuditEntry(3); !errors.Is(err, audit.ErrDropped) {
		t.Errorf("%v", err)
	}
}

// The list of an entry cannot be edited or removed unseen, also before a later complete list.
func TestListsBeforeATrustAreVerified(t *testing.T) {
	t.Parallel()
	key := string([]byte{'a', 0, 0, 0, 0, 0, 0, 0, 1})
	for name, test := range map[string]struct {
		edit func(t *txn) error
		want string
	}{
		"removed": {func(t *txn) error { return t.audit.remove([]byte(key)) }, "the list of entry 1 is gone"},
		"edited": {func(t *txn) error {
			v := bytes.Clone(t.audit.get([]byte(key)))
			v[len(v)-1] ^= 1
			return t.audit.put([]byte(key), v)
		}, "the list of entry 1 was edited"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testClock{minute(0)}
			o := c.options(auditKey(t))
			o.Retention.AuditMaxAge = time.Hour
			s := openAt(t, t.TempDir(), o)
			save(t, s, scan(0, []model.Finding{finding("a", 0)}))
			if err := s.PutInDoubt("restored"); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Trust("lena", "restored", nil); err != nil {
				t.Fatal(err)
			}
			wantFaults(t, s)
			tamper(t, s, test.edit)
			wantFaults(t, s, test.want)
			c.now = minute(300)
			save(t, s, scan(300, []model.Finding{finding("a", 300), finding("b", 300)}))
			if _, err := s.Prune(c.now); err != nil {
				t.Fatal(err)
			}
			wantFaults(t, s, test.want)
			if _, err := s.Trust("lena", "a bad disk", nil); err != nil {
				t.Fatal(err)
			}
			wantFaults(t, s)
			// The retention goes on after that.
			if _, err := s.Prune(c.now); err != nil {
				t.Fatal(err)
			}
			wantFaults(t, s)
			if _, err := s.AuditEntry(1); !errors.Is(err, audit.ErrDropped) {
				t.Error(err)
			}
		})
	}
}

// TestEditedOutlineIsInDoubt checks that an edit of what lists show is in doubt after a scan that
// finds the same drift and overwrites it.
func TestEditedOutlineIsInDoubt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		edit func(*model.Finding)
		want bool
	}{
		"Not edited": {func(*model.Finding) {}, false},
		"Severity":   {func(f *model.Finding) { f.Severity = model.Info }, true},
		"Actor":      {func(f *model.Finding) { f.Actor.Name = "nobody" }, true},
		"Hidden":     {func(f *model.Finding) { f.Hidden = "noise" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := &testClock{minute(0)}
			s := openAt(t, t.TempDir(), clock.options(auditKey(t)))
			save(t, s, scan(0, []model.Finding{finding("a", 0)}))
			_, v := firstRecord(t, s, func(t *txn) *bucket { return t.open })
			f := finding("a", 0, tc.edit)
			tamper(t, s, func(x *txn) error {
				return x.open.put([]byte("a"), editedHead(t, v, func(h *head) { h.outline = encodeOutline(&f) }))
			})
			save(t, s, scan(1, []model.Finding{finding("a", 1)}))
			d, err := s.Doubt()
			if err != nil || (d != nil) != tc.want || d != nil && d.What != "the outline of finding a was edited: lists showed it otherwise than it is" {
				t.Errorf("doubt %v, %v; want one: %t", d, err, tc.want)
			}
		})
	}
}
