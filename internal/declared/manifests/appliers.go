package manifests

import (
	"io/fs"
	"path"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// An Applier is an object with which Flux or Argo CD applies a folder.
type Applier struct {
	// Type is the type of declarations of the tool: FluxType or ArgoCDType.
	Type string
	// File is the file with the object, and Folder what is applied, by path from the top of the
	// repository; "." is the whole repository, and "" a folder elsewhere.
	File, Folder string
}

// ReadAppliers returns the appliers in files of a repository with the given URL; "" if it is
// unknown. Files that cannot be read or parsed have none. The folder of an ApplicationSet is the
// innermost one that contains all that it applies.
func ReadAppliers(files fs.FS, names []string, url string) []Applier {
	var objects []object
	for _, name := range names {
		if data, err := readFile(files, name, maxResemble); err == nil {
			objects = append(objects, place{}.parse(name, data).objects...)
		}
	}
	var all []Applier
	for _, d := range deliveries(objects, url) {
		all = append(all, Applier{Type: d.tool, File: d.file, Folder: d.folder})
	}
	for _, o := range objects {
		switch kindOf(o.value) {
		case "Kustomization.kustomize.toolkit.fluxcd.io":
			all = append(all, Applier{Type: FluxType, File: o.files[0]})
		case "Application.argoproj.io":
			all = append(all, Applier{Type: ArgoCDType, File: o.files[0]})
		case "ApplicationSet.argoproj.io":
			all = append(all, Applier{Type: ArgoCDType, File: o.files[0]})
			for _, folder := range setFolders(o.value.At("spec"), url) {
				all = append(all, Applier{Type: ArgoCDType, File: o.files[0], Folder: folder})
			}
		}
	}
	return all
}

// setFolders returns folders that contain what an ApplicationSet applies: that of its template, or
// those of its git generators.
func setFolders(spec model.Value, url string) (folders []string) {
	for _, source := range sources(spec.At("template", "spec")) {
		if !sameRepository(url, source.At("repoURL").Str()) {
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
