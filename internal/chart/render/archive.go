package render

import (
	"bytes"
	"io/fs"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"sigs.k8s.io/yaml"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/chart"
)

// unpack reads the files of the chart from its archive.
func (r *renderer) unpack() error {
	data, err := bounded.ReadFile(r.files, r.args.Archive, r.args.Limit)
	if err != nil {
		return problem("the archive of the chart: %v", bounded.Cause(err))
	}
	r.buffered, err = archive.LoadArchiveFiles(bytes.NewReader(data))
	if err != nil {
		return problem("the archive of the chart is malformed or larger than %d MiB unpacked", archive.MaxDecompressedChartSize>>20)
	}
	return nil
}

// readIndex reads the index of a repository of charts. https://helm.sh/docs/topics/chart_repository/
func readIndex(files fs.FS, o chart.IndexArgs) (chart.Index, error) {
	data, err := bounded.ReadFile(files, o.File, o.Limit)
	if err != nil {
		return chart.Index{}, err
	}
	var all struct {
		Entries map[string][]chart.Entry `json:"entries"`
	}
	if yaml.Unmarshal(data, &all) != nil {
		return chart.Index{Problem: "the index of the repository is malformed"}, nil //nolint:nilerr // the error may quote the index
	}
	return chart.Index{Charts: all.Entries}, nil
}
