package manifests

import (
	"cmp"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// kustomizeSettings are the settings of an Application for Kustomize that driftd applies, and
// those that change nothing.
func kustomizeSettings() []string {
	return []string{"namePrefix", "nameSuffix", "namespace", "images", "replicas", "commonLabels", "forceCommonLabels", "labelWithoutSelector",
		"labelIncludeTemplates", "commonAnnotations", "forceCommonAnnotations", "commonAnnotationsEnvsubst", "components", "ignoreMissingComponents",
		"patches", "version", "kubeVersion", "apiVersions"}
}

// A kustomizationEdit changes a kustomization as Argo CD does with kustomize edit.
type kustomizationEdit struct {
	reader      *argoReader
	application *application
	dir         string
	settings    model.Value
	value       model.Value
}

func (e *kustomizationEdit) apply() error {
	for _, f := range e.settings.Fields() {
		if !slices.Contains(kustomizeSettings(), f.Name) {
			return notRead(sketch{unknown: true}, "has the setting kustomize.%s, which driftd does not apply", shown(f.Name))
		}
	}
	for _, field := range []string{"namePrefix", "nameSuffix", "namespace"} {
		if text := e.settings.At(field).Str(); text != "" {
			e.value = e.value.With(field, model.StringOf(text))
		}
	}
	e.images()
	e.replicas()
	if err := e.labels(); err != nil {
		return err
	}
	if err := e.annotations(); err != nil {
		return err
	}
	e.components()
	e.extend("patches", e.settings.At("patches").Items())
	return nil
}

// extend adds items to a list of the kustomization.
func (e *kustomizationEdit) extend(field string, items []model.Value) {
	if len(items) > 0 {
		e.value = e.value.With(field, model.ListOf(slices.Concat(e.value.At(field).Items(), items)...))
	}
}

// replace adds items to a list of the kustomization, instead of those with the same name.
func (e *kustomizationEdit) replace(field string, items []model.Value) {
	if len(items) == 0 {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(e.value.At(field).Items()), func(old model.Value) bool {
		return slices.ContainsFunc(items, func(v model.Value) bool { return v.At("name").Str() == old.At("name").Str() })
	})
	e.value = e.value.With(field, model.ListOf(append(kept, items...)...))
}

// images sets the images, which have the form [name=]new[:tag][@digest]. An asterisk keeps a part
// of an entry with the same name.
func (e *kustomizationEdit) images() {
	var items []model.Value
	for _, text := range texts(e.settings.At("images")) {
		name, image, renamed := strings.Cut(text, "=")
		if !renamed {
			image = name
		}
		image, digest, _ := strings.Cut(image, "@")
		tag := ""
		if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
			image, tag = image[:i], image[i+1:]
		}
		if !renamed {
			name = image
		}
		old := model.Value{}
		for _, v := range e.value.At("images").Items() {
			if v.At("name").Str() == name {
				old = v
			}
		}
		item := model.MapOf(model.Field{Name: "name", Value: model.StringOf(name)})
		for _, part := range []struct{ field, text string }{{"newName", image}, {"newTag", tag}, {"digest", digest}} {
			if part.text == "*" {
				part.text = old.At(part.field).Str()
			}
			if part.text != "" && !(part.field == "newName" && part.text == name) {
				item = item.With(part.field, model.StringOf(part.text))
			}
		}
		items = append(items, item)
	}
	e.replace("images", items)
}

func (e *kustomizationEdit) replicas() {
	var items []model.Value
	for _, v := range e.settings.At("replicas").Items() {
		count := v.At("count")
		if n, ok := model.NumberOf(count.Text()); ok {
			count = n
		}
		items = append(items, v.With("count", count))
	}
	e.replace("replicas", items)
}

func (e *kustomizationEdit) labels() error {
	pairs, err := e.texts("commonLabels", true)
	switch {
	case err != nil || pairs.IsEmpty():
		return err
	case e.settings.At("labelWithoutSelector").Text() == "true":
		labels := model.MapOf(model.Field{Name: "pairs", Value: pairs})
		if e.settings.At("labelIncludeTemplates").Text() == "true" {
			labels = labels.With("includeTemplates", model.BoolOf(true))
		}
		e.extend("labels", []model.Value{labels})
	default:
		e.value = e.value.With("commonLabels", merged(e.value.At("commonLabels"), pairs))
	}
	return nil
}

func (e *kustomizationEdit) annotations() error {
	pairs, err := e.texts("commonAnnotations", e.settings.At("commonAnnotationsEnvsubst").Text() == "true")
	if err == nil && !pairs.IsEmpty() {
		e.value = e.value.With("commonAnnotations", merged(e.value.At("commonAnnotations"), pairs))
	}
	return err
}

// texts returns a map of texts, with the variables of Argo CD in them.
func (e *kustomizationEdit) texts(field string, expand bool) (model.Value, error) {
	pairs := e.settings.At(field)
	for _, f := range pairs.Fields() {
		text := f.Value.Text()
		if expand {
			var err error
			if text, err = e.reader.expand(e.application, e.dir, text); err != nil {
				return pairs, err
			}
		}
		pairs = pairs.With(f.Name, model.StringOf(text))
	}
	return pairs, nil
}

func (e *kustomizationEdit) components() {
	ignore := e.settings.At("ignoreMissingComponents").Text() == "true"
	var items []model.Value
	for _, v := range e.settings.At("components").Items() {
		if !ignore || e.reader.tree.kustomize.Exists(path.Join(mountPoint, e.dir, v.Str())) {
			items = append(items, v)
		}
	}
	e.extend("components", items)
}

// expand replaces the variables of Argo CD in a text.
// https://argo-cd.readthedocs.io/en/stable/user-guide/build-environment/
func (r *argoReader) expand(a *application, dir, text string) (string, error) {
	if !strings.Contains(text, "$") {
		return text, nil
	}
	known := map[string]string{
		"$": "$", "ARGOCD_APP_NAME": a.short(), "ARGOCD_APP_NAMESPACE": a.namespace(), "ARGOCD_APP_SOURCE_PATH": dir,
		"ARGOCD_APP_PROJECT_NAME": cmp.Or(a.spec.At("project").Str(), "default"),
	}
	var unknown string
	text = os.Expand(text, func(name string) string {
		value, ok := known[name]
		if !ok && strings.HasPrefix(name, "ARGOCD_") {
			unknown = name
		}
		return value
	})
	if unknown != "" {
		return "", notRead(sketch{unknown: true}, "uses the variable %s, whose value driftd does not know", shown(unknown))
	}
	return text, nil
}
