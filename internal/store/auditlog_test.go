package store

import (
	"encoding/json"
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
