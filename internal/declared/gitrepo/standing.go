package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
)

// A Standing describes how a folder in a git work tree differs from the last commit, and how that commit
// differs from the remote repository as of the last fetch.
type Standing struct {
	// Branch is the branch at HEAD. Upstream is the remote branch that it follows, such as origin/main.
	// Either is "" if there is none.
	Branch, Upstream string
	// Changed are the paths of the files in the folder that differ from the last commit: modified, staged
	// and deleted files, and declared files that are not tracked. They are relative to the top of the work
	// tree and sorted.
	Changed []string
	// Ahead reports whether HEAD has commits that the upstream branch lacks, or, if there is none, that all
	// remote branches lack. Behind reports whether the upstream branch has commits that HEAD lacks.
	Ahead, Behind bool
	// Head is the time of the last commit. Default is the default branch of the remote, if it is not the
	// upstream branch and has commits that HEAD lacks. Otherwise it is "".
	Head    time.Time
	Default string
	// Gaps are descriptions of the parts that could not be determined, with the reasons.
	Gaps []string

	tracked map[string]bool
}

// IsTracked reports whether git tracks a file of the folder. The path is relative to the top of the work
// tree.
func (s *Standing) IsTracked(file string) bool { return s.tracked[file] }

// StandingOf returns the standing of a folder or file in a work tree. isDeclared reports whether an
// untracked file counts as changed, by its name. StandingOf returns nil for a bare repository and for one
// without commits. It does not connect to the remote, does not write, and does not run programs that the
// repository configures, such as filters.
func StandingOf(ctx context.Context, dir string, isDeclared func(name string) bool) (_ *Standing, err error) {
	head, err := openHead(dir)
	if head == nil || err != nil {
		return nil, err
	}
	s := head.store
	defer func() { err = errors.Join(err, s.Close()) }()
	standing := &Standing{Head: timeOf(head.commit)}
	changes := changeReader{ctx: ctx, top: head.top, dir: filepath.ToSlash(head.within), files: head.files, isDeclared: isDeclared}
	if err := changes.read(s); err != nil {
		standing.Gaps = append(standing.Gaps, fmt.Sprintf("which files differ from the last commit: %v", err))
	}
	standing.tracked = changes.tracked
	standing.Changed = slices.Sorted(maps.Keys(changes.changed))
	b := branchReader{ctx: ctx, store: s, head: head.commit.Hash, log: newLogReader(s, head.files.objectReader, maxReach)}
	if err := b.read(standing); err != nil {
		standing.Gaps = append(standing.Gaps, fmt.Sprintf("which commits the remote lacks: %v", err))
	}
	return standing, ctx.Err()
}

// A branchReader compares HEAD with branches of remotes.
type branchReader struct {
	ctx   context.Context //nolint:containedctx // a reader lives for one call
	store *objectStore
	head  plumbing.Hash
	log   *logReader
	// own are the commits of HEAD once they were read.
	own *walked
}

func (b *branchReader) read(s *Standing) error {
	c, err := b.store.Config()
	if err != nil {
		return err
	}
	all, err := localRefs(b.store)
	if err != nil {
		return err
	}
	head, err := b.store.Reference(plumbing.HEAD)
	if err != nil || !head.Target().IsBranch() {
		return err // A pipeline checks out a commit, not a branch.
	}
	s.Branch = head.Target().Short()
	upstream := upstreamOf(c, s.Branch)
	hash, known := all.named[upstream]
	switch {
	case known && !upstream.IsBranch():
		s.Upstream = upstream.Short()
		if s.Ahead, s.Behind, err = b.compare(hash); err != nil {
			return err
		}
	case len(c.Remotes) > 0 && !known:
		if s.Ahead, err = b.isNowhere(all); err != nil {
			return err
		}
	}
	return b.newerDefault(s, c, all, upstream)
}

// upstreamOf returns the reference of the upstream branch; "" if there is none.
func upstreamOf(c *config.Config, branch string) plumbing.ReferenceName {
	b := c.Branches[branch]
	switch {
	case b == nil || b.Remote == "" || b.Merge == "":
		return ""
	case b.Remote == ".":
		return b.Merge
	}
	return plumbing.NewRemoteReferenceName(b.Remote, b.Merge.Short())
}

// errCut reports that the history that was read does not show how two commits are related.
var errCut = errors.New("the history that is here, or that is read, is too short")

// compare returns whether HEAD has commits that another one lacks, and the reverse.
func (b *branchReader) compare(with plumbing.Hash) (ahead, behind bool, err error) {
	if with == b.head {
		return false, false, nil
	}
	own, err := b.commits()
	if err != nil {
		return false, false, err
	}
	if own.commits[with] != nil {
		return true, false, nil
	}
	other, err := b.log.walk(b.ctx, with, maxReach, nil)
	if err != nil {
		return false, false, err
	}
	if other.commits[b.head] != nil {
		return false, true, nil
	}
	if own.cut+other.cut != "" {
		return false, false, errCut
	}
	return true, true, nil
}

func (b *branchReader) commits() (*walked, error) {
	if b.own == nil {
		found, err := b.log.walk(b.ctx, b.head, maxReach, nil)
		if err != nil {
			return nil, err
		}
		b.own = &found
	}
	return b.own, nil
}

// maxRemoteBranches bounds the branches in which HEAD is searched.
const maxRemoteBranches = 100

// isNowhere reports whether no branch of a remote has HEAD.
func (b *branchReader) isNowhere(all refs) (bool, error) {
	seen := map[plumbing.Hash]bool{}
	branches := 0
	for _, name := range slices.Sorted(maps.Keys(all.named)) {
		if !name.IsRemote() {
			continue
		}
		if branches++; branches > maxRemoteBranches {
			return false, errCut
		}
		found, err := b.log.walk(b.ctx, all.named[name], maxReach, seen)
		switch {
		case err != nil:
			return false, err
		case found.commits[b.head] != nil:
			return false, nil
		case found.cut != "":
			return false, errCut
		}
		for hash := range found.commits {
			seen[hash] = true
		}
	}
	return true, nil
}

// newerDefault compares HEAD with the default branch of the remote.
func (b *branchReader) newerDefault(s *Standing, c *config.Config, all refs, upstream plumbing.ReferenceName) error {
	for _, remote := range slices.Sorted(maps.Keys(c.Remotes)) {
		ref, err := b.store.Reference(plumbing.NewRemoteHEADReferenceName(remote))
		if err != nil || ref.Type() != plumbing.SymbolicReference || ref.Target() == upstream {
			continue
		}
		hash, known := all.named[ref.Target()]
		if !known {
			continue
		}
		_, behind, err := b.compare(hash)
		if err != nil {
			return err
		}
		if behind {
			s.Default = strings.TrimPrefix(ref.Target().Short(), "remotes/")
			return nil
		}
	}
	return nil
}
