package manifests

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/declared/folder"
	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// A tree contains the files that a declaration can refer to: those of a commit, of the git
// work tree of a folder, or of a folder.
type tree struct {
	place

	// files contains them by slash-separated path. It does not lead outside.
	files fs.FS
	// kustomize contains the same files below mountPoint.
	kustomize mountedFS
	// where is the name of the tree in messages.
	where string
	// top is the folder of the disk that contains the files, or "".
	top string
	// isRef reports whether a ref names the state of the files; nil for an old commit.
	isRef func(ref string) bool
	// revision is the commit, or "", and revised its time.
	revision string
	revised  time.Time
	// pinned is revised if the default branch is at another commit; zero otherwise.
	pinned time.Time
	// others has what is read from other repositories; nil if none are.
	others *otherBuilds
	// touches returns the last commits that changed files, by path from the top of the tree.
	touches gitrepo.TouchesFunc
	close   func() error
}

// A place is the location of the declared files in a tree, and the form of their addresses.
type place struct {
	// Root is the path of the declared folder or file.
	Root string
	// Base is the folder to which addresses are relative. Prefix is prepended to them.
	Base, Prefix string
	// Single is the address of a declared single file if it is configured, or "".
	Single string
	// Outside is why a file outside of the tree is not read.
	Outside string
	// Repository is the URL of the repository if it is not that of the declaration. Addresses begin
	// with it.
	Repository string
}

// tree returns the tree of files that contains the place. Kustomize reads no file of more than
// limit bytes.
func (p place) tree(files fs.FS, limit int64) *tree {
	return &tree{place: p, files: files, kustomize: newMountedFS(files, limit, p.Outside)}
}

// withFiles returns the tree with files instead of its own. Reading them fails when ctx has
// ended, so that reading many small files ends too.
func (t *tree) withFiles(ctx context.Context, files fs.FS, limit int64) *tree {
	other := *t
	other.files = endingFS{files, ctx}
	other.kustomize = newMountedFS(other.files, limit, t.Outside)
	return &other
}

// An endingFS returns an error once its context has ended.
type endingFS struct {
	files fs.FS
	ctx   context.Context //nolint:containedctx // the methods of fs.FS take none
}

func (e endingFS) ended(op, name string) error {
	if err := e.ctx.Err(); err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// Open implements fs.FS.
func (e endingFS) Open(name string) (fs.File, error) {
	if err := e.ended("open", name); err != nil {
		return nil, err
	}
	return e.files.Open(name)
}

// Stat implements fs.StatFS.
func (e endingFS) Stat(name string) (fs.FileInfo, error) {
	if err := e.ended("stat", name); err != nil {
		return nil, err
	}
	return fs.Stat(e.files, name)
}

// ReadDir implements fs.ReadDirFS.
func (e endingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := e.ended("readdir", name); err != nil {
		return nil, err
	}
	return fs.ReadDir(e.files, name)
}

// openFolder returns the tree of a folder or a single file: its git work tree, or the folder
// itself if it is in none. Addresses begin with label, if it is not empty. Kustomize reads no
// file of more than limit bytes.
func openFolder(dir, label string, limit int64) (_ *tree, top string, err error) {
	resolved, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("read manifests: %s does not exist: check the path", dir)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read manifests: %w", err)
	}
	if resolved, err = filepath.Abs(resolved); err != nil {
		return nil, "", fmt.Errorf("read manifests: %w", err)
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return nil, "", fmt.Errorf("read manifests: %w", err)
	}
	base, prefix := resolved, filepath.Base(dir)
	if !info.IsDir() {
		base, prefix = filepath.Dir(resolved), filepath.Base(filepath.Dir(dir))
	}
	top, isRepository := workTreeOf(base)
	p := place{Root: relative(top, resolved), Base: relative(top, base), Prefix: strings.Trim(filepath.ToSlash(prefix), "/."), Outside: outsideFolder}
	if isRepository {
		p.Outside = outsideRepository
	}
	switch {
	case label == "":
	case info.IsDir():
		p.Prefix = label
	default:
		p.Single = label
	}
	files, err := folder.Open(top)
	if err != nil {
		return nil, "", fmt.Errorf("read manifests: %w", err)
	}
	t := p.tree(files, limit)
	t.where, t.close = dir, files.Close
	return t, top, nil
}

// workTreeOf returns the top of the git work tree that contains dir, or dir if it is in none.
func workTreeOf(dir string) (top string, found bool) {
	for top := dir; ; top = filepath.Dir(top) {
		if _, err := os.Stat(filepath.Join(top, ".git")); err == nil {
			return top, true
		}
		if top == filepath.Dir(top) {
			return dir, false
		}
	}
}

// relative returns the slash-separated path of name relative to top.
func relative(top, name string) string {
	rel, err := filepath.Rel(top, name)
	if err != nil {
		return "."
	}
	return filepath.ToSlash(rel)
}

// address returns the address of a file in messages, by its path within the tree.
func (p place) address(name string) string {
	switch {
	case isForeign(name):
		return name
	case p.Repository != "" && path.Clean(name) == ".":
		return p.Repository
	case p.Repository != "":
		return p.file(name)
	case p.Single != "" && name == p.Root:
		return p.Single
	}
	return path.Join(p.Prefix, relative(p.Base, name))
}

// withAddresses replaces the paths of files in text by their addresses.
func (p place) withAddresses(text string) string {
	for _, dir := range []string{p.Base, "."} {
		text = strings.ReplaceAll(text, path.Join(mountPoint, dir)+"/", strings.TrimSuffix(p.address(path.Join(dir, "-")), "-"))
	}
	return text
}

// readFile returns the content of a file of at most limit bytes.
func (t *tree) readFile(name string, limit int64) ([]byte, error) {
	return readFile(t.files, name, limit)
}

func readFile(files fs.FS, name string, limit int64) ([]byte, error) {
	content, err := bounded.ReadFile(files, name, limit)
	if errors.Is(err, bounded.ErrTooLarge) {
		err = fmt.Errorf("larger than %d bytes; raise max_file_size or exclude it", limit)
	}
	return content, err
}

// submodule returns the git submodule that a path is in, or that it names; "" if there is none.
func (t *tree) submodule(name string) string {
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		if info, err := fs.Stat(t.files, name[:i]); err == nil && info.Mode()&fs.ModeIrregular != 0 {
			return name[:i]
		}
	}
	return ""
}
