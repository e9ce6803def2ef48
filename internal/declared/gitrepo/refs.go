package gitrepo

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// refs are the branches and tags of a repository, by full name, and its HEAD.
type refs struct {
	named map[plumbing.ReferenceName]plumbing.Hash
	head  plumbing.Hash
	// peeled are the commits of tags that a server advertised.
	peeled map[plumbing.ReferenceName]plumbing.Hash
}

// errNoRef is returned for a ref that the repository does not have.
var errNoRef = errors.New("no branch, tag or full commit hash")

// errNoCommit is returned for a commit hash that the repository does not have.
var errNoCommit = errors.New("it does not contain commit")

// IsNoRef reports whether err means that the repository was read and does not contain the ref.
func IsNoRef(err error) bool {
	return errors.Is(err, errNoRef) || errors.Is(err, errNoCommit) || errors.Is(err, transport.ErrEmptyRemoteRepository)
}

// A target is the commit, or the tag object, that a ref names. Its name is "" for a commit
// that no branch or tag names.
type target struct {
	name plumbing.ReferenceName
	hash plumbing.Hash
}

func localRefs(s storer.ReferenceStorer) (refs, error) {
	found := refs{named: map[plumbing.ReferenceName]plumbing.Hash{}}
	all, err := s.IterReferences()
	if err != nil {
		return refs{}, fmt.Errorf("list refs: %w", err)
	}
	err = all.ForEach(func(r *plumbing.Reference) error {
		if r.Type() == plumbing.HashReference {
			found.named[r.Name()] = r.Hash()
		}
		if len(found.named) > maxRefs {
			return fmt.Errorf("%w: more than %d refs", errTooLarge, maxRefs)
		}
		return nil
	})
	if err != nil {
		return refs{}, fmt.Errorf("list refs: %w", err)
	}
	if head, err := storer.ResolveReference(s, plumbing.HEAD); err == nil {
		found.head = head.Hash()
	}
	return found, nil
}

func advertisedRefs(ad *packp.AdvRefs) refs {
	found := refs{named: map[plumbing.ReferenceName]plumbing.Hash{}, peeled: map[plumbing.ReferenceName]plumbing.Hash{}}
	for name, hash := range ad.References {
		found.named[plumbing.ReferenceName(name)] = hash
	}
	for name, hash := range ad.Peeled {
		found.peeled[plumbing.ReferenceName(name)] = hash
	}
	if ad.Head != nil {
		found.head = *ad.Head
	}
	return found
}

// at returns the commit, or the tag object, with the full name.
func (r refs) at(name plumbing.ReferenceName) (plumbing.Hash, bool) {
	if name == plumbing.HEAD {
		return r.head, !r.head.IsZero()
	}
	hash, there := r.named[name]
	return hash, there
}

// resolve returns the target of a configured ref: HEAD, a full commit hash, a full name, a
// branch or a tag. A name of both a branch and a tag is an error: a user who can push only one
// of them must not choose what is declared.
func (r refs) resolve(ref string) (target, error) {
	if ref == "" || ref == "HEAD" {
		if r.head.IsZero() {
			return target{}, errors.New("HEAD names no commit; set ref")
		}
		return target{plumbing.HEAD, r.head}, nil
	}
	if plumbing.IsHash(ref) {
		return r.commit(plumbing.NewHash(ref)), nil
	}
	if hash, ok := r.named[plumbing.ReferenceName(ref)]; ok && strings.HasPrefix(ref, "refs/") {
		return target{plumbing.ReferenceName(ref), hash}, nil
	}
	branch, tag := plumbing.NewBranchReferenceName(ref), plumbing.NewTagReferenceName(ref)
	onBranch, isBranch := r.named[branch]
	onTag, isTag := r.named[tag]
	switch {
	case isBranch && isTag && onBranch != onTag:
		return target{}, fmt.Errorf("%q is a branch and a tag; set ref to %s or %s", ref, branch, tag)
	case isBranch:
		return target{branch, onBranch}, nil
	case isTag:
		return target{tag, onTag}, nil
	}
	return target{}, fmt.Errorf("%w %q; %s", errNoRef, ref, r.branches())
}

// commit returns the target for a commit hash. It prefers a name, because every server serves
// names.
func (r refs) commit(hash plumbing.Hash) target {
	var names []plumbing.ReferenceName
	for name, at := range r.named {
		if at == hash {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return target{hash: hash}
	}
	return target{slices.Min(names), hash}
}

func (r refs) branches() string {
	var names []string
	for name := range r.named {
		if name.IsBranch() {
			names = append(names, name.Short())
		}
	}
	if len(names) == 0 {
		return "it has no branches"
	}
	slices.Sort(names)
	if len(names) > 8 {
		names = append(names[:8], "…")
	}
	return "it has the branches " + strings.Join(names, ", ")
}

// maxTags bounds the tags of tags that are followed.
const maxTags = 8

// commitOf returns the commit with the given hash, or the commit of the tag with that hash. If
// the object does not exist, the error is plumbing.ErrObjectNotFound.
func commitOf(s storer.EncodedObjectStorer, hash plumbing.Hash) (*object.Commit, error) {
	for range maxTags {
		tag, err := object.GetTag(s, hash)
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			break
		}
		if err != nil {
			return nil, damage("tag", hash, err)
		}
		hash = tag.Target
	}
	commit, err := object.GetCommit(s, hash)
	if err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, damage("commit", hash, err)
	}
	return commit, err
}
