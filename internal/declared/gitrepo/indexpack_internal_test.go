package gitrepo

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// TestIndexPack proves that the index of a pack equals the one of git, with bases of deltas by
// offset and by hash.
func TestIndexPack(t *testing.T) {
	t.Parallel()
	for _, option := range []string{"--delta-base-offset", "--no-reuse-delta"} {
		dir := t.TempDir()
		git := func(input string, args ...string) []byte {
			t.Helper()
			c := exec.CommandContext(t.Context(), "git", args...) //nolint:gosec // fixed arguments
			c.Dir, c.Stdin = dir, strings.NewReader(input)
			c.Env = []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=" + dir}
			out, err := c.Output()
			if err != nil {
				t.Fatalf("git %s: %v", args, err)
			}
			return out
		}
		git("", "init", "-q", ".")
		var hashes strings.Builder
		for i := range 40 {
			hashes.Write(git(strings.Repeat(fmt.Sprintf("line %d\n", i/8), 500)+fmt.Sprint(i), "hash-object", "-w", "--stdin"))
		}
		name := strings.TrimSpace(string(git(hashes.String(), "pack-objects", "-q", "--window=20", "--depth=20", option, "out")))
		pack, err := os.ReadFile(filepath.Join(dir, "out-"+name+".pack"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(dir, "out-"+name+".idx"))
		if err != nil {
			t.Fatal(err)
		}
		index, leftOut, err := indexPack(t.Context(), bytes.NewReader(pack))
		if err != nil || leftOut != 0 {
			t.Fatalf("%s: %d left out, %v", option, leftOut, err)
		}
		var got bytes.Buffer
		if _, err := idxfile.NewEncoder(&got).Encode(index); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: %d bytes, want the %d of git", option, got.Len(), len(want))
		}
		for _, cut := range []int{0, 10, len(pack) / 2, len(pack) - 1} {
			if index, _, err := indexPack(t.Context(), bytes.NewReader(pack[:cut])); err == nil && cut > 0 || index != nil {
				t.Errorf("cut at %d: %v", cut, err)
			}
		}
	}
}

// FuzzIndexPack proves that an arbitrary pack causes an error at most.
func FuzzIndexPack(f *testing.F) {
	f.Add([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01\x30\x78\x9c\x03\x00\x00\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, pack []byte) {
		_, _, _ = indexPack(t.Context(), bytes.NewReader(pack))
	})
}

func TestMayFollow(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason         string
		file, to, self int
		want           bool
	}{
		{"a user's worktree of the user's repository", 1000, 1000, 7, true},
		{"root", 0, 1000, 7, true},
		{"driftd's own user", 7, 1000, 7, true},
		{"a folder of root", 1000, 0, 7, false},
		{"a folder of another user, with driftd as root", 1000, 1001, 0, false},
	} {
		if got := mayFollow(tc.file, tc.to, tc.self); got != tc.want {
			t.Errorf("%s: got %t", tc.reason, got)
		}
	}
}
