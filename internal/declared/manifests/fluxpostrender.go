package manifests

import (
	"context"
	"embed"
	"errors"
	"strings"

	"github.com/driftd/driftd/internal/chart"
	"github.com/driftd/driftd/internal/chart/postrender"
	"github.com/driftd/driftd/internal/model"
)

// postRenderers returns the post-renderers of a HelmRelease. Two fields for patches are in older API versions only.
func (h *helmRelease) postRenderers() postrender.Settings {
	s := postrender.Settings{Hooks: h.spec.At("postRenderStrategy").Str()}
	for _, item := range h.spec.At("postRenderers").Items() {
		changes := item.At("kustomize")
		if !strings.Contains(h.value.At("apiVersion").Str(), "/v2beta") {
			changes = changes.Without("patchesStrategicMerge", "patchesJson6902")
		}
		if changes.Kind() == model.Map {
			s.Kustomize = append(s.Kustomize, changes.AppendJSON(nil))
		}
	}
	return s
}

// postRender adds the files of a chart from its renderings, after the post-renderers of the release. kustomize is in driftd's own program.
func (l *loader) postRender(ctx context.Context, r *chart.Rendered) (err error) {
	b := l.openBox(false)
	defer func() { err = errors.Join(err, b.Close()) }()
	var made postrender.Result
	if err := b.Do(ctx, embed.FS{}, postrender.Job, postrender.Args{Renderings: r.Renderings, Settings: l.installing.PostRenderers}, &made); err != nil {
		return err
	}
	r.Renderings, r.Hooks = nil, made.Hooks
	r.Files = append(r.Files, made.Files...)
	if made.Problem != "" {
		return &chartError{"Flux cannot install it: " + made.Problem, false}
	}
	return nil
}
