package daemon

import (
	"cmp"
	"maps"
	"slices"

	"github.com/driftd/driftd/internal/match"
	"github.com/driftd/driftd/internal/model"
)

// firstLooks sets FirstReads of the view's snapshots, and returns the first reads that this scan
// adds.
func (e *Engine) firstLooks(v view) ([]model.FirstRead, error) {
	all, err := e.store.FirstReads()
	if err != nil {
		return nil, err
	}
	var made []model.FirstRead
	for i := range v.sources {
		s := &v.sources[i]
		if s.err != nil {
			continue
		}
		s.snapshot.FirstReads = slices.DeleteFunc(slices.Clone(all), func(f model.FirstRead) bool { return f.Source != s.Name })
		made = append(made, match.FirstLooks(&s.snapshot, s.snapshot.FirstReads)...)
	}
	return made, nil
}

// notJudged counts the live resources that were not judged, by reason, sorted.
func notJudged(judged []model.Judged) []model.NotJudged {
	type cause struct {
		source, declaration, address, reason string
		older                                bool
	}
	found := map[cause]*model.NotJudged{}
	for i := range judged {
		s := judged[i].Subject
		if s.Unjudged == nil || !s.Unjudged.Expected || s.SystemOwned != "" {
			continue
		}
		u := *s.Unjudged
		if u.Older {
			u.Declaration, u.Address, u.Reason = "", "", olderReason
		}
		why := cause{s.Source, u.Declaration, u.Address, u.Reason, u.Older}
		if found[why] == nil {
			found[why] = &model.NotJudged{Source: s.Source, Declaration: u.Declaration, Address: u.Address, Older: u.Older, Reason: u.Reason}
		}
		found[why].Count++
		if n := found[why]; len(n.Resources) < model.MaxUnjudged {
			n.Resources = append(n.Resources, model.NotJudgedResource{Kind: s.Key.Kind, ID: s.ID, Place: s.Place, Watched: s.Live.Watched})
		}
	}
	all := make([]model.NotJudged, 0, len(found))
	for _, n := range slices.Collect(maps.Values(found)) {
		all = append(all, *n)
	}
	slices.SortFunc(all, func(a, b model.NotJudged) int {
		return cmp.Or(model.CompareBool(a.Older, b.Older), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Declaration, b.Declaration),
			cmp.Compare(a.Address, b.Address), cmp.Compare(a.Reason, b.Reason))
	})
	return all
}

const olderReason = "in no governed namespace, and older than the first complete scan"

// countHeld counts the resources that were not judged because a part of a
// declaration could not be read.
func countHeld(all []model.NotJudged) int {
	n := 0
	for i := range all {
		if !all[i].Older {
			n += all[i].Count
		}
	}
	return n
}

// notGoverned returns the places into which declarations put objects but which no declaration
// governs, sorted by source, place and declaration.
func notGoverned(v view) []model.NotGoverned {
	var all []model.NotGoverned
	for i := range v.sources {
		s := &v.sources[i]
		for j := range s.declarations {
			d := &s.declarations[j]
			for _, n := range d.NotGoverned {
				if !s.governs(n.Place) {
					n.Source, n.Declaration = s.Name, d.Name
					all = append(all, n)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b model.NotGoverned) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Declaration, b.Declaration))
	})
	return all
}

// governs reports whether a declaration of the source governs a whole place.
func (s *sourceView) governs(place string) bool {
	return slices.ContainsFunc(s.declarations, func(d model.Declaration) bool {
		return slices.Contains(d.Scopes, model.Scope{Place: place})
	})
}
