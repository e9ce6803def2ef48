package manifests

import (
	"path"
	"strings"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// A deliveryList contains the deliveries of one repository.
type deliveryList []delivery

// A delivery is an object with which Flux or Argo CD applies a folder of the repository.
// driftd does not render the changes that it makes.
type delivery struct {
	// name describes the object: "Flux Kustomization flux-system/web".
	name string
	// folder is the applied folder, by path from the top of the repository; "." is the whole
	// repository.
	folder string
	// changes are the changes to the manifests. Without any, the manifests are applied as
	// written.
	changes []string
	// namespace is the namespace of the applied objects; if defaultOnly is true, it is only
	// for objects without one. prefix and suffix are added to their names.
	namespace, prefix, suffix string
	defaultOnly               bool
}

// deliveries returns the deliveries of the repository with the given URL; "" if it is unknown.
func deliveries(objects []object, url string) deliveryList {
	sources := map[string]string{}
	for _, o := range objects {
		if kindOf(o.value) == "GitRepository.source.toolkit.fluxcd.io" {
			sources[o.value.At("metadata", "name").Str()] = o.value.At("spec", "url").Str()
		}
	}
	var list deliveryList
	for _, o := range objects {
		spec := o.value.At("spec")
		switch kindOf(o.value) {
		case "Kustomization.kustomize.toolkit.fluxcd.io":
			if sameRepository(url, sources[spec.At("sourceRef", "name").Str()]) {
				list = append(list, fluxDelivery(o.value, spec))
			}
		case "Application.argoproj.io":
			list = append(list, argoDeliveries(o.value, spec, url)...)
		}
	}
	return list
}

func kindOf(object model.Value) string {
	return strings.TrimPrefix(kube.KindName(object.At("apiVersion").Str(), object.At("kind").Str()), "kubernetes/")
}

// fluxDelivery returns the delivery of a Kustomization of Flux.
// https://fluxcd.io/flux/components/kustomize/kustomizations/
func fluxDelivery(object, spec model.Value) delivery {
	d := delivery{name: "Flux Kustomization " + nameOf(object), folder: folderOf(spec.At("path").Str()),
		namespace: spec.At("targetNamespace").Str(), prefix: spec.At("namePrefix").Str(), suffix: spec.At("nameSuffix").Str()}
	for _, change := range []struct{ field, text string }{
		{"targetNamespace", "a target namespace"}, {"namePrefix", "a name prefix"}, {"nameSuffix", "a name suffix"},
		{"postBuild", "substitutions"}, {"patches", "patches"}, {"patchesStrategicMerge", "patches"}, {"patchesJson6902", "patches"},
		{"images", "other images"}, {"components", "components"}, {"commonMetadata", "common metadata"}, {"decryption", "decryption"},
	} {
		if !spec.At(change.field).IsEmpty() {
			d.changes = append(d.changes, change.text)
		}
	}
	return d
}

// argoDeliveries returns the deliveries of an Application of Argo CD, which renders folders
// itself. https://argo-cd.readthedocs.io/en/stable/operator-manual/application.yaml
func argoDeliveries(object, spec model.Value, url string) []delivery {
	var list []delivery
	for _, source := range append(spec.At("sources").Items(), spec.At("source")) {
		folder := source.At("path").Str()
		if folder == "" || kube.Unrendered(folder) || !sameRepository(url, source.At("repoURL").Str()) {
			continue
		}
		list = append(list, delivery{name: "Argo CD Application " + nameOf(object), folder: folderOf(folder),
			changes: []string{"its own rendering"}, namespace: spec.At("destination", "namespace").Str(), defaultOnly: true})
	}
	return list
}

func nameOf(object model.Value) string {
	metadata := object.At("metadata")
	return strings.TrimPrefix(metadata.At("namespace").Str()+"/"+metadata.At("name").Str(), "/")
}

// folderOf returns a folder as a path from the top of the repository.
func folderOf(text string) string { return path.Clean("." + path.Clean("/"+text)) }

// sameRepository reports whether two URLs may be those of the same repository. A mirror has
// another host and the same name.
func sameRepository(a, b string) bool {
	name := func(url string) string {
		url = strings.TrimSuffix(strings.TrimRight(url, "/"), ".git")
		return url[strings.LastIndexAny(url, "/:")+1:]
	}
	return a == "" || b == "" || name(a) == name(b)
}

// of returns an object as it is delivered, with its final name and namespace. unchecked is the reason why
// the object is not compared, or "".
func (all deliveryList) of(o object) (value model.Value, unchecked string) {
	var by *delivery
	for i := range all {
		d := &all[i]
		for _, file := range o.files {
			// The innermost folder takes precedence.
			if liesIn(file, d.folder) && (by == nil || len(d.folder) > len(by.folder)) {
				by = d
			}
		}
	}
	if by == nil || len(by.changes) == 0 {
		return o.value, ""
	}
	return by.apply(o.value), "applied by " + by.name + ", with " + enumerate(by.changes) + ", which driftd does not render"
}

func liesIn(file, folder string) bool { return folder == "." || strings.HasPrefix(file, folder+"/") }

// apply returns the object with the name and namespace of the delivery.
func (d *delivery) apply(object model.Value) model.Value {
	metadata := object.At("metadata")
	if d.namespace != "" && (!d.defaultOnly || metadata.At("namespace").Str() == "") {
		metadata = metadata.With("namespace", model.StringOf(d.namespace))
	}
	if d.prefix+d.suffix != "" {
		metadata = metadata.With("name", model.StringOf(d.prefix+metadata.At("name").Str()+d.suffix))
	}
	return object.With("metadata", metadata)
}

// enumerate joins words without repetitions: "a, b and c".
func enumerate(words []string) string {
	var once []string
	for _, w := range words {
		if len(once) == 0 || once[len(once)-1] != w {
			once = append(once, w)
		}
	}
	last := len(once) - 1
	if last == 0 {
		return once[0]
	}
	return strings.Join(once[:last], ", ") + " and " + once[last]
}
