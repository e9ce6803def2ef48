// Package render renders Helm charts, as helm template does, in a box.
package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	"helm.sh/helm/v4/pkg/ignore"
	"helm.sh/helm/v4/pkg/strvals"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/chart"
	"github.com/driftd/driftd/internal/secret"
)

// Jobs returns the jobs of the program driftd-helm.
func Jobs() map[string]box.Job { return map[string]box.Job{chart.Job: box.NewJob(Render)} }

// Render renders a chart. If its output depends on chance or on the time, it is rendered twice.
func Render(files fs.FS, o chart.Args) (chart.Rendered, error) {
	r := renderer{files: files, args: o}
	found, err := r.render()
	if err != nil {
		return chart.Rendered{Problem: r.public(err)}, nil
	}
	return chart.Rendered{Files: found}, nil
}

type renderer struct {
	files fs.FS
	args  chart.Args
	// given are the values of the user. hidden are texts that no error may contain: these
	// values, and those defaults of the chart whose names are those of secrets.
	given  map[string]any
	hidden []string
}

// later is the time by which the clock of the second rendering is ahead: templates may print
// years only.
const later = 400 * 24 * time.Hour

func (r *renderer) render() ([]chart.File, error) {
	now := time.Now()
	watch := newWatch(now)
	first, crds, err := r.once(watch)
	if err != nil {
		return nil, err
	}
	calls := watch.called()
	second := first
	if len(calls) > 0 {
		if second, _, err = r.once(newWatch(now.Add(later))); err != nil {
			return nil, err
		}
	}
	found := crds
	for _, name := range slices.Sorted(maps.Keys(first)) {
		if !isManifest(name) {
			continue
		}
		_, below, _ := strings.Cut(name, "/")
		file := chart.File{Name: below, Text: first[name]}
		if again := second[name]; again != file.Text {
			file.Again, file.Calls = again, calls
		}
		found = append(found, file)
	}
	return found, nil
}

// isManifest reports whether the output of a template is sent to the cluster.
func isManifest(template string) bool {
	base := path.Base(template)
	return !strings.HasPrefix(base, "_") && !strings.HasSuffix(base, "NOTES.txt")
}

// once renders the chart, and returns the output of each template by its path, which begins with
// the chart's name, and the custom resource definitions.
func (r *renderer) once(w *watch) (map[string]string, []chart.File, error) {
	c, err := r.load()
	if err != nil {
		return nil, nil, err
	}
	if err := r.readValues(); err != nil {
		return nil, nil, err
	}
	r.hidden = append(leaves(r.given, true), leaves(c.Values, false)...)
	slices.SortFunc(r.hidden, func(a, b string) int { return len(b) - len(a) })
	if err := chartutil.ProcessDependencies(c, r.given); err != nil {
		return nil, nil, err
	}
	capabilities, err := r.capabilities()
	if err != nil {
		return nil, nil, err
	}
	if wants := c.Metadata.KubeVersion; wants != "" && !chartutil.IsCompatibleRange(wants, capabilities.KubeVersion.Version) {
		return nil, nil, fmt.Errorf("the chart needs Kubernetes %s, and kube_version is %s", wants, r.args.KubeVersion)
	}
	values, err := util.ToRenderValues(c, r.given, common.ReleaseOptions{Name: r.args.Release, Namespace: r.args.Namespace, Revision: 1, IsInstall: true}, capabilities)
	if err != nil {
		return nil, nil, err
	}
	rendered, err := engine.Engine{CustomTemplateFuncs: w.functions()}.RenderWithContext(context.Background(), c, values)
	if err != nil {
		return nil, nil, err
	}
	var definitions []chart.File
	for _, crd := range c.CRDObjects() {
		_, below, _ := strings.Cut(crd.Filename, "/")
		definitions = append(definitions, chart.File{Name: below, Text: string(crd.File.Data)})
	}
	return rendered, definitions, nil
}

// load reads the files of the chart.
func (r *renderer) load() (*chartv2.Chart, error) {
	rules, err := r.ignored()
	if err != nil {
		return nil, err
	}
	var files []*archive.BufferedFile
	for _, name := range r.args.Files {
		below := strings.TrimPrefix(strings.TrimPrefix(name, r.args.Dir), "/")
		if r.args.Dir == "." {
			below = name
		}
		info, err := fs.Stat(r.files, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", below, cause(err))
		}
		if rules.Ignore(below, info) {
			continue
		}
		data, err := bounded.ReadFile(r.files, name, r.args.Limit)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", below, cause(err))
		}
		files = append(files, &archive.BufferedFile{Name: below, Data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))})
	}
	c, err := loader.LoadFiles(files)
	switch {
	case err != nil:
		return nil, err
	case c.Metadata.Type == "library":
		return nil, errors.New("a library chart, which declares no objects")
	}
	return c, missing(c)
}

// ignored returns the rules of .helmignore.
func (r *renderer) ignored() (*ignore.Rules, error) {
	name := path.Join(r.args.Dir, ignore.HelmIgnore)
	if !slices.Contains(r.args.Files, name) {
		rules := ignore.Empty()
		rules.AddDefaults()
		return rules, nil
	}
	data, err := bounded.ReadFile(r.files, name, r.args.Limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ignore.HelmIgnore, cause(err))
	}
	rules, err := ignore.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ignore.HelmIgnore, err)
	}
	rules.AddDefaults()
	return rules, nil
}

// missing returns an error if the chart lacks one of its dependencies, as helm does.
func missing(c *chartv2.Chart) error {
	var lacks []string
	for _, d := range c.Metadata.Dependencies {
		if !slices.ContainsFunc(c.Dependencies(), func(has *chartv2.Chart) bool { return has.Name() == d.Name }) {
			lacks = append(lacks, d.Name)
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	return fmt.Errorf("lacks the dependencies %s: run helm dependency build and commit the folder charts; driftd does not fetch charts", strings.Join(lacks, ", "))
}

// readValues reads the values of the user.
func (r *renderer) readValues() error {
	r.given = map[string]any{}
	for _, name := range r.args.Values {
		data, err := bounded.ReadFile(r.files, name, r.args.Limit)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("values file %s does not exist: name it by its path from the top of the repository", name)
		}
		if err != nil {
			return fmt.Errorf("values file %s: %w", name, cause(err))
		}
		values, err := loader.LoadValues(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("values file %s is not valid YAML", name)
		}
		if _, encrypted := values["sops"]; encrypted {
			return fmt.Errorf("values file %s is encrypted with SOPS; driftd does not decrypt it", name)
		}
		r.given = loader.MergeMaps(r.given, values)
	}
	for i, text := range r.args.Set {
		if err := strvals.ParseInto(text, r.given); err != nil {
			return fmt.Errorf("set[%d] is not in the form of helm --set: want path.of.value=value", i)
		}
	}
	return nil
}

func (r *renderer) capabilities() (*common.Capabilities, error) {
	c := common.DefaultCapabilities.Copy()
	version, err := common.ParseKubeVersion(r.args.KubeVersion)
	if err != nil {
		return nil, fmt.Errorf("kube_version %q is not a version: want one as 1.36.3", r.args.KubeVersion)
	}
	c.KubeVersion = *version
	c.APIVersions = slices.Concat(c.APIVersions, r.args.APIVersions)
	return c, nil
}

// maxProblem bounds the text of a problem, in runes.
const maxProblem = 400

// public returns an error without hidden texts: a template may put any value into an error.
func (r *renderer) public(err error) string {
	text := err.Error()
	for _, value := range r.hidden {
		text = strings.ReplaceAll(text, value, "…")
	}
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxProblem {
		text = string(runes[:maxProblem]) + "…"
	}
	return text
}

// shortest is the length of the shortest value that is removed from errors: shorter ones are
// parts of words.
const shortest = 4

// leaves returns the texts in values: all of them, or those below names of secrets.
func leaves(values any, all bool) []string {
	var found []string
	switch v := values.(type) {
	case string:
		if all && len(v) >= shortest {
			found = append(found, v)
		}
	case []any:
		for _, item := range v {
			found = append(found, leaves(item, all)...)
		}
	case map[string]any:
		for name, item := range v {
			found = append(found, leaves(item, all || secret.Name(name))...)
		}
	}
	return found
}

// cause returns a file system error without its path.
func cause(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}
