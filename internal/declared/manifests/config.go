package manifests

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/manifests/gitrepo"
)

// Config is the settings of a manifests declaration: a folder (Dir) or a git
// repository (Git).
type Config struct {
	// Dir is a folder, or a single file, that is read as it stands.
	Dir string `mapstructure:"dir" path:"true"`

	// Git is the URL of a repository, or the absolute path of a local one.
	Git string `mapstructure:"git"`
	// Ref is a branch, a tag or a full commit hash, in this order of
	// preference; "" means the remote's HEAD.
	Ref string `mapstructure:"ref"`
	// Path is the folder or file inside the repository; "" means all of it.
	Path string `mapstructure:"path"`
	// Username and TokenFile sign in over https.
	Username  string `mapstructure:"username"`
	TokenFile string `mapstructure:"token_file" path:"true"`
	// CAFile holds certificates to trust beside the system's own.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// SSHKeyFile signs in over ssh; "" means the ssh agent. KnownHostsFile
	// names the hosts to trust; "" means the user's and the system's own.
	SSHKeyFile     string `mapstructure:"ssh_key_file" path:"true"`
	KnownHostsFile string `mapstructure:"known_hosts_file" path:"true"`

	// Label is what addresses begin with: the name by which people know the
	// folder, or the single file. "" means the folder's own name, and for git
	// the top of the repository.
	Label string `mapstructure:"label"`
	// DefaultNamespace is that of manifests that name none.
	DefaultNamespace string `mapstructure:"default_namespace"`
	// Include and Exclude are patterns of files and folders: "*.yaml" fits a
	// name at any depth, "apps/*/dev" and "**/dev" a path from the root.
	Include []string `mapstructure:"include"`
	Exclude []string `mapstructure:"exclude"`
	// AllowNetwork lets kustomize fetch remote bases; it needs git installed.
	AllowNetwork bool `mapstructure:"allow_network"`
	// MaxFileSize bounds a file, in bytes, and MaxFiles the number of files.
	MaxFileSize int64 `mapstructure:"max_file_size"`
	MaxFiles    int   `mapstructure:"max_files"`
	// Timeout bounds one reading of the whole declaration.
	Timeout time.Duration `mapstructure:"timeout"`
}

// Defaults returns the settings that hold where the configuration is silent.
func Defaults() Config {
	return Config{
		Username:         "git",
		DefaultNamespace: "default",
		MaxFileSize:      16 << 20,
		MaxFiles:         20_000,
		Timeout:          2 * time.Minute,
	}
}

func (c Config) check() error {
	switch {
	case c.Dir == "" && c.Git == "":
		return errors.New("neither dir nor git: name the folder or the repository that holds the manifests")
	case c.Dir != "" && c.Git != "":
		return errors.New("dir and git: a declaration is read from one of them")
	case c.Git == "" && c.Ref+c.Path+c.TokenFile+c.CAFile+c.SSHKeyFile+c.KnownHostsFile != "":
		return errors.New("ref, path and credentials belong to git, and dir is set")
	case c.TokenFile != "" && c.SSHKeyFile != "":
		return errors.New("token_file and ssh_key_file: https takes the one, ssh the other")
	case !fs.ValidPath(c.root()):
		return fmt.Errorf("path %s leads out of the repository", c.Path)
	case c.MaxFileSize <= 0 || c.MaxFiles <= 0:
		return fmt.Errorf("max_file_size %d, max_files %d: want more than 0", c.MaxFileSize, c.MaxFiles)
	case c.Timeout <= 0:
		return fmt.Errorf("timeout %s: want more than 0", c.Timeout)
	}
	return nil
}

// root returns Path within the repository.
func (c Config) root() string { return path.Clean(strings.Trim(c.Path, "/")) }

// label returns Label in the form of an address.
func (c Config) label() string {
	if c.Label == "" {
		return ""
	}
	return path.Clean(filepath.ToSlash(c.Label))
}

func (c Config) repository(env declared.Env) gitrepo.Settings {
	return gitrepo.Settings{
		URL: c.Git, Username: c.Username, TokenFile: c.TokenFile, CAFile: c.CAFile,
		SSHKeyFile: c.SSHKeyFile, KnownHostsFile: c.KnownHostsFile,
		CacheDir: env.CacheDir, Log: env.Log,
	}
}
