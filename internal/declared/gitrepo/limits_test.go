package gitrepo_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// allocated returns the memory that f allocates, in bytes.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

const mebibyte = 1 << 20

// A hugeCase is an object that is small on disk and large in memory, with the expected results
// for a file with it.
type hugeCase struct {
	reason  string
	objects []packed
	// file is the hash of the file. size is 0 if the file is left out of a clone.
	file plumbing.Hash
	size int64
	// local is its size in a local repository. opens reports whether it can be opened there.
	local int64
	opens bool
}

const hugeSize = 160 * mebibyte

func hugeCases() map[string]hugeCase {
	seed := make([]byte, 1000)
	inserted := bytes.Repeat(append([]byte{127}, make([]byte, 127)...), 100_000)
	const insertedSize = 127 * 100_000
	return map[string]hugeCase{
		"a blob": {"a blob that is no delta is streamed",
			[]packed{{typ: plumbing.BlobObject, content: make([]byte, hugeSize)}}, hashOfZeros(hugeSize), hugeSize, hugeSize, true},
		"a delta": {"small deltas repeat their base",
			[]packed{{typ: plumbing.BlobObject, content: seed}, {typ: plumbing.OFSDeltaObject, content: repeat(1000, 10*mebibyte), base: 0},
				{typ: plumbing.OFSDeltaObject, content: repeat(10*mebibyte, hugeSize), base: 1}}, hashOfZeros(hugeSize), 0, hugeSize, false},
		"a base": {"a delta with a huge base",
			[]packed{{typ: plumbing.BlobObject, content: make([]byte, hugeSize)},
				{typ: plumbing.OFSDeltaObject, content: append(deltaHead(hugeSize, 10), 0x90, 10), base: 0}}, hashOfZeros(10), 0, 10, false},
		"instructions": {"a large delta within the bounds",
			[]packed{{typ: plumbing.BlobObject, content: seed}, {typ: plumbing.OFSDeltaObject, content: append(deltaHead(1000, insertedSize), inserted...), base: 0}},
			hashOfZeros(insertedSize), insertedSize, insertedSize, true},
	}
}

func hashOfZeros(n int) plumbing.Hash {
	return plumbing.ComputeHash(plumbing.BlobObject, make([]byte, n))
}

// deltaHead returns the sizes that a delta begins with.
func deltaHead(base, result int) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(base)), uint64(result))
}

// incompressible returns n random bytes for a seed.
func incompressible(seed, n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed)}).Read(b)
	return b
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// TestCloneSize proves that a transfer ends at the limit, leaves no file behind, is not
// repeated, and does not damage the clone.
func TestCloneSize(t *testing.T) {
	t.Parallel()
	content := []byte("a: 1\n")
	top, head := tip("small", map[string]plumbing.Hash{"a.yaml": plumbing.ComputeHash(plumbing.BlobObject, content)})
	pack := writePack(append(top, packed{typ: plumbing.BlobObject, content: content}))
	for _, cached := range []bool{true, false} {
		server := newPackServer(t, head, pack)
		cache := ""
		if cached {
			cache = t.TempDir()
		}
		s := server.settings(cache)
		s.MaxCloneSize = mebibyte
		r := open(t, s)
		read := func() (string, error) {
			var got []byte
			err := r.Read(t.Context(), "", func(c gitrepo.Commit) (err error) {
				got, err = fs.ReadFile(c.Files, "a.yaml")
				return err
			})
			return string(got), err
		}
		if got, err := read(); err != nil || got != "a: 1\n" {
			t.Fatalf("got %q, %v", got, err)
		}
		other, moved := tip("huge", map[string]plumbing.Hash{})
		server.set(func(s *packServer) { s.head, s.pack, s.endlessPack = moved, writePack(other), true })
		for range 3 {
			_, err := read()
			want := "read git repository " + s.URL + ": too large: the transfer exceeds 1048576 bytes; raise max_clone_size"
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		if n := server.fetched(); n != 2 {
			t.Errorf("%d transfers, want one for each commit", n)
		}
		server.set(func(s *packServer) { s.head, s.pack, s.endlessPack = head, pack, false })
		before := server.fetched()
		if got, err := read(); err != nil || got != "a: 1\n" || cached && server.fetched() != before {
			t.Errorf("back again: got %q, %v, %d transfers", got, err, server.fetched()-before)
		}
		if cached {
			left, err := filepath.Glob(filepath.Join(cache, "*.git", "incoming-*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		}
	}
}

// TestOversizedClone proves that a clone is created again if earlier commits make it too
// large.
func TestOversizedClone(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	cache := t.TempDir()
	s := gitrepo.Settings{URL: newGitServer(t, g).URL + "/r.git", CacheDir: cache, MaxCloneSize: 600 << 10, Log: quiet()}
	for i := range 4 {
		name := fmt.Sprint("a", i)
		hashes := g.commit(step{files: map[string]string{name: string(incompressible(i, 250<<10))}})
		if _, at, err := readFile(t, s, "main", name); err != nil || at != hashes[0] {
			t.Errorf("commit %d: at %s, %v", i, at, err)
		}
	}
	var size int64
	for _, pack := range glob(t, cache, "*.git/objects/pack/*.pack") {
		info, err := os.Stat(pack)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > s.MaxCloneSize {
		t.Errorf("the clone has %d bytes", size)
	}
}
