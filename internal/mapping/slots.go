package mapping

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// slots are the numbered fields of a live resource that hold things of one
// sort (net0, net1, …), or of several (scsi0, virtio3, …).
type slots struct {
	prefixes []string
	// where must hold of an entry, except must not, and one of having must be
	// there, where it names any.
	where, except []condition
	having        []string
	// gaps keeps a place for each number below the highest that is taken.
	gaps bool
}

// A condition is a value that a field below an entry must have.
type condition struct {
	names []string
	want  model.Value
}

func (c condition) holds(v model.Value) bool {
	got := v.At(c.names...)
	return got.Equal(c.want) || c.want.IsEmpty() && got.IsNull()
}

// An entry is one such field.
type entry struct {
	key   string
	sort  int
	n     int
	value model.Value
}

// of returns the entries of root, in the order of the prefixes and then of
// their numbers.
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

// maxSlot bounds what gaps can make of one absurd number.
const maxSlot = 1024

// number reads the number of a slot.
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

// has tells whether a field is one of the slots, whatever it holds.
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
