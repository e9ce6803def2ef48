package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/kustomize"
	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
)

// fluxArgs are the arguments of the job that builds a folder as Flux does.
type fluxArgs struct {
	Job jobArgs
	// Kustomization is the kustomization file of the folder with the changes of Flux; "" if
	// Flux changes nothing.
	Kustomization string
	// Change is the spec of the Kustomization of Flux as JSON.
	Change []byte
	// Missing reports whether the folder has no kustomization file: Kustomization is made
	// from Resources.
	Missing   bool
	Resources []string
	Variables variables
}

// Variables are the values of a Kustomization's postBuild.
type variables struct {
	// On reports whether there are any, so that Flux substitutes. Maybe reports that this is unknown: all come
	// from optional objects that are not in git.
	On, Maybe bool
	Known     map[string]string
	// Sealed are the names of variables whose values are unknown, with their origins. Open is
	// the origin of every variable that is not Known; "" if all are known.
	Sealed map[string]string
	Open   string
	Strict bool
}

// The values of unknown variables in the two builds. They have different lengths and characters,
// and are valid in base64.
func placeholder(build int) string { return []string{"Zmlyc3Qw", "c2Vjb25kMDAw"}[build] }

// maxSubstituted bounds the bytes of values that are substituted in one object. Values of
// variables may be large, and occur in many places.
const maxSubstituted = 16 << 20

// buildFlux builds a folder as Flux does. If a part of the result is unknown, because it comes
// from a Secret or is encrypted, it builds twice with different values for the unknown part.
func buildFlux(files fs.FS, o fluxArgs) (packed, error) {
	first, unknown, err := o.build(files, 0)
	if err != nil || len(unknown) == 0 {
		return first.pack(), err
	}
	second, _, err := o.build(files, 1)
	if err != nil {
		return packed{}, err
	}
	first.leaveToChance([]content{second}, strings.Join(unknown, " and "), "")
	return first.pack(), nil
}

// build builds with the n-th values for unknown parts. unknown are the origins of these parts.
func (o fluxArgs) build(files fs.FS, n int) (c content, unknown []string, err error) {
	opened := &encryptedFS{FS: files, limit: o.Job.Limit, build: n}
	dir, _ := within(o.Job.Name)
	changed, err := o.withChanges(opened, dir)
	if err != nil {
		t := o.Job.Place.tree(opened, o.Job.Limit)
		c.problem(t.address(dir), "%s", buildError(err, t, nil))
		return c, nil, nil
	}
	t := o.Job.Place.tree(changed, o.Job.Limit)
	s := &substituter{variables: o.Variables, build: n, used: map[string]bool{}}
	c, err = o.Job.build(t, types.LoadRestrictionsNone, s.object)
	if opened.found {
		s.used["a file that is encrypted with SOPS"] = true
	}
	return c, slices.Sorted(maps.Keys(s.used)), err
}

// withChanges returns the files with the changes of Flux to the kustomization file in dir. Like
// the controller, it replaces or adds the fields of the Kustomization of Flux.
// https://fluxcd.io/flux/components/kustomize/kustomizations/
func (o fluxArgs) withChanges(files fs.FS, dir string) (fs.FS, error) {
	if !o.Missing && len(o.Change) == 0 {
		return files, nil
	}
	var spec fluxSpec
	if err := yaml.Unmarshal(o.Change, &spec); err != nil {
		return nil, errors.New("the spec of the Kustomization of Flux is invalid")
	}
	k := types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind}}
	name := path.Join(dir, o.Kustomization)
	if o.Missing {
		k.Resources = o.Resources
	} else {
		data, err := bounded.ReadFile(files, name, maxKustomization)
		if err != nil {
			return nil, bounded.Cause(err)
		}
		if err := yaml.Unmarshal(data, &k); err != nil {
			return nil, errors.New("invalid kustomization file")
		}
	}
	if err := spec.change(&k, func(component string) bool {
		_, err := fs.Stat(files, path.Join(dir, component))
		return err == nil
	}); err != nil {
		return nil, err
	}
	text, err := yaml.Marshal(k)
	if err != nil {
		return nil, fmt.Errorf("write kustomization: %w", err)
	}
	return addedFS{files, map[string][]byte{name: text}}, nil
}

// A fluxSpec is the part of the spec of a Kustomization of Flux that changes the kustomization
// file.
type fluxSpec struct {
	kustomize.Changes

	TargetNamespace         *string  `json:"targetNamespace"`
	NamePrefix              *string  `json:"namePrefix"`
	NameSuffix              *string  `json:"nameSuffix"`
	Components              []string `json:"components"`
	IgnoreMissingComponents bool     `json:"ignoreMissingComponents"`
}

// change applies the spec to a kustomization. exists reports whether a component exists.
func (s *fluxSpec) change(k *types.Kustomization, exists func(string) bool) error {
	for _, f := range []struct {
		from *string
		to   *string
	}{{s.TargetNamespace, &k.Namespace}, {s.NamePrefix, &k.NamePrefix}, {s.NameSuffix, &k.NameSuffix}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	for _, component := range s.Components {
		if strings.HasPrefix(component, "/") || strings.Contains(component, "://") {
			return errors.New("a component is not a relative path")
		}
		if !s.IgnoreMissingComponents || exists(component) {
			k.Components = append(k.Components, component)
		}
	}
	return s.Apply(k)
}

// A substituter substitutes variables in the objects of one build.
type substituter struct {
	variables

	build int
	// used are the origins of the unknown values that were substituted.
	used map[string]bool
}

// A substitutionError is why the variables of an object cannot be substituted.
type substitutionError struct{ text string }

// Error implements error.
func (e *substitutionError) Error() string { return e.text }

// notSubstituted is the label or annotation of an object without substitutions, if its value is
// disabled.
const notSubstituted = "kustomize.toolkit.fluxcd.io/substitute"

// object returns an object with the values of its variables.
func (s *substituter) object(r *resource.Resource) (builtObject, error) {
	const disabled = "disabled"
	if !s.On || r.GetLabels()[notSubstituted] == disabled || r.GetAnnotations()[notSubstituted] == disabled {
		return plainObject(r)
	}
	text, err := r.AsYAML()
	if err != nil {
		return builtObject{}, err
	}
	if !bytes.ContainsRune(text, '$') {
		return plainObject(r)
	}
	if s.Maybe {
		s.used[s.Open] = true
		if s.build > 0 {
			return plainObject(r)
		}
	}
	names := map[string]bool{}
	size := 0
	output, err := envsubst.Eval(string(text), func(name string) (string, bool) {
		value, ok := s.value(name)
		if size += len(value); size > maxSubstituted {
			return "", false
		}
		names[name] = true
		return value, ok
	})
	switch {
	case size > maxSubstituted:
		return builtObject{}, &substitutionError{fmt.Sprintf("more than %d bytes of values of variables", maxSubstituted)}
	case err != nil:
		return builtObject{}, &substitutionError{"the variables cannot be substituted: " + variableError(err)}
	}
	data, err := yaml.YAMLToJSON([]byte(output))
	if err != nil {
		return builtObject{}, &substitutionError{"is not YAML after the substitution of variables"}
	}
	return builtObject{data, slices.Sorted(maps.Keys(names))}, nil
}

// value returns the value of a variable.
func (s *substituter) value(name string) (value string, ok bool) {
	if value, ok = s.Known[name]; ok {
		return value, true
	}
	origin := s.Sealed[name]
	if origin == "" {
		origin = s.Open
	}
	if origin != "" {
		s.used[origin] = true
		return placeholder(s.build), true
	}
	return "", !s.Strict
}

var unsetVariable = lazyregexp.New(`variable not set \(strict mode\): "[A-Za-z0-9_]*"`)

// variableError returns an error of envsubst without the text that it quotes.
func variableError(err error) string {
	if found := unsetVariable().FindString(err.Error()); found != "" {
		return found
	}
	return "invalid ${…}"
}

// unnamedExtent returns the extent of an object whose name is unknown.
func unnamedExtent(r *resource.Resource) model.Extent {
	e := model.Extent{Kind: kube.KindName(r.GetApiVersion(), r.GetKind())}
	if place := r.GetNamespace(); !kube.Unrendered(place) {
		e.Place = place
	}
	return e
}
