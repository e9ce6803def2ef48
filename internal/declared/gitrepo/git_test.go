package gitrepo_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// A gitFolder is a repository that the git command writes to.
type gitFolder struct {
	t   testing.TB
	dir string
}

func newGit(t testing.TB) gitFolder {
	t.Helper()
	g := gitFolder{t, t.TempDir()}
	g.run("", "init", "-q", "-b", "main", ".")
	return g
}

// run returns the output of a git command. The git configuration of the machine is ignored.
func (g gitFolder) run(input string, args ...string) string {
	g.t.Helper()
	c := g.command(g.t.Context(), args...)
	c.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		g.t.Fatalf("git %s: %v: %s", args, err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

func (g gitFolder) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "git", args...) //nolint:gosec // fixed arguments
	c.Dir = g.dir
	c.Env = []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=" + g.dir, "LC_ALL=C"}
	return c
}

// A step is a commit in the input of git fast-import.
type step struct {
	// author is "Name <e-mail>" of the author. The committer is always c.
	author, message string
	// at is the committer's time in seconds; 0 is one minute after the previous step.
	at int64
	// from lists the parents as step numbers from 1. The default is the previous step.
	from []int
	// files are the changed files; "" deletes a file.
	files map[string]string
	// clear removes all files of the parent first.
	clear bool
}

// commit creates commits on main and returns their hashes.
func (g gitFolder) commit(steps ...step) []string {
	g.t.Helper()
	var stream strings.Builder
	for i, s := range steps {
		writeStep(&stream, i+1, s)
	}
	stream.WriteString("done\n")
	hashes := make([]string, len(steps))
	file := filepath.Join(g.t.TempDir(), "marks")
	g.run(stream.String(), "fast-import", "--quiet", "--force", "--done", "--export-marks="+file)
	marks, err := os.ReadFile(file)
	if err != nil {
		g.t.Fatal(err)
	}
	for line := range strings.Lines(string(marks)) {
		var mark int
		var hash string
		if _, err := fmt.Sscanf(line, ":%d %s", &mark, &hash); err != nil {
			g.t.Fatal(err)
		}
		hashes[mark-1] = hash
	}
	return hashes
}

const firstTime = 1_700_000_000

func writeStep(stream *strings.Builder, mark int, s step) {
	if s.at == 0 {
		s.at = firstTime + int64(mark)*60
	}
	if s.author == "" {
		s.author = "t <t@example.org>"
	}
	if s.from == nil && mark > 1 {
		s.from = []int{mark - 1}
	}
	if len(s.from) == 0 {
		stream.WriteString("reset refs/heads/main\n\n")
	}
	fmt.Fprintf(stream, "commit refs/heads/main\nmark :%d\nauthor %s 1600000000 +0000\ncommitter c <c@example.org> %d +0000\n", mark, s.author, s.at)
	fmt.Fprintf(stream, "data %d\n%s\n", len(s.message), s.message)
	for i, parent := range s.from {
		fmt.Fprintf(stream, "%s :%d\n", [...]string{"from", "merge"}[min(i, 1)], parent)
	}
	if s.clear {
		stream.WriteString("deleteall\n")
	}
	names := slices.Sorted(maps.Keys(s.files))
	for _, name := range names {
		if s.files[name] == "" {
			fmt.Fprintf(stream, "D %s\n", name)
		}
	}
	for _, name := range names {
		if content := s.files[name]; content != "" {
			fmt.Fprintf(stream, "M 100644 inline %s\ndata %d\n%s\n", name, len(content), content)
		}
	}
	stream.WriteString("\n")
}

// touches reads the commit of ref and returns the touches of the files names.
func touches(t testing.TB, r *gitrepo.Repository, ref string, names ...string) map[string]gitrepo.Touch {
	t.Helper()
	var found map[string]gitrepo.Touch
	err := r.Read(t.Context(), ref, func(c gitrepo.Commit) error {
		found = c.Touches(t.Context(), names)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A gitServer serves a repository over http with git upload-pack.
type gitServer struct {
	*httptest.Server
	git gitFolder

	mu     sync.Mutex
	bodies []string
	sent   int
	// broken makes the server reject requests for history.
	broken bool
	// onHistoryRequest is called for each rejected request.
	onHistoryRequest func()
}

func newGitServer(t testing.TB, g gitFolder) *gitServer {
	t.Helper()
	h := &gitServer{git: g}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

// requested returns the requests for objects since its last call, and the size of the
// responses in bytes.
func (h *gitServer) requested() (bodies []string, sent int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	bodies, sent = h.bodies, h.sent
	h.bodies, h.sent = nil, 0
	return bodies, sent
}

func (h *gitServer) set(change func(*gitServer)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

// ServeHTTP implements git's smart protocol (gitprotocol-http(5)).
func (h *gitServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var body, response bytes.Buffer
	if _, err := body.ReadFrom(r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	args := []string{"upload-pack", "--stateless-rpc"}
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		response.WriteString("001e# service=git-upload-pack\n0000")
		args = append(args, "--advertise-refs")
	} else {
		h.bodies = append(h.bodies, body.String())
		if h.broken && !strings.Contains(body.String(), "deepen 1\n") {
			if h.onHistoryRequest != nil {
				h.onHistoryRequest()
			}
			http.Error(w, "unavailable", http.StatusInternalServerError)
			return
		}
	}
	c := h.git.command(r.Context(), append(args, ".")...)
	c.Stdin, c.Stdout = &body, &response
	if err := c.Run(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h.sent += response.Len()
	_, _ = w.Write(response.Bytes())
}
