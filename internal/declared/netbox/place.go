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
	// clusters are the sources that clusters are, by id.
	clusters map[string]placing
	// rest is that of a virtual machine without a cluster.
	rest placing
	// problems say of which clusters that cannot be told.
	problems []model.Problem
}

// place tells which sources the clusters stand for: the ones that the settings
// name, or else those that their names and types tell.
func (d *deriver) place(ix *index) places {
	p := places{clusters: map[string]placing{}}
	named, missing := d.named(ix)
	for id, source := range named {
		p.clusters[id] = placing{source: source}
	}
	p.problems = missing
	if slices.ContainsFunc(slices.Collect(maps.Values(d.config.Clusters)), d.isProxmox) || len(d.proxmox) == 0 {
		p.problems = append(p.problems, d.invisible(ix)...)
		return p
	}
	g := d.guess(ix)
	for _, id := range used(ix) {
		if p.clusters[id].source != "" {
			continue
		}
		p.clusters[id] = g.place(ix, id)
		if doubt := p.clusters[id].doubt; doubt != "" {
			p.problems = append(p.problems, model.Problem{Address: "clusters/" + id, Reason: doubt})
		}
	}
	p.rest = g.rest()
	if g.several() && !g.typed && slices.ContainsFunc(ix.machines, func(vm *model.Resource) bool { return clusterOf(ix, vm) == "" }) {
		p.problems = append(p.problems, model.Problem{Address: "virtual-machines",
			Reason: "some virtual machines have no cluster, and nothing tells which of " + strings.Join(d.proxmox, ", ") + " they lie in; give them a cluster"})
	}
	return p
}

func (d *deriver) isProxmox(source string) bool { return d.env.Types[source] == proxmox }

// of returns where a virtual machine or a device claims.
func (p places) of(ix *index, r *model.Resource) placing {
	id := clusterOf(ix, r)
	switch {
	case id != "":
		return p.clusters[id]
	case r.Kind == kindMachine:
		return p.rest
	}
	return placing{}
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

// used returns the ids of the clusters that hold virtual machines, sorted.
func used(ix *index) []string {
	ids := map[string]bool{}
	for _, vm := range ix.machines {
		if id := clusterOf(ix, vm); id != "" {
			ids[id] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// named returns the sources that the settings give to clusters, by id, and a
// problem for each name that no cluster has.
func (d *deriver) named(ix *index) (sources map[string]string, problems []model.Problem) {
	sources = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(d.config.Clusters)) {
		found := false
		for id, r := range ix.of[kindCluster] {
			if strings.EqualFold(nameOf(r), name) {
				sources[id], found = d.config.Clusters[name], true
			}
		}
		if !found {
			problems = append(problems, model.Problem{Address: "clusters",
				Reason: fmt.Sprintf("setting clusters names %q: no cluster of that name was read; correct the name, or give the token the right to view it", name)})
		}
	}
	return sources, problems
}

// invisible returns a problem for each cluster that holds virtual machines and
// was not seen: the settings may name it.
func (d *deriver) invisible(ix *index) []model.Problem {
	var problems []model.Problem
	for _, id := range used(ix) {
		if ix.of[kindCluster][id] == nil {
			problems = append(problems, model.Problem{Address: "clusters/" + id,
				Reason: "its name could not be read, so nothing tells which source it is; give the token the right to view clusters"})
		}
	}
	return problems
}

func nameOf(r *model.Resource) string { return r.Value.At("name").Str() }

// A guess tells by names and types which Proxmox source a cluster is.
type guess struct {
	sources []string
	// typed tells that the type of some cluster says Proxmox, and unsure that a
	// type could not be read.
	typed, unsure bool
	// rivals are the ids of the clusters that the one source may be; called tells
	// that one of them has its name.
	rivals []string
	called bool
}

func (d *deriver) guess(ix *index) guess {
	g := guess{sources: d.proxmox}
	for _, r := range ix.of[kindCluster] {
		says, known := saysProxmox(ix, r)
		g.typed = g.typed || says
		g.unsure = g.unsure || !known
	}
	for _, id := range used(ix) {
		g.unsure = g.unsure || ix.of[kindCluster][id] == nil
	}
	for _, id := range used(ix) {
		cluster := ix.of[kindCluster][id]
		if cluster == nil {
			continue
		}
		if says, _ := saysProxmox(ix, cluster); says || !g.typed {
			g.rivals = append(g.rivals, id)
			g.called = g.called || g.named(cluster) != ""
		}
	}
	return g
}

// named returns the source that has the name of a cluster, or "".
func (g guess) named(cluster *model.Resource) string {
	for _, s := range g.sources {
		if strings.EqualFold(s, nameOf(cluster)) {
			return s
		}
	}
	return ""
}

// saysProxmox tells whether a cluster's type says that it is a Proxmox cluster;
// known is false where the type was not seen.
func saysProxmox(ix *index, cluster *model.Resource) (says, known bool) {
	ref, has := cluster.Value.Get("type")
	typ := ix.find(kindClusterType, ref)
	if typ == nil {
		return false, !has
	}
	for _, field := range []string{"name", "slug"} {
		text := strings.ToLower(typ.Value.At(field).Str())
		parts := strings.FieldsFunc(text, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
		if strings.Contains(text, proxmox) || slices.ContainsFunc(parts, func(p string) bool { return strings.TrimRight(p, "0123456789") == "pve" }) {
			return true, true
		}
	}
	return false, true
}

func (g guess) several() bool { return len(g.sources) > 1 }

// A placing is the source that a cluster is, "" for none.
type placing struct {
	source string
	// doubt says why it cannot be told.
	doubt string
	// cohort says what it means that none of the cluster's machines is found in
	// the source, where that alone can tell; "" where it is certain.
	cohort string
}

// rest is where virtual machines lie that no cluster places.
func (g guess) rest() placing {
	switch {
	case g.several():
		return placing{}
	case g.typed || g.called || g.unsure || len(g.rivals) > 1:
		return placing{source: g.sources[0], cohort: "none of the virtual machines without a cluster is a guest of " + g.sources[0] +
			", so that they seem to lie elsewhere; give them a cluster"}
	}
	return placing{source: g.sources[0]}
}

// place returns the source that a cluster is. Where names and types leave it
// open which of several clusters the one source is, those are that have a guest
// there.
func (g guess) place(ix *index, id string) placing {
	cluster := ix.of[kindCluster][id]
	if cluster == nil {
		return g.unseen(id)
	}
	name := nameOf(cluster)
	if s := g.named(cluster); s != "" {
		return placing{source: s}
	}
	says, known := saysProxmox(ix, cluster)
	setting := fmt.Sprintf("set clusters: {%q: %s}", name, strings.Join(g.sources, " or "))
	switch {
	case !g.several() && g.called, known && !says && g.typed:
		return placing{}
	case !g.several() && (!known || g.unsure || len(g.rivals) > 1):
		return g.perhaps(fmt.Sprintf("cluster %q", name), setting)
	case !known, !says && g.unsure:
		return placing{doubt: fmt.Sprintf("cluster %q: its type, or another's, could not be read, so nothing tells whether it is a Proxmox cluster; "+
			"give the token the right to view cluster types, or ", name) + setting}
	case g.several():
		return placing{doubt: fmt.Sprintf("cluster %q: nothing tells which of the governed sources it is; ", name) + setting}
	}
	return placing{source: g.sources[0]}
}

// unseen places a cluster whose name and type could not be read.
func (g guess) unseen(id string) placing {
	const step = "give the token the right to view clusters"
	if g.several() {
		return placing{doubt: "its name and type could not be read, so nothing tells which source it is; " + step}
	}
	return g.perhaps("cluster "+id, step)
}

// perhaps places a cluster in the one source, unless none of its machines is
// there.
func (g guess) perhaps(what, step string) placing {
	return placing{source: g.sources[0], cohort: what + ": none of its virtual machines is a guest of " + g.sources[0] +
		", so that it seems to be another cluster; if it is this one all the same, " + step}
}
