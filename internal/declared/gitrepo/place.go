package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strings"
)

// A Place says, as settings of a declaration do, where in which repository the
// declaration lies: a folder (Dir) or a repository (Git).
type Place struct {
	// Dir is a folder, or a single file, that is read as it stands.
	Dir string `mapstructure:"dir" path:"true"`

	// Git is the URL of a repository, or the absolute path of a local one.
	Git string `mapstructure:"git"`
	// Ref is a full commit hash, a full name (refs/tags/v1), a branch or a tag; a
	// name that is both a branch's and a tag's is an error. Without it, the
	// remote's HEAD.
	Ref string `mapstructure:"ref"`
	// Path is the folder or file inside the repository; without it, all of it.
	Path string `mapstructure:"path"`
	// Username signs in over https, with the token.
	Username string `mapstructure:"username"`
	// TokenFile holds the token, or the password, for https.
	TokenFile string `mapstructure:"token_file" path:"true"`
	// CAFile holds the authorities to trust instead of the system's; without it, the system's count.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// SSHKeyFile signs in over ssh; without it, the ssh agent does.
	SSHKeyFile string `mapstructure:"ssh_key_file" path:"true"`
	// KnownHostsFile names the hosts to trust over ssh; without it, the user's
	// and the system's own do.
	KnownHostsFile string `mapstructure:"known_hosts_file" path:"true"`
	// MaxCloneSize bounds driftd's own clone of the repository on disk, in bytes. A
	// transfer that exceeds it ends, and the declaration is unchecked.
	MaxCloneSize int64 `mapstructure:"max_clone_size"`
}

// DefaultPlace returns the settings that hold where the configuration is silent.
func DefaultPlace() Place { return Place{Username: "git", MaxCloneSize: DefaultMaxCloneSize} }

// DefaultMaxCloneSize is enough for the files of one commit of large repositories.
const DefaultMaxCloneSize = 2 << 30

// A Lookback bounds how much of a repository's history is read.
type Lookback struct {
	// Commits is how many commits back the author of what is declared, and what was
	// declared before, are looked for; 0 looks for neither.
	Commits int `mapstructure:"history"`
}

// DefaultLookback holds where the configuration is silent.
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

// Check returns an error if the settings contradict each other; content is what the place holds.
func (p Place) Check(content string) error {
	switch {
	case p.Dir == "" && p.Git == "":
		return fmt.Errorf("neither dir nor git: name the folder or the repository that holds the %s", content)
	case p.Dir != "" && p.Git != "":
		return errors.New("dir and git: a declaration is read from one of them")
	case p.Git == "" && p.Ref+p.Path+p.TokenFile+p.CAFile+p.SSHKeyFile+p.KnownHostsFile != "":
		return errors.New("ref, path and credentials belong to git, and dir is set")
	case p.MaxCloneSize < 0:
		return fmt.Errorf("max_clone_size %d: want more than 0", p.MaxCloneSize)
	case p.TokenFile != "" && p.SSHKeyFile != "":
		return errors.New("token_file and ssh_key_file: https takes the one, ssh the other")
	case strings.ContainsAny(p.Path, "*?"):
		return fmt.Errorf("path %s: takes no patterns, name one folder or file", p.Path)
	case !fs.ValidPath(p.Root()):
		return fmt.Errorf("path %s leads out of the repository", p.Path)
	}
	return nil
}

// Root returns Path within the repository.
func (p Place) Root() string { return path.Clean(strings.Trim(p.Path, "/")) }

// Open returns the repository that the place names; nil for a folder. It
// reaches for nothing yet.
func (p Place) Open(cacheDir string, log *slog.Logger) (*Repository, error) {
	return p.OpenWithHistory(cacheDir, Lookback{}, log)
}

// OpenWithHistory is like Open, for a repository that tells who touched files.
func (p Place) OpenWithHistory(cacheDir string, l Lookback, log *slog.Logger) (*Repository, error) {
	if p.Git == "" {
		return nil, nil
	}
	return New(Settings{
		URL: p.Git, Username: p.Username, TokenFile: p.TokenFile, CAFile: p.CAFile,
		SSHKeyFile: p.SSHKeyFile, KnownHostsFile: p.KnownHostsFile, CacheDir: cacheDir, MaxCloneSize: p.MaxCloneSize, History: l.Commits, Log: log,
	})
}
