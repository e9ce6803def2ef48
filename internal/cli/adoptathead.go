package cli

import "github.com/driftd/driftd/internal/declared/gitrepo"

// An atHead edits the files of a folder. head is the commit that was checked out before the first
// scan; "" if there is none.
type atHead struct {
	adopter

	head string
}

func (a atHead) branch(c *change) gitrepo.NewBranch {
	b := a.adopter.branch(c)
	b.Head = a.head
	return b
}
