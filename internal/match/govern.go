package match

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// A group is the declarations of one kind that govern a source: those that make
// things, or those that keep an inventory of them. One that speaks of a resource
// is enough.
type group struct {
	// inventory tells that it keeps an inventory.
	inventory bool
	members   []*model.Declaration
	places    map[string]bool
	kinds     []model.Scope
	// broken tells that a part of one could not be read: what that part declares
	// is unknown.
	broken bool
	// covered are resources that a claim of the group speaks for beside its own.
	covered map[model.Ref]bool
}

// governance tells who is expected to speak of what in a source.
type governance struct{ groups []*group }

func (m matcher) governance(source string, claims map[model.Ref][]*model.Claim) governance {
	var g governance
	for _, inventory := range []bool{false, true} {
		one := &group{inventory: inventory, places: map[string]bool{}, covered: map[model.Ref]bool{}}
		for i := range m.declarations {
			if d := &m.declarations[i]; d.Inventory == inventory && slices.Contains(d.Governs, source) {
				one.add(d)
			}
		}
		if len(one.members) > 0 {
			g.groups = append(g.groups, one)
		}
	}
	for _, list := range claims {
		for _, c := range list {
			if of := g.of(c.Declaration); of != nil {
				for _, ref := range c.Covers {
					of.covered[ref] = true
				}
			}
		}
	}
	return g
}

func (g *group) add(d *model.Declaration) {
	g.members = append(g.members, d)
	g.broken = g.broken || len(d.Problems) > 0
	for _, scope := range d.Scopes {
		if scope.Kind == "" && scope.Place != "" {
			g.places[scope.Place] = true
		} else {
			g.kinds = append(g.kinds, scope)
		}
	}
}

func (g *group) has(declaration string) bool {
	return slices.ContainsFunc(g.members, func(d *model.Declaration) bool { return d.Name == declaration })
}

func (g governance) of(declaration string) *group {
	for _, one := range g.groups {
		if one.has(declaration) {
			return one
		}
	}
	return nil
}

// silent returns, for each group that is expected to speak of the resource and
// does not, the declarations whose scope holds it: one in a governed scope, or
// one that belongs to a resource that the group claims. An inventory lists the
// things themselves, and nothing of what belongs to them. Of a resource that
// nobody claims nothing is said while a part of a declaration is unknown.
func (g governance) silent(r *model.Resource, claims map[model.Ref][]*model.Claim) [][]string {
	ref := model.Ref{Kind: r.Kind, ID: r.ID}
	var silent [][]string
	for _, one := range g.groups {
		switch {
		case one.broken && len(claims[ref]) == 0:
			return nil
		case one.broken || one.covered[ref] || one.claims(claims[ref]):
		case r.Parent != (model.Ref{}) && !one.inventory:
			if one.claims(claims[r.Parent]) {
				silent = append(silent, one.names(nil))
			}
		case one.holds(r):
			silent = append(silent, one.names(r))
		}
	}
	return silent
}

func (g *group) claims(list []*model.Claim) bool {
	return slices.ContainsFunc(list, func(c *model.Claim) bool { return g.has(c.Declaration) })
}

func (g *group) holds(r *model.Resource) bool {
	return g.places[r.Place] || slices.ContainsFunc(g.kinds, func(s model.Scope) bool { return s.Holds(r.Kind, r.Place) })
}

// names returns the members whose scope holds the resource, or, without one, all
// of them; sorted.
func (g *group) names(r *model.Resource) []string {
	var names []string
	for _, d := range g.members {
		if r == nil || slices.ContainsFunc(d.Scopes, func(s model.Scope) bool { return s.Holds(r.Kind, r.Place) }) {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	return names
}
