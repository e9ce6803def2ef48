package hclsource_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/hclsource"
)

func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// lab returns the files of a root in infra, with modules in subfolders and in ../modules.
func lab() map[string]string {
	return map[string]string{
		"infra/main.tf":                `resource "lab_server" "web" { memory = var.memory }` + "\n" + `resource "lab_server" "fixed" { memory = 1 }`,
		"infra/variables.tf":           "variable \"memory\" { default = 1 }\nvariable \"zone\" {}\nvariable \"unset\" {}\n",
		"infra/terraform.tfvars":       "memory = 2\n",
		"infra/prod.tfvars":            "zone = \"a\"\n",
		"infra/x.auto.tfvars.json":     `{"zone": "b"}`,
		"infra/other.tfvars":           "memory = 3\nzone = \"c\"\n",
		"infra/locals.tf":              "locals {\n  tags = { zone = local.place }\n  place = upper(var.zone)\n  circle = local.circle\n}\n",
		"infra/db.tf":                  "resource \"lab_server\" \"db\" {\n  dynamic \"disk\" {\n    for_each = [1]\n    content { tags = local.tags }\n  }\n  name = local.circle\n}\n",
		"infra/json.tf.json":           `{"resource": {"lab_server": {"json": {"memory": "${var.memory}", "nested": [{"x": "${local.place}"}]}}}}`,
		"infra/modules.tf":             "module \"net\" {\n  source = \"../modules/net\"\n  for_each = toset([\"a.b\"])\n  size = var.memory\n}\n",
		"infra/fetched.tf":             "module \"far\" {\n  source = \"lab/far/lab\"\n  version = \"1\"\n}\nmodule \"out\" {\n  source = \"../../out\"\n}\n",
		"infra/over.tf":                "# a comment\n\nresource \"lab_server\" \"over\" {}\n",
		"infra/a_override.tf":          "resource \"lab_server\" \"over\" { memory = var.memory }\n",
		"infra/check.tf":               "check \"reachable\" {}\n",
		"infra/many.tf.json":           "{\"resource\": {\n \"lab_server\": {\n  \"one\": {},\n  \"two\": [\n   {}]}}}",
		"infra/broken.tf":              "resource \"lab_server\" \"broken\" {\n",
		"infra/README.md":              "x",
		"modules/net/main.tf":          "resource \"lab_net\" \"this\" { size = var.size }\nmodule \"deep\" {\n  source = \"./deep\"\n}\n",
		"modules/net/variables.tf":     "variable \"size\" {}\n",
		"modules/net/terraform.tfvars": "size = 3\n",
		"modules/net/deep/main.tofu":   "resource \"lab_net\" \"leaf\" {}\n",
		"../out/main.tf":               "resource \"lab_net\" \"out\" {}\n",
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ reason, address, want string }{
		"Constant":  {"only the file of its block", "lab_server.fixed", "main.tf"},
		"Variable":  {"files that declare and set its variables", "lab_server.web", "main.tf terraform.tfvars variables.tf"},
		"Index":     {"an instance of several", `lab_server.web["a.b[\"0"]`, "main.tf terraform.tfvars variables.tf"},
		"Locals":    {"files of its locals, of the locals and variables that these use", "lab_server.db[0]", "db.tf locals.tf prod.tfvars variables.tf x.auto.tfvars.json"},
		"JSON":      {"a block in JSON", "lab_server.json", "json.tf.json locals.tf prod.tfvars terraform.tfvars variables.tf x.auto.tfvars.json"},
		"Module":    {"a module's resource: the file of the call, too", `module.net["a.b"].lab_net.this`, "../modules/net/main.tf ../modules/net/variables.tf modules.tf terraform.tfvars variables.tf"},
		"Deep":      {"a resource in a nested module", `module.net["a.b"].module.deep.lab_net.leaf`, "../modules/net/deep/main.tofu ../modules/net/main.tf modules.tf terraform.tfvars variables.tf"},
		"Fetched":   {"a resource in a fetched module: the file of the call, which has the version", "module.far.lab_net.this[1]", "fetched.tf"},
		"Outside":   {"nothing outside of the repository is read: the file of the call", "module.out.lab_net.out", "fetched.tf"},
		"Override":  {"a block, and the file that overrides one of its arguments", "lab_server.over", "a_override.tf over.tf terraform.tfvars variables.tf"},
		"Gone":      {"a removed resource", "lab_server.gone", ""},
		"No module": {"a removed module", "module.gone.lab_server.web", ""},
		"Broken":    {"a resource in a file that cannot be parsed", "lab_server.broken2", ""},
		"Nothing":   {"no address", "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "repository")
			write(t, dir, lab())
			root := filepath.Join(dir, "infra")
			r := hclsource.New(root, hclsource.Options{Tofu: true, Within: dir, VarFiles: []string{"prod.tfvars", filepath.Join(root, "missing.tfvars")}})
			for range 2 {
				if diff := cmp.Diff(tc.want, strings.Join(r.Files(tc.address), " ")); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
}

func TestPosition(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, address, file string
		line                  int
	}{
		"Block":         {"a block", "lab_server.fixed", "main.tf", 2},
		"Instance":      {"an instance of several", `lab_server.fixed["a.b:3"]`, "main.tf", 2},
		"Override":      {"the block, and not what overrides an argument", "lab_server.over[0]", "over.tf", 3},
		"Check":         {"a check", "check.reachable", "check.tf", 1},
		"JSON":          {"a block in JSON", "lab_server.one", "many.tf.json", 3},
		"JSON list":     {"the second block of a type in JSON", "lab_server.two", "many.tf.json", 4},
		"Module":        {"a block in a local module", `module.net["a.b"].lab_net.this`, "../modules/net/main.tf", 1},
		"Deep":          {"a block in a nested module", `module.net["a.b"].module.deep.lab_net.leaf`, "../modules/net/deep/main.tofu", 1},
		"Fetched":       {"the call of a fetched module", "module.far.lab_net.this[1]", "fetched.tf", 1},
		"Outside":       {"the call of a module outside of the repository", "module.out.module.x.lab_net.out", "fetched.tf", 5},
		"Gone":          {"a removed resource", "lab_server.gone", "", 0},
		"Gone in local": {"a removed resource of a local module", "module.net.lab_net.gone", "", 0},
		"No module":     {"a removed module", "module.gone.lab_server.web", "", 0},
		"Nothing":       {"no address", "", "", 0},
	}
	dir := filepath.Join(t.TempDir(), "repository")
	write(t, dir, lab())
	r := hclsource.New(filepath.Join(dir, "infra"), hclsource.Options{Tofu: true, Within: dir})
	for name, tc := range cases {
		at, ok := r.Position(tc.address)
		if ok != (tc.file != "") || at != (hclsource.Position{File: tc.file, Line: tc.line}) {
			t.Errorf("%s: %s: %+v, %v", name, tc.reason, at, ok)
		}
	}
}

// TestPositionUnreadable checks that files that cannot be parsed or read have no position.
func TestPositionUnreadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"broken.tf": "}{ resource", "broken.tf.json": `{"resource": {"lab_server": {"a": `, "folder.tf/x": "",
		"binary.tf": "\x00\xff", "main.tf": `resource "lab_server" "web" {}`})
	if err := os.Symlink("nowhere", filepath.Join(dir, "link.tf")); err != nil {
		t.Fatal(err)
	}
	r := hclsource.New(dir, hclsource.Options{})
	if at, ok := r.Position("lab_server.a"); ok {
		t.Errorf("a position in an unreadable file: %+v", at)
	}
	if at, ok := r.Position("lab_server.web"); !ok || at.Line != 1 {
		t.Errorf("the other files are not read: %+v", at)
	}
}

// TestDeep checks that a file that would overflow the parser's stack, and so end the
// process, is left out.
func TestDeep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	deep := "a = " + strings.Repeat("[", 1<<20)
	write(t, dir, map[string]string{"main.tf": `resource "lab_server" "web" { memory = var.a }`, "deep.tf": deep, "deep.auto.tfvars": deep})
	if diff := cmp.Diff([]string{"main.tf"}, hclsource.New(dir, hclsource.Options{}).Files("lab_server.web")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzFiles checks that Files does not crash or hang for any address and configuration.
func FuzzFiles(f *testing.F) {
	f.Add(`module.net["a.b"].lab_server.web[0]`, `resource "lab_server" "web" { memory = var.memory }`)
	f.Add("module.module.module", `module "module" { source = "./." }`)
	f.Fuzz(func(t *testing.T, address, config string) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"main.tf": config, "json.tf.json": config, "terraform.tfvars": config})
		r := hclsource.New(dir, hclsource.Options{})
		files := r.Files(address)
		if slices.Contains(files, "") {
			t.Error("an empty path")
		}
		if at, ok := r.Position(address); ok && (at.Line < 1 || at.Line > strings.Count(config, "\n")+1 || !slices.Contains(files, at.File)) {
			t.Errorf("position %+v, files %q", at, files)
		}
	})
}
