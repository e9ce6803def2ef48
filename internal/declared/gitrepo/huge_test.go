//go:build !race

package gitrepo_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// TestHugeObjects proves that objects that are small on disk and large in memory are never
// loaded, by measuring allocations. It does not run in parallel, because allocations of other
// tests count, and not under the race detector, which allocates itself.
func TestHugeObjects(t *testing.T) { //nolint:paralleltest // it measures the process
	small := []byte("kind: List\n")
	good := plumbing.ComputeHash(plumbing.BlobObject, small)
	for name, tc := range hugeCases() { //nolint:paralleltest // it measures the process
		t.Run(name, func(t *testing.T) {
			top, head := tip(name, map[string]plumbing.Hash{"bad": tc.file, "good": good})
			pack := writePack(append(append(tc.objects, packed{typ: plumbing.BlobObject, content: small}), top...))
			server := newPackServer(t, head, pack)
			local := newGit(t)
			local.run(string(pack), "index-pack", "--stdin")
			local.run("", "update-ref", "refs/heads/main", head.String())
			for way, s := range map[string]gitrepo.Settings{"clone": server.settings(t.TempDir()), "local": {URL: local.dir, Log: quiet()}} {
				size, opens := tc.size, tc.size > 0
				if way == "local" {
					size, opens = tc.local, tc.opens
				}
				var err error
				used := allocated(func() { err = readHuge(t, s, size, opens, string(small)) })
				if err != nil {
					t.Errorf("%s, %s: %v", way, tc.reason, err)
				}
				if used > hugeSize*2/3 {
					t.Errorf("%s, %s: %d MiB allocated", way, tc.reason, used/mebibyte)
				}
			}
			if server.fetched() != 1 {
				t.Errorf("%s: fetched %d times", tc.reason, server.fetched())
			}
		})
	}
}

// readHuge reads the file "good", and checks the size of the file "bad" and whether it can be
// opened.
func readHuge(t *testing.T, s gitrepo.Settings, size int64, opens bool, good string) error {
	t.Helper()
	return open(t, s).Read(t.Context(), "", func(c gitrepo.Commit) error {
		switch info, err := fs.Stat(c.Files, "bad"); {
		case size == 0 && !errors.Is(err, gitrepo.ErrLeftOut):
			return fmt.Errorf("stat: got %w, want ErrLeftOut", err)
		case size > 0 && (err != nil || info.Size() != size):
			return fmt.Errorf("stat: got %v, %w, want %d bytes", info, err, size)
		}
		f, err := c.Files.Open("bad")
		if err == nil {
			_, err = io.ReadFull(f, make([]byte, 10))
			err = errors.Join(err, f.Close())
		}
		if (err == nil) != opens {
			return fmt.Errorf("open: %w, want success %t", err, opens)
		}
		got, err := fs.ReadFile(c.Files, "good")
		if string(got) != good {
			return fmt.Errorf("the other file: got %q, %w", got, err)
		}
		if opens {
			return nil
		}
		absent, err := c.Files.CheckOut(t.Context(), t.TempDir(), gitrepo.Bounds{Files: 10, Bytes: 1 << 40})
		if err == nil && absent["bad"] == nil {
			err = fmt.Errorf("check out: %v is absent, want bad", absent)
		}
		return err
	})
}
