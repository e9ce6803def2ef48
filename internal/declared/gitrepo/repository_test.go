package gitrepo_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// readFile reads one file at ref and returns it with the commit.
func readFile(t testing.TB, s gitrepo.Settings, ref, name string) (content, commit string, err error) {
	t.Helper()
	r, err := gitrepo.New(s)
	if err != nil {
		return "", "", err
	}
	err = r.Read(t.Context(), ref, func(c gitrepo.Commit) error {
		data, err := fs.ReadFile(c.Files, name)
		content, commit = string(data), c.Hash
		return err
	})
	return content, commit, err
}

// readers returns settings for each kind of access to o.
func readers(t *testing.T, o origin) map[string]gitrepo.Settings {
	h := newHub(t, o)
	quiet := slog.New(slog.DiscardHandler)
	return map[string]gitrepo.Settings{
		"path":   {URL: o.dir, Log: quiet},
		"file":   {URL: "file://" + o.dir, Log: quiet},
		"https":  h.settings(t.TempDir()),
		"memory": h.settings(""),
	}
}

func TestRefs(t *testing.T) { //nolint:tparallel // its cases share one clone a way, in turn
	t.Parallel()
	o := newOrigin(t)
	first := o.commit(map[string]string{"a.yaml": "first"})
	o.tag("v1", first, false)
	o.tag("v2", first, true)
	second := o.commit(map[string]string{"a.yaml": "second"})
	third := o.commit(map[string]string{"a.yaml": "third"})
	for name, hash := range map[plumbing.ReferenceName]plumbing.Hash{"refs/heads/dev": first, "refs/heads/v1": second} {
		if err := o.Storer.SetReference(plumbing.NewHashReference(name, hash)); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		reason, ref string
		want        string
		commit      plumbing.Hash
		wantErr     string
	}{
		"Head":     {"the default is HEAD", "", "third", third, ""},
		"Branch":   {"a branch", "dev", "first", first, ""},
		"Both":     {"a branch and a tag with the same name", "v1", "", plumbing.ZeroHash, `"v1" is a branch and a tag; set ref to refs/heads/v1 or refs/tags/v1`},
		"Full":     {"a branch by its full name", "refs/heads/v1", "second", second, ""},
		"Tag":      {"a full name", "refs/tags/v1", "first", first, ""},
		"Tagged":   {"an annotated tag", "v2", "first", first, ""},
		"Commit":   {"the commit of a branch", first.String(), "first", first, ""},
		"Nameless": {"a commit without a name, from a server that serves named commits only", second.String(), "second", second, ""},
		"Gone":     {"a missing ref", "prod", "", plumbing.ZeroHash, `no branch, tag or full commit hash "prod"; it has the branches dev, master, v1`},
		"Short":    {"part of a hash", first.String()[:8], "", plumbing.ZeroHash, "no branch, tag or full commit hash"},
		"Nowhere":  {"a missing commit", strings.Repeat("1", 40), "", plumbing.ZeroHash, strings.Repeat("1", 40)},
	}
	for way, settings := range readers(t, o) { //nolint:paralleltest // the cases of a way share one clone, in turn
		for name, tc := range cases {
			t.Run(way+"/"+name, func(t *testing.T) {
				got, commit, err := readFile(t, settings, tc.ref, "a.yaml")
				if tc.wantErr != "" {
					if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
						t.Errorf("%s: got %v, want %q", tc.reason, err, tc.wantErr)
					}
					if absent := name != "Both"; gitrepo.IsNoRef(err) != absent {
						t.Errorf("%s: IsNoRef is %t for %v", tc.reason, !absent, err)
					}
					return
				}
				if err != nil || got != tc.want || commit != tc.commit.String() {
					t.Errorf("%s: got %q at %s, %v", tc.reason, got, commit, err)
				}
			})
		}
	}
}

func TestFetchNewCommits(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	first := o.commit(map[string]string{"a.yaml": "1"})
	h := newHub(t, o)
	settings := h.settings(t.TempDir())
	expect := func(want string, requests ...string) {
		t.Helper()
		got, _, err := readFile(t, settings, "", "a.yaml")
		if err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
		if diff := cmp.Diff(requests, h.requested()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	}
	const ask, list, fetch = "GET /shop.git/info/refs", "GET /shop.git/info/refs", "POST /shop.git/git-upload-pack"
	expect("1", ask, list, fetch)
	expect("1", ask)
	h.set(func(*hub) { o.commit(map[string]string{"a.yaml": "2"}) })
	expect("2", ask, list, fetch)
	h.set(func(*hub) { o.rewrite(first); o.commit(map[string]string{"a.yaml": "rewritten"}) })
	expect("rewritten", ask, list, fetch)
	h.set(func(*hub) { o.rewrite(first) })
	expect("1", ask)
}

func TestMissingRepository(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit(map[string]string{"a.yaml": "1"})
	h := newHub(t, o)
	settings := h.settings(t.TempDir())
	if _, _, err := readFile(t, settings, "", "a.yaml"); err != nil {
		t.Fatal(err)
	}
	h.set(func(h *hub) { h.gone = true })
	_, _, err := readFile(t, settings, "", "a.yaml")
	if err == nil || !strings.Contains(err.Error(), "read git repository "+settings.URL+": repository not found") ||
		!strings.Contains(err.Error(), "check the setting git, and that the credentials have read access") {
		t.Errorf("removed repository: got %v", err)
	}
	h.Close()
	if _, _, err := readFile(t, settings, "", "a.yaml"); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("stopped server: got %v", err)
	}
	if err := os.RemoveAll(o.dir); err != nil {
		t.Fatal(err)
	}
	_, _, err = readFile(t, gitrepo.Settings{URL: o.dir}, "", "a.yaml")
	if err == nil || !strings.Contains(err.Error(), "read git repository "+o.dir+": repository does not exist; check the setting git") {
		t.Errorf("removed folder: got %v", err)
	}
}

// TestCommitInHistory reads an older commit that a clone without history lacks. The clone is
// created again.
func TestCommitInHistory(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	first := o.commit(map[string]string{"a.yaml": "first"})
	second := o.commit(map[string]string{"a.yaml": "second"})
	cache := t.TempDir()
	settings := newHub(t, o).settings(cache)
	if _, _, err := readFile(t, settings, "", "a.yaml"); err != nil {
		t.Fatal(err)
	}
	clone := glob(t, cache, "*.git")[0]
	if err := os.RemoveAll(filepath.Join(clone, "objects")); err != nil {
		t.Fatal(err)
	}
	writeAll(t, map[string]string{filepath.Join(clone, "shallow"): second.String() + "\n"})
	if got, _, err := readFile(t, settings, first.String(), "a.yaml"); err != nil || got != "first" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestEmptyRepository(t *testing.T) {
	t.Parallel()
	for way, settings := range readers(t, newOrigin(t)) {
		if _, _, err := readFile(t, settings, "", "a.yaml"); err == nil || !strings.Contains(err.Error(), "read git repository ") {
			t.Errorf("%s: a repository without commits: got %v", way, err)
		}
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit(map[string]string{"a.yaml": "1"})
	h := newHub(t, o)
	h.token = "hunter2"
	settings := h.settings(t.TempDir())
	_, _, err := readFile(t, settings, "", "a.yaml")
	if err == nil || !strings.Contains(err.Error(), "authentication required") || !strings.Contains(err.Error(), "check token_file") {
		t.Errorf("no token: got %v", err)
	}
	settings.TokenFile = filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(settings.TokenFile, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _, err := readFile(t, settings, "", "a.yaml"); err != nil || got != "1" {
		t.Errorf("with the token: got %q, %v", got, err)
	}
	h.set(func(h *hub) { h.token = "other" })
	if _, _, err = readFile(t, settings, "", "a.yaml"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("with a wrong token: got %v", err)
	}
	h.set(func(h *hub) { h.token = "in the url" })
	settings.TokenFile, settings.URL = "", strings.Replace(settings.URL, "https://", "https://git:in%20the%20url@", 1)
	if got, _, err := readFile(t, settings, "", "a.yaml"); err != nil || got != "1" {
		t.Errorf("with a password in the URL: got %q, %v", got, err)
	}
	h.set(func(h *hub) { h.gone = true })
	if _, _, err = readFile(t, settings, "", "a.yaml"); err == nil || strings.Contains(err.Error(), "in%20the") || strings.Contains(err.Error(), "in the url") {
		t.Errorf("an error with the password: %v", err)
	}
}

func TestDamagedClone(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		harm   func(t *testing.T, clone string)
	}{
		"Pack":  {"truncated pack", func(t *testing.T, clone string) { truncate(t, clone, "objects/pack/*.pack") }},
		"Index": {"truncated index", func(t *testing.T, clone string) { truncate(t, clone, "objects/pack/*.idx") }},
		"Lost": {"missing objects", func(t *testing.T, clone string) {
			if err := os.RemoveAll(filepath.Join(clone, "objects")); err != nil {
				t.Fatal(err)
			}
		}},
		"NoPack": {"packs without their index", func(t *testing.T, clone string) {
			for _, file := range glob(t, clone, "objects/pack/*.idx") {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			o.commit(map[string]string{"a.yaml": strings.Repeat("manifest\n", 1000)})
			cache := t.TempDir()
			settings := newHub(t, o).settings(cache)
			want, _, err := readFile(t, settings, "", "a.yaml")
			if err != nil {
				t.Fatal(err)
			}
			tc.harm(t, glob(t, cache, "*.git")[0])
			if got, _, err := readFile(t, settings, "", "a.yaml"); err != nil || got != want {
				t.Errorf("%s: got %d bytes, %v", tc.reason, len(got), err)
			}
		})
	}
}

func glob(t testing.TB, dir, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no file matches %s in %s: %v", pattern, dir, err)
	}
	return files
}

// TestDamagedOrigin reads a local repository that lacks the content of a file.
func TestDamagedOrigin(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit(map[string]string{"a.yaml": "lost", "b.yaml": "kept"})
	hash := plumbing.ComputeHash(plumbing.BlobObject, []byte("lost")).String()
	if err := os.Remove(filepath.Join(o.dir, ".git", "objects", hash[:2], hash[2:])); err != nil {
		t.Fatal(err)
	}
	if got, _, err := readFile(t, gitrepo.Settings{URL: o.dir}, "", "b.yaml"); err != nil || got != "kept" {
		t.Errorf("intact file: got %q, %v", got, err)
	}
	_, _, err := readFile(t, gitrepo.Settings{URL: o.dir}, "", "a.yaml")
	if err == nil || !strings.Contains(err.Error(), "read git repository "+o.dir+": git objects cannot be read: object "+hash) {
		t.Errorf("damaged file: got %v", err)
	}
}

func truncate(t testing.TB, dir, pattern string) {
	t.Helper()
	for _, file := range glob(t, dir, pattern) {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, info.Size()/2); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTransferCutOff(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit(map[string]string{"a.yaml": "1"})
	h := newHub(t, o)
	settings := h.settings(t.TempDir())
	h.set(func(h *hub) { h.cut = true })
	if _, _, err := readFile(t, settings, "", "a.yaml"); err == nil || !strings.Contains(err.Error(), settings.URL) {
		t.Errorf("got %v, want an error that names the repository", err)
	}
	h.set(func(h *hub) { h.cut = false })
	if got, _, err := readFile(t, settings, "", "a.yaml"); err != nil || got != "1" {
		t.Errorf("after that: got %q, %v", got, err)
	}
}

func TestManyFetches(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit(map[string]string{"a.yaml": "1"})
	cache := t.TempDir()
	settings := newHub(t, o).settings(cache)
	if _, _, err := readFile(t, settings, "", "a.yaml"); err != nil {
		t.Fatal(err)
	}
	packs := filepath.Dir(glob(t, cache, "*.git/objects/pack/*.pack")[0])
	for i := range 200 {
		if err := os.WriteFile(filepath.Join(packs, "pack-"+strings.Repeat("0", 37)+string(rune('a'+i%26))+string(rune('a'+i/26))+".pack"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, _, err := readFile(t, settings, "", "a.yaml"); err != nil || got != "1" || len(glob(t, packs, "*.pack")) != 1 {
		t.Errorf("got %q, %v, %d packs", got, err, len(glob(t, packs, "*.pack")))
	}
}

// TestOneReaderAtATime proves that two readers of one clone exclude each other, and that
// waiting ends with the context.
func TestOneReaderAtATime(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit(map[string]string{"a.yaml": "1"})
	settings := newHub(t, o).settings(t.TempDir())
	r, err := gitrepo.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	err = r.Read(t.Context(), "", func(gitrepo.Commit) error {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := r.Read(ctx, "", func(gitrepo.Commit) error { return nil })
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "still locked by another reader") {
			t.Errorf("while the clone is locked: got %v", err)
		}
		return errors.New("error of read")
	})
	if err == nil || err.Error() != "error of read" {
		t.Errorf("got %v, want the error of read", err)
	}
}

func TestBareAndWorktree(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit(map[string]string{"a.yaml": "committed"})
	if err := os.WriteFile(filepath.Join(o.dir, "a.yaml"), []byte("uncommitted"), 0o644); err != nil {
		t.Fatal(err)
	}
	bare, linked := t.TempDir(), t.TempDir()
	if err := os.CopyFS(bare, os.DirFS(filepath.Join(o.dir, ".git"))); err != nil {
		t.Fatal(err)
	}
	// These are the files that "git worktree add" creates (gitrepository-layout(5)).
	admin := filepath.Join(o.dir, ".git", "worktrees", "linked")
	writeAll(t, map[string]string{
		filepath.Join(admin, "HEAD"): "ref: refs/heads/master\n", filepath.Join(admin, "commondir"): "../..\n",
		filepath.Join(admin, "gitdir"): filepath.Join(linked, ".git") + "\n", filepath.Join(linked, ".git"): "gitdir: " + admin + "\n",
	})
	for _, dir := range []string{o.dir, bare, linked} {
		if got, _, err := readFile(t, gitrepo.Settings{URL: dir}, "", "a.yaml"); err != nil || got != "committed" {
			t.Errorf("%s: got %q, %v", dir, got, err)
		}
	}
}

func writeAll(t testing.TB, files map[string]string) {
	t.Helper()
	for file, content := range files {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
