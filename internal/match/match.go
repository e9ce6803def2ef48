// Package match pairs live resources with the claims on them. It is pure: the
// order in which snapshots and declarations arrive never matters.
package match

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// Match returns every subject, sorted by key: each resource of each snapshot,
// and each claim on something that was not seen. A declaration claims in every
// source that it governs; a governed source without a snapshot has nothing
// read, for the reason that unread names by source.
func Match(snapshots []model.Snapshot, declarations []model.Declaration, unread map[string]string) []model.Subject {
	m := matcher{declarations: declarations, unread: unread}
	sources := map[string]*model.Snapshot{}
	for i := range snapshots {
		sources[snapshots[i].Source] = &snapshots[i]
	}
	var subjects []model.Subject
	for _, name := range m.sources(sources) {
		subjects = append(subjects, m.source(name, sources[name])...)
	}
	return subjects
}

type matcher struct {
	declarations []model.Declaration
	unread       map[string]string
}

// sources returns the names of all sources that were read or are claimed in.
func (m matcher) sources(read map[string]*model.Snapshot) []string {
	var names []string
	for name := range read {
		names = append(names, name)
	}
	for _, d := range m.declarations {
		names = append(names, d.Governs...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// kind returns what is known of a kind: by the source, or, where that has no
// schema, by a declaration that defines it.
func (m matcher) kind(snapshot *model.Snapshot, name string) *model.Kind {
	kind := snapshot.Kinds[name]
	if kind != nil && kind.Schema != nil {
		return kind
	}
	for i := range m.declarations {
		defined := m.declarations[i].Kinds[name]
		if defined == nil || !slices.Contains(m.declarations[i].Governs, snapshot.Source) {
			continue
		}
		if kind == nil {
			return defined
		}
		merged := *defined
		merged.Version, merged.Namespaced = kind.Version, kind.Namespaced
		return &merged
	}
	return kind
}

type claimKey struct{ kind, id string }

// source matches within one source.
func (m matcher) source(name string, snapshot *model.Snapshot) []model.Subject {
	if snapshot == nil {
		snapshot = &model.Snapshot{Source: name, Coverage: []model.Coverage{{Source: name, Reason: m.unread[name]}}}
	}
	claims := m.claims(name, snapshot)
	governed := m.governed(name)
	subjects := make([]model.Subject, 0, len(snapshot.Resources)+len(claims))
	for i := range snapshot.Resources {
		r := &snapshot.Resources[i]
		key := claimKey{r.Kind, r.ID}
		subjects = append(subjects, model.Subject{Key: r.Key, Place: r.Place, Name: r.Name, Live: r,
			Kind: m.kind(snapshot, r.Kind), Claims: claims[key], Governed: governed(r.Kind, r.Place)})
		delete(claims, key)
	}
	for key, list := range claims {
		subjects = append(subjects, m.unseen(name, key, list, snapshot))
	}
	slices.SortFunc(subjects, func(a, b model.Subject) int { return a.Key.Compare(b.Key) })
	return subjects
}

// unseen is the subject of claims on a resource that the snapshot lacks.
func (m matcher) unseen(source string, key claimKey, claims []*model.Claim, snapshot *model.Snapshot) model.Subject {
	s := model.Subject{Key: model.Key{Source: source, Kind: key.kind, ID: key.id}, Place: claims[0].Place,
		Name: claims[0].Name, Kind: m.kind(snapshot, key.kind), Claims: claims}
	if covered, reason := snapshot.Covers(key.kind, s.Place); !covered {
		s.Unread = cmp.Or(reason, "not read")
	}
	return s
}

// claims returns the claims that are made in a source, by what they claim.
func (m matcher) claims(source string, snapshot *model.Snapshot) map[claimKey][]*model.Claim {
	claims := map[claimKey][]*model.Claim{}
	for i := range m.declarations {
		d := &m.declarations[i]
		if !slices.Contains(d.Governs, source) {
			continue
		}
		for j := range d.Claims {
			c := settle(&d.Claims[j], snapshot)
			key := claimKey{c.Kind, c.ID}
			claims[key] = append(claims[key], c)
		}
	}
	for _, list := range claims {
		slices.SortStableFunc(list, func(a, b *model.Claim) int {
			return cmp.Or(cmp.Compare(a.Declaration, b.Declaration), cmp.Compare(a.Address, b.Address))
		})
	}
	return claims
}

// settle gives a claim whose declaration does not know whether the kind has
// places the id that the live system would give it.
func settle(c *model.Claim, snapshot *model.Snapshot) *model.Claim {
	kind := snapshot.Kinds[c.Kind]
	if c.AltID == "" || kind == nil || kind.Namespaced {
		return c
	}
	settled := *c
	settled.ID, settled.Place = c.AltID, ""
	return &settled
}

// governed returns a function that tells whether everything of a kind and
// place of the source is expected to be declared. It is not while a part of a
// governing declaration could not be read: what that part declares is unknown.
func (m matcher) governed(source string) func(kind, place string) bool {
	var everywhere []model.Scope
	places := map[string]bool{}
	var broken bool
	for _, d := range m.declarations {
		if !slices.Contains(d.Governs, source) {
			continue
		}
		broken = broken || len(d.Problems) > 0
		for _, s := range d.Scopes {
			if s.Kind == "" && s.Place != "" {
				places[s.Place] = true
			} else {
				everywhere = append(everywhere, s)
			}
		}
	}
	return func(kind, place string) bool {
		if broken {
			return false
		}
		return places[place] || slices.ContainsFunc(everywhere, func(s model.Scope) bool { return s.Holds(kind, place) })
	}
}
