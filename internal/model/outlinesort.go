package model

import (
	"cmp"
	"encoding/binary"
	"iter"
	"runtime"
	"slices"
	"sync"
)

// SortOutlines sorts outlines in the order of CompareWorst, on all cores. It computes the first parts of
// each rank once and holds them together, because it takes longer to read outlines than to compare them.
func SortOutlines(list []*Outline) {
	origins := originRanks(list)
	size := max(len(list)/runtime.GOMAXPROCS(0), 1024)
	parts := make([][]sortable, (len(list)+size-1)/size)
	var group sync.WaitGroup
	for i := range parts {
		part := list[i*size : min((i+1)*size, len(list))]
		group.Go(func() { parts[i] = sortPart(part, origins) })
	}
	group.Wait()
	for len(parts) > 2 {
		merged := make([][]sortable, (len(parts)+1)/2)
		for i := range merged {
			if 2*i+1 == len(parts) {
				merged[i] = parts[2*i]
				continue
			}
			group.Go(func() {
				a, b := parts[2*i], parts[2*i+1]
				merged[i] = slices.AppendSeq(make([]sortable, 0, len(a)+len(b)), mergeSorted(a, b))
			})
		}
		group.Wait()
		parts = merged
	}
	var last [2][]sortable
	copy(last[:], parts)
	i := 0
	for s := range mergeSorted(last[0], last[1]) {
		list[i] = s.Outline
		i++
	}
}

// sortPart returns outlines in the order of CompareWorst.
func sortPart(list []*Outline, origins map[Key]int32) []sortable {
	sorted := make([]sortable, len(list))
	origin, last := int32(0), (*Outline)(nil)
	for i, o := range list {
		if last == nil || o.Source != last.Source || o.Kind != last.Kind {
			origin, last = origins[Key{Source: o.Source, Kind: o.Kind}], o
		}
		id, more := beginning(o.Key.ID)
		sorted[i] = sortable{urgency(o.Severity, o.Exposure, o.FirstSeen), origin, id, more, o}
	}
	slices.SortFunc(sorted, func(a, b sortable) int { return a.compare(&b) })
	return sorted
}

// A sortable is an outline with the first parts of its rank.
type sortable struct {
	urgency uint64
	// origin is the position of its source and kind among those of all outlines.
	origin int32
	// id and more are the beginning of the ID of the resource, as numbers in the order of IDs.
	id, more uint64
	*Outline
}

func (s *sortable) compare(t *sortable) int {
	switch {
	case s.urgency != t.urgency:
		return cmp.Compare(s.urgency, t.urgency)
	case s.origin != t.origin:
		return cmp.Compare(s.origin, t.origin)
	case s.id != t.id:
		return cmp.Compare(s.id, t.id)
	case s.more != t.more:
		return cmp.Compare(s.more, t.more)
	}
	x, y := s.rank(), t.rank()
	return x.compare(&y)
}

func (s *sortable) rank() rank {
	return rank{s.urgency, &s.Key, s.Declaration, s.Address, s.Verdict, s.ID}
}

// originRanks returns the positions of the sources and kinds of outlines, as keys without an ID.
func originRanks(list []*Outline) map[Key]int32 {
	ranks := map[Key]int32{}
	var origins []Key
	for i, o := range list {
		if i > 0 && o.Source == list[i-1].Source && o.Kind == list[i-1].Kind {
			continue
		}
		origin := Key{Source: o.Source, Kind: o.Kind}
		if _, known := ranks[origin]; !known {
			ranks[origin] = 0
			origins = append(origins, origin)
		}
	}
	slices.SortFunc(origins, Key.Compare)
	for i, origin := range origins {
		ranks[origin] = int32(i)
	}
	return ranks
}

// beginning returns the first sixteen bytes of a text, as two numbers.
func beginning(text string) (first, second uint64) {
	var b [16]byte
	copy(b[:], text)
	return binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])
}

// mergeSorted yields what two sorted lists have, in order.
func mergeSorted(a, b []sortable) iter.Seq[sortable] {
	return func(yield func(sortable) bool) {
		for len(a) > 0 || len(b) > 0 {
			least := &a
			if len(a) == 0 || len(b) > 0 && b[0].compare(&a[0]) < 0 {
				least = &b
			}
			if !yield((*least)[0]) {
				return
			}
			*least = (*least)[1:]
		}
	}
}
