package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

func wantPublished(t *testing.T, s *Store, want map[string]Published) {
	t.Helper()
	got, err := s.Published()
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

func TestPublished(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	wantPublished(t, s, map[string]Published{})
	head := func(size int64, root byte) *audit.Head { return &audit.Head{Size: size, Root: tlog.Hash{root}} }
	// A head that is sent again after an error counts once.
	for _, h := range []*audit.Head{head(1, 1), head(1, 1), head(3, 3), head(3, 4)} {
		if err := s.AddPublished("the file a", h); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AddPublished("the file b", head(7, 7)); err != nil {
		t.Fatal(err)
	}
	a, b := Published{Size: 3, Root: head(3, 4).Root.String(), Heads: 3}, Published{Size: 7, Root: head(7, 7).Root.String(), Heads: 1}
	wantPublished(t, s, map[string]Published{"the file a": a, "the file b": b})
	// The compared heads are remembered with the heads that are sent later.
	if err := s.SetCompared(map[string]audit.Head{"the file b": *head(7, 7), "the file c": *head(1, 1)}); err != nil {
		t.Fatal(err)
	}
	if err := s.AddPublished("the file b", head(9, 9)); err != nil {
		t.Fatal(err)
	}
	c := Published{ComparedSize: 1, ComparedRoot: head(1, 1).Root.String()}
	b = Published{Size: 9, Root: head(9, 9).Root.String(), Heads: 2, ComparedSize: 7, ComparedRoot: head(7, 7).Root.String()}
	wantPublished(t, s, map[string]Published{"the file a": a, "the file b": b, "the file c": c})
	a.Heads = 2
	if err := s.SetPublished(map[string]Published{"the file a": a, "the file b": {}}); err != nil {
		t.Fatal(err)
	}
	b = Published{ComparedSize: 7, ComparedRoot: b.ComparedRoot}
	wantPublished(t, s, map[string]Published{"the file a": a, "the file b": b, "the file c": c})
	if err := (&txn{}).decodeNote([]byte(witnessNote+"the file a"), []byte("{")); err == nil {
		t.Error("a damaged note is valid")
	}
}

// A doubt that is found while a person settles another one is recorded, too.
func TestRecordDoubt(t *testing.T) {
	t.Parallel()
	s := openAt(t, t.TempDir(), Options{Audit: auditKey(t)})
	save(t, s, scan(0, []model.Finding{finding("a", 0)}))
	for range 2 {
		if err := s.RecordDoubt("one"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.RecordDoubt("another"); err != nil {
		t.Fatal(err)
	}
	wantDoubt(t, s, "one")
	want := []audit.Kind{audit.KindBegin, audit.KindScan, audit.KindDoubt, audit.KindDoubt}
	if diff := cmp.Diff(want, kinds(t, s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := s.Trust("alice", "settled", nil); err != nil {
		t.Fatal(err)
	}
	wantDoubt(t, s, "")
	wantFaults(t, s)
}
