package match

import "github.com/driftd/driftd/internal/model"

// unreadable returns the subjects of resources that exist, could not be read, and are expected to
// be declared by declarations that do not claim them. It omits a resource to which a claim may
// refer by another identity, because the subject of that claim covers it, and those inPart, which
// were read in part.
func (m matcher) unreadable(snapshot *model.Snapshot, claims claimed, inPart map[model.Ref]bool, g governance) []model.Subject {
	var subjects []model.Subject
	for i := range snapshot.Unread {
		u := &snapshot.Unread[i]
		if inPart[u.Ref] || len(claims.on(u.Ref)) > 0 || anyMayMatch(claims, u) {
			continue
		}
		r := &model.Resource{Key: model.Key{Source: snapshot.Source, Kind: u.Kind, ID: u.ID}, Place: u.Place, Name: u.Name, Parent: u.Parent}
		if expected := g.expect(r, nil, claims); expected.undeclaredBy != nil {
			subjects = append(subjects, model.Subject{Key: r.Key, Place: u.Place, Name: u.Name, Kind: m.kind(snapshot, u.Kind),
				Unread: u.Reason, SystemOwned: u.SystemOwned, UndeclaredBy: expected.undeclaredBy, Partial: expected.partial})
		}
	}
	return subjects
}
