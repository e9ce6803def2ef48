package match

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// declaredBy returns the delegations to objects that a declaration declares. Delegations
// to other objects do not count.
func declaredBy(delegated []model.Delegation, claims claimed) []model.Delegation {
	return slices.DeleteFunc(slices.Clone(delegated), func(d model.Delegation) bool {
		return d.By != (model.Ref{}) && !declares(claims.on(d.By))
	})
}

// declaredOf returns the refs to objects that a declaration declares.
func declaredOf(refs []model.Ref, claims claimed) []model.Ref {
	return slices.DeleteFunc(slices.Clone(refs), func(r model.Ref) bool { return !declares(claims.on(r)) })
}

// declares reports whether one of the claims on an object declares it. A claim that only
// records an earlier apply does not.
func declares(claims []*model.Claim) bool {
	return slices.ContainsFunc(claims, func(c *model.Claim) bool { return !c.Value.IsNull() || c.Unchecked != "" })
}
