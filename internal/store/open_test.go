package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"github.com/driftd/driftd/internal/model"
)

// saved creates a store with one scan, closes it and returns its folder.
func saved(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		tb.Fatal(err)
	}
	save(tb, s, scan(0, []model.Finding{finding("a", 0)}, snapshotAt(0, resource("shop/a", "1"))))
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// names returns the names of the files in a folder.
func names(tb testing.TB, dir string) []string {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// wantTexts fails unless the error contains every text.
func wantTexts(tb testing.TB, err error, texts ...string) {
	tb.Helper()
	if err == nil {
		tb.Fatalf("no error; want one that contains %q", texts)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			tb.Errorf("error %q does not say %q", err, text)
		}
	}
}

func TestOpenCreatesFolderAndFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "var", "driftd")
	s := openAt(t, dir, Options{})
	save(t, s, scan(0, nil))
	for path, want := range map[string]fs.FileMode{dir: 0o750, Path(dir): 0o640} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got&^want != 0 {
			t.Errorf("mode of %s: got %o, want no more than %o", path, got, want)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{fileName}, names(t, dir)); diff != "" {
		t.Errorf("a closed store leaves its file and nothing else: %s", diff)
	}
}

func TestOpenAfterCrashWhileCreating(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{fileName + ".new", pidName} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("1\nhalf"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save(t, openAt(t, dir, Options{}), scan(0, nil))
}

func TestClosedStoreAnswersWithError(t *testing.T) {
	t.Parallel()
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.OpenFindings()
	wantTexts(t, err, "read open findings", "not open")
	wantTexts(t, s.Save(scan(0, nil)), "save run", "not open")
	if s.Size() != 0 {
		t.Error("a closed store has a size")
	}
}

func TestTwoOpeners(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		first, second Options
		holder        bool
		reason        string
	}{
		"two writers":       {Options{}, Options{}, true, "the second daemon must learn who holds it"},
		"reader meets one":  {Options{}, Options{ReadOnly: true}, true, "so must a command"},
		"writer meets read": {Options{ReadOnly: true}, Options{}, false, "a reader leaves no name"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := saved(t)
			c.first.Now = func() time.Time { return minute(0) }
			first := openAt(t, dir, c.first)
			_, err := Open(dir, c.second)
			var locked *LockedError
			if !errors.As(err, &locked) || locked.Path != Path(dir) {
				t.Fatalf("%s: got %v", c.reason, err)
			}
			if c.holder {
				wantTexts(t, err, filepath.Base(os.Args[0]), "pid ", "since 2026-01-02T03:04:05Z", "stop that process")
			} else {
				wantTexts(t, err, "another process", "fuser")
			}
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			openAt(t, dir, c.second)
		})
	}
}

func TestTwoReaders(t *testing.T) {
	t.Parallel()
	dir := saved(t)
	openAt(t, dir, Options{ReadOnly: true})
	openAt(t, dir, Options{ReadOnly: true})
}

func TestStalePidFile(t *testing.T) {
	t.Parallel()
	dir := saved(t)
	stale := "1\n/sbin/init\n2026-01-01T00:00:00Z\n"
	if err := os.WriteFile(filepath.Join(dir, pidName), []byte(stale), 0o600); err != nil {
		t.Fatal(err)
	}
	reader := openAt(t, dir, Options{ReadOnly: true})
	_, err := Open(dir, Options{})
	wantTexts(t, err, "another process")
	if strings.Contains(err.Error(), "init") {
		t.Errorf("the error blames a process that is long gone: %v", err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	openAt(t, dir, Options{})
}

func TestReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x")
	file, err := lockFile(path)
	if err != nil || file == nil {
		t.Fatalf("got %v, %v", file, err)
	}
	if other, err := lockFile(path); err != nil || other != nil {
		t.Errorf("locked twice: %v, %v", other, err)
	}
	if replaced(file, path) {
		t.Error("the very file counts as another")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if !replaced(file, path) {
		t.Error("a removed file counts as there")
	}
	next, err := lockFile(path)
	if err != nil || next == nil {
		t.Fatalf("got %v, %v", next, err)
	}
	if !replaced(file, path) || replaced(next, path) {
		t.Error("the two files are taken for each other")
	}
	if err := errors.Join(file.Close(), next.Close()); err != nil {
		t.Error(err)
	}
}

func TestReadOnlyChangesNoByte(t *testing.T) {
	t.Parallel()
	dir := saved(t)
	before, list := hash(t, Path(dir)), names(t, dir)
	s := openAt(t, dir, Options{ReadOnly: true, Retention: Retention{MaxRuns: 1}})
	if open, err := s.OpenFindings(); err != nil || len(open) != 1 {
		t.Errorf("got %d findings, %v", len(open), err)
	}
	if _, err := s.Findings(Filter{Resolved: true}); err != nil {
		t.Error(err)
	}
	if _, err := s.Changes("", minute(-1), minute(1)); err != nil {
		t.Error(err)
	}
	if got := history(t, s, "shop/a"); len(got) != 1 {
		t.Errorf("got %q", got)
	}
	wantTexts(t, s.Save(scan(1, nil)), "save run run-1", "read-only")
	_, err := s.Prune(minute(5))
	wantTexts(t, err, "prune", "read-only")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if hash(t, Path(dir)) != before || !cmp.Equal(list, names(t, dir)) {
		t.Error("a reader changed the folder or the file")
	}
}

func hash(tb testing.TB, path string) [sha256.Size]byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return sha256.Sum256(b)
}

func TestReadOnlyCreatesNothing(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		_, err := Open(dir, Options{ReadOnly: true})
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want one that errors.Is fs.ErrNotExist", err)
		}
		wantTexts(t, err, Path(dir), "driftd scan")
		if _, err := os.Stat(Path(dir)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the reader made a file: %v", err)
		}
	}
}

func TestFolderIsAFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir, Options{})
	wantTexts(t, err, dir, "can write")
}

func TestRemovedWhileOpen(t *testing.T) {
	t.Parallel()
	dir := saved(t)
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(Path(dir)); err != nil {
		t.Fatal(err)
	}
	wantTexts(t, s.Save(scan(1, nil)), Path(dir), "removed or replaced")
	if _, err := s.LastRun(); err != nil {
		t.Errorf("what was read can still be read: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// setVersionIn writes a schema version into a closed file.
func setVersionIn(tb testing.TB, dir string, edit func(*bbolt.Tx) error) {
	tb.Helper()
	db, err := bbolt.Open(Path(dir), 0o600, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if err := errors.Join(db.Update(edit), db.Close()); err != nil {
		tb.Fatal(err)
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	dir := saved(t)
	setVersionIn(t, dir, func(tx *bbolt.Tx) error { return setVersion(tx, 7) })
	before := hash(t, Path(dir))
	for _, o := range []Options{{}, {ReadOnly: true}} {
		_, err := Open(dir, o)
		wantTexts(t, err, Path(dir), "version 7", "up to 6", "upgrade driftd")
	}
	if hash(t, Path(dir)) != before {
		t.Error("the file was changed")
	}
}

func TestMigration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFixture(t, dir, "schema-1")
	before := hash(t, Path(dir))
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, scan(2, nil, snapshotAt(2, resource("shop/a", "3"))))
	if diff := cmp.Diff([]string{"0s 1", "1m0s 2", "2m0s 3"}, history(t, s, "shop/a")); diff != "" {
		t.Error(diff)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	checkFile(t, Path(dir))
	if diff := cmp.Diff([]string{fileName, fileName + ".schema-1"}, names(t, dir)); diff != "" {
		t.Errorf("the old file stays: %s", diff)
	}
	if hash(t, Path(dir)+".schema-1") != before {
		t.Error("the old file was changed")
	}
	if err := os.Rename(Path(dir)+".schema-1", Path(dir)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0s 1", "1m0s 2"}, history(t, openAt(t, dir, Options{}), "shop/a")); diff != "" {
		t.Errorf("the old file can be migrated again: %s", diff)
	}
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		version   string
		convert   func(*bbolt.Tx, int, *filler) error
		wantTexts string
	}{
		"conversion fails": {"1", func(*bbolt.Tx, int, *filler) error { return errors.New("no such thing") }, "no such thing"},
		"too old":          {"0", convert, "too old"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFixture(t, dir, "schema-1")
			setVersionIn(t, dir, func(tx *bbolt.Tx) error {
				return tx.Bucket([]byte(metaBucket)).Put([]byte(schemaKey), []byte(c.version))
			})
			before := hash(t, Path(dir))
			_, err := open(dir, Options{}, schema{version: 3, convert: c.convert})
			wantTexts(t, err, "from schema version "+c.version+" to 3", c.wantTexts, "the file is unchanged")
			if hash(t, Path(dir)) != before {
				t.Error("the file was changed")
			}
			if diff := cmp.Diff([]string{fileName}, names(t, dir)); diff != "" {
				t.Errorf("nothing of the new file is left: %s", diff)
			}
		})
	}
}

func TestLogOfFileEvents(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	dir := t.TempDir()
	openAt(t, dir, Options{Log: slog.New(slog.NewTextHandler(&out, nil))})
	if !strings.Contains(out.String(), "created a store") || !strings.Contains(out.String(), dir) {
		t.Errorf("a new store is begun silently: %q", out.String())
	}
}

func TestReadersWhileSaving(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	save(t, s, numbered(1))
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				run, err := s.LastRun()
				if err != nil {
					t.Error(err)
					return
				}
				open, err := s.OpenFindings()
				if err != nil || len(open) != 1 || open[0].LastSeen.Before(run.Started) {
					t.Errorf("a reader after run %s sees findings %v, %v", run.ID, open, err)
					return
				}
			}
		})
	}
	for n := 2; n < 30; n++ {
		save(t, s, numbered(n))
	}
	close(done)
	readers.Wait()
	checkNumbered(t, s, 29)
}
