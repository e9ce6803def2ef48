package manifests

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/driftd/driftd/internal/model"
)

// A built object is what kustomize made of an origin.
type built struct {
	origin

	value model.Value
	made  *resource.Resource
}

// influences returns the files that made an object what it is, from the top of
// the tree: where it is written, the patches that fit it, and each kustomization
// that says something of it alone: a patch, an image, a number of replicas. What
// a kustomization says of everything, such as a prefix or a label, does not
// count, nor do replacements and transformers in files of their own.
func (s originSearch) influences(from origin, value model.Value, r *resource.Resource) []string {
	o := built{from, value, r}
	files := []string{from.file}
	for _, k := range s.parts {
		if k.file == from.file {
			files = append(files, k.generated(o)...)
		}
		if s.reaches(k, from.file) && s.passed(k, r) {
			files = append(files, s.patches(k, o)...)
			if k.setsImage(o) || k.setsReplicas(o) {
				files = append(files, k.file)
			}
		}
	}
	for i, file := range files {
		files[i] = s.named(file)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// reaches tells whether what a kustomization says may be of an object in a
// file. A component speaks of what those hold that use it.
func (s originSearch) reaches(k kustomization, file string) bool {
	dirs := s.listed[file]
	return k.isComponent() || len(dirs) == 0 || slices.ContainsFunc(dirs, func(dir string) bool { return s.upon[k.dir][dir] })
}

// passed tells whether an object that was built bears what a kustomization puts
// into every name and namespace: of two overlays of one base, each has objects of
// its own.
func (s originSearch) passed(k kustomization, r *resource.Resource) bool {
	switch r.GetKind() {
	case "Namespace", "CustomResourceDefinition", "APIService":
		// Kustomize leaves their names alone.
		return true
	}
	prefix, suffix := k.value.At("namePrefix").Str(), k.value.At("nameSuffix").Str()
	if !strings.Contains(r.GetName(), prefix) || !strings.Contains(r.GetName(), suffix) {
		return false
	}
	namespace := k.value.At("namespace").Str()
	if namespace == "" || r.GetNamespace() == "" || namespace == r.GetNamespace() {
		return true
	}
	// Unless one that builds upon it chose another namespace later.
	return !slices.ContainsFunc(s.parts, func(other kustomization) bool {
		return other.value.At("namespace").Str() == r.GetNamespace() && !s.upon[other.dir][k.dir]
	})
}

// generated returns the files that a generator reads which may have made an
// object.
func (k kustomization) generated(o built) []string {
	var files []string
	for _, field := range []string{"configMapGenerator", "secretGenerator"} {
		for _, generator := range k.value.At(field).Items() {
			if !strings.Contains(o.made.GetName(), generator.At("name").Str()) {
				continue
			}
			sources := append(texts(generator.At("files")), texts(generator.At("envs"))...)
			for _, source := range append(sources, generator.At("env").Str()) {
				if _, file, named := strings.Cut(source, "="); named {
					source = file
				}
				if source != "" {
					files = append(files, path.Join(k.dir, source))
				}
			}
		}
	}
	return files
}

// patches returns the files of a kustomization's patches that fit an object.
func (s originSearch) patches(k kustomization, o built) []string {
	var files []string
	for _, field := range []string{"patches", "patchesJson6902"} {
		for _, patch := range k.value.At(field).Items() {
			file, inline := patch.At("path").Str(), patch.At("patch").Str()
			if at, fits := s.patch(k, file, inline, patch.At("target"), o); fits {
				files = append(files, at)
			}
		}
	}
	for _, text := range texts(k.value.At("patchesStrategicMerge")) {
		file, inline := text, ""
		if !k.files.Exists(path.Join(k.dir, text)) {
			file, inline = "", text
		}
		if at, fits := s.patch(k, file, inline, model.Value{}, o); fits {
			files = append(files, at)
		}
	}
	return files
}

// patch tells whether a patch fits an object, and where it is written.
func (s originSearch) patch(k kustomization, file, inline string, target model.Value, o built) (at string, fits bool) {
	at = k.file
	if file != "" {
		at = path.Join(k.dir, file)
	}
	if target.Kind() == model.Map {
		return at, o.fitsTarget(target)
	}
	patches := parse([]byte(inline), "").objects
	if file != "" {
		patches = s.objects(at)
	}
	return at, slices.ContainsFunc(patches, func(p object) bool { return o.fitsPatch(p.value) })
}

// fitsPatch tells whether a patch that names its object may mean this one.
func (o built) fitsPatch(patch model.Value) bool {
	return patch.At("kind").Str() == o.made.GetKind() && patch.At("apiVersion").Str() == o.made.GetApiVersion() &&
		o.isCalled(patch.At("metadata", "name").Str()) && o.isIn(patch.At("metadata", "namespace").Str())
}

// isCalled tells whether the object has, or had on its way, a name: kustomize
// adds prefixes and suffixes.
func (o built) isCalled(name string) bool {
	written := o.written.At("metadata", "name").Str()
	return name != "" && strings.Contains(o.made.GetName(), name) && strings.Contains(name, written)
}

// isIn tells whether the object lies, or was written to lie, in a namespace; ""
// is any.
func (o built) isIn(namespace string) bool {
	return namespace == "" || namespace == o.made.GetNamespace() || namespace == o.written.At("metadata", "namespace").Str()
}

// fitsTarget tells whether a patch's target selects the object.
func (o built) fitsTarget(target model.Value) bool {
	text := func(field string) string { return target.At(field).Str() }
	selector := types.Selector{
		ResId: resid.ResId{
			Gvk:  resid.Gvk{Group: text("group"), Version: text("version"), Kind: text("kind")},
			Name: text("name"), Namespace: text("namespace"),
		},
		LabelSelector: text("labelSelector"), AnnotationSelector: text("annotationSelector"),
	}
	regex, err := types.NewSelectorRegex(&selector)
	if err != nil || !regex.MatchGvk(o.made.GetGvk()) {
		return false
	}
	metadata := o.written.At("metadata")
	placed := func(namespace string) bool { return regex.MatchNamespace(cmp.Or(namespace, "default")) }
	if !regex.MatchName(o.made.GetName()) && !regex.MatchName(metadata.At("name").Str()) && !o.isCalled(selector.Name) {
		return false
	}
	if !placed(o.made.GetNamespace()) && !placed(metadata.At("namespace").Str()) {
		return false
	}
	labels, err := o.made.MatchesLabelSelector(selector.LabelSelector)
	if err != nil || !labels {
		return false
	}
	annotations, err := o.made.MatchesAnnotationSelector(selector.AnnotationSelector)
	return err == nil && annotations
}

// setsImage tells whether the kustomization chooses an image of the object.
func (k kustomization) setsImage(o built) bool {
	entries := k.value.At("images").Items()
	if len(entries) == 0 {
		return false
	}
	used := append(images(o.value), images(o.written)...)
	return slices.ContainsFunc(entries, func(image model.Value) bool {
		name, renamed := image.At("name").Str(), image.At("newName").Str()
		return slices.Contains(used, name) || renamed != "" && slices.Contains(used, renamed)
	})
}

// images returns the names of the images in an object, without tag and digest.
func images(v model.Value) []string {
	var found []string
	for _, item := range v.Items() {
		found = append(found, images(item)...)
	}
	for _, f := range v.Fields() {
		image := f.Value.Str()
		if f.Name != "image" || image == "" {
			found = append(found, images(f.Value)...)
			continue
		}
		name, _, _ := strings.Cut(image, "@")
		if tag := strings.LastIndexByte(name, ':'); tag > strings.LastIndexByte(name, '/') {
			name = name[:tag]
		}
		found = append(found, name)
	}
	return found
}

// setsReplicas tells whether the kustomization chooses the object's replicas.
func (k kustomization) setsReplicas(o built) bool {
	if o.value.At("spec", "replicas").IsNull() {
		return false
	}
	return slices.ContainsFunc(k.value.At("replicas").Items(), func(r model.Value) bool { return o.isCalled(r.At("name").Str()) })
}
