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

// A built object is an object that kustomize built from an origin.
type built struct {
	origin

	value    model.Value
	resource *resource.Resource
}

// sourceFiles returns the files that determine an object, by path from the top of the tree:
// the file of its origin, the patches that match it, and each kustomization with a patch,
// image or number of replicas for it. Fields of a kustomization that apply to all objects,
// such as a prefix or a label, do not count. Replacements and transformers in separate files
// do not count either.
func (s originSearch) sourceFiles(from origin, value model.Value, r *resource.Resource) []string {
	o := built{from, value, r}
	files := []string{from.file}
	for _, k := range s.parts {
		if k.file == from.file {
			files = append(files, k.generated(o)...)
		}
		if s.mayApplyTo(k, from.file) && s.hasNamesOf(k, r) {
			files = append(files, s.patches(k, o)...)
			if k.setsImage(o) || k.setsReplicas(o) {
				files = append(files, k.file)
			}
		}
	}
	for i, file := range files {
		files[i] = s.treePath(file)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// mayApplyTo reports whether the kustomization k may change an object in file. A component
// applies to the objects of the kustomizations that use it.
func (s originSearch) mayApplyTo(k kustomization, file string) bool {
	dirs := s.listedIn[file]
	return k.isComponent() || len(dirs) == 0 || slices.ContainsFunc(dirs, func(dir string) bool { return s.bases[k.dir][dir] })
}

// hasNamesOf reports whether r has the name prefix, suffix and namespace of the kustomization
// k. Two overlays of one base have separate objects.
func (s originSearch) hasNamesOf(k kustomization, r *resource.Resource) bool {
	switch r.GetKind() {
	case "Namespace", "CustomResourceDefinition", "APIService":
		// Kustomize does not change their names.
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
	// A kustomization that has k as a base may set another namespace later.
	return !slices.ContainsFunc(s.parts, func(other kustomization) bool {
		return other.value.At("namespace").Str() == r.GetNamespace() && !s.bases[other.dir][k.dir]
	})
}

// generated returns the files of the generators that may have generated the object.
func (k kustomization) generated(o built) []string {
	var files []string
	for _, field := range []string{"configMapGenerator", "secretGenerator"} {
		for _, generator := range k.value.At(field).Items() {
			if !strings.Contains(o.resource.GetName(), generator.At("name").Str()) {
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

// patches returns the files of the patches of k that match the object.
func (s originSearch) patches(k kustomization, o built) []string {
	var files []string
	for _, field := range []string{"patches", "patchesJson6902"} {
		for _, patch := range k.value.At(field).Items() {
			file, inline := patch.At("path").Str(), patch.At("patch").Str()
			if at, matches := s.patch(k, file, inline, patch.At("target"), o); matches {
				files = append(files, at)
			}
		}
	}
	for _, text := range texts(k.value.At("patchesStrategicMerge")) {
		file, inline := text, ""
		if !k.files.Exists(path.Join(k.dir, text)) {
			file, inline = "", text
		}
		if at, matches := s.patch(k, file, inline, model.Value{}, o); matches {
			files = append(files, at)
		}
	}
	return files
}

// patch returns the file of a patch, and reports whether the patch matches the object.
func (s originSearch) patch(k kustomization, file, inline string, target model.Value, o built) (at string, matches bool) {
	at = k.file
	if file != "" {
		at = path.Join(k.dir, file)
	}
	if target.Kind() == model.Map {
		return at, o.matchesTarget(target)
	}
	patches := parse([]byte(inline), "").objects
	if file != "" {
		patches = s.objects(at)
	}
	return at, slices.ContainsFunc(patches, func(p object) bool { return o.matchesPatch(p.value) })
}

// matchesPatch reports whether a patch without a target may be for the object.
func (o built) matchesPatch(patch model.Value) bool {
	return patch.At("kind").Str() == o.resource.GetKind() && patch.At("apiVersion").Str() == o.resource.GetApiVersion() &&
		o.mayHaveName(patch.At("metadata", "name").Str()) && o.mayBeIn(patch.At("metadata", "namespace").Str())
}

// mayHaveName reports whether name is the name of the object, or may have been during the
// build: kustomize adds prefixes and suffixes.
func (o built) mayHaveName(name string) bool {
	written := o.written.At("metadata", "name").Str()
	return name != "" && strings.Contains(o.resource.GetName(), name) && strings.Contains(name, written)
}

// mayBeIn reports whether the object has the namespace, before or after the build; "" matches
// any.
func (o built) mayBeIn(namespace string) bool {
	return namespace == "" || namespace == o.resource.GetNamespace() || namespace == o.written.At("metadata", "namespace").Str()
}

// matchesTarget reports whether the target of a patch selects the object.
func (o built) matchesTarget(target model.Value) bool {
	text := func(field string) string { return target.At(field).Str() }
	selector := types.Selector{
		ResId: resid.ResId{
			Gvk:  resid.Gvk{Group: text("group"), Version: text("version"), Kind: text("kind")},
			Name: text("name"), Namespace: text("namespace"),
		},
		LabelSelector: text("labelSelector"), AnnotationSelector: text("annotationSelector"),
	}
	regex, err := types.NewSelectorRegex(&selector)
	if err != nil || !regex.MatchGvk(o.resource.GetGvk()) {
		return false
	}
	metadata := o.written.At("metadata")
	placed := func(namespace string) bool { return regex.MatchNamespace(cmp.Or(namespace, "default")) }
	if !regex.MatchName(o.resource.GetName()) && !regex.MatchName(metadata.At("name").Str()) && !o.mayHaveName(selector.Name) {
		return false
	}
	if !placed(o.resource.GetNamespace()) && !placed(metadata.At("namespace").Str()) {
		return false
	}
	labels, err := o.resource.MatchesLabelSelector(selector.LabelSelector)
	if err != nil || !labels {
		return false
	}
	annotations, err := o.resource.MatchesAnnotationSelector(selector.AnnotationSelector)
	return err == nil && annotations
}

// setsImage reports whether the kustomization sets an image of the object.
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

// images returns the names of the images in an object, without tags and digests.
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

// setsReplicas reports whether the kustomization sets the replicas of the object.
func (k kustomization) setsReplicas(o built) bool {
	if o.value.At("spec", "replicas").IsNull() {
		return false
	}
	return slices.ContainsFunc(k.value.At("replicas").Items(), func(r model.Value) bool { return o.mayHaveName(r.At("name").Str()) })
}
