package store

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestFileOfVersion1 opens a file from before driftd stored notices: scans at minutes 0 and 1, of
// resources a and b, findings a and b.
func TestFileOfVersion1(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFixture(t, dir, "schema-1")
	old := hash(t, Path(dir))
	_, err := Open(dir, Options{ReadOnly: true})
	wantTexts(t, err, "version 1", "needs 6", "driftd scan")
	if hash(t, Path(dir)) != old {
		t.Error("a reader changed the file")
	}

	s := openAt(t, dir, Options{})
	if diff := cmp.Diff([]string{fileName, fileName + ".schema-1", pidName}, names(t, dir)); diff != "" {
		t.Errorf("a copy is put aside: %s", diff)
	}
	if diff := cmp.Diff([]string{"0s 1", "1m0s 2"}, history(t, s, "shop/a")); diff != "" {
		t.Error(diff)
	}
	open, err := s.OpenFindings()
	if diff := cmp.Diff([]model.Finding{finding("a", 1, reason("worse"))}, open); diff != "" || err != nil {
		t.Errorf("open: %v %s", err, diff)
	}
	recent, err := s.Recent(minute(1))
	if diff := cmp.Diff([]model.Finding{finding("b", 0, resolvedAt(1))}, recent); diff != "" || err != nil {
		t.Errorf("resolved: %v %s", err, diff)
	}
	rec := scan(2, []model.Finding{finding("a", 2, reason("worse"))}, snapshotAt(2, resource("shop/a", "2")))
	rec.Notices = model.NoticeChange{Messages: []model.Message{message("slack", "t", "t.1")}}
	save(t, s, rec)
	if p, ok, err := s.NextOutboxEntry("slack"); err != nil || !ok || p.Message.Key != "t.1" {
		t.Errorf("got %v, %v", p, err)
	}
	if _, versions, err := s.Finding("a"); err != nil || len(versions) != 2 {
		t.Errorf("an unchanged finding has %d versions, %v; want the 2 of before", len(versions), err)
	}
}

// writeFixture writes a database of an earlier version of driftd.
func writeFixture(t testing.TB, dir, name string) {
	t.Helper()
	packed, err := os.Open("testdata/" + name + ".db.gz")
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(unpacked)
	if err := errors.Join(err, unpacked.Close(), packed.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(Path(dir), b, 0o600); err != nil {
		t.Fatal(err)
	}
}
