package setup_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/collectors"
	allcollectors "github.com/driftd/driftd/internal/collectors/all"
	"github.com/driftd/driftd/internal/collectors/kubernetes"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/declared"
	alldeclared "github.com/driftd/driftd/internal/declared/all"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/setup"
)

// write writes files below a new folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// root is the file of a root.
const root = `terraform {
  required_providers {
    pve = { source = "bpg/proxmox" }
  }
  backend "s3" {}
}
variable "endpoint" { default = "https://pve.example.org:8006/" }
provider "pve" {
  endpoint  = var.endpoint
  api_token = "s3cr3t"
}
`

const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

// TestLook finds roots, modules, manifests and charts, and nothing behind links.
func TestLook(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"roots/dns/main.tf": root, "roots/dns/deploy.yaml": manifest, "roots/web/main.tf.json": `{"provider": {"netbox": {"server_url": "https://netbox.example.org"}}}`,
		"modules/vm/main.tf": root, "roots/shared/vars.tf": `variable "x" {}`, "deploy/a.yaml": manifest, "deploy/base/kustomization.yaml": "resources: []\n",
		"deploy/values.yaml": "replicas: 1\n", "chart/Chart.yaml": "name: a\n", "chart/templates/a.yaml": manifest, ".github/a.yaml": manifest,
		"deploy/prod/kustomization.yaml": "resources: [../base]\nnamespace: shop\n", "chart/values-prod.yaml": "a: 1\n", "chart/values.yaml": "a: 1\n", "chart/sub/values-x.yaml": "a: 1\n",
		"talos/node.yaml": "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: a\n", "lists/a.json": `{"apiVersion": "v1", "kind": "List", "items": []}`,
		"node_modules/a/a.yaml": manifest, "bad/main.tf": "provider \"aws\" {\n  region = \n}\n",
	})
	if err := os.Symlink(dir, filepath.Join(dir, "deploy", "loop")); err != nil {
		t.Fatal(err)
	}
	// Opening a named pipe waits for its other end.
	for _, pipe := range []string{"deploy/pipe.yaml", "roots/dns/pipe.tf", "main.tf"} {
		if err := syscall.Mkfifo(filepath.Join(dir, pipe), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := setup.Look(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	tree.ReadContents()
	var roots []string
	for _, r := range tree.Roots {
		roots = append(roots, fmt.Sprint(r.Dir, " ", r.Backend, " ", r.Partial, " ", r.Providers))
	}
	for _, tt := range []struct {
		what string
		got  []string
		want string
	}{
		{"roots", roots, "bad local false []; roots/dns s3 true [{proxmox map[endpoint:https://pve.example.org:8006/]}]; roots/web local false [{netbox map[server_url:https://netbox.example.org]}]"},
		{"modules", tree.Modules, "modules/vm; roots/shared"},
		{"manifests", tree.Manifests, "deploy; deploy/base; deploy/prod; lists"},
		{"values", tree.Values, "chart/values-prod.yaml"},
		{"left out", tree.LeftOut, "node_modules"},
		{"overlays", strings.Fields(fmt.Sprintln(tree.Overlays)), "[{deploy/base; []; false; [; ]}; {deploy/prod; [deploy/base]; false; [shop; ]}]"},
		{"charts", tree.Charts, "chart"},
	} {
		if got := strings.Join(tt.got, "; "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.what, got, tt.want)
		}
	}
	if len(tree.Unread) != 1 || !strings.Contains(tree.Unread[0], "bad/main.tf:2") {
		t.Errorf("unread: %q", tree.Unread)
	}
	if _, err := setup.Look(t.Context(), filepath.Join(dir, "nowhere")); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("Look(nowhere) = %v", err)
	}
}

// text returns the configuration of what is found and chosen.
func text(t interface {
	Helper()
	Fatal(args ...any)
}, f *setup.Facts, c *setup.Choices) string {
	t.Helper()
	data, err := setup.New(f, c).Text()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func roots(backend string, outline map[string]string, dirs ...string) (all []setup.Root) {
	for _, dir := range dirs {
		r := setup.Root{Dir: dir, Outline: terraform.Outline{Backend: backend}}
		for _, name := range slices.Sorted(maps.Keys(outline)) {
			r.Providers = append(r.Providers, terraform.ProviderOutline{Name: name, Settings: map[string]string{"endpoint": outline[name]}})
		}
		all = append(all, r)
	}
	return all
}

// TestText checks parts of configurations.
func TestText(t *testing.T) {
	t.Parallel()
	pve := map[string]string{"proxmox": "https://u:s3cr3t@pve.example.org:8006/api2/json"}
	other := map[string]string{"proxmox": "https://lab.example.org:8006"}
	origin := gitrepo.Origin{Top: "/src", URL: "https://git.example.org/a.git", Branch: "main"}
	tests := map[string]struct {
		reason string
		facts  setup.Facts
		choice setup.Choices
		want   []string
		not    []string
	}{
		"one pattern": {reason: "roots beside each other are one declaration",
			facts: setup.Facts{Trees: []setup.Tree{{Dir: "/src", Origin: origin, Roots: roots("s3", pve, "infra/a", "infra/b")}}},
			want:  []string{"path: infra/*", "governs: [pve]", "url: https://pve.example.org:8006\n", "pass_env: [AWS_*, PM_*, PROXMOX_VE_*, TF_VAR_*]", "name: infra"}, not: []string{"s3cr3t", "infra/a"}},
		"wildcard before": {reason: "the folder with the wildcard may be an outer one",
			facts: setup.Facts{Trees: []setup.Tree{{Dir: "/src", Origin: origin, Roots: roots("s3", pve, "svc/a/tf", "svc/b/tf", "svc/c/tf")}}}, want: []string{"path: svc/*/tf", "name: svc"}},
		"module": {reason: "a pattern must not match a module",
			facts: setup.Facts{Trees: []setup.Tree{{Dir: "/src", Origin: origin, Roots: roots("s3", pve, "infra/a", "infra/b"), Modules: []string{"infra/shared"}}}}, want: []string{"path: infra/a", "path: infra/b"}},
		"two systems": {reason: "roots of two sources of one type are two declarations",
			facts: setup.Facts{Trees: []setup.Tree{{Dir: "/src", Origin: origin, Roots: append(roots("s3", pve, "x/a"), roots("s3", other, "x/b")...)}}}, want: []string{"governs: [pve]", "governs: [lab]", "token_file: pve-token-2"}},
		"local state": {reason: "a git remote has no local state",
			facts: setup.Facts{Trees: []setup.Tree{{Dir: "/src/mono", Origin: origin, Roots: roots("local", nil, "infra")}}}, choice: setup.Choices{Base: "/src/mono"}, want: []string{"dir: ./infra", "The state is in the folder"}, not: []string{"git:"}},
		"clusters": {reason: "a folder that is named after a context governs it, and others the current one",
			facts: setup.Facts{CurrentContext: "prod", Contexts: []kubernetes.Context{{Name: "edge"}, {Name: "prod"}, {Name: "far"}},
				Trees: []setup.Tree{{Dir: "/src", Manifests: []string{"clusters/a", "clusters/b", "clusters/edge/x", "clusters/far", "deploy/x/y", "deploy/x/z"}}}}, choice: setup.Choices{Contexts: []string{"edge", "prod"}, Base: "/"},
			want: []string{"name: edge\n    type: manifests\n    governs: [edge]", "dir: ./src/clusters/edge", "governs: [prod]", "exclude: [/edge, /far]", "# The manifests in /src/clusters/far are not declared: their cluster was not chosen", "dir: ./src/deploy/x", "not read: far."}},
		"folder of a cluster": {reason: "the folder that is looked at may be named after a context", facts: setup.Facts{CurrentContext: "prod",
			Contexts: []kubernetes.Context{{Name: "edge"}, {Name: "prod"}}, Trees: []setup.Tree{{Dir: "/src/edge", Manifests: []string{"."}}}},
			choice: setup.Choices{Contexts: []string{"edge", "prod"}, Base: "/src"}, want: []string{"governs: [edge]", "settings: {dir: ./edge}"}},
		"bases": {reason: "a base of another declaration is not declared on its own", facts: setup.Facts{CurrentContext: "prod", Contexts: []kubernetes.Context{{Name: "prod"}, {Name: "edge"}},
			Trees: []setup.Tree{{Dir: "/src", Manifests: []string{"apps/base", "apps/web", "edge/app"}, Overlays: []manifests.Overlay{
				{Dir: "apps/base"}, {Dir: "edge/app", Bases: []string{"apps/base"}}}}}}, choice: setup.Choices{Contexts: []string{"edge", "prod"}, Base: "/"},
			want: []string{"dir: ./src/edge", "dir: ./src/apps", "exclude: [/base]"}},
		"only bases": {reason: "nothing is left of a folder with bases", facts: setup.Facts{CurrentContext: "prod", Contexts: []kubernetes.Context{{Name: "prod"}, {Name: "edge"}},
			Trees: []setup.Tree{{Dir: "/src", Manifests: []string{"apps/a", "apps/b", "edge/app"}, Overlays: []manifests.Overlay{
				{Dir: "apps/a", Bases: []string{"apps/b"}}, {Dir: "apps/b"}, {Dir: "edge/app", Bases: []string{"apps/a"}}}}}}, choice: setup.Choices{Contexts: []string{"edge", "prod"}, Base: "/"},
			want: []string{"# The manifests in /src/apps are not declared: they are bases of kustomizations elsewhere."}, not: []string{"dir: ./src/apps"}},
		"rivals": {reason: "which overlay a cluster has would be a guess", facts: setup.Facts{CurrentContext: "prod", Contexts: []kubernetes.Context{{Name: "prod"}},
			Trees: []setup.Tree{{Dir: "/src", Manifests: []string{"app/base", "app/x", "app/y", "app/z", "app/plain"}, Overlays: []manifests.Overlay{
				{Dir: "app/base"}, {Dir: "app/x", Bases: []string{"app/base"}}, {Dir: "app/y", Bases: []string{"app/base"}}, {Dir: "app/z", Bases: []string{"app/base"}, Naming: [3]string{"z", "", ""}}}}}},
			choice: setup.Choices{Contexts: []string{"prod"}, Base: "/"}, want: []string{"dir: ./src/app", "exclude: [/x, /y]", "have one of them: app/x, app/y. These are not declared, because their clusters are not known: app/x, app/y."}},
		"nothing but rivals": {reason: "their base is not declared in their place", facts: setup.Facts{CurrentContext: "prod", Contexts: []kubernetes.Context{{Name: "prod"}},
			Trees: []setup.Tree{{Dir: "/src", Manifests: []string{"app/base", "app/x", "app/y"}, Overlays: []manifests.Overlay{
				{Dir: "app/base"}, {Dir: "app/x", Bases: []string{"app/base"}}, {Dir: "app/y", Bases: []string{"app/base"}}}}}},
			choice: setup.Choices{Contexts: []string{"prod"}, Base: "/"}, want: []string{"have one of them: app/x, app/y. These are not declared, because their clusters are not known: app/x, app/y."}, not: []string{"dir: ./src/app", "type: manifests\n"}},
		"a rival with a cluster": {reason: "an overlay that is named after its context is declared, and others of its base are not", facts: setup.Facts{CurrentContext: "prod", Contexts: []kubernetes.Context{{Name: "prod"}},
			Trees: []setup.Tree{{Dir: "/src", Manifests: []string{"app/base", "app/dev", "app/prod", "other"}, Overlays: []manifests.Overlay{
				{Dir: "app/base"}, {Dir: "app/dev", Bases: []string{"app/base"}}, {Dir: "app/prod", Bases: []string{"app/base"}}}}}},
			choice: setup.Choices{Contexts: []string{"prod"}, Base: "/"}, want: []string{"dir: ./src/app/prod", "dir: ./src/other", "clusters are not known: app/dev."}, not: []string{"dir: ./src/app\n"}},
		"rendered": {reason: "charts are named, and Argo CD declared", facts: setup.Facts{CurrentContext: "prod", Contexts: []kubernetes.Context{{Name: "prod"}},
			Trees: []setup.Tree{{Dir: "/src", Manifests: []string{"apps"}, Charts: []string{"chart"}, Values: []string{"chart/values-prod.yaml"},
				Appliers: []manifests.Applier{{Type: "argocd", File: "apps/web.yaml"}}}}},
			choice: setup.Choices{Contexts: []string{"prod"}, Base: "/"}, want: []string{"# Helm charts are not declared: chart.", "(found: chart/values-prod.yaml)", "type: argocd\n    governs: [prod]\n    settings: {dir: ./src/apps}"}},
		"no cluster": {reason: "manifests without a cluster are left out, and named",
			facts: setup.Facts{Trees: []setup.Tree{{Dir: "/src", Manifests: []string{"deploy"}}}}, want: []string{"# The manifests in /src/deploy are not declared"}},
		"unwritable": {reason: "a folder that would be a pattern is left out, and named",
			facts: setup.Facts{Trees: []setup.Tree{{Dir: "/src", Roots: roots("s3", nil, "a[b]")}}}, want: []string{"# The Terraform root /src/a[b] is not declared"}, not: []string{"dir:"}},
		"slack": {reason: "the receiver is written", choice: setup.Choices{SlackChannel: "C01", SlackTokenFile: "tok"}, want: []string{"settings: {token_file: tok, channel: C01}"}},
		"clouds": {reason: "a root's cloud is its source", facts: setup.Facts{Home: "/home/a", CloudsFile: "/home/a/clouds.yaml", Clouds: []string{"lab", "shop"},
			Trees: []setup.Tree{{Dir: "/src", Roots: roots("s3", map[string]string{"openstack": ""}, "a")}}}, choice: setup.Choices{Clouds: []string{"shop"}, Base: "/etc"},
			want: []string{"clouds_file: ~/clouds.yaml", "governs: [shop]", "not read: lab."}},
		"aws": {reason: "a profile and a region are taken over", facts: setup.Facts{Environment: map[string]string{"AWS_PROFILE": "ops", "AWS_REGION": "eu-central-1"}, HomeFolders: []string{".aws"},
			Trees: []setup.Tree{{Dir: "/src", Roots: roots("s3", map[string]string{"aws": ""}, "a")}}}, want: []string{"settings: {region: eu-central-1, profile: ops}", "home: ~/"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := text(t, &tt.facts, &tt.choice)
			for _, part := range tt.want {
				if !strings.Contains(got, part) {
					t.Errorf("%s: it lacks %q:\n%s", tt.reason, part, got)
				}
			}
			for _, part := range tt.not {
				if strings.Contains(got, part) {
					t.Errorf("%s: it has %q:\n%s", tt.reason, part, got)
				}
			}
			if again := text(t, &tt.facts, &tt.choice); again != got {
				t.Errorf("%s: equal facts have two texts:\n%s\n%s", tt.reason, got, again)
			}
		})
	}
}

// TestQuestions checks that an address that is nowhere is asked for, once.
func TestQuestions(t *testing.T) {
	t.Parallel()
	f := setup.Facts{Trees: []setup.Tree{{Dir: "/src", Roots: roots("s3", map[string]string{"proxmox": "", "netbox": "http://netbox.example.org"}, "a", "b")}}}
	questions := func(c setup.Choices) string {
		var flags []string
		for _, q := range setup.Questions(&f, &c) {
			flags = append(flags, q.Flag)
		}
		return strings.Join(flags, " ")
	}
	if got := questions(setup.Choices{}); got != "proxmox-url netbox-url" {
		t.Errorf("asked: %s", got)
	}
	if got := questions(setup.Choices{ProxmoxURL: setup.None, NetBoxURL: "https://n.example.org"}); got != "" {
		t.Errorf("asked: %s", got)
	}
	f.Environment = map[string]string{"PM_API_URL": "https://pve.example.org:8006/api2/json"}
	if got := questions(setup.Choices{}); got != "netbox-url" {
		t.Errorf("asked: %s", got)
	}
}

// open opens the sources and declarations of a configuration.
func open(cfg *config.Config, loaders []declared.Definition) error {
	var problems []error
	log, types := slog.New(slog.DiscardHandler), map[string]string{}
	for i := range cfg.Sources {
		s := &cfg.Sources[i]
		types[s.Name] = s.Type
		for _, d := range allcollectors.Definitions() {
			if d.Type == s.Type {
				_, err := d.Open(collectors.Env{Name: s.Name, Sealer: model.NewSealer([]byte("test")), Log: log}, s.Decode)
				problems = append(problems, err)
			}
		}
	}
	for i := range cfg.Declarations {
		s := &cfg.Declarations[i]
		for _, d := range loaders {
			key, _ := s.Pattern()
			if d.Type == s.Type && key == "" {
				_, err := d.Open(declared.Env{Name: s.Name, Governs: s.Governs, Types: types, Sealer: model.NewSealer([]byte("test")), Log: log}, s.Decode)
				problems = append(problems, err)
			}
		}
	}
	return errors.Join(problems...)
}

// TestLoads checks that the configuration of anything that is found can be loaded, has no credential, and is what was found: no name gets out of
// its place.
func TestLoads(t *testing.T) {
	t.Parallel()
	dir, loaders := t.TempDir(), alldeclared.Definitions()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a", "b", "prod", "a: b", "*x", "&x", "x\n  - name: y", "{}", "[a]", "~", "null", "true", "- a", "# c", "'", `"`, "../x", "a/b/c", "\u2028", "%", "@", "`", "..", "x/../y"}))
		// A file with a character of a pattern exists.
		file := rapid.SampledFrom([]string{"/etc/clouds.yaml", filepath.Join(dir, "a: b"), "/~/#x", filepath.Join(dir, "~")})
		paths := rapid.SliceOfN(name.Filter(fs.ValidPath), 0, 4)
		names := rapid.SliceOfN(name, 0, 4)
		f := setup.Facts{CurrentContext: name.Draw(t, "current"), CloudsFile: file.Draw(t, "clouds file"), Clouds: names.Draw(t, "clouds"), Home: dir}
		seen := map[string]bool{}
		for _, context := range names.Draw(t, "contexts") {
			if !seen[context] {
				f.Contexts = append(f.Contexts, kubernetes.Context{Name: context, File: file.Draw(t, "file")})
			}
			seen[context] = true
		}
		tree := setup.Tree{Dir: filepath.Join(dir, name.Draw(t, "dir")), Manifests: paths.Draw(t, "manifests"), Charts: paths.Draw(t, "charts"), Modules: paths.Draw(t, "modules")}
		tree.Origin = gitrepo.Origin{Top: dir, URL: rapid.SampledFrom([]string{"", "https://git.example.org/a.git"}).Draw(t, "url"), Branch: name.Draw(t, "branch")}
		tree.Values = paths.Draw(t, "values")
		for _, typ := range []string{manifests.FluxType, manifests.ArgoCDType} {
			for _, file := range paths.Draw(t, typ) {
				tree.Appliers = append(tree.Appliers, manifests.Applier{Type: typ, File: file, Folder: name.Draw(t, "folder")})
			}
		}
		for _, d := range tree.Manifests {
			tree.Overlays = append(tree.Overlays, manifests.Overlay{Dir: d, Bases: rapid.SliceOfN(rapid.SampledFrom(tree.Manifests), 0, 3).Draw(t, "bases"), IsComponent: rapid.Bool().Draw(t, "component")})
		}
		for _, d := range paths.Draw(t, "roots") {
			endpoint := rapid.SampledFrom([]string{"", "https://u:s3cr3t@pve.example.org/?token=s3cr3t#s3cr3t", "https://192.0.2.1:8006", "https://[::1", "x"}).Draw(t, "endpoint")
			r := roots(name.Draw(t, "backend"), map[string]string{rapid.SampledFrom([]string{"proxmox", "netbox", "openstack", "aws", "x y"}).Draw(t, "provider"): endpoint}, d)
			r[0].Partial = rapid.Bool().Draw(t, "partial")
			tree.Roots = append(tree.Roots, r...)
		}
		f.Trees = []setup.Tree{tree}
		c := setup.Choices{Contexts: f.DefaultContexts(), Clouds: f.Clouds, StateDir: "./state", Base: dir, WorkTree: rapid.Bool().Draw(t, "work tree"),
			SlackChannel: name.Draw(t, "channel"), SlackTokenFile: "slack-token"}
		if setup.New(&f, &c).Empty() != nil {
			return
		}
		got := text(t, &f, &c)
		at := filepath.Join(dir, "driftd.yaml")
		if err := os.WriteFile(at, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := config.Load(at, nil)
		if err == nil {
			err = open(cfg, loaders)
		}
		if err != nil {
			t.Fatalf("it cannot be loaded: %v\n%s", err, got)
		}
		if strings.Contains(got, "s3cr3t") {
			t.Fatalf("it has a credential:\n%s", got)
		}
		var keys map[string]any
		if err := yaml.Unmarshal([]byte(got), &keys); err != nil {
			t.Fatal(err)
		}
		for key := range keys {
			if !slices.Contains([]string{"state_dir", "sources", "declarations", "notify"}, key) {
				t.Fatalf("it has the key %q:\n%s", key, got)
			}
		}
	})
}
