package netbox

import (
	"math/big"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// A drive is a disk of a live machine.
type drive struct {
	// slot is the system's name for the disk. path is the path of its field, and sizePath the
	// path of its size.
	slot, path, sizePath string
	// size is in bytes; nil if the system does not report it.
	size *big.Rat
	// noData reports whether the disk holds no data. Such a disk is compared only if NetBox
	// has a disk with the name of its slot.
	noData bool
}

// units returns the possible sizes of a NetBox megabyte in bytes: 1 MiB, 1 GiB / 1000 (a disk
// of 20 GiB that was entered as 20000), and 10⁶ bytes.
func units() []*big.Rat {
	return []*big.Rat{big.NewRat(1<<20, 1), big.NewRat(1<<30, 1000), big.NewRat(1_000_000, 1)}
}

// fits reports whether size is the declared size in the given unit. Fractions of a megabyte
// are ignored.
func fits(size *big.Rat, declared model.Value, unit *big.Rat) bool {
	want := ratOf(declared)
	if want == nil || size == nil {
		return false
	}
	apart := new(big.Rat).Sub(new(big.Rat).Quo(size, unit), want)
	return apart.Abs(apart).Cmp(big.NewRat(1, 1)) < 0
}

// megabytes returns size in NetBox megabytes, in the unit that the declared size seems to
// have.
func megabytes(size *big.Rat, declared model.Value) model.Value {
	n := new(big.Rat).Quo(size, unitOf(declared))
	return model.IntOf(new(big.Int).Quo(n.Num(), n.Denom()).Int64())
}

// unitOf guesses the unit of a declared size: 20000 is 20 GiB in units of 1 GiB / 1000, 20480
// is 20 GiB in MiB.
func unitOf(declared model.Value) *big.Rat {
	n, thousand := ratOf(declared), big.NewRat(1000, 1)
	if n != nil && !new(big.Rat).Quo(n, big.NewRat(1024, 1)).IsInt() && new(big.Rat).Quo(n, thousand).IsInt() {
		return units()[1]
	}
	return units()[0]
}

// bytesOf returns a declared size in bytes. ok is false if it is not a number.
func bytesOf(declared model.Value) (model.Value, bool) {
	n := ratOf(declared)
	if n == nil {
		return model.Value{}, false
	}
	n.Mul(n, unitOf(declared))
	return model.IntOf(new(big.Int).Quo(n.Num(), n.Denom()).Int64()), true
}

// observeDiskSum returns the total size of the disks that hold data.
func observeDiskSum(m machine, declared model.Value) observation {
	drives, total := dataDrives(m), new(big.Rat)
	for _, d := range drives {
		if d.size == nil {
			return observation{value: declared}
		}
		total.Add(total, d.size)
	}
	observed := observation{value: megabytes(total, declared)}
	if len(drives) == 1 {
		observed.path = drives[0].sizePath
	}
	if slices.ContainsFunc(units(), func(unit *big.Rat) bool { return fits(total, declared, unit) }) {
		observed.value = declared
	}
	return observed
}

// dataDrives returns the disks of m that hold data.
func dataDrives(m machine) []drive {
	return slices.DeleteFunc(m.drives(), func(d drive) bool { return d.noData })
}

// A pair is a virtual disk in NetBox with its live disk. Either can be missing.
type pair struct {
	name     string
	declared model.Value
	drive    *drive
}

// pairDisks pairs the declared virtual disks with the disks of m: first by slot, then by size,
// and the rest in order. Live disks without a partner come last.
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
	assign := func(fit func(p pair, d drive) bool) {
		for i := range pairs {
			for j := range drives {
				d := &drives[j]
				if pairs[i].drive == nil && !taken[d.slot] && !d.noData && !l.system.slot(pairs[i].name) && fit(pairs[i], *d) {
					pairs[i].drive, taken[d.slot] = d, true
				}
			}
		}
	}
	for _, unit := range units() {
		assign(func(p pair, d drive) bool { return fits(d.size, p.declared, unit) })
	}
	assign(func(pair, drive) bool { return true })
	for i := range drives {
		if !taken[drives[i].slot] && !drives[i].noData {
			pairs = append(pairs, pair{name: drives[i].slot, drive: &drives[i]})
		}
	}
	return pairs
}

// size returns the size of the live disk in NetBox megabytes. If the system does not report
// it, known is false and size is the declared size.
func (p pair) size() (size model.Value, known bool) {
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
		if _, known := p.size(); field == "size" && known {
			return p.drive.sizePath
		}
		if field == "" {
			return p.drive.path
		}
	}
	return ""
}

// ratOf returns the number in v, or nil.
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
