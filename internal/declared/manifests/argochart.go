package manifests

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

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
	inside := "/" + template
	return t.SkipCRDs && strings.Contains(inside, "/crds/") && !strings.Contains(inside, "/templates/") ||
		t.SkipTests && strings.Contains(inside, "/templates/tests/")
}

// inlineValues is the path of the values in an Application, among the files of the tree.
const inlineValues = ".driftd-values.yaml"

// chart renders the chart in dir with the settings of an Application.
// https://argo-cd.readthedocs.io/en/stable/user-guide/helm/
func (r *argoReader) chart(a *application, settings model.Value, dir, namespace string) (content, error) {
	if err := r.rendererMissing(); err != nil {
		return content{}, err
	}
	for _, f := range settings.Fields() {
		if !slices.Contains(helmSettings(), f.Name) {
			return content{}, notRead(sketch{unknown: true}, "has the setting helm.%s, which driftd does not apply", printable(f.Name))
		}
	}
	c := r.loader.argocd
	release := HelmConfig{
		Release: cmp.Or(settings.At("releaseName").Str(), a.short()), Namespace: cmp.Or(settings.At("namespace").Str(), namespace),
		KubeVersion: cmp.Or(settings.At("kubeVersion").Str(), c.KubeVersion), APIVersions: slices.Concat(c.APIVersions, texts(settings.At("apiVersions"))),
	}
	how := templating{SkipCRDs: settings.At("skipCrds").Text() == "true", SkipTests: settings.At("skipTests").Text() == "true"}
	t := *r.tree
	t.Root = dir
	inline, err := r.values(a, settings, &release, &how, dir)
	if err != nil {
		return content{}, err
	}
	if len(inline) > 0 {
		t = *t.withFiles(r.ctx, addedFS{t.files, map[string][]byte{inlineValues: inline}}, r.loader.config.MaxFileSize)
		release.Values = append(release.Values, inlineValues)
	}
	return r.template(&t, &release, &how)
}

// values sets the values of a release, and returns those in the Application itself.
func (r *argoReader) values(a *application, settings model.Value, release *HelmConfig, how *templating, dir string) (inline []byte, err error) {
	for _, file := range texts(settings.At("valueFiles")) {
		name, err := r.valueFile(a, file, dir)
		if err != nil {
			return nil, err
		}
		if _, err := fs.Stat(r.tree.files, name); errors.Is(err, fs.ErrNotExist) && settings.At("ignoreMissingValueFiles").Text() == "true" {
			continue
		}
		release.Values = append(release.Values, name)
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
			if !r.isOwnRepository(source.At("repoURL").Str()) || !r.isOwn(source.At("targetRevision").Str()) {
				return "", notRead(sketch{unknown: true}, "has values in %s at %s, which driftd does not read", orNone(source.At("repoURL").Str(), "no repository"), orNone(source.At("targetRevision").Str(), "HEAD"))
			}
			return folderOf(below), nil
		}
	}
	file, err := r.expand(a, dir, file)
	switch {
	case err != nil:
		return "", err
	case strings.Contains(file, "://"):
		return "", notRead(sketch{unknown: true}, "has values at %s, which driftd does not fetch", printable(file))
	case strings.ContainsAny(file, "*?["):
		return "", notRead(sketch{unknown: true}, "has values at %s, and driftd reads no patterns", printable(file))
	case strings.HasPrefix(file, "/"):
		return folderOf(file), nil
	}
	name := path.Join(dir, file)
	if !fs.ValidPath(name) {
		return "", notRead(sketch{unknown: true}, "has values at %s, which leads out of the repository", printable(file))
	}
	return name, nil
}

// template renders a chart, unless the cache has its objects.
func (r *argoReader) template(t *tree, release *HelmConfig, how *templating) (content, error) {
	l := *r.loader
	l.release, l.templating = release, how
	settings, err := json.Marshal([]any{t.Root, release, how})
	if err != nil {
		return content{}, fmt.Errorf("read the settings of a chart: %w", err)
	}
	cache := l.argocd.charts.of(string(settings))
	key, keyed, err := l.chartKey(r.ctx, t)
	if r.ctx.Err() != nil {
		return content{}, fmt.Errorf("read chart: %w", r.ctx.Err())
	}
	if err != nil {
		return content{}, notRead(l.mayRender(t), "%v", err)
	}
	if known, ok := cache.get(key); ok && keyed {
		return known, nil
	}
	r.builds++
	all, err := l.chartIn(r.ctx, t, r.helm)
	if err != nil {
		return content{}, err
	}
	if keyed && len(all.problems) == 0 {
		l.argocd.charts.put(cache, key, all)
	}
	return all, nil
}

// chartCaches has the objects of many charts. It is safe for concurrent use.
type chartCaches struct {
	mu     sync.Mutex
	caches map[string]*chartCache
	size   int64
}

// maxCharts bounds the memory of the charts of one declaration that are kept, in bytes.
const maxCharts = 128 << 20

// of returns the cache of a chart with its settings.
func (c *chartCaches) of(settings string) *chartCache {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.caches[settings]
	if found == nil {
		found = &chartCache{}
	}
	if c.caches == nil {
		c.caches = map[string]*chartCache{}
	}
	if c.caches[settings] == nil {
		c.size += int64(len(settings))
	}
	c.caches[settings] = found
	return found
}

// put adds a rendering to a cache. When the bound is reached, all are dropped.
func (c *chartCaches) put(cache *chartCache, key chartKey, rendered content) {
	size := int64(0)
	for _, o := range rendered.objects {
		size += o.value.Weight()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += size; c.size > maxCharts {
		c.caches, c.size = nil, 0
		return
	}
	cache.put(key, rendered)
}
