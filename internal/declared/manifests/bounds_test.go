//go:build !race

package manifests_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/declared/manifests"
)

// TestBounds proves that files which expand to much data cause little memory use in the
// daemon: they are problems, or the declaration is an error, in time.
func TestBounds(t *testing.T) {
	t.Parallel()
	repeated := func(n int, text string) string {
		var s strings.Builder
		for i := range n {
			s.WriteString(strings.ReplaceAll(text, "N", fmt.Sprint(i)))
		}
		return s.String()
	}
	// Each document expands to 54000 values.
	aliases := "---\napiVersion: v1\nkind: Foo\nmetadata: {name: fN}\nspec:\n  a: &a [" + strings.Repeat("x,", 30) +
		"]\n  b: &b [" + strings.Repeat("*a,", 30) + "]\n  c: &c [" + strings.Repeat("*b,", 30) + "]\n  d: [*c, *c]\n"
	wide := "apiVersion: v1\nkind: Foo\nmetadata: {name: fN}\nspec: [" + strings.Repeat("{},", 60_000) + "]\n"
	many := map[string]string{}
	for i := range 40 {
		many[fmt.Sprintf("wide%d.yaml", i)] = strings.ReplaceAll(wide, "N", fmt.Sprint(i))
	}
	bases := map[string]string{}
	for i := range 60 {
		bases[fmt.Sprintf("k%d/kustomization.yaml", i)] = fmt.Sprintf("namePrefix: k%d-\nconfigMapGenerator:\n", i) +
			repeated(4, "- {name: cN, files: [big]}\n")
		bases[fmt.Sprintf("k%d/big", i)] = strings.Repeat("x", 300<<10)
	}
	cases := map[string]struct {
		reason   string
		files    map[string]string
		wantErr  string
		problems int
	}{
		"aliases":        {"many documents of few aliases each", map[string]string{"a.yaml": repeated(400, aliases)}, "aliases stand for more than", 101},
		"broken":         {"one small file has many broken documents", map[string]string{"a.yaml": strings.Repeat("---\n[\n", 5000)}, "4900 more parts cannot be read", 101},
		"kinds":          {"a chart with very many kinds", map[string]string{"a/Chart.yaml": "name: a\n", "a/templates/a.yaml": "{{ x }}\n" + repeated(60_000, "kind: KN\n")}, "a Helm chart", 1},
		"values":         {"many files of many values", many, "needs more than 64 MiB of memory: read less of it, or raise its max_memory", -1},
		"built":          {"many kustomizations of one large file", bases, "needs more than 64 MiB of memory", -1},
		"one large part": {"one kustomization of many values", map[string]string{"a/kustomization.yaml": "resources: [w.yaml]\n", "a/w.yaml": repeated(3, "---\n"+wide)}, "kustomize needs more memory than it may take", 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.files["good.yaml"] = configMap("plain")
			config := manifests.Defaults()
			config.Dir, config.Timeout = deploy(t, tc.files), 5*time.Minute
			d, err := loadWithin(t, config, 64<<20)
			if tc.problems < 0 {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("%s: %v, want %q", tc.reason, err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			reasons := strings.Join(problems(d), "\n")
			if !strings.Contains(strings.Join(claims(d), "\n"), "default/plain") || !strings.Contains(reasons, tc.wantErr) || tc.problems > 1 && len(d.Problems) > tc.problems {
				t.Errorf("%s: claims %v, %d problems %.2000s, want %q", tc.reason, len(d.Claims), len(d.Problems), reasons, tc.wantErr)
			}
			for _, p := range d.Problems {
				if len(p.Extents) > 1000 {
					t.Errorf("%s: %d extents", tc.reason, len(p.Extents))
				}
			}
		})
	}
}

// TestAddressesWithoutSecrets proves that the problem of a remote base contains no password or
// token.
func TestAddressesWithoutSecrets(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"https://user:hunter2@127.0.0.1/x?token=hunter2", "git::https://us:hunter2/hunter2@127.0.0.1/x//y?ref=1&token=hunter2",
		"user:hunter2@127.0.0.1:org/repo.git", "https://example.invalid/x.yaml?token=hunter2", "ssh://hunter2@127.0.0.1/a/b",
		"file://hunter2@/a/b", "https://git:hunter2@127.0.0.1/x", "https://127.0.0.1/x?token=hunter2&ref=v1", "s3::https://hunter2:hunter2@example.invalid/x", "hunter2@github.com/a/b", "https://127.0.0.1/x.yaml?hunter2",
	} {
		for _, field := range []string{"resources", "components", "bases", "generators", "transformers", "crds", "configurations"} {
			config := manifests.Defaults()
			config.Dir = deploy(t, map[string]string{"a/kustomization.yaml": fmt.Sprintf("%s: [%q]\n", field, address), "b.yaml": configMap("x")})
			d, err := load(t, config)
			if reasons := strings.Join(problems(d), "\n"); err != nil || reasons == "" || strings.Contains(reasons, "hunter2") {
				t.Errorf("%s of %s: %s, %v", field, address, reasons, err)
			}
		}
	}
}

// TestGitFolder proves that a kustomization cannot read the git credentials of a work tree.
func TestGitFolder(t *testing.T) {
	t.Parallel()
	for _, k := range []string{
		"configMapGenerator: [{name: leak, files: [.git/config]}]\n", "secretGenerator: [{name: leak, envs: [./x/../.git/config]}]\n",
		"resources: [.git/config]\n", "configMapGenerator: [{name: leak, files: [link]}]\n",
	} {
		config := manifests.Defaults()
		config.Dir = deploy(t, map[string]string{"kustomization.yaml": k, ".git/config": "token = hunter2\n"})
		if err := os.Symlink(".git/config", filepath.Join(config.Dir, "link")); err != nil {
			t.Fatal(err)
		}
		d, err := load(t, config)
		if err != nil || len(d.Claims) != 0 || len(d.Problems) != 1 || strings.Contains(fmt.Sprint(problems(d)), "hunter2") {
			t.Errorf("%s: claims %v, problems %v, %v", k, claims(d), problems(d), err)
		}
	}
}

// TestFileNamedLikeRemoteBase proves that a file in the tree whose path looks like a remote
// base does not limit the extents of that base.
func TestFileNamedLikeRemoteBase(t *testing.T) {
	t.Parallel()
	config := manifests.Defaults()
	config.Dir = deploy(t, map[string]string{
		"a/kustomization.yaml": "resources: [\"http://127.0.0.1:1/x.yaml\"]\n", "a/http:/127.0.0.1:1/x.yaml": configMap("decoy"), "b.yaml": configMap("x"),
	})
	d, err := load(t, config)
	if err != nil || len(d.Problems) != 1 || d.Problems[0].Bounded {
		t.Errorf("problems %+v, %v; want one that may declare anything", d.Problems, err)
	}
}
