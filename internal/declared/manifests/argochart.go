package manifests

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// helmSettings are the settings of an Application for Helm that driftd applies, and those that
// change nothing.
func helmSettings() []string {
	return []string{"releaseName", "valueFiles", "values", "valuesObject", "parameters", "ignoreMissingValueFiles", "skipCrds", "skipTests",
		"skipSchemaValidation", "namespace", "kubeVersion", "apiVersions", "version", "passCredentials"}
}

// A templating has the settings of a chart that is rendered without a release, as helm template
// does.
type templating struct {
	// SetStrings are values in the form of helm --set-string.
	SetStrings []string
	// SkipCRDs leaves out the definitions in the folder crds, and SkipTests the hooks for tests.
	SkipCRDs, SkipTests bool
}

func (t *templating) setStrings() []string {
	if t == nil {
		return nil
	}
	return t.SetStrings
}

// skips reports whether the objects of a template are left out.
func (t *templating) skips(template string) bool {
	if t == nil {
		return false
	}
	return t.SkipCRDs && isDefinition(template) || t.SkipTests && strings.Contains("/"+template, "/templates/tests/")
}

// inlineValues is the path of the values in an Application, among the files of the tree.
const inlineValues = ".driftd-values.yaml"

// chart renders the chart in dir, or the one that release names, with the settings of an Application.
// https://argo-cd.readthedocs.io/en/stable/user-guide/helm/
func (r *argoReader) chart(a *application, settings model.Value, release HelmConfig, dir, namespace string) (content, error) {
	if err := r.rendererMissing(); err != nil {
		return content{}, err
	}
	for _, f := range settings.Fields() {
		if !slices.Contains(helmSettings(), f.Name) {
			return content{}, notRead(sketch{unknown: true}, "has the setting helm.%s, which driftd does not apply", shown(f.Name))
		}
	}
	c := r.loader.argocd
	release.Release, release.Namespace = cmp.Or(settings.At("releaseName").Str(), a.short()), cmp.Or(settings.At("namespace").Str(), namespace)
	release.KubeVersion, release.APIVersions = cmp.Or(settings.At("kubeVersion").Str(), c.KubeVersion), slices.Concat(c.APIVersions, texts(settings.At("apiVersions")))
	how := templating{SkipCRDs: settings.At("skipCrds").Text() == "true", SkipTests: settings.At("skipTests").Text() == "true"}
	t := *r.tree
	t.Root = dir
	inline, err := r.values(a, settings, &release, &how, dir)
	if err != nil {
		return content{}, err
	}
	added := r.otherValues(&release)
	if len(inline) > 0 {
		added[inlineValues] = inline
		release.Values = append(release.Values, inlineValues)
	}
	if len(added) > 0 {
		t = *t.withFiles(r.ctx, addedFS{t.files, added}, r.loader.config.MaxFileSize)
	}
	found, err := r.template(&t, &release, &how)
	r.nameValues(&found)
	return found, err
}

// values sets the values of a release, and returns those in the Application itself.
func (r *argoReader) values(a *application, settings model.Value, release *HelmConfig, how *templating, dir string) (inline []byte, err error) {
	var missing missingValues
	for _, file := range texts(settings.At("valueFiles")) {
		if release.isRemote() && !strings.HasPrefix(file, "$") {
			return nil, notRead(sketch{unknown: true}, "has values at %s in the chart itself, which driftd does not read", shown(file))
		}
		name, err := r.valueFile(a, file, dir)
		if other, ok := errors.AsType[*missingValues](err); ok {
			missing.files = append(missing.files, other.files...)
			continue
		}
		if err != nil {
			return nil, err
		}
		if !r.exists(name) && settings.At("ignoreMissingValueFiles").Text() == "true" {
			continue
		}
		release.Values = append(release.Values, name)
	}
	if len(missing.files) > 0 {
		return nil, &missing
	}
	for _, p := range settings.At("parameters").Items() {
		value, err := r.expand(a, dir, p.At("value").Text())
		if err != nil {
			return nil, err
		}
		text := p.At("name").Str() + "=" + escaped(value)
		if p.At("forceString").Text() == "true" {
			how.SetStrings = append(how.SetStrings, text)
		} else {
			release.Set = append(release.Set, text)
		}
	}
	if object := settings.At("valuesObject"); !object.IsEmpty() {
		return object.AppendJSON(nil), nil
	}
	return []byte(settings.At("values").Str()), nil
}

// escaped returns the value of a parameter with its commas escaped, as Argo CD does.
func escaped(value string) string {
	if strings.HasPrefix(value, "{") {
		return value
	}
	return strings.ReplaceAll(strings.ReplaceAll(value, `\,`, ","), ",", `\,`)
}

// valueFile returns the path of a file of values from the top of the tree.
func (r *argoReader) valueFile(a *application, file, dir string) (string, error) {
	ref, below, _ := strings.Cut(file, "/")
	if name, ok := strings.CutPrefix(ref, "$"); ok {
		for _, source := range sources(a.spec) {
			if source.At("ref").Str() != name {
				continue
			}
			at, known := r.locate(source.At("repoURL").Str(), source.At("targetRevision").Str())
			if !known {
				return "", notRead(sketch{unknown: true}, "has values in %s, which is another repository: list it in repositories to read it, too", orNone(source.At("repoURL").Str(), "no repository"))
			}
			return r.valuesAt(valuesFile{at, folderOf(below)})
		}
	}
	file, err := r.expand(a, dir, file)
	switch {
	case err != nil:
		return "", err
	case strings.Contains(file, "://"):
		return "", notRead(sketch{unknown: true}, "has values at %s, which driftd does not fetch", shown(file))
	case strings.ContainsAny(file, "*?["):
		return "", notRead(sketch{unknown: true}, "has values at %s, and driftd reads no patterns", shown(file))
	case strings.HasPrefix(file, "/"):
		return folderOf(file), nil
	}
	name := path.Join(dir, file)
	if !fs.ValidPath(name) {
		return "", notRead(sketch{unknown: true}, "has values at %s, which leads out of the repository", shown(file))
	}
	return name, nil
}

// template renders a chart, unless the cache has its objects.
func (r *argoReader) template(t *tree, release *HelmConfig, how *templating) (content, error) {
	l := r.loader
	if release.isRemote() {
		var err error
		if l, err = r.fetch.loaderOf(r.ctx, release); err == nil {
			t, err = l.withArchive(r.ctx, t, false)
		}
		if err != nil {
			return content{}, err
		}
	}
	with := *l
	with.release, with.templating = release, how
	all, rendered, err := with.template(r.ctx, t, r.helm)
	if rendered {
		r.builds++
	}
	return with.orProblem(t, all, err)
}

// remoteChart renders a chart in a registry or a repository of charts. The place of its objects is the Application.
func (r *argoReader) remoteChart(a *application, source model.Value) (content, error) {
	release, err := r.remote(source)
	var all content
	if err == nil {
		all, err = r.chart(a, source.At("helm"), release, ".", a.namespace())
	}
	if failed, ok := errors.AsType[*sourceError](err); ok {
		return all, notRead(sketch{unknown: true}.in(a.namespace()), "deploys the chart %s, which is not compared: %s", shown(source.At("chart").Str()), failed.text)
	}
	for i := range all.objects {
		o := &all.objects[i]
		o.files = slices.DeleteFunc(slices.Concat(o.files, a.files), func(name string) bool { return name == inlineValues })
		o.address, o.files = a.address, slices.Compact(slices.Sorted(slices.Values(o.files)))
	}
	for i := range all.problems {
		all.problems[i].Address = a.address
	}
	return all, err
}

// remote returns the place of a chart. A registry has a URL without a scheme.
func (r *argoReader) remote(source model.Value) (release HelmConfig, err error) {
	name, url, version := source.At("chart").Str(), strings.TrimSuffix(source.At("repoURL").Str(), "/"), source.At("targetRevision").Str()
	switch {
	case r.fetch == nil:
		return release, notRead(sketch{}, "charts are not fetched for earlier commits")
	case kubeTemplate(url + name + version):
		return release, notRead(sketch{}, "its source has a template that was not rendered")
	case !chartName().MatchString(name):
		return release, notRead(sketch{}, "its name is not that of a chart")
	case version == "":
		return release, notRead(sketch{}, "its source has no exact targetRevision, so that git does not have the version")
	}
	release.Version = version
	_, withoutScheme, hasScheme := strings.Cut(url, "://")
	if registry := strings.HasPrefix(url, "oci://"); registry || !hasScheme {
		if !hasScheme {
			withoutScheme = url
		}
		release.OCI = "oci://" + withoutScheme + "/" + name
		return release, nil
	}
	release.Repo, release.Chart = url, name
	return release, nil
}
