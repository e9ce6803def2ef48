package netbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// places tell which source a virtual machine or device lies in.
type places struct {
	// tenants and clusters are the sources that those are, by id. A tenant that
	// is there decides for its virtual machines.
	tenants, clusters map[string]placing
	// rest is that of a virtual machine without a cluster.
	rest placing
	// problems say of which of them that cannot be told.
	problems []model.Problem
}

// A placing is the source that a cluster or a tenant is, "" for none.
type placing struct {
	source string
	// said tells that the settings say so: the source holds all of it.
	said bool
	// doubt says why it cannot be told.
	doubt string
	// cohort says what it means that none of the cluster's machines is found in
	// the source, where that alone can tell; "" where it is certain.
	cohort string
}

// place tells which sources the tenants and clusters stand for: the ones that
// the settings name, or else, for types of sources that they name none of, those
// that the clusters' names and types tell.
func (d *deriver) place(ix *index) places {
	var p places
	p.tenants = p.named(ix, kindTenant, "tenant", d.config.Tenants)
	p.clusters = p.named(ix, kindCluster, "cluster", d.config.Clusters)
	if len(d.config.Tenants) > 0 {
		p.refuse(ix, kindTenant, "tenant", used(ix, tenantOf))
	}
	open := d.unnamed()
	if len(open) == 0 {
		if len(d.config.Clusters) > 0 {
			p.refuse(ix, kindCluster, "cluster", used(ix, clusterOf))
		}
		return p
	}
	g := d.guess(ix, open)
	for _, id := range used(ix, clusterOf) {
		if p.clusters[id].source != "" {
			continue
		}
		p.clusters[id] = g.place(id)
		if doubt := p.clusters[id].doubt; doubt != "" {
			p.problems = append(p.problems, model.Problem{Address: "clusters/" + id, Reason: doubt})
		}
	}
	p.rest = g.rest()
	if len(open) > 1 && len(g.typed) == 0 && slices.ContainsFunc(ix.machines, func(vm *model.Resource) bool { return p.loose(ix, vm) }) {
		p.problems = append(p.problems, model.Problem{Address: "virtual-machines",
			Reason: "some virtual machines have no cluster, and nothing tells which of " + strings.Join(open, ", ") + " they lie in; give them a cluster"})
	}
	return p
}

// unnamed returns the governed sources of machines of whose type the settings
// name none, sorted.
func (d *deriver) unnamed() []string {
	named := map[string]bool{}
	for _, settings := range []map[string]string{d.config.Clusters, d.config.Tenants} {
		for _, source := range settings {
			named[d.env.Types[source]] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(d.sources), func(source string) bool { return named[d.env.Types[source]] })
}

// named returns the sources that settings give to what is of a kind, by id, and
// notes a problem for each name that nothing has.
func (p *places) named(ix *index, kind, noun string, settings map[string]string) map[string]placing {
	sources := map[string]placing{}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		found := false
		for id, r := range ix.of[kind] {
			if strings.EqualFold(nameOf(r), name) {
				sources[id], found = placing{source: settings[name], said: true}, true
			}
		}
		if !found {
			p.problems = append(p.problems, model.Problem{Address: noun + "s",
				Reason: fmt.Sprintf("setting %ss names %q: no %s of that name was read; correct the name, or give the token the right to view it", noun, name, noun)})
		}
	}
	return sources
}

// refuse notes a problem for each tenant or cluster that virtual machines have
// and that was not seen: the settings may name it.
func (p *places) refuse(ix *index, kind, noun string, ids []string) {
	of := map[string]map[string]placing{kindTenant: p.tenants, kindCluster: p.clusters}[kind]
	for _, id := range ids {
		if ix.of[kind][id] == nil {
			of[id] = placing{}
			p.problems = append(p.problems, model.Problem{Address: noun + "s/" + id,
				Reason: "its name could not be read, so nothing tells which source it is; give the token the right to view " + noun + "s"})
		}
	}
}

// of returns where a virtual machine or a device claims.
func (p *places) of(ix *index, r *model.Resource) placing {
	if in, ok := p.tenants[tenantOf(ix, r)]; ok {
		return in
	}
	id := clusterOf(ix, r)
	switch {
	case id != "":
		return p.clusters[id]
	case r.Kind == kindMachine:
		return p.rest
	}
	return placing{}
}

// loose tells a virtual machine that neither a tenant nor a cluster places.
func (p *places) loose(ix *index, vm *model.Resource) bool {
	_, placed := p.tenants[tenantOf(ix, vm)]
	return !placed && clusterOf(ix, vm) == ""
}

// tenantOf returns the id of the tenant of a virtual machine.
func tenantOf(_ *index, r *model.Resource) string {
	if r.Kind != kindMachine {
		return ""
	}
	return idOf(r.Value.At("tenant"))
}

// clusterOf returns the id of the cluster that a virtual machine or device lies
// in; where it names none, that of the device that it runs on.
func clusterOf(ix *index, r *model.Resource) string {
	if id := idOf(r.Value.At("cluster")); id != "" {
		return id
	}
	if device := ix.find(kindDevice, r.Value.At("device")); r.Kind == kindMachine && device != nil {
		return idOf(device.Value.At("cluster"))
	}
	return ""
}

// used returns the ids that virtual machines have of tenants or clusters, sorted.
func used(ix *index, of func(*index, *model.Resource) string) []string {
	ids := map[string]bool{}
	for _, vm := range ix.machines {
		if id := of(ix, vm); id != "" {
			ids[id] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

func nameOf(r *model.Resource) string { return r.Value.At("name").Str() }
