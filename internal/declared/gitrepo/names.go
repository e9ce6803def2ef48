package gitrepo

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Is reports whether a ref, as in Repository.Read, also refers to the commit. It must only be called before
// the function that Repository.Read called with the commit returns.
func (c Commit) Is(ref string) bool { return c.names != nil && c.names(ref) }

// names reports whether a ref names the commit with the hash.
func (r refs) names(ref string, commit plumbing.Hash, s storer.EncodedObjectStorer) bool {
	want, err := r.resolve(ref)
	if err != nil {
		return false
	}
	if want.hash == commit || r.peeled[want.name] == commit {
		return true
	}
	found, err := commitOf(s, want.hash)
	return err == nil && found.Hash == commit
}

// IsAt reports whether the work tree that contains the folder dir is at ref: whether ref is the branch that
// is checked out, or refers to the same commit, in the work tree or, as of the last fetch, in its remote.
// "" and HEAD refer to the default branch of the remote. IsAt returns true if the default branch is
// unknown, and if dir is not in a work tree.
func IsAt(dir, ref string) (_ bool, err error) {
	top := TopOf(dir)
	if top == "" {
		return true, nil
	}
	if ref == "" || ref == "HEAD" {
		o, err := OriginOf(dir)
		if err != nil || o.Branch == "" {
			return err == nil, err
		}
		ref = o.Branch
	}
	s, err := openLocal(top)
	if err != nil {
		return false, fmt.Errorf("read the git repository %s: %w", top, err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	head, err := s.Reference(plumbing.HEAD)
	if err != nil {
		return false, fmt.Errorf("read HEAD of the git repository %s: %w", top, err)
	}
	if head.Target() == plumbing.NewBranchReferenceName(strings.TrimPrefix(ref, "refs/heads/")) {
		return true, nil
	}
	return isHead(s, ref)
}

// isHead reports whether a ref names the commit at HEAD.
func isHead(s *objectStore, ref string) (bool, error) {
	all, err := localRefs(s)
	if err != nil || all.head.IsZero() {
		return false, err
	}
	commit := all.head
	if all.names(ref, commit, s) {
		return true, nil
	}
	c, err := s.Config()
	if err != nil {
		return false, fmt.Errorf("read the configuration of a git repository: %w", err)
	}
	remotes := append(slices.Collect(maps.Keys(c.Remotes)), git.DefaultRemoteName)
	return slices.ContainsFunc(remotes, func(remote string) bool {
		name := plumbing.NewRemoteReferenceName(remote, strings.TrimPrefix(ref, "refs/heads/"))
		return all.names(name.String(), commit, s)
	}), nil
}
