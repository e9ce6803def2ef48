package store

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"github.com/driftd/driftd/internal/model"
)

// TestFileOfVersion2 opens a file from before records had checksums: four scans of resources a and
// b with findings, notices, decisions, first reads, and state reads.
func TestFileOfVersion2(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFixture(t, dir, "schema-2")
	old := hash(t, Path(dir))
	_, err := Open(dir, Options{ReadOnly: true})
	wantTexts(t, err, "version 2", "needs 6", "driftd scan")
	_, err = VerifyFile(Path(dir))
	wantTexts(t, err, "version 2", "driftd scan")
	if hash(t, Path(dir)) != old {
		t.Error("a reader changed the file")
	}

	s := openAt(t, dir, Options{})
	if hash(t, Path(dir)+".schema-2") != old {
		t.Error("the old file is not as it was")
	}
	if diff := cmp.Diff([]string{"0s 0", "1m0s 1", "2m0s 2", "3m0s 3"}, history(t, s, "shop/a")); diff != "" {
		t.Error(diff)
	}
	runs, err := s.Runs(0)
	if err != nil || len(runs) != 4 || runs[0].ID != "run-3" || runs[3].ID != "run-0" || len(runs[0].Exempt) != 1 {
		t.Errorf("runs: %+v, %v", runs, err)
	}
	open, err := s.OpenFindings()
	if err != nil || len(open) != 1 || open[0].ID != "a" || open[0].Decision == nil && open[0].Reason != "3" {
		t.Errorf("open: %+v, %v", open, err)
	}
	if resolved, err := s.Recent(minute(2)); err != nil || len(resolved) != 1 || resolved[0].ID != "b" {
		t.Errorf("resolved: %+v, %v", resolved, err)
	}
	if decisions, err := s.Decisions(); err != nil || len(decisions) != 1 || decisions[0].ID != "d" {
		t.Errorf("decisions: %+v, %v", decisions, err)
	}
	if notices, err := s.Notices(); err != nil || len(notices.Threads) == 0 || len(notices.Paces) == 0 {
		t.Errorf("notices: %+v, %v", notices, err)
	}
	if queues, err := s.Queues(); err != nil || queues["slack"].Length == 0 {
		t.Errorf("queues: %+v, %v", queues, err)
	}
	if snapshots, err := s.FirstReads(); err != nil || len(snapshots) != 1 {
		t.Errorf("first reads: %+v, %v", snapshots, err)
	}
	if sealed, err := s.Sealed("r"); err != nil || !sealed {
		t.Errorf("the rules by which it is sealed: %t, %v", sealed, err)
	}
	if scan, err := s.LastRead("prod"); err != nil || scan.Kinds["kubernetes/ConfigMap"] != 2 || !scan.Taken.Equal(minute(3)) {
		t.Errorf("the last scan: %+v, %v", scan, err)
	}
	if states, err := s.LastStates("infra"); err != nil || len(states) != 1 || states[0].Serial != 3 {
		t.Errorf("the last records: %+v, %v", states, err)
	}
	// The sequences of runs, resources and messages continue.
	for i := 4; i < 8; i++ {
		rec := scan(i, nil, snapshotAt(i, resource("shop/a", fmt.Sprint(i)), resource("shop/new", "n")))
		rec.Notices = model.NoticeChange{Messages: []model.Message{message("slack", "t", fmt.Sprintf("t.new.%d", i))}}
		save(t, s, rec)
	}
	if runs, err := s.Runs(0); err != nil || len(runs) != 8 || runs[7].ID != "run-0" {
		t.Errorf("runs of before and after: %d, %v", len(runs), err)
	}
	if diff := cmp.Diff([]string{"4m0s n"}, history(t, s, "shop/new")); diff != "" {
		t.Errorf("a new resource has no past: %s", diff)
	}
}

// TestMigrationOfManyRecords needs several transactions.
func TestMigrationOfManyRecords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFixture(t, dir, "schema-2")
	const n, size = 40, 512 << 10
	large := make([]byte, size)
	setVersionIn(t, dir, func(tx *bbolt.Tx) error {
		for i := range n {
			if err := tx.Bucket([]byte(receiptBucket)).Put(fmt.Appendf(nil, "r\x00%03d", i), large); err != nil {
				return err
			}
		}
		return nil
	})
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = s.view("count", func(tx *txn) error {
		if got := tx.receipts.now.records; got != n+1 {
			t.Errorf("%d records, want %d", got, n+1)
		}
		return each(tx.receipts, nil, func(_, _ []byte) error { return nil })
	})
	if err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
