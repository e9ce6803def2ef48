package model

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// CauseFrom is the smallest number of findings with one cause that ByCause groups.
const CauseFrom = 4

// A Cause identifies the request that caused a finding, together with the source, the verdict and
// the changes. Findings on different resources with equal causes were caused by the same request in
// the same way. The zero Cause means that the request is unknown. Causes are comparable.
type Cause struct {
	Source string
	Request
	Verdict Verdict
	changes [sha256.Size]byte
}

// A Request is one request of an actor, to which several entries of a log can belong. Via is the
// log, ID the ID of the request, unique within the log, and By the name of the actor.
type Request struct{ Via, ID, By string }

// Cause returns the cause of the finding. It returns the zero Cause if the request is unknown, or
// if one of the changes belongs to another request. The result is the same before and after Public.
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

// IsZero reports whether the cause is unknown.
func (c Cause) IsZero() bool { return c == Cause{} }

// ByCause groups the elements of all that have the same cause and the same apart, if there are at
// least CauseFrom of them. Each other element is in a group of its own. The function of returns the
// cause of an element and the text apart, by which elements of the same cause can be kept in
// different groups. Groups are ordered by their first elements; the elements of a group are in the
// order of all.
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

// essence appends the part of a change that does not depend on the resource: its path, and
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
		claimed := &c.Claims[i]
		b = appendText(appendText(append(b, 'c'), claimed.Declaration), claimed.Path)
		b = appendDifference(b, &claimed.Value, c.Live)
	}
	if alone {
		b = appendSide(b, c.Live)
	}
	return b
}

// appendDifference appends how two values differ: of lists the removed and the added
// elements, of maps the fields that differ, of others both values.
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

// without returns the items without the others, as sorted JSON. Items may repeat.
func without(items, others []Value) []string {
	count := map[string]int{}
	for _, item := range others {
		count[string(item.AppendJSON(nil))]++
	}
	var left []string
	for _, item := range items {
		text := string(item.AppendJSON(nil))
		if count[text]--; count[text] < 0 {
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

// appendText appends the length of a text and the text.
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
