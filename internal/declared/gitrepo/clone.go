package gitrepo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/memory"
)

// A clone is driftd's own bare copy of a repository, held by one reader at a
// time. Without a folder it lives in memory.
type clone struct {
	dir    string
	unlock func() error
}

// maxPacks bounds how many fetches a clone collects before it is made anew:
// nobody repacks it.
const maxPacks = 100

// cacheSize bounds how much of a clone is kept in memory while it is read.
const cacheSize = 16 * cache.MiByte

// openClone returns the clone of a URL, which carries no credentials.
func openClone(ctx context.Context, cacheDir, url string) (*clone, error) {
	if cacheDir == "" {
		return &clone{unlock: func() error { return nil }}, nil
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

func (c *clone) open() (storage.Storer, error) {
	if c.dir == "" {
		return memory.NewStorage(), nil
	}
	packs, err := filepath.Glob(filepath.Join(c.dir, "objects", "pack", "*.pack"))
	if err != nil {
		return nil, fmt.Errorf("look into clone: %w", err)
	}
	if len(packs) > maxPacks {
		if err := c.discard(); err != nil {
			return nil, err
		}
	}
	s := filesystem.NewStorage(osfs.New(c.dir), cache.NewObjectLRU(cacheSize))
	if err := s.Init(); err != nil {
		return nil, fmt.Errorf("make clone: %w", err)
	}
	return s, nil
}

func (c *clone) discard() error {
	if c.dir == "" {
		return nil
	}
	if err := os.RemoveAll(c.dir); err != nil {
		return fmt.Errorf("remove clone: %w", err)
	}
	return nil
}
