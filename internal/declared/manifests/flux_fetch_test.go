package manifests_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/declared/manifests"
)

// TestFluxFetches checks for which GitRepositories the declaration shows the commit to fetch, and that it is remembered.
func TestFluxFetches(t *testing.T) {
	t.Parallel()
	const url = "https://git.example.org/shop.git"
	for name, tc := range map[string]struct {
		source, branch string
		want           time.Duration
	}{
		"Own branch":            {gitRepository(url, "branch: main"), "", 11 * time.Minute},
		"Another branch":        {gitRepository(url, "branch: next"), "", 0},
		"Another repository":    {gitRepository("https://git.example.org/other.git", "branch: main"), "", 0},
		"Source branch":         {gitRepository(url, "branch: main"), "main", 11 * time.Minute},
		"Stands for the branch": {gitRepository(url, "branch: prod"), "prod", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t)
			source := tc.source
			if !strings.Contains(source, "interval") {
				source = strings.Replace(source, "spec: {", "spec: {interval: 1m, ", 1)
			}
			h.commit(map[string]string{"clusters/prod/z.yaml": source})
			config := manifests.FluxDefaults()
			config.Git, config.Path, config.SameRepository, config.SourceBranch = h.dir, "clusters/prod", []string{url}, tc.branch
			loader := openFlux(t, config)
			for i := range 2 {
				d, err := loader.Load(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				f := d.Claims[0].Fetch
				if (f == nil) != (tc.want == 0) {
					t.Fatalf("got %+v", f)
				}
				if f != nil && (f.Commit != h.commits[i] || f.Within != tc.want || len(f.Replaced) != i) {
					t.Errorf("reading %d: %+v", i, f)
				}
				h.commit(map[string]string{"x": "y"})
			}
		})
	}
}

// TestFluxFetchesElsewhere checks the commit of a GitRepository of another repository, also while that cannot be read.
func TestFluxFetchesElsewhere(t *testing.T) {
	t.Parallel()
	fleet, apps := newHistory(t), newHistory(t)
	apps.commit(map[string]string{"web/a.yaml": configMap("a")})
	every := func(text string) string { return strings.ReplaceAll(text, "spec: {url", "spec: {interval: 1h, url") }
	fleet.commit(map[string]string{
		"clusters/prod/sources.yaml": every(source("apps", appsURL, "branch: main") + "---\n" + source("unused", appsURL, "branch: next")),
		"clusters/prod/web.yaml":     from("web", "apps", "  path: ./web\n"),
	})
	loader := openFlux(t, fleet.fluxConfig(apps.permit(appsURL)))
	var read time.Time
	for i, from := range []string{apps.dir, apps.dir + ".gone"} {
		if i > 0 {
			if err := os.Rename(apps.dir, from); err != nil {
				t.Fatal(err)
			}
		}
		d, err := loader.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f := claimOf(t, d, "flux-system/apps").Fetch
		if f == nil || f.Commit != apps.commits[0] || f.Within != 70*time.Minute || i > 0 && !f.Read.Equal(read) {
			t.Fatalf("reading %d: %+v", i, f)
		}
		read = f.Read
		if f := claimOf(t, d, "flux-system/unused").Fetch; f != nil {
			t.Errorf("a branch that is not read: %+v", f)
		}
	}
}
