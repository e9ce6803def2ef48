package manifests_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/manifests"
)

const (
	fleetURL = "https://git.example.org/shop/fleet.git"
	appsURL  = "https://git.example.org/shop/apps.git"
)

// source returns a GitRepository.
func source(name, url, ref string) string {
	return strings.Replace(gitRepository(url, ref), "name: flux-system", "name: "+name, 1)
}

// from returns a Kustomization of Flux with a source.
func from(name, source, spec string) string {
	return strings.Replace(applies(name, spec), "GitRepository, name: flux-system", "GitRepository, name: "+source, 1)
}

// permit returns the permission for a repository that sources name by a URL.
func (h *history) permit(url string) manifests.Permission {
	return manifests.Permission{Git: h.dir, SameRepository: []string{url}}
}

func (h *history) fluxConfig(permissions ...manifests.Permission) manifests.FluxConfig {
	config := manifests.FluxDefaults()
	config.Git, config.Path, config.SameRepository, config.Repositories = h.dir, "clusters/prod", []string{fleetURL}, permissions
	return config
}

// TestFluxReadsOtherRepositories checks that Kustomizations of a listed repository are built from it, from where they lead on to each
// repository.
func TestFluxReadsOtherRepositories(t *testing.T) {
	t.Parallel()
	fleet, apps := newHistory(t), newHistory(t)
	apps.commit(map[string]string{"web/a.yaml": configMap("old")})
	apps.git("", "tag", "v1")
	apps.commit(map[string]string{
		"web/a.yaml":       configMap("a") + "  b: ${PLACE}\n",
		"tenants/own.yaml": from("own", "apps", "  path: deep\n"), "tenants/back.yaml": from("back", "fleet", "  path: base\n"),
		"tenants/again.yaml": from("again", "apps", "  path: tenants\n"), "deep/b.yaml": configMap("b"),
		"base/not.yaml": configMap("not"), "clusters/prod/not.yaml": configMap("not"),
	})
	fleet.commit(map[string]string{
		"clusters/prod/sources.yaml": source("fleet", fleetURL, "branch: main") + "---\n" + source("apps", "ssh://git@git.example.org/shop/apps", "branch: main") +
			"---\n" + source("old", appsURL, "tag: v1"),
		"clusters/prod/web.yaml":     from("web", "apps", "  path: ./web\n  targetNamespace: web\n  postBuild: {substitute: {PLACE: berlin}}\n"),
		"clusters/prod/old.yaml":     from("old", "old", "  path: web\n  targetNamespace: old\n"),
		"clusters/prod/tenants.yaml": from("tenants", "apps", "  path: tenants\n"),
		"base/c.yaml":                configMap("c"), "web/not.yaml": configMap("not"),
	})
	d, err := openFlux(t, fleet.fluxConfig(apps.permit(appsURL))).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := apps.dir + "//"
	want := []string{at + "web/a.yaml:1 ConfigMap old/old", at + "web/a.yaml:1 ConfigMap web/a", at + "deep/b.yaml:1 ConfigMap default/b", "base/c.yaml:1 ConfigMap default/c"}
	got := others(d)
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" || len(d.Problems) > 0 {
		t.Errorf("%s %q", diff, problems(d))
	}
	a := claimOf(t, d, "web/a")
	if a.Value.At("data", "b").Str() != "berlin" || d.Revision != fleet.commits[0] {
		t.Errorf("%s at %s", a.Value, d.Revision)
	}
	if diff := cmp.Diff([]string{"clusters/prod/web.yaml"}, a.AlsoIn); diff != "" {
		t.Error(diff)
	}
	for _, id := range []string{"default/b", "default/c"} {
		c := claimOf(t, d, id)
		if len(c.AuditEvents) != 1 {
			t.Fatalf("%s: %v", id, c.AuditEvents)
		}
		if evidence := c.AuditEvents[0].Actor.Evidence; strings.Contains(evidence, at) != (id == "default/b") {
			t.Errorf("%s: %s", id, evidence)
		}
	}
	if c := claimOf(t, d, "default/b"); !strings.Contains(c.AuditEvents[0].Actor.Evidence, apps.commits[1][:12]) {
		t.Errorf("%v", c.AuditEvents)
	}
}

func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}

// TestFluxLeavesOtherRepositories checks that objects of a repository that is not read are unchecked, with the reason.
func TestFluxLeavesOtherRepositories(t *testing.T) {
	t.Parallel()
	apps := newHistory(t)
	apps.commit(map[string]string{"web/a.yaml": configMap("a"), "b.yaml": configMap("b")})
	for name, tc := range map[string]struct {
		source string
		change func(*manifests.Permission)
		want   string
	}{
		"Listed":             {source("apps", appsURL, "branch: main"), nil, ""},
		"Another spelling":   {source("apps", "https://user:secret@GIT.example.org/shop/apps/", "branch: main"), nil, ""},
		"Commit":             {source("apps", appsURL, "branch: none, commit: "+apps.commits[0]), nil, ""},
		"Full name":          {source("apps", appsURL, "name: refs/heads/main"), nil, ""},
		"Unlisted":           {source("apps", "https://git.example.org/shop/other.git", "branch: main"), nil, "list the URL in repositories"},
		"Longer host":        {source("apps", "https://git.example.org.evil.example/shop/apps.git", "branch: main"), nil, "list the URL in repositories"},
		"Host as user":       {source("apps", "https://git.example.org:x@evil.example/shop/apps.git", "branch: main"), nil, "list the URL in repositories"},
		"Path outside":       {source("apps", "https://git.example.org/shop/apps.git/../secret.git", "branch: main"), nil, "list the URL in repositories"},
		"Prefix":             {source("apps", "https://git.example.org/shop/apps.git.git", "branch: main"), nil, "list the URL in repositories"},
		"Another case":       {source("apps", "https://git.example.org/Shop/apps.git", "branch: main"), nil, "list the URL in repositories"},
		"OCI artifact":       {strings.Replace(source("apps", appsURL, ""), "kind: GitRepository", "kind: OCIRepository", 1), nil, "list the URL in repositories"},
		"Missing branch":     {source("apps", appsURL, "branch: none"), nil, `no branch, tag or full commit hash "refs/heads/none"`},
		"Branch by default":  {source("apps", appsURL, ""), nil, `"refs/heads/master"`},
		"Versions":           {source("apps", appsURL, "semver: '>=1.0'"), nil, "reads the semver >=1.0: driftd reads a branch"},
		"Branch as commit":   {source("apps", appsURL, "commit: main"), nil, "reads the commit main: driftd reads a branch"},
		"Tag as name":        {source("apps", appsURL, "name: main"), nil, "reads the name main: driftd reads a branch"},
		"Repository is gone": {source("apps", appsURL, "branch: main"), func(p *manifests.Permission) { p.Git += "/none" }, "its source flux-system/apps cannot be read: read git repository"},
		"Token is gone": {source("apps", appsURL, "branch: main"), func(p *manifests.Permission) {
			*p = manifests.Permission{Git: appsURL, Access: gitrepo.Access{TokenFile: "/none/token"}}
		}, "its source flux-system/apps cannot be read: "},
		"Folder is gone": {source("apps", appsURL, "branch: main") + "---\n" + from("none", "apps", "  path: none\n  targetNamespace: web\n"), nil, "its path none is no folder of the repository"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fleet := newHistory(t)
			web := from("web", "apps", "  path: web\n  targetNamespace: web\n")
			if strings.HasPrefix(name, "OCI") {
				web = strings.Replace(web, "GitRepository", "OCIRepository", 1)
			}
			fleet.commit(map[string]string{"clusters/prod/s.yaml": tc.source, "clusters/prod/web.yaml": web, "clusters/prod/c.yaml": configMap("c"), "web/not.yaml": configMap("not")})
			p := apps.permit(appsURL)
			if tc.change != nil {
				tc.change(&p)
			}
			d, err := openFlux(t, fleet.fluxConfig(p)).Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(problems(d), "\n")
			if strings.Contains(text, "secret@") || !strings.Contains(text, tc.want) || (text == "") != (tc.want == "") || len(d.Problems) > 1 {
				t.Errorf("problems %q, want %q", text, tc.want)
			}
			if tc.want != "" && (!maybe(d, "web", "a") || maybe(d, "other", "a")) {
				t.Errorf("%+v", d.Problems)
			}
			claimOf(t, d, "default/c")
			if tc.want == "" {
				claimOf(t, d, "web/a")
			}
		})
	}
}

// TestFluxFolderReadsOtherRepositories checks that a folder leads to a listed repository, too.
func TestFluxFolderReadsOtherRepositories(t *testing.T) {
	t.Parallel()
	apps := newHistory(t)
	apps.commit(map[string]string{"web/a.yaml": configMap("a")})
	d := loadFlux(t, map[string]string{"clusters/prod/s.yaml": source("apps", appsURL, "branch: main") + "---\n" + from("web", "apps", "  path: web\n")},
		func(c *manifests.FluxConfig) { c.Repositories = []manifests.Permission{apps.permit(appsURL)} })
	if diff := cmp.Diff([]string{apps.dir + "//web/a.yaml:1 ConfigMap default/a"}, others(d)); diff != "" || len(d.Problems) > 0 {
		t.Errorf("%s %q", diff, problems(d))
	}
}

// TestOtherRepositoriesHaveNoHistory checks that an earlier value of another repository is unknown, and that one in the declared repository is
// known.
func TestOtherRepositoriesHaveNoHistory(t *testing.T) {
	t.Parallel()
	fleet, apps := newHistory(t), newHistory(t)
	apps.commit(map[string]string{"web/a.yaml": configMap("a") + "  c: one\n", "web/s.yaml": source("again", appsURL, "branch: main")})
	fleet.commit(map[string]string{
		"clusters/prod/s.yaml": source("apps", appsURL, "branch: main"), "clusters/prod/web.yaml": from("web", "apps", "  path: web\n"),
		"clusters/prod/own.yaml": configMap("own") + "  c: one\n",
		// Its source is in the other repository.
		"clusters/prod/again.yaml": from("again", "again", "  path: web\n  targetNamespace: again\n"), "web/a.yaml": configMap("a") + "  c: not\n",
	})
	fleet.commit(map[string]string{"clusters/prod/own.yaml": configMap("own") + "  c: two\n"})
	loader := openFlux(t, fleet.fluxConfig(apps.permit(appsURL)))
	versions, gap := fleet.past(loader, "default/own", "data", "c")
	if diff := cmp.Diff([]string{"two 2--", "one 1-2"}, versions); diff != "" || gap != "" {
		t.Errorf("%s gap %q", diff, gap)
	}
	for _, id := range []string{"default/a", "again/a"} {
		versions, gap = fleet.past(loader, id, "data", "c")
		if len(versions) > 0 || !strings.Contains(gap, "driftd reads no earlier commits") {
			t.Errorf("%s: %q gap %q", id, versions, gap)
		}
	}
}

// TestRepositories checks the errors of settings.
func TestRepositories(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		list []manifests.Permission
		want string
	}{
		"No URL":            {[]manifests.Permission{{}}, "repositories: an entry has no git: name the URL of the repository"},
		"No location":       {[]manifests.Permission{{Git: "shop"}}, `repositories: "shop" is no URL of a repository`},
		"Pattern":           {[]manifests.Permission{{Git: "https://git.example.org/shop/*"}}, "takes no patterns, list each repository"},
		"Own":               {[]manifests.Permission{{Git: "git@git.example.org:shop/fleet"}}, "is the repository of the declaration, which is always read: remove the entry"},
		"Twice":             {[]manifests.Permission{{Git: appsURL}, {Git: "ssh://git@GIT.example.org/shop/apps"}}, "is listed twice, apart from its spelling: remove one entry"},
		"Mirror of another": {[]manifests.Permission{{Git: appsURL}, {Git: "https://git.example.org/a", SameRepository: []string{appsURL}}}, "is listed twice"},
		"Two credentials":   {[]manifests.Permission{{Git: appsURL, Access: gitrepo.Access{TokenFile: "/a", SSHKeyFile: "/b"}}}, "https://git.example.org/shop/apps.git: token_file and ssh_key_file are both set"},
		"Clear text":        {[]manifests.Permission{{Git: "http://git.example.org/shop/apps.git", Access: gitrepo.Access{TokenFile: "/a"}}}, "would send the token in clear text"},
		"Protocol":          {[]manifests.Permission{{Git: "oci://git.example.org/shop/apps"}}, "want https, ssh or a local path"},
		"Password":          {[]manifests.Permission{{Git: "https://user:secret@git.example.org/shop/*"}}, "repositories: https://git.example.org/shop/*"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flux := manifests.FluxDefaults()
			flux.Git, flux.Repositories = fleetURL, tc.list
			_, err := manifests.FluxDefinition().Open(declared.Env{Log: slog.New(slog.DiscardHandler)}, func(into any) error {
				*into.(*manifests.FluxConfig) = flux
				return nil
			})
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// TestSilentRepository checks that a server that does not answer is waited for once, and that the rest is read.
func TestSilentRepository(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	url := server.URL + "/shop/apps.git"
	fleet, files := newHistory(t), map[string]string{"clusters/prod/c.yaml": configMap("c"), "argo/a.yaml": app("own", "own", "path: web"), "web/c.yaml": configMap("c")}
	for _, tag := range []string{"one", "two", "three", "four", "five", "six"} {
		files["clusters/prod/"+tag+".yaml"] = source(tag, url, "tag: "+tag) + "---\n" + from(tag, tag, "  path: web\n")
		files["argo/"+tag+".yaml"] = appOf(tag, url, "path: web, targetRevision: "+tag)
	}
	fleet.commit(files)
	flux := fleet.fluxConfig(manifests.Permission{Git: url})
	flux.Timeout = 4 * time.Second
	argo := manifests.ArgoCDDefaults()
	argo.Git, argo.Path, argo.SameRepository, argo.Repositories, argo.Timeout = fleet.dir, "argo", []string{ownURL}, flux.Repositories, flux.Timeout
	for name, l := range map[string]declared.Loader{"flux": openFlux(t, flux), "argocd": openArgo(t, argo)} {
		requests.Store(0)
		d, err := l.Load(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text := strings.Join(problems(d), "\n")
		if strings.Count(text, "raise timeout") != 6 || requests.Load() != 1 {
			t.Errorf("%s: %d requests, %s", name, requests.Load(), text)
		}
	}
}
