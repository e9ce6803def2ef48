package match

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// A group is the declarations of one kind that govern a source: those that make
// things, or those that keep an inventory of them. A claim of one of them on a
// resource is enough.
type group struct {
	// inventory reports that the declarations are inventories.
	inventory bool
	members   []*model.Declaration
	places    map[string]bool
	kinds     []model.Scope
	// covered are resources that a claim of the group covers in addition to its
	// own.
	covered map[model.Ref]bool
}

// governance knows which declarations are expected to declare which resources
// of a source.
type governance struct {
	groups []*group
	first  []model.FirstLook
}

func (m matcher) governance(source *model.Snapshot, claims map[model.Ref][]*model.Claim) governance {
	g := governance{first: source.First}
	for _, inventory := range []bool{false, true} {
		one := &group{inventory: inventory, places: map[string]bool{}, covered: map[model.Ref]bool{}}
		for i := range m.declarations {
			if d := &m.declarations[i]; d.Inventory == inventory && slices.Contains(d.Governs, source.Source) {
				one.add(d)
			}
		}
		g.groups = append(g.groups, one)
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

// An expectation is what governance says of a live resource.
type expectation struct {
	silent   [][]string
	outside  string
	partial  string
	unjudged *model.Unjudged
}

// expect returns what is expected of a live resource. Each group that should
// declare it and does not is silent, with the declarations that should. A group of
// which an unreadable part may declare the resource is not: where no other group is
// silent either, a resource that nothing claims is not judged.
func (g governance) expect(r *model.Resource, claims map[model.Ref][]*model.Claim) expectation {
	ref := model.Ref{Kind: r.Kind, ID: r.ID}
	made := claims[ref]
	var e expectation
	var held *model.Unjudged
	for _, one := range g.groups {
		if one.covered[ref] || one.claims(made) {
			continue
		}
		names, outside := g.expecting(one, r, claims)
		if names == nil {
			continue
		}
		if part := one.held(r); part != nil {
			held = cmp.Or(held, part)
			continue
		}
		e.silent, e.outside = append(e.silent, names), outside
	}
	switch {
	case len(made) > 0, held == nil && e.silent != nil:
	case held == nil:
		e.unjudged = g.unexpected(r)
	case e.silent == nil:
		held.Expected = true
		e.unjudged = held
	default:
		e.partial = held.Address + " of " + held.Declaration + " could not be read, and may declare it"
	}
	return e
}

// expecting returns the declarations of a group that are expected to declare a
// resource, or nil: it lies in a governed scope, belongs to a resource that the
// group claims, or is watched, and new or altered; then outside says so. An inventory lists
// things, and not their parts.
func (g governance) expecting(one *group, r *model.Resource, claims map[model.Ref][]*model.Claim) (names []string, outside string) {
	switch {
	case r.Parent != (model.Ref{}) && !one.inventory:
		if one.claims(claims[r.Parent]) {
			return one.names(nil), ""
		}
	case one.holds(r):
		return one.names(r), ""
	case r.Altered && !g.holds(r):
		return one.watching(), "in no governed scope, and not as the system makes it: " + r.Watched
	case r.Watched != "" && newer(g.first, r) && !g.holds(r):
		return one.watching(), "in no governed namespace, and created after the first complete scan: " + r.Watched
	}
	return nil, ""
}

// holds reports whether the resource lies in a scope of any group.
func (g governance) holds(r *model.Resource) bool {
	return slices.ContainsFunc(g.groups, func(one *group) bool { return one.holds(r) })
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
	return names
}
