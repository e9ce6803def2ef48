package manifests

import (
	"bytes"
	"path"
	"strings"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// unbuilt returns the sketch of a kustomization that cannot be built. parts are the
// kustomization and its bases. If it sets a namespace, all of its objects are in that
// one. Otherwise the namespaces in its files count, unless a kustomization changes
// them.
func unbuilt(parts []kustomization) sketch {
	var s sketch
	moves := false
	for _, k := range parts {
		s.add(k.sketch())
		moves = moves || k.namespace() != "" || len(k.texts("transformers")) > 0
	}
	switch place := parts[0].namespace(); {
	case isName(place):
		return s.in(place)
	case moves || parts[0].value.IsNull():
		return s.anywhere()
	}
	return s
}

// in returns the sketch with all namespaced objects in one namespace.
func (s sketch) in(place string) sketch {
	if s.unknown {
		return sketch{extents: []model.Extent{{Place: place}, {Placeless: true}}}
	}
	var moved sketch
	for _, e := range s.extents {
		moved.add(sketch{extents: []model.Extent{{Kind: e.Kind, Place: place}, {Kind: e.Kind, Placeless: true}}})
	}
	return moved
}

// anywhere returns the sketch with all objects in an unknown namespace.
func (s sketch) anywhere() sketch {
	moved := sketch{unknown: s.unknown}
	for _, e := range s.extents {
		moved.add(sketch{extents: []model.Extent{{Kind: e.Kind}}})
	}
	return moved
}

// namespace returns the namespace that the kustomization sets, even if the rest of it
// cannot be parsed; "" if it sets none.
func (k kustomization) namespace() string {
	if !k.value.IsNull() {
		return k.value.At("namespace").Str()
	}
	data, err := k.files.ReadFile(k.file)
	if err != nil {
		return ""
	}
	if found := topLevel(comment().ReplaceAllString(string(data), ""), "namespace"); len(found) == 1 {
		return found[0]
	}
	return ""
}

func (k kustomization) texts(field string) []string { return texts(k.value.At(field)) }

// sketch returns the sketch of the resources that the kustomization itself lists and
// generates. It has no names, because prefixes and patches change them.
func (k kustomization) sketch() sketch {
	if k.value.IsNull() || len(k.texts("generators")) > 0 || len(k.value.At("helmCharts").Items()) > 0 ||
		len(k.value.At("helmChartInflationGenerator").Items()) > 0 {
		return sketch{unknown: true}
	}
	var s sketch
	for _, made := range []struct{ field, kind string }{
		{"configMapGenerator", "kubernetes/ConfigMap"}, {"secretGenerator", "kubernetes/Secret"},
	} {
		if len(k.value.At(made.field).Items()) > 0 {
			s.add(sketch{extents: []model.Extent{{Kind: made.kind}}})
		}
	}
	for _, entry := range append(append(k.texts("resources"), k.texts("bases")...), k.texts("components")...) {
		s.add(k.resource(entry))
	}
	return s
}

// resource returns the sketch of one entry of the kustomization's resources. A folder
// is a separate kustomization and has an empty sketch.
func (k kustomization) resource(entry string) sketch {
	file := path.Join(k.dir, entry)
	if k.isElsewhere(entry) {
		return sketch{unknown: true}
	}
	if k.files.IsDir(file) {
		return sketch{}
	}
	data, err := k.files.ReadFile(file)
	if err != nil {
		return sketch{unknown: true}
	}
	return unnamed(sketchFile(data))
}

// unnamed returns the sketch without names.
func unnamed(s sketch) sketch {
	bare := sketch{unknown: s.unknown}
	for _, e := range s.extents {
		bare.add(sketch{extents: []model.Extent{{Kind: e.Kind, Place: e.Place}}})
	}
	return bare
}

// sketchFile returns the sketch of a file of manifests: the objects of the documents
// that can be parsed, and the sketches of the others.
func sketchFile(data []byte) sketch {
	var s sketch
	docs, err := decode.YAML(bytes.NewReader(data))
	faults := decode.SyntaxErrors(err)
	if err != nil && len(faults) == 0 {
		return sketch{unknown: true}
	}
	for _, fault := range faults {
		s.add(sketchOf(fault.Document))
	}
	for _, doc := range docs {
		for _, o := range expand(doc, "") {
			if kind := o.value.At("kind").Str(); kind != "" && !strings.HasSuffix(kind, "List") {
				s.add(sketch{extents: []model.Extent{extentOf(o.value)}})
			}
		}
	}
	return s
}
