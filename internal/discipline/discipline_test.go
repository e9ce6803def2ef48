package discipline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/folder"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/discipline"
)

// run returns the findings of a tree as "check file:line: text".
func run(t *testing.T, tree discipline.Tree, checks ...string) (found []string, r discipline.Result) {
	t.Helper()
	r, err := discipline.Run(t.Context(), tree, checks)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		found = append(found, fmt.Sprintf("%s %s:%d: %s", f.Check, f.File, f.Line, f.What))
	}
	return found, r
}

func filesOf(files map[string]string) fstest.MapFS {
	all := fstest.MapFS{}
	for name, text := range files {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return all
}

func TestModules(t *testing.T) {
	t.Parallel()
	cases := []struct{ reason, block, want string }{
		{"a registry module without a version", `source = "hashicorp/consul/aws"`, "has no version"},
		{"a range", "source = \"hashicorp/consul/aws\"\nversion = \">= 1.0, < 2.0\"", "follows the versions >= 1.0, < 2.0"},
		{"an exact version with an operator", "source = \"hashicorp/consul/aws\"\nversion = \"= 1.2.3\"", ""},
		{"a pre-release", "source = \"registry.example.org:8443/a/b/c//sub\"\nversion = \"1.2.3-rc.1\"", ""},
		{"a computed version", "source = \"hashicorp/consul/aws\"\nversion = var.v", ""},
		{"a folder", `source = "../net"`, ""},
		{"a computed source", `source = "git::https://example.org/${var.name}"`, ""},
		{"a bare host", `source = "github.com/hashicorp/example"`, "has no ref, and follows the default branch"},
		{"a branch by its full name", `source = "git::ssh://git@example.org/x.git?ref=refs/heads/v1"`, "follows refs/heads/v1"},
		{"a tag by its full name", `source = "git::ssh://git@example.org/x.git?ref=refs/tags/stable"`, ""},
		{"an abbreviated hash", `source = "git::https://example.org/x.git?ref=51d462976d84fdea54b47d80dcabbf680badcdb8"`, ""},
		{"an empty ref", `source = "git::https://example.org/x.git?ref="`, "has no ref, and follows the default branch"},
		{"an archive", `source = "https://example.org/x.zip"`, ""},
		{"a bucket", `source = "s3::https://s3.amazonaws.com/x/y.zip"`, ""},
	}
	for _, tc := range cases {
		found, r := run(t, discipline.Tree{Files: filesOf(map[string]string{"main.tf": "module \"m\" {\n" + tc.block + "\n}\n"}), Root: "."})
		want := []string(nil)
		if tc.want != "" {
			want = []string{"terraform/module-unpinned main.tf:2: module m " + tc.want}
		}
		if diff := cmp.Diff(want, found); diff != "" || len(r.Gaps) > 0 {
			t.Errorf("%s (-want +got):\n%s%v", tc.reason, diff, r.Gaps)
		}
	}
}

func TestRoots(t *testing.T) {
	t.Parallel()
	const lock = "provider \"registry.terraform.io/hashicorp/aws\" {\n}\n"
	none := "terraform/lock-missing main.tf:1: no .terraform.lock.hcl pins the versions of "
	cases := []struct {
		reason string
		files  map[string]string
		want   []string
	}{
		{"a provider that a resource implies", map[string]string{"main.tf": "provider \"aws\" {}\nresource \"random_id\" \"x\" {}\n"}, []string{none + "hashicorp/aws, hashicorp/random"}},
		{"a provider by its other name", map[string]string{"main.tf": "terraform {\n  required_providers {\n    pve = {source = \"bpg/proxmox\", version = \"0.1.0\", configuration_aliases = [pve.a]}\n  }\n}\n" +
			"provider \"pve\" {}\nresource \"proxmox_vm\" \"x\" {\n  provider = pve.a\n}\n"}, []string{none + "bpg/proxmox"}},
		{"a local module", map[string]string{"main.tf": "provider \"aws\" {}\nmodule \"m\" {\n  source = \"./m\"\n}\n", ".terraform.lock.hcl": lock,
			"m/main.tf": "resource \"tls_key\" \"x\" {}\n"}, []string{"terraform/lock-missing main.tf:1: .terraform.lock.hcl has no entry for hashicorp/tls"}},
		{"modules that call each other", map[string]string{"main.tf": "provider \"aws\" {}\nmodule \"m\" {\n  source = \"./m\"\n}\n", ".terraform.lock.hcl": lock,
			"m/main.tf": "module \"m\" {\n  source = \"../m\"\n}\n"}, nil},
		{"the provider that is a part of Terraform", map[string]string{"main.tf": "terraform {\n  backend \"s3\" {}\n}\nresource \"terraform_data\" \"x\" {}\n"}, nil},
		{"a module is no root", map[string]string{"main.tf": "resource \"aws_vpc\" \"x\" {}\n"}, nil},
		{"a module below a folder modules", map[string]string{"modules/m/main.tf": "provider \"aws\" {}\n"}, nil},
		{"JSON", map[string]string{"main.tf.json": `{"terraform": {"backend": {"s3": {}}, "required_providers": {"aws": {"source": "hashicorp/aws"}}}}`},
			[]string{"terraform/lock-missing main.tf.json:1: no .terraform.lock.hcl pins the versions of hashicorp/aws",
				"terraform/provider-unpinned main.tf.json:1: provider hashicorp/aws has no version constraint"}},
		{"a lock file that cannot be parsed is a gap", map[string]string{"main.tf": "provider \"aws\" {}\n", ".terraform.lock.hcl": "provider {"}, nil},
		{"Terragrunt has no lock file of its own", map[string]string{"terragrunt.hcl": "terraform {\n  source = \"git::https://example.org/x.git\"\n}\n"},
			[]string{"terraform/module-unpinned terragrunt.hcl:2: module of Terragrunt has no ref, and follows the default branch"}},
	}
	for _, tc := range cases {
		found, _ := run(t, discipline.Tree{Files: filesOf(tc.files), Root: "."})
		if diff := cmp.Diff(tc.want, found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}

func TestManifests(t *testing.T) {
	t.Parallel()
	foreign := func(url string) bool { return url == "https://example.org/own" }
	app := "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec:\n  syncPolicy: {automated: {}}\n  source: {repoURL: %s, targetRevision: %s}\n"
	source := "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: a}\nspec: {url: %s, ref: {branch: main}}\n"
	release := "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r}\nspec: {chart: {spec: {%s}}}\n"
	pod := "apiVersion: v1\nkind: Pod\nspec: {containers: [{image: %q}]}\n"
	cases := []struct {
		reason string
		files  map[string]string
		want   []string
	}{
		{"a branch of the own repository", map[string]string{"a.yaml": fmt.Sprintf(app, "https://example.org/own", "HEAD"), "b.yaml": fmt.Sprintf(source, "https://example.org/own")}, nil},
		{"a branch of another one", map[string]string{"a.yaml": fmt.Sprintf(app, "https://example.org/x", "main"), "b.yaml": fmt.Sprintf(source, "https://example.org/x")},
			[]string{"argocd/revision-unpinned a.yaml:6: Application a follows the branch main of another repository",
				"flux/source-unpinned b.yaml:4: GitRepository a follows the branch main of another repository"}},
		{"a tag of another one", map[string]string{"a.yaml": fmt.Sprintf(app, "https://example.org/x", "v1.2")}, nil},
		{"a release with any version", map[string]string{"a.yaml": fmt.Sprintf(release, "chart: x, version: '*'")}, []string{"flux/source-unpinned a.yaml:4: the chart of HelmRelease r has the version *, and follows the newest one"}},
		{"a release without a version", map[string]string{"a.yaml": fmt.Sprintf(release, "chart: x")}, []string{"flux/source-unpinned a.yaml:4: the chart of HelmRelease r has no version, and follows the newest one"}},
		{"a release of which a patch sets the version", map[string]string{"a.yaml": fmt.Sprintf(release, "chart: x"), "p.yaml": fmt.Sprintf(release, "version: 1.2.3")}, nil},
		{"the same by an inline patch", map[string]string{"a.yaml": fmt.Sprintf(release, "chart: x"),
			"kustomization.yaml": "patches:\n- target: {name: r}\n  patch: |\n    - {op: add, path: /spec/chart/spec/version, value: 1.2.3}\n"}, nil},
		{"an image of which a kustomization sets the tag", map[string]string{"a.yaml": fmt.Sprintf(pod, "app:latest"), "kustomization.yaml": "images: [{name: app, newTag: 1.0.0}]\n"}, nil},
		{"an image that gets the tag latest", map[string]string{"a.yaml": fmt.Sprintf(pod, "app"), "kustomization.yaml": "images: [{name: app, newTag: latest}]\n"},
			[]string{"image/unpinned kustomization.yaml:1: image app gets the tag latest"}},
		{"placeholders", map[string]string{"a.yaml": fmt.Sprintf(pod, "REPLACE_ME"), "b.yaml": fmt.Sprintf(pod, "app:$TAG"), "c.yaml": fmt.Sprintf(pod, "auto")}, nil},
		{"the second document of a stream, and a list", map[string]string{"a.yaml": "# first\n---\napiVersion: v1\nkind: List\nitems:\n- kind: Pod\n  spec:\n    containers:\n    - image: app\n"},
			[]string{"image/unpinned a.yaml:9: image app has no tag"}},
		{"an alias and a merge key", map[string]string{"a.yaml": "apiVersion: v1\nkind: Pod\nx: &x\n  image: app\nspec:\n  containers:\n  - <<: *x\n    name: a\n"},
			[]string{"image/unpinned a.yaml:4: image app has no tag"}},
		{"files that are no manifests", map[string]string{"a.yaml": "image: app\n", "b.json": "{", "c.yaml": "kind: {{ x }}\n"}, nil},
	}
	for _, tc := range cases {
		found, r := run(t, discipline.Tree{Files: filesOf(tc.files), Root: ".", IsOwn: foreign})
		if diff := cmp.Diff(tc.want, found); diff != "" || len(r.Gaps) > 0 {
			t.Errorf("%s (-want +got):\n%s%v", tc.reason, diff, r.Gaps)
		}
	}
}

func TestGit(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	cases := []struct {
		reason   string
		standing gitrepo.Standing
		want     []string
	}{
		{"in order", gitrepo.Standing{Branch: "main", Upstream: "origin/main", Head: now.AddDate(-1, 0, 0)}, nil},
		{"changed", gitrepo.Standing{Changed: strings.Split("a b c d e f g h i j k l", " ")}, []string{"git/dirty d:0: 12 files not as in the last commit: a, b, c, d, e, f, g, h, i, j, 2 more"}},
		{"unpushed", gitrepo.Standing{Branch: "main", Upstream: "origin/main", Ahead: true}, []string{"git/unpushed d:0: branch main has commits that origin/main lacks"}},
		{"never pushed", gitrepo.Standing{Branch: "new", Ahead: true}, []string{"git/unpushed d:0: no branch of a remote has the last commit of branch new"}},
		{"behind", gitrepo.Standing{Branch: "main", Upstream: "origin/main", Behind: true}, []string{"git/behind d:0: origin/main has commits that branch main lacks"}},
		{"diverged", gitrepo.Standing{Branch: "main", Upstream: "origin/main", Ahead: true, Behind: true},
			[]string{"git/diverged d:0: branch main and origin/main each have commits that the other lacks"}},
		{"old", gitrepo.Standing{Branch: "x", Default: "origin/main", Head: now.AddDate(0, 0, -91)},
			[]string{"git/ref-old d:0: the last commit of branch x is from 2026-03-02, and origin/main has newer ones"}},
		{"not old yet", gitrepo.Standing{Branch: "x", Default: "origin/main", Head: now.AddDate(0, 0, -89)}, nil},
	}
	for _, tc := range cases {
		found, _ := run(t, discipline.Tree{Files: filesOf(map[string]string{"d/a.txt": ""}), Root: "d", Standing: &tc.standing, Now: now})
		if diff := cmp.Diff(tc.want, found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}

// TestPinned finds a declaration that reads an old commit.
func TestPinned(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for pinned, want := range map[time.Time][]string{
		now.AddDate(0, 0, -91): {"git/ref-old d:0: the ref is at a commit from 2026-03-02, and the default branch is at another one"},
		now.AddDate(0, 0, -89): nil,
		{}:                     nil,
	} {
		found, _ := run(t, discipline.Tree{Files: filesOf(map[string]string{"d/a.txt": ""}), Root: "d", Now: now, Pinned: pinned})
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pinned, diff)
		}
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()
	files := filesOf(map[string]string{"a.yaml": "apiVersion: v1\nkind: Pod\nspec: {containers: [{image: a}, {image: \"b:1\"}]}\n"})
	for patterns, want := range map[string]int{"": 1, "image/*": 1, "image/no-digest": 1, "image/*,image/no-digest": 2, "!image/*": 0, "!git/*": 1, "git/*": 0, "image/*,!image/unpinned": 0, "*": 1, "*,!image/*": 0} {
		var selection []string
		if patterns != "" {
			selection = strings.Split(patterns, ",")
		}
		if found, _ := run(t, discipline.Tree{Files: files, Root: "."}, selection...); len(found) != want {
			t.Errorf("%q: %q, want %d", patterns, found, want)
		}
	}
	if unknown := (discipline.Selection{"git/*", "!gti/*", "["}).Unknown(); !cmp.Equal(unknown, []string{"!gti/*", "["}) {
		t.Errorf("unknown: %q", unknown)
	}
}

// TestHostile checks a folder that is made to hang, to leave the folder, or to take much time and memory.
func TestHostile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pod := "apiVersion: v1\nkind: Pod\n"
	bomb := pod + "a0: &a0 [x]\n"
	merge := pod + "m0: &m0 {a: 1}\n"
	for i := 1; i < 40; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
		merge += fmt.Sprintf("m%d: &m%d {<<: [*m%d, *m%d]}\n", i, i, i-1, i-1)
	}
	for name, text := range map[string]string{
		"bomb.yaml": bomb + "spec: {containers: *a39}\n", "merge.yaml": merge + "spec: *m39\n", "deep.tf": "a = " + strings.Repeat("[", 1<<20),
		"deep.yaml": pod + "a: " + strings.Repeat("[", 1<<20), "self.yaml": pod + "spec: &s {containers: [*s], <<: *s}\n", "evil\x1b[31m.yaml": pod + "spec: {containers: [{image: a}]}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	large, err := os.Create(filepath.Join(dir, "large.tf"))
	if err == nil {
		err = errors.Join(large.Truncate(1<<30), large.Close())
	}
	outside := filepath.Join(t.TempDir(), "outside.tf")
	err = errors.Join(err, os.WriteFile(outside, []byte("module \"m\" {\n  source = \"a/b/c\"\n}\n"), 0o600), syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600),
		os.Symlink(".", filepath.Join(dir, "loop")), os.Symlink("/etc", filepath.Join(dir, "etc")), os.Symlink(outside, filepath.Join(dir, "outside.tf")))
	if err != nil {
		t.Fatal(err)
	}
	files, err := folder.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = files.Close() }()
	found, r := run(t, discipline.Tree{Files: files, Root: "."})
	if diff := cmp.Diff([]string{"image/unpinned evil\x1b[31m.yaml:3: image a has no tag"}, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	gaps := map[string]bool{}
	for _, g := range r.Gaps {
		gaps[g.File] = true
	}
	for _, name := range []string{"deep.tf", "deep.yaml", "large.tf", "outside.tf", "pipe.yaml"} {
		if !gaps[name] {
			t.Errorf("%s is no gap: %v", name, r.Gaps)
		}
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := discipline.Run(ctx, discipline.Tree{Files: filesOf(map[string]string{"a.yaml": ""}), Root: "."}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// FuzzManifest checks that no manifest, kustomization or chart ends the process, and that findings have lines of the file.
func FuzzManifest(f *testing.F) {
	f.Add("apiVersion: v1\nkind: Pod\nspec: {containers: [{image: a}]}\n")
	f.Add("resources: [https://github.com/a/b]\nimages: &a [*a]\n")
	f.Add("dependencies: [{name: a, version: \"*\", repository: x}]\n---\n<<: 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, r := run(t, discipline.Tree{Files: filesOf(map[string]string{"a.yaml": text, "k/kustomization.yaml": text, "c/Chart.yaml": text, "t/main.tf": text}), Root: "."})
		for _, found := range r.Findings {
			if found.Line < 0 || found.Line > strings.Count(text, "\n")+1 {
				t.Errorf("%+v", found)
			}
		}
	})
}
