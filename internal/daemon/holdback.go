package daemon

import (
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

const (
	vanishedShare = 0.20
	vanishedCount = 5
)

// holdBack holds a result back if many of the earlier resources are missing from it, unless the
// last result was held back, too, and had the same number of resources. A failed read can look like a mass deletion, but
// only a real one gives the same result again. Resources that could not be read count as before.
func holdBack(before, now collected) collected {
	if now.err != nil {
		return now
	}
	found := before.expected(&now.snapshot)
	gone, had := vanished(before.kinds, found.kinds)
	if !isMass(gone, had) || before.confirms(found.kinds) {
		now.counts = found
		return now
	}
	now.held, now.counts, now.heldKinds = true, before.counts, found.kinds
	now.err = fmt.Errorf("%d of %d resources vanished since the last read; held back until the next read confirms it", gone, had)
	return now
}

// confirms reports whether the result was held back and had as many resources as another one. After a restart the
// numbers are not known.
func (c *collected) confirms(counts map[string]int) bool {
	return c.held && (c.heldKinds == nil || !isMass(vanished(c.heldKinds, counts)) && !isMass(vanished(counts, c.heldKinds)))
}

// vanished returns how many resources of the kinds in before are not in after, and how many there were.
func vanished(before, after map[string]int) (gone, had int) {
	for kind, n := range before {
		had += n
		gone += max(0, n-after[kind])
	}
	return gone, had
}

// isMass reports whether so many of the resources vanished that the read may be incomplete.
func isMass(gone, had int) bool {
	return gone > vanishedCount && float64(gone) > vanishedShare*float64(had)
}

// counts are numbers of resources.
type counts struct {
	// kinds are the numbers by kind; nil if the source was never read.
	kinds map[string]int
	// places are the numbers by kind and place; nil after a restart.
	places map[placed]int
}

type placed struct{ kind, place string }

func countResources(s *model.Snapshot) counts {
	c := counts{kinds: map[string]int{}, places: map[placed]int{}}
	for i := range s.Resources {
		r := &s.Resources[i]
		c.kinds[r.Kind]++
		c.places[placed{r.Kind, r.Place}]++
	}
	return c
}

// expected returns the numbers of a later snapshot, in which what could not be read counts as in c. A single resource
// that could not be read counts as one, since it is not absent.
func (c counts) expected(s *model.Snapshot) counts {
	now := countResources(s)
	unread := map[string]int{}
	for i := range s.Unread {
		u := &s.Unread[i]
		switch covered, _ := s.Covers(u.Kind, u.Place); {
		case u.All && u.SystemOwned != "": // such as an unconfirmed subscription, which anyone can add
		case u.All:
			unread[u.Kind] += c.kinds[u.Kind]
		case covered:
			unread[u.Kind]++
		}
	}
	covers := coverage(s)
	for at, n := range c.places {
		if n > now.places[at] && !covers(at) {
			unread[at.kind] += n - now.places[at]
			now.places[at] = n
		}
	}
	for kind, n := range c.kinds {
		if c.places == nil && !isComplete(s, kind) {
			unread[kind] = n
		}
		if n = min(n, now.kinds[kind]+unread[kind]); n > now.kinds[kind] {
			now.kinds[kind] = n
		}
	}
	return now
}

// coverage returns a function that reports whether a kind was read in a place. A source may have thousands of places,
// while its coverage has an entry for each kind.
func coverage(s *model.Snapshot) func(placed) bool {
	local := map[string]bool{}
	for i := range s.Coverage {
		if c := &s.Coverage[i]; c.Place != "" {
			local[c.Kind] = true
		}
	}
	known := map[placed]bool{}
	return func(at placed) bool {
		if !local[at.kind] && !local[""] {
			at.place = ""
		}
		covered, ok := known[at]
		if !ok {
			covered, _ = s.Covers(at.kind, at.place)
			known[at] = covered
		}
		return covered
	}
}

// isComplete reports whether every place of a kind that the snapshot names was read.
func isComplete(s *model.Snapshot, kind string) bool {
	whole, _ := s.Covers(kind, "")
	return whole && !slices.ContainsFunc(s.Coverage, func(c model.Coverage) bool { return c.Kind == kind && !c.Complete })
}
