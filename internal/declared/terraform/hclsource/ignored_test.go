package hclsource_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/hclsource"
	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

func TestIgnored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.tf": `
resource "lab_server" "web" {
  lifecycle { ignore_changes = [tags["x.y"], network[0].bridge] }
}
resource "lab_server" "plain" {}
module "net" { source = "./net" }
module "far" {
  source = "example.org/far"
}`,
		"override.tf": `
resource "lab_server" "web" {
  size = 2
}
resource "lab_server" "plain" {
  lifecycle { ignore_changes = [size] }
}`,
		"net/main.tf.json": `{"resource": {"lab_server": {"web": {"lifecycle": {"ignore_changes": "all"}}}}}`,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root := hclsource.New(dir, hclsource.Options{})
	for address, want := range map[string]syntax.Ignored{
		`lab_server.web["a.b"]`:           {Paths: [][]string{{"tags", "x.y"}, {"network", "0", "bridge"}}},
		"lab_server.plain":                {Paths: [][]string{{"size"}}},
		"module.net[0].lab_server.web[1]": {All: true},
		"module.far.lab_server.web":       {},
		"lab_server.gone":                 {},
	} {
		if d := cmp.Diff(want, root.Ignored(address)); d != "" {
			t.Errorf("%s: %s", address, d)
		}
	}
}
