package gitrepo

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// A walk finds the last commit that changed each path, as git log -1 -- PATH does. It follows
// the first parent that has the same content at the path. If no parent has it, the commit
// changed the path. The result depends only on the start commit, the paths and the limit.
type walk struct {
	objects storer.EncodedObjectStorer
	// limit is the maximum number of commits to read for one path.
	limit int
	// known are the results of an earlier walk, or nil.
	known *touchResults
	found *touchResults
	queue visits
	// queuedAt contains the visits in queue by commit. enqueued counts all visits that were
	// ever in it.
	queuedAt map[plumbing.Hash]*visit
	enqueued int
	touches  map[plumbing.Hash]*Touch
}

// A visit is a commit to compare with its parents, and the paths to compare.
type visit struct {
	commit *object.Commit
	paths  *pathTree
	count  int
	// steps is the number of commits that were read for the paths before this one, without the
	// lag of each path. No path has a lag below least.
	steps, least int
	order        int
}

// touchResults are the last changes of paths as seen from the commit head.
type touchResults struct {
	head plumbing.Hash
	of   map[string]touchResult
}

// A touchResult is the last commit that changed a path, and its distance in commits. touch is
// nil if the commit is farther away than the limit.
type touchResult struct {
	touch *Touch
	steps int
}

// findTouches returns the last changes of paths of the commit head, as far as they can be
// determined.
func findTouches(ctx context.Context, s storer.EncodedObjectStorer, head *object.Commit, paths []string, limit int, known *touchResults) (*touchResults, error) {
	w := &walk{
		objects: s, limit: limit, known: known, found: &touchResults{head: head.Hash, of: make(map[string]touchResult, len(paths))},
		queuedAt: map[plumbing.Hash]*visit{}, touches: map[plumbing.Hash]*Touch{},
	}
	first := &visit{paths: &pathTree{}}
	for _, name := range paths {
		first.add(name, 0)
	}
	w.enqueue(head, first)
	for len(w.queue) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("walk the history: %w", err)
		}
		v := heap.Pop(&w.queue).(*visit) //nolint:forcetypeassert // it holds nothing else
		delete(w.queuedAt, v.commit.Hash)
		if err := w.process(v); err != nil {
			return nil, err
		}
	}
	return w.found, nil
}

// enqueue adds the commit c to the queue, or its paths to the queued visit of c.
func (w *walk) enqueue(c *object.Commit, v *visit) {
	queued := w.queuedAt[c.Hash]
	if queued == nil {
		w.enqueued++
		v.commit, v.order = c, w.enqueued
		w.queuedAt[c.Hash] = v
		heap.Push(&w.queue, v)
		return
	}
	if queued.count < v.count {
		queued.paths, v.paths = v.paths, queued.paths
		queued.count, v.count = v.count, queued.count
		queued.steps, v.steps = v.steps, queued.steps
		queued.least, v.least = v.least, queued.least
	}
	more := v.steps - queued.steps
	v.paths.each("", func(name string, lag int) { queued.paths.add(name, lag+more) })
	queued.count += v.count
	queued.least = min(queued.least, v.least+more)
}

// process records the paths that the commit of v changed, and passes the other paths to its
// parents.
func (w *walk) process(v *visit) error {
	w.useKnown(v)
	switch {
	case v.count == 0:
		return nil
	case v.steps+v.least >= w.limit:
		v.paths.each("", func(name string, _ int) { w.found.of[name] = touchResult{} })
		return nil
	}
	for _, hash := range v.commit.ParentHashes {
		parent, err := w.commit(hash)
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			// A shallow repository ends here: the content at the parent is unknown.
			return nil
		}
		if err != nil {
			return err
		}
		changed := &visit{paths: &pathTree{}, steps: v.steps, least: v.least}
		if err := w.compare(v.commit.TreeHash, parent.TreeHash, v.paths, "", changed.add); err != nil {
			return err
		}
		changed.paths.each("", func(name string, _ int) { v.paths.remove(name) })
		if v.count -= changed.count; v.count > 0 {
			w.enqueue(parent, &visit{paths: v.paths, count: v.count, steps: v.steps + 1, least: v.least})
		}
		if v.paths, v.count = changed.paths, changed.count; v.count == 0 {
			return nil
		}
	}
	v.paths.each("", func(name string, lag int) { w.find(name, v.commit, v.steps+lag) })
	return nil
}

func (v *visit) add(name string, lag int) {
	if v.paths.add(name, lag) {
		v.count++
	}
}

// useKnown records the known results of the commit of v, and removes their paths.
func (w *walk) useKnown(v *visit) {
	if w.known == nil || w.known.head != v.commit.Hash {
		return
	}
	var answered []string
	v.paths.each("", func(name string, lag int) {
		a, known := w.known.of[name]
		if !known {
			return
		}
		answered = append(answered, name)
		a.steps += v.steps + lag
		w.answer(name, a)
	})
	for _, name := range answered {
		v.paths.remove(name)
	}
	v.count -= len(answered)
}

func (w *walk) find(name string, c *object.Commit, steps int) {
	t := w.touches[c.Hash]
	if t == nil {
		t = touchOf(c)
		w.touches[c.Hash] = t
	}
	w.answer(name, touchResult{t, steps})
}

func (w *walk) answer(name string, a touchResult) {
	if a.touch == nil || a.steps >= w.limit {
		a = touchResult{}
	}
	w.found.of[name] = a
}

// commit returns the commit with the given hash.
func (w *walk) commit(hash plumbing.Hash) (*object.Commit, error) {
	if v := w.queuedAt[hash]; v != nil {
		return v.commit, nil
	}
	c, err := object.GetCommit(w.objects, hash)
	if err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, damage("commit", hash, err)
	}
	return c, err
}

// compare calls changed for each path, at or below name, that differs between the trees head
// and parent. The hash parent is zero if there is no tree.
func (w *walk) compare(head, parent plumbing.Hash, paths *pathTree, name string, changed func(name string, lag int)) error {
	if head == parent {
		return nil
	}
	t, err := readTree(w.objects, head)
	if err != nil {
		return err
	}
	var u tree
	if !parent.IsZero() {
		if u, err = readTree(w.objects, parent); err != nil {
			return err
		}
	}
	return t.forEachChange(u, func(entry string, is, was item) error {
		next := paths.below[entry]
		if next == nil {
			return nil
		}
		at := path.Join(name, entry)
		if next.isPath {
			changed(at, next.lag)
		}
		if len(next.below) == 0 || !is.isFolder() {
			return nil
		}
		var before plumbing.Hash
		if was.isFolder() {
			before = was.hash()
		}
		return w.compare(is.hash(), before, next, at, changed)
	})
}

// visits is a priority queue. Newer commits come first, so that the paths of both sides of a
// merge are likely to be joined again. The result does not depend on the order.
type visits []*visit

// Len implements heap.Interface.
func (q visits) Len() int { return len(q) }

// Less implements heap.Interface.
func (q visits) Less(i, j int) bool {
	return cmp.Or(q[j].commit.Committer.When.Compare(q[i].commit.Committer.When), cmp.Compare(q[i].order, q[j].order)) < 0
}

// Swap implements heap.Interface.
func (q visits) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *visits) Push(x any) { *q = append(*q, x.(*visit)) } //nolint:forcetypeassert // a heap of visits

// Pop implements heap.Interface.
func (q *visits) Pop() any {
	last := len(*q) - 1
	v := (*q)[last]
	*q = (*q)[:last]
	return v
}
