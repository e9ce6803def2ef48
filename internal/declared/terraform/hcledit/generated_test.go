package hcledit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/hcledit"
)

const generated = `# __generated__ by Terraform
resource "lab_server" "web" {
  description = null
  name        = "web"
  password    = null # sensitive
  tags        = []
  text        = <<-EOT
    a
    b
  EOT
  disk {
    size = 0
    id   = null
  }
  network {
    mtu = null
  }
}
`

func TestGenerated(t *testing.T) {
	t.Parallel()
	all, err := hcledit.WithoutEmpty([]byte(generated))
	if err != nil {
		t.Fatal(err)
	}
	want := "resource \"lab_server\" \"web\" {\n  name = \"web\"\n  text = <<-EOT\n    a\n    b\n  EOT\n  disk {\n    size = 0\n  }\n}\n"
	if d := cmp.Diff(want, strings.ReplaceAll(string(all), "\n\n", "\n")); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	for name, tc := range map[string]struct {
		reason       string
		line         int
		gone, refuse string
	}{
		"argument": {"the argument that begins there", 2, "  name = \"web\"\n", ""},
		"text":     {"a line within an argument", 4, "  text = <<-EOT\n    a\n    b\n  EOT\n", ""},
		"emptied":  {"a block that is empty then", 8, "  disk {\n    size = 0\n  }\n", ""},
		"block":    {"the block that begins there", 7, "  disk {\n    size = 0\n  }\n", ""},
		"resource": {"the resource itself stays", 1, "", "the provider requires what it does not generate"},
	} {
		edited, err := hcledit.WithoutLines([]byte(want), []int{tc.line})
		if tc.refuse != "" {
			if err == nil || !strings.Contains(err.Error(), tc.refuse) {
				t.Errorf("%s: %s: got %v", name, tc.reason, err)
			}
			continue
		}
		if d := cmp.Diff(strings.Replace(want, tc.gone, "", 1), strings.ReplaceAll(string(edited), "\n\n", "\n")); d != "" || err != nil {
			t.Errorf("%s: %s: %v (-want +got):\n%s", name, tc.reason, err, d)
		}
	}
}
