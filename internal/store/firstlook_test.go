package store

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/google/go-cmp/cmp"
)

// TestFirstLooks holds that the first look at a scope stays what it was, across
// openings of the file.
func TestFirstLooks(t *testing.T) {
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
	if looks, err := s.FirstLooks(); err != nil || len(looks) > 0 {
		t.Errorf("a new store has first looks %v, %v", looks, err)
	}
	rec := scan(0, nil)
	rec.FirstLooks = []model.FirstRead{first("t", "k", "p", 1), first("s", "k", "", -1), first("s", "l", "", 2)}
	save(t, s, rec)
	rec = scan(1, nil)
	rec.FirstLooks = []model.FirstRead{first("s", "k", "", 9), first("s", "l", "", 9), first("t", "k", "", 3)}
	save(t, s, rec)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, dir, Options{})
	want := []model.FirstRead{first("s", "k", "", -1), first("s", "l", "", 2), first("t", "k", "", 3), first("t", "k", "p", 1)}
	if looks, err := s.FirstLooks(); err != nil || !cmp.Equal(want, looks) {
		t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(want, looks))
	}
}

func TestFirstLookWithoutASourceIsNotSaved(t *testing.T) {
	t.Parallel()
	s := openAt(t, t.TempDir(), Options{})
	rec := scan(0, nil)
	rec.FirstLooks = []model.FirstRead{{Scope: model.Scope{Kind: "k"}}}
	if err := s.Save(rec); err == nil || !strings.Contains(err.Error(), "want a source") {
		t.Errorf("got %v, want an error that names the source", err)
	}
}

// TestDamagedFirstLooks reads entries that driftd cannot have written.
func TestDamagedFirstLooks(t *testing.T) {
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
		t.Errorf("the schema's version is read as a first look: %v", err)
	}
}
