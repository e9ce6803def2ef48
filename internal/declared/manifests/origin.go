package manifests

import (
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"
)

// An originSearch finds where the objects that kustomize built are written.
type originSearch struct {
	tree *tree
	root kustomization
	// files holds the objects of the files that were looked at.
	files map[string][]object
}

// address returns the file and line of an object that was read from a file,
// and the kustomization that made it for any other.
func (s originSearch) address(r *resource.Resource) string {
	origin, err := r.GetOrigin()
	switch {
	case err != nil || origin == nil || origin.Repo != "":
		return s.tree.of(s.root.file)
	case origin.Path == "":
		return s.tree.of(path.Join(s.root.dir, origin.ConfiguredIn))
	}
	file := path.Join(s.root.dir, origin.Path)
	if o, ok := pick(s.objects(file), r); ok {
		return o.address
	}
	return s.tree.of(file)
}

func (s originSearch) objects(file string) []object {
	found, ok := s.files[file]
	if !ok {
		if data, err := s.tree.kustomize.ReadFile(file); err == nil {
			found = parse(data, s.tree.of(file)).objects
		}
		s.files[file] = found
	}
	return found
}

// pick returns the object that r was made from: the one of its kind whose name
// is r's, or the longest part of it, for kustomize adds prefixes and suffixes.
func pick(objects []object, r *resource.Resource) (object, bool) {
	var best object
	length := 0
	for _, o := range objects {
		name := o.value.At("metadata", "name").Str()
		if o.value.At("apiVersion").Str() != r.GetApiVersion() || o.value.At("kind").Str() != r.GetKind() {
			continue
		}
		if strings.Contains(r.GetName(), name) && len(name) > length {
			best, length = o, len(name)
		}
	}
	return best, length > 0
}
