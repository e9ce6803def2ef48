package model

import (
	"cmp"
	"encoding/binary"
	"iter"
	"runtime"
	"slices"
	"sync"
)

// SortOutlines sorts list in place in the order of CompareWorst.
func SortOutlines(list []*Outline) {
	unsorted := slices.Clone(list)
	for i, at := range OutlineOrder(unsorted) {
		list[i] = unsorted[at]
	}
}

// OutlineOrder returns the positions of the elements of list in the order of CompareWorst. It uses
// all processors. It computes the first parts of each rank only once, since reading outlines takes
// longer than comparing them.
func OutlineOrder(list []*Outline) []int32 {
	s := outlineSorter{list, originRanks(list)}
	size := max(len(list)/runtime.GOMAXPROCS(0), 1024)
	parts := make([][]sortable, (len(list)+size-1)/size)
	var group sync.WaitGroup
	for i := range parts {
		group.Go(func() { parts[i] = s.sorted(i*size, min((i+1)*size, len(list))) })
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
				merged[i] = slices.AppendSeq(make([]sortable, 0, len(a)+len(b)), s.merge(a, b))
			})
		}
		group.Wait()
		parts = merged
	}
	var last [2][]sortable
	copy(last[:], parts)
	order := make([]int32, 0, len(list))
	for o := range s.merge(last[0], last[1]) {
		order = append(order, o.at)
	}
	return order
}

// An outlineSorter sorts outlines. origins are the positions of their sources and kinds.
type outlineSorter struct {
	list    []*Outline
	origins map[Key]int32
}

// sorted returns a part of the outlines in the order of CompareWorst.
func (s *outlineSorter) sorted(from, to int) []sortable {
	sorted := make([]sortable, to-from)
	origin, last := int32(0), (*Outline)(nil)
	for i, o := range s.list[from:to] {
		if last == nil || o.Source != last.Source || o.Kind != last.Kind {
			origin, last = s.origins[Key{Source: o.Source, Kind: o.Kind}], o
		}
		id, more := beginning(o.Key.ID)
		sorted[i] = sortable{urgency(o.Severity, o.Exposure, o.FirstSeen), origin, int32(from + i), id, more}
	}
	slices.SortFunc(sorted, func(a, b sortable) int { return s.compare(&a, &b) })
	return sorted
}

// A sortable is the first parts of the rank of an outline.
type sortable struct {
	urgency uint64
	// origin is the position of its source and kind among those of all outlines, at that of the outline itself.
	origin, at int32
	// id and more are the beginning of the ID of the resource, as numbers in the order of IDs.
	id, more uint64
}

func (s *outlineSorter) compare(a, b *sortable) int {
	switch {
	case a.urgency != b.urgency:
		return cmp.Compare(a.urgency, b.urgency)
	case a.origin != b.origin:
		return cmp.Compare(a.origin, b.origin)
	case a.id != b.id:
		return cmp.Compare(a.id, b.id)
	case a.more != b.more:
		return cmp.Compare(a.more, b.more)
	}
	x, y := s.rank(a), s.rank(b)
	return x.compare(&y)
}

func (s *outlineSorter) rank(a *sortable) rank {
	o := s.list[a.at]
	return rank{a.urgency, &o.Key, o.Declaration, o.Address, o.Verdict, o.ID}
}

// originRanks returns the position of each pair of source and kind in sorted order. The ID of its
// keys is empty.
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

// merge yields what two sorted lists have, in order.
func (s *outlineSorter) merge(a, b []sortable) iter.Seq[sortable] {
	return func(yield func(sortable) bool) {
		for len(a) > 0 || len(b) > 0 {
			least := &a
			if len(a) == 0 || len(b) > 0 && s.compare(&b[0], &a[0]) < 0 {
				least = &b
			}
			if !yield((*least)[0]) {
				return
			}
			*least = (*least)[1:]
		}
	}
}
