package manifests

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/chart"
	"github.com/driftd/driftd/internal/chart/postrender"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
)

// A helmRelease is a HelmRelease of Flux.
type helmRelease struct {
	object

	spec model.Value
	// name is its namespace and name, and space the namespace.
	name, space string
	// target is the namespace of the release, and storage that of its record.
	target, storage string
	// release is the name of the release.
	release string
}

func newHelmRelease(o object) helmRelease {
	spec, metadata := o.value.At("spec"), o.value.At("metadata")
	h := helmRelease{object: o, spec: spec, space: cmp.Or(metadata.At("namespace").Str(), "default")}
	name := metadata.At("name").Str()
	h.name = h.space + "/" + name
	h.target = cmp.Or(spec.At("targetNamespace").Str(), h.space)
	h.storage = cmp.Or(spec.At("storageNamespace").Str(), h.space)
	h.release = shortName(cmp.Or(spec.At("releaseName").Str(), strings.TrimPrefix(spec.At("targetNamespace").Str()+"-"+name, "-")))
	return h
}

// shortName returns the name of a release as helm-controller shortens it.
func shortName(name string) string {
	const digits = 12
	if len(name) <= maxRelease {
		return name
	}
	return fmt.Sprintf("%s-%.*x", name[:maxRelease-digits-1], digits, sha256.Sum256([]byte(name)))[:maxRelease]
}

// extents returns the sketch of what a release may declare that is not rendered.
func (h *helmRelease) extents() sketch {
	source := cmp.Or(h.spec.At("chartRef", "namespace").Str(), h.spec.At("chart", "spec", "sourceRef", "namespace").Str(), h.space)
	extents := []model.Extent{{Placeless: true}, {Kind: "kubernetes/HelmChart" + fluxSourceGroup, Place: source}}
	for _, name := range []string{h.target, h.space, h.storage} {
		if !isName(name) {
			return sketch{unknown: true}
		}
		extents = append(extents, model.Extent{Place: name})
	}
	return sketch{extents: extents}
}

// helmRelease returns the objects of the chart of a HelmRelease.
func (r *fluxReader) helmRelease(o object) (content, error) {
	h := newHelmRelease(o)
	if !h.spec.At("kubeConfig").IsEmpty() {
		var c content
		c.bounded(o.address, nil, "HelmRelease %s installs in another cluster (spec.kubeConfig), and its objects are not compared: declare them for that cluster", h.name)
		return c, nil
	}
	r.built++
	c, err := r.installed(&h)
	return h.orUnread(c, err)
}

// orUnread returns the objects of the chart, or the problem of a chart that is not read.
func (h *helmRelease) orUnread(c content, err error) (content, error) {
	if failed, ok := errors.AsType[*sourceError](err); ok {
		return h.unread(failed.text), nil
	}
	return c, err
}

// unread returns the problem of a HelmRelease whose chart is not read.
func (h *helmRelease) unread(reason string) (c content) {
	c.limited(h.address, h.extents(), "the objects of HelmRelease %s are not compared: %s", h.name, reason)
	return c
}

// installed renders the chart of a HelmRelease.
func (r *fluxReader) installed(h *helmRelease) (content, error) {
	if reason := cmp.Or(h.unchecked, h.notInstalled()); reason != "" {
		return content{}, notRead(sketch{}, "%s", reason)
	}
	id := h.storage + "/" + h.release
	if other, twice := r.installs[id]; twice && other != h.name {
		return content{}, notRead(sketch{}, "its release %s is that of HelmRelease %s, too: give one of them another releaseName", id, other)
	}
	r.installs[id] = h.name
	if r.loader.env.Helm == "" {
		return content{}, notRead(sketch{}, "the program %s, which renders charts, is not installed beside driftd: install it", chart.Program)
	}
	values, err := r.fluxValues(h)
	if err != nil {
		return content{}, err
	}
	c, err := r.install(h, values)
	if other, ok := errors.AsType[*otherChartError](err); ok {
		c, err = r.installFrom(other, h, values)
	}
	if err == nil && h.spec.At("install", "createNamespace").Text() == "true" {
		r.namespaces[h.target] = h.namespace()
	}
	return c, err
}

// install renders the chart of a HelmRelease with values. A chart in another repository is an *otherChartError, unless the tree is that one.
func (r *fluxReader) install(h *helmRelease, values *fluxValues) (content, error) {
	l, t, err := r.chartOf(h)
	if err != nil {
		return content{}, err
	}
	if l.installing.Moving {
		values.unknown["the version of the HelmChart, which Flux completes"] = true
	}
	c, err := r.renderings(h, l, t, values)
	if err != nil {
		return content{}, err
	}
	r.finishInstalled(&c, h, l)
	if made, ok := h.helmChart(); ok {
		c.objects = append(c.objects, made)
	}
	return c, nil
}

// notInstalled returns the reason why the objects of a HelmRelease cannot be determined, or "".
func (h *helmRelease) notInstalled() string {
	spec := h.spec
	known := func(o model.Value) model.Value {
		return o.At("spec").Without("values", "interval", "timeout", "dependsOn")
	}
	switch {
	case slices.ContainsFunc(h.again, func(o model.Value) bool { return !known(o).Equal(known(h.value)) }):
		return "a field of its spec, besides the values, is left to " + h.chance
	case !isName(h.target) || !isName(h.storage):
		return "its namespaces are no names of namespaces"
	case !plainName().MatchString(h.release) || strings.Contains(h.release, ":"):
		return "its releaseName is not the name of a release"
	case spec.At("upgrade", "preserveValues").Text() == "true":
		return "it keeps the values of earlier upgrades (spec.upgrade.preserveValues), which are not in git"
	}
	return ""
}

// chartName matches the name of a chart in a repository.
var chartName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$`)

// chartOf returns a loader for the chart of a HelmRelease, and the tree with the chart.
func (r *fluxReader) chartOf(h *helmRelease) (*loader, *tree, error) {
	c := r.loader.flux
	release := HelmConfig{Release: h.release, Namespace: h.target, KubeVersion: c.KubeVersion, APIVersions: c.APIVersions}
	if ref := h.spec.At("chartRef"); !ref.IsEmpty() {
		return r.chartByRef(h, ref, release)
	}
	return r.chartByTemplate(h.spec.At("chart", "spec"), h.space, release)
}

// chartByRef returns the chart in chartRef.
func (r *fluxReader) chartByRef(h *helmRelease, ref model.Value, release HelmConfig) (*loader, *tree, error) {
	kind, space := ref.At("kind").Str(), cmp.Or(ref.At("namespace").Str(), h.space)
	source, err := r.chartSource(kind, space, ref.At("name").Str())
	if err != nil {
		return nil, nil, err
	}
	spec := source.value.At("spec")
	switch kind {
	case "HelmChart":
		return r.chartByTemplate(spec, space, release)
	case "OCIRepository":
	default:
		return nil, nil, notRead(sketch{}, "its chart comes from %s %s/%s, which driftd does not read", shown(kind), space, shown(ref.At("name").Str()))
	}
	if media := spec.At("layerSelector", "mediaType").Str(); media != "" && media != helmLayer {
		return nil, nil, notRead(sketch{}, "its OCIRepository selects the layer %s, and driftd reads only that of charts", shown(media))
	}
	release.OCI = spec.At("url").Str()
	at := spec.At("ref")
	switch {
	case at.At("digest").Str() != "":
		release.Digest = at.At("digest").Str()
	case at.At("semver").Str() != "" || at.At("tag").Str() == "":
		return nil, nil, notRead(sketch{}, "its OCIRepository has no exact tag or digest, so that git does not have the version: set spec.ref.tag or spec.ref.digest")
	default:
		release.Version = strings.ReplaceAll(at.At("tag").Str(), "_", "+")
	}
	return r.fetched(release, !r.loader.flux.DisableChartDigestTracking)
}

// helmLayer is the media type of the archive of a chart.
const helmLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

// fetched returns a loader for a chart that is fetched. If tracks is true, its version has the digest.
func (r *fluxReader) fetched(release HelmConfig, tracks bool) (*loader, *tree, error) {
	l, err := r.fetch.loaderOf(r.ctx, &release)
	if err != nil {
		return nil, nil, err
	}
	t, err := l.withArchive(r.ctx, r.tree, false)
	if err != nil {
		return nil, nil, notRead(sketch{}, "%s", shown(err.Error()))
	}
	l.installing = &installing{}
	const digits = 12
	if digest := strings.TrimPrefix(l.fetched.Manifest(), "sha256:"); tracks && len(digest) > digits {
		l.installing.Metadata = digest[:digits]
	}
	return l, t, nil
}

// chartByTemplate returns the chart of a template of a HelmChart in a namespace.
func (r *fluxReader) chartByTemplate(spec model.Value, space string, release HelmConfig) (*loader, *tree, error) {
	ref := spec.At("sourceRef")
	kind, name := ref.At("kind").Str(), ref.At("name").Str()
	space = cmp.Or(ref.At("namespace").Str(), space)
	if spec.At("valuesFile").Str() != "" {
		return nil, nil, notRead(sketch{}, "it has valuesFile, which driftd does not read: use valuesFiles")
	}
	if kind == "GitRepository" {
		return r.chartInGit(spec, space, release)
	}
	if kind != "HelmRepository" {
		return nil, nil, notRead(sketch{}, "its chart comes from %s %s/%s, which driftd does not read", orNone(kind, "source"), space, shown(name))
	}
	source, err := r.chartSource(kind, space, name)
	if err != nil {
		return nil, nil, err
	}
	url, called := strings.TrimSuffix(source.value.At("spec", "url").Str(), "/"), spec.At("chart").Str()
	if !chartName().MatchString(called) {
		return nil, nil, notRead(sketch{}, "%s is not the name of a chart", orNone(called, "its chart"))
	}
	if release.Version = spec.At("version").Str(); release.Version == "" || release.Version == "*" {
		return nil, nil, notRead(sketch{}, "it has no exact version of the chart, so that git does not have it: set spec.chart.spec.version")
	}
	if strings.HasPrefix(url, "oci://") {
		release.OCI = url + "/" + called
	} else {
		release.Repo, release.Chart = url, called
	}
	l, t, err := r.fetched(release, false)
	if files := texts(spec.At("valuesFiles")); err == nil && len(files) > 0 {
		// The version of such a chart has the generation of the HelmChart.
		l.installing.Defaults, l.installing.IgnoreMissing, l.installing.Moving = files, spec.At("ignoreMissingValuesFiles").Text() == "true", true
	}
	return l, t, err
}

// chartInGit returns a chart in the tree. One in another repository is an *otherChartError.
func (r *fluxReader) chartInGit(spec model.Value, space string, release HelmConfig) (*loader, *tree, error) {
	by := object{value: model.MapOf(
		model.Field{Name: "metadata", Value: model.MapOf(model.Field{Name: "namespace", Value: model.StringOf(space)})},
		model.Field{Name: "spec", Value: model.MapOf(model.Field{Name: "sourceRef", Value: spec.At("sourceRef")}, model.Field{Name: "path", Value: spec.At("chart")})},
	)}
	at, reason := r.sourceOf(by)
	if at.repository != nil && reason == "" && r.tree.Repository == "" {
		return nil, nil, &otherChartError{at, by}
	}
	if reason = cmp.Or(reason, r.notCheckedOut(by)); reason != "" {
		return nil, nil, notRead(sketch{}, "%s", reason)
	}
	l, t := *r.loader, *r.tree
	t.Root = r.folderOf(by)
	excluded, err := r.excluding(by)
	if err != nil {
		return nil, nil, notRead(sketch{}, "%v", err)
	}
	if excluded(path.Join(t.Root, chartFile)) {
		return nil, nil, notRead(sketch{}, "a %s, or spec.ignore of its source, excludes its chart", sourceIgnore)
	}
	l.release, l.installing, l.excluded = &release, &installing{Moving: spec.At("reconcileStrategy").Str() == "Revision"}, excluded
	if len(spec.At("valuesFiles").Items()) == 0 {
		return &l, &t, nil
	}
	with, err := r.withValuesFiles(spec, &t, &l)
	return &l, with, err
}

// chartSource returns the source of a chart, which must be in git.
func (r *fluxReader) chartSource(kind, space, name string) (object, error) {
	source, found := r.input(kind + fluxSourceGroup + " " + space + "/" + name)
	of := fmt.Sprintf("its chart comes from %s %s/%s", orNone(kind, "source"), shown(space), shown(name))
	switch {
	case !found:
		return source, notRead(sketch{}, "%s, which is not in git: add it", of)
	case source.unchecked != "":
		return source, notRead(sketch{}, "%s, which is not as in git: %s", of, source.unchecked)
	case !source.isCertain("spec"):
		return source, notRead(sketch{}, "%s, and its spec is left to %s", of, source.chance)
	case source.value.At("spec", "suspend").Text() == "true":
		return source, notRead(sketch{}, "%s, which is suspended in git", of)
	}
	return source, nil
}

// helmChart returns the HelmChart that helm-controller applies for a template, which is compared if it is there.
// https://fluxcd.io/flux/components/helm/helmreleases/#chart-template
func (h *helmRelease) helmChart() (made object, ok bool) {
	template := h.spec.At("chart", "spec")
	if template.IsEmpty() || !h.spec.At("chartRef").IsEmpty() {
		return object{}, false
	}
	ref := template.At("sourceRef")
	space := cmp.Or(ref.At("namespace").Str(), h.space)
	metadata := model.MapOf(model.Field{Name: "name", Value: model.StringOf(h.space + "-" + path.Base(h.name))}, model.Field{Name: "namespace", Value: model.StringOf(space)})
	for _, name := range []string{"labels", "annotations"} {
		if marks := h.spec.At("chart", "metadata", name); !marks.IsEmpty() {
			metadata = metadata.With(name, marks)
		}
	}
	return object{address: h.address, files: h.files, namespace: space, optional: true, value: model.MapOf(
		model.Field{Name: "apiVersion", Value: model.StringOf("source.toolkit.fluxcd.io/v1")}, model.Field{Name: "kind", Value: model.StringOf("HelmChart")},
		model.Field{Name: "metadata", Value: metadata},
		model.Field{Name: "spec", Value: h.chartSpec(template)},
	)}, true
}

// chartSpec returns the specification of the HelmChart for a template, with the defaults of the HelmRelease's definition.
func (h *helmRelease) chartSpec(template model.Value) model.Value {
	ref := template.At("sourceRef")
	spec := model.MapOf(
		model.Field{Name: "chart", Value: template.At("chart")}, model.Field{Name: "sourceRef", Value: ref.Without("namespace", "apiVersion")},
		model.Field{Name: "version", Value: model.StringOf(cmp.Or(template.At("version").Text(), "*"))},
		model.Field{Name: "reconcileStrategy", Value: model.StringOf(cmp.Or(template.At("reconcileStrategy").Text(), "ChartVersion"))},
	)
	if interval := cmp.Or(template.At("interval").Str(), h.spec.At("interval").Str()); interval != "" {
		if d, err := time.ParseDuration(interval); err == nil {
			interval = d.String() // helm-controller writes 5m as 5m0s.
		}
		spec = spec.With("interval", model.StringOf(interval))
	}
	for _, name := range []string{"valuesFiles", "ignoreMissingValuesFiles"} {
		if v := template.At(name); !v.IsEmpty() && v.Text() != "false" {
			spec = spec.With(name, v)
		}
	}
	if verify := template.At("verify"); !verify.IsEmpty() {
		verify = verify.With("provider", model.StringOf(cmp.Or(verify.At("provider").Str(), "cosign")))
		spec = spec.With("verify", verify)
	}
	return spec
}

// namespace returns the Namespace that helm-controller creates for a release, which is compared if it is there.
func (h *helmRelease) namespace() object {
	return object{address: h.address, files: h.files, optional: true, value: model.MapOf(
		model.Field{Name: "apiVersion", Value: model.StringOf("v1")}, model.Field{Name: "kind", Value: model.StringOf("Namespace")},
		model.Field{Name: "metadata", Value: model.MapOf(model.Field{Name: "name", Value: model.StringOf(h.target)})},
	)}
}

// createdNamespaces adds the namespaces that helm-controller creates, unless they are declared.
func (r *fluxReader) createdNamespaces() {
	for i := range r.all.objects {
		if v := r.all.objects[i].value; kindOf(v) == "Namespace" {
			delete(r.namespaces, v.At("metadata", "name").Str())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.namespaces)) {
		r.all.objects = append(r.all.objects, r.namespaces[name])
	}
}

// installsDefinitions reports whether the definitions in the folder crds are installed: when the release is, and when it is upgraded.
func (h *helmRelease) installsDefinitions() (installed, upgraded bool) {
	policy := h.spec.At("upgrade", "crds").Str()
	skips := h.spec.At("install", "crds").Str() == "Skip" || h.spec.At("install", "skipCRDs").Text() == "true"
	return !skips, policy == "Create" || policy == "CreateReplace"
}

// finishInstalled makes the changes to the objects of a chart that helm-controller makes, and sets where they are written.
// https://fluxcd.io/flux/components/helm/helmreleases/
func (r *fluxReader) finishInstalled(c *content, h *helmRelease, l *loader) {
	reason := ""
	if h.spec.At("suspend").Text() == "true" {
		reason = "HelmRelease " + h.name + " is suspended in git: Flux does not apply its objects"
	}
	ignored := h.ignored()
	for i := range c.objects {
		o := &c.objects[i]
		isRelease := "kubernetes/"+kindOf(o.value) == kube.ReleaseKind
		if o.namespace = h.target; isRelease {
			o.namespace = h.storage
		} else {
			h.mark(o)
		}
		if l.fetched != nil || isRelease {
			o.address, o.files = h.address, nil
		}
		o.files = slices.Compact(slices.Sorted(slices.Values(slices.Concat(o.files, h.files, l.installing.Files))))
		o.unchecked, o.unenforced = cmp.Or(o.unchecked, reason), h.unenforced(ignored, o.value)
	}
	for i := range c.problems {
		if l.fetched != nil {
			c.problems[i].Address = h.address
		}
	}
}

// mark adds the metadata that helm-controller adds to an object of the chart.
func (h *helmRelease) mark(o *object) {
	atOnce, _ := h.installsDefinitions()
	strategy := h.spec.At("postRenderStrategy").Str()
	isHook := o.value.At("metadata", "annotations", "helm.sh/hook").Str() != ""
	o.optional = o.optional || !atOnce && isDefinition(o.address)
	if isHook && strategy == postrender.None {
		return
	}
	origin := model.MapOf(
		model.Field{Name: "helm.toolkit.fluxcd.io/name", Value: model.StringOf(path.Base(h.name))},
		model.Field{Name: "helm.toolkit.fluxcd.io/namespace", Value: model.StringOf(h.space)},
	)
	change := func(v model.Value) model.Value {
		return kube.AsHelmApplies(withMetadata(withMetadata(v, h.spec.At("commonMetadata")), originLabels(origin)))
	}
	before := o.value
	o.value = change(o.value)
	o.again, o.otherwise = changed(o.again, change), changed(o.otherwise, change)
	if isHook && strategy == "" || isDefinition(o.address) {
		// Versions before that with Helm 4 leave hooks as they are, and all leave definitions that exist.
		o.again = append(o.again, before)
		o.chance = cmp.Or(o.chance, "what helm-controller does with hooks, and with definitions that exist")
	}
}

// originLabels returns metadata with labels only.
func originLabels(labels model.Value) model.Value {
	return model.MapOf(model.Field{Name: "labels", Value: labels})
}

// changed returns changed values.
func changed(values []model.Value, change func(model.Value) model.Value) []model.Value {
	var all []model.Value
	for _, v := range values {
		all = append(all, change(v))
	}
	return all
}

// isInstalled reports whether a claim is on an object that a HelmRelease makes.
func isInstalled(c *model.Claim) bool {
	return c.InstalledBy.Kind == kube.ReleaseKind || c.OnlyLive && (c.Kind == "kubernetes/HelmChart"+fluxSourceGroup || c.Kind == "kubernetes/Namespace")
}
