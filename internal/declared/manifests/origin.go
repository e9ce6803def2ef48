package manifests

import (
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"

	"github.com/driftd/driftd/internal/model"
)

// An originSearch finds where the objects that kustomize built are written.
type originSearch struct {
	tree *tree
	root kustomization
	// parts are the root and all that it builds upon.
	parts []kustomization
	// listed holds, by file, the folders whose kustomization lists it, and
	// upon, by folder, the folders that its kustomization builds upon, itself
	// among them.
	listed map[string][]string
	upon   map[string]map[string]bool
	// files holds the objects of the files that were looked at.
	files map[string][]object
}

// newOriginSearch returns a search among a kustomization and all that it builds
// upon.
func newOriginSearch(t *tree, parts []kustomization) originSearch {
	s := originSearch{
		tree: t, root: parts[0], parts: parts, listed: map[string][]string{},
		upon: map[string]map[string]bool{}, files: map[string][]object{},
	}
	below := map[string][]string{}
	for _, k := range parts {
		below[k.dir] = k.folders()
		s.listed[k.file] = append(s.listed[k.file], k.dir)
		for _, entry := range k.entries() {
			file := path.Join(k.dir, entry)
			s.listed[file] = append(s.listed[file], k.dir)
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
		s.upon[k.dir] = reached
	}
	return s
}

// An origin is where an object is written that kustomize built.
type origin struct {
	// address is the file and line of an object that was read from a file, and
	// the kustomization that made it for any other.
	address string
	// file is absolute.
	file string
	// written is the object as it stands there; null where that is not known.
	written model.Value
}

// find returns where an object is written.
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
	if o, ok := pick(s.objects(file), r); ok {
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

// named returns the path of an absolute file from the top of the tree.
func (s originSearch) named(file string) string {
	if name, ok := within(file); ok {
		return name
	}
	return file
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
