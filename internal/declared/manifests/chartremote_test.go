package manifests_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestSharedIndex downloads the index of a repository once in a reading, also if it lacks the first chart.
func TestSharedIndex(t *testing.T) {
	t.Parallel()
	archive, indexes := packed(t), 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/charts/index.yaml" {
			_, _ = w.Write(archive)
			return
		}
		indexes++
		_, _ = w.Write([]byte("entries:\n"))
		for n := range 5 {
			_, _ = fmt.Fprintf(w, "  journal%d: [{version: 1.0.0, digest: %x, urls: [journal.tgz]}]\n", n, sha256.Sum256(archive))
		}
	}))
	t.Cleanup(s.Close)
	files := map[string]string{"clusters/prod/a.yaml": ofRepository("1.0.0", "")}
	for n := range 5 {
		files[fmt.Sprintf("clusters/prod/b%d.yaml", n)] = strings.NewReplacer("chart: journal", fmt.Sprintf("chart: journal%d", n), "name: blog,", fmt.Sprintf("name: blog%d,", n)).Replace(ofRepository("1.0.0", ""))
	}
	d := loadReleases(t, s.URL, files, nil)
	if indexes != 1 || len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Reason, "does not have version 1.0.0 of the chart journal") || claimOf(t, d, "web/blog4-web").Address == "" {
		t.Errorf("%d downloads of the index, problems %q", indexes, problems(d))
	}
}
