package store

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/driftd/driftd/internal/model"
)

// TestMain lets the test binary run as its own child process, which tests kill or limit.
func TestMain(m *testing.M) {
	if job := os.Getenv(childJob); job != "" {
		os.Exit(runChild(job, os.Getenv(childDir)))
	}
	os.Exit(m.Run())
}

// start returns the start time of the first scan of every test.
func start() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC) }

func minute(n int) time.Time { return start().Add(time.Duration(n) * time.Minute) }

// openAt opens the store in dir for the duration of the test, and verifies the file at its end.
func openAt(tb testing.TB, dir string, o Options) *Store {
	tb.Helper()
	s, err := Open(dir, o)
	if err != nil {
		tb.Fatalf("open: %v", err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
		checkFile(tb, Path(dir))
	})
	return s
}

func openNew(tb testing.TB) *Store {
	tb.Helper()
	return openAt(tb, tb.TempDir(), Options{})
}

// checkFile verifies the file with bbolt and with the store.
func checkFile(tb testing.TB, path string) {
	tb.Helper()
	db, err := bbolt.Open(path, 0, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		tb.Fatalf("check: %v", err)
	}
	err = db.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			tb.Errorf("check: %v", err)
		}
		return nil
	})
	if err != nil {
		tb.Errorf("check: %v", err)
	}
	if err := db.Close(); err != nil {
		tb.Errorf("check: %v", err)
	}
	c, err := newCodec()
	if err != nil {
		tb.Fatal(err)
	}
	if err := verify(path, c); err != nil {
		tb.Errorf("verify: %v", err)
	}
}

func save(tb testing.TB, s *Store, rec Record) {
	tb.Helper()
	if err := s.Save(rec); err != nil {
		tb.Fatalf("save: %v", err)
	}
}

func key(id string) model.Key {
	return model.Key{Source: "prod", Kind: "kubernetes/ConfigMap", ID: id}
}

func text(s string) model.Value {
	return model.MapOf(model.Field{Name: "data", Value: model.StringOf(s)})
}

// resource returns a resource in place "shop" whose value is a text.
func resource(id, value string) model.Resource {
	return model.Resource{Key: key(id), Place: "shop", Name: id, Value: text(value)}
}

// snapshotAt returns a complete snapshot of source prod at a minute.
func snapshotAt(at int, resources ...model.Resource) model.Snapshot {
	return model.Snapshot{Source: "prod", Taken: minute(at), Resources: resources,
		Coverage: []model.Coverage{{Source: "prod", Complete: true}}}
}

// scan returns the record of one scan.
func scan(at int, findings []model.Finding, snapshots ...model.Snapshot) Record {
	return Record{
		Run:       model.Run{ID: fmt.Sprintf("run-%d", at), Started: minute(at), Finished: minute(at).Add(time.Second)},
		Snapshots: snapshots,
		Findings:  findings,
	}
}

// estate returns n resources of 30 fields each, all different; round changes them.
func estate(n, round int) model.Snapshot {
	snap := snapshotAt(round)
	snap.Resources = make([]model.Resource, n)
	for i := range snap.Resources {
		fields := make([]model.Field, 30)
		for f := range fields {
			sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d", i, f))
			fields[f] = model.Field{Name: fmt.Sprintf("field%02d", f), Value: model.StringOf(fmt.Sprintf("value-%x", sum[:6]))}
		}
		fields[0].Value = model.IntOf(int64(round))
		snap.Resources[i] = model.Resource{Key: key(fmt.Sprintf("ns-%03d/name-%06d", i/1000, i)), Place: fmt.Sprintf("ns-%03d", i/1000),
			Value: model.MapOf(fields...), OwnersFrom: "managedFields",
			Owners: []model.Owner{{Name: "kubectl-client-side-apply", Applies: true, At: start()}}}
	}
	return snap
}
