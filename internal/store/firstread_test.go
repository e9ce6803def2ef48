package store

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestFirstReads verifies that the first read of a scope is not overwritten, also after the file
// was opened again.
func TestFirstReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := func(source, kind, place string, at int) model.FirstRead {
		f := model.FirstRead{Source: source, Scope: model.Scope{Kind: kind, Place: place}}
		if at >= 0 {
			f.Newest = minute(at)
		}
		return f
	}
	s := openAt(t, dir, Options{})
	if snapshots, err := s.FirstReads(); err != nil || len(snapshots) > 0 {
		t.Errorf("a new store has first reads %v, %v", snapshots, err)
	}
	rec := scan(0, nil)
	rec.FirstReads = []model.FirstRead{first("t", "k", "p", 1), first("s", "k", "", -1), first("s", "l", "", 2)}
	save(t, s, rec)
	rec = scan(1, nil)
	rec.FirstReads = []model.FirstRead{first("s", "k", "", 9), first("s", "l", "", 9), first("t", "k", "", 3)}
	save(t, s, rec)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, dir, Options{})
	want := []model.FirstRead{first("s", "k", "", -1), first("s", "l", "", 2), first("t", "k", "", 3), first("t", "k", "p", 1)}
	if snapshots, err := s.FirstReads(); err != nil || !cmp.Equal(want, snapshots) {
		t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(want, snapshots))
	}
}

func TestFirstReadWithoutSourceIsNotSaved(t *testing.T) {
	t.Parallel()
	s := openAt(t, t.TempDir(), Options{})
	rec := scan(0, nil)
	rec.FirstReads = []model.FirstRead{{Scope: model.Scope{Kind: "k"}}}
	if err := s.Save(rec); err == nil || !strings.Contains(err.Error(), "want a source") {
		t.Errorf("got %v, want an error that names the source", err)
	}
}

// TestDamagedFirstReads decodes entries that driftd cannot have written.
func TestDamagedFirstReads(t *testing.T) {
	t.Parallel()
	for reason, entry := range map[string]struct {
		key, value string
		ok         bool
	}{
		"as it is written":   {firstNote + "s\x00k\x00", "12345678", true},
		"a short value":      {firstNote + "s\x00k\x00", "1234567", false},
		"a long value":       {firstNote + "s\x00k\x00", "123456789", false},
		"a key without kind": {firstNote + "s", "12345678", false},
	} {
		if err := (&txn{}).decodeNote([]byte(entry.key), []byte(entry.value)); (err == nil) != entry.ok {
			t.Errorf("%s: %v, want it read: %t", reason, err, entry.ok)
		}
	}
	if err := (&txn{}).decodeNote([]byte(versionNote), []byte("3")); err != nil {
		t.Errorf("the schema's version is read as a first read: %v", err)
	}
}
