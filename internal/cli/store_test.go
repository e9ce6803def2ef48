package cli

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/metrics"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
	"github.com/driftd/driftd/internal/web"
)

// TestDamageIsToldWhileItLasts inverts a bit of a record in the file of a running daemon, and
// inverts it back.
func TestDamageIsToldWhileItLasts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	const name = "a-source-of-its-own"
	run := model.Run{ID: "run-1", Started: time.Unix(1e9, 0), Tool: "test"}
	look := model.Snapshot{Source: name, Resources: []model.Resource{{Key: model.Key{Source: name, Kind: "test/Thing", ID: "x"}}}}
	if err := st.Save(store.Record{Run: run, Snapshots: []model.Snapshot{look}}); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s := &service{store: st, news: web.NewNews(), metrics: metrics.New(metrics.Build{}, time.Now), log: slog.New(slog.NewTextHandler(&log, nil))}
	s.verify()
	if problem := s.corrupt.Load(); problem != nil {
		t.Fatalf("a whole store: %s", *problem)
	}
	before, _ := s.news.Now()
	flipIn(t, store.Path(dir), name)
	s.verify()
	problem := s.corrupt.Load()
	for _, want := range []string{"bucket resources", "checksum", "backup", "driftd store verify"} {
		if problem == nil || !strings.Contains(*problem, want) {
			t.Fatalf("got %v, want one that contains %q", problem, want)
		}
	}
	if after, _ := s.news.Now(); after == before {
		t.Error("open pages are not told")
	}
	if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "bucket resources") {
		t.Errorf("the log: %s", &log)
	}
	if _, err := st.LastRun(); err != nil {
		t.Errorf("what is not damaged is read: %v", err)
	}
	flipIn(t, store.Path(dir), string(rune(name[0]^1))+name[1:])
	s.verify()
	if problem := s.corrupt.Load(); problem != nil {
		t.Errorf("a store that is whole again: %s", *problem)
	}
}

// flipIn inverts the lowest bit of the first letter at each occurrence of a text in a file.
func flipIn(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; ; {
		next := bytes.Index(b[at:], []byte(text))
		if next < 0 {
			break
		}
		if _, err := f.WriteAt([]byte{text[0] ^ 1}, int64(at+next)); err != nil {
			t.Fatal(err)
		}
		at += next + 1
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
