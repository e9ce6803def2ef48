package match

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// An inventoryOf has what the inventory of a live resource must list.
type inventoryOf struct {
	// commit is the one that the declarations were read at; "" if they were read at several.
	commit string
	// live are the objects that the declaration has through the resource, and that are live.
	live []model.Ref
}

// inventories are by the resource with the inventory.
type inventories map[model.Ref]*inventoryOf

// inventories returns what the claims require of the inventories of the snapshot.
func (m matcher) inventories(snapshot *model.Snapshot, claims map[model.Ref][]*model.Claim) inventories {
	commits := map[string]string{}
	for i := range m {
		commits[m[i].Name] = m[i].Revision
	}
	all := inventories{}
	for ref, list := range claims {
		for _, c := range list {
			commit := commits[c.Declaration]
			if by := liveIn(snapshot, c.InstalledBy); by == nil || by.Inventory == nil || commit == "" || c.Unchecked != "" || c.OnlyLive || liveIn(snapshot, ref) == nil {
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

// check returns a resource with the violation of its inventory. An inventory of another commit shows nothing: the check is
// undecided. Everyone who can write the inventory can end the violation, and no other finding depends on it.
func (all inventories) check(r *model.Resource) *model.Resource {
	of := all[model.Ref{Kind: r.Kind, ID: r.ID}]
	if of == nil {
		return r
	}
	checked := *r
	if of.commit == "" || r.Inventory.Commit != of.commit {
		checked.Undecided = slices.Sorted(slices.Values(append(slices.Clip(r.Undecided), r.Inventory.Lacks.Check)))
		return &checked
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
	checked.Violations = append(slices.Clip(r.Violations), v)
	slices.SortStableFunc(checked.Violations, func(a, b model.Violation) int { return cmp.Compare(a.Check, b.Check) })
	return &checked
}

// leftBy returns the resource with an inventory that the labels of an unclaimed resource name, if no inventory lists the resource. Labels
// prove nothing: they only explain a finding.
func leftBy(snapshot *model.Snapshot, r *model.Resource, installers []model.Installer) string {
	by := liveIn(snapshot, r.Origin.AppliedBy)
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
