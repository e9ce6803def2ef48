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

// TestMain lets the test binary be its own child: what is killed, or runs out
// of disk, has to be a process of its own.
func TestMain(m *testing.M) {
	if job := os.Getenv(childJob); job != "" {
		os.Exit(runChild(job, os.Getenv(childDir)))
	}
	os.Exit(m.Run())
}

// start is when every test's first scan begins.
func start() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC) }

func minute(n int) time.Time { return start().Add(time.Duration(n) * time.Minute) }

// openAt opens the store in dir for the length of the test, and checks the
// file when the test is over.
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

// checkFile asks bbolt and the store itself whether the file is sound.
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

// a resource in place "shop" whose value is text.
func resource(id, value string) model.Resource {
	return model.Resource{Key: key(id), Place: "shop", Name: id, Value: text(value)}
}

// look is a complete snapshot of source prod at a minute.
func look(at int, resources ...model.Resource) model.Snapshot {
	return model.Snapshot{Source: "prod", Taken: minute(at), Resources: resources,
		Coverage: []model.Coverage{{Source: "prod", Complete: true}}}
}

// scan is the record of one look.
func scan(at int, findings []model.Finding, snapshots ...model.Snapshot) Record {
	return Record{
		Run:       model.Run{ID: fmt.Sprintf("run-%d", at), Started: minute(at), Finished: minute(at).Add(time.Second)},
		Snapshots: snapshots,
		Findings:  findings,
	}
}

// estate is n resources of 30 fields each, no two alike; round changes them.
func estate(n, round int) model.Snapshot {
	snap := look(round)
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
