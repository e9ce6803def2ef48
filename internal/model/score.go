package model

import (
	"cmp"
	"slices"
)

// A Score counts how many resources of one source and one owner can be rebuilt from what declares them. Nothing that was not
// checked counts as good.
type Score struct {
	Source string `json:"source"`
	Owner  string `json:"owner"`
	// Live counts the live resources that a declaration has, or that one should have, and Declared the former.
	Live     int `json:"live"`
	Declared int `json:"declared"`
	// Claims counts the declared resources, live or not. The others are a part of it: those that are in sync, whose
	// declaration gives equal results for equal inputs, and whose declaration has only pinned versions.
	Claims        int     `json:"claims"`
	InSync        Checked `json:"in_sync"`
	Deterministic Checked `json:"deterministic"`
	Pinned        Checked `json:"pinned"`
}

// Checked counts the resources that have a property, and those of which that is unknown.
type Checked struct {
	Good      int `json:"good"`
	Unchecked int `json:"unchecked"`
}

// Count counts one resource.
func (c *Checked) Count(good, unchecked bool) {
	switch {
	case unchecked:
		c.Unchecked++
	case good:
		c.Good++
	}
}

// Add adds the counts of another score.
func (s *Score) Add(o *Score) {
	s.Live, s.Declared, s.Claims = s.Live+o.Live, s.Declared+o.Declared, s.Claims+o.Claims
	for _, p := range []struct{ to, of *Checked }{{&s.InSync, &o.InSync}, {&s.Deterministic, &o.Deterministic}, {&s.Pinned, &o.Pinned}} {
		p.to.Good, p.to.Unchecked = p.to.Good+p.of.Good, p.to.Unchecked+p.of.Unchecked
	}
}

// Scored is one property of a Score: how many of a number of resources have it.
type Scored struct {
	Name          string
	Of            int
	Good, Unknown int
}

// Properties returns the properties of a score, in the order in which they are shown.
func (s *Score) Properties() []Scored {
	return []Scored{{"declared", s.Live, s.Declared, 0}, {"deterministic", s.Claims, s.Deterministic.Good, s.Deterministic.Unchecked},
		{"pinned", s.Claims, s.Pinned.Good, s.Pinned.Unchecked}, {"in_sync", s.Claims, s.InSync.Good, s.InSync.Unchecked}}
}

// Scores sums scores by source, or by owner, and returns the sums sorted by name, with the sum of all.
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
