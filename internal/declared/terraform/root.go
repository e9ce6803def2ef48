package terraform

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// IsRoot reports whether dir is a folder with configuration files of Terraform, OpenTofu or
// Terragrunt. Files in its subfolders do not count.
func IsRoot(dir string) (bool, error) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return false, nil //nolint:nilerr // The caller reports a missing folder when it reads it.
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, fmt.Errorf("look for Terraform files: %w", err)
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return IsConfiguration(e.Name()) }), nil
}

// IsConfiguration reports whether a path has the name of a configuration file of a root.
func IsConfiguration(path string) bool {
	name := filepath.Base(path)
	if name == "terragrunt.hcl" || name == "terragrunt.hcl.json" {
		return true
	}
	return slices.ContainsFunc([]string{".tf", ".tf.json", ".tofu", ".tofu.json"}, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// IsState reports whether a path has the extension of a state file.
func IsState(path string) bool { return filepath.Ext(path) == ".tfstate" }
