package gitrepo

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// A Span is a state that holds from one commit on until another one replaces it.
type Span[S comparable] struct {
	State S
	// From is the first commit with the state, of those that were read. Until is
	// the commit that replaced it; zero where the state holds at the head of the
	// ref, or of the branch.
	From, Until model.Commit
	// Branch is the branch that alone has the state; "" for the ref.
	Branch string
}

// Spans returns the states of a history, those of the ref first, and of each
// line the newest first. The states of a commit are given by a function, which
// may return none (not known) or several. It is called once for each commit, in
// the order of the log.
//
// A state has one span for each run of commits with it along the first parents
// of the head. A state that only merged commits had, and that was made there,
// has a span of its own: until the commit, nearest to the head, that replaced it
// on its way. A state that such commits only kept from the ref, and had lost it
// when they were merged, adds nothing: the ref had replaced it before. States
// that the ref ever had are left out for a branch.
func Spans[S comparable](log Log, states func(*LogCommit) []S) []Span[S] {
	w := spanner[S]{states: map[*LogCommit][]S{}}
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

type spanner[S comparable] struct{ states map[*LogCommit][]S }

// An indexed span knows the places of its commits in the line, to be sorted by.
type indexed[S comparable] struct {
	Span[S]

	until, from int
}

// line returns the spans of one line.
func (w *spanner[S]) line(l Line) []Span[S] {
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
func (w *spanner[S]) runs(chain []*LogCommit, index map[*LogCommit]int) []indexed[S] {
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

// merged returns the spans of states that merged commits made.
func (w *spanner[S]) merged(commits []*LogCommit, index map[*LogCommit]int, onChain map[*LogCommit]bool) []indexed[S] {
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
				for _, next := range w.look(&g, due[0], children[due[0]], index, onChain) {
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

// A group is merged commits that follow each other and have one state.
type group[S comparable] struct {
	state S
	// kept reports whether the state came from the chain or went into it, or may
	// have.
	kept bool
	// from and until are places in the line.
	from, until int
}

// look takes a commit into a group and returns its neighbours that belong there,
// too.
func (w *spanner[S]) look(g *group[S], c *LogCommit, children []*LogCommit, index map[*LogCommit]int, onChain map[*LogCommit]bool) []*LogCommit {
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
