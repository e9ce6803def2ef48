package manifests_test

import (
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
