// Package render renders Helm charts, as helm template does, in a box.
package render

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
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
	"github.com/driftd/driftd/internal/lazyregexp"
)

// Jobs returns the jobs of the program driftd-helm.
func Jobs() map[string]box.Job {
	return map[string]box.Job{chart.Job: box.NewJob(Render), chart.IndexJob: box.NewJob(readIndex)}
}

// Render renders a chart. If it calls functions whose results depend on chance or on the time, or
// asks for API versions that the cluster may have or not, it is rendered several times.
func Render(files fs.FS, o chart.Args) (chart.Rendered, error) {
	r := renderer{files: files, args: o, now: time.Now()}
	found, err := r.render()
	if err != nil {
		return chart.Rendered{Problem: public(err)}, nil
	}
	found.Given = r.record
	return found, nil
}

type renderer struct {
	files fs.FS
	args  chart.Args
	// now is the time of the first rendering for each cluster.
	now time.Time
	// given are the values of the user, and record is the same in JSON, as Helm records them.
	given  map[string]any
	record []byte
	// buffered are the files of the chart.
	buffered []*archive.BufferedFile
	// uses is what the templates use of a release that is upgraded. It is known after the first rendering.
	uses releaseUse
}

// later is the time by which the clock of each further rendering is ahead: every part of a date
// and of a time of day differs.
const later = 400*24*time.Hour + 7*time.Hour + 23*time.Minute + 41*time.Second

// more is the number of further renderings of a chart that depends on chance: what a template makes of two different
// values can be the same.
const more = 3

func (r *renderer) render() (chart.Rendered, error) {
	clusters, asked, err := r.clusters()
	if err != nil {
		return chart.Rendered{}, err
	}
	found := chart.Rendered{Files: definitions(clusters[0].definitions), Asked: asked, Upgraded: r.uses.upgrade}
	renderings := make([]chart.Rendering, len(clusters))
	for i := range clusters {
		renderings[i] = clusters[i].Rendering
	}
	files := slices.Concat(found.Files, chart.Files(renderings))
	for i := range files {
		if strings.ContainsFunc(files[i].Name, func(r rune) bool { return !strconv.IsPrint(r) }) {
			return chart.Rendered{}, problem("the name of a template has a character that does not print")
		}
	}
	if r.args.Raw {
		found.Renderings = renderings
	} else {
		found.Files = files
	}
	return found, nil
}

// A rendering is the chart rendered for a cluster.
type rendering struct {
	chart.Rendering

	definitions []chartv2.CRD
}

// on renders the chart for a cluster, several times if it depends on chance or on the number of the revision. It returns
// the API versions that the templates ask for, also with an error.
func (r *renderer) on(v apiVersions, revision revision) (made rendering, asked []string, err error) {
	w := newWatch(r.now, 0)
	made.Outputs, made.definitions, err = r.once(w, v, revision)
	if r.uses.revision && revision.isUpgrade() {
		w.calls[".Release.Revision"] = true
	}
	for n := 1; err == nil && n <= more && len(w.calls) > 0; n++ {
		again := newWatch(r.now.Add(time.Duration(n)*later), n)
		var other map[string]string
		other, _, err = r.once(again, v, revision.after(n))
		made.Again = append(made.Again, other)
		maps.Copy(w.calls, again.calls)
	}
	made.Calls = w.called()
	return made, v.asked(), err
}

// once renders the chart, and returns the output of each template by its path, which begins with
// the chart's name, and the custom resource definitions.
func (r *renderer) once(w *watch, v apiVersions, revision revision) (map[string]string, []chartv2.CRD, error) {
	c, err := r.load()
	if err != nil {
		return nil, nil, err
	}
	if r.args.Upgrades {
		r.uses = usedBy(c)
	}
	if err := r.readValues(); err != nil {
		return nil, nil, err
	}
	if r.record, err = json.Marshal(r.given); err != nil {
		return nil, nil, err
	}
	if err := chartutil.ProcessDependencies(c, r.given); err != nil {
		return nil, nil, err
	}
	capabilities, err := r.capabilities()
	if err != nil {
		return nil, nil, err
	}
	if wants := c.Metadata.KubeVersion; wants != "" && !chartutil.IsCompatibleRange(wants, capabilities.KubeVersion.Version) {
		return nil, nil, problem("the chart needs Kubernetes %s, and kube_version is %s", wants, r.args.KubeVersion)
	}
	values, err := util.ToRenderValues(c, r.given, common.ReleaseOptions{
		Name: r.args.Release, Namespace: r.args.Namespace, Revision: int(revision), IsInstall: !revision.isUpgrade(), IsUpgrade: revision.isUpgrade(),
	}, capabilities)
	if err != nil {
		return nil, nil, err
	}
	values["Capabilities"] = cluster{capabilities, v}
	rendered, err := engine.Engine{CustomTemplateFuncs: w.functions()}.RenderWithContext(context.Background(), c, values)
	if err != nil {
		return nil, nil, err
	}
	if r.args.Texts {
		for name, output := range rendered {
			rendered[name] = chart.WithTexts(output)
		}
	}
	return rendered, c.CRDObjects(), nil
}

// definitions returns the files of custom resource definitions.
func definitions(all []chartv2.CRD) []chart.File {
	var files []chart.File
	for _, crd := range all {
		files = append(files, chart.File{Name: chart.Below(crd.Filename), Output: chart.Output{Documents: chart.Documents(string(crd.File.Data))}})
	}
	return files
}

// load returns the chart.
func (r *renderer) load() (*chartv2.Chart, error) {
	if r.buffered == nil {
		if err := r.readFiles(); err != nil {
			return nil, err
		}
	}
	c, err := loader.LoadFiles(r.buffered)
	switch {
	case err != nil:
		return nil, err
	case c.Metadata.Type == "library":
		return nil, problem("a library chart, which declares no objects")
	case r.args.Archive != "" && r.args.Version != "" && strings.TrimPrefix(c.Metadata.Version, "v") != strings.TrimPrefix(r.args.Version, "v"):
		return nil, problem("the archive has another version of the chart than %s", r.args.Version)
	}
	if err := r.setDefaults(c); err != nil {
		return nil, err
	}
	if isEncrypted(c) {
		return nil, problem("the values of the chart or of a subchart are encrypted with SOPS; driftd does not decrypt them")
	}
	if r.args.Metadata != "" {
		version, _, _ := strings.Cut(strings.TrimPrefix(c.Metadata.Version, "v"), "+")
		c.Metadata.Version = version + "+" + r.args.Metadata
	}
	return c, missing(c)
}

// readFiles reads the files of the chart.
func (r *renderer) readFiles() error {
	if r.args.Archive != "" {
		return r.unpack()
	}
	rules, err := r.ignored()
	if err != nil {
		return err
	}
	for _, name := range r.args.Files {
		below := strings.TrimPrefix(strings.TrimPrefix(name, r.args.Dir), "/")
		if r.args.Dir == "." {
			below = name
		}
		info, err := fs.Stat(r.files, name)
		if err != nil {
			return problem("%s: %v", below, bounded.Cause(err))
		}
		ignored, err := r.isIgnored(rules, below, info)
		if err != nil {
			return err
		}
		if ignored {
			continue
		}
		data, err := bounded.ReadFile(r.files, name, r.args.Limit)
		if err != nil {
			return problem("%s: %v", below, bounded.Cause(err))
		}
		r.buffered = append(r.buffered, &archive.BufferedFile{Name: below, Data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))})
	}
	return nil
}

// isIgnored reports whether the rules ignore a file, or a folder that contains it.
func (r *renderer) isIgnored(rules *ignore.Rules, below string, info fs.FileInfo) (bool, error) {
	for dir := path.Dir(below); dir != "."; dir = path.Dir(dir) {
		folder, err := fs.Stat(r.files, path.Join(r.args.Dir, dir))
		if err != nil {
			return false, problem("%s: %v", dir, bounded.Cause(err))
		}
		if rules.Ignore(dir, folder) {
			return true, nil
		}
	}
	return rules.Ignore(below, info), nil
}

// isEncrypted reports whether the values of a chart or of a subchart are encrypted.
func isEncrypted(c *chartv2.Chart) bool {
	return hasSOPS(c.Values) || slices.ContainsFunc(c.Dependencies(), isEncrypted)
}

// hasSOPS reports whether a file of values is encrypted with SOPS, which adds a map with the
// message authentication code. https://getsops.io/docs/
func hasSOPS(values map[string]any) bool {
	sops, ok := values["sops"].(map[string]any)
	return ok && sops["mac"] != nil
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
		return nil, problem("%s: %v", ignore.HelmIgnore, bounded.Cause(err))
	}
	rules, err := ignore.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, problem("%s is malformed", ignore.HelmIgnore)
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
	return problem("lacks the dependencies %s: run helm dependency build and commit the folder charts; driftd does not fetch charts", strings.Join(lacks, ", "))
}

// readValues reads the values of the user.
func (r *renderer) readValues() error {
	r.given = map[string]any{}
	for _, v := range r.args.Values {
		if err := r.addValues(v); err != nil {
			return err
		}
	}
	return nil
}

func (r *renderer) addValues(v chart.Values) error {
	switch {
	case v.File != "":
		return r.addFile(v.File)
	case v.SetString != "":
		if strvals.ParseIntoString(v.SetString, r.given) != nil {
			return problem("%s is not in the form of helm --set-string: want path.of.value=value", v.Name)
		}
	case strvals.ParseInto(v.Set, r.given) != nil:
		return problem("%s is not in the form of helm --set: want path.of.value=value", v.Name)
	}
	return nil
}

func (r *renderer) addFile(name string) error {
	info, err := fs.Stat(r.files, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return problem("values file %s does not exist: name it by its path from the top of the repository", name)
	case err != nil:
		return problem("values file %s: %v", name, bounded.Cause(err))
	case info.IsDir():
		return problem("values file %s is a folder", name)
	}
	data, err := bounded.ReadFile(r.files, name, r.args.Limit)
	if err != nil {
		return problem("values file %s: %v", name, bounded.Cause(err))
	}
	values, err := loader.LoadValues(bytes.NewReader(data))
	if err != nil {
		return problem("values file %s is not valid YAML", name)
	}
	if hasSOPS(values) {
		return problem("values file %s is encrypted with SOPS; driftd does not decrypt it", name)
	}
	r.given = loader.MergeMaps(r.given, values)
	return nil
}

func (r *renderer) capabilities() (*common.Capabilities, error) {
	c := common.DefaultCapabilities.Copy()
	version, err := common.ParseKubeVersion(r.args.KubeVersion)
	if err != nil {
		return nil, problem("kube_version %q is not a version: want one as 1.36.3", r.args.KubeVersion)
	}
	c.KubeVersion = *version
	return c, nil
}

// A problemError is an error that contains no value of the chart or of the user.
type problemError string

// Error implements error.
func (e problemError) Error() string { return string(e) }

func problem(format string, args ...any) error { return problemError(fmt.Sprintf(format, args...)) }

// safe matches the parts of errors of Helm that are shown: where it failed, and the names in the
// text of a template. The rest of an error may contain any value, in any form: a template may
// put them there.
var safe = lazyregexp.New(`[A-Za-z0-9_./-]+\.(?:ya?ml|tpl|txt|json):[0-9]+(?::[0-9]+)?` +
	`|function "[A-Za-z0-9_]{1,40}" not defined` +
	`|error calling [A-Za-z0-9_]{1,40}\b` +
	`|cannot load [A-Za-z0-9_.-]{1,60}` +
	`|error unpacking subchart (?:tar in )?[A-Za-z0-9_.-]{1,60}` +
	`|chart\.metadata\.[A-Za-z]{1,40}(?: is required)?` +
	`|values don't meet the specifications of the schema`)

// maxParts bounds the parts of an error that are shown.
const maxParts = 3

// public returns an error without the values in it.
func public(err error) string {
	if own, ok := errors.AsType[problemError](err); ok {
		return string(own)
	}
	var parts []string
	for _, part := range safe().FindAllString(err.Error(), -1) {
		if len(parts) < maxParts && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "Helm reports an error"
	}
	return strings.Join(parts, ": ")
}
