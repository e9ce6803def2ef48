package plan

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// binary returns the path of the CLI, and whether it is Terragrunt.
func (o Options) binary() (path string, terragrunt bool, err error) {
	names := []string{"terraform", "tofu"}
	terragrunt = isFile(filepath.Join(o.Dir, "terragrunt.hcl"))
	switch {
	case o.Binary != "":
		names = []string{o.Binary}
		terragrunt = filepath.Base(o.Binary) == "terragrunt"
	case terragrunt:
		names = []string{"terragrunt"}
	}
	for _, name := range names {
		if path, err = exec.LookPath(name); err == nil {
			path, err = filepath.Abs(path)
			return path, terragrunt, err
		}
	}
	switch {
	case o.Binary != "":
		return "", false, fmt.Errorf("find the CLI: %w; set binary", err)
	case terragrunt:
		return "", false, errors.New("the root is a Terragrunt root, and terragrunt is not on PATH: install it, set binary, or use engine: state")
	}
	return "", false, errors.New("neither terraform nor tofu is on PATH: install one, set binary, or use engine: state")
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
