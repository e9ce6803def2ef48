package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/driftd/driftd/internal/declared/folder"
)

// A WorkTree finds the last commits that changed files in the work tree of a git repository. It does not
// modify the work tree or the repository.
type WorkTree struct{ history *history }

// NewWorkTree returns a WorkTree that reads at most back.Commits commits. It does not read anything itself.
func NewWorkTree(back Lookback, log *slog.Logger) *WorkTree {
	return &WorkTree{history: &history{limit: back.Commits, log: log}}
}

// Touches returns the last commit that changed each of the named files, by name. names are paths in the
// folder dir, which must be in the same work tree at each call. A file that differs from its version at
// HEAD is absent from the map. The map is empty if dir is not in a work tree. Touches logs failures.
func (w *WorkTree) Touches(ctx context.Context, dir string, names []string) map[string]Touch {
	if w.history.limit <= 0 || len(names) == 0 {
		return nil
	}
	touches, err := w.read(ctx, dir, names)
	if err != nil {
		w.history.mu.Lock()
		defer w.history.mu.Unlock()
		w.history.fail(ctx, err)
	}
	return touches
}

// read returns the touches of the files that are equal to those at HEAD.
func (w *WorkTree) read(ctx context.Context, dir string, names []string) (touches map[string]Touch, err error) {
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("find work tree: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("find work tree: %w", err)
	}
	head, err := openHead(dir)
	if head == nil || err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, head.store.Close()) }()
	c := checkout{top: head.top, files: head.files}
	named := make(map[string]string, len(names))
	var committed []string
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, nil // The caller canceled: no failure of the history.
		}
		if at := filepath.ToSlash(filepath.Join(head.within, filepath.FromSlash(name))); c.unchanged(at) {
			named[name] = at
			committed = append(committed, at)
		}
	}
	found := w.history.touches(ctx, head.commit, head.files, committed, lookupLocal(head.top, head.commit, w.history.limit))
	touches = make(map[string]Touch, len(found))
	for name, path := range named {
		if t, known := found[path]; known {
			touches[name] = t
		}
	}
	return touches, nil
}

// TopOf returns the top folder of the git work tree that contains dir, or "" if there is none.
func TopOf(dir string) string {
	for {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
}

// A localHead is the commit at the HEAD of the work tree that contains a folder.
type localHead struct {
	store  *objectStore
	commit *object.Commit
	files  *FS
	// top is the top folder of the work tree, and within the path of the folder in it.
	top, within string
}

// openHead opens the work tree that contains a folder. It returns nil if there is none, or no commit.
// Otherwise, the caller closes the store.
func openHead(dir string) (_ *localHead, err error) {
	h := localHead{top: TopOf(dir)}
	if h.top == "" {
		return nil, nil
	}
	if h.within, err = filepath.Rel(h.top, dir); err != nil {
		return nil, fmt.Errorf("find work tree: %w", err)
	}
	if h.store, err = openLocal(h.top); err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	if h.commit, h.files, err = headOf(h.store); h.commit == nil || err != nil {
		return nil, errors.Join(err, h.store.Close())
	}
	return &h, nil
}

// headOf returns the commit at HEAD and its files. It returns nil if there is no commit yet.
func headOf(s *objectStore) (*object.Commit, *FS, error) {
	refs, err := localRefs(s)
	if err != nil || refs.head.IsZero() {
		return nil, nil, err
	}
	head, err := commitOf(s, refs.head)
	if err != nil {
		return nil, nil, fmt.Errorf("read HEAD: %w", err)
	}
	return head, newFS(s, head), nil
}

// A checkout is a work tree and the files of its commit.
type checkout struct {
	top   string
	files *FS
}

// unchanged reports whether the file name is regular and equal to the committed file.
func (c checkout) unchanged(name string) bool {
	if !fs.ValidPath(name) {
		return false
	}
	committed, err := c.files.lookup("stat", name)
	if err != nil || !committed.mode.IsRegular() {
		return false
	}
	file, err := filepath.EvalSymlinks(filepath.Join(c.top, filepath.FromSlash(name)))
	if err != nil || file != filepath.Join(c.top, filepath.FromSlash(committed.path)) {
		return false
	}
	found, err := blobHash(file, committed.size)
	return err == nil && found == committed.hash
}

// sameLink reports whether the file name is a symbolic link to a folder of the work tree, and equal
// to the committed link.
func (c checkout) sameLink(name string) bool {
	file := filepath.Join(c.top, filepath.FromSlash(name))
	to, err := os.Readlink(file)
	if err != nil || !fs.ValidPath(name) {
		return false
	}
	siblings, err := c.files.ReadDir(path.Dir(name))
	if err != nil || !slices.ContainsFunc(siblings, func(e fs.DirEntry) bool {
		return e.Name() == path.Base(name) && e.Type()&fs.ModeSymlink != 0
	}) {
		return false
	}
	committed, err := c.files.target(name)
	if err != nil || committed != filepath.Clean(to) {
		return false
	}
	place, err := filepath.EvalSymlinks(file)
	if err != nil || place != c.top && !strings.HasPrefix(place, c.top+string(filepath.Separator)) {
		return false
	}
	info, err := os.Stat(place)
	return err == nil && info.IsDir()
}

// blobHash returns the git object hash of the file name. If the file is not regular, or its
// size is not size, the hash is zero.
func blobHash(name string, size int64) (_ plumbing.Hash, err error) {
	info, err := os.Lstat(name)
	if err != nil || info.Size() != size || !info.Mode().IsRegular() {
		return plumbing.ZeroHash, err
	}
	f, err := folder.OpenFile(name)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := plumbing.NewHasher(plumbing.BlobObject, size)
	if _, err := io.Copy(h, io.LimitReader(f, size)); err != nil {
		return plumbing.ZeroHash, err
	}
	return h.Sum(), nil
}
