// Package gittest serves repositories with the git command, for tests that push.
package gittest

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A Repository is a bare repository that is served over https.
type Repository struct {
	t testing.TB
	// Dir is the folder of the repository.
	Dir string
	// URL is the address of the server, whose user is "git". CAFile is the path of its certificate
	// authority.
	URL, CAFile string

	backend http.Handler
	mu      sync.Mutex
	token   string
	before  func(*http.Request)
}

// New returns an empty repository, which is removed at the end of the test.
func New(t testing.TB) *Repository {
	t.Helper()
	root := t.TempDir()
	r := &Repository{t: t, Dir: filepath.Join(root, "audit.git")}
	if err := os.Mkdir(r.Dir, 0o750); err != nil {
		t.Fatal(err)
	}
	r.Git("init", "-q", "--bare", "-b", "main", ".")
	r.Git("config", "http.receivepack", "true")
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	r.backend = &cgi.Handler{Path: git, Args: []string{"http-backend"}, Dir: root, Env: append(environment(root), "GIT_PROJECT_ROOT="+root, "GIT_HTTP_EXPORT_ALL=1")}
	server := httptest.NewTLSServer(r)
	t.Cleanup(server.Close)
	r.URL, r.CAFile = server.URL+"/audit.git", filepath.Join(root, "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(r.CAFile, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// environment makes git ignore the configuration of the machine.
func environment(home string) []string {
	return []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=" + home, "LC_ALL=C", "PATH=" + os.Getenv("PATH")}
}

// Git runs a git command in the repository and returns its output. If the command fails, the test fails.
func (r *Repository) Git(args ...string) string {
	r.t.Helper()
	c := exec.CommandContext(r.t.Context(), "git", args...) //nolint:gosec // arguments of a test
	c.Dir, c.Env = r.Dir, environment(r.Dir)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		r.t.Fatalf("git %s: %v: %s", args, err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// Commit commits a file to a branch, as another program would do.
func (r *Repository) Commit(branch, file, content string) {
	r.t.Helper()
	r.Commits(branch, file, content)
}

// Commits commits each of the contents of a file to a branch, as another program would do.
func (r *Repository) Commits(branch, file string, contents ...string) {
	r.t.Helper()
	parent := ""
	if r.Git("for-each-ref", "refs/heads/"+branch) != "" {
		parent = "from refs/heads/" + branch + "^0\n"
	}
	var in strings.Builder
	for _, content := range contents {
		fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter c <c@example.org> 1600000000 +0000\ndata 5\nother\n%sM 100644 inline %s\ndata %d\n%s\n",
			branch, parent, file, len(content), content)
		parent = ""
	}
	c := exec.CommandContext(r.t.Context(), "git", "fast-import", "--quiet") //nolint:gosec // arguments of a test
	c.Dir, c.Env, c.Stdin = r.Dir, environment(r.Dir), strings.NewReader(in.String())
	if out, err := c.CombinedOutput(); err != nil {
		r.t.Fatalf("git fast-import: %v: %s", err, out)
	}
}

// Hook installs a shell script as a hook of the repository.
func (r *Repository) Hook(name, script string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.Dir, "hooks", name), []byte("#!/bin/sh\n"+script), 0o755); err != nil { //nolint:gosec // git runs it
		r.t.Fatal(err)
	}
}

// Require makes the server require a token.
func (r *Repository) Require(token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.token = token
}

// Before makes the server call a function before it handles a request. The function may block until the
// context of the request ends.
func (r *Repository) Before(call func(*http.Request)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before = call
}

// ServeHTTP implements git's smart protocol (gitprotocol-http(5)).
func (r *Repository) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	token, before := r.token, r.before
	r.mu.Unlock()
	if before != nil {
		before(request)
	}
	if request.Context().Err() != nil {
		return
	}
	user, password, _ := request.BasicAuth()
	if token != "" && (user != "git" || password != token) {
		http.Error(w, "authentication required for "+password, http.StatusUnauthorized)
		return
	}
	r.backend.ServeHTTP(w, request)
}
