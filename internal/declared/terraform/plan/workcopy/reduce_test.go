package workcopy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/plan/workcopy"
)

func TestReduce(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ file, text, want string }{
		"resources, modules, providers": {"main.tf", `terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
  experiments = [x]
  backend "s3" {
    bucket = "b"
    assume_role = { role_arn = "r" }
  }
}
provider "aws" {}
module "m" { source = "git::https://example.org/m" }
resource "a_b" "c" {}
data "external" "d" { program = ["sh"] }
check "c" {
  data "http" "h" {}
}
`, "terraform {\nrequired_version = \">= 1.5\"\nbackend \"s3\" {\n    bucket = \"b\"\n    assume_role = { role_arn = \"r\" }\n  }\n}\n"},
		"blocks that OpenTofu may use": {"main.tofu", "variable \"b\" { default = \"x\" }\nlocals {\n  a = <<-E\n    } {\n  E\n}\nterraform {\n  encryption {}\n  cloud {}\n}\n",
			"variable \"b\" { default = \"x\" }\nlocals {\n  a = <<-E\n    } {\n  E\n}\nterraform {\nencryption {}\ncloud {}\n}\n"},
		"no terraform block": {"vm.tf", `resource "a_b" "c" {}`, ""},
		"JSON":               {"main.tf.json", `{"resource":{"a_b":{"c":{}}},"terraform":{"backend":{"pg":{}},"required_providers":{}}}`, `{"terraform":{"backend":{"pg":{}}}}`},
		"lists in JSON":      {"main.tf.json", `[{"terraform":[{"backend":{"pg":{}}},{"x":1}]},{"data":{}}]`, `[{"terraform":[{"backend":{"pg":{}}},{}]},{}]`},
		"another file":       {"notes.md", `resource`, `resource`},
		"an override":        {"backend_override.tf.json", `{"terraform":{"backend":{"local":{"path":9007199254740993}}}}`, `{"terraform":{"backend":{"local":{"path":9007199254740993}}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, tc.file)
			write(t, path, tc.text)
			if err := workcopy.Reduce(dir); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, read(t, path)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if err := workcopy.Reduce(dir); err != nil || read(t, path) != tc.want {
				t.Errorf("reduced twice: %v, %s", err, read(t, path))
			}
		})
	}
}

func TestReduceRemoves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{".terraform.lock.hcl", "a.tftest.hcl", "b.tofutest.json", "prod.auto.tfvars"} {
		write(t, filepath.Join(dir, name), "x = 1")
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.tf"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := workcopy.Reduce(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

func TestReduceErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ file, text, want string }{
		"not parsable":    {"main.tf", "terraform {\n  backend \"s3\" { secret_key = \"hunter2\"", "parse main.tf:2"},
		"not JSON":        {"main.tf.json", `{"terraform": hunter2`, "parse main.tf.json: not JSON"},
		"wrong form":      {"main.tf.json", `{"terraform": "hunter2"}`, "read main.tf.json: a block has the wrong form"},
		"repeated name":   {"main.tf.json", `{"terraform": {"backend": {"a": {}}, "backend": {"b": {}}}}`, "read main.tf.json"},
		"nested too deep": {"main.tf", "locals { a = " + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + " }", "nested too deeply"},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, tc.file), tc.text)
		err := workcopy.Reduce(dir)
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}

// TestReduceLink checks that the target of a link is neither read nor written.
func TestReduceLink(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside.tf")
	write(t, outside, "resource")
	if err := os.Symlink(outside, filepath.Join(dir, "main.tf")); err != nil {
		t.Fatal(err)
	}
	if err := workcopy.Reduce(dir); err == nil || read(t, outside) != "resource" {
		t.Errorf("got %v, %s", err, read(t, outside))
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
