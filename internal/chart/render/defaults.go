package render

import (
	"bytes"
	"path"
	"slices"

	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

// valuesFile is the file with the values of a chart.
const valuesFile = "values.yaml"

// setDefaults replaces the values of a chart by those of its files in Args.Defaults, as source-controller of Flux does for valuesFiles.
// https://fluxcd.io/flux/components/source/helmcharts/#values-files
func (r *renderer) setDefaults(c *chartv2.Chart) error {
	if len(r.args.Defaults) == 0 {
		return nil
	}
	named := func(name string) func(*common.File) bool {
		return func(f *common.File) bool { return f.Name == name }
	}
	merged, found := map[string]any{}, false
	for _, name := range r.args.Defaults {
		values, at := c.Values, slices.IndexFunc(c.Files, named(path.Clean(name)))
		switch {
		case path.Clean(name) == valuesFile:
		case at < 0 && r.args.IgnoreMissing:
			continue
		case at < 0:
			return problem("its file of values %q is not in the chart", name)
		default:
			var err error
			if values, err = loader.LoadValues(bytes.NewReader(c.Files[at].Data)); err != nil {
				return problem("its file of values %q is not valid YAML", name)
			}
		}
		merged, found = loader.MergeMaps(merged, values), true
	}
	if !found || !slices.ContainsFunc(c.Raw, named(valuesFile)) {
		return problem("the chart has no %s, or none of its valuesFiles: Flux cannot build it", valuesFile)
	}
	c.Values = merged
	return nil
}
