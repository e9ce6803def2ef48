package postrender

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"

	"github.com/driftd/driftd/internal/kustomize"
	"github.com/driftd/driftd/internal/lazyregexp"
)

// A document is an object in the output of a template, in YAML. file is the path of the template.
type document struct{ file, text string }

// fileAnnotation has the name of the template in the input of post-renderers. Helm adds it, so that patches find a map of
// annotations in each object.
const fileAnnotation = "postrenderer.helm.sh/postrender-filename"

// input and kustomization are the files that helm-controller builds.
const (
	input         = "helm-output.yaml"
	kustomization = "kustomization.yaml"
)

// passed returns documents after the post-renderers, in JSON. Helm passes them as one stream through one after the other. A document of
// which the template is unknown afterwards has other as its file. An error contains nothing of the documents and the patches.
func passed(documents []document, through []kustomize.Changes, other string) ([]document, error) {
	objects, err := annotated(documents)
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	files, byID := map[string]bool{}, map[string]string{}
	for _, object := range objects {
		file := object.GetAnnotations()[fileAnnotation]
		files[file], byID[idOf(object)] = true, file
	}
	text, err := kio.StringAll(objects)
	if err != nil {
		return nil, errors.New("the output of a template cannot be written")
	}
	for i := range through {
		if text, err = passedOne(text, &through[i]); err != nil {
			return nil, fmt.Errorf("postRenderers[%d] cannot be applied: %s", i, public(err))
		}
	}
	if objects, err = kio.FromBytes([]byte(text)); err != nil {
		return nil, errUnread
	}
	made := make([]document, len(objects))
	for i, object := range objects {
		d, err := plain(object)
		if err != nil {
			return nil, errUnread
		}
		if !files[d.file] {
			d.file = cmp.Or(byID[idOf(object)], other)
		}
		made[i] = d
	}
	return made, nil
}

var errUnread = errors.New("the output of the postRenderers cannot be read")

// annotated returns the objects in documents, each with the path of its template.
func annotated(documents []document) (objects []*kyaml.RNode, err error) {
	for _, d := range documents {
		found, err := kio.FromBytes([]byte(d.text))
		if err != nil {
			return nil, errors.New("the output of a template is not YAML, so that postRenderers cannot be applied")
		}
		for _, object := range found {
			if err := object.PipeE(kyaml.SetAnnotation(fileAnnotation, d.file)); err != nil {
				return nil, errors.New("the output of a template is no object, so that postRenderers cannot be applied")
			}
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// idOf returns the kind and the name of an object.
func idOf(object *kyaml.RNode) string {
	return fmt.Sprintf("%q", []string{object.GetApiVersion(), object.GetKind(), object.GetNamespace(), object.GetName()})
}

// plain returns an object with the path of its template, in JSON.
func plain(object *kyaml.RNode) (document, error) {
	file := object.GetAnnotations()[fileAnnotation]
	if err := object.PipeE(kyaml.ClearAnnotation(fileAnnotation)); err != nil {
		return document{}, err
	}
	if err := kyaml.ClearEmptyAnnotations(object); err != nil {
		return document{}, err
	}
	data, err := object.MarshalJSON()
	return document{file, string(data)}, err
}

// passedOne returns a stream after one post-renderer.
func passedOne(text string, c *kustomize.Changes) (string, error) {
	k := types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind}, Resources: []string{input}}
	if err := c.Apply(&k); err != nil {
		return "", err
	}
	k.Images = c.Images // also several with one name, unlike those of a Kustomization of Flux
	built, err := yaml.Marshal(k)
	if err != nil {
		return "", fmt.Errorf("write kustomization: %w", err)
	}
	files := filesys.MakeFsInMemory()
	for name, data := range map[string][]byte{input: []byte(text), kustomization: built} {
		if err := files.WriteFile(name, data); err != nil {
			return "", err
		}
	}
	objects, err := kustomize.Build(files, ".", types.LoadRestrictionsNone)
	if err != nil {
		return "", err
	}
	output, err := objects.AsYaml()
	return string(output), err
}

// reasons matches the parts of errors of kustomize that are shown. An error quotes patches, which may contain any value.
var reasons = lazyregexp.New(`no resource matches strategic merge patch|no matches for Id|multiple matches for Id` +
	`|unable to parse SM or JSON patch|must specify a target for JSON patch|(?:add|remove|replace|move|copy|test) operation does not apply` +
	`|may not add resource with an already registered id|missing metadata\.name|kustomize crashed` +
	`|error parsing regexp|unable to parse requirement|Multiple Strategic-Merge Patches in one`)

// maxReasons bounds the parts of an error that are shown.
const maxReasons = 3

// public returns the parts of an error that contain no value.
func public(err error) string {
	parts := reasons().FindAllString(err.Error(), maxReasons)
	if len(parts) == 0 {
		return "kustomize reports an error"
	}
	return strings.Join(parts, ": ")
}
