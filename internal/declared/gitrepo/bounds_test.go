package gitrepo_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// TestEndlessRefs proves that an endless list of refs is an error.
func TestEndlessRefs(t *testing.T) {
	t.Parallel()
	server := newPackServer(t, plumbing.NewHash(strings.Repeat("1", 40)), nil)
	server.endlessRefs = true
	_, _, err := readFile(t, server.settings(t.TempDir()), "", "a")
	if err == nil || !strings.Contains(err.Error(), "the server's list of refs exceeds 67108864 bytes") {
		t.Errorf("got %v", err)
	}
}

// TestLargeCommits proves that commits and folders above their limits are errors, and that
// they do not cause another clone.
func TestLargeCommits(t *testing.T) {
	t.Parallel()
	content := []byte("a: 1\n")
	blob := plumbing.ComputeHash(plumbing.BlobObject, content)
	many := map[string]plumbing.Hash{}
	for i := range 250_001 {
		many["a"+strings.Repeat("0", 3)+string(rune('a'+i%26))+string(rune('a'+i/26%26))+string(rune('a'+i/676%26))+string(rune('a'+i/17576))] = blob
	}
	long := map[string]plumbing.Hash{strings.Repeat("x", 17<<20): blob}
	for name, tc := range map[string]struct {
		message string
		files   map[string]plumbing.Hash
		want    string
	}{
		"message":  {strings.Repeat("m", 5<<20), map[string]plumbing.Hash{"a": blob}, "too large: commit of 5243"},
		"entries":  {"m", many, "too large: folder with 250001 entries, more than 250000"},
		"a folder": {"m", long, "too large: tree of 178258"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top, head := tip(tc.message, tc.files)
			server := newPackServer(t, head, writePack(append(top, packed{typ: plumbing.BlobObject, content: content})))
			_, _, err := readFile(t, server.settings(t.TempDir()), "", "a")
			if err == nil || !strings.Contains(err.Error(), tc.want) || server.fetched() != 1 {
				t.Errorf("got %v after %d transfers, want %q", err, server.fetched(), tc.want)
			}
		})
	}
}

// TestDeepFolders proves that the depth of folders is limited.
func TestDeepFolders(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	deep := strings.Repeat("d/", 255) + "a"
	g.commit(step{files: map[string]string{deep: "in", "x/" + deep: "out"}})
	s := gitrepo.Settings{URL: g.dir}
	if got, _, err := readFile(t, s, "", deep); err != nil || got != "in" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, _, err := readFile(t, s, "", "x/"+deep); err == nil || !strings.Contains(err.Error(), "more than 256 nested folders") {
		t.Errorf("got %v", err)
	}
}

// TestLinksStayInside proves that symbolic links stay inside the repository.
func TestLinksStayInside(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	outside := filepath.Join(t.TempDir(), "secret")
	writeAll(t, map[string]string{outside: "secret", filepath.Join(g.dir, "d", "a"): "inside"})
	for link, to := range map[string]string{
		"absolute": outside, "above": "../../../../../../../../" + outside, "loop": "loop", "one": "two", "two": "one",
		"git": ".git/config", "good": "d/a", "folder": "d",
	} {
		if err := os.Symlink(to, filepath.Join(g.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	g.run("", "add", "-A")
	long := g.run(strings.Repeat("d/../", 900)+"d/a", "hash-object", "-w", "--stdin")
	g.run("", "update-index", "--add", "--cacheinfo", "120000,"+long+",long")
	g.run("", "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",submodule")
	g.run("", "-c", "user.name=t", "-c", "user.email=t", "commit", "-qm", "links")
	server := newGitServer(t, g)
	for way, s := range map[string]gitrepo.Settings{"local": {URL: g.dir}, "clone": {URL: server.URL + "/r.git", CacheDir: t.TempDir(), Log: quiet()}} {
		for _, name := range []string{"good", "folder/a"} {
			if got, _, err := readFile(t, s, "", name); err != nil || got != "inside" {
				t.Errorf("%s, %s: got %q, %v", way, name, got, err)
			}
		}
		for name, want := range map[string]string{
			"absolute": "leads out", "above": "leads out", "loop": "too many symbolic links", "one": "too many symbolic links",
			"git": "not exist", "long": "symbolic link of more than 4096 bytes", "submodule": "a submodule",
		} {
			if got, _, err := readFile(t, s, "", name); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: got %q, %v, want %q", way, name, got, err, want)
			}
		}
	}
	into := t.TempDir()
	var absent map[string]error
	err := open(t, gitrepo.Settings{URL: g.dir}).Read(t.Context(), "", func(c gitrepo.Commit) (err error) {
		absent, err = c.Files.CheckOut(t.Context(), into, gitrepo.Bounds{Files: 100})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	err = filepath.WalkDir(into, func(path string, _ fs.DirEntry, err error) error {
		name, _ := filepath.Rel(into, path)
		to, _ := os.Readlink(path)
		got[name] = to
		return err
	})
	want := map[string]string{".": "", "d": "", "d/a": "", "folder": "d", "good": "d/a", "submodule": "", "loop": "loop", "one": "two", "two": "one", "git": ".git/config"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("checked out: %v (-want +got):\n%s", err, diff)
	}
	for name, want := range map[string]string{"absolute": "leads out of the repository", "above": "leads out of the repository", "long": "too large: "} {
		if err := absent[name]; err == nil || !strings.Contains(err.Error(), name+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("absent %s: got %v, want %q", name, err, want)
		}
		delete(absent, name)
	}
	if len(absent) > 0 {
		t.Errorf("also absent: %v", absent)
	}
}

// TestCheckOutBounds proves that a commit above the limits is not written completely, and that
// no .git is written.
func TestCheckOutBounds(t *testing.T) {
	t.Parallel()
	blob := plumbing.ComputeHash(plumbing.BlobObject, []byte("x"))
	top, head := tip("m", map[string]plumbing.Hash{".git": blob, ".GIT": blob, "a": blob, "b": blob, "git~1": blob})
	server := newPackServer(t, head, writePack(append(top, packed{typ: plumbing.BlobObject, content: []byte("x")})))
	r := open(t, server.settings(t.TempDir()))
	for _, tc := range []struct {
		bounds gitrepo.Bounds
		want   string
	}{
		{gitrepo.Bounds{Files: 2}, ""},
		{gitrepo.Bounds{Files: 1}, "more than 1 files and folders"},
		{gitrepo.Bounds{Files: 2, Bytes: 1}, "more than 1 bytes; raise max_clone_size"},
	} {
		into := t.TempDir()
		err := r.Read(t.Context(), "", func(c gitrepo.Commit) error {
			_, err := c.Files.CheckOut(t.Context(), into, tc.bounds)
			return err
		})
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: got %v, want %q", tc.bounds, err, tc.want)
		}
		if found := glob(t, into, "*"); tc.want == "" && len(found) != 2 {
			t.Errorf("checked out: %v", found)
		}
	}
}

// TestLocalConfigRunsNothing proves that reading a local repository runs no program that its
// configuration, hooks or attributes name, and does not convert content.
func TestLocalConfigRunsNothing(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	marker := filepath.Join(t.TempDir(), "ran")
	run := "touch " + marker
	g.commit(step{files: map[string]string{
		"a": "$Id$\r\n", ".gitattributes": "* filter=evil diff=evil ident eol=lf text working-tree-encoding=UTF-16\n",
		".gitmodules": "[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c " + run + "\n",
	}})
	for key, value := range map[string]string{
		"core.fsmonitor": run, "core.sshCommand": run, "core.gitProxy": run, "core.pager": run, "filter.evil.smudge": run, "filter.evil.clean": run,
		"filter.evil.process": run, "filter.evil.required": "true", "diff.evil.textconv": run, "uploadpack.packObjectsHook": run,
		"core.hooksPath": "hooks", "protocol.ext.allow": "always", "credential.helper": "!" + run,
	} {
		g.run("", "config", key, value)
	}
	for _, hook := range []string{"post-checkout", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"} {
		if err := os.WriteFile(filepath.Join(g.dir, ".git", "hooks", hook), []byte("#!/bin/sh\n"+run+"\n"), 0o700); err != nil { //nolint:gosec // a hook
			t.Fatal(err)
		}
	}
	// git itself would read this file endlessly.
	config := filepath.Join(g.dir, ".git", "config")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	writeAll(t, map[string]string{config: string(text) + "[include]\n\tpath = /dev/zero\n"})
	r := open(t, gitrepo.Settings{URL: g.dir, History: 10})
	err = r.Read(t.Context(), "", func(c gitrepo.Commit) error {
		if got, err := fs.ReadFile(c.Files, "a"); string(got) != "$Id$\r\n" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		c.Touches(t.Context(), []string{"a"})
		_, err := c.Files.CheckOut(t.Context(), t.TempDir(), gitrepo.Bounds{Files: 10})
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(marker); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something ran: %v", err)
	}
}

// TestLocalFolder proves that the files of a local repository cannot make driftd hang, use
// much memory, or read another repository.
func TestLocalFolder(t *testing.T) {
	t.Parallel()
	fifo := func(name string) func(t *testing.T, g gitFolder) {
		return func(t *testing.T, g gitFolder) {
			t.Helper()
			file := filepath.Join(g.dir, ".git", name)
			if err := errors.Join(os.RemoveAll(file), os.MkdirAll(filepath.Dir(file), 0o700), syscall.Mkfifo(file, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	write := func(name, content string) func(t *testing.T, g gitFolder) {
		return func(t *testing.T, g gitFolder) {
			t.Helper()
			writeAll(t, map[string]string{filepath.Join(g.dir, ".git", name): content})
		}
	}
	for name, tc := range map[string]struct {
		reason string
		damage func(t *testing.T, g gitFolder)
		want   string
	}{
		"head":      {"HEAD is a named pipe", fifo("HEAD"), "repository does not exist"},
		"config":    {"the configuration is a named pipe", fifo("config"), "not a regular file"},
		"packed":    {"packed-refs is a named pipe", fifo("packed-refs"), "not a regular file"},
		"branch":    {"a branch is a named pipe", fifo("refs/heads/main"), "not a regular file"},
		"commondir": {"commondir is a named pipe", fifo("commondir"), "not a regular file"},
		"common":    {"commondir names nothing", write("commondir", "/nonexistent\n"), "does not exist"},
		"alternate": {"objects of another repository", write("objects/info/alternates", "/srv/private.git/objects\n"), "uses objects of another repository"},
		"huge": {"packed-refs is huge", func(t *testing.T, g gitFolder) {
			t.Helper()
			write("packed-refs", "")(t, g)
			if err := os.Truncate(filepath.Join(g.dir, ".git", "packed-refs"), 3<<30); err != nil {
				t.Fatal(err)
			}
		}, "too large: packed-refs has 3221225472 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			g.commit(step{files: a("1")})
			tc.damage(t, g)
			if _, _, err := readFile(t, gitrepo.Settings{URL: g.dir}, "main", "a"); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
			if err := gitrepo.CheckLocal(g.dir); name == "alternate" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("check: got %v, want %q", err, tc.want)
			}
		})
	}
}
