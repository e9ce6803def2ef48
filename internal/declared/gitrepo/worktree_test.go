package gitrepo_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

func TestWorkTree(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.commit(
		step{author: alice, files: map[string]string{"deploy/a.yaml": "1", "deploy/b.yaml": "1", "deploy/c.yaml": "1", "deploy/d.yaml": "1", "base.yaml": "1"}},
		step{author: bob, files: map[string]string{"deploy/b.yaml": "2", "deploy/c.yaml": "22"}},
	)
	g.run("", "checkout", "-q", "-f", "main")
	dir := filepath.Join(g.dir, "deploy")
	writeAll(t, map[string]string{
		filepath.Join(dir, "c.yaml"): "33", filepath.Join(dir, "staged.yaml"): "1", filepath.Join(dir, "new.yaml"): "1",
		filepath.Join(g.dir, "elsewhere"): "1",
	})
	g.run("", "add", "deploy/staged.yaml")
	if err := os.Remove(filepath.Join(dir, "d.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../elsewhere", filepath.Join(dir, "d.yaml")); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(t.TempDir(), "linked")
	if err := os.Symlink(dir, linked); err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(t.TempDir(), "second")
	g.run("", "worktree", "add", "-q", "--detach", second, "main~1")
	names := []string{"a.yaml", "b.yaml", "c.yaml", "d.yaml", "staged.yaml", "new.yaml", "gone.yaml", "../base.yaml", "../../x", "/x", "."}
	cases := map[string]struct {
		reason, dir string
		names       []string
		want        map[string]string
	}{
		"Folder": {"only unchanged files", dir, names, map[string]string{"a.yaml": "Alice", "b.yaml": "Bob", "../base.yaml": "Alice"}},
		"Linked": {"a symbolic link to the folder", linked, names, map[string]string{"a.yaml": "Alice", "b.yaml": "Bob", "../base.yaml": "Alice"}},
		"Second": {"another work tree, of an older commit", filepath.Join(second, "deploy"), names, map[string]string{
			"a.yaml": "Alice", "b.yaml": "Alice", "c.yaml": "Alice", "d.yaml": "Alice", "../base.yaml": "Alice",
		}},
		"Outside": {"a folder in no work tree", t.TempDir(), []string{"a.yaml"}, map[string]string{}},
		"Gone":    {"a folder that is gone", filepath.Join(dir, "gone"), []string{"a.yaml"}, map[string]string{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			w := gitrepo.NewWorkTree(gitrepo.Lookback{Commits: 10}, logTo(&log))
			for range 2 {
				got := map[string]string{}
				for name, touch := range w.Touches(t.Context(), tc.dir, tc.names) {
					got[name] = touch.Author
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			}
			if levels := lines(&log); name != "Gone" && len(levels) > 0 || name == "Gone" && levels["WARN"] != 1 {
				t.Errorf("%s: log: %s", tc.reason, log.String())
			}
		})
	}
}

// TestWorkTreeChanges proves that new commits and edits take effect at the next call.
func TestWorkTreeChanges(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	w := gitrepo.NewWorkTree(gitrepo.Lookback{Commits: 10}, logTo(&bytes.Buffer{}))
	expect := func(want string) {
		t.Helper()
		if got := w.Touches(t.Context(), o.dir, []string{"a.yaml"})["a.yaml"].Commit; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	file := filepath.Join(o.dir, "a.yaml")
	writeAll(t, map[string]string{file: "1"})
	expect("")
	first := o.commit(map[string]string{"a.yaml": "1"})
	expect(first.String())
	writeAll(t, map[string]string{file: "2"})
	expect("")
	expect("")
	second := o.commit(map[string]string{"a.yaml": "2"})
	expect(second.String())
	writeAll(t, map[string]string{file: "1"})
	expect("")
}

// TestBrokenWorkTree proves that a repository that cannot be read is logged as a warning once.
func TestBrokenWorkTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeAll(t, map[string]string{filepath.Join(dir, ".git"): "no repository", filepath.Join(dir, "a.yaml"): "1"})
	var log bytes.Buffer
	w := gitrepo.NewWorkTree(gitrepo.Lookback{Commits: 10}, logTo(&log))
	for range 3 {
		if got := w.Touches(t.Context(), dir, []string{"a.yaml"}); len(got) > 0 {
			t.Errorf("got %v", got)
		}
	}
	if diff := cmp.Diff(map[string]int{"WARN": 1, "DEBUG": 2}, lines(&log)); diff != "" {
		t.Errorf("lines of the log (-want +got):\n%s%s", diff, log.String())
	}
}
