package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
		return "", false, unusable(o.Binary, err)
	case terragrunt:
		return "", false, errors.New("the root is a Terragrunt root, and terragrunt is not on PATH: install it, set binary, or use engine: state")
	}
	return "", false, errors.New("neither terraform nor tofu is on PATH: install one, set binary, or use engine: state")
}

// ReadsTofu reports whether the CLI may read .tofu files, which only OpenTofu reads. It returns true if it
// is unknown which CLI runs.
func (o Options) ReadsTofu() bool {
	path, _, err := o.binary()
	return err != nil || !strings.HasPrefix(filepath.Base(path), "terraform")
}

// CheckInstalled returns an error if none of terraform, tofu and terragrunt is on PATH.
func CheckInstalled() error {
	for _, name := range []string{"terraform", "tofu", "terragrunt"} {
		if _, err := exec.LookPath(name); err == nil {
			return nil
		}
	}
	return errors.New("none of terraform, tofu and terragrunt is on PATH: install one, or set binary")
}

// setBinary is the next step if a CLI does not work.
const setBinary = "set binary to terraform or tofu"

// unusable returns the error for a CLI that cannot be run. The path is not followed by a colon, which
// would make a path such as /etc/passwd look like the name of a secret.
func unusable(path string, err error) error {
	if inner, ok := errors.AsType[*exec.Error](err); ok {
		err = inner.Err
	}
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	return fmt.Errorf("the CLI %s cannot be run (%w); %s", path, err, setBinary)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
