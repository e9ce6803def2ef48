package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/driftd/driftd/internal/declared/folder"
)

// A WorkTree tells who touched the files of a folder that is read as it stands,
// where that lies in the work tree of a git repository. It writes to neither.
type WorkTree struct{ history *history }

// NewWorkTree returns what tells that, as far back as is said. It reads nothing
// yet.
func NewWorkTree(back Lookback, log *slog.Logger) *WorkTree {
	return &WorkTree{history: &history{limit: back.Commits, log: log}}
}

// Touches returns the last commit that touched each of the files, named by
// their path within a folder, which is the same one each time. It tells nothing
// of a file that is not what the commit that is checked out has, and nothing of
// a folder that lies in no work tree. What fails is logged.
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

// read returns the touches of files that are as HEAD has them.
func (w *WorkTree) read(ctx context.Context, dir string, names []string) (touches map[string]Touch, err error) {
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("find work tree: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("find work tree: %w", err)
	}
	top := TopOf(dir)
	if top == "" {
		return nil, nil
	}
	s, err := openLocal(top)
	if err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	head, files, err := headOf(s)
	if head == nil || err != nil {
		return nil, err
	}
	within, err := filepath.Rel(top, dir)
	if err != nil {
		return nil, fmt.Errorf("find work tree: %w", err)
	}
	c := checkout{top: top, files: files}
	named := make(map[string]string, len(names))
	var committed []string
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, nil // whoever waits has gone; that is no fault of the history
		}
		if path := filepath.ToSlash(filepath.Join(within, filepath.FromSlash(name))); c.unchanged(path) {
			named[name] = path
			committed = append(committed, path)
		}
	}
	found := w.history.touches(ctx, head, files, committed, lookupLocal(top, head, w.history.limit))
	touches = make(map[string]Touch, len(found))
	for name, path := range named {
		if t, known := found[path]; known {
			touches[name] = t
		}
	}
	return touches, nil
}

// TopOf returns the top of the git work tree that a folder lies in, or "".
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

// headOf returns the commit that is checked out, and its files; nil where
// nothing was committed yet.
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

// A checkout is a work tree beside the commit that it was checked out of.
type checkout struct {
	top   string
	files *FS
}

// unchanged tells whether a file is there as it was committed, and where.
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

// blobHash returns the hash that a file of so many bytes has as a git object.
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
