package netbox

import (
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A guess tells by names and types which source a cluster is.
type guess struct {
	ix *index
	// sources are those that may be meant, sorted; of are their systems.
	sources []string
	of      map[string]*system
	// typed are the systems that the types of clusters name; unsure tells that a
	// type could not be read.
	typed  map[string]bool
	unsure bool
	// rivals counts the clusters that a source may be; called tells that one of
	// them has its name.
	rivals map[string]int
	called map[string]bool
}

func (d *deriver) guess(ix *index, sources []string) guess {
	g := guess{ix: ix, sources: sources, of: map[string]*system{}, typed: map[string]bool{}, rivals: map[string]int{}, called: map[string]bool{}}
	for _, source := range sources {
		g.of[source] = systemOf(d.env.Types[source])
	}
	for _, cluster := range ix.of[kindCluster] {
		says, known := g.says(cluster)
		g.unsure = g.unsure || !known
		if says != "" {
			g.typed[says] = true
		}
	}
	for _, id := range used(ix, clusterOf) {
		cluster := ix.of[kindCluster][id]
		if cluster == nil {
			g.unsure = true
			continue
		}
		for _, source := range g.candidates(cluster) {
			g.rivals[source]++
		}
		g.called[g.named(cluster)] = true
	}
	return g
}

// says returns the system that a cluster's type names, "" for none; known is
// false where the type was not seen.
func (g guess) says(cluster *model.Resource) (typ string, known bool) {
	ref, has := cluster.Value.Get("type")
	r := g.ix.find(kindClusterType, ref)
	if r == nil {
		return "", !has
	}
	for _, s := range systems() {
		if s.calls(r.Value.At("name").Str()) || s.calls(r.Value.At("slug").Str()) {
			return s.typ, true
		}
	}
	return "", true
}

// candidates returns the sources that a cluster may be by its type: those of the
// system that it names; where it names none, those of the systems that no other
// type names.
func (g guess) candidates(cluster *model.Resource) []string {
	says, known := g.says(cluster)
	return slices.DeleteFunc(slices.Clone(g.sources), func(source string) bool {
		typ := g.of[source].typ
		return known && says != typ && (says != "" || g.typed[typ])
	})
}

// named returns the source that has the name of a cluster, unless the cluster's
// type names another system; "" for none.
func (g guess) named(cluster *model.Resource) string {
	says, _ := g.says(cluster)
	for _, source := range g.sources {
		if strings.EqualFold(source, nameOf(cluster)) && (says == "" || says == g.of[source].typ) {
			return source
		}
	}
	return ""
}

// rest is where virtual machines lie that no cluster places.
func (g guess) rest() placing {
	if len(g.sources) > 1 {
		return placing{}
	}
	in := placing{source: g.sources[0]}
	if len(g.typed) > 0 || g.called[in.source] || g.unsure || g.rivals[in.source] > 1 {
		in.cohort = fmt.Sprintf("none of the virtual machines without a cluster is a %s of %s, so that they seem to lie elsewhere; give them a cluster",
			g.of[in.source].noun, in.source)
	}
	return in
}

// place returns the source that a cluster is. Where names and types leave it
// open which of several clusters the one source is, those are that have a machine
// there.
func (g guess) place(id string) placing {
	cluster := g.ix.of[kindCluster][id]
	if cluster == nil {
		return g.unseen(id)
	}
	name := nameOf(cluster)
	if source := g.named(cluster); source != "" {
		return placing{source: source}
	}
	may := g.candidates(cluster)
	says, known := g.says(cluster)
	setting := fmt.Sprintf("set clusters: {%q: %s}", name, strings.Join(may, " or "))
	switch {
	case len(may) == 0, len(may) == 1 && g.called[may[0]]:
		return placing{}
	case len(may) == 1 && (!known || g.unsure || g.rivals[may[0]] > 1):
		return g.perhaps(may[0], fmt.Sprintf("cluster %q", name), setting)
	case !known, says == "" && g.unsure:
		return placing{doubt: fmt.Sprintf("cluster %q: its type, or another's, could not be read, so nothing tells which source it is, if any; "+
			"give the token the right to view cluster types, or ", name) + setting}
	case len(may) > 1:
		return placing{doubt: fmt.Sprintf("cluster %q: nothing tells which of the governed sources it is; ", name) + setting}
	}
	return placing{source: may[0]}
}

// unseen places a cluster whose name and type could not be read.
func (g guess) unseen(id string) placing {
	const step = "give the token the right to view clusters"
	if len(g.sources) > 1 {
		return placing{doubt: "its name and type could not be read, so nothing tells which source it is; " + step}
	}
	return g.perhaps(g.sources[0], "cluster "+id, step)
}

// perhaps places a cluster in a source, unless none of its machines is there.
func (g guess) perhaps(source, what, step string) placing {
	return placing{source: source, cohort: fmt.Sprintf("%s: none of its virtual machines is a %s of %s, so that it seems to be another cluster; if it is this one all the same, %s",
		what, g.of[source].noun, source, step)}
}
