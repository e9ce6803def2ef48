// Package postrender passes the output of a chart through the post-renderers of a HelmRelease of Flux, in a box.
package postrender

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/driftd/driftd/internal/chart"
	"github.com/driftd/driftd/internal/kustomize"
)

// Job is the name of the job that post-renders. Its arguments are Args, its result is Result.
const Job = "postrender"

// Args are the arguments of Job.
type Args struct {
	Renderings []chart.Rendering

	Settings
}

// Settings are the post-renderers of a HelmRelease.
type Settings struct {
	// Kustomize has the changes of each one, in JSON.
	Kustomize [][]byte
	// Hooks determines how the post-renderers process the hooks of the chart: one of the constants, or ""
	// if the version of helm-controller decides.
	Hooks string
}

// The ways in which post-renderers get hooks. Combined is that of helm-controller 1.6 without a setting, and None that of older versions.
// https://fluxcd.io/flux/components/helm/helmreleases/#post-render-strategy
const (
	None     = "nohooks"
	Combined = "combined"
	Separate = "separate"
)

// A Result is the result of Job.
type Result struct {
	Files []chart.File
	// Hooks is set if it is unknown whether post-renderers change the hooks. Files has the outputs with both then.
	Hooks bool
	// Problem is the reason why there are no files, or "". It contains no values of the chart or of a
	// patch.
	Problem string
}

// Do runs the job.
func Do(_ fs.FS, o Args) (Result, error) {
	made, hooks, err := o.postRender()
	if err != nil {
		return Result{Problem: err.Error()}, nil //nolint:nilerr // it is the problem
	}
	return Result{Files: chart.Files(made), Hooks: hooks}, nil
}

// postRender returns the renderings after the post-renderers. Those that cannot be post-rendered are left out, unless there are no
// others: the release could not have been installed there.
func (o *Args) postRender() (made []chart.Rendering, hooks bool, err error) {
	through := make([]kustomize.Changes, len(o.Kustomize))
	for i, data := range o.Kustomize {
		if json.Unmarshal(data, &through[i]) != nil {
			return nil, false, fmt.Errorf("postRenderers[%d] is malformed", i)
		}
	}
	strategies := []string{o.Hooks}
	switch {
	case o.Hooks == "":
		strategies = []string{Combined}
		if hooks = slices.ContainsFunc(o.Renderings, hasHooks); hooks {
			strategies = append(strategies, None)
		}
	case !slices.Contains([]string{None, Combined, Separate}, o.Hooks):
		return nil, false, errors.New("its postRenderStrategy is none that Flux has")
	}
	for _, r := range o.Renderings {
		for _, strategy := range strategies {
			rendered, failed := rendering(r, through, strategy)
			if failed != nil {
				err = failed
				continue
			}
			made = append(made, rendered)
		}
	}
	if len(made) == 0 {
		return nil, false, err
	}
	return made, hooks, nil
}

// hasHooks reports whether a rendering has hooks.
func hasHooks(r chart.Rendering) bool {
	for _, text := range r.Outputs {
		if slices.ContainsFunc(chart.Split(text), isHook) {
			return true
		}
	}
	return false
}

const hookAnnotation = "helm.sh/hook"

// isHook reports whether a document is a hook of Helm.
func isHook(text string) bool {
	var object struct {
		Metadata struct{ Annotations map[string]any }
	}
	return strings.Contains(text, hookAnnotation) && yaml.Unmarshal([]byte(text), &object) == nil && object.Metadata.Annotations[hookAnnotation] != nil
}

// rendering returns a rendering after the post-renderers.
func rendering(r chart.Rendering, through []kustomize.Changes, strategy string) (made chart.Rendering, err error) {
	made = chart.Rendering{Calls: r.Calls}
	if made.Outputs, err = outputs(r.Outputs, through, strategy); err != nil {
		return made, err
	}
	for _, again := range r.Again {
		other, err := outputs(again, through, strategy)
		if err != nil {
			return made, err
		}
		made.Again = append(made.Again, other)
	}
	return made, nil
}

// chartFile is the file that makes a folder a chart. An object that post-renderers made of an unknown one counts as from there.
const chartFile = "Chart.yaml"

// outputs returns the outputs of templates after the post-renderers, by the paths of the templates.
func outputs(all map[string]string, through []kustomize.Changes, strategy string) (map[string]string, error) {
	made := map[string][]string{}
	var manifests, hooks []document
	other := chartFile
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !chart.IsManifest(name) {
			continue
		}
		top, _, _ := strings.Cut(name, "/")
		other = path.Join(top, chartFile)
		made[name] = nil
		for _, text := range chart.Split(all[name]) {
			switch {
			case strategy == Combined || !isHook(text):
				manifests = append(manifests, document{name, text})
			case strategy == Separate:
				hooks = append(hooks, document{name, text})
			default:
				made[name] = append(made[name], text)
			}
		}
	}
	made[other] = nil
	for _, stream := range [][]document{hooks, manifests} {
		rendered, err := passed(stream, through, other)
		if err != nil {
			return nil, err
		}
		for _, d := range rendered {
			made[d.file] = append(made[d.file], d.text)
		}
	}
	texts := make(map[string]string, len(made))
	for name, documents := range made {
		texts[name] = strings.Join(documents, "\n---\n")
	}
	return texts, nil
}
