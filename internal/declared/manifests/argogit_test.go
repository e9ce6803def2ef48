package manifests_test

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

func (h *history) argoConfig() manifests.ArgoCDConfig {
	c := manifests.ArgoCDDefaults()
	c.Git, c.Path, c.SameRepository = h.dir, "apps", []string{ownURL}
	return c
}

// data returns a ConfigMap with a value.
func data(value string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: " + value + "}\n"
}

// TestRevisions checks that each source is read at its own revision.
func TestRevisions(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.commit(map[string]string{"web/a.yaml": data("old")})
	h.git("", "tag", "v1")
	h.commit(map[string]string{
		"web/a.yaml": data("new"), "apps/head.yaml": app("head", "head", "path: web"), "apps/main.yaml": app("main", "main", "path: web, targetRevision: main"),
		"apps/tag.yaml": app("tag", "tag", "path: web, targetRevision: v1"), "apps/hash.yaml": app("hash", "hash", "path: web, targetRevision: "+h.commits[0]),
		"apps/none.yaml": app("none", "none", "path: web, targetRevision: v9"), "apps/late.yaml": app("late", "late", "path: apps, targetRevision: v1"),
	})
	d, err := openArgo(t, h.argoConfig()).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range d.Claims {
		if c.Kind == "kubernetes/ConfigMap" {
			got[c.Place] = c.Value.At("data", "a").Str()
		}
	}
	if diff := cmp.Diff(map[string]string{"head": "new", "main": "new", "tag": "old", "hash": "old"}, got); diff != "" {
		t.Error(diff)
	}
	text := strings.Join(problems(d), "\n")
	for _, want := range []string{"Application argocd/none deploys the revision v9: ", "Application argocd/late deploys apps, which does not exist"} {
		if !strings.Contains(text, want) {
			t.Errorf("problems %q, want %q", text, want)
		}
	}
	if d.Revision != h.commits[1] || len(d.Problems) != 2 {
		t.Errorf("revision %s, problems %q", d.Revision, problems(d))
	}
	for _, c := range d.Claims {
		if c.Place == "head" && (len(c.AuditEvents) != 1 || c.Address != "web/a.yaml:1") {
			t.Errorf("%s %v", c.Address, c.AuditEvents)
		}
	}
}

// TestApplicationChecks checks the files of a declaration of Applications while its commit is read.
func TestApplicationChecks(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.commit(map[string]string{"web/a.yaml": data("old"), "apps/web.yaml": app("web", "shop", "path: web")})
	h.commit(map[string]string{"web/a.yaml": data("new")})
	for reason, tc := range map[string]struct {
		change func(*manifests.ArgoCDConfig)
		want   string
	}{
		"git":        {func(*manifests.ArgoCDConfig) {}, "apps of " + h.dir + ": apps/web.yaml"},
		"old commit": {func(c *manifests.ArgoCDConfig) { c.Ref = h.commits[0] }, "apps of " + h.dir + ": apps/web.yaml, pinned"},
	} {
		config := h.argoConfig()
		tc.change(&config)
		d, err := openCheckedArgo(t, config, func(ctx context.Context, f declared.Files) (func(*model.Declaration), error) {
			text := fmt.Sprintf("%s of %s: %s", f.Root, f.Repository, f.Address("apps/web.yaml"))
			if _, err := fs.ReadFile(f.FS, "apps/web.yaml"); err != nil {
				return nil, err
			}
			authors := f.Authors(ctx, []string{"apps/web.yaml", "none.yaml"})
			if who := authors["apps/web.yaml"]; who.Confidence != model.Likely || !strings.Contains(who.Evidence, h.commits[0][:12]) {
				t.Errorf("%s: author %+v", reason, who)
			}
			if who := authors["none.yaml"]; who.Confidence != model.Unknown || who.Reason == "" {
				t.Errorf("%s: author of another file %+v", reason, who)
			}
			if !f.Pinned.IsZero() {
				text += ", pinned"
			}
			return func(d *model.Declaration) { d.Notes = append(d.Notes, model.Note{Text: text}) }, nil
		}).Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Notes) != 1 || d.Notes[0].Text != tc.want {
			t.Errorf("%s: notes %v, want %q", reason, d.Notes, tc.want)
		}
	}
}

// TestApplicationHistory checks that objects of Applications have the values of earlier commits.
func TestApplicationHistory(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.commit(map[string]string{"apps/web.yaml": app("web", "shop", "path: web"), "web/a.yaml": data("one")})
	h.commit(map[string]string{"web/a.yaml": data("two")})
	h.commit(map[string]string{"web/a.yaml": "", "web/kustomization.yaml": "configMapGenerator: [{name: a, literals: [a=three], options: {disableNameSuffixHash: true}}]\n"})
	loader := openArgo(t, h.argoConfig())
	d, err := loader.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var claim *model.Claim
	for i := range d.Claims {
		if d.Claims[i].Kind == "kubernetes/ConfigMap" {
			claim = &d.Claims[i]
		}
	}
	if claim == nil || claim.Value.At("data", "a").Str() != "three" {
		t.Fatalf("claims %q", claims(d))
	}
	past, err := loader.(declared.Historian).History(t.Context(), d.Revision, []*model.Claim{claim})
	if err != nil || past.Pasts[0].Gap != "" {
		t.Fatalf("%v %+v", err, past)
	}
	var values []string
	for _, v := range past.Pasts[0].Versions {
		if v.Value != nil {
			values = append(values, v.Value.At("data", "a").Str())
		}
	}
	if got := strings.Join(values, " "); !strings.Contains(got, "one") || !strings.Contains(got, "two") {
		t.Errorf("values %q", values)
	}
}

// TestManyApplications reads 2,000 Applications.
func TestManyApplications(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	const count = 2000
	for i := range count {
		name := fmt.Sprintf("app-%d", i)
		files["apps/"+name+".yaml"] = app(name, name, "path: svc/"+name)
		files["svc/"+name+"/web.yaml"] = deployment
		if i%10 == 0 {
			files["svc/"+name+"/kustomization.yaml"] = "resources: [web.yaml]\n"
		}
	}
	dir := t.TempDir()
	write(t, dir, files)
	write(t, dir, map[string]string{".git/HEAD": "ref: refs/heads/main\n"})
	config := argoConfig(dir)
	config.Dir = filepath.Join(dir, "apps")
	d, err := openArgo(t, config).Load(t.Context())
	if err != nil || len(d.Claims) != 2*count || len(d.Problems) > 0 {
		t.Errorf("%d claims, problems %q, %v", len(d.Claims), problems(d), err)
	}
}

// TestArgoBranchOfMirror checks that a declaration stands for a branch that has another name where Argo CD reads.
func TestArgoBranchOfMirror(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.commit(map[string]string{"web/a.yaml": data("a"), "apps/a.yaml": app("a", "shop", "path: web, targetRevision: trunk"), "apps/b.yaml": app("b", "back", "path: web, targetRevision: other")})
	config := h.argoConfig()
	config.SourceBranch = "trunk"
	d, err := openArgo(t, config).Load(t.Context())
	if err != nil || len(d.Claims) != 3 || len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Reason, "the revision other") {
		t.Errorf("claims %q, problems %q, %v", claims(d), problems(d), err)
	}
}

// TestArgoNamespace checks that Applications do not make the namespace of Argo CD governed, and
// that Applications in it are.
func TestArgoNamespace(t *testing.T) {
	t.Parallel()
	d := loadArgo(t, map[string]string{"apps/web.yaml": app("web", "shop", "path: web"), "web/a.yaml": data("a")}, nil)
	want := []model.Scope{{Place: "shop"}, {Kind: "kubernetes/Application.argoproj.io", Place: "argocd"}}
	if diff := cmp.Diff(want, d.Scopes); diff != "" {
		t.Error(diff)
	}
}

// TestArgoSettings checks the settings that are refused.
func TestArgoSettings(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*manifests.ArgoCDConfig){
		"is not the name of a namespace": func(c *manifests.ArgoCDConfig) { c.Namespace = "*" },
		"max_applications 0":             func(c *manifests.ArgoCDConfig) { c.MaxApplications = 0 },
		"same_repository":                func(c *manifests.ArgoCDConfig) { c.SameRepository = []string{"x"} },
		"clusters":                       func(c *manifests.ArgoCDConfig) { c.Clusters = []string{""} },
		"neither dir nor git":            func(c *manifests.ArgoCDConfig) { c.Dir = "" },
	} {
		c := argoConfig(t.TempDir())
		change(&c)
		_, err := manifests.ArgoCDDefinition().Open(declared.Env{}, func(into any) error {
			*into.(*manifests.ArgoCDConfig) = c
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
