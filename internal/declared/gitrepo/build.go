package gitrepo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/memory"
)

// A builtCommit is a commit that is to follow the commit old on a branch.
type builtCommit struct {
	branch    plumbing.ReferenceName
	old, hash plumbing.Hash
	// pack contains the commit, and its trees and file as far as they are new.
	pack []byte
}

// A builder writes new objects into memory. It reads the existing ones from old.
type builder struct {
	old storer.EncodedObjectStorer
	*memory.Storage

	hashes []plumbing.Hash
}

// buildCommit returns the commit of a change that follows tip; tip is nil for the first commit of
// a branch. It returns nil if the file has the content already.
func buildCommit(old storer.EncodedObjectStorer, tip *object.Commit, c Change) (*builtCommit, error) {
	if !fs.ValidPath(c.File) || c.File == "." {
		return nil, fmt.Errorf("commit file %q: not a path in a repository", c.File)
	}
	if tip == nil && c.MustExist {
		return nil, fmt.Errorf("%s: %w", c.Branch, errNoRef)
	}
	b := builder{old: old, Storage: memory.NewStorage()}
	blob, err := b.blob(c.Content)
	if err != nil {
		return nil, err
	}
	was, parents := plumbing.ZeroHash, []plumbing.Hash(nil)
	if tip != nil {
		was, parents = tip.TreeHash, []plumbing.Hash{tip.Hash}
	}
	tree, err := b.tree(was, strings.Split(c.File, "/"), blob)
	if err != nil {
		return nil, fmt.Errorf("commit file %s: %w", c.File, err)
	}
	if tree == was {
		return nil, nil
	}
	who := object.Signature{Name: c.Author, Email: c.Email, When: c.When.UTC()}
	commit := &object.Commit{Author: who, Committer: who, Message: c.Message, TreeHash: tree, ParentHashes: parents}
	hash, err := b.add(commit)
	if err != nil {
		return nil, err
	}
	var pack bytes.Buffer
	if _, err := packfile.NewEncoder(&pack, b.Storage, false).Encode(b.hashes, 0); err != nil {
		return nil, fmt.Errorf("encode commit: %w", err)
	}
	return &builtCommit{branch: plumbing.NewBranchReferenceName(c.Branch), old: hashOf(tip), hash: hash, pack: pack.Bytes()}, nil
}

// An encoder is an object that can be written.
type encoder interface {
	Encode(plumbing.EncodedObject) error
}

func (b *builder) add(o encoder) (plumbing.Hash, error) {
	encoded := b.NewEncodedObject()
	if err := o.Encode(encoded); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("encode object: %w", err)
	}
	return b.keep(encoded)
}

func (b *builder) keep(encoded plumbing.EncodedObject) (plumbing.Hash, error) {
	hash, err := b.SetEncodedObject(encoded)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("encode object: %w", err)
	}
	b.hashes = append(b.hashes, hash)
	return hash, nil
}

func (b *builder) blob(content []byte) (plumbing.Hash, error) {
	encoded := b.NewEncodedObject()
	encoded.SetType(plumbing.BlobObject)
	w, err := encoded.Writer()
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("encode file: %w", err)
	}
	_, err = w.Write(content)
	if err := errors.Join(err, w.Close()); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("encode file: %w", err)
	}
	return b.keep(encoded)
}

// tree returns the tree that differs from the tree was in one file; was is the zero hash if there
// is none.
func (b *builder) tree(was plumbing.Hash, path []string, blob plumbing.Hash) (plumbing.Hash, error) {
	t := &object.Tree{}
	if !was.IsZero() {
		old, err := object.GetTree(b.old, was)
		if err != nil {
			return plumbing.ZeroHash, damage("tree", was, err)
		}
		t.Entries = slices.Clone(old.Entries)
	}
	name, rest := path[0], path[1:]
	i := slices.IndexFunc(t.Entries, func(e object.TreeEntry) bool { return e.Name == name })
	if i < 0 {
		i = len(t.Entries)
		t.Entries = append(t.Entries, object.TreeEntry{Name: name})
	}
	e := &t.Entries[i]
	isFolder := e.Mode == filemode.Dir
	if !e.Hash.IsZero() && isFolder != (len(rest) > 0) {
		return plumbing.ZeroHash, fmt.Errorf("%s is a file and a folder on the branch: name another branch", name)
	}
	e.Mode = filemode.Regular
	hash, err := blob, error(nil)
	if len(rest) > 0 {
		e.Mode = filemode.Dir
		hash, err = b.tree(e.Hash, rest, blob)
	}
	if err != nil {
		return plumbing.ZeroHash, err
	}
	e.Hash = hash
	sort.Sort(object.TreeEntrySorter(t.Entries))
	return b.add(t)
}
