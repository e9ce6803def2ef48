package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strings"
)

// A Place is the location of a declaration: a folder (Dir), or a path in a git repository (Git).
type Place struct {
	// Dir is a folder or a single file on disk. In declarations of type terraform, manifests, helm and
	// flux, a pattern such as roots/* defines a declaration for each folder that matches.
	Dir string `mapstructure:"dir" path:"true"`

	// Git is the URL of a repository, or the absolute path of a local one.
	Git string `mapstructure:"git"`
	// Ref is a full commit hash, a full name (refs/tags/v1), a branch or a tag. A name of both
	// a branch and a tag is an error. The default is the remote's HEAD.
	Ref string `mapstructure:"ref"`
	// Path is the folder or file inside the repository. The default is the whole repository. In
	// declarations of type terraform, manifests, helm and flux, a pattern defines a declaration for each
	// folder that matches.
	Path   string `mapstructure:"path"`
	Access `mapstructure:",squash"`

	// MaxCloneSize is the maximum size of driftd's own clone of the repository on disk, in bytes. A larger
	// transfer is aborted, and the declaration is unchecked.
	MaxCloneSize int64 `mapstructure:"max_clone_size"`
}

// An Access contains the credentials for a repository.
type Access struct {
	// Username is the user name for https.
	Username string `mapstructure:"username"`
	// TokenFile is a file with the token or password for https.
	TokenFile string `mapstructure:"token_file" path:"true"`
	// CAFile is a file with the certificate authorities to trust. The default are those of the system.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// SSHKeyFile is a file with the private key for ssh. The default is the ssh agent.
	SSHKeyFile string `mapstructure:"ssh_key_file" path:"true"`
	// KnownHostsFile is a file with the host keys to trust for ssh. The default are the files of the user
	// and of the system.
	KnownHostsFile string `mapstructure:"known_hosts_file" path:"true"`
}

// DefaultPlace returns the default settings.
func DefaultPlace() Place {
	return Place{Access: Access{Username: "git"}, MaxCloneSize: DefaultMaxCloneSize}
}

// DefaultMaxCloneSize is the default of Place.MaxCloneSize, in bytes. It suffices for one commit of a large
// repository.
const DefaultMaxCloneSize = 2 << 30

// A Lookback bounds how far the history of a repository is read.
type Lookback struct {
	// Commits is the number of commits that are searched for the authors of declared values and for earlier
	// declared values; 0 disables both.
	Commits int `mapstructure:"history"`
}

// DefaultLookback is the default of Lookback.Commits.
const DefaultLookback = 500

// maxLookback bounds Lookback.Commits.
const maxLookback = 1_000_000

// Check returns an error if the setting is out of range.
func (l Lookback) Check() error {
	if l.Commits < 0 || l.Commits > maxLookback {
		return fmt.Errorf("history %d: want a number of commits from 0 to %d", l.Commits, maxLookback)
	}
	return nil
}

// Check returns an error if the settings contradict each other. content is a noun for the content of the
// place ("manifests"), for the message of the error.
func (p Place) Check(content string) error {
	switch {
	case p.Dir == "" && p.Git == "":
		return fmt.Errorf("neither dir nor git is set: name the folder or the repository that contains the %s", content)
	case p.Dir != "" && p.Git != "":
		return errors.New("dir and git are both set: remove one")
	case p.Git == "" && p.Ref+p.Path+p.TokenFile+p.CAFile+p.SSHKeyFile+p.KnownHostsFile != "":
		return errors.New("ref, path and credentials apply to git, but dir is set: remove them")
	case p.MaxCloneSize < 0:
		return fmt.Errorf("max_clone_size %d: want the number of bytes, or 0 for the default", p.MaxCloneSize)
	case p.TokenFile != "" && p.SSHKeyFile != "":
		return errors.New("token_file and ssh_key_file are both set: https uses the first, ssh the second; remove one")
	case strings.ContainsAny(p.Path, "*?"):
		return fmt.Errorf("path %s: takes no patterns, name one folder or file", p.Path)
	case !fs.ValidPath(p.Root()):
		return fmt.Errorf("path %s leads out of the repository", p.Path)
	}
	return nil
}

// Root returns Path in the syntax of io/fs.
func (p Place) Root() string { return path.Clean(strings.Trim(p.Path, "/")) }

// Open returns the repository of the place, or nil if the place is a folder. It does not connect to the
// repository.
func (p Place) Open(cacheDir string, log *slog.Logger) (*Repository, error) {
	return p.OpenWithHistory(cacheDir, Lookback{}, log)
}

// OpenWithHistory is like Open, but returns a repository whose Touches and History read as many commits as
// l.Commits.
func (p Place) OpenWithHistory(cacheDir string, l Lookback, log *slog.Logger) (*Repository, error) {
	if p.Git == "" {
		return nil, nil
	}
	return New(Settings{
		URL: p.Git, Username: p.Username, TokenFile: p.TokenFile, CAFile: p.CAFile,
		SSHKeyFile: p.SSHKeyFile, KnownHostsFile: p.KnownHostsFile, CacheDir: cacheDir, MaxCloneSize: p.MaxCloneSize, History: l.Commits, Log: log,
	})
}
