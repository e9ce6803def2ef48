package manifests

import (
	"encoding/json"
	"errors"
	"fmt"
)

// An otherChartError is returned for a chart in another repository that may be read.
type otherChartError struct {
	at checkout
	// by has the source and the path of the chart, as a Kustomization of Flux has them.
	by object
}

// Error implements error.
func (e *otherChartError) Error() string { return "its chart is in " + e.at.repository.URL() }

// installFrom renders the chart of a HelmRelease in another repository, before the next reading.
func (r *fluxReader) installFrom(e *otherChartError, h *helmRelease, values *fluxValues) (content, error) {
	source, _ := r.source(e.by)
	key, err := releaseKey(e, h, source, values)
	if err != nil {
		return content{}, err
	}
	return r.tree.others.get(otherBuild{key, e.at, func(t *tree) (c content, err error) {
		other := *r
		other.tree, other.helm = t, r.loader.openRenderer()
		defer func() { err = errors.Join(err, other.helm.Close()) }()
		c, err = other.install(h, values)
		return h.orUnread(c, err)
	}, func(reason string) content {
		return h.unread("the source of its chart, " + nameOf(source.value) + ", cannot be read: " + reason)
	}}), nil
}

// releaseKey returns the key of the objects of a HelmRelease with a chart in another repository.
func releaseKey(e *otherChartError, h *helmRelease, source object, values *fluxValues) (string, error) {
	parts := []any{
		"release", e.at.repository.URL(), e.at.ref, h.address, h.files, string(h.value.AppendJSON(nil)), string(e.by.value.AppendJSON(nil)),
		string(source.value.AppendJSON(nil)), values.origins(), values.files,
	}
	for n := range values.count() {
		given, files := values.variant(n)
		parts = append(parts, given, files)
	}
	key, err := json.Marshal(parts)
	if err != nil {
		return "", fmt.Errorf("encode a release: %w", err)
	}
	return string(key), nil
}
