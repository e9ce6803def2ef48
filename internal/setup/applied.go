package setup

import (
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared/manifests"
)

// An Applied describes the objects that Flux or Argo CD applies, starting from the folder with their first
// objects.
type Applied struct {
	// Type is the declaration type. Dir is the folder, relative to the folder of the tree.
	Type, Dir string
	// Folders are the outermost folders among Dir, the folders that the objects in it apply, and the
	// folders that these include, sorted.
	Folders []string
	// Charts are the folders of the charts that objects in Folders install.
	Charts []string
	// IsOpen reports whether a chart generates objects of the tool, so that the folders which they apply
	// are unknown before the chart is rendered.
	IsOpen bool
}

// Contains reports whether name is one of the folders or charts, or is inside one of them.
func (a *Applied) Contains(name string) bool {
	return slices.ContainsFunc(slices.Concat(a.Folders, a.Charts), func(folder string) bool { return within(name, folder) })
}

// IsNextTo reports whether a folder is next to those that the tool applies, below one folder at the top of the tree: no object of the tool
// applies it. It may be switched off, or a person applies it. If a chart makes the objects, they may apply it.
func (a *Applied) IsNextTo(name string) bool {
	return !a.Contains(name) && (a.IsOpen || a.isBelowTopOf(name))
}

func (a *Applied) isBelowTopOf(name string) bool {
	return slices.ContainsFunc(a.Folders, func(folder string) bool {
		return folder != a.Dir && !within(folder, name) && topOf(folder) == topOf(name)
	})
}

// NextTo returns the folders of manifests and the charts for which Applied.IsNextTo reports true and that
// no tool applies, sorted.
func (t *Tree) NextTo(all []Applied) []string {
	return slices.DeleteFunc(slices.Sorted(slices.Values(slices.Concat(t.Manifests, t.Charts))), func(dir string) bool {
		return slices.ContainsFunc(all, func(a Applied) bool { return a.Contains(dir) }) ||
			!slices.ContainsFunc(all, func(a Applied) bool { return a.IsNextTo(dir) })
	})
}

// WhyNextTo returns the reason why the folders from Tree.NextTo are not compared.
func WhyNextTo(all []Applied) string {
	if slices.ContainsFunc(all, func(a Applied) bool { return a.IsOpen }) {
		return "the Applications that a chart makes may apply them"
	}
	return "nothing that Flux or Argo CD applies next to them refers to them"
}

// topOf returns the folder at the top of the tree that contains a folder.
func topOf(name string) string {
	top, _, _ := strings.Cut(name, "/")
	return top
}

// readAppliers reads the objects with which Flux and Argo CD apply folders of the tree.
func (t *Tree) readAppliers() {
	top := "."
	if name, ok := below(t.Dir, t.Origin.Top); ok && t.Origin.Top != "" {
		top = name
	}
	files := os.DirFS(t.Dir)
	var charts, plain []string
	for _, name := range t.ArgoCD {
		if chart := t.chartOf(path.Dir(name)); chart == "" {
			plain = append(plain, name)
		} else if !slices.Contains(charts, chart) {
			charts = append(charts, chart)
			t.Appliers = append(t.Appliers, manifests.Applier{Type: manifests.ArgoCDType, File: path.Join(chart, "Chart.yaml")})
		}
	}
	for _, a := range manifests.ReadAppliers(files, slices.Concat(t.Flux, plain), t.Origin) {
		a.Folder = inTree(a.Folder, top)
		if info, err := os.Stat(path.Join(t.Dir, a.Folder)); err != nil || !info.IsDir() {
			a.Folder = ""
		}
		t.Appliers = append(t.Appliers, a)
	}
}

// inTree returns the path in a tree of a folder of the repository, in which the folder of the tree is top. It is "" for a folder outside of
// the tree.
func inTree(folder, top string) string {
	switch {
	case top == ".":
		return folder
	case folder != "" && within(top, folder):
		return "."
	}
	inside, ok := strings.CutPrefix(folder, top+"/")
	if !ok {
		return ""
	}
	return inside
}

// Applied returns the folders with the objects that a person applies, from which Flux or Argo CD apply others, in the order of their
// types and folders. There are none before ReadContents.
func (t *Tree) Applied() (all []Applied) {
	for _, typ := range []string{manifests.ArgoCDType, manifests.FluxType} {
		appliers := slices.DeleteFunc(slices.Clone(t.Appliers), func(a manifests.Applier) bool { return a.Type != typ || a.IsChart })
		for _, dir := range t.firstFolders(appliers) {
			a := Applied{Type: typ, Dir: dir, Folders: t.reached(dir, appliers)}
			for _, o := range t.Appliers {
				if o.IsChart && o.Type == typ && a.Contains(o.File) && slices.Contains(t.Charts, o.Folder) {
					a.Charts = append(a.Charts, o.Folder)
				}
			}
			a.IsOpen = slices.ContainsFunc(appliers, func(o manifests.Applier) bool { return t.chartOf(path.Dir(o.File)) != "" && a.Contains(o.File) })
			all = append(all, a)
		}
	}
	return all
}

// firstFolders returns the folders with the objects of a tool that no other object of it applies. An object that applies its own
// folder, as flux bootstrap makes it, stands for all of that.
func (t *Tree) firstFolders(appliers []manifests.Applier) []string {
	bases := basesOfAll(t, func(*manifests.Overlay) bool { return true })
	found := map[string]bool{}
	for _, a := range appliers {
		dir := path.Dir(a.File)
		if within(dir, a.Folder) {
			found[a.Folder] = true
		}
		if !bases[dir] && !slices.ContainsFunc(appliers, func(b manifests.Applier) bool { return within(dir, b.Folder) }) {
			found[dir] = true
		}
	}
	return outermost(found)
}

// outermost returns the folders that no other one contains, sorted.
func outermost(folders map[string]bool) (outer []string) {
	all := slices.Sorted(maps.Keys(folders))
	for _, dir := range all {
		if !slices.ContainsFunc(all, func(o string) bool { return o != dir && within(dir, o) }) {
			outer = append(outer, dir)
		}
	}
	return outer
}

// reached returns the outermost of a folder and those that the objects in it apply and build upon, directly or indirectly, sorted.
func (t *Tree) reached(dir string, appliers []manifests.Applier) []string {
	found := map[string]bool{dir: true}
	for due := []string{dir}; len(due) > 0; due = due[1:] {
		var next []string
		for _, a := range appliers {
			if within(path.Dir(a.File), due[0]) {
				next = append(next, a.Folder)
			}
		}
		for base := range basesOfAll(t, func(o *manifests.Overlay) bool { return within(o.Dir, due[0]) }) {
			next = append(next, base)
		}
		for _, folder := range next {
			if !found[folder] && folder != "" {
				found[folder] = true
				due = append(due, folder)
			}
		}
	}
	return outermost(found)
}

// applied adds the declarations of what Flux and Argo CD apply. It returns the tree without that, and its folders.
func (b *builder) applied(t *Tree) (rest *Tree, folders []string) {
	all := t.Applied()
	var left []string
	for _, a := range all {
		folders = append(folders, a.Folders...)
		cluster := b.clusterOf(a, all)
		settings, ok := b.place(t, a.Dir, false)
		if cluster == "" || !ok || isUnwritable(a.Dir) {
			left = append(left, a.Dir)
			continue
		}
		b.config.declarations = append(b.config.declarations, entry{name: b.name("declaration", nameOf(t, a.Dir), a.Type), typ: a.Type,
			note: "What " + toolOf(a.Type) + " applies, from its first objects on.", governs: []string{cluster}, settings: settings})
	}
	if len(left) > 0 {
		b.note("What is applied from these folders is not declared, because the cluster of each is not known or not chosen: %s. Declare each with type flux or argocd and its cluster in governs.",
			listed(left))
	}
	without := *t
	isApplied := func(dir string) bool {
		return slices.ContainsFunc(all, func(a Applied) bool { return a.Contains(dir) || a.IsNextTo(dir) })
	}
	if aside := t.NextTo(all); len(aside) > 0 {
		b.note("These folders are not declared, because %s: %s. Declare a folder that you apply by hand with type manifests, and the release of a chart with type helm.", WhyNextTo(all), listed(aside))
	}
	without.Manifests = slices.DeleteFunc(slices.Clone(t.Manifests), isApplied)
	without.Charts = slices.DeleteFunc(slices.Clone(t.Charts), isApplied)
	without.Overlays = slices.DeleteFunc(slices.Clone(t.Overlays), func(o manifests.Overlay) bool { return isApplied(o.Dir) })
	return &without, folders
}

// clusterOf returns the source of the cluster to which a tool applies a folder: that of the context that a part of the path is named after,
// and otherwise the current one if no other folder is one of the tool. It is "" if it is not known or not chosen.
func (b *builder) clusterOf(a Applied, all []Applied) string {
	for element := range strings.SplitSeq(a.Dir, "/") {
		if context := b.contextOf(element); context != "" {
			return b.sources["kubernetes "+context]
		}
	}
	if n := len(slices.DeleteFunc(slices.Clone(all), func(o Applied) bool { return o.Type != a.Type })); n > 1 {
		return ""
	}
	return b.defaultCluster()
}

// toolOf returns the name of the tool of a type of declarations.
func toolOf(typ string) string {
	if typ == manifests.FluxType {
		return "Flux"
	}
	return "Argo CD"
}
