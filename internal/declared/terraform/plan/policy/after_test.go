package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAfter(t *testing.T) {
	t.Parallel()
	lab := Policy{Providers: []string{"driftd/lab"}}
	one := func(key, dir string) string {
		return `{"Modules":[{"Key":"","Dir":"."},{"Key":"` + key + `","Source":"x","Dir":"` + dir + `"}]}`
	}
	cases := map[string]struct {
		reason string
		policy Policy
		files  map[string]string
		want   string
	}{
		"Nothing":   {"a root that needs nothing", lab, nil, ""},
		"Installed": {"a provider that is listed", lab, map[string]string{"data/providers/registry.terraform.io/driftd/lab/1.0.0/linux_amd64/x": ""}, ""},
		"Unlisted":  {"a provider that only a module or the state requires", lab, map[string]string{"data/providers/registry.terraform.io/evil/lab/1.0.0/linux_amd64/x": ""}, "init installed the provider registry.terraform.io/evil/lab, which the configuration, a module or the state requires: not in allow.providers"},
		"Link":      {"a provider in the plugin cache", lab, map[string]string{"data/providers/registry.terraform.io/evil/lab/1.0.0/linux_amd64": "-> /cache", "data/providers/registry.terraform.io/evil/lab/1.0.0/linux_amd64.lock": ""}, "init installed the provider registry.terraform.io/evil/lab"},
		"Registry":  {"the same name at another registry", lab, map[string]string{"data/providers/registry.evil.org/driftd/lab/1.0.0/linux_amd64/x": ""}, "init installed the provider registry.evil.org/driftd/lab"},
		"Any":       {"without a list", Policy{Refuse: []string{"external"}}, map[string]string{"data/providers/registry.evil.org/driftd/lab/1.0.0/linux_amd64/x": ""}, ""},
		"Fetched": {"a block of a module that was fetched", Policy{Refuse: []string{"external"}},
			map[string]string{"data/modules/modules.json": one("net.sub", "../../data/modules/net.sub/x"), "data/modules/net.sub/x/main.tf": "\ndata \"external\" \"x\" {}"},
			`module net.sub: main.tf:2: data "external" "x" runs a program of the repository's choice in every plan: refuse has external`},
		"Nested": {"a module that a fetched one calls", Policy{Modules: []string{"acme/*"}},
			map[string]string{"data/modules/modules.json": one("net", "../../data/modules/net"), "data/modules/net/main.tf": `module "x" { source = "evil/x/aws" }`},
			`module net: main.tf:1: module "x" has the source evil/x/aws: not in allow.modules`},
		"Package": {"a module within the fetched package", Policy{Modules: []string{"acme/*"}},
			map[string]string{"data/modules/modules.json": one("net", "../../data/modules/net/a"), "data/modules/net/a/main.tf": `module "x" { source = "../b" }`}, ""},
		"Outside": {"a module outside of the fetched package", Policy{Modules: []string{"acme/*"}},
			map[string]string{"data/modules/modules.json": one("net", "../../data/modules/net/a"), "data/modules/net/a/main.tf": `module "x" { source = "../../other" }`},
			`module net: main.tf:1: module "x": its source ../../other is not in the repository`},
		"File": {"files of the fetched package", Policy{Refuse: []string{"files"}},
			map[string]string{"data/modules/modules.json": one("net", "../../data/modules/net/a"), "data/modules/net/a/main.tf": `locals { a = [file("${path.module}/../x"), file("${path.module}/link")] }`, "data/modules/net/x": "", "data/modules/net/a/link": "-> ../x"}, ""},
		"FileLink": {"a link that leads out of the fetched package", Policy{Refuse: []string{"files"}},
			map[string]string{"data/modules/modules.json": one("net", "../../data/modules/net/a"), "data/modules/net/a/main.tf": `locals { a = file("${path.module}/link") }`, "data/secret": "", "data/modules/net/a/link": "-> ../../../secret"},
			`module net: main.tf:1: file("../../data/modules/net/a/link") may read files of the machine in every plan`},
		"FileUp": {"another package", Policy{Refuse: []string{"files"}},
			map[string]string{"data/modules/modules.json": one("net", "../../data/modules/net"), "data/modules/net/main.tf": `locals { a = file("${path.module}/../other/x") }`, "data/modules/other/x": ""},
			`module net: main.tf:1: file("../../data/modules/other/x") may read files`},
		"Local":   {"a module of the repository", Policy{Refuse: []string{"external"}}, map[string]string{"data/modules/modules.json": one("a", "../a"), "copy/a/main.tf": `data "external" "x" {}`}, `a/main.tf:1: data "external" "x"`},
		"Broken":  {"a fetched file that cannot be parsed", lab, map[string]string{"data/modules/modules.json": one("net", "../../data/modules/net"), "data/modules/net/main.tf": "x {"}, "parse module net: main.tf:1:"},
		"List":    {"a list that cannot be read", lab, map[string]string{"data/modules/modules.json": "{"}, "read list of modules"},
		"Plugins": {"new plugin programs", lab, map[string]string{"copy/infra/terraform.d/plugins/x": ""}, "infra/terraform.d/plugins has programs"},
		"Zero":    {"without a policy nothing is refused", Policy{}, map[string]string{"data/modules/modules.json": "{", "copy/infra/x.tf": "x {", "copy/infra/terraform.d/plugins/x": ""}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			lay(t, dir, map[string]string{"copy/infra/main.tf": "locals {}"})
			lay(t, dir, tc.files)
			_, err := tc.policy.After(rootOf(dir))
			if (err == nil) != (tc.want == "") || err != nil && !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %s", tc.reason, err, tc.want)
			}
		})
	}
}

// TestNotesAreBounded checks a root with more dangerous blocks than are stored.
func TestNotesAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lay(t, dir, map[string]string{"copy/infra/main.tf": strings.Repeat("data \"http\" \"x\" {}\n", maxNotes+7)})
	notes, err := Policy{}.After(rootOf(dir))
	if err != nil || len(notes) != maxNotes+1 || !strings.HasSuffix(notes[maxNotes].Text, ": 7 more dangerous blocks that are not listed") {
		t.Errorf("got %d notes, %v", len(notes), err)
	}
}

// FuzzBefore checks that no file makes Before crash or hang, and that a file with a refused block
// is also refused after a comment.
func FuzzBefore(f *testing.F) {
	f.Add("data \"external\" \"x\" {}", "main.tf")
	f.Add("terraform {\n  backend \"x\" {\n a = {b = [c]}\n }\n  required_providers {\n    a = { source = \"b/c\" }\n  }\n}", "main.tf")
	f.Add("locals {\n  a = templatefile(\"${path.module}/main.tf\", {})\n}", "main.tf")
	f.Add(`{"provider": {"helm": [{"kubernetes": {"exec": {}}}]}, "module": {"a": {"source": "git::https://x/y//z?ref=1"}}}`, "main.tf.json")
	p := Policy{Providers: []string{"acme/*"}, Modules: []string{"git::https://*.example.org/*"}, Refuse: []string{"external", "files", "*.*"}}
	f.Fuzz(func(t *testing.T, text, name string) {
		if name != "main.tf" {
			name = "main.tf.json"
		}
		dir := t.TempDir()
		r := rootOf(dir)
		lay(t, dir, map[string]string{"copy/infra/first.tf": "#"})
		if err := os.WriteFile(filepath.Join(r.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		before := p.Before(r)
		if _, after := p.After(r); (before == nil) != (after == nil) {
			t.Errorf("before init %v, after it %v", before, after)
		}
		if _, err := (Policy{}).After(r); err != nil {
			t.Errorf("without a policy: %v", err)
		}
	})
}

// FuzzSource checks that a source that matches an allow-list has its host.
func FuzzSource(f *testing.F) {
	for _, text := range []string{"git::https://git.example.org/a", "acme/net/aws//x?ref=1", "git@git.example.org:a/b", "/etc", "https://u:p@git.example.org/x.zip"} {
		f.Add(text)
	}
	p := Policy{Modules: []string{"git::https://git.example.org/acme/*"}}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSource(text)
		if err != nil || !p.allowsModule(s) {
			return
		}
		_, rest, _ := strings.Cut(strings.ToLower(text), "://")
		rest, _, _ = strings.Cut(rest, "?")
		if _, after, ok := strings.Cut(rest, "@"); ok {
			rest = after
		}
		if !strings.HasPrefix(rest, "git.example.org/") {
			t.Errorf("%q is allowed", text)
		}
	})
}
