package netbox

import (
	"math/big"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// A drive is a disk of a machine.
type drive struct {
	// slot is what the system calls it; path is the field that tells of it, and
	// sized the one that tells its size.
	slot, path, sized string
	// size is in bytes; nil where the system does not tell.
	size *big.Rat
	// aside tells that it holds no data: it is a disk only for who names its slot.
	aside bool
}

// units are the bytes of what may be meant by a NetBox megabyte: a MiB, as one
// that was told GiB times 1000 has it, and 10⁶ bytes.
func units() []*big.Rat {
	return []*big.Rat{big.NewRat(1<<20, 1), big.NewRat(1<<30, 1000), big.NewRat(1_000_000, 1)}
}

// fits tells whether a disk has the size that NetBox says, in one unit; parts of
// a megabyte do not count.
func fits(size *big.Rat, declared model.Value, unit *big.Rat) bool {
	want := ratOf(declared)
	if want == nil || size == nil {
		return false
	}
	apart := new(big.Rat).Sub(new(big.Rat).Quo(size, unit), want)
	return apart.Abs(apart).Cmp(big.NewRat(1, 1)) < 0
}

// megabytes returns a size as NetBox would say it, in the unit that its own
// number seems to have.
func megabytes(size *big.Rat, declared model.Value) model.Value {
	n := new(big.Rat).Quo(size, unitOf(declared))
	return model.IntOf(new(big.Int).Quo(n.Num(), n.Denom()).Int64())
}

// unitOf guesses the unit of a number: 20000 is 20 GB, 20480 20 GiB.
func unitOf(declared model.Value) *big.Rat {
	n, thousand := ratOf(declared), big.NewRat(1000, 1)
	if n != nil && !new(big.Rat).Quo(n, big.NewRat(1024, 1)).IsInt() && new(big.Rat).Quo(n, thousand).IsInt() {
		return units()[1]
	}
	return units()[0]
}

// bytesOf is what a size is in bytes.
func bytesOf(declared model.Value) (model.Value, bool) {
	n := ratOf(declared)
	if n == nil {
		return model.Value{}, false
	}
	n.Mul(n, unitOf(declared))
	return model.IntOf(new(big.Int).Quo(n.Num(), n.Denom()).Int64()), true
}

// sum tells the size of all disks together.
func sum(m machine, says model.Value) sight {
	drives, total := holding(m), new(big.Rat)
	for _, d := range drives {
		if d.size == nil {
			return sight{value: says}
		}
		total.Add(total, d.size)
	}
	seen := sight{value: megabytes(total, says)}
	if len(drives) == 1 {
		seen.path = drives[0].sized
	}
	if slices.ContainsFunc(units(), func(unit *big.Rat) bool { return fits(total, says, unit) }) {
		seen.value = says
	}
	return seen
}

// holding returns the disks that hold data.
func holding(m machine) []drive {
	return slices.DeleteFunc(m.drives(), func(d drive) bool { return d.aside })
}

// A pair is a virtual disk with the drive that it stands for; either may be
// missing.
type pair struct {
	name     string
	declared model.Value
	drive    *drive
}

// pairDisks pairs virtual disks with drives: by slot where they are named so,
// then by size, and what is left in its order. Drives that are left come last.
func (l *lens) pairDisks(m machine, declared []model.Value) []pair {
	drives := m.drives()
	pairs := make([]pair, 0, len(declared)+len(drives))
	taken := map[string]bool{}
	for _, item := range declared {
		p := pair{name: item.At("name").Str(), declared: item.At("size")}
		if i := slices.IndexFunc(drives, func(d drive) bool { return d.slot == p.name }); i >= 0 {
			p.drive, taken[p.name] = &drives[i], true
		}
		pairs = append(pairs, p)
	}
	give := func(fit func(p pair, d drive) bool) {
		for i := range pairs {
			for j := range drives {
				d := &drives[j]
				if pairs[i].drive == nil && !taken[d.slot] && !d.aside && !l.system.slot(pairs[i].name) && fit(pairs[i], *d) {
					pairs[i].drive, taken[d.slot] = d, true
				}
			}
		}
	}
	for _, unit := range units() {
		give(func(p pair, d drive) bool { return fits(d.size, p.declared, unit) })
	}
	give(func(pair, drive) bool { return true })
	for i := range drives {
		if !taken[drives[i].slot] && !drives[i].aside {
			pairs = append(pairs, pair{name: drives[i].slot, drive: &drives[i]})
		}
	}
	return pairs
}

// size is how NetBox would say the drive's size; told is false where the system
// does not tell it.
func (p pair) size() (size model.Value, told bool) {
	switch {
	case p.drive.size == nil:
		return p.declared, false
	case slices.ContainsFunc(units(), func(unit *big.Rat) bool { return fits(p.drive.size, p.declared, unit) }):
		return p.declared, true
	}
	return megabytes(p.drive.size, p.declared), true
}

func (l *lens) viewDisks(m machine, declared []model.Value) model.Value {
	var items []model.Value
	for _, p := range l.pairDisks(m, declared) {
		if p.drive == nil {
			continue
		}
		fields := []model.Field{{Name: "name", Value: model.StringOf(p.name)}}
		if size, _ := p.size(); !size.IsNull() {
			fields = append(fields, model.Field{Name: "size", Value: size})
		}
		items = append(items, model.MapOf(fields...))
	}
	return model.ListOf(items...)
}

func (l *lens) diskPath(m machine, declared []model.Value, name, field string) string {
	for _, p := range l.pairDisks(m, declared) {
		if p.name != name || p.drive == nil {
			continue
		}
		if _, told := p.size(); field == "size" && told {
			return p.drive.sized
		}
		if field == "" {
			return p.drive.path
		}
	}
	return ""
}

// ratOf returns the number that a value holds, or nil.
func ratOf(v model.Value) *big.Rat {
	if v.Kind() != model.Number {
		return nil
	}
	n, ok := new(big.Rat).SetString(v.Text())
	if !ok {
		return nil
	}
	return n
}
