package netbox

import (
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A guess determines the sources of clusters from their names and types.
type guess struct {
	ix *index
	// sources are the possible sources, sorted. of contains their systems.
	sources []string
	of      map[string]*system
	// namedSystems are the systems in the types of clusters. typeUnread reports whether a type
	// could not be read.
	namedSystems map[string]bool
	typeUnread   bool
	// clusterCount counts the clusters that a source may be. hasNamesake reports whether a
	// cluster has the name of the source.
	clusterCount map[string]int
	hasNamesake  map[string]bool
}

func (d *deriver) guess(ix *index, sources []string) guess {
	g := guess{ix: ix, sources: sources, of: map[string]*system{}, namedSystems: map[string]bool{}, clusterCount: map[string]int{}, hasNamesake: map[string]bool{}}
	for _, source := range sources {
		g.of[source] = systemOf(d.env.Types[source])
	}
	for _, cluster := range ix.of[kindCluster] {
		named, known := g.systemNamed(cluster)
		g.typeUnread = g.typeUnread || !known
		if named != "" {
			g.namedSystems[named] = true
		}
	}
	for _, id := range usedIDs(ix, clusterOf) {
		cluster := ix.of[kindCluster][id]
		if cluster == nil {
			g.typeUnread = true
			continue
		}
		for _, source := range g.candidates(cluster) {
			g.clusterCount[source]++
		}
		g.hasNamesake[g.named(cluster)] = true
	}
	return g
}

// systemNamed returns the system in the type of cluster, or "". known is false if the type was
// not read.
func (g guess) systemNamed(cluster *model.Resource) (typ string, known bool) {
	ref, has := cluster.Value.Get("type")
	r := g.ix.find(kindClusterType, ref)
	if r == nil {
		return "", !has
	}
	for _, s := range systems() {
		if s.matchesType(r.Value.At("name").Str()) || s.matchesType(r.Value.At("slug").Str()) {
			return s.typ, true
		}
	}
	return "", true
}

// candidates returns the sources that cluster may be by its type: the sources of the system
// that the type names. If it names none, they are the sources of the systems that no other
// type names.
func (g guess) candidates(cluster *model.Resource) []string {
	named, known := g.systemNamed(cluster)
	return slices.DeleteFunc(slices.Clone(g.sources), func(source string) bool {
		typ := g.of[source].typ
		return known && named != typ && (named != "" || g.namedSystems[typ])
	})
}

// named returns the source with the name of cluster, or "". A source of another system than
// the cluster's type names is not returned.
func (g guess) named(cluster *model.Resource) string {
	named, _ := g.systemNamed(cluster)
	for _, source := range g.sources {
		if strings.EqualFold(source, nameOf(cluster)) && (named == "" || named == g.of[source].typ) {
			return source
		}
	}
	return ""
}

// placeWithoutCluster returns the placement of virtual machines without a cluster.
func (g guess) placeWithoutCluster() placement {
	if len(g.sources) > 1 {
		return placement{}
	}
	in := placement{source: g.sources[0]}
	if len(g.namedSystems) > 0 || g.hasNamesake[in.source] || g.typeUnread || g.clusterCount[in.source] > 1 {
		in.cohort = fmt.Sprintf("none of the virtual machines without a cluster matches a %s of %s, so they probably belong to another source; assign them to a cluster",
			g.of[in.source].noun, in.source)
	}
	return in
}

// place returns the placement of the cluster id. If names and types do not show which of
// several clusters the one source is, each of them that has a machine in the source is placed
// there.
func (g guess) place(id string) placement {
	cluster := g.ix.of[kindCluster][id]
	if cluster == nil {
		return g.placeUnread(id)
	}
	name := nameOf(cluster)
	if source := g.named(cluster); source != "" {
		return placement{source: source}
	}
	candidates := g.candidates(cluster)
	named, known := g.systemNamed(cluster)
	setting := fmt.Sprintf("set clusters: {%q: %s}", name, strings.Join(candidates, " or "))
	switch {
	case len(candidates) == 0, len(candidates) == 1 && g.hasNamesake[candidates[0]]:
		return placement{}
	case len(candidates) == 1 && (!known || g.typeUnread || g.clusterCount[candidates[0]] > 1):
		return g.uncertain(candidates[0], fmt.Sprintf("cluster %q", name), setting)
	case !known, named == "" && g.typeUnread:
		return placement{doubt: fmt.Sprintf("cluster %q: its type or that of another cluster could not be read, so its source is unknown; "+
			"give the token the right to view cluster types, or ", name) + setting}
	case len(candidates) > 1:
		return placement{doubt: fmt.Sprintf("cluster %q may be any of several governed sources; ", name) + setting}
	}
	return placement{source: candidates[0]}
}

// placeUnread returns the placement of a cluster whose name and type could not be read.
func (g guess) placeUnread(id string) placement {
	const step = "give the token the right to view clusters"
	if len(g.sources) > 1 {
		return placement{doubt: "its name and type could not be read, so its source is unknown; " + step}
	}
	return g.uncertain(g.sources[0], "cluster "+id, step)
}

// uncertain returns a placement in source that is ignored if source contains no machine of the
// cluster. step is what to do if the cluster is the source.
func (g guess) uncertain(source, what, step string) placement {
	return placement{source: source, cohort: fmt.Sprintf("%s: none of its virtual machines matches a %s of %s, so it is probably not this source; if it is, %s",
		what, g.of[source].noun, source, step)}
}
