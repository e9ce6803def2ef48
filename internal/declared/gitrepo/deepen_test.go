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

// A gitServer is a git server with some abilities, which its configuration gives it.
type gitServer struct {
	reason  string
	config  []string
	filters bool
}

// gitServers returns the git servers that a fetch has to work with.
func gitServers() map[string]gitServer {
	return map[string]gitServer{
		"Filter":  {"a server that can leave files out", []string{"uploadpack.allowFilter", "true"}, true},
		"Plain":   {"one that cannot", []string{"uploadpack.allowFilter", "false"}, false},
		"By hash": {"one that gives out any commit", []string{"uploadpack.allowAnySHA1InWant", "true"}, false},
	}
}

// TestAfar proves that a repository somewhere else is told of like one on this
// machine, whatever its server can do and whatever happened to it since, and
// that the history brings no files where the server can leave them out.
func TestAfar(t *testing.T) {
	t.Parallel()
	for name, tc := range gitServers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			g.run("", append([]string{"config"}, tc.config...)...)
			hashes, names := randomHistory(g, 7, 40)
			hub, cache := newRealHub(t, g), t.TempDir()
			for _, limit := range []int{5, 500} {
				remembering := open(t, gitrepo.Settings{URL: hub.URL + "/r.git", CacheDir: cache, History: limit})
				// Forwards, back, and to another branch.
				for _, i := range []int{20, 24, 22, 39, 12} {
					g.run("", "update-ref", "refs/heads/main", hashes[i])
					want := touches(t, local(t, g, limit), "main", names...)
					for way, r := range map[string]*gitrepo.Repository{
						"remembering": remembering,
						"same clone":  open(t, gitrepo.Settings{URL: hub.URL + "/r.git", CacheDir: cache, History: limit}),
						"new clone":   open(t, gitrepo.Settings{URL: hub.URL + "/r.git", CacheDir: t.TempDir(), History: limit}),
					} {
						if diff := cmp.Diff(want, touches(t, r, "main", names...), cmp.AllowUnexported(gitrepo.Touch{})); diff != "" {
							t.Fatalf("%s: %s, limit %d, commit %d (-local +afar):\n%s", tc.reason, way, limit, i, diff)
						}
					}
				}
			}
			bodies, _ := hub.asked()
			if got := strings.Contains(strings.Join(bodies, ""), "filter blob:none"); got != tc.filters {
				t.Errorf("%s: it asked to leave files out: %v", tc.reason, got)
			}
		})
	}
}

// TestAfarCosts proves that history is fetched once, then only what is new, and
// that the files of the first reading wait for none of it.
func TestAfarCosts(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.run("", "config", "uploadpack.allowFilter", "true")
	steps := []step{{files: map[string]string{"a": "1", "b": "1"}}}
	for i := range 60 {
		steps = append(steps, step{files: map[string]string{"a": strings.Repeat(fmt.Sprint(i, " "), 10_000)}})
	}
	hashes := g.commit(steps...)
	hub := newRealHub(t, g)
	s := gitrepo.Settings{URL: hub.URL + "/r.git", CacheDir: t.TempDir(), History: 50}
	look := func(at string, r *gitrepo.Repository) (requests, sent int) {
		t.Helper()
		g.run("", "update-ref", "refs/heads/main", at)
		hub.asked()
		if got := touches(t, r, "main", "a"); got["a"].Commit != at {
			t.Fatalf("got %v", got)
		}
		bodies, sent := hub.asked()
		return len(bodies), sent
	}
	r := open(t, s)
	if requests, sent := look(hashes[50], r); requests != 2 || sent > 40_000 {
		t.Errorf("at first: %d requests, %d bytes", requests, sent)
	}
	if requests, sent := look(hashes[50], r); requests != 0 {
		t.Errorf("again: %d requests, %d bytes", requests, sent)
	}
	if requests, sent := look(hashes[50], open(t, s)); requests != 0 {
		t.Errorf("after a restart: %d requests, %d bytes", requests, sent)
	}
	if requests, sent := look(hashes[51], r); requests != 2 || sent > 4_000 {
		t.Errorf("one commit later: %d requests, %d bytes", requests, sent)
	}
}

// TestLargeFileInHistory proves that a large file that was there once costs nothing,
// whether the server sends it or not.
func TestLargeFileInHistory(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	hashes := g.commit(step{files: map[string]string{"a": "1", "big": strings.Repeat("0", 65<<20)}}, step{files: map[string]string{"a": "1", "big": "0"}})
	for _, filter := range []string{"true", "false"} {
		g.run("", "config", "uploadpack.allowFilter", filter)
		r := open(t, gitrepo.Settings{URL: newRealHub(t, g).URL + "/r.git", CacheDir: t.TempDir(), History: 10})
		if got := touches(t, r, "main", "a")["a"].Commit; got != hashes[0] {
			t.Errorf("filter %s: commit %q, want %s", filter, got, hashes[0])
		}
	}
}

// TestTagged proves that the history of a tag can be fetched, which stands for a
// commit that servers do not give out by itself.
func TestTagged(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	hashes := g.commit(step{who: alice, files: map[string]string{"a": "1"}}, step{who: bob, files: map[string]string{"b": "1"}}, step{who: carol, files: map[string]string{"a": "2"}})
	g.run("", "-c", "user.name=t", "-c", "user.email=t", "tag", "-a", "-m", "v1", "v1", hashes[1])
	r := open(t, gitrepo.Settings{URL: newRealHub(t, g).URL + "/r.git", CacheDir: t.TempDir(), History: 10})
	if got := touches(t, r, "v1", "a", "b"); got["a"].Author != "Alice" || got["b"].Author != "Bob" {
		t.Errorf("got %v", got)
	}
}

// TestWithoutDepth proves that a server that knows no shallow clones is told of
// as well: the clone itself has the history then.
func TestWithoutDepth(t *testing.T) {
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

// TestHistoryFails proves that a history that cannot be read takes nothing from
// the declaration, is said aloud once, and is not asked for each time.
func TestHistoryFails(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.commit(step{files: map[string]string{"a": "1"}}, step{files: map[string]string{"b": "1"}})
	hub := newRealHub(t, g)
	hub.set(func(h *realHub) { h.broken = true })
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
			t.Error("it was told")
		}
	}
	if bodies, _ := hub.asked(); len(bodies) != 5 {
		t.Errorf("%d requests, want one for the commit and 4 for history", len(bodies))
	}
	if diff := cmp.Diff(map[string]int{"WARN": 1, "DEBUG": 3}, lines(&log)); diff != "" {
		t.Errorf("lines of the log (-want +got):\n%s%s", diff, log.String())
	}
	hub.set(func(h *realHub) { h.broken = false })
	told := 0
	for range 70 {
		told += read()
	}
	if told == 0 {
		t.Error("it is never told again")
	}
}

// TestShallowAfar proves that the first commit of a remote that is shallow itself
// is not taken for who wrote everything.
func TestShallowAfar(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.commit(step{files: map[string]string{"a": "1"}}, step{files: map[string]string{"b": "1"}}, step{who: carol, files: map[string]string{"c": "1"}})
	shallow := gitFolder{t, t.TempDir()}
	shallow.run("", "clone", "-q", "--depth", "2", "file://"+g.dir, ".")
	for way, r := range map[string]*gitrepo.Repository{
		"local": local(t, shallow, 10),
		"afar":  open(t, gitrepo.Settings{URL: newRealHub(t, shallow).URL + "/r.git", CacheDir: t.TempDir(), History: 10}),
	} {
		got := touches(t, r, "main", "a", "b", "c")
		if len(got) != 1 || got["c"].Author != "Carol" {
			t.Errorf("%s: got %v", way, got)
		}
	}
}

// TestDamagedHistory proves that a history that was spoilt on disk is made anew.
func TestDamagedHistory(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"objects/pack/*.pack", "objects/pack/*.idx", "shallow"} {
		g := newGit(t)
		hashes := g.commit(step{files: map[string]string{"a": "1"}}, step{files: map[string]string{"b": "1"}}, step{files: map[string]string{"b": "2"}})
		cache := t.TempDir()
		s := gitrepo.Settings{URL: newRealHub(t, g).URL + "/r.git", CacheDir: cache, History: 1}
		touches(t, open(t, s), "main", "b")
		truncate(t, glob(t, cache, "*.history")[0], pattern)
		if got := touches(t, open(t, s), "main", "b"); got["b"].Commit != hashes[2] {
			t.Errorf("%s: got %v", pattern, got)
		}
	}
}

// TestHistoryInTime proves that looking for who did it ends with the reading.
func TestHistoryInTime(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.commit(step{files: map[string]string{"a": "1"}})
	var log bytes.Buffer
	r := open(t, gitrepo.Settings{URL: g.dir, History: 10, Log: logTo(&log)})
	err := r.Read(t.Context(), "", func(c gitrepo.Commit) error {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got := c.Touches(ctx, []string{"a"}); len(got) > 0 {
			return fmt.Errorf("told %v", got)
		}
		return errors.New("mine")
	})
	if err == nil || err.Error() != "mine" {
		t.Errorf("got %v, want the reader's own error", err)
	}
}

// BenchmarkTouches looks 10,000 files up in 5,000 commits.
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

func TestNothingLeft(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.commit(step{files: map[string]string{"a": "1"}})
	before := glob(t, g.dir, ".git/*")
	touches(t, local(t, g, 10), "main", "a")
	if diff := cmp.Diff(before, glob(t, g.dir, ".git/*")); diff != "" {
		t.Errorf("reading left something (-before +after):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(g.dir, ".git", "index")); err == nil {
		t.Error("reading made an index")
	}
}
