package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
	"github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/driftd/driftd/internal/declared/folder"
)

// Bounds of a folder that is compared with the last commit: its files and folders, the bytes of a file of patterns, and the bytes of a
// file of which line ends are compared.
const (
	maxWorkFiles  = 1_000_000
	maxIgnoreFile = 1 << 20
	maxLineEnds   = 16 << 20
)

// A changeReader lists the files of a folder that differ from a commit.
type changeReader struct {
	ctx context.Context //nolint:containedctx // a reader lives for one call
	// top is the top folder of the work tree, and dir the path of the folder in it.
	top, dir   string
	files      *FS
	isDeclared func(name string) bool
	// changed and tracked are the results. seen counts files and folders.
	changed, tracked map[string]bool
	seen             int
}

func (c *changeReader) read(s *objectStore) error {
	c.changed, c.tracked = map[string]bool{}, map[string]bool{}
	found, err := s.Index()
	if err != nil {
		return fmt.Errorf("read the index: %w", err)
	}
	committed := map[string]plumbing.Hash{}
	if err := c.committed(".", c.files.root, committed); err != nil {
		return err
	}
	for _, e := range found.Entries {
		if !c.isInside(e.Name) || !fs.ValidPath(e.Name) {
			continue
		}
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		c.tracked[e.Name] = true
		hash, isCommitted := committed[e.Name]
		delete(committed, e.Name)
		if e.Mode == filemode.Submodule {
			continue
		}
		// An entry with a stage is in conflict.
		if e.Stage != 0 || !isCommitted || hash != e.Hash || !c.isSame(e, found) {
			c.changed[e.Name] = true
		}
	}
	for name := range committed { // removed from the index
		c.changed[name] = true
	}
	return c.untracked()
}

func (c *changeReader) isInside(name string) bool {
	return c.dir == "." || name == c.dir || strings.HasPrefix(name, c.dir+"/")
}

// committed adds the files of a folder of the commit that are inside of the folder that is compared.
func (c *changeReader) committed(dir string, hash plumbing.Hash, into map[string]plumbing.Hash) error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	if strings.Count(dir, "/") >= maxDepth {
		return fmt.Errorf("%w: more than %d nested folders", errTooLarge, maxDepth)
	}
	c.files.mu.Lock()
	entries, err := c.files.folder(hash)
	c.files.mu.Unlock()
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		if c.seen++; c.seen > maxWorkFiles {
			return fmt.Errorf("%w: more than %d files and folders", errTooLarge, maxWorkFiles)
		}
		switch {
		case e.Mode == filemode.Dir && (c.isInside(name) || strings.HasPrefix(c.dir, name+"/")):
			if err := c.committed(name, e.Hash, into); err != nil {
				return err
			}
		case e.Mode != filemode.Dir && c.isInside(name):
			into[name] = e.Hash
		}
	}
	return nil
}

// isSame reports whether a file of the work tree is the one of the index, also with other line ends. A file that cannot be read is not.
// Of a file that a filter of git changes, such as one in LFS, the content is not compared.
func (c *changeReader) isSame(e *index.Entry, in *index.Index) bool {
	name := filepath.Join(c.top, filepath.FromSlash(e.Name))
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return e.SkipWorktree
	case err != nil:
		return false
	case e.Mode == filemode.Symlink:
		to, err := os.Readlink(name)
		return err == nil && plumbing.ComputeHash(plumbing.BlobObject, []byte(filepath.ToSlash(to))) == e.Hash
	case !info.Mode().IsRegular():
		return false
	}
	// A file that was written after the index may have the same size and time as before.
	if info.Size() == int64(e.Size) && info.ModTime().Equal(e.ModifiedAt) && info.ModTime().Before(in.ModTime) {
		return true
	}
	if found, err := blobHash(name, info.Size()); err == nil && found == e.Hash {
		return true
	}
	return c.isFiltered(e.Hash) || hasLineEnds(name, e.Hash)
}

// hasLineEnds reports whether a file is an object with CR LF at the ends of its lines.
func hasLineEnds(name string, hash plumbing.Hash) bool {
	text, err := folder.ReadBounded(name, maxLineEnds)
	if err != nil || !bytes.Contains(text, []byte("\r\n")) {
		return false
	}
	return plumbing.ComputeHash(plumbing.BlobObject, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))) == hash
}

// isFiltered reports whether an object is not the content of its file: the pointer of a file in LFS, or a file of git-crypt.
func (c *changeReader) isFiltered(hash plumbing.Hash) bool {
	r, err := c.files.blob(hash)
	if err != nil {
		return false
	}
	defer func() { _ = r.Close() }() // It was only read.
	const lfs, crypt = "version https://git-lfs.", "\x00GITCRYPT"
	start := make([]byte, len(lfs))
	n, _ := io.ReadFull(r, start)
	return bytes.HasPrefix(start[:n], []byte(lfs)) || bytes.HasPrefix(start[:n], []byte(crypt))
}

// untracked adds the declared files that the repository neither tracks nor ignores.
func (c *changeReader) untracked() error {
	patterns := c.patterns(filepath.Join(".git", "info", "exclude"), nil)
	var domain []string
	if c.dir != "." {
		for name := range strings.SplitSeq(path.Dir(c.dir), "/") {
			patterns = append(patterns, c.patterns(filepath.Join(append(domain, ".gitignore")...), domain)...)
			if name != "." {
				domain = append(domain, name)
			}
		}
		patterns = append(patterns, c.patterns(filepath.Join(append(domain, ".gitignore")...), domain)...)
	}
	info, err := os.Lstat(filepath.Join(c.top, filepath.FromSlash(c.dir)))
	if err != nil {
		return err
	}
	return c.walk(c.dir, fs.FileInfoToDirEntry(info), patterns)
}

// patterns returns those of a file; none if it cannot be read.
func (c *changeReader) patterns(file string, domain []string) []gitignore.Pattern {
	text, err := folder.ReadBounded(filepath.Join(c.top, file), maxIgnoreFile)
	if err != nil {
		return nil
	}
	var found []gitignore.Pattern
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			found = append(found, gitignore.ParsePattern(line, domain))
		}
	}
	return found
}

func (c *changeReader) walk(name string, e fs.DirEntry, patterns []gitignore.Pattern) error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	if c.seen++; c.seen > maxWorkFiles {
		return fmt.Errorf("%w: more than %d files and folders", errTooLarge, maxWorkFiles)
	}
	if isGit(path.Base(name)) || name != "." && !c.tracked[name] && gitignore.NewMatcher(patterns).Match(strings.Split(name, "/"), e.IsDir()) {
		return nil
	}
	if e.IsDir() {
		return c.walkFolder(name, patterns)
	}
	if !c.tracked[name] && e.Type().IsRegular() && c.isDeclared(path.Base(name)) {
		c.changed[name] = true
	}
	return nil
}

func (c *changeReader) walkFolder(name string, patterns []gitignore.Pattern) error {
	full := filepath.Join(c.top, filepath.FromSlash(name))
	var segments []string
	if name != "." {
		segments = strings.Split(name, "/")
		if _, err := os.Lstat(filepath.Join(full, ".git")); err == nil {
			return nil // another repository
		}
	}
	if len(segments) >= maxDepth {
		return fmt.Errorf("%w: more than %d nested folders", errTooLarge, maxDepth)
	}
	entries, err := os.ReadDir(full)
	if err != nil {
		return nil //nolint:nilerr // what is in a folder that cannot be read is not known to be declared
	}
	patterns = append(patterns[:len(patterns):len(patterns)], c.patterns(filepath.Join(filepath.FromSlash(name), ".gitignore"), segments)...)
	for _, below := range entries {
		if err := c.walk(path.Join(name, below.Name()), below, patterns); err != nil {
			return err
		}
	}
	return nil
}
