package manifests

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/chart"
	"github.com/driftd/driftd/internal/chart/fetch"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// HelmType is the type of declarations of Helm releases.
const HelmType = "helm"

// HelmConfig configures a declaration of a Helm release: its values, and its chart in dir, in path of a git
// repository, in an OCI registry or in a chart repository.
type HelmConfig struct {
	gitrepo.Place    `mapstructure:",squash"`
	gitrepo.Lookback `mapstructure:",squash"`

	// OCI is the URL of a chart in an OCI registry: oci://registry.example.org/charts/blog. The
	// values are those of dir or git, if one is set.
	OCI string `mapstructure:"oci"`
	// Repo is the URL of a chart repository: https://charts.example.org. The values are those of dir or
	// git, if one is set.
	Repo string `mapstructure:"repo"`
	// Chart is the name of the chart in repo.
	Chart string `mapstructure:"chart"`
	// Version is the exact version of the chart in oci or repo.
	Version string `mapstructure:"version"`
	// Digest is the expected digest of the manifest in oci, or of the archive in repo: sha256:…. A
	// different digest is an error. By default, the digest is not checked.
	Digest string `mapstructure:"digest"`
	// ChartUsername is the user name for oci or repo.
	ChartUsername string `mapstructure:"chart_username"`
	// ChartPasswordFile is a file with the password or token for oci or repo.
	ChartPasswordFile string `mapstructure:"chart_password_file" path:"true"`
	// ChartTokenHost is a host, in addition to that of oci, to which the password is sent when the registry
	// requests tokens from it: auth.example.org. For docker.io, auth.docker.io is always allowed.
	ChartTokenHost string `mapstructure:"chart_token_host"`
	// ChartCAFile is a file with the certificate authorities for oci or repo. The default are those of the
	// system.
	ChartCAFile string `mapstructure:"chart_ca_file" path:"true"`
	// Release is the name of the release. The default is the name of the chart or of its folder.
	Release string `mapstructure:"release"`
	// Namespace is the namespace of the release.
	Namespace string `mapstructure:"namespace"`
	// Values are value files, by path from the top of the repository, or for a dir outside of a repository,
	// from that folder. Later files take precedence.
	Values []string `mapstructure:"values"`
	// Set are values in the syntax of helm --set. They take precedence over value files.
	Set []string `mapstructure:"set"`
	// KubeVersion is the Kubernetes version for which the chart is rendered.
	KubeVersion string `mapstructure:"kube_version"`
	// APIVersions are API versions of the cluster in addition to the stable ones of Kubernetes:
	// monitoring.coreos.com/v1.
	APIVersions []string `mapstructure:"api_versions"`
	// Namespaces are namespaces that are always governed: every object in them is expected to be declared.
	Namespaces []string `mapstructure:"namespaces"`
	// MaxFileSize bounds the size of a file, in bytes.
	MaxFileSize int64 `mapstructure:"max_file_size"`
	// Timeout is the maximum duration of one reading of the declaration.
	Timeout time.Duration `mapstructure:"timeout"`
	// DeployWindow is the time after a commit in which applying the previous version is an
	// ordinary deploy, and in which a new object may be absent.
	DeployWindow time.Duration `mapstructure:"deploy_window"`
	// ApplyBeforeMerge accepts values that were applied from a branch or pull request before
	// the merge: they are pending instead of bypassed.
	ApplyBeforeMerge bool `mapstructure:"apply_before_merge"`
}

// HelmDefaults returns the default settings.
func HelmDefaults() HelmConfig {
	d := Defaults()
	return HelmConfig{
		Place: d.Place, Lookback: d.Lookback, KubeVersion: "1.36.0",
		MaxFileSize: d.MaxFileSize, Timeout: d.Timeout, DeployWindow: d.DeployWindow,
	}
}

// HelmDefinition returns the definition of the loader type "helm".
func HelmDefinition() declared.Definition {
	d := declared.Define(HelmType, HelmDefaults(), func(env declared.Env, config HelmConfig) (declared.Loader, error) {
		if err := config.check(); err != nil {
			return nil, err
		}
		config, err := config.withRelease()
		if err != nil {
			return nil, err
		}
		l, err := open(env, config.manifests())
		if err != nil {
			return nil, err
		}
		l.release, l.rendered = &config, &chartCache{}
		if config.isRemote() {
			l.fetched, err = fetch.New(config.source(l))
		}
		return l, err
	})
	d.IsMember = isChartFolder
	return d
}

// isChartFolder reports whether a folder contains a chart.
func isChartFolder(fsys fs.FS, dir string, _ bool) (bool, error) {
	_, err := fs.Stat(fsys, path.Join(dir, chartFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// manifests returns the settings that manifests have, too.
func (c HelmConfig) manifests() Config {
	m := Defaults()
	m.Place, m.Lookback, m.DefaultNamespace, m.Namespaces = c.Place, c.Lookback, c.Namespace, c.Namespaces
	m.MaxFileSize, m.Timeout, m.DeployWindow, m.ApplyBeforeMerge = c.MaxFileSize, c.Timeout, c.DeployWindow, c.ApplyBeforeMerge
	m.placeless = c.isRemote() && c.Dir+c.Git == ""
	return m
}

func (c HelmConfig) check() error {
	if err := c.checkPlace(); err != nil {
		return err
	}
	switch {
	case c.Namespace == "":
		return errors.New("namespace is not set: name the namespace of the release")
	case !isName(c.Namespace):
		return fmt.Errorf("namespace %q is not the name of a namespace", c.Namespace)
	}
	for _, name := range c.Values {
		if !fs.ValidPath(name) {
			return fmt.Errorf("values: %q is not a path from the top of the repository", name)
		}
	}
	return nil
}

// maxRelease bounds the name of a release, which Helm refuses if it is longer.
const maxRelease = 53

// withRelease returns the settings with the name of the release.
func (c HelmConfig) withRelease() (HelmConfig, error) {
	if c.Release == "" {
		c.Release = path.Base(filepath.ToSlash(cmp.Or(c.OCI, c.Chart, c.Dir, c.Path, ".")))
		if c.Release == "." {
			return c, errors.New("release is not set, and the chart is at the top of the repository: name the release")
		}
	}
	if !plainName().MatchString(c.Release) || strings.Contains(c.Release, ":") || len(c.Release) > maxRelease {
		return c, fmt.Errorf("release %q is not the name of a release: want at most %d lower-case letters, digits, dots and dashes", c.Release, maxRelease)
	}
	return c, nil
}

// chartFile is the file that makes a folder a chart.
const chartFile = "Chart.yaml"

// errNoChart is returned for a declaration of a release without a chart.
var errNoChart = errors.New("there is no " + chartFile)

// openRenderer returns a box that renders charts.
func (l *loader) openRenderer() *box.Box {
	return l.env.Boxes.Open(box.Limits{Memory: l.env.MaxMemory, File: l.config.MaxFileSize, Program: l.env.Helm})
}

// chart reads the objects of the release.
func (l *loader) chart(ctx context.Context, t *tree) (all content, err error) {
	if l.env.Helm == "" {
		all.limited(l.chartAddress(t, chartFile), l.mayRender(t), "the program %s, which renders charts, is not installed beside driftd: install it", chart.Program)
		return all, nil
	}
	if t, err = l.withArchive(ctx, t, true); err != nil {
		all.limited(l.chartAddress(t, chartFile), l.mayRender(t), "%v", err)
		return all, nil
	}
	key, keyed, err := l.chartKey(ctx, t)
	if err != nil {
		return content{}, err
	}
	if known, ok := l.rendered.get(key); ok && keyed {
		err := known.takeMemory(ctx)
		return known, err
	}
	b := l.openRenderer()
	defer func() { err = errors.Join(err, b.Close()) }()
	if all, err = l.chartIn(ctx, t, b); err != nil {
		return all, err
	}
	if keyed && len(all.problems) == 0 {
		l.rendered.put(key, all)
	}
	err = all.takeMemory(ctx)
	return all, err
}

// A chartError is why a chart cannot be rendered. If passing is true, the cause is not in the
// files.
type chartError struct {
	text    string
	passing bool
}

// Error implements error.
func (e *chartError) Error() string { return e.text }

// values returns the values of the release.
func (l *loader) values() []chart.Values {
	if l.installing != nil {
		return l.installing.Values
	}
	var all []chart.Values
	for _, file := range l.release.Values {
		all = append(all, chart.Values{File: file})
	}
	for i, text := range l.release.Set {
		all = append(all, chart.Values{Set: text, Name: fmt.Sprintf("set[%d]", i)})
	}
	for i, text := range l.templating.setStrings() {
		all = append(all, chart.Values{SetString: text, Name: fmt.Sprintf("set_strings[%d]", i)})
	}
	return all
}

// chartIn renders the chart of the release in a box.
func (l *loader) chartIn(ctx context.Context, t *tree, b *box.Box) (content, error) {
	c, err := l.renderChart(ctx, t, b)
	return l.orProblem(t, c, err)
}

// orProblem returns the objects of a chart, or the problem of one that cannot be rendered.
func (l *loader) orProblem(t *tree, c content, err error) (content, error) {
	if failed, ok := errors.AsType[*chartError](err); ok {
		c = content{}
		c.limited(l.chartAddress(t, chartFile), l.mayRender(t), "%s", failed.text)
		c.passing, err = failed.passing, nil
	}
	return c, err
}

// mayRender returns the sketch of the chart's objects.
func (l *loader) mayRender(t *tree) sketch {
	if l.fetched != nil {
		return sketch{unknown: true}.in(l.release.Namespace)
	}
	return t.chart(t.Root).in(l.release.Namespace)
}

// renderChart runs the job. A *chartError is why the chart is not rendered.
func (l *loader) renderChart(ctx context.Context, t *tree, b *box.Box) (content, error) {
	w, err := l.chartFiles(ctx, t)
	if err != nil {
		return content{}, err
	}
	c := l.release
	defaults, ignoreMissing := l.installing.defaults()
	var rendered chart.Rendered
	err = b.Do(ctx, t.files, chart.Job, chart.Args{
		Archive: w.archive, Version: c.Version, Metadata: l.installing.metadata(),
		Dir: t.Root, Files: w.files, Defaults: defaults, IgnoreMissing: ignoreMissing, Values: l.values(), Release: c.Release, Namespace: c.Namespace, Upgrades: l.templating == nil,
		KubeVersion: c.KubeVersion, APIVersions: c.APIVersions, Raw: l.installing.isPostRendered(), Texts: l.installing != nil, Limit: l.config.MaxFileSize,
	}, &rendered)
	if err == nil && rendered.Problem == "" && l.installing.isPostRendered() {
		err = l.postRender(ctx, &rendered)
	}
	if err == nil && weightOf(rendered) > l.env.MaxMemory {
		err = box.ErrMemory
	}
	failed, isChart := errors.AsType[*chartError](err)
	switch {
	case ctx.Err() != nil:
		return content{}, fmt.Errorf("render chart: %w", ctx.Err())
	case isChart:
		return content{}, failed
	case errors.Is(err, box.ErrMemory):
		return content{}, &chartError{fmt.Sprintf("rendering the chart %v; raise max_memory of the declaration", err), true}
	case errors.Is(err, box.ErrTime):
		return content{}, &chartError{fmt.Sprintf("rendering the chart %v; raise timeout in the declaration's settings", err), true}
	case err != nil:
		return content{}, &chartError{fmt.Sprintf("rendering the chart with %s: %v", chart.Program, err), true}
	case rendered.Problem != "":
		return content{}, &chartError{"the chart cannot be rendered (run helm template for the full error): " + rendered.Problem, false}
	}
	return l.renderedContent(t, rendered)
}

// weightOf returns an upper estimate of the memory of the documents, in bytes.
func weightOf(r chart.Rendered) int64 {
	p := packed{Objects: []packedObject{{JSON: r.Given}}}
	add := func(documents []chart.Document) {
		for i := range documents {
			p.Objects = append(p.Objects, packedObject{JSON: documents[i].JSON})
		}
	}
	for i := range r.Files {
		for _, output := range r.Files[i].Outputs() {
			add(output.Documents)
			for _, again := range output.Again {
				add(again)
			}
		}
	}
	return p.weight()
}

// renderedContent returns the objects in the output of templates. Their addresses are those of
// the templates.
func (l *loader) renderedContent(t *tree, r chart.Rendered) (content, error) {
	var all content
	for i := range r.Files {
		f := &r.Files[i]
		if l.templating.skips(f.Name) || l.installing.skips(f.Name) {
			continue
		}
		outputs := f.Outputs()
		contents := make([]content, len(outputs))
		for n := range outputs {
			var err error
			if contents[n], err = l.output(l.chartAddress(t, f.Name), outputs[n]); err != nil {
				return content{}, err
			}
		}
		c := contents[0]
		c.leaveToCluster(contents[1:], &r)
		sources := l.chartSources(t, f.Name)
		for k := range c.objects {
			c.objects[k].files = sources
		}
		all.add(c)
	}
	if l.templating != nil {
		return all, nil
	}
	return l.asRelease(t, all, r.Given)
}

// output returns the objects in the output of a template.
func (l *loader) output(address string, o chart.Output) (content, error) {
	c, err := l.parseDocuments(address, o.Documents)
	if err != nil {
		return content{}, err
	}
	others := make([]content, len(o.Again))
	for n := range o.Again {
		if others[n], err = l.parseDocuments(address, o.Again[n]); err != nil {
			return content{}, err
		}
	}
	c.leaveToChance(others, "chance: the chart calls "+strings.Join(o.Calls, " and "), l.release.Namespace)
	for k := range c.objects {
		c.objects[k].random = c.objects[k].chance != ""
	}
	return c, nil
}

// asRelease returns the objects of the release, and the release itself with the values that the
// user gives, in JSON.
func (l *loader) asRelease(t *tree, all content, given []byte) (content, error) {
	values, err := decode.JSON(given)
	if err != nil {
		return content{}, fmt.Errorf("read the values of the release: %w", err)
	}
	storage := l.installing.storage(l.release.Namespace)
	all.objects = append(all.objects, object{
		value:   kube.NewRelease(storage, l.release.Release, values),
		address: l.chartAddress(t, chartFile), files: l.release.Values, unchecked: encryptedPart(given),
	})
	for i := range all.objects {
		all.objects[i].installedBy = model.Ref{Kind: kube.ReleaseKind, ID: storage + "/" + l.release.Release}
	}
	return all, nil
}

// parseDocuments returns the objects in the documents of a template.
func (l *loader) parseDocuments(address string, documents []chart.Document) (content, error) {
	var c content
	for i := range documents {
		d := &documents[i]
		if len(d.JSON) == 0 {
			c.limited(address, sketchOf([]byte(d.Text)), "the output of the template is not YAML")
			continue
		}
		value, err := decode.JSON(d.JSON)
		if err != nil {
			return c, fmt.Errorf("read the output of the template %s: %w", address, err)
		}
		for _, v := range flatten(value) {
			switch {
			case !isComplete(v):
				c.bounded(address, incomplete(v), "lacks apiVersion or kind")
			default:
				if l.templating == nil {
					v = kube.AsHelmApplies(v)
				}
				c.objects = append(c.objects, object{value: v, address: address, unchecked: encryptedPart(d.JSON)})
			}
		}
	}
	return c, nil
}

// encryptedPart returns why an object cannot be compared if it contains a value that SOPS
// encrypted, or "".
func encryptedPart(object []byte) string {
	if bytes.Contains(object, []byte("ENC[AES256_GCM,")) {
		return "contains a value that is encrypted with SOPS; driftd does not decrypt it"
	}
	return ""
}

// chartSources returns the files that determine the objects of a template.
func (l *loader) chartSources(t *tree, template string) []string {
	sources := slices.Clone(l.release.Values)
	for _, name := range []string{template, "values.yaml", chartFile} {
		name = path.Join(t.Root, name)
		if l.fetched != nil {
			break // the chart is not in the tree
		}
		if _, err := fs.Stat(t.files, name); err == nil {
			sources = append(sources, t.file(name))
		}
	}
	slices.Sort(sources)
	return slices.Compact(sources)
}

// leaveToChance adds to each object its versions in further renderings. An object that is absent from one
// of them has a random name; it becomes a problem, because each rendering would declare a different object.
// by describes the origin of the differing fields.
func (c *content) leaveToChance(others []content, by, namespace string) {
	if len(others) == 0 {
		return
	}
	var kept []object
	for _, o := range c.objects {
		certain := true
		for _, other := range others {
			i := slices.IndexFunc(other.objects, func(x object) bool { return nameOf(x.value) == nameOf(o.value) && kindOf(x.value) == kindOf(o.value) })
			if i < 0 {
				extent := extentOf(o.value)
				extent.Name, extent.Place = "", cmp.Or(extent.Place, namespace)
				c.bounded(o.address, []model.Extent{extent, {Kind: extent.Kind, Placeless: true}}, "%s: its name is left to %s", o.value.At("kind").Str(), by)
				certain = false
				break
			}
			o.again = append(slices.Clip(o.again), other.objects[i].value)
		}
		if certain {
			o.chance = by
			kept = append(kept, o)
		}
	}
	c.objects = kept
}
