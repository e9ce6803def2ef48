package terraform

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// IsRoot tells whether a folder is a Terraform, OpenTofu or Terragrunt root:
// whether one of its own files is configuration. A path that is no folder is
// none.
func IsRoot(dir string) (bool, error) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return false, nil //nolint:nilerr // Whoever reads it says that it does not exist.
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, fmt.Errorf("look for Terraform files: %w", err)
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return IsConfiguration(e.Name()) }), nil
}

// IsConfiguration tells whether a path is that of a file of such a root.
func IsConfiguration(path string) bool {
	name := filepath.Base(path)
	if name == "terragrunt.hcl" || name == "terragrunt.hcl.json" {
		return true
	}
	return slices.ContainsFunc([]string{".tf", ".tf.json", ".tofu", ".tofu.json"}, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// IsState tells whether a path is a file that Terraform records in.
func IsState(path string) bool { return filepath.Ext(path) == ".tfstate" }
