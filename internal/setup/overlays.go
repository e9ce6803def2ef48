package setup

import (
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared/manifests"
)

// An aside is what a folder of manifests contains and its declaration leaves out.
type aside struct {
	// folders are the kustomizations, sorted.
	folders []string
	rivals  []rivals
}

// rivals are overlays with the same objects, of which a cluster can have one. own are those of a folder of manifests whose
// cluster is not known.
type rivals struct{ all, own []string }

// excludes reports whether a folder is left out.
func (a aside) excludes(dir string) bool {
	return slices.ContainsFunc(a.folders, func(f string) bool { return within(dir, f) })
}

// asideOf returns what the declaration of a folder leaves out: overlays whose cluster is not known, and bases that no other
// kustomization of the declaration builds upon. The loader leaves out the others itself.
func asideOf(t *Tree, m manifestFolder, all []manifestFolder) aside {
	own := func(dir string) bool { return ownerOf(dir, all) == m.dir && !isUnwritable(dir) }
	bases := basesOfAll(t, func(*manifests.Overlay) bool { return true })
	isTop := func(o *manifests.Overlay) bool { return !o.IsComponent && !bases[o.Dir] }
	a := aside{rivals: rivalsIn(m, rivalsAmong(t, isTop), own)}
	out := map[string]bool{}
	for _, r := range a.rivals {
		for _, dir := range r.own {
			out[dir] = true
		}
	}
	kept := basesOfAll(t, func(o *manifests.Overlay) bool { return isTop(o) && own(o.Dir) && !out[o.Dir] })
	for base := range bases {
		if own(base) && !kept[base] {
			out[base] = true
		}
	}
	a.folders = slices.Sorted(maps.Keys(out))
	return a
}

// rivalsIn returns the groups with overlays of a folder of manifests whose cluster is not known. It is known for one overlay
// below a folder that is named after its context.
func rivalsIn(m manifestFolder, groups [][]string, own func(dir string) bool) (all []rivals) {
	for _, group := range groups {
		here := slices.DeleteFunc(slices.Clone(group), func(dir string) bool { return !own(dir) })
		if len(here) > 1 || len(here) == 1 && !m.isNamed {
			all = append(all, rivals{group, here})
		}
	}
	return all
}

// basesOfAll returns the folders that some overlays build upon.
func basesOfAll(t *Tree, some func(*manifests.Overlay) bool) map[string]bool {
	bases := map[string]bool{}
	for i := range t.Overlays {
		if o := &t.Overlays[i]; some(o) {
			for _, base := range basesOf(t, o) {
				bases[base] = true
			}
		}
	}
	return bases
}

// ownerOf returns the innermost folder that contains another one; "" if none does.
func ownerOf(dir string, all []manifestFolder) string {
	owner := ""
	for _, m := range all {
		if within(dir, m.dir) && (owner == "" || owner == "." || len(m.dir) > len(owner) && m.dir != ".") {
			owner = m.dir
		}
	}
	return owner
}

// rivalsAmong returns the groups of overlays with the same base and the same names, sorted. isTop reports whether an overlay
// is one of those that are compared.
func rivalsAmong(t *Tree, isTop func(*manifests.Overlay) bool) [][]string {
	type target struct {
		base   string
		naming [3]string
	}
	found := map[target][]string{}
	for i := range t.Overlays {
		o := &t.Overlays[i]
		if !isTop(o) {
			continue
		}
		for _, base := range basesOf(t, o) {
			if !isComponent(t, base) {
				at := target{base, o.Naming}
				found[at] = append(found[at], o.Dir)
			}
		}
	}
	groups := map[string][]string{}
	for _, dirs := range found {
		slices.Sort(dirs)
		if dirs = slices.Compact(dirs); len(dirs) > 1 { // a folder may have two files of kustomizations
			groups[strings.Join(dirs, "\x00")] = dirs
		}
	}
	var sorted [][]string
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		sorted = append(sorted, groups[key])
	}
	return sorted
}

// isComponent reports whether a folder is a component, which many overlays may include.
func isComponent(t *Tree, dir string) bool {
	return slices.ContainsFunc(t.Overlays, func(o manifests.Overlay) bool { return o.Dir == dir && o.IsComponent })
}

// basesOf returns the folders that an overlay builds upon, directly or indirectly, sorted. It is none of them, also in a cycle.
func basesOf(t *Tree, o *manifests.Overlay) []string {
	seen := map[string]bool{}
	for due := slices.Clone(o.Bases); len(due) > 0; due = due[1:] {
		if base := due[0]; !seen[base] && base != o.Dir {
			seen[base] = true
			if at := slices.IndexFunc(t.Overlays, func(o manifests.Overlay) bool { return o.Dir == base }); at >= 0 {
				due = append(due, t.Overlays[at].Bases...)
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
