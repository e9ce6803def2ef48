package render

import (
	"bytes"
	"io/fs"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"sigs.k8s.io/yaml"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/chart"
)

// unpack reads the files of the chart from its archive.
func (r *renderer) unpack() error {
	data, err := bounded.ReadFile(r.files, r.args.Archive, r.args.Limit)
	if err != nil {
		return problem("the archive of the chart: %v", cause(err))
	}
	r.buffered, err = archive.LoadArchiveFiles(bytes.NewReader(data))
	if err != nil {
		return problem("the archive of the chart is malformed or larger than %d MiB unpacked", archive.MaxDecompressedChartSize>>20)
	}
	return nil
}

// An index lists the charts of a repository. https://helm.sh/docs/topics/chart_repository/
type index struct {
	Entries map[string][]struct {
		Version string   `json:"version"`
		Digest  string   `json:"digest"`
		URLs    []string `json:"urls"`
	} `json:"entries"`
}

// readIndex returns the entry of one version of a chart.
func readIndex(files fs.FS, o chart.IndexArgs) (chart.Entry, error) {
	data, err := bounded.ReadFile(files, o.File, o.Limit)
	if err != nil {
		return chart.Entry{}, err
	}
	var all index
	if yaml.Unmarshal(data, &all) != nil {
		return chart.Entry{Problem: "the index of the repository is malformed"}, nil //nolint:nilerr // the error may quote the index
	}
	for _, entry := range all.Entries[o.Chart] {
		if strings.TrimPrefix(entry.Version, "v") == strings.TrimPrefix(o.Version, "v") {
			return chart.Entry{URLs: entry.URLs, Digest: entry.Digest}, nil
		}
	}
	return chart.Entry{Problem: "the repository does not have version " + o.Version + " of the chart " + o.Chart}, nil
}
