package match

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// held returns the unreadable part of the group's declarations that may declare
// a resource which is expected to be declared, or nil.
func (g *group) held(r *model.Resource) *model.Unjudged {
	return g.part(r, func(d *model.Declaration, p *model.Problem) bool { return p.MayDeclareAt(r) || g.reaches(d, r) })
}

// part returns the first unreadable part of the group's declarations that may
// declare the resource and that counts, or nil.
func (g *group) part(r *model.Resource, counts func(*model.Declaration, *model.Problem) bool) *model.Unjudged {
	for _, d := range g.members {
		for i := range d.Problems {
			if p := &d.Problems[i]; p.MayDeclare(r) && counts(d, p) {
				return &model.Unjudged{Declaration: d.Name, Address: p.Address, Reason: p.Reason}
			}
		}
	}
	return nil
}

// reaches reports whether a part of the declaration that names no place may
// declare the resource: the declaration governs it, or its scopes do not tell.
// A broken file of one declaration does not silence the places that only others
// govern.
func (g *group) reaches(d *model.Declaration, r *model.Resource) bool {
	if len(d.Scopes) == 0 || r.Parent != (model.Ref{}) || !g.holds(r) {
		return true
	}
	return slices.ContainsFunc(d.Scopes, func(s model.Scope) bool { return s.Holds(r.Kind, r.Place) })
}

// unexpected returns why a resource that nothing claims, and that no declaration
// is expected to declare, was not judged; nil where there is nothing to judge.
// An unreadable part may be what governs its place.
func (g governance) unexpected(r *model.Resource) *model.Unjudged {
	var why *model.Unjudged
	watched := r.Watched != "" && !g.holds(r)
	for _, one := range g.groups {
		if part := one.part(r, func(*model.Declaration, *model.Problem) bool { return true }); why == nil {
			why = part
		}
		if watched && one.watching() != nil {
			if why == nil {
				why = &model.Unjudged{Reason: r.Watched}
			}
			why.Older, why.Expected = true, true
		}
	}
	return why
}

// watching returns the declarations that are expected to declare what is watched
// anywhere, or nil; sorted.
func (g *group) watching() []string {
	var names []string
	for _, d := range g.members {
		if d.Watches {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	return names
}

// newer reports whether the resource was created after the first complete look
// at its scope. Without such a look, or without a time, it is not.
func newer(first []model.FirstLook, r *model.Resource) bool {
	for _, place := range []string{r.Place, ""} {
		for i := range first {
			if f := &first[i]; f.Kind == r.Kind && f.Place == place {
				return r.Created.After(f.Newest)
			}
		}
	}
	return false
}

// FirstLooks returns the scopes that a snapshot read in full and that known does
// not hold yet, sorted. Only kinds of which resources can be watched count.
func FirstLooks(s *model.Snapshot, known []model.FirstLook) []model.FirstLook {
	places := map[string]bool{}
	for i := range s.Coverage {
		places[s.Coverage[i].Place] = true
	}
	seen := map[model.Scope]bool{}
	for i := range known {
		seen[known[i].Scope] = true
	}
	looks := map[model.Scope]*model.FirstLook{}
	for name, kind := range s.Kinds {
		whole := model.Scope{Kind: name}
		switch {
		case !kind.Watched || seen[whole]:
			continue
		case covered(s, whole):
			looks[whole] = &model.FirstLook{Source: s.Source, Scope: whole}
			continue
		}
		for place := range places {
			if scope := (model.Scope{Kind: name, Place: place}); !seen[scope] && covered(s, scope) {
				looks[scope] = &model.FirstLook{Source: s.Source, Scope: scope}
			}
		}
	}
	return dated(s, looks)
}

// covered reports whether the snapshot read a scope in full. The entry of a place
// counts for that place alone.
func covered(s *model.Snapshot, scope model.Scope) bool {
	own := slices.ContainsFunc(s.Coverage, func(c model.Coverage) bool { return c.Kind == scope.Kind && c.Place == scope.Place })
	if scope.Place != "" && !own {
		return false
	}
	complete, _ := s.Covers(scope.Kind, scope.Place)
	return complete
}

// dated notes in each look when the newest resource of its scope was created.
func dated(s *model.Snapshot, looks map[model.Scope]*model.FirstLook) []model.FirstLook {
	for i := range s.Resources {
		r := &s.Resources[i]
		for _, place := range []string{"", r.Place} {
			if f := looks[model.Scope{Kind: r.Kind, Place: place}]; f != nil && r.Created.After(f.Newest) {
				f.Newest = r.Created
			}
		}
	}
	sorted := make([]model.FirstLook, 0, len(looks))
	for _, f := range looks {
		sorted = append(sorted, *f)
	}
	slices.SortFunc(sorted, func(a, b model.FirstLook) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Place, b.Place))
	})
	return sorted
}
