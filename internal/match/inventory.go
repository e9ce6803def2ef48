package match

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// An inventoryOf contains the requirements on the inventory of a live resource.
type inventoryOf struct {
	// commit is the one that the declarations were read at; "" if they were read at several.
	commit string
	// live are the objects that the declaration has through the resource, and that are live.
	live []model.Ref
}

// inventories are by the resource with the inventory.
type inventories map[model.Ref]*inventoryOf

// inventories returns the requirements of the claims on the inventories of the snapshot.
func (m matcher) inventories(snapshot *model.Snapshot, claims claimed) inventories {
	commits := map[string]string{}
	for i := range m {
		commits[m[i].Name] = m[i].Revision
	}
	all := inventories{}
	for ref, on := range claims {
		for _, c := range on.claims {
			commit := commits[c.Declaration]
			if by := snapshot.Find(c.InstalledBy); by == nil || by.Inventory == nil || commit == "" || c.Unchecked != "" || c.OnlyLive || snapshot.Find(ref) == nil {
				continue
			}
			of := all[c.InstalledBy]
			if of == nil {
				of = &inventoryOf{commit: commit}
				all[c.InstalledBy] = of
			}
			if commit != of.commit {
				of.commit = ""
			}
			of.live = append(of.live, ref)
		}
	}
	return all
}

// check returns the resource with the violation of its inventory, if there is one. If the inventory
// is of another commit, the check is undecided. Anyone with write access to the inventory can end
// the violation, and no other finding depends on it.
func (all inventories) check(r *model.Resource) *model.Resource {
	of := all[model.Ref{Kind: r.Kind, ID: r.ID}]
	if of == nil {
		return r
	}
	if of.commit == "" || r.Inventory.Commit != of.commit {
		return withUndecided(r, r.Inventory.Lacks.Check)
	}
	listed := make(map[model.Ref]bool, len(r.Installs))
	for _, ref := range r.Installs {
		listed[ref] = true
	}
	var lacking []string
	for _, ref := range of.live {
		if !listed[ref] {
			_, kind, _ := strings.Cut(ref.Kind, "/")
			lacking = append(lacking, kind+" "+ref.ID)
		}
	}
	if len(lacking) == 0 {
		return r
	}
	slices.Sort(lacking)
	v := r.Inventory.Lacks
	names := namesOf(slices.Compact(lacking))
	v.Value = &names
	return withViolation(r, v)
}

// checkFetched returns a resource with the violation of a controller that has not fetched what the claims on it have. Everyone who can
// write its status can end the violation, and no other finding depends on it.
func checkFetched(r *model.Resource, claims []*model.Claim, taken time.Time) *model.Resource {
	at := slices.IndexFunc(claims, func(c *model.Claim) bool { return c.Fetch != nil })
	if r.Fetched == nil || at < 0 {
		return r
	}
	switch behind, undecided := claims[at].Fetch.Judge(r.Fetched, taken); {
	case behind:
		return withViolation(r, r.Fetched.Behind)
	case undecided:
		return withUndecided(r, r.Fetched.Behind.Check)
	}
	return r
}

// withViolation returns a resource with a further violation.
func withViolation(r *model.Resource, v model.Violation) *model.Resource {
	checked := *r
	checked.Violations = append(slices.Clip(r.Violations), v)
	slices.SortStableFunc(checked.Violations, func(a, b model.Violation) int { return cmp.Compare(a.Check, b.Check) })
	return &checked
}

// withUndecided returns a resource with a further check that cannot be judged.
func withUndecided(r *model.Resource, check string) *model.Resource {
	checked := *r
	checked.Undecided = slices.Sorted(slices.Values(append(slices.Clip(r.Undecided), check)))
	return &checked
}

// leftBy returns the resource with an inventory that the labels of an unclaimed resource name, if no inventory lists the resource. Labels
// prove nothing: they only explain a finding.
func leftBy(snapshot *model.Snapshot, r *model.Resource, installers []model.Installer) string {
	by := snapshot.Find(r.Origin.AppliedBy)
	if by == nil || by.Inventory == nil || len(installers) > 0 {
		return ""
	}
	return toolOf(by.Kind) + " " + by.ID
}

// maxListed bounds the names in the value of a violation.
const maxListed = 100

func namesOf(names []string) model.Value {
	values := make([]model.Value, 0, min(len(names), maxListed+1))
	for _, name := range names[:min(len(names), maxListed)] {
		values = append(values, model.StringOf(name))
	}
	if more := len(names) - maxListed; more > 0 {
		values = append(values, model.StringOf(fmt.Sprintf("%d more", more)))
	}
	return model.ListOf(values...)
}
