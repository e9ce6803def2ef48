package manifests

import (
	"cmp"
	"strings"

	"github.com/driftd/driftd/internal/chart"
	"github.com/driftd/driftd/internal/chart/postrender"
)

// An installing has the settings of a chart that Flux installs as a release.
type installing struct {
	// Values are those of the release, instead of the values in its settings.
	Values []chart.Values
	// Storage is the namespace of the record of the release.
	Storage string
	// Metadata replaces the build metadata of the chart's version, unless it is empty.
	Metadata string
	// Moving reports whether that metadata is not in git: a revision, or the generation of an object.
	Moving bool
	// Defaults are the files of a fetched chart with its values, of which some may be missing if IgnoreMissing is set.
	Defaults      []string
	IgnoreMissing bool
	// Files are the files in git with values in place of those of the chart.
	Files []string
	// PostRenderers are those of the release.
	PostRenderers postrender.Settings
	// SkipCRDs leaves out the definitions in the folder crds.
	SkipCRDs bool
}

// metadata returns the build metadata of the chart's version.
func (i *installing) metadata() string {
	if i == nil {
		return ""
	}
	return i.Metadata
}

// defaults returns the files of the chart with its values.
func (i *installing) defaults() (files []string, ignoreMissing bool) {
	if i == nil {
		return nil, false
	}
	return i.Defaults, i.IgnoreMissing
}

// storage returns the namespace of the record of a release in a namespace.
func (i *installing) storage(namespace string) string {
	if i == nil {
		return namespace
	}
	return cmp.Or(i.Storage, namespace)
}

// skips reports whether the objects of a template are left out.
func (i *installing) skips(template string) bool {
	return i != nil && i.SkipCRDs && isDefinition(template)
}

// isPostRendered reports whether the release has post-renderers.
func (i *installing) isPostRendered() bool { return i != nil && len(i.PostRenderers.Kustomize) > 0 }

// isDefinition reports whether a file of a chart is in a folder crds of it or of a subchart.
func isDefinition(template string) bool {
	inside := "/" + template
	return strings.Contains(inside, "/crds/") && !strings.Contains(inside, "/templates/")
}
