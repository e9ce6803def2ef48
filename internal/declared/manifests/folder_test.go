package manifests_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

// A folderCase is a folder with the expected claims and problems.
type folderCase struct {
	reason   string
	files    map[string]string
	claims   []string
	problems []string
}

func TestFolder(t *testing.T) {
	t.Parallel()
	checkFolders(t, map[string]folderCase{
		"Many": {
			reason: "several documents, files and folders, each with file and line",
			files: map[string]string{
				"web.yaml":    "# the shop\n" + configMap("a") + "---\n" + deployment,
				"sub/b.yml":   configMap("b"),
				"sub/c.json":  `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "shop"}}`,
				"sub/notes":   configMap("not a manifest's name"),
				".hid.yaml":   configMap("hidden"),
				".git/a.yaml": configMap("hidden"),
			},
			claims: []string{
				"deploy/web.yaml:2 ConfigMap default/a", "deploy/sub/b.yml:1 ConfigMap default/b",
				"deploy/sub/c.json:1 ConfigMap shop/c", "deploy/web.yaml:9 Deployment.apps default/web",
			},
		},
		"List": {
			reason: "the items of a list, each with its own line",
			files: map[string]string{
				"list.yaml":  "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n- apiVersion: v1\n  kind: List\n  items:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n",
				"typed.yaml": "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: c}\n",
				"empty.yaml": "apiVersion: v1\nkind: List\nitems: []\n",
				"wrong.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: d}}\n- 3\n",
			},
			claims: []string{
				"deploy/list.yaml:4 ConfigMap default/a", "deploy/list.yaml:7 ConfigMap default/b",
				"deploy/typed.yaml:4 ConfigMap default/c", "deploy/wrong.yaml:4 ConfigMap default/d",
			},
			problems: []string{"deploy/wrong.yaml:5: lacks apiVersion or kind, and the file's other documents have both"},
		},
		"Foreign": {
			reason: "files that are not manifests are ignored",
			files: map[string]string{
				"a.yaml":              configMap("a"),
				"values.yaml":         "image: web\nreplicas: 2\n",
				"docker-compose.yml":  "services:\n  web: {image: web}\n",
				"package.json":        `{"name": "web", "kind": "library"}`,
				"patch/component.yml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n",
			},
			claims: []string{"deploy/a.yaml:1 ConfigMap default/a"},
		},
	})
}

func TestFolderSpecialCases(t *testing.T) {
	t.Parallel()
	checkFolders(t, map[string]folderCase{
		"Windows": {
			reason: "a byte order mark and Windows line ends",
			files: map[string]string{
				"a.yaml": "\ufeff" + strings.ReplaceAll(configMap("a")+"---\n"+configMap("b"), "\n", "\r\n"),
			},
			claims: []string{"deploy/a.yaml:1 ConfigMap default/a", "deploy/a.yaml:8 ConfigMap default/b"},
		},
		"CustomKind": {
			reason: "kinds that the folder defines, in any order",
			files: map[string]string{
				"a.yaml": "apiVersion: example.org/v1\nkind: Site\nmetadata: {name: main}\n---\napiVersion: example.org/v1\nkind: Shop\nmetadata: {name: main}\n",
				"z.yaml": crd("Site", "Cluster") + "---\n" + crd("Shop", "Namespaced"),
			},
			claims: []string{
				"deploy/z.yaml:12 CustomResourceDefinition.apiextensions.k8s.io Shops.example.org",
				"deploy/z.yaml:1 CustomResourceDefinition.apiextensions.k8s.io Sites.example.org",
				"deploy/a.yaml:5 Shop.example.org default/main", "deploy/a.yaml:1 Site.example.org main",
			},
		},
		"NamedLikeAFile": {
			reason:   "a folder whose name ends in .yaml is a folder",
			files:    map[string]string{"x.yaml/a.yaml": configMap("a")},
			claims:   []string{"deploy/x.yaml/a.yaml:1 ConfigMap default/a"},
			problems: []string{},
		},
	})
}

func TestFolderProblems(t *testing.T) {
	t.Parallel()
	checkFolders(t, map[string]folderCase{
		"Broken": {
			reason: "a broken document does not affect the others",
			files: map[string]string{
				"a.yaml":     configMap("a") + "---\nb: [1\n---\n" + configMap("c"),
				"dup.yaml":   "a: 1\na: 2\n",
				"tab.yaml":   "a:\n\tb: 1\n",
				"utf.yaml":   "a: \xff\n",
				"chart.yaml": "name: {{ .Values.name }}\n",
			},
			claims: []string{"deploy/a.yaml:1 ConfigMap default/a", "deploy/a.yaml:10 ConfigMap default/c"},
			problems: []string{
				"deploy/a.yaml:8: did not find expected ',' or ']'",
				"deploy/chart.yaml:1: a list or map stands where a key belongs (a template that was not rendered?)",
				`deploy/dup.yaml:2: key "a" stands here and in line 1`,
				"deploy/tab.yaml:2: a tab indents this line; YAML wants spaces",
				"deploy/utf.yaml:1: not UTF-8 text; save the file as UTF-8",
			},
		},
		"Nameless": {
			reason: "an object without a name cannot be compared",
			files: map[string]string{
				"a.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: once-\n---\napiVersion: v1\nkind: ConfigMap\n---\nfoo: bar\n",
			},
			claims: []string{},
			problems: []string{
				"deploy/a.yaml:1: Job: has generateName and no name: each apply creates another object, and none can be compared",
				"deploy/a.yaml:6: ConfigMap: has no metadata.name; give it one",
				"deploy/a.yaml:9: lacks apiVersion or kind, and the file's other documents have both",
			},
		},
		"Helm": {
			reason: "a chart is not read",
			files: map[string]string{
				"a.yaml": configMap("a"), "chart/Chart.yaml": "name: web\n",
				"chart/templates/x.yaml": "name: {{ .Values.name }}\n",
			},
			claims:   []string{"deploy/a.yaml:1 ConfigMap default/a"},
			problems: []string{"deploy/chart: a Helm chart; declare it with type helm, or exclude it"},
		},
	})
}

func checkFolders(t *testing.T, cases map[string]folderCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := loadDir(t, deploy(t, tc.files))
			if diff := cmp.Diff(tc.claims, claims(d)); diff != "" {
				t.Errorf("%s: claims (-want +got):\n%s", tc.reason, diff)
			}
			if tc.problems == nil {
				tc.problems = []string{}
			}
			if diff := cmp.Diff(tc.problems, problems(d)); diff != "" {
				t.Errorf("%s: problems (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func crd(kind, scope string) string {
	return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ` + kind + `s.example.org}
spec:
  group: example.org
  scope: ` + scope + `
  names: {kind: ` + kind + `}
  versions:
  - name: v1
    storage: true
`
}

func TestFolderDeclaration(t *testing.T) {
	t.Parallel()
	d := loadDir(t, deploy(t, map[string]string{
		"all.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\n" +
			"apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\nstringData: {password: hunter2}\n---\n" +
			"apiVersion: v1\nkind: Secret\nmetadata: {name: e, namespace: other}\nstringData: {password: ENC}\nsops: {mac: x}\n---\n" +
			crd("Site", "Cluster"),
	}))
	if d.Name != "shop" || cmp.Diff(d.Governs, []string{"prod"}) != "" || d.Revision != "" {
		t.Errorf("got %q governing %v at %q", d.Name, d.Governs, d.Revision)
	}
	if diff := cmp.Diff([]model.Scope{{Place: "other"}, {Place: "shop"}}, d.Scopes); diff != "" {
		t.Errorf("scopes (-want +got):\n%s", diff)
	}
	if _, ok := d.Kinds["kubernetes/Site.example.org"]; !ok || len(d.Kinds) != 1 {
		t.Errorf("got kinds %v, want those of the folder", d.Kinds)
	}
	for _, c := range d.Claims {
		if strings.Contains(string(c.Value.AppendJSON(nil)), "hunter2") {
			t.Errorf("claim on %s shows a secret", c.ID)
		}
		if encrypted := c.ID == "other/e"; encrypted != (c.Unchecked != "") {
			t.Errorf("claim on %s: unchecked is %q", c.ID, c.Unchecked)
		}
	}
}

func TestFolderLinks(t *testing.T) {
	t.Parallel()
	dir := deploy(t, map[string]string{"real/a.yaml": configMap("a")})
	outside := t.TempDir()
	write(t, outside, map[string]string{"secret.yaml": configMap("outside")})
	for link, to := range map[string]string{
		"file.yaml": "real/a.yaml", "folder": "real", "out.yaml": filepath.Join(outside, "secret.yaml"),
		"outside": outside, "up": "../..", "gone.yaml": "nowhere.yaml", "gone.txt": "nowhere",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	d := loadDir(t, dir)
	if diff := cmp.Diff([]string{"deploy/file.yaml:1 ConfigMap default/a", "deploy/real/a.yaml:1 ConfigMap default/a"}, claims(d)); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	const out = ": a symbolic link that leads out of the folder; it is not followed"
	want := []string{"deploy/gone.yaml: a symbolic link to a missing file", "deploy/out.yaml" + out, "deploy/outside" + out, "deploy/up" + out}
	if diff := cmp.Diff(want, problems(d)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestFolderSelection(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.yaml": configMap("a"), "b.yml": configMap("b"), "dev/c.yaml": configMap("c"), "apps/x/dev/d.yaml": configMap("d"),
		"apps/y/prod/e.yaml": configMap("e"), "chart/Chart.yaml": "name: x\n",
	}
	cases := map[string]struct {
		reason           string
		include, exclude []string
		want             []string
	}{
		"ByName":      {"a pattern without slash matches a name at any depth", nil, []string{"dev", "chart"}, []string{"a", "b", "e"}},
		"ByExtension": {"include excludes all other files", []string{"*.yaml"}, []string{"chart"}, []string{"a", "c", "d", "e"}},
		"ByPath":      {"a pattern with a slash matches from the root", []string{"apps/*/dev"}, []string{"chart"}, []string{"d"}},
		"AnyDepth":    {"two stars match any depth", []string{"**/dev/"}, []string{"./chart"}, []string{"c", "d"}},
		"Anchored":    {"a leading slash anchors a name", nil, []string{"/dev", "c?art"}, []string{"a", "b", "d", "e"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := manifests.Defaults()
			config.Dir, config.Include, config.Exclude = deploy(t, files), tc.include, tc.exclude
			d, err := load(t, config)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, c := range d.Claims {
				got = append(got, c.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(d.Problems) > 0 {
				t.Errorf("%s (-want +got):\n%s%v", tc.reason, diff, d.Problems)
			}
		})
	}
}

func TestSingleFile(t *testing.T) {
	t.Parallel()
	dir := deploy(t, map[string]string{"a.yaml": configMap("a"), "b.yaml": configMap("b"), "odd.txt": configMap("c")})
	for file, want := range map[string]string{
		"a.yaml":  "deploy/a.yaml:1 ConfigMap default/a",
		"odd.txt": "deploy/odd.txt:1 ConfigMap default/c",
	} {
		if diff := cmp.Diff([]string{want}, claims(loadDir(t, filepath.Join(dir, file)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

func TestLabel(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, path, label string
		want                []string
	}{
		"None":     {"the folder's own name", "", "", []string{"deploy/a.yaml:1", "deploy/sub/b.yaml:1"}},
		"Path":     {"the path in the label", "", "./y//deploy/", []string{"y/deploy/a.yaml:1", "y/deploy/sub/b.yaml:1"}},
		"Here":     {"the current folder has no prefix", "", ".", []string{"a.yaml:1", "sub/b.yaml:1"}},
		"Above":    {"a path that goes up", "", "../deploy", []string{"../deploy/a.yaml:1", "../deploy/sub/b.yaml:1"}},
		"Absolute": {"an absolute path is kept", "", "/srv/deploy", []string{"/srv/deploy/a.yaml:1", "/srv/deploy/sub/b.yaml:1"}},
		"File":     {"a single file is its own path", "a.yaml", "y/deploy/a.yaml", []string{"y/deploy/a.yaml:1"}},
		"Link":     {"a symbolic link to a file", "link.yaml", "link.yaml", []string{"link.yaml:1"}},
		"Bare":     {"a file without a label is named after its folder", "a.yaml", "", []string{"deploy/a.yaml:1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := deploy(t, map[string]string{"a.yaml": configMap("a"), "sub/b.yaml": configMap("b")})
			if tc.path == "link.yaml" {
				if err := os.Symlink("a.yaml", filepath.Join(dir, tc.path)); err != nil {
					t.Fatal(err)
				}
			}
			config := manifests.Defaults()
			config.Dir, config.Label = filepath.Join(dir, tc.path), tc.label
			d, err := load(t, config)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range d.Claims {
				got = append(got, c.Address)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLabelInKustomizeErrors(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{"y/deploy": "y/deploy/k/gone.yaml", ".": ": k/gone.yaml", "/srv/deploy": "/srv/deploy/k/gone.yaml"} {
		config := manifests.Defaults()
		config.Dir, config.Label = deploy(t, map[string]string{"k/kustomization.yaml": "resources: [gone.yaml]\n"}), label
		d, err := load(t, config)
		if err != nil || len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Reason, want) {
			t.Errorf("label %s: got %v, %v, want %q", label, d.Problems, err, want)
		}
	}
}

func TestFolderErrors(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		files   map[string]string
		change  func(*manifests.Config)
		wantErr string
	}{
		"Empty":   {"an empty folder", nil, nil, "no manifest found in"},
		"Foreign": {"a folder without manifests", map[string]string{"values.yaml": "a: 1\n"}, nil, "looked for *.yaml, *.yml and *.json files"},
		"Gone":    {"a folder that does not exist", nil, func(c *manifests.Config) { c.Dir += "-gone" }, "deploy-gone does not exist: check the path"},
		"TooMany": {"more files than allowed", map[string]string{"a.yaml": "", "b.yaml": "", "c.yaml": ""}, func(c *manifests.Config) { c.MaxFiles = 2 }, "more than 2 files"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := manifests.Defaults()
			config.Dir = deploy(t, tc.files)
			if tc.change != nil {
				tc.change(&config)
			}
			if _, err := load(t, config); err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.wantErr)
			}
		})
	}
}

func TestFolderLimits(t *testing.T) {
	t.Parallel()
	config := manifests.Defaults()
	config.Dir = deploy(t, map[string]string{"a.yaml": configMap("a"), "big.yaml": "# " + strings.Repeat("x", 1000)})
	config.MaxFileSize = 500
	d, err := load(t, config)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"deploy/big.yaml: larger than 500 bytes; raise max_file_size or exclude it"}
	if diff := cmp.Diff(want, problems(d)); diff != "" || len(d.Claims) != 1 {
		t.Errorf("(-want +got):\n%s%d claims", diff, len(d.Claims))
	}
}

func TestDeploySettings(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		change  func(*manifests.Config)
		wantErr string
	}{
		"Negative":  {"a negative window", func(c *manifests.Config) { c.DeployWindow = -time.Second }, "deploy_window -1s: want 0 or more"},
		"Branches":  {"a folder has no branches", func(c *manifests.Config) { c.ApplyBeforeMerge = true }, "apply_before_merge applies to git"},
		"No window": {"a window of zero", func(c *manifests.Config) { c.DeployWindow = 0 }, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := manifests.Defaults()
			config.Dir = "."
			tc.change(&config)
			_, err := open(config, "")
			if tc.wantErr == "" && err != nil || tc.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tc.wantErr)) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.wantErr)
			}
		})
	}
	if d := loadDir(t, deploy(t, map[string]string{"a.yaml": configMap("a")})); d.DeployWindow != time.Hour || d.ApplyBeforeMerge {
		t.Errorf("by default: %s, %t", d.DeployWindow, d.ApplyBeforeMerge)
	}
	r := newRepository(t)
	r.commit(t, map[string]string{"a.yaml": configMap("a")})
	config := r.fromGit("")
	config.DeployWindow, config.ApplyBeforeMerge = time.Minute, true
	if d, err := load(t, config); err != nil || d.DeployWindow != time.Minute || !d.ApplyBeforeMerge {
		t.Errorf("set: %s, %t, %v", d.DeployWindow, d.ApplyBeforeMerge, err)
	}
}

func TestTenThousandDocuments(t *testing.T) {
	t.Parallel()
	var stream strings.Builder
	for i := range 10_000 {
		stream.WriteString("---\n" + configMap(fmt.Sprintf("c%05d", i)))
	}
	d := loadDir(t, deploy(t, map[string]string{"all.yaml": stream.String()}))
	if len(d.Claims) != 10_000 || d.Claims[9_999].Address != "deploy/all.yaml:69995" {
		t.Errorf("got %d claims, the last at %s", len(d.Claims), d.Claims[len(d.Claims)-1].Address)
	}
}

func TestOpenInvalidSettings(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		change  func(*manifests.Config)
		wantErr string
	}{
		"Nothing":   {"nothing to read", func(*manifests.Config) {}, "neither dir nor git"},
		"Both":      {"two locations", func(c *manifests.Config) { c.Dir, c.Git = "a", "b" }, "dir and git"},
		"DirRef":    {"a ref of a folder", func(c *manifests.Config) { c.Dir, c.Ref = "a", "main" }, "apply to git"},
		"TwoKeys":   {"two credentials", func(c *manifests.Config) { c.Git, c.TokenFile, c.SSHKeyFile = "https://x/y", "t", "k" }, "token_file and ssh_key_file"},
		"Relative":  {"a local repository by a relative path", func(c *manifests.Config) { c.Git = "../repo" }, "neither a URL nor an absolute path"},
		"ClearText": {"a token in clear text", func(c *manifests.Config) { c.Git, c.TokenFile = "http://example.org/x", "t" }, "clear text; use https"},
		"InURL":     {"a password in clear text, which is not shown", func(c *manifests.Config) { c.Git = "http://u:hunter2@example.org/x" }, "git: http://example.org/x would send"},
		"BadURL":    {"a URL that cannot be read is not shown", func(c *manifests.Config) { c.Git = "https://u:hunter2@exa mple.org:x/" }, "malformed URL"},
		"Protocol":  {"a protocol without protection", func(c *manifests.Config) { c.Git = "git://example.org/x" }, "want https, ssh or a local path"},
		"Path":      {"a path out of the repository", func(c *manifests.Config) { c.Git, c.Path = "https://example.org/x", "../x" }, "path ../x leads out"},
		"Size":      {"a file size of zero", func(c *manifests.Config) { c.Dir, c.MaxFileSize = "a", 0 }, "want more than 0"},
		"Timeout":   {"a timeout of zero", func(c *manifests.Config) { c.Dir, c.Timeout = "a", 0 }, "timeout 0s"},
		"Include":   {"a malformed pattern", func(c *manifests.Config) { c.Dir, c.Include = "a", []string{"["} }, `include: pattern "["`},
		"Exclude":   {"a pattern that matches everything", func(c *manifests.Config) { c.Dir, c.Exclude = "a", []string{"/"} }, `exclude: pattern "/"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := manifests.Defaults()
			tc.change(&config)
			_, err := open(config, "")
			if err == nil || !strings.Contains(err.Error(), tc.wantErr) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.wantErr)
			}
		})
	}
}
