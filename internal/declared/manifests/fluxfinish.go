package manifests

import (
	"bytes"
	"cmp"

	"github.com/driftd/driftd/internal/model"
)

// finishApplied makes the changes to an object that the controller makes after the build.
func finishApplied(o *object, by object, name string) {
	common := by.value.At("spec", "commonMetadata")
	o.value = withEmptyTexts(o.value)
	for i := range o.again {
		o.again[i] = withEmptyTexts(o.again[i])
	}
	if !common.IsEmpty() {
		o.value = withMetadata(o.value, common)
		for i := range o.again {
			o.again[i] = withMetadata(o.again[i], common)
		}
	}
	o.unchecked = cmp.Or(o.unchecked, notApplied(o.value, by, name))
}

// withMetadata returns an object with more labels and annotations.
func withMetadata(v, more model.Value) model.Value {
	metadata := v.At("metadata")
	for _, field := range []string{"labels", "annotations"} {
		values := metadata.At(field)
		for _, f := range more.At(field).Fields() {
			values = values.With(f.Name, f.Value)
		}
		if !more.At(field).IsEmpty() {
			metadata = metadata.With(field, values)
		}
	}
	return v.With("metadata", metadata)
}

// withEmptyTexts returns a ConfigMap or Secret with empty texts instead of null: a variable that is not set
// leaves null, and the controller writes it as the type of the field.
func withEmptyTexts(v model.Value) model.Value {
	if kind := kindOf(v); kind != "ConfigMap" && kind != "Secret" {
		return v
	}
	for _, field := range []string{"data", "stringData"} {
		values := v.At(field)
		for _, f := range values.Fields() {
			if f.Value.IsNull() {
				values = values.With(f.Name, model.StringOf(""))
			}
		}
		if !values.IsNull() {
			v = v.With(field, values)
		}
	}
	return v
}

// notApplied returns why Flux does not keep an object as declared, or "".
func notApplied(object model.Value, by object, name string) string {
	annotations, labels := object.At("metadata", "annotations"), object.At("metadata", "labels")
	has := func(key, value string) bool {
		key = "kustomize.toolkit.fluxcd.io/" + key
		return annotations.At(key).Str() == value || labels.At(key).Str() == value
	}
	switch {
	case by.value.At("spec", "suspend").Text() == "true":
		return name + " is suspended in git: Flux does not apply its objects"
	case has("reconcile", "disabled"), has("ssa", "Ignore"):
		return "the object is marked so that Flux does not apply it"
	case has("ssa", "IfNotPresent"):
		return "the object is marked so that Flux only creates it (ssa: IfNotPresent)"
	case bytes.Contains(object.AppendJSON(nil), []byte(encryptedMark)):
		return "contains a value that is encrypted with SOPS; driftd does not decrypt it"
	}
	return ""
}
