package hclsource_test

import (
	"os"
	"path/filepath"
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
		"Outside":   {"nothing outside of the repository is read", "module.out.lab_net.out", ""},
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
			r := hclsource.New(root, dir, []string{"prod.tfvars", filepath.Join(root, "missing.tfvars")})
			for range 2 {
				if diff := cmp.Diff(tc.want, strings.Join(r.Files(tc.address), " ")); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
}

// TestDeep checks that a file that would overflow the parser's stack, and so end the
// process, is left out.
func TestDeep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	deep := "a = " + strings.Repeat("[", 1<<20)
	write(t, dir, map[string]string{"main.tf": `resource "lab_server" "web" { memory = var.a }`, "deep.tf": deep, "deep.auto.tfvars": deep})
	if diff := cmp.Diff([]string{"main.tf"}, hclsource.New(dir, "", nil).Files("lab_server.web")); diff != "" {
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
		for _, file := range hclsource.New(dir, "", nil).Files(address) {
			if file == "" {
				t.Error("an empty path")
			}
		}
	})
}
