package model

import (
	"cmp"
	"slices"
)

// A Score counts how many resources of one source and one owner can be rebuilt from their
// declarations. Resources that were not checked never count as good.
type Score struct {
	Source string `json:"source"`
	Owner  string `json:"owner"`
	// Live is the number of live resources that a declaration contains or should contain, and
	// Declared the number of those that one contains.
	Live     int `json:"live"`
	Declared int `json:"declared"`
	// Claims is the number of declared resources, live or not. InSync counts those that are in
	// sync. Deterministic counts those whose declaration gives equal results for equal inputs, and
	// Pinned those whose declaration contains only pinned versions.
	Claims        int     `json:"claims"`
	InSync        Checked `json:"in_sync"`
	Deterministic Checked `json:"deterministic"`
	Pinned        Checked `json:"pinned"`
}

// A Checked counts the resources that have a property, and those for which the property is unknown.
type Checked struct {
	Good      int `json:"good"`
	Unchecked int `json:"unchecked"`
}

// Count adds one resource to the counts. A resource that is both good and unchecked counts as
// unchecked.
func (c *Checked) Count(good, unchecked bool) {
	switch {
	case unchecked:
		c.Unchecked++
	case good:
		c.Good++
	}
}

// Add adds the counts of o to s.
func (s *Score) Add(o *Score) {
	s.Live, s.Declared, s.Claims = s.Live+o.Live, s.Declared+o.Declared, s.Claims+o.Claims
	for _, p := range []struct{ to, of *Checked }{{&s.InSync, &o.InSync}, {&s.Deterministic, &o.Deterministic}, {&s.Pinned, &o.Pinned}} {
		p.to.Good, p.to.Unchecked = p.to.Good+p.of.Good, p.to.Unchecked+p.of.Unchecked
	}
}

// A Scored is one property of a Score. Of is the number of resources, Good the number of those with
// the property, and Unknown the number of those for which it is unknown.
type Scored struct {
	Name          string
	Of            int
	Good, Unknown int
}

// Properties returns the properties of the score in the order of display.
func (s *Score) Properties() []Scored {
	return []Scored{{"declared", s.Live, s.Declared, 0}, {"deterministic", s.Claims, s.Deterministic.Good, s.Deterministic.Unchecked},
		{"pinned", s.Claims, s.Pinned.Good, s.Pinned.Unchecked}, {"in_sync", s.Claims, s.InSync.Good, s.InSync.Unchecked}}
}

// Scores returns the sums of the scores by source, or by owner if byOwner is set, sorted by name,
// and the sum of all scores.
func Scores(list []Score, byOwner bool) (sums []Score, total Score) {
	at := map[Score]int{}
	for i := range list {
		key := Score{Source: list[i].Source}
		if byOwner {
			key = Score{Owner: list[i].Owner}
		}
		k, known := at[key]
		if !known {
			k = len(sums)
			at[key], sums = k, append(sums, key)
		}
		sums[k].Add(&list[i])
		total.Add(&list[i])
	}
	slices.SortFunc(sums, func(a, b Score) int { return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Owner, b.Owner)) })
	return sums, total
}
