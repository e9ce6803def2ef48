package model

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// CauseFrom is how many findings of one cause are said as one. Fewer are said
// singly.
const CauseFrom = 4

// A Cause is what findings have in common that one request brought about: who
// asked for it and where that is written, the verdict, and the same changes,
// whatever resources they are on. The zero Cause is that of a finding of which
// nobody knows that others belong to it.
type Cause struct {
	Source string
	Request
	Verdict Verdict
	changes [sha256.Size]byte
}

// A Request is one request of an actor, as a log tells which of its entries
// belong together. IDs are unique within the log.
type Request struct{ Via, ID, By string }

// Cause returns what the finding shares with others that the same request
// brought about; the zero Cause where no request is known, or where some of its
// changes come from another one. It is the same before and after Public.
func (f *Finding) Cause() Cause {
	request := f.Actor.Request
	if request == "" || slices.ContainsFunc(f.Changes, func(c Change) bool { return c.Actor != nil && c.Actor.Request != request }) {
		return Cause{}
	}
	shown := f.Public()
	changes := make([]string, len(shown.Changes))
	for i := range shown.Changes {
		changes[i] = string(shown.Changes[i].essence(nil))
	}
	slices.Sort(changes)
	var all []byte
	for _, c := range changes {
		all = appendText(all, c)
	}
	return Cause{f.Source, Request{f.Actor.Via, request, f.Actor.Name}, f.Verdict, sha256.Sum256(all)}
}

// IsZero reports whether there is no cause to share.
func (c Cause) IsZero() bool { return c == Cause{} }

// ByCause puts together what has one cause, where there is CauseFrom of it or
// more; all else stands alone. Of tells the cause, and what sets things apart
// all the same. Groups come in the order of their first members, and members in
// the order of all.
func ByCause[T any](all []T, of func(T) (cause Cause, apart string)) [][]T {
	type key struct {
		Cause
		apart string
	}
	keys, members := make([]key, len(all)), map[key][]T{}
	for i, one := range all {
		if cause, apart := of(one); !cause.IsZero() {
			keys[i] = key{cause, apart}
			members[keys[i]] = append(members[keys[i]], one)
		}
	}
	groups, placed := make([][]T, 0, len(all)), map[key]bool{}
	for i := range all {
		switch group := members[keys[i]]; {
		case len(group) < CauseFrom:
			groups = append(groups, all[i:i+1:i+1])
		case !placed[keys[i]]:
			groups, placed[keys[i]] = append(groups, group), true
		}
	}
	return groups
}

// essence appends what a change says whatever resource it is on: its path, and
// how each side differs from the live one.
func (c *Change) essence(b []byte) []byte {
	b = appendText(b, c.Path)
	alone := len(c.Claims) == 0
	for _, side := range []*Value{c.Declared, c.Recorded, c.Running} {
		if side == nil {
			b = append(b, 'a')
			continue
		}
		b, alone = appendDifference(append(b, 's'), side, c.Live), false
	}
	for i := range c.Claims {
		said := &c.Claims[i]
		b = appendText(appendText(append(b, 'c'), said.Declaration), said.Path)
		b = appendDifference(b, &said.Value, c.Live)
	}
	if alone {
		b = appendSide(b, c.Live)
	}
	return b
}

// appendDifference appends how two values differ: of lists what went and what
// came, of maps the fields that differ, of all else both.
func appendDifference(b []byte, before, after *Value) []byte {
	switch {
	case before == nil || after == nil:
	case before.kind == List && after.kind == List:
		if went, came := without(before.Items(), after.Items()), without(after.Items(), before.Items()); len(went)+len(came) > 0 {
			return appendTexts(appendTexts(append(b, 'l'), went), came)
		}
	case before.kind == Map && after.kind == Map:
		b = append(b, 'm')
		for _, name := range fieldNames(before, after) {
			x, had := before.Get(name)
			y, has := after.Get(name)
			if had != has || !x.Equal(y) {
				b = appendDifference(appendText(append(b, 'f'), name), present(x, had), present(y, has))
			}
		}
		return append(b, 'e')
	}
	return appendSide(appendSide(append(b, 'v'), before), after)
}

// without returns the items that others do not hold, each as often as it is
// there too often, as sorted JSON.
func without(items, others []Value) []string {
	there := map[string]int{}
	for _, item := range others {
		there[string(item.AppendJSON(nil))]++
	}
	var left []string
	for _, item := range items {
		text := string(item.AppendJSON(nil))
		if there[text]--; there[text] < 0 {
			left = append(left, text)
		}
	}
	slices.Sort(left)
	return left
}

// fieldNames returns the names of the fields of two maps, sorted.
func fieldNames(a, b *Value) []string {
	var names []string
	for _, f := range slices.Concat(a.Fields(), b.Fields()) {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func present(v Value, ok bool) *Value {
	if !ok {
		return nil
	}
	return &v
}

func appendSide(b []byte, v *Value) []byte {
	if v == nil {
		return append(b, 'a')
	}
	return appendText(append(b, 's'), string(v.AppendJSON(nil)))
}

func appendTexts(b []byte, texts []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(texts)))
	for _, s := range texts {
		b = appendText(b, s)
	}
	return b
}

// appendText appends a text so that what follows is not taken for its end.
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
