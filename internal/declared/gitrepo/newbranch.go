package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// A NewBranch describes a branch with one commit, which changes or adds one file.
type NewBranch struct {
	// Name is the name of the branch. It must not exist.
	Name    string
	Message string
	// Dir is a folder or file in the work tree of the repository.
	Dir string
	// Parent is the hash of the parent commit, which the repository must have. "" means HEAD.
	Parent string
	// Head is the hash that HEAD must still have if Parent is "". It is the commit with which the change
	// was verified. If Head is "", any commit is accepted.
	Head string
	// Checked are the files and folders with which the change was verified, as paths from the top of the
	// work tree. If Parent is "", they must not differ from HEAD. Reads selects the files in them that
	// count, by absolute path; nil selects all. Outside returns a file outside of the work tree with which
	// the change was verified, or "". It may be nil.
	Checked []string
	Reads   func(file string) bool
	Outside func(folder string) string
	// File is the file to change, as a path from the top of the repository. Content is its new content. If
	// Added is set, the file must not exist; otherwise it must exist.
	File    string
	Content []byte
	Added   bool
}

// Create creates the commit and the branch in the repository whose work tree contains Dir, and returns the
// hash of the commit. It does not change the work tree, the index, or HEAD; it runs no hooks, and pushes
// nothing.
func (b NewBranch) Create(now time.Time) (hash string, err error) {
	dir, err := realPath(b.Dir)
	if err != nil {
		return "", err
	}
	top := TopOf(dir)
	switch {
	case top == "" && b.Parent != "":
		return "", fmt.Errorf("the folder %s is in no git repository: run it in a clone that has commit %.12s", dir, b.Parent)
	case top == "":
		return "", fmt.Errorf("%s is in no git repository", b.Dir)
	}
	if b.Parent == "" {
		if err := b.check(top); err != nil {
			return "", err
		}
	}
	repository, err := git.PlainOpenWithOptions(top, &git.PlainOpenOptions{EnableDotGitCommonDir: true})
	if err != nil {
		return "", fmt.Errorf("open repository %s: %w", top, err)
	}
	return b.commit(repository, now)
}

// HasCommit reports whether the repository with the work tree top contains the commit hash. It returns
// false if the repository cannot be read.
func HasCommit(top, hash string) bool {
	repository, err := git.PlainOpenWithOptions(top, &git.PlainOpenOptions{EnableDotGitCommonDir: true})
	if err != nil {
		return false
	}
	_, err = repository.CommitObject(plumbing.NewHash(hash))
	return err == nil
}

func realPath(name string) (string, error) {
	resolved, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", fmt.Errorf("find work tree: %w", err)
	}
	return filepath.Abs(resolved)
}

// check returns an error if the checked files are not as at HEAD.
func (b NewBranch) check(top string) (err error) {
	s, err := openLocal(top)
	if err != nil {
		return fmt.Errorf("open repository: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	head, files, err := headOf(s)
	if err != nil {
		return err
	}
	if head == nil {
		return fmt.Errorf("%s has no commit", top)
	}
	if b.Head != "" && head.Hash.String() != b.Head {
		return errors.New("HEAD is another commit now: try again")
	}
	if b.Outside != nil {
		if file := b.Outside(top); file != "" {
			return fmt.Errorf("the change was checked with %s, which is not in the repository %s", file, top)
		}
	}
	for _, within := range b.Checked {
		changed, err := b.firstChange(checkout{top: top, files: files}, within)
		switch {
		case err != nil:
			return err
		case changed != "":
			return fmt.Errorf("%s is not as in the last commit: commit it, or put it back", changed)
		}
	}
	return nil
}

// HeadOf returns the hash of the commit at HEAD of the repository whose work tree contains dir. It returns
// "" if there is none or it cannot be read.
func HeadOf(dir string) string {
	dir, err := realPath(dir)
	if err != nil || TopOf(dir) == "" {
		return ""
	}
	s, err := openLocal(TopOf(dir))
	if err != nil {
		return ""
	}
	head, _, err := headOf(s)
	if err = errors.Join(err, s.Close()); err != nil || head == nil {
		return ""
	}
	return head.Hash.String()
}

func relativeTo(top, path string) string {
	name, err := filepath.Rel(top, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(name)
}

// counts reports whether a file must be as at HEAD.
func (b NewBranch) counts(c checkout, name string) bool {
	return b.Reads == nil || b.Reads(filepath.Join(c.top, filepath.FromSlash(name)))
}

// firstChange returns the first file below a path that differs between work tree and HEAD; "" if
// there is none.
func (b NewBranch) firstChange(c checkout, within string) (changed string, err error) {
	err = filepath.WalkDir(filepath.Join(c.top, filepath.FromSlash(within)), func(path string, entry fs.DirEntry, err error) error {
		switch name := relativeTo(c.top, path); {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case !entry.IsDir() && b.counts(c, name) && !c.unchanged(name) && !c.sameLink(name):
			changed = name
			return fs.SkipAll
		}
		return nil
	})
	if err != nil || changed != "" {
		return changed, err
	}
	err = fs.WalkDir(c.files, within, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !b.counts(c, path) {
			return err
		}
		if _, missing := os.Lstat(filepath.Join(c.top, filepath.FromSlash(path))); missing != nil {
			changed = path
			return fs.SkipAll
		}
		return nil
	})
	return changed, err
}

// commit writes the objects and the reference.
func (b NewBranch) commit(repository *git.Repository, now time.Time) (string, error) {
	reference, err := branchReference(repository, b.Name)
	if err != nil {
		return "", err
	}
	parent, err := b.parent(repository)
	if err != nil {
		return "", err
	}
	settings, err := repository.ConfigScoped(config.GlobalScope)
	if err != nil {
		return "", fmt.Errorf("read git configuration: %w", err)
	}
	if settings.User.Name == "" || settings.User.Email == "" {
		return "", errors.New("git does not know the author: set user.name and user.email with git config")
	}
	tree, err := parent.Tree()
	if err != nil {
		return "", fmt.Errorf("read commit: %w", err)
	}
	w := objectWriter{repository, b.Added}
	made, err := w.put(tree, strings.Split(b.File, "/"), b.Content)
	if err != nil {
		return "", err
	}
	author := object.Signature{Name: settings.User.Name, Email: settings.User.Email, When: now}
	hash, err := w.write(&object.Commit{Author: author, Committer: author, Message: b.Message, TreeHash: made, ParentHashes: []plumbing.Hash{parent.Hash}})
	if err != nil {
		return "", err
	}
	if err := createReference(repository, reference, hash); err != nil {
		return "", fmt.Errorf("create branch %s: %w", b.Name, err)
	}
	return hash.String(), nil
}

// parent returns the commit on which the new one is based.
func (b NewBranch) parent(repository *git.Repository) (*object.Commit, error) {
	if b.Parent == "" {
		head, err := repository.Head()
		if err != nil {
			return nil, fmt.Errorf("read HEAD: %w", err)
		}
		return repository.CommitObject(head.Hash())
	}
	commit, err := repository.CommitObject(plumbing.NewHash(b.Parent))
	if err != nil {
		return nil, fmt.Errorf("the repository of %s does not have commit %.12s, which the change was checked with: run it in a clone, after git fetch", b.Dir, b.Parent)
	}
	return commit, nil
}

// An objectWriter writes objects of a repository. It adds a file, or replaces one.
type objectWriter struct {
	*git.Repository
	add bool
}

func (w objectWriter) write(content interface {
	Encode(plumbing.EncodedObject) error
}) (plumbing.Hash, error) {
	encoded := w.Storer.NewEncodedObject()
	if err := content.Encode(encoded); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write commit: %w", err)
	}
	hash, err := w.Storer.SetEncodedObject(encoded)
	if err != nil {
		return hash, fmt.Errorf("write commit: %w", err)
	}
	return hash, nil
}

// put writes a tree in which a file has another content.
func (w objectWriter) put(tree *object.Tree, path []string, content []byte) (plumbing.Hash, error) {
	entries := slices.Clone(tree.Entries)
	i := slices.IndexFunc(entries, func(e object.TreeEntry) bool { return e.Name == path[0] })
	switch {
	case i < 0 && w.add && len(path) == 1:
		entries, i = append(entries, object.TreeEntry{Name: path[0], Mode: filemode.Regular}), len(entries)
	case i < 0:
		return plumbing.ZeroHash, fmt.Errorf("%s is not in the last commit", path[0])
	case len(path) == 1 && w.add:
		return plumbing.ZeroHash, fmt.Errorf("%s is in the last commit already", path[0])
	}
	hash, err := w.entry(entries[i], path, content)
	if err != nil {
		return hash, err
	}
	entries[i].Hash = hash
	slices.SortFunc(entries, func(a, b object.TreeEntry) int { return strings.Compare(sortKey(a), sortKey(b)) })
	return w.write(&object.Tree{Entries: entries})
}

// entry writes the new content of an entry of a tree: that of the file, or a folder with the file.
func (w objectWriter) entry(e object.TreeEntry, path []string, content []byte) (plumbing.Hash, error) {
	switch {
	case len(path) == 1 && (e.Mode == filemode.Regular || e.Mode == filemode.Executable):
		return w.blob(content)
	case len(path) > 1 && e.Mode == filemode.Dir:
		below, err := w.TreeObject(e.Hash)
		if err != nil {
			return plumbing.ZeroHash, fmt.Errorf("read commit: %w", err)
		}
		return w.put(below, path[1:], content)
	}
	return plumbing.ZeroHash, fmt.Errorf("%s is no ordinary file in the last commit", path[0])
}

// sortKey returns the key by which git sorts the entries of a tree.
func sortKey(e object.TreeEntry) string {
	if e.Mode == filemode.Dir {
		return e.Name + "/"
	}
	return e.Name
}

func (w objectWriter) blob(content []byte) (hash plumbing.Hash, err error) {
	encoded := w.Storer.NewEncodedObject()
	encoded.SetType(plumbing.BlobObject)
	out, err := encoded.Writer()
	if err != nil {
		return hash, fmt.Errorf("write file: %w", err)
	}
	_, err = out.Write(content)
	if err = errors.Join(err, out.Close()); err != nil {
		return hash, fmt.Errorf("write file: %w", err)
	}
	hash, err = w.Storer.SetEncodedObject(encoded)
	if err != nil {
		return hash, fmt.Errorf("write file: %w", err)
	}
	return hash, nil
}
