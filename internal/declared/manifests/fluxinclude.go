package manifests

import (
	"cmp"

	"github.com/driftd/driftd/internal/model"
)

// notInTree returns the problems of the parts of a folder that Flux reads from other repositories: its submodules, and what its source
// includes. https://fluxcd.io/flux/components/source/gitrepositories/#include
func (r *fluxReader) notInTree(b fluxBuild, submodules []string) (c content) {
	source, found := r.source(b.by)
	if !found {
		return c
	}
	spec := source.value.At("spec")
	part := func(name, field string) {
		c.limited(b.address, fluxExtents(b.by.value.At("spec")), "%s of Kustomization %s of Flux is from another repository (spec.%s of its source) and is not read: "+
			"declare that repository on its own", shown(name), nameOf(b.by.value), field)
	}
	if spec.At("recurseSubmodules").Text() == "true" {
		for _, name := range submodules {
			part(name, "recurseSubmodules")
		}
	}
	for _, dir := range includedFolders(spec) {
		if liesIn(dir+"/.", b.dir) || liesIn(b.dir+"/.", dir) {
			part(dir, "include")
		}
	}
	return c
}

// includedFolders returns the folders into which a GitRepository copies files of others.
func includedFolders(spec model.Value) (all []string) {
	for _, entry := range spec.At("include").Items() {
		all = append(all, folderOf(cmp.Or(entry.At("toPath").Str(), entry.At("repository", "name").Str())))
	}
	return all
}
