package gitrepo

import (
	"path"
	"strings"
)

// A pathTree is a set of paths, stored as a tree of their components.
type pathTree struct {
	below map[string]*pathTree
	// isPath reports whether the path that ends here is in the set. lag is the number of
	// commits that were read for it in addition to the steps of its visit.
	isPath bool
	lag    int
}

// add adds the path name, and reports whether it was absent.
func (w *pathTree) add(name string, lag int) bool {
	for part := range strings.SplitSeq(name, "/") {
		if w.below == nil {
			w.below = map[string]*pathTree{}
		}
		next := w.below[part]
		if next == nil {
			next = &pathTree{}
			w.below[part] = next
		}
		w = next
	}
	isNew := !w.isPath
	w.isPath, w.lag = true, lag
	return isNew
}

// remove removes the path name.
func (w *pathTree) remove(name string) {
	first, rest, more := strings.Cut(name, "/")
	next := w.below[first]
	if next == nil {
		return
	}
	if more {
		next.remove(rest)
	} else {
		next.isPath = false
	}
	if !next.isPath && len(next.below) == 0 {
		delete(w.below, first)
	}
}

// each calls visit for each path at or below w, in no order. name is the path of w.
func (w *pathTree) each(name string, visit func(name string, lag int)) {
	if w.isPath {
		visit(name, w.lag)
	}
	for part, next := range w.below {
		next.each(path.Join(name, part), visit)
	}
}
