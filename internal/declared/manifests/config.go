package manifests

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// Config configures a declaration of Kubernetes manifests.
type Config struct {
	gitrepo.Place    `mapstructure:",squash"`
	gitrepo.Lookback `mapstructure:",squash"`

	// Label is the prefix of addresses, or the address of a single file. The default is the
	// name of the folder. For git, addresses have no prefix by default.
	Label string `mapstructure:"label"`
	// DefaultNamespace is the namespace of manifests that specify none.
	DefaultNamespace string `mapstructure:"default_namespace"`
	// Namespaces are namespaces that are always governed: every object in them is expected to be declared.
	// A namespace that the cluster or an installer fills, such as kube-system, is governed only if it is
	// listed here or declared as a Namespace.
	Namespaces []string `mapstructure:"namespaces"`
	// RequiredNamespace is the namespace of manifests that specify none, as with kubectl apply --namespace.
	// A manifest with a different namespace is unchecked. By default, manifests can have any namespace.
	RequiredNamespace string `mapstructure:"required_namespace"`
	// Include lists patterns of the files that are read: "*.yaml" matches a name at any depth,
	// "apps/*/dev" and "**/dev" match a path from the root. By default, all manifests are
	// read.
	Include []string `mapstructure:"include"`
	// Exclude lists patterns of files and folders that are not read.
	Exclude []string `mapstructure:"exclude"`
	// AllowNetwork allows kustomize to fetch remote bases, which requires git.
	AllowNetwork bool `mapstructure:"allow_network"`
	// MaxFileSize bounds the size of a file, in bytes.
	MaxFileSize int64 `mapstructure:"max_file_size"`
	// MaxFiles bounds the number of files, and the number of folders.
	MaxFiles int `mapstructure:"max_files"`
	// Timeout is the maximum duration of one reading of the declaration.
	Timeout time.Duration `mapstructure:"timeout"`
	// DeployWindow is the time after a commit in which applying the previous version is an
	// ordinary deploy, and in which a new object may be absent.
	DeployWindow time.Duration `mapstructure:"deploy_window"`
	// ApplyBeforeMerge accepts values that were applied from a branch or pull request before
	// the merge: they are pending instead of bypassed.
	ApplyBeforeMerge bool `mapstructure:"apply_before_merge"`

	// placeless is set for a release whose chart is fetched and that has no files.
	placeless bool
}

// Defaults returns the default settings.
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
	if !c.placeless {
		if err := c.Place.Check("manifests"); err != nil {
			return err
		}
	}
	if err := c.Lookback.Check(); err != nil {
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
		return errors.New("apply_before_merge applies to git, and git is not set: a folder has no branches")
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
