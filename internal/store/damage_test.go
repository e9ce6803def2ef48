package store

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"github.com/driftd/driftd/internal/model"
)

// edit changes the bytes of a closed file.
func edit(tb testing.TB, dir string, change func([]byte) []byte) {
	tb.Helper()
	b, err := os.ReadFile(Path(dir))
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(Path(dir), change(b), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// flip returns a function that inverts n bytes from offset at.
func flip(at, n int) func([]byte) []byte {
	return func(b []byte) []byte {
		for i := range n {
			b[at+i] ^= 0xff
		}
		return b
	}
}

func cut(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:min(n, len(b))] } }

func noise(n int) func([]byte) []byte {
	return func([]byte) []byte {
		b := make([]byte, n)
		random := rand.NewChaCha8([32]byte{1})
		_, _ = random.Read(b) // never returns an error
		return b
	}
}

// both returns a function that applies one change after the other.
func both(first, second func([]byte) []byte) func([]byte) []byte {
	return func(b []byte) []byte { return second(first(b)) }
}

func TestDamagedFileIsSetAside(t *testing.T) {
	t.Parallel()
	page := os.Getpagesize()
	cases := map[string]func([]byte) []byte{
		"empty":               cut(0),
		"one byte":            cut(1),
		"cut in a meta page":  cut(page / 2),
		"metas only":          cut(2 * page),
		"last page gone":      func(b []byte) []byte { return b[:4*page] },
		"noise":               noise(100_000),
		"short noise":         noise(100),
		"text":                func([]byte) []byte { return []byte(strings.Repeat("not a database\n", 5000)) },
		"zeros":               func(b []byte) []byte { return make([]byte, len(b)) },
		"both metas flipped":  both(flip(16, 64), flip(page+16, 64)),
		"all but the metas":   func(b []byte) []byte { clear(b[2*page:]); return b },
		"both metas one byte": both(flip(40, 1), flip(page+40, 1)),
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := saved(t)
			edit(t, dir, change)
			before := hash(t, Path(dir))
			now := func() time.Time { return minute(0) }

			_, err := Open(dir, Options{ReadOnly: true, Now: now})
			var damaged *DamagedError
			if !errors.As(err, &damaged) || damaged.Moved != "" {
				t.Fatalf("a reader: got %v", err)
			}
			wantTexts(t, err, Path(dir), "backup")
			if diff := cmp.Diff([]string{fileName}, names(t, dir)); diff != "" {
				t.Errorf("a reader leaves it where it is: %s", diff)
			}

			_, err = Open(dir, Options{Now: now})
			moved := Path(dir) + ".damaged-20260102T030405Z"
			if !errors.As(err, &damaged) || damaged.Moved != moved || damaged.Path != Path(dir) || damaged.Err == nil {
				t.Fatalf("got %v", err)
			}
			wantTexts(t, err, Path(dir), moved, "create a new one", "backup")
			if diff := cmp.Diff([]string{filepath.Base(moved)}, names(t, dir)); diff != "" {
				t.Errorf("set aside and nothing made in its place: %s", diff)
			}
			if aside, err := SetAside(dir); err != nil || !slices.Equal(aside, []string{moved}) {
				t.Errorf("set aside are %v, %v; want %s", aside, err, moved)
			}
			if hash(t, moved) != before {
				t.Error("the damaged file was changed")
			}
			save(t, openAt(t, dir, Options{Now: now}), scan(0, nil))
		})
	}
}

func TestSetAsideNeverOverwrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 3 {
		if err := os.WriteFile(Path(dir), []byte{byte(i)}, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, Options{Now: func() time.Time { return minute(0) }}); err == nil {
			t.Fatal("no error")
		}
	}
	if got := names(t, dir); len(got) != 3 {
		t.Errorf("got %q, want three files", got)
	}
}

func TestForeignDatabaseIsSetAside(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*bbolt.Tx) error{
		"no meta bucket": func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte(metaBucket)) },
		"no version":     func(tx *bbolt.Tx) error { return tx.Bucket([]byte(metaBucket)).Delete([]byte(schemaKey)) },
		"bad version":    func(tx *bbolt.Tx) error { return tx.Bucket([]byte(metaBucket)).Put([]byte(schemaKey), []byte("x")) },
		"bucket missing": func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte(openBucket)) },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := saved(t)
			setVersionIn(t, dir, change)
			_, err := Open(dir, Options{})
			var damaged *DamagedError
			if !errors.As(err, &damaged) || damaged.Moved == "" {
				t.Fatalf("got %v", err)
			}
			openAt(t, dir, Options{})
		})
	}
}

// TestOneMetaPageLost: bbolt keeps two meta pages and uses the intact one. The last save may be
// lost then, which is logged.
func TestOneMetaPageLost(t *testing.T) {
	t.Parallel()
	for page := range 2 {
		t.Run(fmt.Sprint(page), func(t *testing.T) {
			t.Parallel()
			dir := saved(t)
			edit(t, dir, flip(page*os.Getpagesize()+20, 8))
			var log bytes.Buffer
			s := openAt(t, dir, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
			if !strings.Contains(log.String(), "the last save may be missing") {
				t.Errorf("not logged: %q", log.String())
			}
			for i := range 3 {
				save(t, s, scan(i, nil, snapshotAt(i, resource("shop/a", fmt.Sprint(i)))))
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			log.Reset()
			openAt(t, dir, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
			if log.Len() > 0 {
				t.Errorf("logged for an intact file: %q", log.String())
			}
		})
	}
}

// large returns a store of several megabytes with a few scans.
func large(t *testing.T) (dir string, s *Store) {
	t.Helper()
	dir = t.TempDir()
	s, err := Open(dir, Options{Now: func() time.Time { return minute(0) }})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		rec := scan(i, []model.Finding{finding("a", i, reason(fmt.Sprint(i)))}, estate(500, i))
		rec.Notices = notices(i, 100)
		rec.Decisions = map[string][]model.Decision{"git": {decision("d", "a", func(d *model.Decision) { d.Reason = fmt.Sprint(i) })}}
		save(t, s, rec)
	}
	return dir, s
}

// useAll calls every method of the store and returns the errors.
func useAll(s *Store, round int) error {
	keys, err := s.Keys("name-000001")
	errs := []error{err}
	for _, k := range keys {
		_, err := s.History(k)
		errs = append(errs, err)
	}
	_, err = s.OpenFindings()
	errs = append(errs, err)
	_, err = s.Changes("", minute(-1), minute(9))
	errs = append(errs, err)
	_, err = s.Runs(0)
	errs = append(errs, err, useOutbox(s, round))
	errs = append(errs, s.Save(scan(round, []model.Finding{finding("a", round)}, estate(500, round))))
	return errors.Join(errs...)
}

func useOutbox(s *Store, round int) error {
	_, err := s.Notices()
	errs := []error{err}
	for range 2 {
		p, _, err := s.NextOutboxEntry("slack")
		m := &p.Message
		errs = append(errs, err, s.BeginDelivery(m.Receiver, m.Key), s.EndDelivery(m.Receiver, m.Key, "receipt"))
	}
	_, err = s.Queues()
	errs = append(errs, err)
	_, err = s.Decisions()
	errs = append(errs, err, s.Decide([]model.Decision{decision("e", "a")}, minute(round)))
	_, err = s.Recent(minute(0))
	return errors.Join(append(errs, err, s.SaveNotices(notices(round, 100)))...)
}

func TestDamagedWhileOpen(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*os.File) error{
		"cut off":   func(f *os.File) error { return f.Truncate(int64(2 * os.Getpagesize())) },
		"emptied":   func(f *os.File) error { return f.Truncate(0) },
		"zeros":     func(f *os.File) error { return overwrite(f, 0, func(b []byte) { clear(b) }) },
		"no tables": func(f *os.File) error { return overwrite(f, 2*os.Getpagesize(), func(b []byte) { clear(b) }) },
		"noise": func(f *os.File) error {
			return overwrite(f, 2*os.Getpagesize(), func(b []byte) { copy(b, noise(len(b))(nil)) })
		},
	}
	for name, harm := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, s := large(t)
			file, err := os.OpenFile(Path(dir), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(harm(file), file.Close()); err != nil {
				t.Fatal(err)
			}
			err = useAll(s, 5)
			var damaged *DamagedError
			if !errors.As(err, &damaged) || damaged.Moved == "" {
				t.Fatalf("got %v", err)
			}
			if err := s.Save(scan(9, nil)); !errors.As(err, &damaged) {
				t.Errorf("afterwards: got %v", err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff([]string{filepath.Base(damaged.Moved)}, names(t, dir)); diff != "" {
				t.Error(diff)
			}
			save(t, openAt(t, dir, Options{}), scan(0, nil))
		})
	}
}

func overwrite(f *os.File, from int, change func([]byte)) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	b := make([]byte, int(info.Size())-from)
	if _, err := f.ReadAt(b, int64(from)); err != nil {
		return err
	}
	change(b)
	_, err = f.WriteAt(b, int64(from))
	return err
}

// TestLostSectors overwrites random sectors with noise or zeros. The store then works, or returns a
// DamagedError, or does not find a record whose key was lost; it never panics or hangs.
func TestLostSectors(t *testing.T) {
	t.Parallel()
	dir, s := large(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(Path(dir))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	found := 0
	for range 15 {
		b := bytes.Clone(whole)
		for range 1 + random.IntN(4) {
			loseSector(b, random)
		}
		scratch := t.TempDir()
		if err := os.WriteFile(Path(scratch), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := openAndUse(scratch); err != nil {
			found++
		}
	}
	if found == 0 {
		t.Error("no damage was ever found")
	}
}

func loseSector(b []byte, random *rand.Rand) {
	const size = 512
	at := random.IntN(len(b)/size) * size
	lost := b[at : at+size]
	clear(lost)
	if random.IntN(2) == 0 {
		for i := range lost {
			lost[i] = byte(random.Uint32())
		}
	}
}

// openAndUse opens and uses a store. It returns the damage that was found, and panics on any other
// error.
func openAndUse(dir string) error {
	s, err := Open(dir, Options{})
	if err == nil {
		err = errors.Join(useAll(s, 5), s.Close())
	}
	if damaged := (*DamagedError)(nil); err != nil && !errors.As(err, &damaged) && !errors.Is(err, ErrNotFound) {
		panic(err)
	}
	return err
}

func TestPanicOfAnIntactFile(t *testing.T) {
	t.Parallel()
	dir := saved(t)
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "my own mistake") {
				t.Errorf("got %v, want the panic", r)
			}
		}()
		err = s.view("test", func(*txn) error { panic("my own mistake") })
		t.Errorf("no panic: %v", err)
	}()
	if diff := cmp.Diff([]string{fileName, pidName}, names(t, dir)); diff != "" {
		t.Errorf("a good file stays: %s", diff)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	checkFile(t, Path(dir))
}

// An error that names a damaged file does not quote the Go runtime.
func TestFaultsOfTheRuntimeAreInWords(t *testing.T) {
	t.Parallel()
	err := guard(func() error {
		pages := make([]int, len(t.Name()))
		pages[len(os.Args)+len(pages)]++
		return nil
	})
	if err == nil || err.Error() != "a page of the file cannot be read" {
		t.Errorf("%v", err)
	}
}
