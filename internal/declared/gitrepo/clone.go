package gitrepo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing/cache"
)

// A clone is driftd's own bare copy of a repository. One reader at a time holds its lock.
// Without a cache folder, it is created for one reading and removed afterwards.
type clone struct {
	dir    string
	unlock func() error
}

// maxPacks bounds the packs of a clone. Each fetch adds one, and driftd does not repack: a
// clone with more packs is removed and created again.
const maxPacks = 100

// cacheSize bounds the objects of a clone that are kept in memory, in bytes.
const cacheSize = 16 * cache.MiByte

// openClone locks and returns the clone of url, which has no credentials.
func openClone(ctx context.Context, cacheDir, url string) (*clone, error) {
	if cacheDir == "" {
		dir, err := os.MkdirTemp("", "driftd-clone-")
		if err != nil {
			return nil, fmt.Errorf("create clone of %s: %w", url, err)
		}
		return &clone{dir: filepath.Join(dir, "clone.git"), unlock: func() error { return os.RemoveAll(dir) }}, nil
	}
	if err := os.MkdirAll(cacheDir, 0o700); err != nil {
		return nil, fmt.Errorf("create clone of %s: %w", url, err)
	}
	hash := sha256.Sum256([]byte(url))
	c := &clone{dir: filepath.Join(cacheDir, hex.EncodeToString(hash[:12])+".git")}
	var err error
	if c.unlock, err = lock(ctx, c.dir+".lock"); err != nil {
		return nil, fmt.Errorf("wait for clone of %s: %w", url, err)
	}
	return c, nil
}

// open opens the clone, or creates it. The caller closes it.
func (c *clone) open() (*objectStore, error) {
	if err := removeIncoming(c.dir); err != nil {
		return nil, err
	}
	packs, _, err := packsIn(c.dir)
	if err != nil {
		return nil, err
	}
	if packs > maxPacks {
		if err := c.discard(); err != nil {
			return nil, err
		}
	}
	return openClonedObjects(c.dir, cacheSize)
}

// removeIncoming removes the temporary files of interrupted transfers.
func removeIncoming(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, incoming+"*"))
	if err != nil {
		return fmt.Errorf("list files of clone: %w", err)
	}
	for _, file := range left {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove interrupted transfer: %w", err)
		}
	}
	return nil
}

// openClonedObjects opens the clone in dir, or creates it.
func openClonedObjects(dir string, size cache.FileSize) (*objectStore, error) {
	s := openObjects(osfs.New(dir), size)
	if err := s.Init(); err != nil {
		return nil, errors.Join(fmt.Errorf("create clone: %w", err), s.Close())
	}
	return s, nil
}

// packsIn returns the number of packs of a clone, and their size in bytes.
func packsIn(dir string) (count int, size int64, err error) {
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	if err != nil {
		return 0, 0, fmt.Errorf("list files of clone: %w", err)
	}
	for _, pack := range packs {
		if info, err := os.Stat(pack); err == nil {
			size += info.Size()
		}
	}
	return len(packs), size, nil
}

func (c *clone) discard() error {
	if err := os.RemoveAll(c.dir); err != nil {
		return fmt.Errorf("remove clone: %w", err)
	}
	return nil
}
