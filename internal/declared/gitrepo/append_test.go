package gitrepo_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/gitrepo/gittest"
)

func change(content string) gitrepo.Change {
	return gitrepo.Change{
		Branch: "heads", File: "logs/a/checkpoint", Content: []byte(content), Message: "head " + content,
		Author: "driftd", Email: "driftd@localhost", When: time.Unix(1_700_000_000, 0),
	}
}

// remotes returns the ways to reach a repository.
func remotes(t *testing.T, g *gittest.Repository) map[string]gitrepo.Settings {
	log := slog.New(slog.DiscardHandler)
	return map[string]gitrepo.Settings{
		"https":       {URL: g.URL, Username: "git", CAFile: g.CAFile, Log: log},
		"https cache": {URL: g.URL, Username: "git", CAFile: g.CAFile, CacheDir: t.TempDir(), Log: log},
		"file":        {URL: "file://" + g.Dir, Log: log},
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	for name := range remotes(t, gittest.New(t)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			r := open(t, remotes(t, g)[name])
			add := func(content string) {
				t.Helper()
				if err := r.Append(t.Context(), change(content)); err != nil {
					t.Fatal(err)
				}
			}
			add("1")
			add("2")
			add("2")
			g.Commit("heads", "logs/b", "x")
			g.Commit("heads", "README", "x")
			add("3")
			if got, want := g.Git("log", "--format=%an <%ae> %cn %ct %s", "heads"), strings.Join([]string{
				"driftd <driftd@localhost> driftd 1700000000 head 3", "c <c@example.org> c 1600000000 other", "c <c@example.org> c 1600000000 other",
				"driftd <driftd@localhost> driftd 1700000000 head 2", "driftd <driftd@localhost> driftd 1700000000 head 1",
			}, "\n"); got != want {
				t.Errorf("commits\n%s\nwant\n%s", got, want)
			}
			if got := g.Git("ls-tree", "-r", "--name-only", "heads"); got != "README\nlogs/a/checkpoint\nlogs/b" {
				t.Errorf("files\n%s", got)
			}
			if got := g.Git("show", "heads:logs/a/checkpoint"); got != "3" {
				t.Errorf("content %q", got)
			}
			g.Git("fsck", "--strict")
			g.Commit("main", "a", "b")
			other := change("4")
			other.Branch = "new"
			if err := r.Append(t.Context(), other); err != nil {
				t.Fatal(err)
			}
			if got := g.Git("rev-list", "--count", "new"); got != "1" {
				t.Errorf("a new branch has %s commits", got)
			}
		})
	}
}

// TestAppendMoves checks that commits which others push at the same time stay.
func TestAppendMoves(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		moves int32
		want  string
	}{"once": {1, ""}, "always": {99, "other commits were pushed at the same time"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			g.Commit("heads", "a", "b")
			var pushes atomic.Int32
			g.Before(func(r *http.Request) {
				if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "git-receive-pack") && pushes.Add(1) <= test.moves {
					g.Commit("heads", "a", time.Now().String())
				}
			})
			err := open(t, remotes(t, g)["https cache"]).Append(t.Context(), change("1"))
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			want := map[bool]string{true: "1", false: "0"}[err == nil]
			if got := g.Git("rev-list", "--count", "--author=driftd", "heads"); got != want {
				t.Errorf("%s commits of driftd, want %s", got, want)
			}
			if n := pushes.Load(); n != min(test.moves+1, 4) {
				t.Errorf("%d pushes", n)
			}
			if got := g.Git("rev-list", "--count", "--author=c@example.org", "heads"); got != map[bool]string{true: "2", false: "5"}[err == nil] {
				t.Errorf("%s commits of others", got)
			}
		})
	}
}

func TestAppendRefused(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t"
	for name, test := range map[string]struct {
		reason string
		change func(*gittest.Repository, *gitrepo.Settings, *gitrepo.Change)
		want   string
	}{
		"hook": {"the server protects the branch", func(g *gittest.Repository, _ *gitrepo.Settings, _ *gitrepo.Change) {
			g.Hook("pre-receive", "exit 1")
		}, "rejected: pre-receive hook declined; check the protection of the branch"},
		"token": {"the token is wrong", func(g *gittest.Repository, s *gitrepo.Settings, _ *gitrepo.Change) {
			g.Require("another")
			s.TokenFile = filepath.Join(t.TempDir(), "token")
			writeAll(t, map[string]string{s.TokenFile: secret})
		}, "authentication required"},
		"folder": {"the file is a folder on the branch", func(g *gittest.Repository, _ *gitrepo.Settings, _ *gitrepo.Change) {
			g.Commit("heads", "logs/a/checkpoint/x", "b")
		}, "checkpoint is a file and a folder on the branch"},
		"file": {"the folder is a file on the branch", func(g *gittest.Repository, _ *gitrepo.Settings, _ *gitrepo.Change) {
			g.Commit("heads", "logs", "b")
		}, "logs is a file and a folder on the branch"},
		"path": {"the path leads out", func(_ *gittest.Repository, _ *gitrepo.Settings, c *gitrepo.Change) { c.File = "../x" }, "not a path in a repository"},
		"absent": {"there is no such repository", func(_ *gittest.Repository, s *gitrepo.Settings, _ *gitrepo.Change) {
			s.URL += "x"
		}, "repository not found"},
		"local": {"there is no such folder", func(g *gittest.Repository, s *gitrepo.Settings, _ *gitrepo.Change) {
			s.URL = g.Dir + "x"
		}, "repository does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			s, c := remotes(t, g)["https"], change("1")
			test.change(g, &s, &c)
			err := open(t, s).Append(t.Context(), c)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: error %v, want %q", test.reason, err, test.want)
			}
			if err != nil && !strings.Contains(err.Error(), "push to branch heads of "+strings.TrimPrefix(s.URL, "file://")) {
				t.Errorf("the error does not name the branch: %v", err)
			}
		})
	}
}

// TestAppendHangs checks that a push ends with its context.
func TestAppendHangs(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{"/info/refs", "git-receive-pack", "git-upload-pack"} {
		t.Run(filepath.Base(stage), func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			g.Commit("heads", "a", "b")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			g.Before(func(r *http.Request) {
				if strings.HasSuffix(r.URL.Path, stage) {
					// Only then the server notices that the client is gone.
					_, _ = io.Copy(io.Discard, r.Body)
					cancel()
					<-r.Context().Done()
				}
			})
			if err := open(t, remotes(t, g)["https"]).Append(ctx, change("1")); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestHistoryOnly checks that other branches are left out on request.
func TestHistoryOnly(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	g.Commit("main", "a", "b")
	for name, s := range remotes(t, g) {
		s.History = 10
		r := open(t, s)
		for _, content := range []string{"1", "2"} {
			if err := r.Append(t.Context(), change(name+content)); err != nil {
				t.Fatal(err)
			}
		}
		for only, branches := range map[bool]int{true: 0, false: 1} {
			q := gitrepo.Query{Ref: "refs/heads/heads", MaxFile: 1000, Only: only, Revision: g.Git("rev-parse", "heads")}
			called := false
			_, err := r.History(t.Context(), q, func(l gitrepo.Log) error {
				called = true
				if len(l.Branches) != branches || len(l.Ref.Commits) < 2 || l.Gap != "" {
					t.Errorf("%s: %d branches, %d commits, gap %q", name, len(l.Branches), len(l.Ref.Commits), l.Gap)
				}
				return nil
			})
			if err != nil || !called {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
