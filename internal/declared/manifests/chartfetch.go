package manifests

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/chart"
	"github.com/driftd/driftd/internal/chart/fetch"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/model"
)

// isRemote reports whether the chart is in a registry or a repository of charts.
func (c *HelmConfig) isRemote() bool { return c.OCI+c.Repo != "" }

// checkPlace checks where the chart and the values are.
func (c *HelmConfig) checkPlace() error {
	s := c.source(nil)
	switch {
	case !c.isRemote() && c.Chart+c.Version+c.Digest+c.ChartUsername+c.ChartPasswordFile+c.ChartTokenHost+c.ChartCAFile != "":
		return errors.New("chart, version, digest and chart_… apply to oci and repo, and none is set: remove them")
	case !c.isRemote():
		return c.Place.Check("chart")
	case c.Path != "":
		return errors.New("path is that of a chart in git, and oci or repo is set: remove one")
	case c.Dir+c.Git != "":
		if err := c.Place.Check("values"); err != nil {
			return err
		}
	case len(c.Values) > 0:
		return errors.New("values are files, and neither dir nor git is set: name the folder or the repository that contains them")
	}
	return s.Check()
}

// source returns the settings of the chart's source.
func (c *HelmConfig) source(l *loader) fetch.Settings {
	s := fetch.Settings{OCI: c.OCI, Repo: c.Repo, Chart: c.Chart, Version: c.Version, Digest: c.Digest,
		Username: c.ChartUsername, PasswordFile: c.ChartPasswordFile, TokenHost: c.ChartTokenHost, CAFile: c.ChartCAFile, Limit: c.MaxFileSize}
	if l == nil {
		return s
	}
	s.Index = l.readIndex
	if l.env.CacheDir != "" {
		s.Cache = path.Join(l.env.CacheDir, "charts")
	}
	return s
}

// indexFile and archiveFile are the paths of what was fetched, among the files of a box.
const (
	indexFile   = ".driftd-index.yaml"
	archiveFile = ".driftd-chart.tgz"
)

// readIndex reads the index of a repository, in a box.
func (l *loader) readIndex(ctx context.Context, data []byte) (index chart.Index, err error) {
	size := int64(len(data))
	b := l.env.Boxes.Open(box.Limits{Memory: l.env.MaxMemory, File: max(l.config.MaxFileSize, size), Program: l.env.Helm})
	defer func() { err = errors.Join(err, b.Close()) }()
	files := addedFS{embed.FS{}, map[string][]byte{indexFile: data}}
	err = b.Do(ctx, files, chart.IndexJob, chart.IndexArgs{File: indexFile, Limit: size}, &index)
	switch {
	case errors.Is(err, box.ErrMemory):
		return index, fmt.Errorf("reading the index of the repository %w; raise max_memory of the declaration", err)
	case errors.Is(err, box.ErrTime), errors.Is(err, context.DeadlineExceeded):
		return index, errors.New("reading the index of the repository takes too long; raise timeout in the declaration's settings")
	case err != nil:
		return index, fmt.Errorf("reading the index of the repository: %w", err)
	case index.Problem != "":
		return index, errors.New(index.Problem)
	}
	err = budget.Take(ctx, indexWeight(&index))
	return index, err
}

// indexWeight returns an estimate of the memory of an index, in bytes.
func indexWeight(index *chart.Index) int64 {
	weight := int64(0)
	for name, versions := range index.Charts {
		weight += int64(len(name)) + valueWeight
		for _, v := range versions {
			weight += int64(len(v.Version)+len(v.Digest)) + 2*valueWeight
			for _, url := range v.URLs {
				weight += int64(len(url)) + valueWeight
			}
		}
	}
	return weight
}

// withArchive returns a tree with the archive of a chart that is not in the tree. If now is true, it is
// fetched; otherwise it is the one of the last reading.
func (l *loader) withArchive(ctx context.Context, t *tree, now bool) (*tree, error) {
	if l.fetched == nil {
		return t, nil
	}
	if now {
		if err := l.fetched.Fetch(ctx, nil); err != nil {
			return t, err
		}
	}
	data, err := l.fetched.Archive()
	if err != nil {
		return t, err
	}
	return t.withFiles(ctx, addedFS{t.files, map[string][]byte{archiveFile: data}}, l.config.MaxFileSize), nil
}

// chartAddress returns the address of a file of the chart.
func (l *loader) chartAddress(t *tree, name string) string {
	if l.fetched != nil {
		return l.fetched.String() + "/" + name
	}
	return t.address(path.Join(t.Root, name))
}

// withoutPlace reads a release without files of values.
func (l *loader) withoutPlace(ctx context.Context) (model.Declaration, error) {
	t := place{Root: ".", Base: "."}.tree(embed.FS{}, l.config.MaxFileSize)
	t.where = l.fetched.String()
	t.touches = func(context.Context, []string) map[string]gitrepo.Touch { return nil }
	return l.read(ctx, t)
}
