package netbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// placements are the sources in which virtual machines and devices claim.
type placements struct {
	// tenants and clusters are the placements by ID. The tenant of a virtual machine takes
	// precedence over its cluster.
	tenants, clusters map[string]placement
	// noCluster is the placement of virtual machines without a cluster.
	noCluster placement
	// problems are the clusters and tenants whose source is not known.
	problems []model.Problem
}

// A placement is the source of a cluster or tenant; its source is "" for none.
type placement struct {
	source string
	// configured reports whether the settings map it to the source: the source reads all of
	// it.
	configured bool
	// doubt is the reason if the source cannot be determined.
	doubt string
	// cohort is the reason for ignoring the claims if the source contains no machine of the
	// cluster. It is "" if the source is certain.
	cohort string
}

// place determines the sources of the tenants and clusters: those in the settings, and for
// types of sources without a setting those that the names and types of the clusters suggest.
func (d *deriver) place(ix *index) placements {
	var p placements
	p.tenants = p.fromSettings(ix, kindTenant, "tenant", d.config.Tenants)
	p.clusters = p.fromSettings(ix, kindCluster, "cluster", d.config.Clusters)
	if len(d.config.Tenants) > 0 {
		p.reportUnread(ix, kindTenant, "tenant", usedIDs(ix, tenantOf))
	}
	open := d.unnamedSources()
	if len(open) == 0 {
		if len(d.config.Clusters) > 0 {
			p.reportUnread(ix, kindCluster, "cluster", usedIDs(ix, clusterOf))
		}
		return p
	}
	g := d.guess(ix, open)
	for _, id := range usedIDs(ix, clusterOf) {
		if p.clusters[id].source != "" {
			continue
		}
		p.clusters[id] = g.place(id)
		if doubt := p.clusters[id].doubt; doubt != "" {
			p.problems = append(p.problems, model.Problem{Address: "clusters/" + id, Reason: doubt})
		}
	}
	p.noCluster = g.placeWithoutCluster()
	if len(open) > 1 && len(g.namedSystems) == 0 && slices.ContainsFunc(ix.machines, func(vm *model.Resource) bool { return p.isUnplaced(ix, vm) }) {
		p.problems = append(p.problems, model.Problem{Address: "virtual-machines",
			Reason: "some virtual machines have no cluster, so their source is unknown (" + strings.Join(open, " or ") + "); assign them to a cluster"})
	}
	return p
}

// unnamedSources returns the governed sources of machines for whose type the settings name no
// source, sorted.
func (d *deriver) unnamedSources() []string {
	named := map[string]bool{}
	for _, settings := range []map[string]string{d.config.Clusters, d.config.Tenants} {
		for _, source := range settings {
			named[d.env.Types[source]] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(d.sources), func(source string) bool { return named[d.env.Types[source]] })
}

// fromSettings returns the placements by ID of the objects of kind that settings name. It adds
// a problem for each name that no object has.
func (p *placements) fromSettings(ix *index, kind, noun string, settings map[string]string) map[string]placement {
	sources := map[string]placement{}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		found := false
		for id, r := range ix.of[kind] {
			if strings.EqualFold(nameOf(r), name) {
				sources[id], found = placement{source: settings[name], configured: true}, true
			}
		}
		if !found {
			p.problems = append(p.problems, model.Problem{Address: noun + "s",
				Reason: fmt.Sprintf("setting %ss names %q: no %s with that name was read; correct the name, or give the token the right to view it", noun, name, noun)})
		}
	}
	return sources
}

// reportUnread adds a problem for each tenant or cluster of ids that was not read. Their names
// may be in the settings.
func (p *placements) reportUnread(ix *index, kind, noun string, ids []string) {
	of := map[string]map[string]placement{kindTenant: p.tenants, kindCluster: p.clusters}[kind]
	for _, id := range ids {
		if ix.of[kind][id] == nil {
			of[id] = placement{}
			p.problems = append(p.problems, model.Problem{Address: noun + "s/" + id,
				Reason: "its name could not be read, so its source is unknown; give the token the right to view " + noun + "s"})
		}
	}
}

// of returns the placement of r, a virtual machine or a device.
func (p *placements) of(ix *index, r *model.Resource) placement {
	if in, ok := p.tenants[tenantOf(ix, r)]; ok {
		return in
	}
	id := clusterOf(ix, r)
	switch {
	case id != "":
		return p.clusters[id]
	case r.Kind == kindMachine:
		return p.noCluster
	}
	return placement{}
}

// isUnplaced reports whether neither a tenant nor a cluster places the virtual machine vm.
func (p *placements) isUnplaced(ix *index, vm *model.Resource) bool {
	_, placed := p.tenants[tenantOf(ix, vm)]
	return !placed && clusterOf(ix, vm) == ""
}

// tenantOf returns the ID of the tenant of r, if it is a virtual machine, or "".
func tenantOf(_ *index, r *model.Resource) string {
	if r.Kind != kindMachine {
		return ""
	}
	return idOf(r.Value.At("tenant"))
}

// clusterOf returns the ID of the cluster of r, a virtual machine or device. For a virtual
// machine without one it returns that of its host device. It returns "" for none.
func clusterOf(ix *index, r *model.Resource) string {
	if id := idOf(r.Value.At("cluster")); id != "" {
		return id
	}
	if device := ix.find(kindDevice, r.Value.At("device")); r.Kind == kindMachine && device != nil {
		return idOf(device.Value.At("cluster"))
	}
	return ""
}

// usedIDs returns the IDs of the tenants or clusters that virtual machines have, sorted.
func usedIDs(ix *index, of func(*index, *model.Resource) string) []string {
	ids := map[string]bool{}
	for _, vm := range ix.machines {
		if id := of(ix, vm); id != "" {
			ids[id] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

func nameOf(r *model.Resource) string { return r.Value.At("name").Str() }
