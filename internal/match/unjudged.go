package match

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// unreadablePart returns the unreadable part of the group's declarations that may declare a
// resource that is expected to be declared, or nil.
func (g *declarationGroup) unreadablePart(r *model.Resource) *model.Unjudged {
	return g.partWhere(r, func(d *model.Declaration, p *model.Problem) bool { return p.MayDeclareAt(r) || g.mayReach(d, r) })
}

// partWhere returns the first unreadable part of the group's declarations that may declare
// the resource and for which counts returns true, or nil.
func (g *declarationGroup) partWhere(r *model.Resource, counts func(*model.Declaration, *model.Problem) bool) *model.Unjudged {
	for _, d := range g.members {
		for i := range d.Problems {
			if p := &d.Problems[i]; p.MayDeclare(r) && counts(d, p) {
				return &model.Unjudged{Declaration: d.Name, Address: p.Address, Reason: p.Reason}
			}
		}
	}
	return nil
}

// mayReach reports whether a part of the declaration that names no place may declare the
// resource: the declaration governs its place, or no declaration does, or the
// declaration has no scopes. A broken file of one declaration has no effect in places
// that only other declarations govern.
func (g *declarationGroup) mayReach(d *model.Declaration, r *model.Resource) bool {
	if len(d.Scopes) == 0 || r.Parent != (model.Ref{}) || !g.holds(r) {
		return true
	}
	return slices.ContainsFunc(d.Scopes, func(s model.Scope) bool { return s.Contains(r.Kind, r.Place) })
}

// whyUnjudged returns the reason why an unclaimed resource was not judged if no declaration is
// expected to declare it: an unreadable part may declare it, or it is watched but not new. It
// returns nil if neither applies.
func (g governance) whyUnjudged(r *model.Resource) *model.Unjudged {
	var why *model.Unjudged
	watched := r.Watched != "" && !g.holds(r)
	for _, one := range g.groups {
		if part := one.partWhere(r, func(*model.Declaration, *model.Problem) bool { return true }); why == nil {
			why = part
		}
		if watched && one.watchers() != nil {
			if why == nil {
				why = &model.Unjudged{Reason: r.Watched}
			}
			why.Older, why.Expected = true, true
		}
	}
	return why
}

// watchers returns the declarations that are expected to declare watched resources in
// any place, sorted; nil if there are none.
func (g *declarationGroup) watchers() []string {
	var names []string
	for _, d := range g.members {
		if d.Watches {
			names = append(names, d.Name)
		}
	}
	return names
}

// newer reports whether the resource was created after the newest resource that the
// first complete look at its scope saw. It returns false without such a look, and for a
// resource without a creation time.
func newer(first []model.FirstRead, r *model.Resource) bool {
	for _, place := range []string{r.Place, ""} {
		for i := range first {
			if f := &first[i]; f.Kind == r.Kind && f.Place == place {
				return r.Created.After(f.Newest)
			}
		}
	}
	return false
}

// FirstLooks returns the first reads of the scopes that the snapshot read in full and that are not
// in known, sorted by kind and place. It includes only kinds whose resources can be watched.
func FirstLooks(s *model.Snapshot, known []model.FirstRead) []model.FirstRead {
	seen := map[model.Scope]bool{}
	for i := range known {
		seen[known[i].Scope] = true
	}
	looks := map[model.Scope]*model.FirstRead{}
	look := func(scope model.Scope) {
		if complete, _ := s.Covers(scope.Kind, scope.Place); complete && !seen[scope] {
			looks[scope] = &model.FirstRead{Source: s.Source, Scope: scope}
		}
	}
	for name, kind := range s.Kinds {
		if kind.Watched {
			look(model.Scope{Kind: name})
		}
	}
	for i := range s.Coverage {
		c := &s.Coverage[i]
		kind, whole := s.Kinds[c.Kind], model.Scope{Kind: c.Kind}
		if kind != nil && kind.Watched && !seen[whole] && looks[whole] == nil {
			look(model.Scope{Kind: c.Kind, Place: c.Place})
		}
	}
	return dated(s, looks)
}

// dated returns the first reads, sorted, with the creation time of the newest resource of each
// scope.
func dated(s *model.Snapshot, looks map[model.Scope]*model.FirstRead) []model.FirstRead {
	for i := range s.Resources {
		r := &s.Resources[i]
		for _, place := range []string{"", r.Place} {
			if f := looks[model.Scope{Kind: r.Kind, Place: place}]; f != nil && r.Created.After(f.Newest) {
				f.Newest = r.Created
			}
		}
	}
	sorted := make([]model.FirstRead, 0, len(looks))
	for _, f := range looks {
		sorted = append(sorted, *f)
	}
	slices.SortFunc(sorted, func(a, b model.FirstRead) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Place, b.Place))
	})
	return sorted
}
