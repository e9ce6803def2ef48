package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

func TestReseal(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	key := model.Key{Source: "s", Kind: "kubernetes/Pod", ID: "a"}
	value := func(password, size string) model.Value {
		return model.MapOf(model.Field{Name: "password", Value: model.StringOf(password)}, model.Field{Name: "size", Value: model.StringOf(size)})
	}
	finding := model.Finding{ID: "f1", Key: key, Verdict: model.Changed, Basis: "old", FirstSeen: time.Unix(1, 0),
		Changes: []model.Change{{Path: "password", Live: ptr(model.StringOf("clear"))}}}
	at := time.Unix(1000, 0)
	for i, v := range []model.Value{value("one", "1"), value("two", "1"), value("two", "2")} {
		run := model.Run{ID: string(rune('a' + i)), Started: at.Add(time.Duration(i) * time.Minute), Finished: at.Add(time.Duration(i) * time.Minute)}
		snapshot := model.Snapshot{Source: "s", Taken: run.Started, Resources: []model.Resource{{Key: key, Value: v}},
			Coverage: []model.Coverage{{Source: "s", Complete: true}}}
		if err := s.Save(store.Record{Run: run, Snapshots: []model.Snapshot{snapshot}, Findings: []model.Finding{finding}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Decide([]model.Decision{{ID: "d1", Kind: model.Accept, Finding: "f1", Basis: "old", By: "alice", At: at}}, at); err != nil {
		t.Fatal(err)
	}
	seals := 0
	seal := store.Seal{Rules: "1", Value: func(_ string, v model.Value) model.Value {
		seals++
		return v.With("password", model.DigestOf("d"))
	}, Finding: func(f *model.Finding) {
		f.Changes = []model.Change{{Path: "password", Live: ptr(model.DigestOf("d"))}}
		f.Basis = "new"
	}}
	if sealed, err := s.Sealed("1"); err != nil || sealed {
		t.Fatalf("Sealed() = %v, %v before", sealed, err)
	}
	for range 2 {
		if err := s.Reseal(seal); err != nil {
			t.Fatal(err)
		}
	}
	if seals != 3 {
		t.Errorf("sealed %d values, want each of 3 once", seals)
	}
	versions, err := s.History(key)
	if err != nil || len(versions) != 2 {
		t.Fatalf("%d versions, %v; a version that differs only by a secret must not stay", len(versions), err)
	}
	for _, v := range versions {
		if v.Value.At("password").Kind() != model.Secret {
			t.Errorf("version %s is in clear", v.Value)
		}
	}
	found, _, err := s.Finding("f1")
	if err != nil || strings.Contains(found.Changes[0].Live.String(), "clear") || found.Basis != "new" {
		t.Errorf("finding %+v, %v", found, err)
	}
	decisions, err := s.Decisions()
	if err != nil || decisions[0].Basis != "new" {
		t.Errorf("decisions %+v, %v: it must hold for the finding as before", decisions, err)
	}
	// The next scan reads the same value, sealed, which is no change.
	snapshot := model.Snapshot{Source: "s", Taken: at.Add(time.Hour), Resources: []model.Resource{{Key: key, Value: value("x", "2").With("password", model.DigestOf("d"))}},
		Coverage: []model.Coverage{{Source: "s", Complete: true}}}
	if err := s.Save(store.Record{Run: model.Run{ID: "z", Started: at.Add(time.Hour), Finished: at.Add(time.Hour)}, Snapshots: []model.Snapshot{snapshot}}); err != nil {
		t.Fatal(err)
	}
	if versions, err = s.History(key); err != nil || len(versions) != 2 {
		t.Errorf("%d versions after the next scan, %v", len(versions), err)
	}
}

func ptr(v model.Value) *model.Value { return &v }
