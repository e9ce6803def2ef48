package match

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// declaredBy returns the delegations to objects that a declaration declares. Delegations
// to other objects do not count.
func declaredBy(delegated []model.Delegation, claims map[model.Ref][]*model.Claim) []model.Delegation {
	return slices.DeleteFunc(slices.Clone(delegated), func(d model.Delegation) bool {
		return d.By != (model.Ref{}) && !claimed(d.By, claims)
	})
}

// declaredOf returns the refs to objects that a declaration declares.
func declaredOf(refs []model.Ref, claims map[model.Ref][]*model.Claim) []model.Ref {
	return slices.DeleteFunc(slices.Clone(refs), func(r model.Ref) bool { return !claimed(r, claims) })
}

// claimed reports whether a declaration declares the object. A claim that only records
// an earlier apply does not count.
func claimed(ref model.Ref, claims map[model.Ref][]*model.Claim) bool {
	return slices.ContainsFunc(claims[ref], func(c *model.Claim) bool { return !c.Value.IsNull() || c.Unchecked != "" })
}
