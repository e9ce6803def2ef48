package manifests

import (
	"path"
	"strings"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// A deliveryList has the deliveries of one repository.
type deliveryList []delivery

// A delivery is an object by which Flux or Argo CD applies a folder of the
// repository. What it changes on the way is not rendered here.
type delivery struct {
	// name is the object in words: "Flux Kustomization flux-system/web".
	name string
	// folder is what it applies, by path from the top of the repository; "." is all
	// of it.
	folder string
	// changes are what it does to the manifests; without any they are applied as
	// they are written.
	changes []string
	// namespace is where it puts the objects: all of them, or with lacking those
	// that name none. prefix and suffix are what it puts around their names.
	namespace, prefix, suffix string
	lacking                   bool
}

// deliveries returns what Flux and Argo CD apply, of the repository with the url;
// "" where that is not known.
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

// fluxDelivery reads a Kustomization of Flux.
// https://fluxcd.io/flux/components/kustomize/kustomizations/
func fluxDelivery(object, spec model.Value) delivery {
	d := delivery{name: "Flux Kustomization " + nameOf(object), folder: folderOf(spec.At("path").Str()),
		namespace: spec.At("targetNamespace").Str(), prefix: spec.At("namePrefix").Str(), suffix: spec.At("nameSuffix").Str()}
	for _, change := range []struct{ field, words string }{
		{"targetNamespace", "a target namespace"}, {"namePrefix", "a name prefix"}, {"nameSuffix", "a name suffix"},
		{"postBuild", "substitutions"}, {"patches", "patches"}, {"patchesStrategicMerge", "patches"}, {"patchesJson6902", "patches"},
		{"images", "other images"}, {"components", "components"}, {"commonMetadata", "common metadata"}, {"decryption", "decryption"},
	} {
		if !spec.At(change.field).IsEmpty() {
			d.changes = append(d.changes, change.words)
		}
	}
	return d
}

// argoDeliveries reads an Application of Argo CD, which renders every folder that
// it applies in a way of its own.
// https://argo-cd.readthedocs.io/en/stable/operator-manual/application.yaml
func argoDeliveries(object, spec model.Value, url string) []delivery {
	var list []delivery
	for _, source := range append(spec.At("sources").Items(), spec.At("source")) {
		folder := source.At("path").Str()
		if folder == "" || kube.Unrendered(folder) || !sameRepository(url, source.At("repoURL").Str()) {
			continue
		}
		list = append(list, delivery{name: "Argo CD Application " + nameOf(object), folder: folderOf(folder),
			changes: []string{"its own rendering"}, namespace: spec.At("destination", "namespace").Str(), lacking: true})
	}
	return list
}

func nameOf(object model.Value) string {
	metadata := object.At("metadata")
	return strings.TrimPrefix(metadata.At("namespace").Str()+"/"+metadata.At("name").Str(), "/")
}

// folderOf returns a folder as paths are written from the top of the repository.
func folderOf(text string) string { return path.Clean("." + path.Clean("/"+text)) }

// sameRepository reports whether two addresses may be those of one repository: a
// mirror has another host, and the same name.
func sameRepository(a, b string) bool {
	name := func(url string) string {
		url = strings.TrimSuffix(strings.TrimRight(url, "/"), ".git")
		return url[strings.LastIndexAny(url, "/:")+1:]
	}
	return a == "" || b == "" || name(a) == name(b)
}

// of returns an object as it is delivered: under the name and in the namespace
// that it gets, and why it is not compared, "" where it is.
func (all deliveryList) of(o object) (value model.Value, unchecked string) {
	var by *delivery
	for i := range all {
		d := &all[i]
		for _, file := range o.files {
			// Of several the innermost applies it.
			if liesIn(file, d.folder) && (by == nil || len(d.folder) > len(by.folder)) {
				by = d
			}
		}
	}
	if by == nil || len(by.changes) == 0 {
		return o.value, ""
	}
	return by.placed(o.value), "applied by " + by.name + ", with " + enumerate(by.changes) + ", which driftd does not render"
}

func liesIn(file, folder string) bool { return folder == "." || strings.HasPrefix(file, folder+"/") }

// placed returns the object under the name and in the namespace that it is
// delivered with.
func (d *delivery) placed(object model.Value) model.Value {
	metadata := object.At("metadata")
	if d.namespace != "" && (!d.lacking || metadata.At("namespace").Str() == "") {
		metadata = metadata.With("namespace", model.StringOf(d.namespace))
	}
	if d.prefix+d.suffix != "" {
		metadata = metadata.With("name", model.StringOf(d.prefix+metadata.At("name").Str()+d.suffix))
	}
	return object.With("metadata", metadata)
}

// enumerate writes words once each: "a, b and c".
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
