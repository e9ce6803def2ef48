package match

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// declaredBy returns the delegations to objects that a declaration declares. Delegations
// to other objects do not count.
func declaredBy(delegated []model.Delegation, claims map[model.Ref][]*model.Claim) []model.Delegation {
	return slices.DeleteFunc(slices.Clone(delegated), func(d model.Delegation) bool {
		return d.By != (model.Ref{}) && !claimed(claims[d.By])
	})
}

// declaredOf returns the refs to objects that a declaration declares.
func declaredOf(refs []model.Ref, claims map[model.Ref][]*model.Claim) []model.Ref {
	return slices.DeleteFunc(slices.Clone(refs), func(r model.Ref) bool { return !claimed(claims[r]) })
}

// claimed reports whether one of the claims on an object declares it. A claim that only
// records an earlier apply does not.
func claimed(claims []*model.Claim) bool {
	return slices.ContainsFunc(claims, func(c *model.Claim) bool { return !c.Value.IsNull() || c.Unchecked != "" })
}
