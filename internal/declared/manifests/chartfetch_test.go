package manifests_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/manifests"
)

// packed returns the archive of the chart blog.
func packed(t *testing.T) []byte {
	t.Helper()
	return packedFiles(t, blog())
}

// packedFiles returns the archive of the chart in the folder charts/blog of files.
func packedFiles(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var made bytes.Buffer
	z := gzip.NewWriter(&made)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		if !strings.HasPrefix(name, "charts/blog/") {
			continue
		}
		if err := w.WriteHeader(&tar.Header{Name: "journal/" + strings.TrimPrefix(name, "charts/blog/"), Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return made.Bytes()
}

// chartRepository serves a repository with the chart blog, whose version is 1.0.0 and, falsely, 2.0.0.
func chartRepository(t *testing.T) string {
	t.Helper()
	return repositoryOf(t, packed(t))
}

// repositoryOf returns the URL of a repository of charts with one archive.
func repositoryOf(t *testing.T, chart []byte) string {
	t.Helper()
	index := "apiVersion: v1\nentries:\n  journal:\n"
	for _, version := range []string{"1.0.0", "2.0.0"} {
		index += fmt.Sprintf("  - {version: %s, digest: %x, urls: [journal.tgz]}\n", version, sha256.Sum256(chart))
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/charts/index.yaml":
			_, _ = w.Write([]byte(index))
		case "/charts/journal.tgz":
			_, _ = w.Write(chart)
		case "/large/index.yaml":
			_, _ = w.Write([]byte(index + "# " + strings.Repeat("x", 1<<20)))
		case "/large/journal.tgz":
			_, _ = w.Write(chart)
		case "/broken/index.yaml":
			_, _ = w.Write([]byte("entries: [hunter2"))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestFetchedChart renders charts from a repository. One that cannot be fetched is a problem that covers
// the namespace of the release.
func TestFetchedChart(t *testing.T) {
	t.Parallel()
	url := chartRepository(t)
	for name, tc := range map[string]struct {
		change  func(*manifests.HelmConfig)
		data    string
		problem string
	}{
		"without files": {func(*manifests.HelmConfig) {}, "1", ""},
		"with values":   {func(c *manifests.HelmConfig) { c.Dir, c.Values = "envs", []string{"envs/prod.yaml"} }, "3", ""},
		"other version": {func(c *manifests.HelmConfig) { c.Version = "2.0.0" }, "", "the archive has another version of the chart than 2.0.0"},
		"no version":    {func(c *manifests.HelmConfig) { c.Version = "3.0.0" }, "", "the repository does not have version 3.0.0 of the chart journal"},
		"malformed":     {func(c *manifests.HelmConfig) { c.Repo = url + "/broken" }, "", "the index of the repository is malformed"},
		"no repository": {func(c *manifests.HelmConfig) { c.Repo = url + "/none" }, "", "the server answers 404 Not Found: check the URL and version"},
		"large index":   {func(c *manifests.HelmConfig) { c.Repo, c.MaxFileSize = url+"/large", 1<<19 }, "1", ""},
		"too large":     {func(c *manifests.HelmConfig) { c.MaxFileSize = 100 }, "", "larger than 100 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := deploy(t, blog())
			c := manifests.HelmDefaults()
			c.Repo, c.Chart, c.Version, c.Namespace, c.Release = url+"/charts", "journal", "1.0.0", "web", "blog"
			if tc.change(&c); c.Dir != "" {
				c.Dir = filepath.Join(dir, c.Dir)
			}
			d, err := loadRelease(t, c)
			if err != nil {
				t.Fatal(err)
			}
			if tc.problem != "" {
				got := strings.Join(problems(d), "; ")
				if len(d.Claims) > 0 || len(d.Problems) != 1 || !strings.Contains(got, tc.problem) || strings.Contains(got, "hunter2") || !d.Problems[0].Bounded || d.Problems[0].Extents[0].Place != "web" {
					t.Errorf("%v, %v", claims(d), d.Problems)
				}
				return
			}
			at := c.Repo + "/journal-1.0.0"
			want := []string{at + "/templates/web.yaml ConfigMap web/blog-web", at + "/templates/migrate.yaml ConfigMap web/migrate", at + "/crds/post.yaml CustomResourceDefinition.apiextensions.k8s.io posts.example.org", at + "/Chart.yaml Release.helm web/blog"}
			if diff := cmp.Diff(want, claims(d)); diff != "" || len(d.Problems) > 0 {
				t.Error(diff, d.Problems)
			}
			for _, claim := range d.Claims {
				if claim.ID == "web/blog-web" && claim.Value.At("data", "replicas").Str() != tc.data {
					t.Errorf("replicas %s, want %s", claim.Value.At("data", "replicas"), tc.data)
				}
			}
		})
	}
}

// TestFetchedChartSettings refuses settings that contradict each other.
func TestFetchedChartSettings(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*manifests.HelmConfig){
		"values are files, and neither dir nor git is set": func(c *manifests.HelmConfig) { c.Values = []string{"prod.yaml"} },
		"remove them":                    func(c *manifests.HelmConfig) { c.OCI, c.Dir = "", "charts" },
		"path is that of a chart in git": func(c *manifests.HelmConfig) { c.Git, c.Path = "https://git.example.org/a.git", "charts" },
		"is not an exact version":        func(c *manifests.HelmConfig) { c.Version = ">=1.0.0" },
	} {
		c := manifests.HelmDefaults()
		c.OCI, c.Version, c.Namespace = "oci://registry.example.org/charts/blog", "1.0.0", "web"
		change(&c)
		_, err := manifests.HelmDefinition().Open(declared.Env{}, func(into any) error {
			*into.(*manifests.HelmConfig) = c
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
