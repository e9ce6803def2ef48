package match

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// A declarationGroup has the inventories that govern a source, or the other declarations
// that do. A claim of one of its declarations on a resource is sufficient.
type declarationGroup struct {
	// inventory reports that the declarations are inventories.
	inventory bool
	members   []*model.Declaration
	places    map[string]bool
	kinds     []model.Scope
	// covered are resources that a claim of the group covers in addition to its
	// own.
	covered map[model.Ref]bool
	// included are identities of resources that a declaration of the group includes.
	included map[identified]bool
	// children are the kinds of the children of claimed resources that their claims cover.
	children map[childKind]bool
}

// A childKind is a kind of the children of a resource.
type childKind struct {
	parent model.Ref
	kind   string
}

// covers reports whether a claim of the group covers a resource in addition to its own.
func (g *declarationGroup) covers(r *model.Resource) bool {
	return g.covered[model.Ref{Kind: r.Kind, ID: r.ID}] || g.children[childKind{r.Parent, r.Kind}] ||
		slices.ContainsFunc(r.Identities, func(id model.Identity) bool { return g.included[identified{r.Kind, id}] })
}

// governance determines which declarations are expected to declare a resource of a
// source.
type governance struct {
	groups []*declarationGroup
	first  []model.FirstRead
	// usualParents are the parents that no declaration is expected to declare.
	usualParents map[model.Ref]bool
}

func (m matcher) governance(source *model.Snapshot, claims claimed) governance {
	g := governance{first: source.FirstReads, usualParents: usualParents(source)}
	for _, inventory := range []bool{false, true} {
		one := &declarationGroup{inventory: inventory, places: map[string]bool{}, covered: map[model.Ref]bool{}, included: map[identified]bool{}, children: map[childKind]bool{}}
		for i := range m {
			if d := &m[i]; d.Inventory == inventory && slices.Contains(d.Governs, source.Source) {
				one.add(d, source.Source)
			}
		}
		g.groups = append(g.groups, one)
	}
	for _, on := range claims {
		for _, c := range on.claims {
			if of := g.groupOf(c.Declaration); of != nil {
				for _, ref := range c.Covers {
					of.covered[ref] = true
				}
				for _, kind := range c.CoversChildren {
					of.children[childKind{model.Ref{Kind: c.Kind, ID: c.ID}, kind}] = true
				}
			}
		}
	}
	return g
}

// usualParents returns the parents of resources that no declaration is expected to declare.
func usualParents(source *model.Snapshot) map[model.Ref]bool {
	usual := map[model.Ref]bool{}
	for i := range source.Resources {
		if parent := source.Resources[i].Parent; parent != (model.Ref{}) {
			usual[parent] = false
		}
	}
	for i := range source.Resources {
		r := &source.Resources[i]
		if _, isParent := usual[model.Ref{Kind: r.Kind, ID: r.ID}]; isParent {
			usual[model.Ref{Kind: r.Kind, ID: r.ID}] = r.SystemOwned != ""
		}
	}
	return usual
}

func (g *declarationGroup) add(d *model.Declaration, source string) {
	g.members = append(g.members, d)
	for _, in := range d.Includes {
		switch {
		case in.Source != source:
		case in.ID == "":
			g.included[identified{in.Kind, in.Identity}] = true
		default:
			g.covered[in.Ref] = true
		}
	}
	for _, scope := range d.Scopes {
		if scope.Kind == "" && scope.Place != "" {
			g.places[scope.Place] = true
		} else {
			g.kinds = append(g.kinds, scope)
		}
	}
}

func (g *declarationGroup) has(declaration string) bool {
	return slices.ContainsFunc(g.members, func(d *model.Declaration) bool { return d.Name == declaration })
}

func (g governance) groupOf(declaration string) *declarationGroup {
	for _, one := range g.groups {
		if one.has(declaration) {
			return one
		}
	}
	return nil
}

// An expectation is the result of governance for a live resource.
type expectation struct {
	undeclaredBy [][]string
	outside      string
	partial      string
	unjudged     *model.Unjudged
}

// expect returns the expectation for a live resource, on which the claims made are. undeclaredBy
// contains, for each group that should declare the resource but does not, the declarations that
// should. It omits a group with an unreadable part that may declare the resource. If there is no other
// group, an unclaimed resource is not judged. See docs/decisions/0029.
func (g governance) expect(r *model.Resource, made []*model.Claim, claims claimed) expectation {
	var e expectation
	var unread *model.Unjudged
	for _, one := range g.groups {
		if one.covers(r) || one.claims(made) {
			continue
		}
		names, outside := g.expectedFrom(one, r, claims)
		if names == nil {
			continue
		}
		if part := one.unreadablePart(r); part != nil {
			unread = cmp.Or(unread, part)
			continue
		}
		e.undeclaredBy, e.outside = append(e.undeclaredBy, names), outside
	}
	switch {
	case len(made) > 0, unread == nil && e.undeclaredBy != nil:
	case unread == nil:
		e.unjudged = g.whyUnjudged(r)
	case e.undeclaredBy == nil:
		unread.Expected = true
		e.unjudged = unread
	default:
		e.partial = unread.Address + " of " + unread.Declaration + " could not be read, and may declare it"
	}
	return e
}

// expectedFrom returns the declarations of a group that are expected to declare a
// resource, or nil. They are if it is in a governed scope, belongs to a resource that the
// group claims, or is watched and new or altered; outside is the reason then. A part of a resource
// that the group does not claim is not expected, unless no declaration is expected to declare that
// resource and its tool does not declare the part with it. An inventory has no parts of resources.
func (g governance) expectedFrom(one *declarationGroup, r *model.Resource, claims claimed) (names []string, outside string) {
	switch {
	case r.Parent != (model.Ref{}) && !one.inventory && one.claims(claims.on(r.Parent)):
		return one.names(nil), ""
	case r.Parent != (model.Ref{}) && !one.inventory && (!g.usualParents[r.Parent] || r.DeclaredWithParent):
	case one.holds(r):
		return one.names(r), ""
	case r.Altered && !g.holds(r):
		return one.watchers(), "in no governed scope, and not as the system makes it: " + r.Watched
	case r.Watched != "" && newer(g.first, r) && !g.holds(r):
		return one.watchers(), "in no governed namespace, and created after the first complete scan: " + r.Watched
	}
	return nil, ""
}

// holds reports whether the resource lies in a scope of any group.
func (g governance) holds(r *model.Resource) bool {
	return slices.ContainsFunc(g.groups, func(one *declarationGroup) bool { return one.holds(r) })
}

func (g *declarationGroup) claims(list []*model.Claim) bool {
	return slices.ContainsFunc(list, func(c *model.Claim) bool { return g.has(c.Declaration) })
}

func (g *declarationGroup) holds(r *model.Resource) bool {
	return g.places[r.Place] || slices.ContainsFunc(g.kinds, func(s model.Scope) bool { return s.Contains(r.Kind, r.Place) })
}

// names returns the sorted members whose scopes contain the resource, or all members if it
// is nil.
func (g *declarationGroup) names(r *model.Resource) []string {
	var names []string
	for _, d := range g.members {
		if r == nil || slices.ContainsFunc(d.Scopes, func(s model.Scope) bool { return s.Contains(r.Kind, r.Place) }) {
			names = append(names, d.Name)
		}
	}
	return names
}
