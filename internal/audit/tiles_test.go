package audit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/tlog"
)

// exported returns the files of an export, and their names in order.
func exported(t testing.TB, l *Log) (files map[string][]byte, names []string, err error) {
	t.Helper()
	files = map[string][]byte{}
	err = l.Export(func(name string, b []byte) error {
		if _, ok := files[name]; ok {
			t.Errorf("%s is written twice", name)
		}
		files[name] = bytes.Clone(b)
		names = append(names, name)
		return nil
	})
	return files, names, err
}

// unbundle returns the entries of a bundle.
func unbundle(t testing.TB, b []byte) (entries [][]byte) {
	t.Helper()
	for len(b) > 0 {
		n := int(binary.BigEndian.Uint16(b))
		entries, b = append(entries, b[2:2+n]), b[2+n:]
	}
	return entries
}

// The names and sizes of files are those of c2sp.org/tlog-tiles.
func TestExportNames(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for size, want := range map[int][]string{
		1:   {"tile/0/000.p/1", "tile/entries/000.p/1", "checkpoint"},
		256: {"tile/0/000", "tile/1/000.p/1", "tile/entries/000", "checkpoint"},
		600: {"tile/0/000", "tile/0/001", "tile/0/002.p/88", "tile/1/000.p/2",
			"tile/entries/000", "tile/entries/001", "tile/entries/002.p/88", "checkpoint"},
	} {
		_, l := filled(t, key, size)
		files, names, err := exported(t, l)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%d entries (-want +got):\n%s", size, diff)
		}
		if size >= 256 && len(files["tile/0/000"]) != 256*32 {
			t.Errorf("a full tile has %d bytes", len(files["tile/0/000"]))
		}
	}
	for n, want := range map[int64]string{0: "000", 7: "007", 999: "999", 1000: "x001/000", 1234067: "x001/x234/067", 12345678901: "x012/x345/x678/901"} {
		if got := tilePath(n, tileWidth); got != want {
			t.Errorf("tile %d is %s, want %s", n, got, want)
		}
	}
	if got := tilePath(70001, 3); got != "x070/001.p/3" {
		t.Error(got)
	}
}

// tileFiles reads exported tiles for tlog, which checks them against the root.
type tileFiles map[string][]byte

func (tileFiles) Height() int                     { return 8 }
func (tileFiles) SaveTiles([]tlog.Tile, [][]byte) {}
func (f tileFiles) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	read := make([][]byte, len(tiles))
	for i, t := range tiles {
		// tlog's path has the height; the rest is that of c2sp.org/tlog-tiles.
		name := strings.Replace(t.Path(), "tile/8/", "tile/", 1)
		var ok bool
		if read[i], ok = f[name]; !ok {
			return nil, fmt.Errorf("no file %s", name)
		}
	}
	return read, nil
}

// The checkpoint signs what the exported tiles and bundles hold.
func TestExportVerifies(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	const size = 70_001
	_, l := filled(t, key, size)
	files, names, err := exported(t, l)
	if err != nil {
		t.Fatal(err)
	}
	if names[len(names)-1] != "checkpoint" {
		t.Errorf("the last file is %s", names[len(names)-1])
	}
	h, err := ParseHead(files["checkpoint"], key.Public())
	if err != nil || h.Size != size {
		t.Fatalf("%+v, %v", h, err)
	}
	if got := slices.ContainsFunc(names, func(n string) bool { return n == "tile/2/000.p/1" }); !got {
		t.Error("there is no tile on level 2")
	}
	reader := tlog.TileHashReader(tlog.Tree{N: size, Hash: h.Root}, tileFiles(files))
	for _, index := range []int64{0, 255, 256, 65_535, 65_536, size - 1} {
		bundle := files["tile/entries/"+tilePath(index/256, int(min(256, size-index/256*256)))]
		entries := unbundle(t, bundle)
		proof, err := tlog.ProveRecord(size, index, reader)
		if err != nil {
			t.Fatalf("entry %d: %v", index, err)
		}
		if err := tlog.CheckRecord(proof, size, h.Root, index, tlog.RecordHash(entries[index%256])); err != nil {
			t.Errorf("entry %d: %v", index, err)
		}
	}
	var leaves [][]byte
	for n := int64(0); n*256 < size; n++ {
		leaves = append(leaves, unbundle(t, files["tile/entries/"+tilePath(n, int(min(256, size-n*256)))])...)
	}
	if len(leaves) != size || root(leaves) != h.Root.String() {
		t.Errorf("the %d exported entries have the root %s, want %s", len(leaves), root(leaves), h.Root)
	}
}

func TestExportDropped(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	m, l := filled(t, key, 1000)
	if err := l.Drop([]Key{key}, 300, nil, time.Unix(1_900_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	files, names, err := exported(t, l)
	var left *LeftOutError
	if !errors.As(err, &left) || !errors.Is(err, ErrDropped) || !cmp.Equal(left.Ranges, []Range{{0, 512}}) {
		t.Fatalf("error %v", err)
	}
	if !strings.Contains(err.Error(), "entries 0 to 511 are left out") {
		t.Error(err)
	}
	want := []string{"tile/0/000", "tile/0/001", "tile/0/002", "tile/0/003.p/233", "tile/1/000.p/3", "tile/entries/002", "tile/entries/003.p/233", "checkpoint"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	reader := tlog.TileHashReader(tlog.Tree{N: 1001, Hash: head(t, l).Root}, tileFiles(files))
	if _, err := tlog.ProveRecord(1001, 5, reader); err != nil {
		t.Errorf("a dropped entry: %v", err)
	}
	remove(m, 700, 701)
	if _, _, err := exported(t, l); !errors.As(err, &left) || !cmp.Equal(left.Ranges, []Range{{0, 768}}) {
		t.Errorf("a later gap: %v", err)
	}
	remove(m, 900, 901)
	if _, _, err := exported(t, l); !errors.As(err, &left) || !cmp.Equal(left.Ranges, []Range{{0, 1001}}) {
		t.Errorf("all bundles: %v", err)
	}
}

func TestExportRefuses(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for name, test := range map[string]struct {
		change func(m memory)
		want   string
	}{
		"an edited entry":       {func(m memory) { edit(m, 42, "nummer", 0) }, "entry 42 was edited"},
		"an edit with its leaf": {func(m memory) { edit(m, 42, "nummer", 1) }, "the hash over the entries 42 to 43"},
		"an edit to the top":    {func(m memory) { edit(m, 42, "nummer", 60) }, "the tree of 300 entries is not the one that was signed"},
		"a removed hash":        {func(m memory) { delete(m, string(indexKey(hashRecord, tlog.StoredHashIndex(0, 3)))) }, "is gone"},
		"an inner hash":         {func(m memory) { m[string(indexKey(hashRecord, tlog.StoredHashIndex(3, 2)))] = make([]byte, 32) }, "the hash over the entries 16 to 23 was edited"},
	} {
		m, l := filled(t, key, 300)
		test.change(m)
		_, names, err := exported(t, l)
		var changed *TamperedError
		if !errors.As(err, &changed) || !strings.Contains(err.Error(), test.want) || slices.Contains(names, "checkpoint") {
			t.Errorf("%s: %v, files %q", name, err, names)
		}
	}
	if err := New(memory{}, key.Public()).Export(nil); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty log: %v", err)
	}
	full := errors.New("disk full")
	_, l := filled(t, key, 300)
	for fails := range 6 {
		err := l.Export(func(string, []byte) error {
			if fails--; fails < 0 {
				return full
			}
			return nil
		})
		if !errors.Is(err, full) {
			t.Errorf("a failed write: %v", err)
		}
	}
}
