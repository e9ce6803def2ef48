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
	// clusters are sources by the id of the cluster.
	clusters map[string]string
	// rest is the source of a virtual machine without a cluster, or "".
	rest string
	// problems say of which clusters that cannot be told.
	problems []model.Problem
}

// place tells which sources the clusters stand for: the ones that the settings
// name, or else those that their names and types tell.
func (d *deriver) place(ix *index) places {
	p := places{clusters: map[string]string{}}
	named, missing := d.named(ix)
	maps.Copy(p.clusters, named)
	p.problems = missing
	if slices.ContainsFunc(slices.Collect(maps.Values(d.config.Clusters)), d.isProxmox) || len(d.proxmox) == 0 {
		p.problems = append(p.problems, d.invisible(ix)...)
		return p
	}
	g := d.guess(ix)
	for _, id := range used(ix) {
		if p.clusters[id] != "" {
			continue
		}
		source, doubt := g.source(ix, id)
		p.clusters[id] = source
		if doubt != "" {
			p.problems = append(p.problems, model.Problem{Address: "clusters/" + id, Reason: doubt})
		}
	}
	p.rest = g.rest()
	if p.rest == "" && (g.several() || len(g.rivals) > 1) && !g.typed && slices.ContainsFunc(ix.machines, func(vm *model.Resource) bool { return clusterOf(ix, vm) == "" }) {
		p.problems = append(p.problems, model.Problem{Address: "virtual-machines",
			Reason: "some virtual machines have no cluster, and nothing tells whether they lie in " + strings.Join(d.proxmox, " or ") + "; give them a cluster"})
	}
	return p
}

func (d *deriver) isProxmox(source string) bool { return d.env.Types[source] == proxmox }

// of returns the source in which a virtual machine or a device claims; "" is
// none.
func (p places) of(ix *index, r *model.Resource) string {
	id := clusterOf(ix, r)
	switch {
	case id != "":
		return p.clusters[id]
	case r.Kind == kindMachine:
		return p.rest
	}
	return ""
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
	// rivals are the names of the clusters that the one source may be, sorted;
	// called tells that one of them has its name.
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
			g.rivals = append(g.rivals, nameOf(cluster))
			g.called = g.called || g.named(cluster) != ""
		}
	}
	slices.Sort(g.rivals)
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

// rest is the source of virtual machines that no cluster places.
func (g guess) rest() string {
	if g.several() || g.typed || g.unsure || len(g.rivals) > 1 {
		return ""
	}
	return g.sources[0]
}

// source returns the source that a cluster is, "" for none; doubt says why that
// cannot be told.
func (g guess) source(ix *index, id string) (source, doubt string) {
	cluster := ix.of[kindCluster][id]
	if cluster == nil {
		return "", "its name and type could not be read, so nothing tells which source it is; give the token the right to view clusters"
	}
	name := nameOf(cluster)
	if s := g.named(cluster); s != "" {
		return s, ""
	}
	says, known := saysProxmox(ix, cluster)
	setting := fmt.Sprintf("set clusters: {%q: %s}", name, strings.Join(g.sources, " or "))
	switch {
	case !known, !says && !g.typed && g.unsure:
		return "", fmt.Sprintf("cluster %q: its type, or another's, could not be read, so nothing tells whether it is a Proxmox cluster; "+
			"give the token the right to view cluster types, or ", name) + setting
	case !says && g.typed:
		return "", ""
	case g.several():
		return "", fmt.Sprintf("cluster %q: nothing tells which of the governed sources it is; ", name) + setting
	case g.called:
		return "", ""
	case len(g.rivals) > 1:
		return "", fmt.Sprintf("cluster %q: nothing tells which of %s is %s; if it is this one, ", name, list(g.rivals), g.sources[0]) + setting
	}
	return g.sources[0], ""
}

// list names a few of them, quoted.
func list(names []string) string {
	const shown = 5
	quoted := make([]string, 0, shown+1)
	for _, name := range names[:min(shown, len(names))] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	if more := len(names) - shown; more > 0 {
		quoted = append(quoted, fmt.Sprintf("%d more", more))
	}
	return strings.Join(quoted, ", ")
}
