package gitrepo_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git's own
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// A packed object is an object of a pack that a test writes (gitformat-pack(5)).
type packed struct {
	typ     plumbing.ObjectType
	content []byte
	// base is the index of a delta's base in the pack.
	base int
}

// writePack returns a pack.
func writePack(objects []packed) []byte {
	var pack bytes.Buffer
	pack.WriteString("PACK")
	_ = binary.Write(&pack, binary.BigEndian, [2]uint32{2, uint32(len(objects))})
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = pack.Len()
		size := len(o.content)
		first := byte(o.typ)<<4 | byte(size&15)
		for size >>= 4; size > 0; size >>= 7 {
			pack.WriteByte(first | 0x80)
			first = byte(size & 0x7f)
		}
		pack.WriteByte(first)
		if o.typ == plumbing.OFSDeltaObject {
			back := offsets[i] - offsets[o.base]
			coded := []byte{byte(back & 0x7f)}
			for back >>= 7; back > 0; back >>= 7 {
				back--
				coded = append([]byte{byte(back&0x7f) | 0x80}, coded...)
			}
			pack.Write(coded)
		}
		z := zlib.NewWriter(&pack)
		_, _ = z.Write(o.content)
		_ = z.Close()
	}
	sum := sha1.Sum(pack.Bytes()) //nolint:gosec // git's own
	pack.Write(sum[:])
	return pack.Bytes()
}

// repeat returns a delta that repeats a base of size bytes up to total bytes, with copy
// instructions of up to 16 MiB.
func repeat(size, total int) []byte {
	delta := deltaHead(size, total)
	for total > 0 {
		n := min(size, total, 1<<24-1)
		delta = append(delta, 0xf0, byte(n), byte(n>>8), byte(n>>16))
		total -= n
	}
	return delta
}

// tip returns the objects of a commit with the given files and message, and the hash of the
// commit.
func tip(message string, files map[string]plumbing.Hash) ([]packed, plumbing.Hash) {
	var tree bytes.Buffer
	for _, name := range sortedNames(files) {
		hash := files[name]
		fmt.Fprintf(&tree, "100644 %s\x00%s", name, hash[:])
	}
	top := plumbing.ComputeHash(plumbing.TreeObject, tree.Bytes())
	commit := []byte(fmt.Sprintf("tree %s\nauthor t <t@example.org> 1700000000 +0000\ncommitter t <t@example.org> 1700000000 +0000\n\n%s\n", top, message))
	return []packed{{typ: plumbing.TreeObject, content: tree.Bytes()}, {typ: plumbing.CommitObject, content: commit}},
		plumbing.ComputeHash(plumbing.CommitObject, commit)
}

// A packServer responds to each request with the same refs and pack, or with endless ones.
type packServer struct {
	*httptest.Server
	mu    sync.Mutex
	head  plumbing.Hash
	pack  []byte
	posts int
	// endlessRefs and endlessPack make the response continue as long as the client reads.
	endlessRefs, endlessPack bool
}

func newPackServer(t *testing.T, head plumbing.Hash, pack []byte) *packServer {
	t.Helper()
	s := &packServer{head: head, pack: pack}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *packServer) set(change func(*packServer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// fetched returns the number of transfers so far.
func (s *packServer) fetched() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.posts
}

func (s *packServer) settings(cache string) gitrepo.Settings {
	return gitrepo.Settings{URL: s.URL + "/r.git", CacheDir: cache, Log: slog.New(slog.DiscardHandler)}
}

// ServeHTTP implements http.Handler.
func (s *packServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := func(text string) { _, _ = fmt.Fprintf(w, "%04x%s", len(text)+4, text) }
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		line("# service=git-upload-pack\n")
		_, _ = io.WriteString(w, "0000")
		line(s.head.String() + " HEAD\x00ofs-delta symref=HEAD:refs/heads/main\n")
		line(s.head.String() + " refs/heads/main\n")
		for i := 0; s.endlessRefs && r.Context().Err() == nil; i++ {
			line(fmt.Sprintf("%s refs/heads/main%s/%d\n", s.head, strings.Repeat("x", 50_000), i))
		}
		_, _ = io.WriteString(w, "0000")
		return
	}
	s.posts++
	w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
	line("NAK\n")
	_, _ = w.Write(s.pack)
	noise := make([]byte, 64<<10)
	for s.endlessPack && r.Context().Err() == nil {
		if _, err := w.Write(noise); err != nil {
			return
		}
	}
}
