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

// A gitFolder is a repository that git itself writes to.
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

// run returns what a command of git says. Nothing of the machine's own
// configuration counts.
func (g gitFolder) run(input string, args ...string) string {
	g.t.Helper()
	c := g.command(g.t.Context(), args...)
	c.Stdin = strings.NewReader(input)
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		g.t.Fatalf("git %s: %v: %s", args, err, complaint.String())
	}
	return strings.TrimSpace(string(out))
}

func (g gitFolder) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "git", args...) //nolint:gosec // the tests' own words
	c.Dir = g.dir
	c.Env = []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=" + g.dir, "LC_ALL=C"}
	return c
}

// A step is a commit, as git fast-import takes it.
type step struct {
	// who is "Name <e-mail>", of the author; the committer is somebody else.
	who, message string
	// at is the committer's clock, in seconds; 0 is the time after the step
	// before.
	at int64
	// from are the steps that it follows, from 1; without any, the one before,
	// or none for the first.
	from []int
	// files are what changes: "" takes a file out.
	files map[string]string
	// clear begins without the files of the step before.
	clear bool
}

// commit makes commits on main and returns their hashes.
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
	if s.who == "" {
		s.who = "t <t@example.org>"
	}
	if s.from == nil && mark > 1 {
		s.from = []int{mark - 1}
	}
	if len(s.from) == 0 {
		stream.WriteString("reset refs/heads/main\n\n")
	}
	fmt.Fprintf(stream, "commit refs/heads/main\nmark :%d\nauthor %s 1600000000 +0000\ncommitter c <c@example.org> %d +0000\n", mark, s.who, s.at)
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

// touches reads a commit and returns the last touches of files.
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

// A realHub serves a repository over http as git itself does.
type realHub struct {
	*httptest.Server
	git gitFolder

	mu     sync.Mutex
	bodies []string
	sent   int
	// broken answers no request for history.
	broken bool
	// refused is called for each of those.
	refused func()
}

func newRealHub(t testing.TB, g gitFolder) *realHub {
	t.Helper()
	h := &realHub{git: g}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

// asked returns the requests for objects since it was called last, and how much
// was sent for them.
func (h *realHub) asked() (bodies []string, sent int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	bodies, sent = h.bodies, h.sent
	h.bodies, h.sent = nil, 0
	return bodies, sent
}

func (h *realHub) set(change func(*realHub)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

// ServeHTTP speaks git's smart protocol (gitprotocol-http(5)).
func (h *realHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var body, answer bytes.Buffer
	if _, err := body.ReadFrom(r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	args := []string{"upload-pack", "--stateless-rpc"}
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		answer.WriteString("001e# service=git-upload-pack\n0000")
		args = append(args, "--advertise-refs")
	} else {
		h.bodies = append(h.bodies, body.String())
		if h.broken && !strings.Contains(body.String(), "deepen 1\n") {
			if h.refused != nil {
				h.refused()
			}
			http.Error(w, "not today", http.StatusInternalServerError)
			return
		}
	}
	c := h.git.command(r.Context(), append(args, ".")...)
	c.Stdin, c.Stdout = &body, &answer
	if err := c.Run(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h.sent += answer.Len()
	_, _ = w.Write(answer.Bytes())
}
