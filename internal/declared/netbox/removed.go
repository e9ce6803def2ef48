package netbox

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// removals returns a removal for each virtual machine that was deleted according to NetBox's
// changelog, by time. A virtual machine whose source is not known is left out.
func (d *deriver) removals(ix *index, in placements) []model.Removal {
	deleted, by := ix.deleted()
	if len(by) == 0 {
		return nil
	}
	c := newBuilder(d, newIndex(&deleted))
	c.vmid = cmp.Or(d.vmidField(ix), c.vmid)
	var removals []model.Removal
	for _, vm := range c.ix.machines {
		source := d.sourceOf(in, ix, vm)
		s := systemOf(d.env.Types[source])
		if s == nil {
			continue
		}
		g := vmBuilder{builder: c, vm: vm, system: s, ports: c.newPorts(c.ix.interfaces[vm.ID])}
		who := by[vm.ID]
		who.Evidence += ", which deleted " + label(vm, "NetBox VM ")
		removals = append(removals, model.Removal{Source: source, Kinds: s.kinds, Identities: g.identities(), Actor: who})
	}
	slices.SortStableFunc(removals, func(a, b model.Removal) int { return a.Actor.At.Compare(b.Actor.At) })
	return removals
}

// sourceOf returns the source of a deleted virtual machine, or "" if it is not known. Its
// cluster may have no other virtual machine.
func (d *deriver) sourceOf(in placements, ix *index, vm *model.Resource) string {
	if _, used := in.clusters[clusterOf(ix, vm)]; !used && !in.isUnplaced(ix, vm) && len(d.sources) == 1 {
		return d.sources[0]
	}
	return in.of(ix, vm).source
}

// deleted returns the deleted virtual machines with their interfaces and MAC addresses, as far
// as the changelog contains them. The map contains who deleted each virtual machine, by its
// ID.
func (ix *index) deleted() (model.Snapshot, map[string]model.Actor) {
	s, by := model.Snapshot{}, map[string]model.Actor{}
	macs := map[string][]model.Value{}
	for i := range ix.snapshot.AuditEvents {
		t := &ix.snapshot.AuditEvents[i]
		if t.Action != model.Deleted || t.LastValue.IsNull() || ix.of[t.Kind] == nil || ix.of[t.Kind][t.ID] != nil {
			continue
		}
		s.Resources = append(s.Resources, model.Resource{Key: model.Key{Source: ix.snapshot.Source, Kind: t.Kind, ID: t.ID}, Value: t.LastValue})
		switch t.Kind {
		case kindMachine:
			by[t.ID] = t.Actor
		case kindMAC:
			if id, ok := model.NumberOf(t.ID); ok && Type+"/"+t.LastValue.At("assigned_object_type").Str() == kindInterface {
				of := idOf(t.LastValue.At("assigned_object_id"))
				macs[of] = append(macs[of], id)
			}
		}
	}
	for i := range s.Resources {
		if r := &s.Resources[i]; r.Kind == kindInterface && len(macs[r.ID]) > 0 {
			r.Value = r.Value.With("mac_addresses", model.ListOf(macs[r.ID]...))
		}
	}
	return s, by
}
