package gitrepo

import (
	"path"
	"strings"
)

// A sought is a tree of paths that are looked for.
type sought struct {
	below map[string]*sought
	// leaf tells that the path that ends here is looked for; then lag is how many
	// more commits its way took than that of whoever came first.
	leaf bool
	lag  int
}

// add adds a path, of names with "/" between them, and tells whether it is new.
func (w *sought) add(name string, lag int) bool {
	for part := range strings.SplitSeq(name, "/") {
		if w.below == nil {
			w.below = map[string]*sought{}
		}
		next := w.below[part]
		if next == nil {
			next = &sought{}
			w.below[part] = next
		}
		w = next
	}
	isNew := !w.leaf
	w.leaf, w.lag = true, lag
	return isNew
}

// remove takes a path out.
func (w *sought) remove(name string) {
	first, rest, more := strings.Cut(name, "/")
	next := w.below[first]
	if next == nil {
		return
	}
	if more {
		next.remove(rest)
	} else {
		next.leaf = false
	}
	if !next.leaf && len(next.below) == 0 {
		delete(w.below, first)
	}
}

// each calls visit for each path at or below w, which is at name, in no order.
func (w *sought) each(name string, visit func(name string, lag int)) {
	if w.leaf {
		visit(name, w.lag)
	}
	for part, next := range w.below {
		next.each(path.Join(name, part), visit)
	}
}
