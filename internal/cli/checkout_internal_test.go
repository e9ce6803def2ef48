package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/driftd/driftd/internal/config"
)

// TestCheckout checks which files of declarations are files of the work tree.
//
//nolint:paralleltest // it changes the working directory
func TestCheckout(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	for _, name := range []string{"clusters/prod/web.yaml", "roots/dns/main.tf", "modules/net/main.tf", "one.yaml", outside + "/other/x.yaml"} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(top, name)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"remote", "add", "origin", "https://u:p@git.example.org/acme/infra.git"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", top}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	t.Chdir(filepath.Join(top, "roots"))
	declare := func(name, typ string, settings map[string]any) config.Declaration {
		return config.Declaration{Name: name, Type: typ, Settings: config.NewSettings("test", settings)}
	}
	configured, err := checkoutOf([]config.Declaration{
		declare("shop", "manifests", map[string]any{"git": "git@git.example.org:acme/infra.git", "path": "clusters/prod"}),
		declare("foreign", "manifests", map[string]any{"git": "https://git.example.org/acme/other", "path": "clusters/prod"}),
		declare("roots", "terraform", map[string]any{"git": "https://git.example.org/acme/infra", "path": "roots/*"}),
		declare("dns", "terraform", map[string]any{"dir": filepath.Join(top, "roots/dns")}),
		declare("folder", "manifests", map[string]any{"dir": filepath.Join(top, "clusters/prod")}),
		declare("single", "manifests", map[string]any{"dir": filepath.Join(top, "clusters/prod/web.yaml")}),
		declare("labelled", "manifests", map[string]any{"dir": filepath.Join(top, "clusters/prod"), "label": "prod"}),
		declare("outside", "manifests", map[string]any{"dir": filepath.Join(outside, "other")}),
		declare("broken", "terraform", map[string]any{"dir": 3}),
	})
	if err != nil {
		t.Fatal(err)
	}
	paths, err := checkoutOfPaths([]config.Declaration{declare("dns", "terraform", map[string]any{"dir": "dns"})})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		c                       *checkout
		declaration, file, want string
	}{
		"git":                   {configured, "shop", "clusters/prod/web.yaml", "clusters/prod/web.yaml"},
		"another repository":    {configured, "foreign", "clusters/prod/web.yaml", ""},
		"a member of a pattern": {configured, "roots/dns", "roots/dns/main.tf", "roots/dns/main.tf"},
		"a root":                {configured, "dns", "roots/dns/main.tf", "roots/dns/main.tf"},
		"a module of a root":    {configured, "dns", "modules/net/main.tf", "modules/net/main.tf"},
		"a folder":              {configured, "folder", "prod/web.yaml", "clusters/prod/web.yaml"},
		"a single file":         {configured, "single", "prod/web.yaml", "clusters/prod/web.yaml"},
		"a label":               {configured, "labelled", "prod/web.yaml", ""},
		"outside":               {configured, "outside", "other/x.yaml", ""},
		"invalid settings":      {configured, "broken", "roots/dns/main.tf", ""},
		"no such file":          {configured, "shop", "clusters/prod/gone.yaml", ""},
		"a parent":              {configured, "shop", "../../etc/passwd", ""},
		"a directory":           {configured, "shop", "clusters/prod", ""},
		"unknown":               {configured, "x", "one.yaml", ""},
		"a path":                {paths, "prod", "../clusters/prod/web.yaml", "clusters/prod/web.yaml"},
		"a path of a root":      {paths, "dns", "modules/net/main.tf", "modules/net/main.tf"},
		"an absolute path":      {paths, "one", filepath.Join(top, "one.yaml"), "one.yaml"},
	} {
		if got, ok := tc.c.file(tc.declaration, tc.file); ok != (tc.want != "") || ok && got != tc.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, ok, tc.want)
		}
	}
}
