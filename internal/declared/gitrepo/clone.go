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

// A clone is driftd's own bare copy of a repository, held by one reader at a time.
// Without a cache folder it is made for one reading, and removed after it.
type clone struct {
	dir    string
	unlock func() error
}

// maxPacks bounds how many fetches a clone collects before it is made anew: nothing
// repacks it.
const maxPacks = 100

// cacheSize bounds how much of a clone is kept in memory while it is read.
const cacheSize = 16 * cache.MiByte

// openClone returns the clone of a URL, which carries no credentials.
func openClone(ctx context.Context, cacheDir, url string) (*clone, error) {
	if cacheDir == "" {
		dir, err := os.MkdirTemp("", "driftd-clone-")
		if err != nil {
			return nil, fmt.Errorf("make clone of %s: %w", url, err)
		}
		return &clone{dir: filepath.Join(dir, "clone.git"), unlock: func() error { return os.RemoveAll(dir) }}, nil
	}
	if err := os.MkdirAll(cacheDir, 0o700); err != nil {
		return nil, fmt.Errorf("make clone of %s: %w", url, err)
	}
	hash := sha256.Sum256([]byte(url))
	c := &clone{dir: filepath.Join(cacheDir, hex.EncodeToString(hash[:12])+".git")}
	var err error
	if c.unlock, err = lock(ctx, c.dir+".lock"); err != nil {
		return nil, fmt.Errorf("wait for clone of %s: %w", url, err)
	}
	return c, nil
}

// open opens the clone, or makes it. The caller closes it.
func (c *clone) open() (*objectStore, error) {
	if err := sweep(c.dir); err != nil {
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

// sweep removes what interrupted transfers left behind.
func sweep(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, incoming+"*"))
	if err != nil {
		return fmt.Errorf("look into clone: %w", err)
	}
	for _, file := range left {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove interrupted transfer: %w", err)
		}
	}
	return nil
}

// openClonedObjects opens a clone, or makes it.
func openClonedObjects(dir string, size cache.FileSize) (*objectStore, error) {
	s := openObjects(osfs.New(dir), size)
	if err := s.Init(); err != nil {
		return nil, errors.Join(fmt.Errorf("make clone: %w", err), s.Close())
	}
	return s, nil
}

// packsIn returns the number of packs of a clone, and their size in bytes.
func packsIn(dir string) (count int, size int64, err error) {
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	if err != nil {
		return 0, 0, fmt.Errorf("look into clone: %w", err)
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
