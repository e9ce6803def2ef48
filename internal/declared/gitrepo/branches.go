package gitrepo

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/printable"
)

// A branch is a branch, or a pull or merge request, other than the ref.
type branch struct {
	name string
	hash plumbing.Hash
	// number is the number of a pull or merge request; 0 for a branch.
	number int
	// when is the time of its commit, in seconds; 0 if unknown.
	when int64
}

// requestHead matches the heads of pull requests (GitHub, Gitea, Forgejo) and of
// merge requests (GitLab), as servers advertise them.
var requestHead = lazyregexp.New(`^refs/(pull|merge-requests)/([1-9][0-9]{0,8})/head$`)

// maxBranchName bounds the name of a branch that is shown, in characters.
const maxBranchName = 200

// others returns the branches and requests for which contained is false: at most
// maxBranches, branches before requests. Both are sorted by the time of their
// commits, newest first; without a time, branches are sorted by name and requests
// by number, highest first. The gap reports how many are left out.
func (r refs) others(contained func(plumbing.Hash) bool, when func(plumbing.Hash) int64) (found []branch, gap string) {
	for name, hash := range r.named {
		b := branch{hash: hash}
		if m := requestHead().FindStringSubmatch(name.String()); m != nil {
			number, err := strconv.Atoi(m[2])
			if err != nil {
				continue
			}
			b.number, b.name = number, map[string]string{"pull": "pull request ", "merge-requests": "merge request "}[m[1]]+m[2]
		} else if name.IsBranch() {
			b.name = printable.Line(name.Short(), maxBranchName)
		}
		if b.name == "" || contained(hash) {
			continue
		}
		b.when = when(hash)
		found = append(found, b)
	}
	slices.SortFunc(found, func(a, b branch) int {
		return cmp.Or(
			cmp.Compare(min(a.number, 1), min(b.number, 1)), cmp.Compare(b.when, a.when),
			cmp.Compare(b.number, a.number), cmp.Compare(a.name, b.name), slices.Compare(a.hash[:], b.hash[:]),
		)
	})
	if more := len(found) - maxBranches; more > 0 {
		return found[:maxBranches], fmt.Sprintf("%d of %d branches and pull requests are not read", more, len(found))
	}
	return found, ""
}
