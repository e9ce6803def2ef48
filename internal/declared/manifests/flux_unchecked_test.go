package manifests_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

// gitRepository returns a source of Flux.
func gitRepository(url, ref string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {url: '" + url + "', ref: {" + ref + "}}\n"
}

// maybe reports whether an unreadable part of the declaration may declare a ConfigMap.
func maybe(d model.Declaration, place, name string) bool {
	r := model.Resource{Key: model.Key{Kind: "kubernetes/ConfigMap", ID: place + "/" + name}, Place: place, Name: name}
	for i := range d.Problems {
		if d.Problems[i].MayDeclare(&r) {
			return true
		}
	}
	return false
}

// TestFluxSources checks which sources are taken for the declared repository.
func TestFluxSources(t *testing.T) {
	t.Parallel()
	same := func(urls ...string) func(*manifests.FluxConfig) {
		return func(c *manifests.FluxConfig) { c.SameRepository = urls }
	}
	own := same("https://git.example.org/Team/shop.git")
	sparse := func(folders ...string) string {
		return strings.Replace(gitRepository("https://git.example.org/Team/shop.git", "branch: main"), "spec: {", "spec: {sparseCheckout: ['"+strings.Join(folders, "', '")+"'], ", 1)
	}
	for name, tc := range map[string]struct {
		source string
		change func(*manifests.FluxConfig)
		// want is the reason why the objects are unchecked, or "".
		want string
	}{
		"Not in git":        {"", nil, ""},
		"Equal":             {gitRepository("https://git.example.org/Team/shop.git", "branch: main"), own, ""},
		"SSH":               {gitRepository("ssh://git@GIT.example.org/Team/shop", "branch: main"), own, ""},
		"Other path":        {gitRepository("https://git.example.org/team/other", ""), own, "its source is GitRepository flux-system/flux-system (https://git.example.org/team/other), and driftd reads another repository"},
		"Other host":        {gitRepository("https://evil.example.org/Team/shop.git", ""), own, "driftd reads another repository"},
		"Credentials":       {gitRepository("https://alice:hunter2@git.example.org/other", ""), own, "(https://git.example.org/other)"},
		"Permitted":         {gitRepository("https://mirror.example.org/shop", "branch: main"), same("https://mirror.example.org/shop.git"), ""},
		"No remote":         {gitRepository("https://git.example.org/Team/shop.git", ""), nil, "driftd reads another repository"},
		"Tag":               {gitRepository("https://git.example.org/Team/shop.git", "tag: v1"), own, "reads the tag v1, and the folder is at another one: set source_branch"},
		"Other branch":      {gitRepository("https://git.example.org/Team/shop.git", "branch: next"), own, "reads the branch next, and the folder is at another one"},
		"Default branch":    {gitRepository("https://git.example.org/Team/shop.git", ""), own, "reads the branch master, and the folder is at another one"},
		"Named branch":      {gitRepository("https://git.example.org/Team/shop.git", "branch: next"), func(c *manifests.FluxConfig) { own(c); c.SourceBranch = "next" }, ""},
		"Full name":         {gitRepository("https://git.example.org/Team/shop.git", "name: refs/heads/next"), func(c *manifests.FluxConfig) { own(c); c.SourceBranch = "next" }, ""},
		"Another full name": {gitRepository("https://git.example.org/Team/shop.git", "name: refs/heads/main"), func(c *manifests.FluxConfig) { own(c); c.SourceBranch = "next" }, "reads the branch main"},
		"Not the named one": {gitRepository("https://git.example.org/Team/shop.git", "branch: main"), func(c *manifests.FluxConfig) { own(c); c.SourceBranch = "next" }, "reads the branch main"},
		"Checked out":       {sparse("apps"), own, ""},
		"Checked out below": {sparse("./apps/sub", "clusters"), own, "its source checks out only ./apps/sub, clusters (spec.sparseCheckout), which does not contain its path"},
		"All checked out":   {sparse("/"), own, ""},
		"Versions":          {gitRepository("https://git.example.org/Team/shop.git", "semver: '>=1'"), own, "reads the semver >=1"},
		"Commit":            {gitRepository("https://git.example.org/Team/shop.git", "commit: a123"), own, "reads the commit a123"},
		"Other kind":        {strings.Replace(gitRepository("https://git.example.org/Team/shop.git", ""), "GitRepository", "OCIRepository", 1), own, ""},
		"Another namespace": {strings.Replace(gitRepository("https://evil.example.org/x", ""), "namespace: flux-system", "namespace: other", 1), own, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"clusters/prod/a.yaml": applies("web", "  path: apps\n  targetNamespace: web\n"), "apps/a.yaml": configMap("a")}
			if tc.source != "" {
				files["clusters/prod/z.yaml"] = tc.source
			}
			d := loadFlux(t, files, tc.change)
			found := strings.Join(problems(d), "\n")
			switch {
			case tc.want == "" && (found != "" || len(others(d)) != 1):
				t.Errorf("problems %s, claims %q", found, claims(d))
			case tc.want != "" && (!strings.Contains(found, tc.want) || strings.Contains(found, "hunter2") || len(others(d)) != 0):
				t.Errorf("problems %s, want %s; claims %q", found, tc.want, claims(d))
			case tc.want != "" && (!maybe(d, "web", "a") || maybe(d, "other", "a")):
				t.Error("the objects in the target namespace, and only those, may be declared")
			}
		})
	}
}

// TestFluxUnchecked checks that what cannot be rendered is unchecked, and nothing else.
func TestFluxUnchecked(t *testing.T) {
	t.Parallel()
	release := "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: db, namespace: web}\nspec: {chart: {spec: {chart: postgres, sourceRef: {kind: HelmRepository, name: charts, namespace: flux-system}}}}\n"
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: keys, namespace: flux-system}\nstringData: {PASSWORD: hunter2}\n"
	from := func(kind string) string {
		return applies("web", "  path: apps\n  postBuild:\n    substitute: {A: x}\n    substituteFrom: [{kind: "+kind+", name: keys, optional: true}]\n")
	}
	for name, tc := range map[string]struct {
		files    map[string]string
		change   func(*manifests.FluxConfig)
		problems []string
		// unchecked and delegated are those of the claim on default/a.
		unchecked, delegated string
	}{
		"Release":       {map[string]string{"clusters/prod/a.yaml": release}, nil, []string{"the objects of HelmRelease web/db are not compared: its chart comes from HelmRepository flux-system/charts, which is not in git"}, "", ""},
		"Other cluster": {map[string]string{"clusters/prod/a.yaml": applies("edge", "  path: apps\n  kubeConfig: {secretRef: {name: edge}}\n"), "apps/a.yaml": configMap("a")}, nil, []string{"Kustomization flux-system/edge of Flux applies to another cluster (spec.kubeConfig)"}, "", ""},
		"No folder":     {map[string]string{"clusters/prod/a.yaml": applies("web", "  path: apps\n")}, nil, []string{"its path apps is no folder of the repository"}, "", ""},
		"Other artifact": {map[string]string{"clusters/prod/a.yaml": strings.Replace(applies("web", "  path: clusters\n"), "GitRepository", "ExternalArtifact", 1)}, nil,
			[]string{"its source is ExternalArtifact flux-system/flux-system, and no ArtifactGenerator in git makes it"}, "", ""},
		"Invalid manifest": {map[string]string{"clusters/prod/a.yaml": applies("web", "  path: apps\n"), "apps/a.yaml": "a: b\n"}, nil, []string{"kustomize cannot build it"}, "", ""},
		"Alias bomb":       {map[string]string{"clusters/prod/a.yaml": applies("web", "  path: apps\n"), "apps/a.yaml": bomb()}, nil, []string{""}, "", ""},
		"Strict": {map[string]string{"clusters/prod/a.yaml": applies("web", "  path: apps\n  postBuild: {substitute: {A: x}}\n"), "apps/a.yaml": configMap("a") + "  c: ${B}\n"},
			func(c *manifests.FluxConfig) { c.StrictSubstitution = true }, []string{`ConfigMap: the variables cannot be substituted: variable not set (strict mode): "B"`}, "", ""},
		"Invalid variable": {map[string]string{"clusters/prod/a.yaml": applies("web", "  path: apps\n  postBuild: {substitute: {A: x}}\n"), "apps/a.yaml": configMap("a") + "  c: ${hunter2-}!}}${\n"}, nil, []string{"the variables cannot be substituted: invalid ${…}"}, "", ""},
		"Secret in git":    {map[string]string{"clusters/prod/a.yaml": from("Secret"), "clusters/prod/s.yaml": secret, "apps/a.yaml": configMap("a") + "  c: ${PASSWORD}\n  d: ${A}${B}\n"}, nil, nil, "", "data.c to Secret flux-system/keys, from which Flux takes variables"},
		"Secret elsewhere": {map[string]string{"clusters/prod/a.yaml": from("Secret"), "apps/a.yaml": configMap("a") + "  c: ${B:=c}\n  d: ${A}\n"}, nil, nil, "", "data.c to Secret flux-system/keys, from which Flux takes variables"},
		"ConfigMap elsewhere": {map[string]string{"clusters/prod/a.yaml": from("ConfigMap"), "apps/a.yaml": configMap("a") + "  c: ${B}\n"}, nil, nil, "",
			"data.c to ConfigMap flux-system/keys, from which Flux takes variables"},
		"Name from a Secret": {map[string]string{"clusters/prod/a.yaml": from("Secret"), "apps/a.yaml": configMap("x-${B}")}, nil, []string{"ConfigMap: its name is left to Secret flux-system/keys"}, "", ""},
		"Suspended":          {map[string]string{"clusters/prod/a.yaml": applies("web", "  path: apps\n  suspend: true\n"), "apps/a.yaml": configMap("a")}, nil, nil, "Kustomization flux-system/web of Flux is suspended in git: Flux does not apply its objects", ""},
		"Only created": {map[string]string{"clusters/prod/a.yaml": applies("web", "  path: apps\n"), "apps/a.yaml": strings.Replace(configMap("a"), "  name: a\n", "  name: a\n  annotations: {kustomize.toolkit.fluxcd.io/ssa: IfNotPresent}\n", 1)}, nil, nil,
			"the object is marked so that Flux only creates it (ssa: IfNotPresent)", ""},
		"Encrypted": {map[string]string{"clusters/prod/a.yaml": applies("web", "  path: apps\n"), "apps/a.yaml": configMap("a") + "  c: ENC[AES256_GCM,data:x]\n"}, nil, nil, "contains a value that is encrypted with SOPS; driftd does not decrypt it", "data.c to a file that is encrypted with SOPS"},
		"Encrypted file of a generator": {map[string]string{
			"clusters/prod/a.yaml": applies("web", "  path: apps\n  targetNamespace: web\n"), "apps/kustomization.yaml": "secretGenerator: [{name: keys, envs: [keys.env]}]\n", "apps/keys.env": "A=ENC[AES256_GCM,data:x]\nsops_version=3\n",
		}, nil, []string{"Secret: its name is left to a file that is encrypted with SOPS"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := loadFlux(t, tc.files, tc.change)
			found := problems(d)
			if len(found) != len(tc.problems) || len(found) > 0 && (!strings.Contains(found[0], tc.problems[0]) || strings.Contains(found[0], "hunter2")) {
				t.Errorf("problems %q, want %q", found, tc.problems)
			}
			if tc.unchecked+tc.delegated == "" {
				return
			}
			c := claimOf(t, d, "default/a")
			if c.Unchecked != tc.unchecked {
				t.Errorf("unchecked %q, want %q", c.Unchecked, tc.unchecked)
			}
			var delegated []string
			for _, d := range c.Delegated {
				delegated = append(delegated, d.Path+" to "+d.To)
			}
			if diff := cmp.Diff(tc.delegated, strings.Join(delegated, ", ")); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(string(c.Value.AppendJSON(nil)), "hunter2") {
				t.Errorf("a secret in %s", c.Value.AppendJSON(nil))
			}
		})
	}
}

// bomb returns a manifest whose aliases expand to a large value.
func bomb() string {
	var s strings.Builder
	s.WriteString(configMap("a") + "  x0: &x0 [aaaaaaaaaa, aaaaaaaaaa]\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&s, "  x%d: &x%d [*x%d, *x%d, *x%d, *x%d]\n", i, i, i-1, i-1, i-1, i-1)
	}
	return s.String()
}

// TestFluxLimits checks the bounds of what one repository can make driftd do.
func TestFluxLimits(t *testing.T) {
	t.Parallel()
	t.Run("Chain", func(t *testing.T) {
		t.Parallel()
		files := map[string]string{}
		for i := range 1000 {
			files[fmt.Sprintf("apps/%d/a.yaml", i)] = applies(fmt.Sprintf("app-%d", i), fmt.Sprintf("  path: apps/%d\n", i+1))
		}
		files["clusters/prod/a.yaml"] = applies("web", "  path: apps/0\n")
		d := loadFlux(t, files, func(c *manifests.FluxConfig) { c.MaxKustomizations = 50 })
		if got := problems(d); len(d.Claims) > 60 || len(got) != 1 || !strings.Contains(got[0], "more than 50 Kustomizations and HelmReleases of Flux; raise max_kustomizations") || !maybe(d, "web", "a") {
			t.Errorf("%d claims, problems %q", len(d.Claims), got)
		}
	})
	t.Run("Circle", func(t *testing.T) {
		t.Parallel()
		d := loadFlux(t, map[string]string{
			"clusters/prod/a.yaml": applies("a", "  path: b\n"), "b/b.yaml": applies("b", "  path: c\n"), "c/c.yaml": applies("a", "  path: b\n"),
		}, nil)
		if diff := cmp.Diff([]string{}, problems(d)); diff != "" || len(d.Claims) != 3 {
			t.Errorf("%s claims %q", diff, claims(d))
		}
	})
	t.Run("Declared twice", func(t *testing.T) {
		t.Parallel()
		d := loadFlux(t, map[string]string{
			"clusters/prod/a.yaml": applies("web", "  path: b\n"), "clusters/prod/b.yaml": applies("web", "  path: c\n  targetNamespace: x\n"), "clusters/prod/kustomization.yaml": "resources: [a.yaml, sub]\n",
			"clusters/prod/sub/kustomization.yaml": "resources: [s.yaml]\n", "clusters/prod/sub/s.yaml": applies("sub", "  path: c\n"),
			"b/b.yaml": configMap("b"), "c/c.yaml": applies("web", "  path: d\n  targetNamespace: x\n"), "d/d.yaml": configMap("d"),
		}, nil)
		want := []string{"c/c.yaml:1: Kustomization flux-system/web of Flux is declared with another spec in clusters/prod/a.yaml:1, too, and only that one is read: remove one of them"}
		if diff := cmp.Diff(want, problems(d)); diff != "" || !maybe(d, "x", "d") || maybe(d, "y", "d") {
			t.Errorf("%s claims %q", diff, claims(d))
		}
	})
	t.Run("Substitution", func(t *testing.T) {
		t.Parallel()
		d := loadFlux(t, map[string]string{
			"clusters/prod/a.yaml": applies("a", "  path: b\n  postBuild: {substitute: {A: "+strings.Repeat("a", 1<<20)+"}}\n"), "b/b.yaml": configMap("a") + "  c: \"" + strings.Repeat("${A}", 1000) + "\"\n",
		}, nil)
		if got := problems(d); len(got) != 1 || !strings.Contains(got[0], "more than 16777216 bytes of values of variables") {
			t.Errorf("problems %q", got)
		}
	})
	t.Run("Replacement", func(t *testing.T) {
		t.Parallel()
		d := loadFlux(t, map[string]string{
			"clusters/prod/a.yaml": applies("a", "  path: b\n  targetNamespace: web\n  postBuild: {substitute: {A: "+strings.Repeat("a", 1<<20)+"}}\n"), "b/b.yaml": configMap("a") + "  c: \"${A//a/${A//a/${A}}}\"\n",
		}, nil)
		if got := problems(d); len(got) != 1 {
			t.Errorf("problems %.300q", got)
		}
	})
	t.Run("Twice", func(t *testing.T) {
		t.Parallel()
		d := loadFlux(t, map[string]string{
			"clusters/prod/a.yaml": applies("a", "  path: b\n"), "clusters/prod/b.yaml": applies("b", "  path: b\n  commonMetadata: {labels: {x: y}}\n"), "b/b.yaml": configMap("a"),
		}, nil)
		if got := others(d); len(got) != 2 {
			t.Errorf("claims %q", got)
		}
	})
}

// TestFluxSettings checks that invalid settings are refused.
func TestFluxSettings(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*manifests.FluxConfig){
		"No place":          func(c *manifests.FluxConfig) { c.Dir = "" },
		"Kustomizations":    func(c *manifests.FluxConfig) { c.MaxKustomizations = 0 },
		"Same repository":   func(c *manifests.FluxConfig) { c.SameRepository = []string{"shop"} },
		"Negative timeouts": func(c *manifests.FluxConfig) { c.Timeout = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := manifests.FluxDefaults()
			config.Dir = "."
			change(&config)
			if _, err := manifests.FluxDefinition().Open(declared.Env{}, func(into any) error { *into.(*manifests.FluxConfig) = config; return nil }); err == nil {
				t.Error("no error")
			}
		})
	}
}

// TestFluxHistory checks that earlier values are found in what Flux applied at earlier commits.
func TestFluxHistory(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.commit(map[string]string{"clusters/prod/a.yaml": applies("web", "  path: apps\n  postBuild: {substitute: {A: one}}\n"), "apps/a.yaml": configMap("a") + "  c: ${A}\n"}).
		commit(map[string]string{"clusters/prod/a.yaml": applies("web", "  path: apps\n  postBuild: {substitute: {A: two}}\n")}).
		commit(map[string]string{"other.txt": "x"}).
		commit(map[string]string{"apps/sub/b.yaml": configMap("b")})
	config := manifests.FluxDefaults()
	config.Git, config.Ref, config.Path = h.dir, "main", "clusters/prod"
	for id, want := range map[string]struct {
		path     []string
		versions []string
	}{
		"default/a": {[]string{"data", "c"}, []string{"two 2--", "one 1-2"}},
		"default/b": {[]string{"data", "a"}, []string{"b 4--", "absent 1-4"}},
	} {
		versions, gap := h.past(openFlux(t, config), id, want.path...)
		if diff := cmp.Diff(want.versions, versions); diff != "" || gap != "" {
			t.Errorf("%s: %s gap %q", id, diff, gap)
		}
	}
}
