package gitrepo

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// A Span is a state that lasted from one commit until another commit replaced it.
type Span[S comparable] struct {
	State S
	// From is the first of the commits read that has the state. Until is the commit that replaced the
	// state. It is zero if the head of the ref or branch still has the state.
	From, Until model.Commit
	// Branch is the branch on which the state occurs, if the ref never had it. It is "" for a state of the
	// ref.
	Branch string
}

// Spans returns the spans of the states in a log: those of the ref first, and those of each line newest
// first. states returns the states of a commit: one, several, or none if they are unknown. Spans calls it
// once for each commit, in the order of the log.
//
// Along the first parents of the head, each run of commits with a state is a span. A state that merged
// commits introduced and replaced before the merge has its own span, which ends at the replacing commit
// that is nearest to the head. A state that merged commits only kept from the ref has no span of its own,
// because the ref had already replaced it. For a branch, Spans leaves out states that the ref ever had.
func Spans[S comparable](log Log, states func(*LogCommit) []S) []Span[S] {
	w := spanFinder[S]{states: map[*LogCommit][]S{}}
	onRef := map[S]bool{}
	for _, c := range log.Ref.Commits {
		w.states[c] = states(c)
		for _, s := range w.states[c] {
			onRef[s] = true
		}
	}
	spans := w.line(log.Ref)
	for _, b := range log.Branches {
		for _, c := range b.Commits {
			w.states[c] = slices.DeleteFunc(slices.Clone(states(c)), func(s S) bool { return onRef[s] })
		}
		spans = append(spans, w.line(b)...)
	}
	return spans
}

type spanFinder[S comparable] struct{ states map[*LogCommit][]S }

// An indexed span has the positions of its commits in the line, for sorting.
type indexed[S comparable] struct {
	Span[S]

	until, from int
}

// line returns the spans of one line.
func (w *spanFinder[S]) line(l Line) []Span[S] {
	if len(l.Commits) == 0 {
		return nil
	}
	index := make(map[*LogCommit]int, len(l.Commits))
	for i, c := range l.Commits {
		index[c] = i
	}
	chain, onChain := firstParents(l.Commits[0], index)
	found := append(w.runs(chain, index), w.merged(l.Commits, index, onChain)...)
	slices.SortStableFunc(found, func(a, b indexed[S]) int {
		return cmp.Or(cmp.Compare(a.until, b.until), cmp.Compare(a.from, b.from))
	})
	spans := make([]Span[S], len(found))
	for i, f := range found {
		spans[i] = f.Span
		spans[i].Branch = l.Branch
	}
	return spans
}

// firstParents returns the commits of a line that are reached by first parents.
func firstParents(head *LogCommit, index map[*LogCommit]int) (chain []*LogCommit, on map[*LogCommit]bool) {
	on = map[*LogCommit]bool{}
	for c := head; c != nil && !on[c]; c = c.parents[0] {
		if _, here := index[c]; !here {
			break
		}
		chain = append(chain, c)
		on[c] = true
		if len(c.parents) == 0 {
			break
		}
	}
	return chain, on
}

// runs returns the spans along a chain of first parents.
func (w *spanFinder[S]) runs(chain []*LogCommit, index map[*LogCommit]int) []indexed[S] {
	var found []indexed[S]
	open := map[S]int{}
	for i, c := range chain {
		still := map[S]int{}
		for _, s := range w.states[c] {
			at, is := open[s]
			if !is {
				at = len(found)
				found = append(found, indexed[S]{Span: Span[S]{State: s}, until: -1})
				if i > 0 {
					found[at].Until, found[at].until = chain[i-1].Commit, index[chain[i-1]]
				}
			}
			found[at].From, found[at].from = c.Commit, index[c]
			still[s] = at
		}
		open = still
	}
	return found
}

// merged returns the spans of states that merged commits introduced.
func (w *spanFinder[S]) merged(commits []*LogCommit, index map[*LogCommit]int, onChain map[*LogCommit]bool) []indexed[S] {
	children := map[*LogCommit][]*LogCommit{}
	for _, c := range commits {
		for _, p := range c.parents {
			if p != nil {
				children[p] = append(children[p], c)
			}
		}
	}
	type member struct {
		commit *LogCommit
		state  S
	}
	seen := map[member]bool{}
	var found []indexed[S]
	for _, c := range commits {
		if onChain[c] {
			continue
		}
		for _, s := range w.states[c] {
			if seen[member{c, s}] {
				continue
			}
			g := group[S]{state: s, until: len(commits)}
			due := []*LogCommit{c}
			seen[member{c, s}] = true
			for ; len(due) > 0; due = due[1:] {
				for _, next := range w.expand(&g, due[0], children[due[0]], index, onChain) {
					if m := (member{next, s}); !seen[m] {
						seen[m] = true
						due = append(due, next)
					}
				}
			}
			if g.kept || g.until == len(commits) {
				continue
			}
			found = append(found, indexed[S]{
				Span: Span[S]{State: s, From: commits[g.from].Commit, Until: commits[g.until].Commit}, until: g.until, from: g.from,
			})
		}
	}
	return found
}

// A group is a set of connected merged commits with the same state.
type group[S comparable] struct {
	state S
	// kept reports whether a commit next to the group, on the chain or outside of the
	// line, has the state or may have it.
	kept bool
	// from and until are positions in the line.
	from, until int
}

// expand adds the commit c to the group g, and returns the neighbors of c that also belong to
// it.
func (w *spanFinder[S]) expand(g *group[S], c *LogCommit, children []*LogCommit, index map[*LogCommit]int, onChain map[*LogCommit]bool) []*LogCommit {
	g.from = max(g.from, index[c])
	var next []*LogCommit
	for _, p := range c.parents {
		if p == nil {
			g.kept = true
			continue
		}
		if !slices.Contains(w.states[p], g.state) {
			continue
		}
		if _, here := index[p]; !here || onChain[p] {
			g.kept = true
			continue
		}
		next = append(next, p)
	}
	for _, child := range children {
		switch has := slices.Contains(w.states[child], g.state); {
		case has && onChain[child]:
			g.kept = true
		case has:
			next = append(next, child)
		default:
			g.until = min(g.until, index[child])
		}
	}
	return next
}
