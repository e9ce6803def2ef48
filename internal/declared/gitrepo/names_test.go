package gitrepo_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// TestIsAt checks for which refs a work tree stands.
func TestIsAt(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	hashes := g.commit(step{files: map[string]string{"a": "1"}}, step{files: map[string]string{"a": "2"}})
	g.run("", "branch", "old", hashes[0])
	g.run("", "branch", "same")
	g.run("", "tag", "v1", hashes[0])
	g.run("", "-c", "user.name=a", "-c", "user.email=a@example.org", "tag", "-a", "-m", "x", "v2")
	g.run("", "update-ref", "refs/remotes/origin/pushed", "HEAD")
	g.run("", "update-ref", "refs/remotes/origin/ahead", hashes[0])
	g.run("", "update-ref", "refs/remotes/origin/mallory/behind", "HEAD")
	g.run("", "update-ref", "refs/remotes/mallory/elsewhere", "HEAD")
	want := map[string]bool{
		"main": true, "refs/heads/main": true, "same": true, "old": false, "pushed": true, "ahead": false, "behind": false, "elsewhere": false, "mallory/behind": true, "none": false, "v1": false, "v2": true,
		hashes[1]: true, hashes[0]: false, "HEAD": true, "": true, "refs/tags/v2": true, "refs/tags/main": false,
	}
	check := func(state string) {
		t.Helper()
		for ref, want := range want {
			if got, err := gitrepo.IsAt(g.dir, ref); got != want || err != nil {
				t.Errorf("%s: at %q: %t, %v", state, ref, got, err)
			}
		}
	}
	check("on main")
	g.run("", "checkout", "-q", "-f", "--detach")
	check("detached")
	g.run("", "remote", "add", "origin", "/srv/a.git")
	g.run("", "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/ahead")
	want[""], want["HEAD"] = false, false
	check("behind the default branch")
	g.run("", "checkout", "-q", "-f", "-b", "unborn")
	want["unborn"] = true
	check("on another branch")
	if got, err := gitrepo.IsAt(t.TempDir(), "main"); !got || err != nil {
		t.Errorf("outside of a work tree: %t, %v", got, err)
	}
}

// TestCommitIs checks which refs name a commit, in a local repository and on a server.
func TestCommitIs(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	hashes := g.commit(step{files: map[string]string{"a": "1"}}, step{files: map[string]string{"a": "2"}})
	g.run("", "branch", "same")
	g.run("", "branch", "old", hashes[0])
	g.run("", "tag", "v2-plain")
	for tag, hash := range map[string]string{"v1": hashes[0], "v2": hashes[1]} {
		g.run("", "-c", "user.name=a", "-c", "user.email=a@example.org", "tag", "-a", "-m", "x", tag, hash)
	}
	want := map[string]bool{"": true, "HEAD": true, "same": true, "refs/heads/same": true, "old": false, "v1": false, "v2": true, "refs/tags/v2": true,
		"v2-plain": true, "refs/tags/same": false, hashes[1]: true, hashes[0]: false, "none": false}
	for access, url := range map[string]string{"path": g.dir, "http": newGitServer(t, g).URL} {
		r, err := gitrepo.New(gitrepo.Settings{URL: url, CacheDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		err = r.Read(t.Context(), "", func(c gitrepo.Commit) error {
			for ref := range want {
				if got := c.Is(ref); got != want[ref] {
					t.Errorf("%s: %q names the commit: %t", access, ref, got)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestOffDefault checks for which refs the default branch is at another commit.
func TestOffDefault(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	hashes := g.commit(step{files: map[string]string{"a": "1"}}, step{files: map[string]string{"a": "2"}})
	g.run("", "branch", "same")
	g.run("", "branch", "old", hashes[0])
	for access, url := range map[string]string{"path": g.dir, "http": newGitServer(t, g).URL} {
		r, err := gitrepo.New(gitrepo.Settings{URL: url, CacheDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		for ref, want := range map[string]bool{"": false, "main": false, "same": false, hashes[1]: false, "old": true, hashes[0]: true} {
			if err := r.Read(t.Context(), ref, func(c gitrepo.Commit) error {
				if c.OffDefault != want {
					t.Errorf("%s: %q is off the default branch: %t", access, ref, c.OffDefault)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestHelpers checks that a URL for a helper of git is not taken for a host.
func TestHelpers(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"git::https://git.example.org/a.git", "ext::sh", "x@ext::sh"} {
		if _, err := gitrepo.New(gitrepo.Settings{URL: url}); err == nil || !strings.Contains(err.Error(), "helper") {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{"git@git.example.org:a.git", "ssh://git@[::1]:22/a.git", "https://[::1]/a.git"} {
		if _, err := gitrepo.New(gitrepo.Settings{URL: url}); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}
