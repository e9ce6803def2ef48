package manifests

import (
	"io/fs"
	"path"
)

// An Overlay is a kustomization with the folders that it builds upon.
type Overlay struct {
	// Dir is its folder, and Bases are those of the kustomizations that it includes, by path.
	Dir   string
	Bases []string
	// IsComponent reports whether it can only be part of another one.
	IsComponent bool
	// Naming is its namespace, and its prefix and suffix of names. Overlays of one base with the
	// same Naming have the same objects.
	Naming [3]string
}

// ReadOverlay returns the kustomization in a folder of a file system. If its file cannot be read, it
// has no bases.
func ReadOverlay(files fs.FS, dir string) Overlay {
	k := readKustomization(newMountedFS(files, maxKustomization, outsideFolder), path.Join(mountPoint, dir))
	o := Overlay{Dir: dir, IsComponent: k.isComponent()}
	for _, folder := range k.folders() {
		if name, ok := within(folder); ok {
			o.Bases = append(o.Bases, name)
		}
	}
	for i, field := range []string{"namespace", "namePrefix", "nameSuffix"} {
		o.Naming[i] = k.value.At(field).Str()
	}
	return o
}
