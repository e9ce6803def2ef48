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

// A walk looks for the last commit that touched each of some paths, as
// git log -1 -- PATH does: from commit to commit, towards the first parent that
// has of a path what the commit has. Where no parent has that, the commit
// touched the path. What it finds depends on nothing but the commit it begins
// at, the paths and the limit.
type walk struct {
	objects storer.EncodedObjectStorer
	// limit is how many commits are looked at for one path.
	limit int
	// known is what is known already from one commit on.
	known *answers
	found *answers
	due   visits
	// at are the visits that are due, by commit, and entered counts all there
	// were.
	at      map[plumbing.Hash]*visit
	entered int
	touches map[plumbing.Hash]*Touch
}

// A visit is a commit that is to be looked at, for paths that are still looked
// for.
type visit struct {
	commit *object.Commit
	paths  *sought
	count  int
	// steps is how many commits were looked at for those paths before, and
	// their lags; none has fewer lags than least.
	steps, least int
	order        int
}

// answers are what is known of paths, seen from one commit.
type answers struct {
	head plumbing.Hash
	of   map[string]answer
}

// An answer is the last touch of a path, and how many commits away that is;
// without a touch, that it is too far away.
type answer struct {
	touch *Touch
	steps int
}

// walkFrom returns what it can tell of paths that head has.
func walkFrom(ctx context.Context, s storer.EncodedObjectStorer, head *object.Commit, paths []string, limit int, known *answers) (*answers, error) {
	w := &walk{
		objects: s, limit: limit, known: known, found: &answers{head: head.Hash, of: make(map[string]answer, len(paths))},
		at: map[plumbing.Hash]*visit{}, touches: map[plumbing.Hash]*Touch{},
	}
	first := &visit{paths: &sought{}}
	for _, name := range paths {
		first.add(name, 0)
	}
	w.enter(head, first)
	for len(w.due) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("walk the history: %w", err)
		}
		v := heap.Pop(&w.due).(*visit) //nolint:forcetypeassert // it holds nothing else
		delete(w.at, v.commit.Hash)
		if err := w.look(v); err != nil {
			return nil, err
		}
	}
	return w.found, nil
}

// enter has a commit looked at for more paths.
func (w *walk) enter(c *object.Commit, v *visit) {
	there := w.at[c.Hash]
	if there == nil {
		w.entered++
		v.commit, v.order = c, w.entered
		w.at[c.Hash] = v
		heap.Push(&w.due, v)
		return
	}
	if there.count < v.count {
		there.paths, v.paths = v.paths, there.paths
		there.count, v.count = v.count, there.count
		there.steps, v.steps = v.steps, there.steps
		there.least, v.least = v.least, there.least
	}
	more := v.steps - there.steps
	v.paths.each("", func(name string, lag int) { there.paths.add(name, lag+more) })
	there.count += v.count
	there.least = min(there.least, v.least+more)
}

// look finds which of the paths the commit touched, and passes the others on.
func (w *walk) look(v *visit) error {
	w.recall(v)
	switch {
	case v.count == 0:
		return nil
	case v.steps+v.least >= w.limit:
		v.paths.each("", func(name string, _ int) { w.found.of[name] = answer{} })
		return nil
	}
	for _, hash := range v.commit.ParentHashes {
		parent, err := w.commit(hash)
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			// The end of a shallow repository: what the parent had is not known.
			return nil
		}
		if err != nil {
			return err
		}
		changed := &visit{paths: &sought{}, steps: v.steps, least: v.least}
		if err := w.compare(v.commit.TreeHash, parent.TreeHash, v.paths, "", changed.add); err != nil {
			return err
		}
		changed.paths.each("", func(name string, _ int) { v.paths.remove(name) })
		if v.count -= changed.count; v.count > 0 {
			w.enter(parent, &visit{paths: v.paths, count: v.count, steps: v.steps + 1, least: v.least})
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

// recall answers what was known from this commit on.
func (w *walk) recall(v *visit) {
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
	w.answer(name, answer{t, steps})
}

func (w *walk) answer(name string, a answer) {
	if a.touch == nil || a.steps >= w.limit {
		a = answer{}
	}
	w.found.of[name] = a
}

// commit reads a commit.
func (w *walk) commit(hash plumbing.Hash) (*object.Commit, error) {
	if v := w.at[hash]; v != nil {
		return v.commit, nil
	}
	c, err := object.GetCommit(w.objects, hash)
	if err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, damage("commit", hash, err)
	}
	return c, err
}

// compare calls changed for each path, at or below name, that is another thing
// in the tree of than in the tree in.
func (w *walk) compare(of, in plumbing.Hash, paths *sought, name string, changed func(name string, lag int)) error {
	if of == in {
		return nil
	}
	t, err := readTree(w.objects, of)
	if err != nil {
		return err
	}
	var u tree
	if !in.IsZero() {
		if u, err = readTree(w.objects, in); err != nil {
			return err
		}
	}
	return t.differing(u, func(entry string, is, was item) error {
		next := paths.below[entry]
		if next == nil {
			return nil
		}
		at := path.Join(name, entry)
		if next.leaf {
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

// visits are a queue: who is younger comes first, for that is how paths meet
// again after a merge. What is found does not depend on the order.
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
