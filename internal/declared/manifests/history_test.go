package manifests_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

// A history is a repository that the git command writes to.
type history struct {
	t   testing.TB
	dir string
	// commits are the commits, in order.
	commits []string
}

func newHistory(t testing.TB) *history {
	t.Helper()
	h := &history{t: t, dir: t.TempDir()}
	h.git("", "init", "-q", "-b", "main", ".")
	return h
}

func (h *history) git(input string, args ...string) string {
	h.t.Helper()
	c := exec.CommandContext(h.t.Context(), "git", args...) //nolint:gosec // the tests' own words
	c.Dir, c.Stdin = h.dir, strings.NewReader(input)
	c.Env = []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=" + h.dir, "LC_ALL=C"}
	out, err := c.CombinedOutput()
	if err != nil {
		h.t.Fatalf("git %s: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// on creates a commit on a branch, after its head or after the given commits, numbered from 1.
// The content "" removes a file, "-> x" makes it a symbolic link to x, and "=> hash" makes it a submodule.
func (h *history) on(branch string, files map[string]string, after ...int) *history {
	h.t.Helper()
	var s strings.Builder
	number := len(h.commits) + 1
	fmt.Fprintf(&s, "commit refs/heads/%s\nmark :1\ncommitter c <c@example.org> %d +0000\ndata 0\n", branch, 1_700_000_000+number*60)
	if len(after) == 0 && number > 1 {
		fmt.Fprintf(&s, "from refs/heads/%s^0\n", branch)
	}
	for i, n := range after {
		fmt.Fprintf(&s, "%s %s\n", [...]string{"from", "merge"}[min(i, 1)], h.commits[n-1])
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content := files[name]
		to, isLink := strings.CutPrefix(content, "-> ")
		module, isModule := strings.CutPrefix(content, "=> ")
		switch {
		case isModule:
			fmt.Fprintf(&s, "M 160000 %s %s\n", module, name)
		case content == "":
			fmt.Fprintf(&s, "D %s\n", name)
		case isLink:
			fmt.Fprintf(&s, "M 120000 inline %s\ndata %d\n%s\n", name, len(to), to)
		default:
			fmt.Fprintf(&s, "M 100644 inline %s\ndata %d\n%s\n", name, len(content), content)
		}
	}
	h.git(s.String()+"\n", "fast-import", "--quiet", "--force")
	hash, err := os.ReadFile(filepath.Join(h.dir, ".git", "refs", "heads", filepath.FromSlash(branch)))
	if err != nil {
		h.t.Fatal(err)
	}
	h.commits = append(h.commits, strings.TrimSpace(string(hash)))
	return h
}

func (h *history) commit(files map[string]string) *history {
	h.t.Helper()
	return h.on("main", files)
}

func (h *history) config() manifests.Config {
	config := manifests.Defaults()
	config.Git, config.Ref, config.Path = h.dir, "main", "deploy"
	return config
}

// show returns the past of one claim of the head, as "text from-until branch" with the numbers
// of the commits, and the gap. The text is the value at path.
func (h *history) show(config manifests.Config, id string, path ...string) (versions []string, gap string) {
	h.t.Helper()
	loader, err := open(config, "")
	if err != nil {
		h.t.Fatal(err)
	}
	return h.past(loader, id, path...)
}

func (h *history) past(loader declared.Loader, id string, path ...string) (versions []string, gap string) {
	h.t.Helper()
	d, err := loader.Load(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	i := slices.IndexFunc(d.Claims, func(c model.Claim) bool { return c.ID == id })
	if i < 0 {
		h.t.Fatalf("no claim on %s in %q", id, claims(d))
	}
	found, err := loader.(declared.Historian).History(h.t.Context(), d.Revision, []*model.Claim{&d.Claims[i]})
	if err != nil {
		h.t.Fatal(err)
	}
	if found.Head != d.Revision || len(found.Pasts) != 1 {
		h.t.Fatalf("head %s, %d pasts", found.Head, len(found.Pasts))
	}
	for _, v := range found.Pasts[0].Versions {
		versions = append(versions, h.line(v, path))
	}
	if vs := found.Pasts[0].Versions; len(vs) > 0 && found.Pasts[0].Gap == "" {
		if vs[0].Value == nil || !vs[0].Value.Equal(d.Claims[i].Value) || vs[0].Until.Hash != "" {
			h.t.Errorf("the newest version of %s is not the claim's value: %v", id, vs[0])
		}
	}
	return versions, found.Pasts[0].Gap
}

func (h *history) line(v model.Version, path []string) string {
	text := "absent"
	switch {
	case len(v.Unknown) > 0:
		text = fmt.Sprintf("unknown %q", v.Unknown)
	case v.Value != nil:
		text = v.Value.At(path...).String()
	}
	place := func(c model.Commit) string {
		if c.Hash == "" {
			return "-"
		}
		return fmt.Sprint(slices.Index(h.commits, c.Hash) + 1)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s-%s %s", text, place(v.From), place(v.Until), v.Branch))
}

// web returns a ConfigMap "web" with one value.
func web(value string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  v: " + value + "\n"
}

func in(name, content string) map[string]string { return map[string]string{name: content} }

func TestHistory(t *testing.T) {
	t.Parallel()
	const file = "deploy/web.yaml"
	kustomization := "resources: [web.yaml]\nnamespace: default\n"
	secret := func(v string) string {
		return "apiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {v: " + v + "}\n"
	}
	cases := map[string]struct {
		reason string
		make   func(h *history) *history
		change func(*manifests.Config)
		want   []string
		gap    string
	}{
		"Plain": {
			"a value is replaced; commits of other files do not count",
			func(h *history) *history {
				return h.commit(in("README", "x")).commit(in(file, web("a"))).commit(in("README", "y")).commit(in(file, web("b")))
			}, nil, []string{"b 4--", "a 2-4", "absent 1-2"}, "",
		},
		"Moved": {
			"the object moved to another file, and into a list",
			func(h *history) *history {
				list := "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: default}, data: {v: a}}\n"
				return h.commit(in(file, web("a"))).commit(map[string]string{file: "", "deploy/sub/all.yml": list}).commit(in("deploy/sub/all.yml", configMap("x")+"---\n"+web("b")))
			}, nil, []string{"b 3--", "a 1-3"}, "",
		},
		"Same name": {
			"other namespaces, kinds and paths, and excluded files, are not the object",
			func(h *history) *history {
				elsewhere := strings.Replace(web("evil"), "name: web", "name: web\n  namespace: other", 1)
				kind := strings.Replace(web("evil"), "ConfigMap", "Secret", 1)
				longer := strings.Replace(web("evil"), "name: web", "name: web-2", 1)
				return h.commit(map[string]string{
					"deploy/1.yaml": elsewhere, "deploy/2.yaml": kind, "deploy/3.yaml": longer, "other/web.yaml": web("evil"), "deploy.yaml": web("evil"),
					"deploy/values/web.yaml": web("evil"), "deploy/.hidden/web.yaml": web("evil"), "deploy/web.txt": web("evil"),
				}).commit(in(file, web("a")))
			}, func(c *manifests.Config) { c.Exclude = []string{"values"} }, []string{"a 2--", "absent 1-2"}, "",
		},
		"Included": {
			"only included files are read",
			func(h *history) *history {
				return h.commit(in("deploy/old.yml", web("a"))).commit(map[string]string{"deploy/old.yml": "", file: web("b")})
			}, func(c *manifests.Config) { c.Include = []string{"*.yaml"} }, []string{"b 2--", "absent 1-2"}, "",
		},
		"Again": {
			"deleted, created again, and reverted",
			func(h *history) *history {
				return h.commit(in(file, web("a"))).commit(map[string]string{file: "", "deploy/x.yaml": configMap("x")}).
					commit(in(file, web("b"))).commit(in(file, web("a"))).commit(in(file, web("b")))
			}, nil, []string{"b 5--", "a 4-5", "b 3-4", "absent 2-3", "a 1-2"}, "",
		},
		"Merge": {
			"an intermediate state of a merged branch",
			func(h *history) *history {
				return h.commit(in(file, web("a"))).commit(in(file, web("b"))).
					on("side", in(file, web("s")), 1).on("side", in(file, web("c"))).on("main", in(file, web("c")), 2, 4)
			}, nil, []string{"c 5--", "b 2-5", "a 1-2", "s 3-4"}, "",
		},
		"Branch": {
			"a state of a branch only",
			func(h *history) *history {
				return h.commit(in(file, web("a"))).on("feature/x", in(file, web("evil")), 1).on("main", in(file, web("b")))
			}, nil, []string{"b 3--", "a 1-3", "evil 2-- feature/x"}, "",
		},
		"Linked out of the path": {
			"a link's target changes outside of the declared path",
			func(h *history) *history {
				return h.commit(map[string]string{"shared/web.yaml": web("a"), file: "-> ../shared/web.yaml"}).
					commit(in("shared/web.yaml", web("b"))).commit(in("README", "x"))
			}, nil, []string{"b 2--", "a 1-2"}, "",
		},
		"Link that leads out": {
			"the target of a link out of the repository is unknown",
			func(h *history) *history {
				return h.commit(in(file, "-> ../../../etc/passwd")).commit(in(file, web("b")))
			}, nil, []string{"b 2--"}, "at commit FIRST: deploy/web.yaml: a symbolic link that leads out of the folder; it is not followed",
		},
		"Broken": {
			"a broken old file with the name is a gap",
			func(h *history) *history {
				return h.commit(in(file, web("a"))).commit(in(file, "kind: [\nname: web\n")).commit(in(file, web("b")))
			}, nil, []string{"b 3--", "a 1-2"}, "at commit SECOND: deploy/web.yaml:3: ",
		},
		"Broken elsewhere": {
			"a broken old file without the name is ignored",
			func(h *history) *history {
				return h.commit(map[string]string{file: web("a"), "deploy/x.yaml": "a: [\\\n"}).commit(map[string]string{file: web("b"), "deploy/x.yaml": ""})
			}, nil, []string{"b 2--", "a 1-2"}, "",
		},
		"Escaped": {
			"an escaped name",
			func(h *history) *history {
				return h.commit(in(file, strings.Replace(web("a"), "name: web", `name: "w\u0065b"`, 1))).commit(in(file, web("b")))
			}, nil, []string{"b 2--", "a 1-2"}, "",
		},
		"Bomb": {
			"nested aliases are an error, as in Load",
			func(h *history) *history {
				bomb := "a: &a [web,web,web,web,web,web,web,web,web]\n"
				for c := 'b'; c < 'l'; c++ {
					bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
				}
				return h.commit(in(file, bomb)).commit(in(file, web("b")))
			}, nil, []string{"b 2--"}, "at commit FIRST: deploy/web.yaml:",
		},
		"Too large": {
			"an old file over max_file_size is not read",
			func(h *history) *history {
				return h.commit(in(file, web("a")+"# "+strings.Repeat("x", 1000))).commit(in(file, web("b")))
			}, func(c *manifests.Config) { c.MaxFileSize = 900 }, []string{"b 2--"}, "at commit FIRST: deploy/web.yaml: larger than 900 bytes",
		},
		"Chart": {
			"a chart is a gap if the object is in no manifest",
			func(h *history) *history {
				return h.commit(map[string]string{"deploy/c/Chart.yaml": "name: c\n", "deploy/x.yaml": configMap("x")}).commit(in(file, web("b")))
			}, nil, []string{"b 2--"}, "at commit FIRST: deploy/c: a Helm chart",
		},
		"Cut": {
			"commits beyond the limit are a gap",
			func(h *history) *history {
				return h.commit(in(file, web("a"))).commit(in(file, web("b"))).commit(in(file, web("c")))
			}, func(c *manifests.Config) { c.Commits = 2 }, []string{"c 3--", "b 2-3"}, "history is cut at 2 commits",
		},
		"Off": {
			"history: 0 reads nothing",
			func(h *history) *history { return h.commit(in(file, web("a"))) },
			func(c *manifests.Config) { c.Commits = 0 }, nil, "the declaration's setting history is 0",
		},
		"Sealed": {
			"secrets are compared by their digests",
			func(h *history) *history {
				return h.commit(in(file, secret("hunter2"))).commit(in(file, secret("hunter3"))).commit(in(file, secret("hunter2")))
			}, nil, []string{"x 3--", "x 2-3", "x 1-2"}, "",
		},
		"Encrypted": {
			"a value encrypted with SOPS is unknown",
			func(h *history) *history {
				return h.commit(in(file, secret("x")+"sops: {mac: y}\n")).commit(in(file, secret("z")))
			}, nil, []string{"x 2--", `unknown [""] 1-2`}, "",
		},
		"Namespace": {
			"a manifest without a namespace is in the default one",
			func(h *history) *history {
				named := strings.Replace(web("a"), "name: web", "name: web\n  namespace: default", 1)
				return h.commit(in(file, named)).commit(in(file, web("b")))
			}, nil, []string{"b 2--", "a 1-2"}, "",
		},
		"Kustomization": {
			"a plain file is moved into a kustomization, whose patch and image change",
			func(h *history) *history {
				return h.commit(in(file, web("a"))).
					commit(in("deploy/kustomization.yaml", kustomization+"patches:\n- patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {v: p}}'\n")).
					commit(in("deploy/kustomization.yaml", kustomization)).commit(in(file, web("c")))
			}, nil, []string{"c 4--", "a 3-4", "p 2-3", "a 1-2"}, "",
		},
		"Image": {
			"the image tag of a kustomization changes and is removed",
			func(h *history) *history {
				pod := strings.Replace(web("a"), "data:\n  v: a\n", "", 1)
				pod = strings.Replace(pod, "ConfigMap", "Pod", 1) + "data: {v: pod}\nspec: {containers: [{name: a, image: 'x:1'}]}\n"
				tagged := func(tag string) string { return kustomization + "images: [{name: x, newTag: '" + tag + "'}]\n" }
				return h.commit(map[string]string{file: pod, "deploy/kustomization.yaml": tagged("2")}).
					commit(in("deploy/kustomization.yaml", tagged("3"))).commit(in("deploy/kustomization.yaml", kustomization))
			}, nil, []string{"pod 3--", "pod 2-3", "pod 1-2"}, "",
		},
		"Base": {
			"a base outside of the path changes; the name has a prefix",
			func(h *history) *history {
				base := strings.Replace(web("a"), "name: web", "name: e", 1)
				return h.commit(map[string]string{
					"base/web.yaml": base, "base/kustomization.yaml": "resources: [web.yaml]\n",
					"deploy/kustomization.yaml": "resources: [../base]\nnamePrefix: w\nnameSuffix: b\nnamespace: default\n",
				}).commit(in("README", "x")).commit(in("base/web.yaml", strings.Replace(base, "v: a", "v: b", 1)))
			}, nil, []string{"b 3--", "a 1-3"}, "",
		},
		"Generator": {
			"an old kustomization that cannot be built is a gap",
			func(h *history) *history {
				return h.commit(in("deploy/kustomization.yaml", "namePrefix: w\nresources: [gone.yaml]\n")).
					commit(map[string]string{"deploy/kustomization.yaml": kustomization, file: web("a")})
			}, nil, []string{"a 2--"}, "at commit FIRST: deploy/kustomization.yaml: kustomize cannot build it",
		},
		"Remote base": {
			"an old remote base is never fetched",
			func(h *history) *history {
				return h.commit(in("deploy/kustomization.yaml", "resources: ['https://127.0.0.1:1/x//y?ref=z']\n")).
					commit(map[string]string{"deploy/kustomization.yaml": kustomization, file: web("a")})
			}, func(c *manifests.Config) { c.AllowNetwork = true }, []string{"a 2--"}, "at commit FIRST: deploy/kustomization.yaml: needs https://127.0.0.1:1/x//y?ref=z",
		},
		"Path came later": {
			"before the declared path existed, nothing was declared",
			func(h *history) *history { return h.commit(in("x", "y")).commit(in(file, web("a"))) },
			func(c *manifests.Config) { c.Path = file }, []string{"a 2--", "absent 1-2"}, "",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := tc.make(newHistory(t))
			config := h.config()
			if tc.change != nil {
				tc.change(&config)
			}
			loader, err := open(config, "")
			if err != nil {
				t.Fatal(err)
			}
			want := strings.NewReplacer("FIRST", h.commits[0][:12], "SECOND", h.commits[min(1, len(h.commits)-1)][:12]).Replace(tc.gap)
			for _, try := range []string{"first", "again"} {
				versions, gap := h.past(loader, "default/web", "data", "v")
				if name == "Sealed" || name == "Encrypted" {
					versions = masked(t, versions)
				}
				if diff := cmp.Diff(tc.want, versions); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", tc.reason, try, diff)
				}
				if !strings.HasPrefix(gap, want) || (want == "") != (gap == "") {
					t.Errorf("%s: %s: gap %q, want %q", tc.reason, try, gap, want)
				}
			}
		})
	}
}

// masked replaces digests, and fails if a secret is visible.
func masked(t *testing.T, versions []string) []string {
	t.Helper()
	for i, v := range versions {
		if strings.Contains(v, "hunter") {
			t.Errorf("%s is in the clear", v)
		}
		if text, at, ok := strings.Cut(v, " "); ok && text != "unknown" {
			versions[i] = "x " + at[strings.LastIndexByte(at, ' ')+1:]
		}
	}
	return versions
}

// TestHistoryHead proves that History returns the new head of a ref that moved since Load, and
// no pasts.
func TestHistoryHead(t *testing.T) {
	t.Parallel()
	const file = "deploy/web.yaml"
	h := newHistory(t).commit(in(file, web("a"))).commit(in(file, web("b"))).on("side", in(file, web("s")), 1)
	loader, err := open(h.config(), "")
	if err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		reason string
		to     int
		want   []string
	}{
		{"as it was", 2, []string{"b 2--", "a 1-2", "s 3-- side"}},
		{"force-pushed", 3, []string{"s 3--", "a 1-3"}},
		{"moved back", 1, []string{"a 1--", "s 3-- side"}},
		{"and forth", 2, []string{"b 2--", "a 1-2", "s 3-- side"}},
	}
	before := h.commits[1]
	for _, step := range steps {
		h.git("", "update-ref", "refs/heads/main", h.commits[step.to-1])
		found, err := loader.(declared.Historian).History(t.Context(), before, []*model.Claim{{Kind: "kubernetes/ConfigMap", ID: "default/web", Name: "web"}})
		before = h.commits[step.to-1]
		if err != nil || found.Head != before || step.to != 2 && found.Pasts != nil {
			t.Errorf("%s: got %+v, %v", step.reason, found, err)
		}
		if got, gap := h.past(loader, "default/web", "data", "v"); !cmp.Equal(step.want, got) || gap != "" {
			t.Errorf("%s: got %q, gap %q, want %q", step.reason, got, gap, step.want)
		}
	}
	h.git("", "update-ref", "-d", "refs/heads/main")
	if found, err := loader.(declared.Historian).History(t.Context(), before, nil); err == nil || !strings.Contains(err.Error(), `"main"`) {
		t.Errorf("deleted ref: got %+v, %v", found, err)
	}
}

// TestHistoryOfFolder proves that a plain folder has no past.
func TestHistoryOfFolder(t *testing.T) {
	t.Parallel()
	config := manifests.Defaults()
	config.Dir = deploy(t, in("web.yaml", web("a")))
	loader, err := open(config, "")
	if err != nil {
		t.Fatal(err)
	}
	found, err := loader.(declared.Historian).History(t.Context(), "", []*model.Claim{{}, {}})
	past := model.Past{Gap: "a plain folder keeps no history"}
	if diff := cmp.Diff(model.History{Pasts: []model.Past{past, past}}, found); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestHistoryOfShallow proves that a shallow local repository has a gap.
func TestHistoryOfShallow(t *testing.T) {
	t.Parallel()
	const file = "deploy/web.yaml"
	full := newHistory(t).commit(in(file, web("a"))).commit(in(file, web("b"))).commit(in(file, web("c")))
	shallow := &history{t: t, dir: t.TempDir(), commits: full.commits}
	shallow.git("", "clone", "-q", "--depth", "2", "file://"+full.dir, ".")
	want := []string{"c 3--", "b 2-3"}
	if got, gap := shallow.show(shallow.config(), "default/web", "data", "v"); !cmp.Equal(want, got) || gap != "history is cut: the repository is shallow" {
		t.Errorf("got %q, gap %q, want %q", got, gap, want)
	}
}
