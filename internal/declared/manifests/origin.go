package manifests

import (
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"

	"github.com/driftd/driftd/internal/model"
)

// An originSearch finds the files in which the objects that kustomize built are written.
type originSearch struct {
	tree *tree
	root kustomization
	// parts are the root and its bases.
	parts []kustomization
	// listedIn maps files to the folders of the kustomizations that list them. bases maps
	// folders to themselves and the folders of their bases.
	listedIn map[string][]string
	bases    map[string]map[string]bool
	// files caches the objects of files.
	files map[string][]object
}

// newOriginSearch returns a search in the kustomization parts[0] and its bases, the other
// parts.
func newOriginSearch(t *tree, parts []kustomization) originSearch {
	s := originSearch{
		tree: t, root: parts[0], parts: parts, listedIn: map[string][]string{},
		bases: map[string]map[string]bool{}, files: map[string][]object{},
	}
	below := map[string][]string{}
	for _, k := range parts {
		below[k.dir] = k.folders()
		s.listedIn[k.file] = append(s.listedIn[k.file], k.dir)
		for _, entry := range k.entries() {
			file := path.Join(k.dir, entry)
			s.listedIn[file] = append(s.listedIn[file], k.dir)
		}
	}
	for _, k := range parts {
		reached := map[string]bool{}
		next := []string{k.dir}
		for len(next) > 0 {
			dir := next[0]
			if next = next[1:]; !reached[dir] {
				reached[dir] = true
				next = append(next, below[dir]...)
			}
		}
		s.bases[k.dir] = reached
	}
	return s
}

// An origin is where an object that kustomize built is written.
type origin struct {
	// address is the file and line of an object from a file. For other objects, it is the
	// kustomization that generates them.
	address string
	// file is the absolute path.
	file string
	// written is the object as written in the file; null if unknown.
	written model.Value
}

// find returns the origin of r.
func (s originSearch) find(r *resource.Resource) origin {
	at, err := r.GetOrigin()
	file := s.root.file
	switch {
	case err != nil || at == nil || at.Repo != "":
		return origin{address: s.tree.of(file), file: file}
	case at.Path == "":
		file = path.Join(s.root.dir, at.ConfiguredIn)
		return origin{address: s.tree.of(file), file: file}
	}
	file = path.Join(s.root.dir, at.Path)
	if o, ok := sourceOf(s.objects(file), r); ok {
		return origin{address: o.address, file: file, written: o.value}
	}
	return origin{address: s.tree.of(file), file: file}
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

// treePath returns the path of an absolute file from the top of the tree.
func (s originSearch) treePath(file string) string {
	if name, ok := within(file); ok {
		return name
	}
	return file
}

// sourceOf returns the object from which kustomize built r: the one with the same kind and the
// same name, or the longest part of the name, because kustomize adds prefixes and suffixes.
func sourceOf(objects []object, r *resource.Resource) (object, bool) {
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
