package netbox

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// A drive is a disk of a guest.
type drive struct {
	slot string
	// size is in bytes; nil where Proxmox does not tell.
	size *big.Rat
}

// drives returns the disks that hold a guest's data, by slot: neither CDs nor
// what firmware and cloud-init keep, nor directories of the host.
func (g live) drives() []drive {
	prefixes := []string{"ide", "sata", "scsi", "virtio"}
	if g.container {
		prefixes = []string{"mp"}
	}
	var all []drive
	for i, prefix := range prefixes {
		first := len(all)
		for _, f := range g.Fields() {
			if numbered(f.Name, prefix) >= 0 && g.holdsData(f.Value) {
				all = append(all, drive{f.Name, ratOf(f.Value.At("size"))})
			}
		}
		slices.SortFunc(all[first:], func(a, b drive) int { return cmp.Compare(numbered(a.slot, prefixes[i]), numbered(b.slot, prefixes[i])) })
	}
	if root, ok := g.Get("rootfs"); ok && g.container {
		all = append([]drive{{"rootfs", ratOf(root.At("size"))}}, all...)
	}
	return all
}

func (g live) holdsData(v model.Value) bool {
	if g.container {
		return !v.At("size").IsNull()
	}
	return v.At("media").Str() != "cdrom" && v.At("cloudinit").Text() != "true"
}

// slot returns the drive in any slot, whatever it holds.
func (g live) slot(name string) (drive, bool) {
	v, ok := g.Get(name)
	return drive{name, ratOf(v.At("size"))}, ok
}

// isSlot tells a name that Proxmox has for a place of a disk.
func isSlot(name string) bool {
	return name == "rootfs" || slices.ContainsFunc([]string{"ide", "sata", "scsi", "virtio", "mp", "efidisk", "tpmstate", "unused"},
		func(prefix string) bool { return numbered(name, prefix) >= 0 })
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

// bytesOf is what Proxmox would hold for a size.
func bytesOf(declared model.Value) (model.Value, bool) {
	n := ratOf(declared)
	if n == nil {
		return model.Value{}, false
	}
	n.Mul(n, unitOf(declared))
	return model.IntOf(new(big.Int).Quo(n.Num(), n.Denom()).Int64()), true
}

// sum tells the size of all disks together.
func (g live) sum(untold sight) sight {
	drives, total := g.drives(), new(big.Rat)
	for _, d := range drives {
		if d.size == nil {
			return untold
		}
		total.Add(total, d.size)
	}
	seen := sight{value: megabytes(total, untold.value)}
	if len(drives) == 1 {
		seen.path = drives[0].slot + ".size"
	}
	if slices.ContainsFunc(units(), func(unit *big.Rat) bool { return fits(total, untold.value, unit) }) {
		seen.value = untold.value
	}
	return seen
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
func pairDisks(g live, declared []model.Value) []pair {
	drives := g.drives()
	pairs := make([]pair, 0, len(declared)+len(drives))
	taken := map[string]bool{}
	for _, item := range declared {
		p := pair{name: item.At("name").Str(), declared: item.At("size")}
		if d, ok := g.slot(p.name); ok && isSlot(d.slot) {
			p.drive, taken[d.slot] = &d, true
		}
		pairs = append(pairs, p)
	}
	give := func(fit func(p pair, d drive) bool) {
		for i := range pairs {
			for j := range drives {
				if d := &drives[j]; pairs[i].drive == nil && !taken[d.slot] && !isSlot(pairs[i].name) && fit(pairs[i], *d) {
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
		if !taken[drives[i].slot] {
			pairs = append(pairs, pair{name: drives[i].slot, drive: &drives[i]})
		}
	}
	return pairs
}

// size is how NetBox would say the drive's size; told is false where Proxmox
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

func viewDisks(g live, declared []model.Value) model.Value {
	var items []model.Value
	for _, p := range pairDisks(g, declared) {
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

func diskPath(g live, declared []model.Value, name, field string) string {
	for _, p := range pairDisks(g, declared) {
		if p.name != name || p.drive == nil {
			continue
		}
		if _, told := p.size(); field == "size" && told {
			return p.drive.slot + ".size"
		}
		if field == "" {
			return p.drive.slot
		}
	}
	return ""
}
