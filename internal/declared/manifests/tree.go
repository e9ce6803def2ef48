package manifests

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// A tree is the files that a declaration may speak of.
type tree struct {
	// files holds them, by slash-separated path. It never leads outside.
	files fs.FS
	// root is the path, within files, of the declared folder or file.
	root string
	// top is where files lie in their repository, "." at its top.
	top string
	// prefix stands before a path in addresses.
	prefix string
	// single is the address of a declared single file where it has one of its
	// own, or "".
	single string
	// kustomize sees the same files, below mount.
	kustomize filesys.FileSystem
	mount     string
	// where names the tree in messages.
	where string
	// revision is the commit, or "", and revised its time.
	revision string
	revised  time.Time
	// touches tells which commits touched files last, by path from the top of
	// the tree.
	touches func(context.Context, []string) map[string]gitrepo.Touch
	close   func() error
}

// openFolder returns the tree of a folder, or of the folder of a single file.
// Addresses begin with label, if there is one. Kustomize reads no file of more
// than limit bytes.
func openFolder(dir, label string, limit int64) (*tree, error) {
	resolved, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read manifests: %s does not exist: check the path", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	if resolved, err = filepath.Abs(resolved); err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	top, base, root := resolved, filepath.Base(dir), "."
	if !info.IsDir() {
		top, base, root = filepath.Dir(resolved), filepath.Base(filepath.Dir(dir)), filepath.Base(resolved)
	}
	files, err := os.OpenRoot(top)
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	t := &tree{
		files: files.FS(), root: root, top: topOf(top), prefix: strings.Trim(filepath.ToSlash(base), "/."), where: dir,
		kustomize: limitedFS{filesys.MakeFsOnDisk(), limit}, mount: filepath.ToSlash(top), close: files.Close,
	}
	switch {
	case label == "":
	case info.IsDir():
		t.prefix = label
	default:
		t.single = label
	}
	return t, nil
}

// address names a file, by its path within the tree, as people know it.
func (t *tree) address(name string) string {
	if t.single != "" && name == t.root {
		return t.single
	}
	return path.Join(t.prefix, name)
}

// known returns a text in which files are named as in addresses.
func (t *tree) known(text string) string {
	return strings.ReplaceAll(text, t.mount+"/", strings.TrimSuffix(path.Join(t.prefix, "-"), "-"))
}

// readFile returns the content of a file of at most limit bytes.
func (t *tree) readFile(name string, limit int64) (content []byte, err error) {
	f, err := t.files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	content, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(content)) > limit {
		return nil, fmt.Errorf("larger than %d bytes; raise max_file_size or exclude it", limit)
	}
	return content, err
}

// A limitedFS is a disk whose large files cannot be read.
type limitedFS struct {
	filesys.FileSystem
	limit int64
}

// ReadFile implements filesys.FileSystem.
func (l limitedFS) ReadFile(file string) ([]byte, error) {
	if info, err := os.Stat(file); err == nil && info.Size() > l.limit {
		return nil, fmt.Errorf("%s is larger than %d bytes; raise max_file_size", path.Base(file), l.limit)
	}
	return l.FileSystem.ReadFile(file)
}
