package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// TestArmWithoutHeadFile verifies that an action whose head cannot be kept in its file, as on a full disk, is not
// reported as armed, so that no request is sent, while scans are still saved.
func TestArmWithoutHeadFile(t *testing.T) {
	t.Parallel()
	s := withAction(t)
	if err := errors.Join(os.Remove(s.headPath()), os.MkdirAll(filepath.Join(s.headPath(), "full"), 0o700)); err != nil {
		t.Fatal(err)
	}
	unrecorded := (*UnrecordedError)(nil)
	if err := enter(s, reconcile.Armed, minute(2)); !errors.As(err, &unrecorded) {
		t.Errorf("armed: %v", err)
	}
	if d, err := s.Doubt(); err != nil || d == nil || !strings.Contains(d.What, "cannot be written beside the database") {
		t.Errorf("the doubt is %+v, %v", d, err)
	}
	save(t, s, scan(3, []model.Finding{finding("a", 0)}))
	if err := enter(s, reconcile.Failed, minute(4)); err != nil {
		t.Errorf("failed: %v", err)
	}
}

// TestHeadFileOfConcurrentTransactions verifies that transactions of several goroutines do not write the head file at
// once: the file has the last head, and the log is not in doubt.
func TestHeadFileOfConcurrentTransactions(t *testing.T) {
	t.Parallel()
	c := testClock{minute(0)}
	s := openAt(t, t.TempDir(), c.options(auditKey(t)))
	save(t, s, scan(0, nil))
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			for k := range 5 {
				if err := s.AddControl(reconcile.Control{ID: fmt.Sprintf("c%d-%d", i, k), Kind: reconcile.Thaw, By: "alice", At: minute(1), Reason: "over"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if d, err := s.Doubt(); err != nil || d != nil {
		t.Errorf("the log is in doubt: %+v, %v", d, err)
	}
	err := s.view("compare heads", func(txn *txn) error {
		head, err := txn.auditLog().Head()
		file := s.readHead()
		if kept := file.kept(txn); err == nil && (kept == nil || kept.Size != head.Size) {
			err = fmt.Errorf("the head file has %+v, and the log %+v", kept, head)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestVerifyWhileCommitting verifies that a head which is written while the log is being compared is no difference.
func TestVerifyWhileCommitting(t *testing.T) {
	t.Parallel()
	c := testClock{minute(0)}
	s := openAt(t, t.TempDir(), c.options(auditKey(t)))
	save(t, s, scan(0, nil))
	var group sync.WaitGroup
	stop := make(chan struct{})
	group.Go(func() {
		for k := 0; ; k++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := s.AddControl(reconcile.Control{ID: fmt.Sprintf("c%d", k), Kind: reconcile.Thaw, By: "alice", At: minute(1), Reason: "over"}); err != nil {
				t.Error(err)
			}
		}
	})
	for range 200 {
		r, err := s.VerifyAudit(nil)
		if err != nil || !r.OK() {
			t.Errorf("it does not verify: %v, %v", r.Faults, err)
			break
		}
	}
	close(stop)
	group.Wait()
}
