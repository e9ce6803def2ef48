package mapping

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// slots selects the numbered fields of a live resource with one prefix (net0, net1, …), or
// with several (scsi0, virtio3, …).
type slots struct {
	prefixes []string
	// All conditions of where and none of except must hold for an entry, and it must have one
	// of the fields having, if there are any.
	where, except []condition
	having        []string
	// gaps adds an empty entry for each unused number below the highest one.
	gaps bool
}

// A condition requires a value of a field of an entry.
type condition struct {
	names []string
	want  model.Value
}

func (c condition) holds(v model.Value) bool {
	got := v.At(c.names...)
	return got.Equal(c.want) || c.want.IsEmpty() && got.IsNull()
}

// An entry is one numbered field.
type entry struct {
	key   string
	sort  int
	n     int
	value model.Value
}

// of returns the entries of root, sorted by prefix and then by number.
func (s *slots) of(root model.Value) []entry {
	var entries []entry
	fields := root.Fields()
	for sort, prefix := range s.prefixes {
		// Fields are sorted by name, so those of one prefix lie together.
		from, _ := slices.BinarySearchFunc(fields, prefix, func(f model.Field, p string) int { return cmp.Compare(f.Name, p) })
		for _, f := range fields[from:] {
			if !strings.HasPrefix(f.Name, prefix) {
				break
			}
			if n, ok := number(f.Name[len(prefix):]); ok && s.holds(f.Value) {
				entries = append(entries, entry{key: f.Name, sort: sort, n: n, value: f.Value})
			}
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(cmp.Compare(a.sort, b.sort), cmp.Compare(a.n, b.n)) })
	if s.gaps {
		return s.fill(entries)
	}
	return entries
}

func (s *slots) holds(v model.Value) bool {
	fits := func(c condition) bool { return c.holds(v) }
	there := func(name string) bool { return !v.At(name).IsNull() }
	return !slices.ContainsFunc(s.except, fits) && !slices.ContainsFunc(s.where, func(c condition) bool { return !fits(c) }) &&
		(len(s.having) == 0 || slices.ContainsFunc(s.having, there))
}

// maxSlot limits the entries that gaps adds for an extreme number.
const maxSlot = 1024

// number parses the number of a slot.
func number(digits string) (n int, ok bool) {
	for i := range len(digits) {
		d := int(digits[i]) - '0'
		if d < 0 || d > 9 || n >= maxSlot {
			return 0, false
		}
		n = 10*n + d
	}
	return n, digits != "" && n < maxSlot
}

// has reports whether a field is one of the slots, with any value.
func (s *slots) has(name string) bool {
	return slices.ContainsFunc(s.prefixes, func(prefix string) bool {
		digits, ok := strings.CutPrefix(name, prefix)
		_, numbered := number(digits)
		return ok && numbered
	})
}

func (s *slots) fill(entries []entry) []entry {
	if len(entries) == 0 || entries[len(entries)-1].n == len(entries)-1 {
		return entries
	}
	all := make([]entry, entries[len(entries)-1].n+1)
	for i := range all {
		all[i] = entry{key: s.prefixes[0] + strconv.Itoa(i), n: i}
	}
	for _, e := range entries {
		all[e.n] = e
	}
	return all
}
