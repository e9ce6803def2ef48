package gitrepo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// newDeploy returns a repository with a folder of manifests, checked out on main.
func newDeploy(t *testing.T) gitFolder {
	t.Helper()
	g := newGit(t)
	g.commit(step{author: alice, files: map[string]string{"deploy/a.yaml": "1", "deploy/sub/b.yaml": "1", "top.yaml": "1"}})
	g.run("", "checkout", "-q", "-f", "main")
	g.run("", "config", "user.name", "Mara")
	g.run("", "config", "user.email", "mara@example.org")
	return g
}

func (g gitFolder) newBranch(name string) gitrepo.NewBranch {
	return gitrepo.NewBranch{Name: name, Message: "adopt\n", Dir: filepath.Join(g.dir, "deploy"), Checked: []string{"deploy"}, File: "deploy/sub/b.yaml", Content: []byte("2")}
}

func TestNewBranch(t *testing.T) {
	t.Parallel()
	g := newDeploy(t)
	g.run("", "config", "core.hooksPath", filepath.Join(g.dir, "hooks"))
	before := g.run("", "rev-parse", "HEAD", "main") + g.run("", "status", "--porcelain") + g.run("", "ls-files", "--stage")
	hash, err := g.newBranch("adopt/b").Create(time.Unix(1_800_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	if got := g.run("", "rev-parse", "adopt/b"); got != hash {
		t.Errorf("the branch is at %s, want %s", got, hash)
	}
	if got := g.run("", "diff", "--name-only", "main", "adopt/b"); got != "deploy/sub/b.yaml" {
		t.Errorf("the commit changes %q", got)
	}
	if got := g.run("", "log", "-1", "--format=%an %ae %at %P %s", "adopt/b"); got != "Mara mara@example.org 1800000000 "+g.run("", "rev-parse", "main")+" adopt" {
		t.Errorf("the commit is %q", got)
	}
	if got := g.run("", "show", "adopt/b:deploy/sub/b.yaml"); got != "2" {
		t.Errorf("the file has %q", got)
	}
	if after := g.run("", "rev-parse", "HEAD", "main") + g.run("", "status", "--porcelain") + g.run("", "ls-files", "--stage"); after != before {
		t.Errorf("HEAD, main, index or work tree changed: %q, before %q", after, before)
	}
	g.run("", "fsck", "--strict")
	if _, err := g.newBranch("adopt/b").Create(time.Unix(1_800_000_000, 0)); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("the branch was made again: %v", err)
	}
}

// TestNewBranchInAnotherWorkTree makes the branch in a linked work tree, whose .git is a file.
func TestNewBranchInAnotherWorkTree(t *testing.T) {
	t.Parallel()
	g := newDeploy(t)
	second := filepath.Join(t.TempDir(), "second")
	g.run("", "worktree", "add", "-q", "--detach", second, "main")
	b := g.newBranch("adopt")
	b.Dir = filepath.Join(second, "deploy")
	hash, err := b.Create(time.Unix(1_800_000_000, 0))
	if got := g.run("", "rev-parse", "adopt"); err != nil || got != hash {
		t.Errorf("got %s and %v, the branch is at %s", hash, err, got)
	}
}

func TestNewBranchRefuses(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		prepare func(t *testing.T, g gitFolder, b *gitrepo.NewBranch)
		want    string
	}{
		"the checked out branch": {func(_ *testing.T, _ gitFolder, b *gitrepo.NewBranch) { b.Name = "main" }, "branch main exists already"},
		"no branch's name":       {func(_ *testing.T, _ gitFolder, b *gitrepo.NewBranch) { b.Name = "a..b" }, `"a..b" is not the name of a branch`},
		"a changed file": {func(t *testing.T, g gitFolder, _ *gitrepo.NewBranch) {
			writeAll(t, map[string]string{filepath.Join(g.dir, "deploy", "a.yaml"): "9"})
		}, "deploy/a.yaml is not as in the last commit"},
		"an untracked file": {func(t *testing.T, g gitFolder, _ *gitrepo.NewBranch) {
			writeAll(t, map[string]string{filepath.Join(g.dir, "deploy", "new.yaml"): "9"})
		}, "deploy/new.yaml is not as in the last commit"},
		"a removed file": {func(t *testing.T, g gitFolder, _ *gitrepo.NewBranch) {
			if err := os.Remove(filepath.Join(g.dir, "deploy", "a.yaml")); err != nil {
				t.Fatal(err)
			}
		}, "deploy/a.yaml is not as in the last commit"},
		"a file elsewhere in the repository": {func(t *testing.T, g gitFolder, _ *gitrepo.NewBranch) {
			writeAll(t, map[string]string{filepath.Join(g.dir, "top.yaml"): "9"})
		}, ""},
		"a folder in no repository": {func(t *testing.T, _ gitFolder, b *gitrepo.NewBranch) {
			b.Dir = t.TempDir()
		}, "is in no git repository"},
		"a file that is gone": {func(_ *testing.T, _ gitFolder, b *gitrepo.NewBranch) { b.File += ".gone" }, "b.yaml.gone is not in the last commit"},
		"a file that does not count": {func(t *testing.T, g gitFolder, b *gitrepo.NewBranch) {
			writeAll(t, map[string]string{filepath.Join(g.dir, "deploy", "notes.txt"): "9"})
			b.Reads = func(file string) bool { return filepath.Ext(file) == ".yaml" }
		}, ""},
		"a file outside of the repository": {func(_ *testing.T, _ gitFolder, b *gitrepo.NewBranch) {
			b.Outside = func(string) string { return "/etc/motd" }
		}, "was checked with /etc/motd, which is not in the repository"},
		"another HEAD than the one that was checked": {func(_ *testing.T, g gitFolder, b *gitrepo.NewBranch) {
			b.Head = gitrepo.HeadOf(b.Dir)
			g.run("", "commit", "-q", "--allow-empty", "-m", "more")
		}, "HEAD is another commit now"},
		"the HEAD that was checked": {func(_ *testing.T, _ gitFolder, b *gitrepo.NewBranch) { b.Head = gitrepo.HeadOf(b.Dir) }, ""},
		"a link to a folder":        {func(t *testing.T, g gitFolder, _ *gitrepo.NewBranch) { link(t, g, "deploy/link", "sub") }, ""},
		"another link to a folder": {func(t *testing.T, g gitFolder, _ *gitrepo.NewBranch) {
			link(t, g, "deploy/link", "sub")
			if err := errors.Join(os.Remove(filepath.Join(g.dir, "deploy", "link")), os.Symlink("../other", filepath.Join(g.dir, "deploy", "link")), os.Mkdir(filepath.Join(g.dir, "other"), 0o700)); err != nil {
				t.Fatal(err)
			}
		}, "deploy/link is not as in the last commit"},
		"a link in the place of a file": {func(t *testing.T, g gitFolder, _ *gitrepo.NewBranch) {
			writeAll(t, map[string]string{filepath.Join(g.dir, "deploy", "link"): "sub"})
			g.run("", "add", "deploy/link")
			g.run("", "commit", "-q", "-m", "a file")
			if err := errors.Join(os.Remove(filepath.Join(g.dir, "deploy", "link")), os.Symlink("sub", filepath.Join(g.dir, "deploy", "link"))); err != nil {
				t.Fatal(err)
			}
		}, "deploy/link is not as in the last commit"},
		"an added file that exists": {func(_ *testing.T, _ gitFolder, b *gitrepo.NewBranch) { b.Added = true }, "b.yaml is in the last commit already"},
		"an unknown commit":         {func(_ *testing.T, _ gitFolder, b *gitrepo.NewBranch) { b.Parent = strings.Repeat("1", 40) }, "does not have commit 111111111111"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			g := newDeploy(t)
			b := g.newBranch("adopt")
			tc.prepare(t, g, &b)
			_, err := b.Create(time.Unix(1_800_000_000, 0))
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got %v, want %q", err, tc.want)
			case tc.want != "" && b.Name != "main" && g.run("", "branch", "--list", b.Name) != "":
				t.Error("the branch was made")
			}
		})
	}
}

// TestNewBranchName checks the names against the rules of git, with references in files and packed
// ones.
func TestNewBranchName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"main":                                  "branch main exists already",
		"main/x":                                "branch main exists, and git cannot have main/x then",
		"team":                                  "branch team/a exists, and git cannot have team then",
		"HEAD":                                  "is not the name of a branch",
		"refs/heads/q":                          "is not the name of a branch",
		strings.Repeat("1234567890", 4):         "is not the name of a branch",
		strings.Repeat("0aF1", 16):              "is not the name of a branch",
		"@{-1}":                                 "is not the name of a branch",
		"-x":                                    "is not the name of a branch",
		"a.lock":                                "is not the name of a branch",
		"a/.b":                                  "is not the name of a branch",
		"../../config":                          "is not the name of a branch",
		"a\x1b[31m":                             "is not the name of a branch",
		"a/":                                    "is not the name of a branch",
		"heads/main":                            "git reads \"heads/main\" as another object",
		"v1":                                    "git reads \"v1\" as another object",
		"origin/main":                           "git reads \"origin/main\" as another object",
		"adopt/b":                               "",
		"teams":                                 "",
		"ä":                                     "",
		"1234567890123456789012345678901234567": "",
	} {
		for _, packed := range []bool{false, true} {
			g := newDeploy(t)
			g.run("", "branch", "team/a")
			g.run("", "tag", "v1")
			g.run("", "update-ref", "refs/remotes/origin/main", "main")
			if packed {
				g.run("", "pack-refs", "--all")
			}
			before := g.run("", "for-each-ref")
			hash, err := g.newBranch(name).Create(time.Unix(1_800_000_000, 0))
			if want != "" && (err == nil || !strings.Contains(err.Error(), want) || g.run("", "for-each-ref") != before) {
				t.Errorf("%q, packed %v: got %v, want %q", name, packed, err, want)
			}
			if want == "" && (err != nil || g.run("", "rev-parse", "refs/heads/"+name) != hash) {
				t.Errorf("%q, packed %v: %v", name, packed, err)
			}
			g.run("", "commit", "-q", "--allow-empty", "-m", "more")
		}
	}
}

// TestNewBranchLocks checks that a branch is created under the lock of git, and leaves no lock
// behind.
func TestNewBranchLocks(t *testing.T) {
	t.Parallel()
	g := newDeploy(t)
	folder := filepath.Join(g.dir, ".git", "refs", "heads", "adopt")
	if err := os.MkdirAll(filepath.Join(folder, "left", "behind"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeAll(t, map[string]string{folder + ".lock": g.run("", "rev-parse", "main")})
	if _, err := g.newBranch("adopt").Create(time.Unix(1_800_000_000, 0)); err == nil || !strings.Contains(err.Error(), "holds the lock refs/heads/adopt.lock") {
		t.Errorf("the lock of another program: %v", err)
	}
	if err := os.Remove(folder + ".lock"); err != nil {
		t.Fatal(err)
	}
	hash, err := g.newBranch("adopt").Create(time.Unix(1_800_000_000, 0))
	if err != nil || g.run("", "rev-parse", "adopt") != hash {
		t.Errorf("a name with empty folders: %v", err)
	}
	if _, err := os.Lstat(folder + ".lock"); err == nil {
		t.Error("the lock is left")
	}
	made := make(chan error)
	for range 4 {
		go func() {
			_, err := g.newBranch("race").Create(time.Unix(1_800_000_000, 0))
			made <- err
		}()
	}
	won := 0
	for range 4 {
		if err := <-made; err == nil {
			won++
		}
	}
	if won != 1 {
		t.Errorf("%d of 4 made the branch, want 1", won)
	}
}

// link commits a symbolic link.
func link(t *testing.T, g gitFolder, name, target string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(g.dir, filepath.FromSlash(name))); err != nil {
		t.Fatal(err)
	}
	g.run("", "add", name)
	g.run("", "commit", "-q", "-m", "a link")
}

// TestNewBranchOnCommit adds a file on top of a commit that is not checked out, and whose files the
// work tree does not have.
func TestNewBranchOnCommit(t *testing.T) {
	t.Parallel()
	g := newDeploy(t)
	parent := g.run("", "rev-parse", "main")
	g.commit(step{author: alice, files: map[string]string{"deploy/a.yaml": "2"}})
	writeAll(t, map[string]string{filepath.Join(g.dir, "deploy", "a.yaml"): "9"})
	b := g.newBranch("adopt")
	b.Parent, b.File, b.Added = parent, "deploy/sub.yaml", true
	if _, err := b.Create(time.Unix(1_800_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	if got := g.run("", "diff", "--name-status", parent, "adopt"); got != "A\tdeploy/sub.yaml" {
		t.Errorf("the commit changes %q", got)
	}
	g.run("", "fsck", "--strict")
}
