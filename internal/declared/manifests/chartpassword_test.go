package manifests_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/chart/fetch"
	"github.com/driftd/driftd/internal/declared/manifests"
)

// TestChartWithPassword fetches charts of HelmReleases and Applications with the password of their entry.
func TestChartWithPassword(t *testing.T) {
	t.Parallel()
	chart := packed(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		switch {
		case name != "robot" || password != "hunter2":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/charts/index.yaml":
			_, _ = fmt.Fprintf(w, "entries:\n  journal: [{version: 1.0.0, digest: %x, urls: [journal.tgz]}]\n", sha256.Sum256(chart))
		default:
			_, _ = w.Write(chart)
		}
	}))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for reason, tc := range map[string]struct {
		entries []fetch.Entry
		problem string
	}{
		"the password of the entry":   {[]fetch.Entry{{URL: s.URL + "/charts", Username: "robot", PasswordFile: file}}, ""},
		"that of a longer path":       {[]fetch.Entry{{URL: s.URL}, {URL: s.URL + "/charts", Username: "robot", PasswordFile: file}}, ""},
		"no password":                 {[]fetch.Entry{{URL: s.URL + "/charts"}}, "set username and password_file of the entry in the setting charts"},
		"that of another path":        {[]fetch.Entry{{URL: s.URL + "/charts"}, {URL: s.URL + "/other", Username: "robot", PasswordFile: file}}, "set username and password_file"},
		"a file that is missing":      {[]fetch.Entry{{URL: s.URL + "/charts", Username: "robot", PasswordFile: file + "2"}}, "password2"},
		"a user that is not accepted": {[]fetch.Entry{{URL: s.URL + "/charts", Username: "other", PasswordFile: file}}, "check username and password_file"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			d := loadReleases(t, s.URL, map[string]string{"clusters/prod/release.yaml": ofRepository("1.0.0", "")}, func(c *manifests.FluxConfig) { c.Charts = tc.entries })
			found := strings.Join(problems(d), "; ")
			if !strings.Contains(found, tc.problem) || (found == "") != (tc.problem == "") || strings.Contains(found, "hunter2") {
				t.Errorf("problems %q, want %q", found, tc.problem)
			}
			if tc.problem == "" && claimOf(t, d, "web/blog-web").Address == "" {
				t.Errorf("claims %q", claims(d))
			}
		})
	}
}
