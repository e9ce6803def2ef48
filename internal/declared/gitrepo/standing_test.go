package gitrepo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

func isYAML(name string) bool { return filepath.Ext(name) == ".yaml" }

// cloneOf returns a clone of an origin with a commit, made by git.
func cloneOf(t *testing.T) (origin, clone gitFolder) {
	t.Helper()
	origin, clone = newGit(t), gitFolder{t, t.TempDir()}
	writeAll(t, map[string]string{
		filepath.Join(origin.dir, "deploy/a.yaml"): "a\n", filepath.Join(origin.dir, "deploy/b.yaml"): "b\n", filepath.Join(origin.dir, "other.yaml"): "o\n",
		filepath.Join(origin.dir, ".gitignore"): "*.log.yaml\n/out\n", filepath.Join(origin.dir, "deploy/.gitignore"): "!kept.log.yaml\n",
	})
	commitAll(origin, "first")
	clone.run("", "clone", "-q", origin.dir, ".")
	return origin, clone
}

func commitAll(g gitFolder, message string) {
	g.t.Helper()
	g.run("", "add", "-A")
	g.run("", "-c", "user.name=c", "-c", "user.email=c@example.org", "commit", "-q", "-m", message)
}

func standing(t *testing.T, dir string) *gitrepo.Standing {
	t.Helper()
	s, err := gitrepo.StandingOf(t.Context(), dir, isYAML)
	if err != nil || s == nil {
		t.Fatalf("%v, %v", s, err)
	}
	if len(s.Gaps) > 0 {
		t.Errorf("gaps: %q", s.Gaps)
	}
	return s
}

// TestStandingChanged compares the changed files with those that git lists.
func TestStandingChanged(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(g gitFolder)
		want   []string
	}{
		"Clean":     {"a fresh clone", func(gitFolder) {}, nil},
		"Touched":   {"a file with another time only", func(g gitFolder) { writeAll(t, map[string]string{filepath.Join(g.dir, "deploy/a.yaml"): "a\n"}) }, nil},
		"Edited":    {"an edit of the same size", func(g gitFolder) { writeAll(t, map[string]string{filepath.Join(g.dir, "deploy/a.yaml"): "A\n"}) }, []string{"deploy/a.yaml"}},
		"Line ends": {"other ends of lines", func(g gitFolder) { writeAll(t, map[string]string{filepath.Join(g.dir, "deploy/a.yaml"): "a\r\n"}) }, nil},
		"Removed":   {"a removed file", func(g gitFolder) { _ = os.Remove(filepath.Join(g.dir, "deploy/a.yaml")) }, []string{"deploy/a.yaml"}},
		"Unstaged":  {"a file removed from the index only", func(g gitFolder) { g.run("", "rm", "-q", "--cached", "deploy/a.yaml") }, []string{"deploy/a.yaml"}},
		"Elsewhere": {"a change outside of the folder", func(g gitFolder) { writeAll(t, map[string]string{filepath.Join(g.dir, "other.yaml"): "x"}) }, nil},
		"New": {"new files: one that is declared, and others", func(g gitFolder) {
			writeAll(t, map[string]string{filepath.Join(g.dir, "deploy/n.yaml"): "x", filepath.Join(g.dir, "deploy/notes.txt"): "x",
				filepath.Join(g.dir, "deploy/x.log.yaml"): "x", filepath.Join(g.dir, "deploy/kept.log.yaml"): "x"})
		}, []string{"deploy/kept.log.yaml", "deploy/n.yaml"}},
		"Staged": {"a staged file", func(g gitFolder) {
			writeAll(t, map[string]string{filepath.Join(g.dir, "deploy/n.yaml"): "x"})
			g.run("", "add", "deploy/n.yaml")
		}, []string{"deploy/n.yaml"}},
		"Linked": {"a file replaced by a link to an equal one", func(g gitFolder) {
			_ = os.Remove(filepath.Join(g.dir, "deploy/a.yaml"))
			_ = os.Symlink("b.yaml", filepath.Join(g.dir, "deploy/a.yaml"))
		}, []string{"deploy/a.yaml"}},
		"Repository": {"another repository in the folder", func(g gitFolder) {
			g.run("", "init", "-q", "deploy/sub")
			writeAll(t, map[string]string{filepath.Join(g.dir, "deploy/sub/n.yaml"): "x"})
		}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, g := cloneOf(t)
			tc.change(g)
			s := standing(t, filepath.Join(g.dir, "deploy"))
			if diff := cmp.Diff(tc.want, s.Changed); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if s.Ahead || s.Behind || s.Upstream != "origin/main" {
				t.Errorf("%+v", s)
			}
			if !s.IsTracked("deploy/b.yaml") || s.IsTracked("deploy/x.log.yaml") {
				t.Error("tracked files are wrong")
			}
		})
	}
}

// TestStandingBranches compares HEAD with the remote.
func TestStandingBranches(t *testing.T) {
	t.Parallel()
	ahead := func(g gitFolder) {
		writeAll(t, map[string]string{filepath.Join(g.dir, "deploy/a.yaml"): "2\n"})
		commitAll(g, "own")
	}
	fetched := func(origin, g gitFolder) {
		writeAll(t, map[string]string{filepath.Join(origin.dir, "deploy/b.yaml"): "2\n"})
		commitAll(origin, "theirs")
		g.run("", "fetch", "-q")
	}
	cases := map[string]struct {
		reason        string
		change        func(origin, g gitFolder)
		ahead, behind bool
		upstream      string
		newer         string
	}{
		"Equal":    {"a fresh clone", func(_, _ gitFolder) {}, false, false, "origin/main", ""},
		"Ahead":    {"an unpushed commit", func(_, g gitFolder) { ahead(g) }, true, false, "origin/main", ""},
		"Behind":   {"a fetched commit", fetched, false, true, "origin/main", ""},
		"Diverged": {"one of each", func(o, g gitFolder) { ahead(g); fetched(o, g) }, true, true, "origin/main", ""},
		"Branch":   {"a new branch at a pushed commit", func(_, g gitFolder) { g.run("", "checkout", "-q", "-b", "new") }, false, false, "", ""},
		"Unpushed": {"a new branch with a commit", func(_, g gitFolder) { g.run("", "checkout", "-q", "-b", "new"); ahead(g) }, true, false, "", ""},
		"Stale":    {"a branch without the newest commits", func(o, g gitFolder) { g.run("", "checkout", "-q", "-b", "new"); fetched(o, g) }, false, false, "", "origin/main"},
		"Detached": {"a commit without a branch, as in a pipeline", func(_, g gitFolder) { g.run("", "checkout", "-q", "--detach"); ahead(g) }, false, false, "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin, g := cloneOf(t)
			tc.change(origin, g)
			s := standing(t, g.dir)
			if s.Ahead != tc.ahead || s.Behind != tc.behind || s.Upstream != tc.upstream || s.Default != tc.newer || len(s.Changed) > 0 {
				t.Errorf("%s: %+v", tc.reason, s)
			}
			if s.Head.IsZero() {
				t.Error("no time of HEAD")
			}
		})
	}
}

// TestStandingShallow checks that a clone without the history reports what it cannot compare.
func TestStandingShallow(t *testing.T) {
	t.Parallel()
	origin, _ := cloneOf(t)
	for range 3 {
		writeAll(t, map[string]string{filepath.Join(origin.dir, "deploy/a.yaml"): strings.Repeat("x", 1+len(origin.run("", "log", "--oneline")))})
		commitAll(origin, "more")
	}
	g := gitFolder{t, t.TempDir()}
	g.run("", "clone", "-q", "--depth", "1", "file://"+origin.dir, ".")
	if s := standing(t, g.dir); s.Ahead || s.Behind {
		t.Errorf("%+v", s)
	}
	for _, text := range []string{"newer", "newest"} {
		writeAll(t, map[string]string{filepath.Join(origin.dir, "deploy/b.yaml"): text})
		commitAll(origin, text)
	}
	g.run("", "fetch", "-q", "--depth", "1")
	s, err := gitrepo.StandingOf(t.Context(), g.dir, isYAML)
	if err != nil || len(s.Gaps) != 1 || s.Ahead || s.Behind {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestStandingNone checks folders without a commit.
func TestStandingNone(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{t.TempDir(), newGit(t).dir} {
		if s, err := gitrepo.StandingOf(t.Context(), dir, isYAML); s != nil || err != nil {
			t.Errorf("%s: %+v, %v", dir, s, err)
		}
	}
}
