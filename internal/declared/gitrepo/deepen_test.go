package gitrepo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// A serverConfig is the configuration of a git server, and whether it supports filters.
type serverConfig struct {
	reason  string
	config  []string
	filters bool
}

// serverConfigs returns the configurations that a fetch must support.
func serverConfigs() map[string]serverConfig {
	return map[string]serverConfig{
		"Filter":  {"a server with filters", []string{"uploadpack.allowFilter", "true"}, true},
		"Plain":   {"a server without filters", []string{"uploadpack.allowFilter", "false"}, false},
		"By hash": {"a server that serves any commit", []string{"uploadpack.allowAnySHA1InWant", "true"}, false},
	}
}

// TestTouchesRemote proves that touches of a remote repository equal those of the local one,
// and that a server with filters sends no files.
func TestTouchesRemote(t *testing.T) {
	t.Parallel()
	for name, tc := range serverConfigs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			g.run("", append([]string{"config"}, tc.config...)...)
			hashes, names := randomHistory(g, 7, 40)
			hub, cache := newGitServer(t, g), t.TempDir()
			for _, limit := range []int{5, 500} {
				cached := open(t, gitrepo.Settings{URL: hub.URL + "/r.git", CacheDir: cache, History: limit})
				// Forwards, back, and to another branch.
				for _, i := range []int{20, 24, 22, 39, 12} {
					g.run("", "update-ref", "refs/heads/main", hashes[i])
					want := touches(t, local(t, g, limit), "main", names...)
					for way, r := range map[string]*gitrepo.Repository{
						"remembering": cached,
						"same clone":  open(t, gitrepo.Settings{URL: hub.URL + "/r.git", CacheDir: cache, History: limit}),
						"new clone":   open(t, gitrepo.Settings{URL: hub.URL + "/r.git", CacheDir: t.TempDir(), History: limit}),
					} {
						if diff := cmp.Diff(want, touches(t, r, "main", names...), cmp.AllowUnexported(gitrepo.Touch{})); diff != "" {
							t.Fatalf("%s: %s, limit %d, commit %d (-local +remote):\n%s", tc.reason, way, limit, i, diff)
						}
					}
				}
			}
			bodies, _ := hub.requested()
			if got := strings.Contains(strings.Join(bodies, ""), "filter blob:none"); got != tc.filters {
				t.Errorf("%s: requested a filter: %v", tc.reason, got)
			}
		})
	}
}

// TestHistoryTransfer proves that the history is fetched once, then only new commits, and that
// the first reading of files does not wait for it.
func TestHistoryTransfer(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.run("", "config", "uploadpack.allowFilter", "true")
	steps := []step{{files: map[string]string{"a": "1", "b": "1"}}}
	for i := range 60 {
		steps = append(steps, step{files: map[string]string{"a": strings.Repeat(fmt.Sprint(i, " "), 10_000)}})
	}
	hashes := g.commit(steps...)
	hub := newGitServer(t, g)
	s := gitrepo.Settings{URL: hub.URL + "/r.git", CacheDir: t.TempDir(), History: 50}
	fetch := func(at string, r *gitrepo.Repository) (requests, sent int) {
		t.Helper()
		g.run("", "update-ref", "refs/heads/main", at)
		hub.requested()
		if got := touches(t, r, "main", "a"); got["a"].Commit != at {
			t.Fatalf("got %v", got)
		}
		bodies, sent := hub.requested()
		return len(bodies), sent
	}
	r := open(t, s)
	if requests, sent := fetch(hashes[50], r); requests != 2 || sent > 40_000 {
		t.Errorf("first: %d requests, %d bytes", requests, sent)
	}
	if requests, sent := fetch(hashes[50], r); requests != 0 {
		t.Errorf("again: %d requests, %d bytes", requests, sent)
	}
	if requests, sent := fetch(hashes[50], open(t, s)); requests != 0 {
		t.Errorf("after a restart: %d requests, %d bytes", requests, sent)
	}
	if requests, sent := fetch(hashes[51], r); requests != 2 || sent > 4_000 {
		t.Errorf("one commit later: %d requests, %d bytes", requests, sent)
	}
}

// TestLargeFileInHistory proves that a large file in an old commit does not fail the reading,
// with and without filters.
func TestLargeFileInHistory(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	hashes := g.commit(step{files: map[string]string{"a": "1", "big": strings.Repeat("0", 65<<20)}}, step{files: map[string]string{"a": "1", "big": "0"}})
	for _, filter := range []string{"true", "false"} {
		g.run("", "config", "uploadpack.allowFilter", filter)
		r := open(t, gitrepo.Settings{URL: newGitServer(t, g).URL + "/r.git", CacheDir: t.TempDir(), History: 10})
		if got := touches(t, r, "main", "a")["a"].Commit; got != hashes[0] {
			t.Errorf("filter %s: commit %q, want %s", filter, got, hashes[0])
		}
	}
}

// TestTouchesOfTag fetches the history of a tag. Servers do not serve its commit by hash.
func TestTouchesOfTag(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	hashes := g.commit(step{author: alice, files: map[string]string{"a": "1"}}, step{author: bob, files: map[string]string{"b": "1"}}, step{author: carol, files: map[string]string{"a": "2"}})
	g.run("", "-c", "user.name=t", "-c", "user.email=t", "tag", "-a", "-m", "v1", "v1", hashes[1])
	r := open(t, gitrepo.Settings{URL: newGitServer(t, g).URL + "/r.git", CacheDir: t.TempDir(), History: 10})
	if got := touches(t, r, "v1", "a", "b"); got["a"].Author != "Alice" || got["b"].Author != "Bob" {
		t.Errorf("got %v", got)
	}
}

// TestTouchesWithoutDepth has a server without shallow clones: the clone itself has the
// history.
func TestTouchesWithoutDepth(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	first := o.commit(map[string]string{"a.yaml": "1", "b.yaml": "1"})
	o.commit(map[string]string{"b.yaml": "2"})
	h := newHub(t, o)
	for _, dir := range []string{t.TempDir(), ""} {
		s := h.settings(dir)
		s.History = 10
		if got := touches(t, open(t, s), "", "a.yaml"); got["a.yaml"].Commit != first.String() {
			t.Errorf("in %q: got %v", dir, got)
		}
	}
}

// TestHistoryFails proves that a failure to fetch the history does not fail the declaration,
// is logged as a warning once, and is retried after a pause.
func TestHistoryFails(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.commit(step{files: map[string]string{"a": "1"}}, step{files: map[string]string{"b": "1"}})
	hub := newGitServer(t, g)
	hub.set(func(h *gitServer) { h.broken = true })
	var log bytes.Buffer
	r := open(t, gitrepo.Settings{URL: hub.URL + "/r.git", CacheDir: t.TempDir(), History: 10, Log: logTo(&log)})
	read := func() (found int) {
		t.Helper()
		err := r.Read(t.Context(), "", func(c gitrepo.Commit) error {
			found = len(c.Touches(t.Context(), []string{"a"}))
			content, err := fs.ReadFile(c.Files, "a")
			if string(content) != "1" {
				t.Errorf("the file is %q", content)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for range 20 {
		if read() != 0 {
			t.Error("a touch was returned")
		}
	}
	if bodies, _ := hub.requested(); len(bodies) != 5 {
		t.Errorf("%d requests, want one for the commit and 4 for history", len(bodies))
	}
	if diff := cmp.Diff(map[string]int{"WARN": 1, "DEBUG": 3}, lines(&log)); diff != "" {
		t.Errorf("lines of the log (-want +got):\n%s%s", diff, log.String())
	}
	hub.set(func(h *gitServer) { h.broken = false })
	found := 0
	for range 70 {
		found += read()
	}
	if found == 0 {
		t.Error("no touch was returned after the server recovered")
	}
}

// TestShallowRemote proves that the first commit of a shallow remote is not reported as the
// touch of every file.
func TestShallowRemote(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.commit(step{files: map[string]string{"a": "1"}}, step{files: map[string]string{"b": "1"}}, step{author: carol, files: map[string]string{"c": "1"}})
	shallow := gitFolder{t, t.TempDir()}
	shallow.run("", "clone", "-q", "--depth", "2", "file://"+g.dir, ".")
	for way, r := range map[string]*gitrepo.Repository{
		"local":  local(t, shallow, 10),
		"remote": open(t, gitrepo.Settings{URL: newGitServer(t, shallow).URL + "/r.git", CacheDir: t.TempDir(), History: 10}),
	} {
		got := touches(t, r, "main", "a", "b", "c")
		if len(got) != 1 || got["c"].Author != "Carol" {
			t.Errorf("%s: got %v", way, got)
		}
	}
}

// TestDamagedHistory proves that a damaged clone of the history is created again.
func TestDamagedHistory(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"objects/pack/*.pack", "objects/pack/*.idx", "shallow"} {
		g := newGit(t)
		hashes := g.commit(step{files: map[string]string{"a": "1"}}, step{files: map[string]string{"b": "1"}}, step{files: map[string]string{"b": "2"}})
		cache := t.TempDir()
		s := gitrepo.Settings{URL: newGitServer(t, g).URL + "/r.git", CacheDir: cache, History: 1}
		touches(t, open(t, s), "main", "b")
		truncate(t, glob(t, cache, "*.history")[0], pattern)
		if got := touches(t, open(t, s), "main", "b"); got["b"].Commit != hashes[2] {
			t.Errorf("%s: got %v", pattern, got)
		}
	}
}

// TestTouchesCanceled proves that Touches ends with its context.
func TestTouchesCanceled(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.commit(step{files: map[string]string{"a": "1"}})
	var log bytes.Buffer
	r := open(t, gitrepo.Settings{URL: g.dir, History: 10, Log: logTo(&log)})
	err := r.Read(t.Context(), "", func(c gitrepo.Commit) error {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got := c.Touches(ctx, []string{"a"}); len(got) > 0 {
			return fmt.Errorf("got touches %v", got)
		}
		return errors.New("error of read")
	})
	if err == nil || err.Error() != "error of read" {
		t.Errorf("got %v, want the error of read", err)
	}
}

// BenchmarkTouches reads the touches of 10,000 files in 5,000 commits.
func BenchmarkTouches(b *testing.B) {
	for name, flat := range map[string]bool{"folders": false, "one folder": true} {
		var names []string
		for i := range 10_000 {
			folder := fmt.Sprintf("clusters/c%02d/team%02d/", i%10, i/10%20)
			if flat {
				folder = ""
			}
			names = append(names, fmt.Sprintf("%sapp-%05d.yaml", folder, i))
		}
		first := step{files: map[string]string{}}
		for i, name := range names {
			first.files[name] = fmt.Sprint(i)
		}
		steps := []step{first}
		for i := range 5_000 {
			steps = append(steps, step{files: map[string]string{names[i*7919%10_000]: fmt.Sprint("again ", i), names[i*104729%10_000]: fmt.Sprint("too ", i)}})
		}
		g := newGit(b)
		hashes := g.commit(steps...)
		g.run("", "repack", "-adq")
		for _, limit := range []int{500, 10_000} {
			b.Run(fmt.Sprintf("%s/%d/first", name, limit), func(b *testing.B) {
				for b.Loop() {
					touches(b, local(b, g, limit), "main", names...)
				}
			})
			b.Run(fmt.Sprintf("%s/%d/one commit later", name, limit), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					r := local(b, g, limit)
					touches(b, r, hashes[len(hashes)-2], names...)
					b.StartTimer()
					touches(b, r, "main", names...)
				}
			})
		}
	}
}

func TestReadingCreatesNoFiles(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.commit(step{files: map[string]string{"a": "1"}})
	before := glob(t, g.dir, ".git/*")
	touches(t, local(t, g, 10), "main", "a")
	if diff := cmp.Diff(before, glob(t, g.dir, ".git/*")); diff != "" {
		t.Errorf("reading created files (-before +after):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(g.dir, ".git", "index")); err == nil {
		t.Error("reading created an index")
	}
}
