package manifests_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/manifests"
)

// A repository is a git repository that tests commit to.
type repository struct {
	*git.Repository
	dir string
}

func newRepository(t testing.TB) repository {
	t.Helper()
	dir := t.TempDir()
	r, err := git.PlainInit(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	return repository{r, dir}
}

func (r repository) commit(t testing.TB, files map[string]string) plumbing.Hash {
	t.Helper()
	write(t, r.dir, files)
	work, err := r.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	if err := work.AddWithOptions(&git.AddOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	who := &object.Signature{Name: "t", Email: "t@example.org", When: time.Unix(1_700_000_000, 0)}
	hash, err := work.Commit("change", &git.CommitOptions{Author: who})
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// fromGit returns settings for a path of the repository.
func (r repository) fromGit(path string) manifests.Config {
	config := manifests.Defaults()
	config.Git, config.Path = r.dir, path
	return config
}

func TestGit(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	files := map[string]string{}
	for name, content := range shop() {
		files["clusters/"+name] = content
	}
	files["README.yaml"] = configMap("readme")
	hash := r.commit(t, files)
	write(t, r.dir, map[string]string{"clusters/plain/extra.yaml": configMap("uncommitted"), "clusters/new.yaml": configMap("new")})
	cases := map[string]struct {
		reason, path string
		want         []string
	}{
		"Overlay": {
			"a kustomization with a base outside of the path", "clusters/overlays/prod",
			[]string{
				"clusters/components/log/log.yaml:1 ConfigMap shop/prod-log",
				"clusters/base/settings/kustomization.yml ConfigMap shop/prod-settings",
				"clusters/base/web.yaml:18 ConfigMap shop/prod-static", "clusters/base/web.yaml:2 Deployment.apps shop/prod-web",
			},
		},
		"Folder": {"plain files, as they were committed", "/clusters/plain/", []string{"clusters/plain/extra.yaml:1 ConfigMap default/extra"}},
		"File":   {"a single file", "README.yaml", []string{"README.yaml:1 ConfigMap default/readme"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := load(t, r.fromGit(tc.path))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, claims(d)); diff != "" || len(d.Problems) > 0 || d.Revision != hash.String() || d.Revised.Unix() != 1_700_000_000 {
				t.Errorf("%s: at %s (-want +got):\n%s%v", tc.reason, d.Revision, diff, d.Problems)
			}
			if d.Repository == "" {
				t.Error("the addresses are paths in the repository, but Repository is empty")
			}
		})
	}
}

func TestGitLabel(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit(t, map[string]string{"clusters/a.yaml": configMap("a")})
	config := r.fromGit("clusters")
	config.Label = "shop.git"
	d, err := load(t, config)
	if want := []string{"shop.git/clusters/a.yaml:1 ConfigMap default/a"}; err != nil || !cmp.Equal(want, claims(d)) {
		t.Errorf("got %v, %v, want %v", claims(d), err, want)
	}
	if d.Repository != "" {
		t.Errorf("the addresses have a label, but Repository is %q", d.Repository)
	}
}

func TestGitErrors(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	hash := r.commit(t, map[string]string{"a.yaml": configMap("a"), "docs/readme.md": "x"})
	cases := map[string]struct {
		reason  string
		change  func(*manifests.Config)
		wantErr string
	}{
		"Path":  {"a missing path", func(c *manifests.Config) { c.Path = "clusters/prod" }, "read manifests: clusters/prod does not exist in " + r.dir + " at " + hash.String()[:12] + "; check path"},
		"Empty": {"a path without manifests", func(c *manifests.Config) { c.Path = "docs" }, "no manifest found in " + r.dir},
		"Ref":   {"a missing ref", func(c *manifests.Config) { c.Ref = "prod" }, `no branch, tag or full commit hash "prod"`},
		"Gone":  {"a missing repository", func(c *manifests.Config) { c.Git += "-gone" }, "repository does not exist"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := r.fromGit("")
			tc.change(&config)
			if _, err := load(t, config); err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.wantErr)
			}
		})
	}
}

func TestGitSpecialCases(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	for link, to := range map[string]string{"link.yaml": "real/a.yaml", "out.yaml": "../../etc/passwd", "gone.yaml": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(r.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	first := r.commit(t, map[string]string{"real/a.yaml": configMap("a"), "big.yaml": "# " + strings.Repeat("x", 1000)})
	addSubmodule(t, r, "vendored", first)
	config := r.fromGit("")
	config.MaxFileSize = 500
	d, err := load(t, config)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"link.yaml:1 ConfigMap default/a", "real/a.yaml:1 ConfigMap default/a"}, claims(d)); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	want := []string{
		"big.yaml: larger than 500 bytes; raise max_file_size or exclude it",
		"gone.yaml: a symbolic link to a missing file",
		"out.yaml: a symbolic link that leads out of the folder; it is not followed",
		"vendored: a git submodule; it is not read: declare it on its own, or exclude it",
	}
	if diff := cmp.Diff(want, problems(d)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// addSubmodule commits a submodule.
func addSubmodule(t *testing.T, r repository, name string, at plumbing.Hash) {
	t.Helper()
	staged, err := r.Storer.Index()
	if err != nil {
		t.Fatal(err)
	}
	staged.Entries = append(staged.Entries, &index.Entry{Name: name, Mode: filemode.Submodule, Hash: at})
	if err := r.Storer.SetIndex(staged); err != nil {
		t.Fatal(err)
	}
	work, err := r.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	who := &object.Signature{Name: "t", When: time.Unix(1_700_000_000, 0)}
	if _, err := work.Commit("submodule", &git.CommitOptions{Author: who}); err != nil {
		t.Fatal(err)
	}
}

// TestGitLikeFolder proves that a commit and a folder with the same files give the same
// declaration, except for the prefix of addresses.
func TestGitLikeFolder(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	files := shop()
	files["broken.yaml"] = "a: [\n"
	files["bad/kustomization.yaml"] = "resources: [gone.yaml]\n"
	r.commit(t, files)
	committed, err := load(t, r.fromGit(""))
	if err != nil {
		t.Fatal(err)
	}
	folder := loadDir(t, deploy(t, files))
	trim := func(lines []string) []string {
		for i, line := range lines {
			lines[i] = strings.TrimPrefix(line, "deploy/")
		}
		return lines
	}
	if diff := cmp.Diff(trim(claims(folder)), claims(committed)); diff != "" {
		t.Errorf("claims (-folder +git):\n%s", diff)
	}
	if len(folder.Problems) != 2 || len(committed.Problems) != 2 {
		t.Errorf("problems: %q and %q", problems(folder), problems(committed))
	}
	for i := range folder.Claims {
		if !folder.Claims[i].Value.Equal(committed.Claims[i].Value) {
			t.Errorf("%s differs", folder.Claims[i].ID)
		}
	}
}
