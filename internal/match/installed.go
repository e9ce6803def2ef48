package match

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// withRecords returns the claims with what was last applied according to the records of
// deployment tools in the snapshot, and without those that do not apply because their resource is
// neither live nor recorded. It does not change the claims.
func withRecords(snapshot *model.Snapshot, claims []*model.Claim) []*model.Claim {
	kept := claims[:0]
	for _, c := range claims {
		if !c.OnlyLive || exists(snapshot, c) {
			kept = append(kept, withRecord(snapshot, c))
		}
	}
	return kept
}

// exists reports whether the resource of a claim is live, or stands in the record of its installation. An operation that did
// not succeed may hide the value that was last applied, and not that the object was.
func exists(snapshot *model.Snapshot, c *model.Claim) bool {
	ref := model.Ref{Kind: c.Kind, ID: c.ID}
	if snapshot.Find(ref) != nil || isUnread(snapshot, c) {
		return true
	}
	by := snapshot.Find(c.InstalledBy)
	return by != nil && by.Record.Find(ref) != nil
}

// withRecord returns a copy of the claim with Recorded set to the value that its installation
// applied.
func withRecord(snapshot *model.Snapshot, c *model.Claim) *model.Claim {
	by := snapshot.Find(c.InstalledBy)
	if c.InstalledBy == (model.Ref{}) || by == nil {
		return c
	}
	recorded := *c
	switch applied := by.Record.Find(model.Ref{Kind: c.Kind, ID: c.ID}); {
	case c.Kind == by.Kind && c.ID == by.ID:
		recorded.Recorded = &by.Value // the record is what is live
	case applied == nil || applied.Value.IsNull() || !applied.Attempted.IsNull():
		return c
	default:
		recorded.Recorded = &applied.Value
	}
	return &recorded
}

// isUnread reports whether the resource of a claim exists and could not be read.
func isUnread(snapshot *model.Snapshot, c *model.Claim) bool {
	return slices.ContainsFunc(snapshot.Unread, func(u model.Unread) bool { return u.Kind == c.Kind && u.ID == c.ID })
}

// installersIn returns, for each resource that the records of installations list, the live
// resources with these records, sorted.
func installersIn(snapshot *model.Snapshot) map[model.Ref][]model.Installer {
	all := map[model.Ref][]model.Installer{}
	for i := range snapshot.Resources {
		r := &snapshot.Resources[i]
		for _, ref := range r.Installs {
			all[ref] = append(all[ref], model.Installer{Ref: model.Ref{Kind: r.Kind, ID: r.ID}, Tool: toolOf(r.Kind), Place: r.Place, Name: r.Name})
		}
		if r.Record == nil {
			continue
		}
		for _, o := range r.Record.Objects {
			all[o.Ref] = append(all[o.Ref], model.Installer{Ref: model.Ref{Kind: r.Kind, ID: r.ID},
				Tool: r.Record.Tool, Place: r.Record.Place, Name: r.Record.Name, Applied: o.Value, Attempted: o.Attempted})
		}
	}
	return all
}

// toolOf returns the name of a kind without its group: "Kustomization".
func toolOf(kind string) string {
	_, name, _ := strings.Cut(kind, "/")
	name, _, _ = strings.Cut(name, ".")
	return name
}

// declaredByObjects reports whether a resource is the record of an installation of which all objects
// are declared, such as a release whose rendered chart is in git. The installation itself needs no
// declaration then.
func declaredByObjects(r *model.Resource, claims claimed) bool {
	return r.Record != nil && len(r.Record.Objects) > 0 &&
		!slices.ContainsFunc(r.Record.Objects, func(o model.Installed) bool { return len(claims.on(o.Ref)) == 0 })
}
