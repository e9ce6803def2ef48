package manifests

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/chart/fetch"
)

// remoteCharts fetches the charts that objects in git name, from where the owner of driftd permits it. It
// is safe for concurrent use.
type remoteCharts struct {
	permitted fetch.Permission

	mu     sync.Mutex
	charts map[string]*remoteChart
}

// A remoteChart is a chart that was fetched at a time.
type remoteChart struct {
	source *fetch.Source
	at     time.Time
}

// Bounds of charts of which the versions are remembered: how many they are, and the age from which the
// server is asked again what a version is.
const (
	maxRemote  = 2000
	askedAgain = 30 * time.Minute
)

// slow is the time of a failed request from which its host is not asked again in the same reading.
const slow = 5 * time.Second

// newRemoteCharts returns the charts below the entries of the setting charts.
func newRemoteCharts(entries []fetch.Entry) (*remoteCharts, error) {
	permitted, err := fetch.NewPermission(entries)
	if err != nil {
		return nil, fmt.Errorf("charts: %w", err)
	}
	return &remoteCharts{permitted: permitted}, nil
}

// A chartFetch fetches charts in one reading.
type chartFetch struct {
	loader *loader
	// until is when no chart is fetched any more. down are the hosts that do not answer.
	until time.Time
	down  map[string]bool
	// indexes are those of repositories, by URL: one may have tens of megabytes.
	indexes map[string]*fetch.Index
}

// fetching returns the fetching of one reading.
func (l *loader) fetching() *chartFetch {
	return &chartFetch{loader: l, until: time.Now().Add(l.config.Timeout / 2), down: map[string]bool{}, indexes: map[string]*fetch.Index{}} //nolint:mnd // the rest is for rendering
}

// loaderOf returns a loader for the chart of a release, which is fetched. A *sourceError is why it is not.
func (f *chartFetch) loaderOf(ctx context.Context, release *HelmConfig) (*loader, error) {
	l := *f.loader
	l.release = release
	place := release.OCI + release.Repo
	at, err := url.Parse(place)
	if err == nil && at.User != nil {
		return nil, notRead(sketch{unknown: true}, "the URL of its chart has a user name or a password, which driftd does not use: remove it there, and set username and password_file of the entry in the setting charts")
	}
	if err != nil || !f.loader.remote.permitted.Allows(place) {
		return nil, notRead(sketch{unknown: true}, "its chart comes from %s, from where driftd fetches no charts: list the URL in the setting charts if it may", orNone(place, "no URL"))
	}
	settings := f.loader.remote.permitted.With(release.source(&l))
	settings.Limit = l.config.MaxFileSize
	if err := settings.Check(); err != nil {
		return nil, notRead(sketch{unknown: true}, "its chart: %s", shown(err.Error()))
	}
	found, err := f.loader.remote.of(settings)
	if err != nil {
		return nil, notRead(sketch{unknown: true}, "its chart: %s", shown(err.Error()))
	}
	if err := f.fetch(ctx, found, at.Host, release.Repo); err != nil {
		return nil, err
	}
	l.fetched = found.source
	return &l, nil
}

// fetch fetches a chart, unless that was done a short time ago.
func (f *chartFetch) fetch(ctx context.Context, c *remoteChart, host, repository string) error {
	f.loader.remote.mu.Lock()
	fresh := time.Since(c.at) < askedAgain
	f.loader.remote.mu.Unlock()
	if _, err := c.source.Archive(); err == nil && fresh {
		return nil
	}
	begun := time.Now()
	switch {
	case f.down[host]:
		return notRead(sketch{unknown: true}, "its chart is not fetched, because %s has not answered in time before", shown(host))
	case begun.After(f.until):
		return notRead(sketch{unknown: true}, "its chart is not fetched, because fetching charts takes half of the time of a reading; raise timeout in the declaration's settings")
	}
	within, cancel := context.WithDeadline(ctx, f.until)
	defer cancel()
	if f.indexes[repository] == nil {
		f.indexes[repository] = &fetch.Index{}
	}
	if err := c.source.Fetch(within, f.indexes[repository]); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("read charts: %w", ctx.Err())
		}
		// Reading a large index takes long, too.
		f.down[host] = fetch.IsUnanswered(err) && time.Since(begun) > slow
		return notRead(sketch{unknown: true}, "its chart: %s", shown(err.Error()))
	}
	f.loader.remote.mu.Lock()
	defer f.loader.remote.mu.Unlock()
	c.at = time.Now()
	return nil
}

// of returns the source of a chart. When there are too many, all are dropped.
func (r *remoteCharts) of(s fetch.Settings) (*remoteChart, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := fmt.Sprintf("%q", []string{s.OCI, s.Repo, s.Chart, s.Version, s.Digest})
	if found := r.charts[name]; found != nil {
		return found, nil
	}
	source, err := fetch.New(s)
	if err != nil {
		return nil, err
	}
	if len(r.charts) >= maxRemote || r.charts == nil {
		r.charts = map[string]*remoteChart{}
	}
	r.charts[name] = &remoteChart{source: source}
	return r.charts[name], nil
}
