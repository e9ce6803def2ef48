package manifests

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// variables returns the values for the postBuild of a Kustomization, and the files that they
// come from. Later sources take precedence, and then those in the Kustomization itself.
func (r *fluxReader) variables(o object) (variables, map[string][]string) {
	v := variables{Known: map[string]string{}, Sealed: map[string]string{}, Strict: r.loader.flux.StrictSubstitution}
	from := map[string][]string{}
	post := o.value.At("spec", "postBuild")
	for _, ref := range post.At("substituteFrom").Items() {
		r.variablesFrom(&v, from, o, ref)
	}
	for _, f := range post.At("substitute").Fields() {
		if o.isCertain("spec", "postBuild", "substitute", f.Name) {
			v.set(f.Name, f.Value.Text())
		} else {
			v.seal(f.Name, o.chance)
		}
		from[f.Name] = o.files
	}
	known := len(v.Known)+len(v.Sealed) > 0
	v.On = known || v.Open != ""
	v.Maybe = v.On && !known && !slices.ContainsFunc(post.At("substituteFrom").Items(), func(ref model.Value) bool { return ref.At("optional").Text() != "true" })
	return v, from
}

// variablesFrom adds the values of one entry of substituteFrom.
func (r *fluxReader) variablesFrom(v *variables, from map[string][]string, o object, ref model.Value) {
	kind, name := ref.At("kind").Str(), ref.At("name").Str()
	place := cmp.Or(o.value.At("metadata", "namespace").Str(), "default")
	origin := fmt.Sprintf("%s %s/%s, from which Flux takes variables", kind, place, name)
	source, found := r.input(kind + " " + place + "/" + name)
	if !found || source.isLoose() {
		// It may have any variable, in place of one that was found before.
		v.Open = origin
		for known := range v.Known {
			v.seal(known, origin)
		}
		return
	}
	for _, field := range []string{"data", "stringData"} {
		for _, f := range source.value.At(field).Fields() {
			from[f.Name] = source.files
			if kind == "ConfigMap" && source.isCertain(field, f.Name) {
				v.set(f.Name, f.Value.Text())
			} else {
				v.seal(f.Name, origin)
			}
		}
	}
}

// isCertain reports whether a field is known.
func (o *object) isCertain(field ...string) bool {
	value := o.value.At(field...)
	return !strings.Contains(value.Text(), encryptedMark) &&
		!slices.ContainsFunc(o.again, func(v model.Value) bool { return !v.At(field...).Equal(value) })
}

// isLoose reports whether Flux does not keep an object as it is in git. One that is encrypted is kept, and the
// names of its values are known.
func (o *object) isLoose() bool {
	return o.unchecked != "" && !bytes.Contains(o.value.AppendJSON(nil), []byte(encryptedMark))
}

func (v *variables) set(name, value string) {
	delete(v.Sealed, name)
	v.Known[name] = strings.ReplaceAll(value, "\n", "")
}

func (v *variables) seal(name, origin string) {
	delete(v.Known, name)
	v.Sealed[name] = origin
}
