package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/driftd/driftd/internal/model"
)

// A Log is the history of a ref, and of the branches and pull requests that are not merged into it. It is
// valid only until the function that History called with it returns.
type Log struct {
	// Ref contains the commits that are reachable from the head of the ref.
	Ref Line
	// Branches contains, for each other branch, the commits that are not reachable from the head of the
	// ref.
	Branches []Line
	// Gap is the reason why commits of the ref or of a branch may be missing, or "" if the Log is complete.
	Gap string
}

// A Line is a list of the commits of a ref. They are sorted by their distance from its head, and then in
// the order in which their children list them as parents. Dates do not affect the order, because the
// committer chooses them.
type Line struct {
	// Branch is the name of the branch ("feature/x") or of the pull request ("pull request 12"). It is ""
	// for the ref itself.
	Branch  string
	Commits []*LogCommit
}

// A LogCommit is a commit in a Log.
type LogCommit struct {
	// Commit has the committer's time, or that of a head of the ref which contains the commit, if that is
	// earlier.
	model.Commit

	// Files is a file system of the files of the commit.
	Files *FS
	// parents has nil for each parent that was not read.
	parents []*LogCommit
}

// Bounds of the other branches and pull requests that are read.
const (
	maxBranches      = 200
	maxBranchCommits = 100
	// maxReach bounds the commits that are read to determine whether the ref
	// contains a branch's commit.
	maxReach = 5000
	// maxParents bounds the parents of one commit.
	maxParents = 1000
)

// A logReader reads commits into a Log.
type logReader struct {
	objects *objectStore
	reader  *objectReader
	limit   int
	// read holds every commit that was read so far.
	read map[plumbing.Hash]*object.Commit
	// onRef holds the Log's commits of the ref. reach holds these and further
	// commits that the ref contains and that are not in the Log. It is complete if
	// reached is true.
	head    plumbing.Hash
	onRef   map[plumbing.Hash]*LogCommit
	reach   map[plumbing.Hash]bool
	reached bool
	// extended reports whether extend was called.
	extended bool
	gaps     []string
	// ends holds the commits whose parents are absent from a shallow repository.
	ends map[plumbing.Hash]bool
}

func newLogReader(s *objectStore, reader *objectReader, limit int) *logReader {
	return &logReader{objects: s, reader: reader, limit: limit, read: map[plumbing.Hash]*object.Commit{}}
}

// ref returns the history of a ref's head.
func (l *logReader) ref(ctx context.Context, head plumbing.Hash) (Line, error) {
	found, err := l.walk(ctx, head, l.limit, nil)
	if err != nil {
		return Line{}, err
	}
	if found.cut != "" {
		l.gaps = append(l.gaps, found.cut)
	}
	l.head, l.onRef, l.reach, l.reached = head, found.commits, map[plumbing.Hash]bool{}, found.cut == ""
	for hash := range found.commits {
		l.reach[hash] = true
	}
	commits := l.line(found)
	boundTimes(commits)
	return Line{Commits: commits}, nil
}

// boundTimes gives a commit the time of the oldest commit that contains it and was the head of
// the ref, if that time is earlier than its own. Committers choose dates: those who commit to
// a branch, and those who merge it.
func boundTimes(commits []*LogCommit) {
	if len(commits) == 0 {
		return
	}
	index := make(map[*LogCommit]int, len(commits))
	for i, c := range commits {
		index[c] = i
	}
	heads, _ := firstParents(commits[0], index)
	slices.SortStableFunc(heads, func(a, b *LogCommit) int { return a.When.Compare(b.When) })
	seen := map[*LogCommit]bool{}
	for _, head := range heads {
		if head.When.IsZero() {
			continue
		}
		for due := []*LogCommit{head}; len(due) > 0; due = due[1:] {
			if c := due[0]; c != nil && !seen[c] {
				seen[c] = true
				if head.When.Before(c.When) {
					c.When = head.When
				}
				due = append(due, c.parents...)
			}
		}
	}
}

// branches returns the commits of branches that the ref does not contain.
func (l *logReader) branches(ctx context.Context, branches []branch) ([]Line, error) {
	var lines []Line
	for _, b := range branches {
		line, err := l.branch(ctx, b)
		if err != nil {
			return nil, err
		}
		if len(line.Commits) > 0 {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// maxGaps bounds how many reasons are written into one gap.
const maxGaps = 3

func gap(reasons []string) string {
	if len(reasons) > maxGaps {
		reasons = append(reasons[:maxGaps:maxGaps], fmt.Sprintf("and %d more", len(reasons)-maxGaps))
	}
	return strings.Join(reasons, "; ")
}

// branch returns the commits of a branch that the ref does not contain. If that is
// unknown for a commit, it leaves out the branch and adds a gap.
func (l *logReader) branch(ctx context.Context, b branch) (Line, error) {
	commit, err := commitOf(l.objects, b.hash)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		l.gaps = append(l.gaps, b.name+" cannot be read")
		return Line{}, nil
	}
	if err != nil {
		return Line{}, err
	}
	found, err := l.walk(ctx, commit.Hash, maxBranchCommits, l.reach)
	if err != nil {
		return Line{}, err
	}
	if !l.reached && !found.isAnchored() {
		if err := l.extend(ctx); err != nil {
			return Line{}, err
		}
		if found, err = l.walk(ctx, commit.Hash, maxBranchCommits, l.reach); err != nil {
			return Line{}, err
		}
	}
	if !l.reached && !found.isAnchored() {
		l.gaps = append(l.gaps, b.name+": it is not known which of its commits the ref contains")
		return Line{}, nil
	}
	if found.cut != "" {
		l.gaps = append(l.gaps, b.name+": "+found.cut)
	}
	return Line{Branch: b.name, Commits: l.line(found)}, nil
}

// extend adds further commits of the ref to reach.
func (l *logReader) extend(ctx context.Context) error {
	if l.extended {
		return nil
	}
	l.extended = true
	found, err := l.walk(ctx, l.head, max(maxReach, l.limit), nil)
	if err != nil {
		return err
	}
	for hash := range found.commits {
		l.reach[hash] = true
	}
	l.reached = found.cut == ""
	return nil
}

// A walked is the result of a walk from commit to parent.
type walked struct {
	order   []*object.Commit
	commits map[plumbing.Hash]*LogCommit
	// cut is why commits are absent, or "".
	cut string
}

// isAnchored reports whether the walk ended only at commits that it was to leave
// out. If the history of the ref is truncated, only then are the commits that were
// found the branch's own: otherwise they may be older commits of the ref.
func (w walked) isAnchored() bool {
	return w.cut == "" && !slices.ContainsFunc(w.order, func(c *object.Commit) bool { return len(c.ParentHashes) == 0 })
}

// walk returns at most limit commits that are reachable from a commit, nearest
// first. It does not follow the commits in except.
func (l *logReader) walk(ctx context.Context, from plumbing.Hash, limit int, except map[plumbing.Hash]bool) (walked, error) {
	type step struct{ to, from plumbing.Hash }
	found := walked{commits: map[plumbing.Hash]*LogCommit{}}
	for due := []step{{to: from}}; len(due) > 0; due = due[1:] {
		hash := due[0].to
		if found.commits[hash] != nil || except[hash] {
			continue
		}
		if len(found.order) >= limit {
			found.cut = fmt.Sprintf("history is cut at %d commits", limit)
			break
		}
		if err := ctx.Err(); err != nil {
			return walked{}, fmt.Errorf("read the history: %w", err)
		}
		commit, err := l.commit(hash)
		switch {
		case errors.Is(err, plumbing.ErrObjectNotFound) && l.isEnd(due[0].from):
			found.cut = "history is cut: the repository is shallow"
			continue
		case errors.Is(err, plumbing.ErrObjectNotFound):
			return walked{}, fmt.Errorf("%w: commit %s: %w", errDamaged, hash, err)
		case errors.Is(err, errTooLarge):
			found.cut = err.Error()
			continue
		case err != nil:
			return walked{}, err
		case len(commit.ParentHashes) > maxParents:
			found.cut = fmt.Sprintf("commit %.12s has more than %d parents", hash, maxParents)
			continue
		}
		found.order = append(found.order, commit)
		found.commits[hash] = &LogCommit{}
		for _, parent := range commit.ParentHashes {
			due = append(due, step{parent, hash})
		}
	}
	return found, nil
}

// isEnd reports whether a parent of the commit child may be absent, because a
// shallow repository ends there. The zero hash stands for the start of a walk, which
// is absent if it could not be fetched.
func (l *logReader) isEnd(child plumbing.Hash) bool {
	if child.IsZero() {
		return true
	}
	if l.ends == nil {
		l.ends = map[plumbing.Hash]bool{}
		shallow, err := l.objects.Shallow()
		if err != nil {
			return false
		}
		for _, hash := range shallow {
			l.ends[hash] = true
		}
	}
	return l.ends[child]
}

func (l *logReader) commit(hash plumbing.Hash) (*object.Commit, error) {
	if c := l.read[hash]; c != nil {
		return c, nil
	}
	c, err := object.GetCommit(l.objects, hash)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, err
	}
	if err != nil {
		return nil, damage("commit", hash, err)
	}
	// Message and PGPSignature may be long, and only the subject is needed.
	c.Message, c.PGPSignature = touchOf(c).Message, ""
	l.read[hash] = c
	return c, nil
}

// line returns commits with their parents.
func (l *logReader) line(found walked) []*LogCommit {
	commits := make([]*LogCommit, len(found.order))
	for i, c := range found.order {
		commits[i] = found.commits[c.Hash]
		*commits[i] = LogCommit{
			Commit: model.Commit{Hash: c.Hash.String(), When: timeOf(c)}, Files: l.reader.files(c),
			parents: make([]*LogCommit, len(c.ParentHashes)),
		}
		if len(c.ParentHashes) < 2 {
			touch := touchOf(c)
			commits[i].Author, commits[i].Message = touch.Author, touch.Message
		}
		for j, parent := range c.ParentHashes {
			if commits[i].parents[j] = found.commits[parent]; commits[i].parents[j] == nil {
				commits[i].parents[j] = l.onRef[parent]
			}
		}
		commits[i].Oldest = len(c.ParentHashes) > 0 && commits[i].parents[0] == nil
	}
	return commits
}
