package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestSaveManyStates checks scans whose changes are written before the end of the iteration over the stored states.
func TestSaveManyStates(t *testing.T) {
	t.Parallel()
	const n = 3*maxChanged + 1
	id := func(i int) string { return fmt.Sprintf("shop/%05d", i) }
	s := openNew(t)
	want := map[string][]string{}
	for round := range 3 {
		snap := snapshotAt(round)
		for i := range n {
			value := "0s"
			switch {
			case i%3 == 0 && round > 0:
				value = fmt.Sprintf("%dm0s", round)
			case i%3 == 1 && round == 1, i%5 == 0 && round == 0: // gone, or not there yet
				if last := len(want[id(i)]) - 1; last >= 0 {
					want[id(i)] = append(want[id(i)], "1m0s gone")
				}
				continue
			}
			snap.Resources = append(snap.Resources, resource(id(i), value))
			line := " " + value
			if old := want[id(i)]; len(old) == 0 || !strings.HasSuffix(old[len(old)-1], line) {
				want[id(i)] = append(old, (time.Duration(round)*time.Minute).String()+line)
			}
		}
		save(t, s, scan(round, nil, snap))
	}
	for i := range n {
		if got := history(t, s, id(i)); fmt.Sprint(got) != fmt.Sprint(want[id(i)]) {
			t.Fatalf("history of %s: got %q, want %q", id(i), got, want[id(i)])
		}
	}
}

// manyContents returns a snapshot whose contents need several transactions, and a second one, which cannot be stored if broken is
// set.
func manyContents(broken bool) []model.Snapshot {
	snap := snapshotAt(0)
	for i := range 5 * maxFresh >> 20 {
		snap.Resources = append(snap.Resources, resource(fmt.Sprintf("shop/%05d", i), fmt.Sprintf("%d ", i)+strings.Repeat("x", 1<<19)))
	}
	second := snapshotAt(0, resource("other", "1"))
	if broken {
		second.Resources[0].Kind = "kubernetes/\x00"
	}
	second.Source, second.Resources[0].Source = "stage", "stage"
	return []model.Snapshot{snap, second}
}

// contentsIn returns the number of stored contents.
func contentsIn(t *testing.T, s *Store) (n uint64) {
	t.Helper()
	if err := s.view("count", func(txn *txn) error { n = txn.contents.now.records; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSaveManyContents(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	snapshots := manyContents(false)
	if err := s.save(scan(0, nil, snapshots...), false); !errors.Is(err, errManyContents) {
		t.Fatalf("save in one transaction: %v", err)
	}
	if n := contentsIn(t, s); n != 0 {
		t.Fatalf("a failed save left %d contents", n)
	}
	save(t, s, scan(0, nil, snapshots...))
	for i := range snapshots[0].Resources {
		r := &snapshots[0].Resources[i]
		versions, err := s.History(r.Key)
		if err != nil || len(versions) != 1 || !versions[0].Value.Equal(r.Value) {
			t.Errorf("%s: %d versions, %v", r.Key, len(versions), err)
		}
	}
}

// TestSaveFailsAfterContents checks that a save that fails after its contents were stored has no result, and that the next
// one uses them.
func TestSaveFailsAfterContents(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	if err := s.Save(scan(0, nil, manyContents(true)...)); err == nil {
		t.Fatal("saved an invalid key")
	}
	all := contentsIn(t, s)
	if _, err := s.History(key("shop/00000")); !errors.Is(err, ErrNotFound) || all == 0 {
		t.Fatalf("after a failed save: %d contents, history %v", all, err)
	}
	save(t, s, scan(0, nil, manyContents(false)...))
	if n := contentsIn(t, s); n != all {
		t.Errorf("%d contents, but %d after the failed save", n, all)
	}
}

// TestPruneContentsWithoutVersion checks that the contents of a scan that was not saved are removed.
func TestPruneContentsWithoutVersion(t *testing.T) {
	t.Parallel()
	s := openAt(t, t.TempDir(), Options{Retention: Retention{MaxAge: time.Hour}})
	if err := s.Save(scan(0, nil, manyContents(true)...)); err == nil {
		t.Fatal("saved an invalid key")
	}
	save(t, s, scan(0, nil, snapshotAt(0, resource("shop/a", "1"))))
	if _, err := s.Prune(minute(0)); err != nil {
		t.Fatal(err)
	}
	if n := contentsIn(t, s); n != 1 {
		t.Errorf("%d contents, want the one of shop/a", n)
	}
}
