package manifests

import (
	"io/fs"
	"path"
	"strings"

	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/model"
)

// An Applier is an object that makes Flux or Argo CD apply a folder.
type Applier struct {
	// Type is the declaration type of the tool: FluxType or ArgoCDType.
	Type string
	// File is the file that contains the object, or the file of the chart that generates it. Folder is the
	// folder that the object applies. Both are paths from the top of the repository. Folder is "." for the
	// whole repository, and "" for a folder outside the repository.
	File, Folder string
	// IsChart reports whether Folder is a chart that the object installs.
	IsChart bool
}

// ReadAppliers returns the appliers in the named files of a repository with the given origin. It skips
// files that cannot be read or parsed. For an ApplicationSet, Folder is the innermost folder that contains
// everything that it applies. A source refers to the repository if its URL is one of the origin, as in a
// declaration of the tool. If the source object of a Kustomization is not among the files, the
// Kustomization is assumed to apply a folder of the repository. Each object also yields an Applier whose
// Folder is "".
func ReadAppliers(files fs.FS, names []string, origin gitrepo.Origin) []Applier {
	var objects []object
	for _, name := range names {
		if data, err := readFile(files, name, maxResemble); err == nil {
			objects = append(objects, place{}.parse(name, data).objects...)
		}
	}
	foreign := foreignSources(objects, origin)
	var all []Applier
	for _, o := range objects {
		tool, spec := ArgoCDType, o.value.At("spec")
		var folders []string
		switch kindOf(o.value) {
		case fluxKustomization:
			tool = FluxType
			if id := sourceID(o.value); isFluxSource(id) && !foreign[id] {
				folders = []string{folderOf(spec.At("path").Str())}
			}
		case fluxRelease:
			tool, folders = FluxType, releaseFolders(o.value, foreign)
		case fluxArtifactGenerator:
			tool, folders = FluxType, artifactFolders(o.value, foreign)
		case argoApplication:
			folders = applicationFolders(spec, origin)
		case argoApplicationSet:
			folders = setFolders(spec, origin)
		default:
			continue
		}
		for _, folder := range append(folders, "") {
			all = append(all, Applier{Type: tool, File: o.files[0], Folder: folder, IsChart: kindOf(o.value) == fluxRelease})
		}
	}
	return all
}

// releaseFolders returns the folder of the repository with the chart of a HelmRelease.
func releaseFolders(release model.Value, foreign map[string]bool) []string {
	chart := release.At("spec", "chart")
	id := sourceID(release.With("spec", chart.At("spec")))
	if chart.IsEmpty() || chart.At("spec", "sourceRef", "kind").Str() != "GitRepository" || foreign[id] {
		return nil
	}
	return []string{folderOf(chart.At("spec", "chart").Str())}
}

// artifactFolders returns the folders of the repository from which an ArtifactGenerator copies.
// Kustomizations apply the artifacts, which consist of the files in these folders.
// https://fluxcd.io/flux/components/source/artifactgenerators/
func artifactFolders(generator model.Value, foreign map[string]bool) (folders []string) {
	ours := map[string]bool{}
	for _, source := range generator.At("spec", "sources").Items() {
		id := artifactSourceID(generator, source)
		ours["@"+source.At("alias").Str()] = isFluxSource(id) && !foreign[id]
	}
	for _, artifact := range generator.At("spec", "artifacts").Items() {
		for _, copied := range artifact.At("copy").Items() {
			if alias, from, _ := strings.Cut(copied.At("from").Str(), "/"); ours[alias] {
				folders = append(folders, fixedFolder(from))
			}
		}
	}
	return folders
}

// foreignSources returns the IDs of sources of Flux of which each object names another repository.
func foreignSources(objects []object, origin gitrepo.Origin) map[string]bool {
	foreign := map[string]bool{}
	for _, o := range objects {
		if id := inputID(o.value); isFluxSource(id) {
			known, twice := foreign[id]
			foreign[id] = (!twice || known) && !origin.Is(sourceURL(o.value))
		}
	}
	return foreign
}

// applicationFolders returns the folders of the repository that an Application applies.
func applicationFolders(spec model.Value, origin gitrepo.Origin) (folders []string) {
	for _, source := range sources(spec) {
		if folder := source.At("path").Str(); folder != "" && !kubeTemplate(folder) && origin.Is(source.At("repoURL").Str()) {
			folders = append(folders, folderOf(folder))
		}
	}
	return folders
}

// setFolders returns the folders that contain everything that an ApplicationSet applies: the folder of its
// template, or the folders of its git generators.
func setFolders(spec model.Value, origin gitrepo.Origin) (folders []string) {
	for _, source := range sources(spec.At("template", "spec")) {
		if !origin.Is(source.At("repoURL").Str()) {
			continue
		}
		if fixed := fixedFolder(source.At("path").Str()); fixed != "." {
			folders = append(folders, fixed)
			continue
		}
		for _, generator := range spec.At("generators").Items() {
			for _, directory := range generator.At("git", "directories").Items() {
				if fixed := fixedFolder(directory.At("path").Str()); fixed != "." && !directory.At("exclude").Equal(model.BoolOf(true)) {
					folders = append(folders, fixed)
				}
			}
		}
	}
	return folders
}

// fixedFolder returns the folder before the first element of a path with a placeholder or a wildcard;
// "." if there is none.
func fixedFolder(text string) string {
	if at := strings.IndexAny(text, "{*?["); at >= 0 {
		text = path.Dir(text[:at] + "x")
	}
	return folderOf(text)
}
