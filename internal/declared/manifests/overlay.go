package manifests

import (
	"io/fs"
	"path"
)

// An Overlay is a kustomization and the kustomizations that it includes.
type Overlay struct {
	// Dir is the folder of the kustomization, and Bases are the folders of the kustomizations that it
	// includes, as paths in the file system.
	Dir   string
	Bases []string
	// IsComponent reports whether the kustomization is a component, which can only be included in another
	// kustomization.
	IsComponent bool
	// Naming is the namespace, the name prefix and the name suffix. Overlays of the same base with equal
	// Naming generate the same objects.
	Naming [3]string
}

// ReadOverlay reads the kustomization in the folder dir. If its file cannot be read, the Overlay has no
// bases.
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
