package manifests_test

import (
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/declared/manifests"
)

// serveGit serves the repositories in dir with git's own server.
func serveGit(t *testing.T, dir string) string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&cgi.Handler{Path: git, Args: []string{"http-backend"}, Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1"},
		Stderr: t.Output()})
	t.Cleanup(server.Close)
	return server.URL
}

// commit creates a repository in dir and commits its files.
func commit(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "x"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
}

// TestRemoteBase proves that git fetches a base if that is allowed, and that the base cannot
// read other files of the disk.
func TestRemoteBase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	private := filepath.Join(dir, "private")
	write(t, private, map[string]string{"kustomization.yaml": "resources: [cm.yaml]\n", "cm.yaml": configMap("private")})
	commit(t, private)
	remote := filepath.Join(dir, "served", "base")
	write(t, remote, map[string]string{
		"good/kustomization.yaml": "resources: [cm.yaml]\n", "good/cm.yaml": configMap("far"),
		"path/kustomization.yaml": "resources: ['../../../../../../../../../.." + private + "']\n",
		"file/kustomization.yaml": "resources: ['file://" + private + "']\n",
	})
	commit(t, remote)
	url := serveGit(t, filepath.Dir(remote))
	for _, folder := range []string{"good", "path", "file"} {
		config := manifests.Defaults()
		config.AllowNetwork = true
		config.Dir = deploy(t, map[string]string{"kustomization.yaml": "resources: ['" + url + "/base/.git//" + folder + "?ref=main']\n"})
		d, err := load(t, config)
		if err != nil {
			t.Fatal(err)
		}
		got, reasons := strings.Join(claims(d), " "), strings.Join(problems(d), " ")
		switch good := strings.Contains(got, "default/far"); {
		case folder == "good" && (!good || reasons != ""):
			t.Errorf("a base: claims %s, problems %s", got, reasons)
		case folder != "good" && (got != "" || !strings.Contains(reasons, "leads out") || strings.Contains(reasons, "driftd-box-")):
			t.Errorf("a base that names another by %s: claims %s, problems %s", folder, got, reasons)
		}
	}
}
