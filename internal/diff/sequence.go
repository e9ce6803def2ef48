package diff

import "github.com/driftd/driftd/internal/model"

// sequences reports whether two values are lists that the schema compares as a Sequence.
func sequences(schema *model.Schema, d, l model.Value) bool {
	list := func(v model.Value) bool { return v.Kind() == model.List || v.IsNull() }
	return schema != nil && schema.List == model.Sequence && list(d) && list(l) && !(d.IsNull() && l.IsNull())
}

// sequence compares two lists element by element. The fields of an element that only one
// side has are reported at its position on that side.
func (w *walk) sequence(schema *model.Schema, d, r, l model.Value) {
	recorded := w.recordedOf(schema, d, r)
	pairs := pairSequence(schema, d.Items(), l.Items())
	for _, p := range pairs {
		dv, lv := itemAt(d, p.d), itemAt(l, p.l)
		w.push(p.segment(schema, dv))
		w.sequenceElement(schema.Element(), dv, recorded(p.d, lv), lv)
		w.pop()
	}
}

// recordedOf returns a function that returns the recorded element for the declared one at a
// position or, for an element that is only live, the recorded one that equals it.
func (w *walk) recordedOf(schema *model.Schema, d, r model.Value) func(at int, l model.Value) model.Value {
	if w.claim.RecordOnly {
		return func(at int, _ model.Value) model.Value { return itemAt(d, at) }
	}
	byPosition := map[int]model.Value{}
	var free []model.Value
	for _, p := range pairSequence(schema, d.Items(), r.Items()) {
		switch {
		case p.d >= 0:
			byPosition[p.d] = itemAt(r, p.l)
		default:
			free = append(free, itemAt(r, p.l))
		}
	}
	return func(at int, l model.Value) model.Value {
		if at >= 0 {
			return byPosition[at]
		}
		for i := range free {
			if Equal(schema.Element(), free[i], l) {
				return free[i]
			}
		}
		return model.Value{}
	}
}

// sequenceElement compares one pair; an absent element has only defaults.
func (w *walk) sequenceElement(schema *model.Schema, d, r, l model.Value) {
	if d.Kind() == model.Map || l.Kind() == model.Map {
		w.fields(schema, d, r, l)
		return
	}
	w.leaf(schema, d, r, l)
}

// A pairing is the positions of one element in two lists, -1 where a list lacks
// it, and the position under which it is reported.
type pairing struct{ d, l, at int }

// segment returns the path segment of the element. In a live path, an element that is not
// live has its key, or else its position among the declared ones.
func (p pairing) segment(schema *model.Schema, d model.Value) segment {
	s := indexSegment(p.at, p.l)
	if p.l < 0 {
		s.liveIndex = -1 - p.d
		if len(schema.Keys) == 1 {
			s.name = d.At(schema.Keys[0]).Str()
		}
	}
	return s
}

// pairSequence pairs the elements of two lists. If the schema has keys, it pairs by key; otherwise
// it pairs equal elements in order, and then the elements between the same equal ones by position.
func pairSequence(schema *model.Schema, d, l []model.Value) []pairing {
	same := func(i, j int) bool { return Equal(schema.Element(), d[i], l[j]) }
	if len(schema.Keys) > 0 {
		return pairNamed(schema, d, l)
	}
	var pairs []pairing
	i, j := 0, 0
	for _, anchor := range append(anchors(len(d), len(l), same), pairing{d: len(d), l: len(l)}) {
		for i < anchor.d && j < anchor.l {
			pairs = append(pairs, pairing{i, j, i})
			i, j = i+1, j+1
		}
		for ; i < anchor.d; i++ {
			pairs = append(pairs, pairing{i, -1, i})
		}
		for ; j < anchor.l; j++ {
			pairs = append(pairs, pairing{-1, j, j})
		}
		if i < len(d) {
			pairs = append(pairs, anchor)
		}
		i, j = anchor.d+1, anchor.l+1
	}
	return pairs
}

// pairNamed pairs elements by all their keys, and then the others by the first key.
// Elements that only the second list has follow those of the first.
func pairNamed(schema *model.Schema, d, l []model.Value) []pairing {
	pairs := make([]pairing, 0, max(len(d), len(l)))
	taken := make([]bool, len(l))
	for i := range d {
		pairs = append(pairs, pairing{i, -1, i})
	}
	half := *schema
	half.Keys = schema.Keys[:1]
	for _, by := range []*model.Schema{schema, &half} {
		for i := range d {
			for j := 0; j < len(l) && pairs[i].l < 0; j++ {
				if !taken[j] && sameElement(by, d[i], l[j]) {
					pairs[i].l, taken[j] = j, true
				}
			}
		}
	}
	for j := range l {
		if !taken[j] {
			pairs = append(pairs, pairing{-1, j, len(pairs)})
		}
	}
	return pairs
}

// longestSequence bounds the cells of the comparison of two lists; longer ones
// are paired by position.
const longestSequence = 1 << 20

// anchors returns a longest common subsequence of two lists as pairs of positions.
func anchors(n, m int, same func(i, j int) bool) []pairing {
	if n*m > longestSequence {
		return nil
	}
	common := make([]int32, (n+1)*(m+1))
	at := func(i, j int) *int32 { return &common[i*(m+1)+j] }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if same(i, j) {
				*at(i, j) = *at(i+1, j+1) + 1
			} else {
				*at(i, j) = max(*at(i+1, j), *at(i, j+1))
			}
		}
	}
	var pairs []pairing
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case same(i, j) && *at(i, j) == *at(i+1, j+1)+1:
			pairs = append(pairs, pairing{i, j, i})
			i, j = i+1, j+1
		case *at(i+1, j) >= *at(i, j+1):
			i++
		default:
			j++
		}
	}
	return pairs
}
