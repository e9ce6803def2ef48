package manifests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/chart"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
)

// HelmType is the type of declarations of Helm releases.
const HelmType = "helm"

// HelmConfig configures a declaration of a Helm release: the chart in dir, or in path of a git
// repository, and its values.
type HelmConfig struct {
	gitrepo.Place    `mapstructure:",squash"`
	gitrepo.Lookback `mapstructure:",squash"`

	// Release is the name of the release. The default is the name of the chart's folder.
	Release string `mapstructure:"release"`
	// Namespace is the namespace of the release.
	Namespace string `mapstructure:"namespace"`
	// Values are files of values, by path from the top of the repository; for a dir that is in
	// no repository, from that folder. Later files take precedence.
	Values []string `mapstructure:"values"`
	// Set are values in the form of helm --set. They take precedence over files.
	Set []string `mapstructure:"set"`
	// KubeVersion is the version of Kubernetes for which the chart is rendered.
	KubeVersion string `mapstructure:"kube_version"`
	// APIVersions are API versions of the cluster beyond those of Kubernetes itself:
	// monitoring.coreos.com/v1.
	APIVersions []string `mapstructure:"api_versions"`
	// Namespaces are always governed: every object in them is expected to be declared.
	Namespaces []string `mapstructure:"namespaces"`
	// MaxFileSize bounds the size of a file, in bytes.
	MaxFileSize int64 `mapstructure:"max_file_size"`
	// Timeout bounds the time of one reading of the declaration.
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

// HelmDefinition returns the loader type "helm".
func HelmDefinition() declared.Definition {
	d := declared.Define(HelmType, HelmDefaults(), func(env declared.Env, config HelmConfig) (declared.Loader, error) {
		if err := config.check(); err != nil {
			return nil, err
		}
		l, err := open(env, config.manifests())
		if err != nil {
			return nil, err
		}
		l.release, l.rendered = &config, &chartCache{}
		return l, nil
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
	return m
}

func (c HelmConfig) check() error {
	if err := c.Place.Check("chart"); err != nil {
		return err
	}
	switch {
	case c.Namespace == "":
		return errors.New("namespace is not set: name the namespace of the release")
	case !isName(c.Namespace):
		return fmt.Errorf("namespace %q is not the name of a namespace", c.Namespace)
	case c.Release != "" && !isName(c.Release):
		return fmt.Errorf("release %q is not the name of a release: want lower-case letters, digits and dashes", c.Release)
	}
	for _, name := range c.Values {
		if !fs.ValidPath(name) {
			return fmt.Errorf("values: %q is not a path from the top of the repository", name)
		}
	}
	return nil
}

// releaseName returns the name of the release.
func (c *HelmConfig) releaseName(dir string) string { return cmp.Or(c.Release, path.Base(dir)) }

// chartFile is the file that makes a folder a chart.
const chartFile = "Chart.yaml"

// errNoChart is returned for a declaration of a release without a chart.
var errNoChart = errors.New("there is no " + chartFile)

// chartFiles returns the files of the chart in dir, sorted.
func (l *loader) chartFiles(ctx context.Context, t *tree, dir string) ([]string, error) {
	if _, err := fs.Stat(t.files, path.Join(dir, chartFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w in %s of %s; check the path", errNoChart, dir, t.where)
		}
		return nil, fmt.Errorf("read chart: %w", err)
	}
	var names []string
	err := fs.WalkDir(t.files, dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", t.address(name), cause(err))
		case ctx.Err() != nil:
			return ctx.Err()
		case e.IsDir() && e.Name() == ".git":
			return fs.SkipDir
		case e.IsDir():
			return nil
		case len(names) == l.config.MaxFiles:
			return fmt.Errorf("more than %d files in the chart", l.config.MaxFiles)
		}
		names = append(names, name)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read chart: %w", err)
	}
	return names, nil
}

// openRenderer returns a box that renders charts.
func (l *loader) openRenderer() *box.Box {
	return l.env.Boxes.Open(box.Limits{Memory: l.env.MaxMemory, File: l.config.MaxFileSize, Program: l.env.Helm})
}

// chart reads the objects of the release.
func (l *loader) chart(ctx context.Context, t *tree) (all content, err error) {
	if l.env.Helm == "" {
		all.limited(t.address(path.Join(t.Root, chartFile)), l.mayRender(t), "the program %s, which renders charts, is not installed beside driftd: install it", chart.Program)
		return all, nil
	}
	key, keyed, err := l.chartKey(ctx, t)
	if err != nil {
		return content{}, err
	}
	if known, ok := l.rendered.get(key); ok && keyed {
		return known, known.takeMemory(ctx)
	}
	b := l.openRenderer()
	defer func() { err = errors.Join(err, b.Close()) }()
	if all, err = l.chartIn(ctx, t, b); err == nil && keyed && len(all.problems) == 0 {
		l.rendered.put(key, all)
	}
	return all, err
}

// chartIn renders the chart of the release in a box.
func (l *loader) chartIn(ctx context.Context, t *tree, b *box.Box) (content, error) {
	names, err := l.chartFiles(ctx, t, t.Root)
	if err != nil {
		return content{}, err
	}
	rendered, problem, err := l.renderChart(ctx, t, b, names)
	if err != nil {
		return content{}, err
	}
	if problem != "" {
		var c content
		c.limited(t.address(path.Join(t.Root, chartFile)), l.mayRender(t), "%s", problem)
		return c, nil
	}
	return l.renderedContent(ctx, t, rendered)
}

// mayRender returns the sketch of the chart's objects.
func (l *loader) mayRender(t *tree) sketch { return t.chart(t.Root).in(l.release.Namespace) }

// renderChart runs the job. problem is why the chart is not rendered, or "".
func (l *loader) renderChart(ctx context.Context, t *tree, b *box.Box, names []string) (rendered chart.Rendered, problem string, err error) {
	c := l.release
	err = b.Do(ctx, t.files, chart.Job, chart.Args{
		Dir: t.Root, Files: names, Values: c.Values, Set: c.Set, Release: c.releaseName(t.Root), Namespace: c.Namespace,
		KubeVersion: c.KubeVersion, APIVersions: c.APIVersions, Limit: c.MaxFileSize,
	}, &rendered)
	switch {
	case ctx.Err() != nil:
		return rendered, "", fmt.Errorf("render chart: %w", ctx.Err())
	case errors.Is(err, box.ErrMemory):
		problem = fmt.Sprintf("rendering the chart %v; raise max_memory of the declaration", err)
	case errors.Is(err, box.ErrTime):
		problem = fmt.Sprintf("rendering the chart %v; raise timeout in the declaration's settings", err)
	case err != nil:
		problem = fmt.Sprintf("rendering the chart %v", err)
	case rendered.Problem != "":
		problem = "the chart cannot be rendered (run helm template for the full error): " + rendered.Problem
	}
	return rendered, problem, nil
}

// renderedContent returns the objects in the output of templates. Their addresses are those of
// the templates.
func (l *loader) renderedContent(ctx context.Context, t *tree, r chart.Rendered) (content, error) {
	first, err := l.parseRendered(ctx, t, r.Files, func(f *chart.File) string { return f.Text })
	if err != nil {
		return content{}, err
	}
	var unstable []chart.File
	for _, f := range r.Files {
		if len(f.Calls) > 0 {
			unstable = append(unstable, f)
		}
	}
	again, err := l.parseRendered(ctx, t, unstable, func(f *chart.File) string { return f.Again })
	if err != nil {
		return content{}, err
	}
	calls := map[string][]string{}
	for _, f := range unstable {
		calls[t.address(path.Join(t.Root, f.Name))] = f.Calls
	}
	first.leaveToChance(again, calls)
	return first, nil
}

// parseRendered parses the output of templates as files of the tree.
func (l *loader) parseRendered(ctx context.Context, t *tree, files []chart.File, text func(*chart.File) string) (content, error) {
	outputs := map[string][]byte{}
	for i := range files {
		// A definition and a template may have the same name.
		name := path.Join(t.Root, files[i].Name)
		outputs[name] = append(append(outputs[name], "\n---\n"...), text(&files[i])...)
	}
	names := slices.Sorted(maps.Keys(outputs))
	var archive txtar.Archive
	for _, name := range names {
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: outputs[name]})
	}
	made, err := txtar.FS(&archive)
	if err != nil {
		return content{}, fmt.Errorf("read the output of templates: %w", err)
	}
	c, err := l.plainFiles(ctx, t.withFiles(ctx, made, l.config.MaxFileSize), names)
	for i := range c.objects {
		o := &c.objects[i]
		o.address = t.address(o.files[0])
		o.files = l.chartSources(t, o.files[0])
	}
	for i := range c.problems {
		c.problems[i].Reason += " (in the output of the template)"
	}
	return c, err
}

// chartSources returns the files that determine the objects of a template.
func (l *loader) chartSources(t *tree, template string) []string {
	sources := slices.Clone(l.release.Values)
	for _, name := range []string{template, path.Join(t.Root, "values.yaml"), path.Join(t.Root, chartFile)} {
		if _, err := fs.Stat(t.files, name); err == nil {
			sources = append(sources, name)
		}
	}
	slices.Sort(sources)
	return slices.Compact(sources)
}

// leaveToChance marks the fields in which the objects differ from those of a second rendering.
// An object that the second one lacks has its name or its existence by chance.
func (c *content) leaveToChance(again content, calls map[string][]string) {
	others := map[string]model.Value{}
	for _, o := range again.objects {
		others[identityOf(o)] = o.value
	}
	for i := range c.objects {
		o := &c.objects[i]
		by := calls[o.address]
		if len(by) == 0 {
			continue
		}
		to := "chance: the chart calls " + strings.Join(by, " and ")
		other, ok := others[identityOf(*o)]
		if !ok {
			o.unchecked = "its name is left to " + to
			continue
		}
		for _, change := range diff.Fields(nil, o.value, other) {
			o.delegated = append(o.delegated, model.Delegation{Path: change.Path, To: to})
		}
	}
}

// identityOf returns the template, the kind and the name of an object.
func identityOf(o object) string {
	metadata := o.value.At("metadata")
	return strings.Join([]string{o.address, kindOf(o.value), metadata.At("namespace").Str(), metadata.At("name").Str()}, "\x00")
}
