package match

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// dropped returns the actors that removed live resources from declarations, by resource and
// declaration. A removal applies to the one resource that has the most reliable identity of the
// removed claim. It is ignored if another unique identity contradicts that, or if the resource is
// younger than the removal.
func (m matcher) dropped(snapshot *model.Snapshot) map[model.Ref]map[string]model.Actor {
	all := map[model.Ref]map[string]model.Actor{}
	for i := range m {
		d := &m[i]
		claims := make([]*model.Claim, 0, len(d.Removals))
		for k := range d.Removals {
			r := &d.Removals[k]
			if r.Source == snapshot.Source && len(r.Kinds) > 0 {
				claims = append(claims, &model.Claim{Kind: r.Kinds[0], ClaimMatching: model.ClaimMatching{AltKinds: r.Kinds[1:], Identities: r.Identities}, ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{{Actor: r.Actor}}}})
			}
		}
		f := newFinder(snapshot, claims)
		for _, c := range claims {
			if f != nil {
				f.recordRemoval(c, d.Name, all)
			}
		}
	}
	return all
}

// recordRemoval records the actor that removed the claim on a live resource. A later removal
// replaces an earlier one.
func (f *finder) recordRemoval(c *model.Claim, declaration string, all map[model.Ref]map[string]model.Actor) {
	by, found := f.candidates(c)
	if len(found) != 1 {
		return
	}
	live, who := f.live[found[0]], c.AuditEvents[0].Actor
	if live.Created.After(who.At) || contradicts(c.Identities, live.Identities) {
		return
	}
	if by == "name" && who.Confidence == model.Exact {
		who.Confidence = model.Likely
	}
	if all[found[0]] == nil {
		all[found[0]] = map[string]model.Actor{}
	}
	all[found[0]][declaration] = who
}

// contradicts reports whether two things have different identities of a kind that is
// unique: numbers are given again, names change.
func contradicts(a, b []model.Identity) bool {
	for _, unique := range []string{"uuid", "mac"} {
		is := func(id model.Identity) bool { return id.By == unique }
		common := func(id model.Identity) bool { return is(id) && slices.Contains(b, id) }
		if slices.ContainsFunc(a, is) && slices.ContainsFunc(b, is) && !slices.ContainsFunc(a, common) {
			return true
		}
	}
	return false
}

// droppedFrom returns the actors that removed a resource from the declarations that do not declare
// it, sorted by declaration.
func (m matcher) droppedFrom(silent [][]string, by map[string]model.Actor) []model.Dropped {
	var all []model.Dropped
	for i := range m {
		d := &m[i]
		who, known := by[d.Name]
		switch {
		case !slices.ContainsFunc(silent, func(group []string) bool { return slices.Contains(group, d.Name) }):
		case known:
			all = append(all, model.Dropped{Declaration: d.Name, Actor: who})
		case d.LogUnread != "":
			all = append(all, model.Dropped{Declaration: d.Name, Actor: model.UnknownActor(d.LogUnread)})
		}
	}
	slices.SortFunc(all, func(a, b model.Dropped) int { return cmp.Compare(a.Declaration, b.Declaration) })
	return all
}
