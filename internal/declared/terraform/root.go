package terraform

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
	"github.com/driftd/driftd/internal/lazyregexp"
)

// IsRoot reports whether dir is a folder that directly contains configuration files of Terraform, OpenTofu
// or Terragrunt. It returns false without an error if dir does not exist.
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

// isMember reports whether a folder is a root. At any depth, a folder below one with the name modules is none, and one that has neither
// a lock file nor a backend or a provider: most modules of roots have neither.
func isMember(fsys fs.FS, dir string, deep bool) (bool, error) {
	entries, err := fs.ReadDir(fsys, dir)
	entries = slices.DeleteFunc(slices.Clone(entries), func(e fs.DirEntry) bool {
		// A link may lead to a file, or nowhere, as those with which editors lock files.
		info, err := fs.Stat(fsys, path.Join(dir, e.Name()))
		return errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular()
	})
	if err != nil || !deep {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return IsConfiguration(e.Name()) }), err
	}
	if slices.Contains(strings.Split(dir, "/"), "modules") {
		return false, nil
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == lockFile, strings.HasPrefix(name, "terragrunt.hcl"):
			return true, nil
		case !IsConfiguration(name):
			continue
		}
		text, err := readBounded(fsys, path.Join(dir, e.Name()))
		if err != nil {
			return false, err
		}
		if rootBlock().Match(text) {
			return true, nil
		}
	}
	return false, nil
}

// lockFile is the name of the file with the versions of the providers of a root.
const lockFile = ".terraform.lock.hcl"

// rootBlock matches the beginning of a block that a root has, and most modules do not, in both syntaxes.
var rootBlock = lazyregexp.New(`(?m)(^|[{,])\s*"?(backend|cloud|provider)"?(\s+"[^"]*")?\s*:?\s*\{`)

// maxConfiguration bounds how much is read of a file to find out whether its folder is a root, in bytes.
const maxConfiguration = 1 << 20

func readBounded(fsys fs.FS, name string) (text []byte, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, maxConfiguration))
}

// IsConfiguration reports whether the base name of file is that of a configuration file of Terraform,
// OpenTofu or Terragrunt. Hidden files are none.
func IsConfiguration(file string) bool {
	name := filepath.Base(file)
	if name == "terragrunt.hcl" || name == "terragrunt.hcl.json" {
		return true
	}
	return syntax.IsConfiguration(name)
}

// IsState reports whether file has the extension of state files.
func IsState(file string) bool { return filepath.Ext(file) == ".tfstate" }
