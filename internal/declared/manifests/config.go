package manifests

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// Config configures a manifests declaration.
type Config struct {
	gitrepo.Place    `mapstructure:",squash"`
	gitrepo.Lookback `mapstructure:",squash"`

	// Label is what addresses begin with: the name by which people know the
	// folder, or the single file. Without it, the folder's own name, and for git
	// the top of the repository.
	Label string `mapstructure:"label"`
	// DefaultNamespace is that of manifests that name none.
	DefaultNamespace string `mapstructure:"default_namespace"`
	// Namespaces are governed in any case: what lives in them is expected to be
	// declared. Those that clusters and installers fill themselves, such as
	// kube-system, are governed only where they are listed here or declared as a
	// Namespace.
	Namespaces []string `mapstructure:"namespaces"`
	// RequiredNamespace is that of manifests that name none, as with kubectl apply
	// --namespace: a manifest that names another one is unchecked. Without it,
	// manifests may name any.
	RequiredNamespace string `mapstructure:"required_namespace"`
	// Include are patterns of the files that are read: "*.yaml" fits a name at
	// any depth, "apps/*/dev" and "**/dev" a path from the root. Without any,
	// all manifests are.
	Include []string `mapstructure:"include"`
	// Exclude are patterns of files and folders that are not read.
	Exclude []string `mapstructure:"exclude"`
	// AllowNetwork lets kustomize fetch remote bases; it needs git installed.
	AllowNetwork bool `mapstructure:"allow_network"`
	// MaxFileSize bounds a file, in bytes.
	MaxFileSize int64 `mapstructure:"max_file_size"`
	// MaxFiles bounds the number of files, and that of folders.
	MaxFiles int `mapstructure:"max_files"`
	// Timeout bounds one reading of the whole declaration.
	Timeout time.Duration `mapstructure:"timeout"`
	// DeployWindow is how long after a commit the apply of the version before it is
	// an ordinary deploy, and a new object may be absent.
	DeployWindow time.Duration `mapstructure:"deploy_window"`
	// ApplyBeforeMerge accepts what was applied from a branch or pull request that is
	// not merged: it is pending instead of bypassed.
	ApplyBeforeMerge bool `mapstructure:"apply_before_merge"`
}

// Defaults returns the settings that hold where the configuration is silent.
func Defaults() Config {
	return Config{
		Place:            gitrepo.DefaultPlace(),
		Lookback:         gitrepo.Lookback{Commits: gitrepo.DefaultLookback},
		DefaultNamespace: "default",
		MaxFileSize:      16 << 20,
		MaxFiles:         20_000,
		Timeout:          2 * time.Minute,
		DeployWindow:     time.Hour,
	}
}

func (c Config) check() error {
	if err := cmp.Or(c.Place.Check("manifests"), c.Lookback.Check()); err != nil {
		return err
	}
	for _, name := range c.Namespaces {
		if !isName(name) {
			return fmt.Errorf("namespaces: %q is not the name of a namespace", name)
		}
	}
	switch {
	case c.MaxFileSize <= 0 || c.MaxFiles <= 0:
		return fmt.Errorf("max_file_size %d, max_files %d: want more than 0", c.MaxFileSize, c.MaxFiles)
	case c.Timeout <= 0:
		return fmt.Errorf("timeout %s: want more than 0", c.Timeout)
	case c.DeployWindow < 0:
		return fmt.Errorf("deploy_window %s: want 0 or more", c.DeployWindow)
	case c.ApplyBeforeMerge && c.Git == "":
		return errors.New("apply_before_merge belongs to git, and dir is set: a folder has no branches")
	case strings.ContainsAny(c.DefaultNamespace+c.RequiredNamespace, "*?["):
		return errors.New("default_namespace and required_namespace take no patterns: name one namespace")
	}
	return nil
}

// label returns Label in the form of an address.
func (c Config) label() string {
	if c.Label == "" {
		return ""
	}
	return path.Clean(filepath.ToSlash(c.Label))
}
