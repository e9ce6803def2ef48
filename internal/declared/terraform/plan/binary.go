package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared/folder"
	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// binary returns the path of the CLI, and whether it is Terragrunt. OpenTofu suits a root with .tofu files, which
// Terraform ignores, and a root with a lock file of OpenTofu's.
func (o Options) binary() (path string, terragrunt bool, err error) {
	names := []string{"terraform", "tofu"}
	terragrunt = isFile(filepath.Join(o.Dir, "terragrunt.hcl"))
	tofu := o.has(".tofu")
	onlyTofu := tofu && !o.has(".tf")
	switch {
	case o.Binary != "":
		names = []string{o.Binary}
		terragrunt = filepath.Base(o.Binary) == "terragrunt"
	case terragrunt:
		names = []string{"terragrunt"}
	case tofu, o.lockedByTofu():
		slices.Reverse(names)
	}
	for _, name := range names {
		if path, err = exec.LookPath(name); err != nil {
			continue
		}
		if onlyTofu && !terragrunt && isTerraform(path) {
			return "", false, fmt.Errorf("the root has only .tofu files, which %s does not read: install tofu, or set binary to it", path)
		}
		path, err = filepath.Abs(path)
		return path, terragrunt, err
	}
	switch {
	case o.Binary != "":
		return "", false, unusable(o.Binary, err)
	case terragrunt:
		return "", false, errors.New("the root is a Terragrunt root, and terragrunt is not on PATH: install it, set binary, or use engine: state")
	}
	return "", false, errors.New("neither terraform nor tofu is on PATH: install one, set binary, or use engine: state")
}

// lockedByTofu reports whether OpenTofu wrote the lock file: its providers are those of OpenTofu's registry.
func (o Options) lockedByTofu() bool {
	text, err := folder.ReadBounded(filepath.Join(o.Dir, lockFileName), maxLockFile)
	return err == nil && bytes.Contains(text, []byte(`provider "registry.opentofu.org/`))
}

// ReadsTofu reports whether the CLI may read .tofu files, which only OpenTofu reads. It returns true if it
// is unknown which CLI runs.
func (o Options) ReadsTofu() bool {
	path, _, err := o.binary()
	return err != nil || !isTerraform(path)
}

func isTerraform(path string) bool { return strings.HasPrefix(filepath.Base(path), "terraform") }

// has reports whether the root has a configuration file with the extension, or with the extension and ".json".
func (o Options) has(extension string) bool {
	entries, err := os.ReadDir(o.Dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		_, suffix := syntax.SplitName(e.Name())
		return strings.TrimSuffix(suffix, ".json") == extension
	})
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
