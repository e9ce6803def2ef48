package gitrepo

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/memory"
)

// errDamaged reports that a clone lacks objects that it should have.
var errDamaged = errors.New("git objects cannot be read")

// ErrLeftOut is returned for a file that was not fetched into the clone because of its size.
var ErrLeftOut = errors.New("file was not fetched")

var errLeadsOut = errors.New("symbolic link leads out of the repository")

// An FS is a file system of the files of a commit. It reads objects on demand. It is safe for concurrent
// use.
type FS struct {
	*objectReader

	root plumbing.Hash
	when time.Time
}

// An objectReader reads the objects of a repository for one FS, or for several that share it.
// The mutex guards the other fields.
type objectReader struct {
	mu      sync.Mutex
	objects storer.EncodedObjectStorer
	folders map[plumbing.Hash]map[string]object.TreeEntry
	// cached is the number of entries in folders.
	cached int
	// leftOut is the size in bytes from which files were not fetched; 0 if all were fetched.
	leftOut int64
	broken  error
}

// maxCached bounds the tree entries that an objectReader keeps in memory.
const maxCached = 300_000

func newObjectReader(s storer.EncodedObjectStorer) *objectReader {
	return &objectReader{objects: s, folders: map[plumbing.Hash]map[string]object.TreeEntry{}}
}

// close makes every later read fail, also in goroutines that still run.
func (o *objectReader) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.objects = memory.NewStorage()
	clear(o.folders)
}

func newFS(s storer.EncodedObjectStorer, commit *object.Commit) *FS {
	return newObjectReader(s).files(commit)
}

func (o *objectReader) files(commit *object.Commit) *FS {
	return &FS{objectReader: o, root: commit.TreeHash, when: commit.Committer.When}
}

// damage returns the first errDamaged of the objects read so far, or nil.
func (c *FS) damage() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}

// Open implements fs.FS.
func (c *FS) Open(name string) (fs.File, error) {
	e, err := c.lookup("open", name)
	if err != nil {
		return nil, err
	}
	if e.mode.IsDir() {
		entries, err := c.ReadDir(name)
		return &openFolderFile{info: e, entries: entries}, err
	}
	if e.mode&fs.ModeIrregular != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("a submodule")}
	}
	content, err := c.blob(e.hash)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &openFile{ReadCloser: content, info: e}, nil
}

// ID returns an identifier of the content of a file or folder. It follows symbolic links, and does not read
// the content. Files with the same ID are equal. Folders with the same ID are equal, except that symbolic
// links in them may lead to different targets.
func (c *FS) ID(name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: "id", Path: name, Err: fs.ErrInvalid}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	hops := 0
	e, err := c.find(name, &hops)
	if err != nil {
		return "", &fs.PathError{Op: "id", Path: name, Err: err}
	}
	kind := "file "
	if e.mode.IsDir() {
		kind = "folder "
	} else if e.mode&fs.ModeIrregular != 0 {
		kind = "submodule "
	}
	return kind + string(e.hash[:]), nil
}

// Stat implements fs.StatFS. It follows symbolic links.
func (c *FS) Stat(name string) (fs.FileInfo, error) { return c.lookup("stat", name) }

// ReadDir implements fs.ReadDirFS.
func (c *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	e, err := c.lookup("readdir", name)
	if err != nil {
		return nil, err
	}
	if !e.mode.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("not a folder")}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	folder, err := c.folder(e.hash)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	entries := make([]fs.DirEntry, 0, len(folder))
	for _, child := range folder {
		entries = append(entries, dirEntry{c, c.entry(path.Join(e.path, child.Name), child)})
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// lookup returns the entry of a path, symbolic links followed, with its size.
func (c *FS) lookup(op, name string) (*entry, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	hops := 0
	e, err := c.find(name, &hops)
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	e.name = path.Base(name)
	if !e.mode.IsRegular() {
		return e, nil
	}
	if e.size, err = c.objects.EncodedObjectSize(e.hash); err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: c.unreadable(e.hash, err)}
	}
	return e, nil
}

// maxHops bounds how many symbolic links one path may pass.
const maxHops = 40

func (c *FS) find(name string, hops *int) (*entry, error) {
	if strings.Count(name, "/") >= maxDepth {
		return nil, fmt.Errorf("%w: more than %d nested folders", errTooLarge, maxDepth)
	}
	if name == "." {
		return &entry{name: ".", path: ".", hash: c.root, mode: fs.ModeDir | 0o555, when: c.when}, nil
	}
	parent, err := c.find(path.Dir(name), hops)
	if err != nil {
		return nil, err
	}
	if !parent.mode.IsDir() {
		return nil, fs.ErrNotExist
	}
	folder, err := c.folder(parent.hash)
	if err != nil {
		return nil, err
	}
	child, ok := folder[path.Base(name)]
	if !ok {
		return nil, fs.ErrNotExist
	}
	e := c.entry(path.Join(parent.path, child.Name), child)
	if e.mode&fs.ModeSymlink == 0 {
		return e, nil
	}
	if *hops++; *hops > maxHops {
		return nil, errors.New("too many symbolic links")
	}
	to, err := c.linked(e)
	if err != nil {
		return nil, err
	}
	return c.find(to, hops)
}

// linked returns the path of the target of the symbolic link.
func (c *FS) linked(link *entry) (string, error) {
	content, err := c.openBlob(link.hash)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(content, maxLink+1))
	if err = errors.Join(err, content.Close()); err != nil {
		return "", c.damaged(link.hash, err)
	}
	if len(text) > maxLink {
		return "", fmt.Errorf("%w: target of a symbolic link of more than %d bytes", errTooLarge, maxLink)
	}
	to := path.Join(path.Dir(link.path), string(text))
	if path.IsAbs(string(text)) || !fs.ValidPath(to) {
		return "", errLeadsOut
	}
	return to, nil
}

// target returns the target of the symbolic link at name, relative to its folder.
func (c *FS) target(name string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hops := 0
	parent, err := c.find(path.Dir(name), &hops)
	if err != nil {
		return "", err
	}
	folder, err := c.folder(parent.hash)
	if err != nil {
		return "", err
	}
	child, there := folder[path.Base(name)]
	if !there {
		return "", fs.ErrNotExist
	}
	to, err := c.linked(c.entry(name, child))
	if err != nil {
		return "", err
	}
	return filepath.Rel(path.Dir(name), to)
}

// folder returns the entries of a tree object by name, without names that are invalid in a
// file system.
func (c *FS) folder(hash plumbing.Hash) (map[string]object.TreeEntry, error) {
	if folder, ok := c.folders[hash]; ok {
		return folder, nil
	}
	tree, err := object.GetTree(c.objects, hash)
	if err != nil {
		return nil, c.damaged(hash, err)
	}
	if len(tree.Entries) > maxEntries {
		return nil, fmt.Errorf("%w: folder with %d entries, more than %d", errTooLarge, len(tree.Entries), maxEntries)
	}
	folder := make(map[string]object.TreeEntry, len(tree.Entries))
	for _, e := range tree.Entries {
		if fs.ValidPath(e.Name) && e.Name != "." && !strings.Contains(e.Name, "/") {
			folder[e.Name] = e
		}
	}
	if c.cached += len(folder); c.cached > maxCached {
		clear(c.folders)
		c.cached = len(folder)
	}
	c.folders[hash] = folder
	return folder, nil
}

func (c *FS) entry(name string, t object.TreeEntry) *entry {
	e := &entry{name: t.Name, path: name, hash: t.Hash, mode: 0o444, when: c.when}
	switch t.Mode {
	case filemode.Dir:
		e.mode = fs.ModeDir | 0o555
	case filemode.Symlink:
		e.mode |= fs.ModeSymlink
	case filemode.Submodule:
		e.mode |= fs.ModeIrregular
	}
	return e
}

func (c *FS) blob(hash plumbing.Hash) (io.ReadCloser, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.openBlob(hash)
}

func (c *FS) openBlob(hash plumbing.Hash) (io.ReadCloser, error) {
	blob, err := object.GetBlob(c.objects, hash)
	if err != nil {
		return nil, c.unreadable(hash, err)
	}
	r, err := blob.Reader()
	if err != nil {
		return nil, c.damaged(hash, err)
	}
	return &content{r}, nil
}

// A content reads a blob. After Close, Read returns fs.ErrClosed: go-git reuses its
// readers.
type content struct{ of io.ReadCloser }

// Read implements io.Reader.
func (c *content) Read(p []byte) (int, error) {
	if c.of == nil {
		return 0, fs.ErrClosed
	}
	return c.of.Read(p)
}

// Close implements io.Closer.
func (c *content) Close() error {
	if c.of == nil {
		return fs.ErrClosed
	}
	of := c.of
	c.of = nil
	return of.Close()
}

// unreadable returns why a file's object cannot be read: it was not fetched for
// its size, or the repository is damaged.
func (c *FS) unreadable(hash plumbing.Hash, err error) error {
	if c.leftOut > 0 && errors.Is(err, plumbing.ErrObjectNotFound) {
		return fmt.Errorf("%w: it has %d bytes or more", ErrLeftOut, c.leftOut)
	}
	return c.damaged(hash, err)
}

// damaged records that an object cannot be read, unless it is too large.
func (c *FS) damaged(hash plumbing.Hash, err error) error {
	err = damage("object", hash, err)
	if c.broken == nil && errors.Is(err, errDamaged) {
		c.broken = err
	}
	return err
}
