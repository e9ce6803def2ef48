package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

// forget removes both records of a person from the audit log, as someone does who wants another name to
// be taken for the one behind the reference.
func forget(t *txn, name string) error {
	var keys [][]byte
	err := each(t.audit, []byte("p"), func(k, v []byte) error {
		if string(v) == name {
			keys = append(keys, bytes.Clone(k))
		}
		return nil
	})
	return errors.Join(err, removeAll(t.audit, append(keys, []byte("n"+name))))
}

// The author and the owner of a decision cannot be edited, also where no entry has the reference any more
// and where the name was erased.
func TestPersonsOfDecisionsCannotBeEdited(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before func(tb testing.TB, s *Store, c *testClock)
		// by and owner are what the decision has then; "" if it is a reference.
		by, owner string
	}{
		"recorded": {func(testing.TB, *Store, *testClock) {}, "alice", "team"},
		"dropped": {func(tb testing.TB, s *Store, c *testClock) {
			tb.Helper()
			c.now = minute(300)
			if _, err := s.Prune(c.now); err != nil {
				tb.Fatal(err)
			}
			if _, err := s.AuditEntry(2); !errors.Is(err, audit.ErrDropped) {
				tb.Fatal(err)
			}
		}, "alice", "team"},
		"erased": {erase, "alice", ""},
		"erased and dropped": {func(tb testing.TB, s *Store, c *testClock) {
			tb.Helper()
			erase(tb, s, c)
			for i := range 3 {
				c.now = minute(300 * (i + 1))
				save(tb, s, scan(300*(i+1), []model.Finding{finding("a", 0), finding(fmt.Sprint("b", i), 300)}))
				if _, err := s.Prune(c.now); err != nil {
					tb.Fatal(err)
				}
			}
		}, "alice", ""},
		"settled": {func(tb testing.TB, s *Store, _ *testClock) {
			tb.Helper()
			err := s.PutInDoubt("moved")
			if err == nil {
				_, err = s.Trust("lena", "moved", nil)
			}
			if err != nil {
				tb.Fatal(err)
			}
		}, "alice", "team"},
		"erased and settled": {func(tb testing.TB, s *Store, c *testClock) {
			tb.Helper()
			erase(tb, s, c)
			err := s.PutInDoubt("moved")
			if err == nil {
				_, err = s.Trust("lena", "moved", nil)
			}
			if err != nil {
				tb.Fatal(err)
			}
		}, "alice", ""},
	} {
		for field, edit := range map[string]func(d *model.Decision) *string{
			"by":    func(d *model.Decision) *string { return &d.By },
			"owner": func(d *model.Decision) *string { return &d.Owner },
		} {
			t.Run(name+", "+field, func(t *testing.T) {
				t.Parallel()
				c := testClock{minute(0)}
				o := c.options(auditKey(t))
				o.Retention.AuditMaxAge = time.Hour
				s := openAt(t, t.TempDir(), o)
				save(t, s, scan(0, []model.Finding{finding("a", 0)}))
				if err := s.Decide([]model.Decision{decision("d1", "a", func(d *model.Decision) { d.Owner = "team" })}, minute(1)); err != nil {
					t.Fatal(err)
				}
				test.before(t, s, &c)
				wantFaults(t, s)
				wantDoubt(t, s, "")
				list, err := s.Decisions()
				if err != nil || len(list) != 1 {
					t.Fatal(list, err)
				}
				d := list[0]
				if d.By != test.by || test.owner != "" && d.Owner != test.owner || test.owner == "" && !strings.HasPrefix(d.Owner, "person:") {
					t.Errorf("%+v", d)
				}
				was := *edit(&d)
				for _, to := range []string{"mallory", "", "person:AAAAAAAAAAAAAAAAAAAA", "lena"} {
					*edit(&d) = to
					tamper(t, s, func(t *txn) error { return errors.Join(t.putDecision(&d), forget(t, was)) })
					r, err := s.VerifyAudit(nil)
					if err != nil || !slices.ContainsFunc(r.Faults, func(fault string) bool { return strings.HasPrefix(fault, "decision d1 was edited") }) {
						t.Errorf("%s → %q: faults %q, %v", was, to, r.Faults, err)
					}
				}
				// A person settles it, and the next edit is found again.
				if _, err := s.Trust("lena", "looked into it", nil); err != nil {
					t.Fatal(err)
				}
				wantFaults(t, s)
				*edit(&d) = was
				tamper(t, s, func(t *txn) error { return t.putDecision(&d) })
				wantFaults(t, s, "decision d1 was edited")
			})
		}
	}
}

func erase(tb testing.TB, s *Store, c *testClock) {
	tb.Helper()
	if err := s.EraseName("team", "alice", c.now); err != nil {
		tb.Fatal(err)
	}
}

// An erased name does not come back with the decisions that had it.
func TestErasedNameStaysErased(t *testing.T) {
	t.Parallel()
	c := testClock{minute(0)}
	s := openAt(t, t.TempDir(), c.options(auditKey(t)))
	save(t, s, scan(0, []model.Finding{finding("a", 0, func(f *model.Finding) { f.Basis = "basis" })}))
	owned := func(id string, owner string) []model.Decision {
		return []model.Decision{decision(id, "a", func(d *model.Decision) { d.Owner = owner })}
	}
	wantOwner := func(want string) {
		f, err := s.OpenFindings()
		if err != nil || len(f) != 1 || f[0].Decision == nil || !strings.HasPrefix(f[0].Decision.Owner, want) {
			t.Errorf("%+v, %v", f, err)
		}
	}
	if err := s.Decide(owned("d1", "gone-person"), minute(1)); err != nil {
		t.Fatal(err)
	}
	if err := s.EraseName("gone-person", "bob", minute(2)); err != nil {
		t.Fatal(err)
	}
	wantOwner("person:")
	if err := s.Decide(owned("d2", "team"), minute(3)); err != nil {
		t.Fatal(err)
	}
	wantOwner("team")
	if err := s.PutInDoubt("moved"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Trust("lena", "moved", nil); err != nil {
		t.Fatal(err)
	}
	wantFaults(t, s)
	list, err := s.Decisions()
	if err != nil || len(list) != 2 || list[0].ReplacedBy != "d2" || !strings.HasPrefix(list[0].Owner, "person:") {
		t.Fatalf("%d: %+v %q, %v", len(list), list[0].ReplacedBy, list[0].Owner, err)
	}
	err = s.view("read", func(t *txn) error {
		return each(t.audit, nil, func(k, v []byte) error {
			if bytes.Contains(k, []byte("gone-person")) || bytes.Contains(v, []byte("gone-person")) {
				return fmt.Errorf("%q has the name", k)
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}

// A name that a file declares is not erased: the next scan would record it again.
func TestEraseDeclaredName(t *testing.T) {
	t.Parallel()
	c := testClock{minute(0)}
	s := openAt(t, t.TempDir(), c.options(auditKey(t)))
	rec := scan(0, []model.Finding{finding("a", 0)})
	rec.Decisions = map[string][]model.Decision{"git": {decision("d1", "a", func(d *model.Decision) { d.Owner = "team" })}}
	save(t, s, rec)
	var named *NamedError
	if err := s.EraseName("team", "bob", minute(1)); !errors.As(err, &named) || named.Decision.ID != "d1" {
		t.Errorf("%v", err)
	}
	wantFaults(t, s)
	rec = scan(2, []model.Finding{finding("a", 2)})
	rec.Decisions = map[string][]model.Decision{"git": {}}
	save(t, s, rec)
	if err := s.EraseName("team", "bob", minute(3)); err != nil {
		t.Error(err)
	}
	wantFaults(t, s)
}
