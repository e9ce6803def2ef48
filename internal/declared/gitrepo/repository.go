// Package gitrepo reads the files of a commit from a remote or local git repository, and appends commits to
// branches. Reads do not modify the repository.
package gitrepo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// Settings are the location of a repository, its credentials, and the limits for reading it.
type Settings struct {
	// URL is an https, ssh or file URL, "git@host:path", or an absolute path.
	URL string
	// Username and TokenFile are the credentials for https. TokenFile is the path of a file with the token
	// or password.
	Username, TokenFile string
	// CAFile is the path of a file with the certificate authorities to trust; "" means those of the system.
	CAFile string
	// SSHKeyFile is the path of a file with the private key for ssh; "" means the ssh agent. KnownHostsFile
	// is the path of a file with the host keys to trust; "" means the files of the user and of the system.
	SSHKeyFile, KnownHostsFile string
	// CacheDir is the folder for clones. Repositories and processes can share it. If it is "", each read
	// clones the repository into a folder of its own.
	CacheDir string
	// MaxCloneSize is the maximum size of a clone, in bytes; 0 means DefaultMaxCloneSize.
	MaxCloneSize int64
	// History is the number of commits that Commit.Touches reads; 0 disables it.
	History int
	Log     *slog.Logger
}

// A Repository reads a remote or local git repository.
type Repository struct {
	settings Settings
	// url and endpoint have no credentials.
	url      string
	endpoint transport.Endpoint
	// basic contains the credentials in the configured URL, or is nil.
	basic   *githttp.BasicAuth
	history *history
	// maxClone bounds the clone, in bytes.
	maxClone int64
	tooLarge tooLargeCommit
	// pastFailures and branchFailures record failures to fetch what History reads.
	pastFailures, branchFailures backoff
}

// New returns a Repository with the settings. It returns an error if they are invalid. It does not connect
// to the repository.
func New(s Settings) (*Repository, error) {
	endpoint, err := transport.NewEndpoint(s.URL)
	if err != nil {
		return nil, errors.New("git: malformed URL (not shown, because it may contain a password)")
	}
	r := &Repository{settings: s, endpoint: *endpoint, maxClone: cmp.Or(s.MaxCloneSize, DefaultMaxCloneSize)}
	switch endpoint.Protocol {
	case "file":
		err = r.initLocal()
	case "ssh":
		if strings.HasPrefix(endpoint.Path, ":") { // git::https://… would be a path on the host git
			return nil, errors.New("git: a URL with :: names a helper of git; want https, ssh or a local path, without a prefix")
		}
		r.initSSH()
	case "https", "http":
		err = r.initHTTP()
	default:
		return nil, fmt.Errorf("git: protocol %s; want https, ssh or a local path", endpoint.Protocol)
	}
	r.history = &history{limit: s.History, log: s.Log}
	return r, err
}

func (r *Repository) initSSH() {
	password := r.endpoint.Password
	r.endpoint.User, r.endpoint.Password = cmp.Or(r.endpoint.User, r.settings.Username), ""
	r.url = r.settings.URL
	if password != "" {
		r.url = r.endpoint.String()
	}
}

func (r *Repository) initLocal() error {
	r.url = r.endpoint.Path
	if !filepath.IsAbs(r.settings.URL) && r.endpoint.String() != r.settings.URL {
		return fmt.Errorf("git: %s is neither a URL nor an absolute path", r.settings.URL)
	}
	return nil
}

// initHTTP moves the credentials from the URL to basic.
func (r *Repository) initHTTP() error {
	if r.endpoint.User+r.endpoint.Password != "" {
		r.basic = &githttp.BasicAuth{Username: r.endpoint.User, Password: r.endpoint.Password}
	}
	r.endpoint.User, r.endpoint.Password = "", ""
	r.url = r.endpoint.String()
	if r.endpoint.Protocol == "http" && (r.basic != nil || r.settings.TokenFile != "") {
		return fmt.Errorf("git: %s would send the token in clear text; use https", r.url)
	}
	return nil
}

// A Commit gives access to a repository at one commit.
type Commit struct {
	// Hash is the full commit hash.
	Hash string
	// When is the time of the commit according to its committer.
	When time.Time
	// Files is a file system of the files of the commit. It follows symbolic links within the repository.
	Files *FS
	// OffDefault reports whether the head of the default branch is a different commit. It is false if the
	// repository has no default branch.
	OffDefault bool

	touches func(context.Context, []string) map[string]Touch
	names   func(ref string) bool
}

// Pinned returns the time of the commit if the head of the default branch is a different commit, and the
// zero time otherwise.
func (c Commit) Pinned() time.Time {
	if !c.OffDefault {
		return time.Time{}
	}
	return c.When
}

// Touches returns the last commit that changed each of the named files, by name. It reads at most
// Settings.History commits; a file that none of them changed has an empty Touch. A file is absent from the
// map if its last change cannot be determined. Touches logs failures, and uses at most half of the
// remaining time of ctx. It must only be called before the function that Repository.Read called with the
// commit returns.
func (c Commit) Touches(ctx context.Context, names []string) map[string]Touch {
	if c.touches == nil {
		return nil
	}
	return c.touches(ctx, names)
}

// TouchesIn is like Touches, but takes and returns names relative to the folder dir.
func (c Commit) TouchesIn(ctx context.Context, dir string, names []string) map[string]Touch {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = path.Join(dir, name)
	}
	found := c.Touches(ctx, paths)
	touches := make(map[string]Touch, len(found))
	for i, name := range names {
		if t, known := found[paths[i]]; known {
			touches[name] = t
		}
	}
	return touches
}

// URL returns the URL or path of the repository, without credentials.
func (r *Repository) URL() string { return r.url }

// Read calls read with the commit to which ref currently refers. ref is a full commit hash, a full ref
// name, a branch, or a tag; "" means HEAD. If it is the name of both a branch and a tag, Read returns an
// error. If the repository cannot be reached, Read returns an error and does not fall back to an earlier
// commit. If a clone is damaged, Read clones the repository again and calls read a second time; the results
// of the first call are then invalid.
func (r *Repository) Read(ctx context.Context, ref string, read func(Commit) error) (err error) {
	if r.endpoint.Protocol == "file" {
		return r.readLocal(ref, read)
	}
	c, err := openClone(ctx, r.settings.CacheDir, r.url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.unlock()) }()
	err = r.readClone(ctx, c, ref, read)
	if !errors.Is(err, errDamaged) || ctx.Err() != nil {
		return err
	}
	r.settings.Log.Warn("clone cannot be used, cloning again", "url", r.url, "err", err)
	if err := c.discard(); err != nil {
		return err
	}
	return r.readClone(ctx, c, ref, read)
}

func (r *Repository) readLocal(ref string, read func(Commit) error) (err error) {
	s, err := openLocal(r.endpoint.Path)
	if err != nil {
		return r.explain(err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	refs, err := localRefs(s)
	if err != nil {
		return r.explain(err)
	}
	want, err := refs.resolve(ref)
	if err != nil {
		return r.explain(err)
	}
	commit, err := commitOf(s, want.hash)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return r.explain(fmt.Errorf("%w %s", errNoCommit, want.hash))
	}
	if err != nil {
		return r.explain(err)
	}
	return r.explainDamage(r.readCommit(newFS(s, commit), commit, lookupLocal(r.endpoint.Path, commit, r.history.limit), refs, read))
}

func (r *Repository) readClone(ctx context.Context, c *clone, ref string, read func(Commit) error) (err error) {
	s, err := c.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	commit, requested, refs, err := r.fetch(ctx, c, s, ref)
	if err != nil {
		return err
	}
	files := newFS(s, commit)
	files.leftOut = leftOut(s)
	return r.readCommit(files, commit, r.lookupRemote(source{clone: c, objects: s, requested: requested}, commit), refs, read)
}

// readCommit returns the error of read, or the damage of the repository if there is any.
func (r *Repository) readCommit(files *FS, commit *object.Commit, find lookup, all refs, read func(Commit) error) error {
	defer files.close()
	err := read(Commit{
		Hash: commit.Hash.String(), When: timeOf(commit), Files: files, OffDefault: !all.head.IsZero() && all.head != commit.Hash,
		touches: func(ctx context.Context, names []string) map[string]Touch {
			return r.history.touches(ctx, commit, files, names, find)
		},
		names: func(ref string) bool {
			files.mu.Lock()
			defer files.mu.Unlock()
			return all.names(ref, commit.Hash, files.objects)
		},
	})
	if damage := files.damage(); damage != nil {
		return damage
	}
	return err
}

// explainDamage adds the repository to an error for damage, and returns other errors
// unchanged.
func (r *Repository) explainDamage(err error) error {
	if errors.Is(err, errDamaged) {
		return r.explain(err)
	}
	return err
}

// explain returns err with the repository and a hint.
func (r *Repository) explain(err error) error {
	hint := ""
	switch {
	case errors.Is(err, transport.ErrRepositoryNotFound), errors.Is(err, git.ErrRepositoryNotExists):
		hint = "; check the setting git, and that the credentials have read access"
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		hint = "; check token_file and username"
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		hint = "; push a commit first"
	}
	return fmt.Errorf("read git repository %s: %w%s", r.url, r.redact(err), hint)
}
