// Package gitrepo reads the files of a commit, from a repository somewhere else
// or from one on this machine. It writes to neither.
package gitrepo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"path/filepath"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// Settings say where a repository is and who reads it.
type Settings struct {
	// URL is https, ssh ("git@host:path" as well), file, or an absolute path.
	URL string
	// Username and TokenFile sign in over https.
	Username, TokenFile string
	// CAFile holds the authorities to trust instead of the system's; without it, the system's count.
	CAFile string
	// SSHKeyFile signs in over ssh; "" means the ssh agent. KnownHostsFile
	// names the hosts to trust; "" means the user's and the system's own.
	SSHKeyFile, KnownHostsFile string
	// CacheDir holds the clones. Repositories and processes may share it; ""
	// makes a clone for one reading.
	CacheDir string
	// MaxCloneSize bounds a clone, in bytes; 0 means DefaultMaxCloneSize.
	MaxCloneSize int64
	// History is how many commits back Commit.Touches looks; 0 means not at all.
	History int
	Log     *slog.Logger
}

// A Repository is a git repository that is read at a ref.
type Repository struct {
	settings Settings
	// url and endpoint carry no credentials.
	url      string
	endpoint transport.Endpoint
	// basic is what the configured URL itself carried, or nil.
	basic   *githttp.BasicAuth
	history *history
	// maxClone bounds the clone, in bytes.
	maxClone int64
	refused  refusal
	// pastFailures and branchFailures are of fetching what History reads.
	pastFailures, branchFailures backoff
}

// New returns a repository. It reaches for nothing yet.
func New(s Settings) (*Repository, error) {
	endpoint, err := transport.NewEndpoint(s.URL)
	if err != nil {
		return nil, errors.New("git: not a URL (it is not shown, for it may hold a password)")
	}
	r := &Repository{settings: s, endpoint: *endpoint, maxClone: cmp.Or(s.MaxCloneSize, DefaultMaxCloneSize)}
	switch endpoint.Protocol {
	case "file":
		err = r.useDisk()
	case "ssh":
		r.useSSH()
	case "https", "http":
		err = r.useWeb()
	default:
		return nil, fmt.Errorf("git: protocol %s; want https, ssh or a local path", endpoint.Protocol)
	}
	r.history = &history{limit: s.History, log: s.Log}
	return r, err
}

func (r *Repository) useSSH() {
	carried := r.endpoint.Password
	r.endpoint.User, r.endpoint.Password = cmp.Or(r.endpoint.User, r.settings.Username), ""
	r.url = r.settings.URL
	if carried != "" {
		r.url = r.endpoint.String()
	}
}

func (r *Repository) useDisk() error {
	r.url = r.endpoint.Path
	if !filepath.IsAbs(r.settings.URL) && r.endpoint.String() != r.settings.URL {
		return fmt.Errorf("git: %s is neither a URL nor an absolute path", r.settings.URL)
	}
	return nil
}

// useWeb takes the credentials out of the URL.
func (r *Repository) useWeb() error {
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

// A Commit is the state of a repository that was read.
type Commit struct {
	// Hash is the full commit hash.
	Hash string
	// When is the time of the commit, after its committer's clock.
	When time.Time
	// Files are the commit's files; symbolic links are followed within it.
	Files *FS

	touches func(context.Context, []string) map[string]Touch
}

// Touches returns the last commit that touched each of the files, by name, as
// far back as Settings.History says: an empty Touch where that is longer ago. It
// is called while the commit is read. A file that it cannot tell of is not in the
// answer: what fails is logged, and takes at most half of the time that is left.
func (c Commit) Touches(ctx context.Context, names []string) map[string]Touch {
	if c.touches == nil {
		return nil
	}
	return c.touches(ctx, names)
}

// TouchesIn is like Touches, for files that are named by their path from a
// folder.
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

// URL returns where the repository is, without credentials.
func (r *Repository) URL() string { return r.url }

// Read calls read with the commit that ref names now: a full commit hash, a full
// name, a branch or a tag; "" means HEAD. A name that is both a branch's and a
// tag's is an error. A repository that
// cannot be reached is an error, never the commit of last time. When a clone
// turns out to be damaged, Read makes it anew and calls read again: what read
// returned before does not count.
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
		return r.explain(fmt.Errorf("commit %s is not in it", want.hash))
	}
	if err != nil {
		return r.explain(err)
	}
	return r.explained(r.readCommit(newFS(s, commit), commit, lookupLocal(r.endpoint.Path, commit, r.history.limit), read))
}

func (r *Repository) readClone(ctx context.Context, c *clone, ref string, read func(Commit) error) (err error) {
	s, err := c.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	commit, asked, err := r.fetch(ctx, c, s, ref)
	if err != nil {
		return err
	}
	files := newFS(s, commit)
	files.leftOut = leftOut(s)
	return r.readCommit(files, commit, r.lookupRemote(source{clone: c, objects: s, asked: asked}, commit), read)
}

// readCommit returns read's error, unless the repository itself is to blame.
func (r *Repository) readCommit(files *FS, commit *object.Commit, find lookup, read func(Commit) error) error {
	defer files.close()
	err := read(Commit{
		Hash: commit.Hash.String(), When: timeOf(commit), Files: files,
		touches: func(ctx context.Context, names []string) map[string]Touch {
			return r.history.touches(ctx, commit, files, names, find)
		},
	})
	if damage := files.damage(); damage != nil {
		return damage
	}
	return err
}

// explained explains damage, and lets any other error be.
func (r *Repository) explained(err error) error {
	if errors.Is(err, errDamaged) {
		return r.explain(err)
	}
	return err
}

// explain says what failed with which repository, and what to do.
func (r *Repository) explain(err error) error {
	hint := ""
	switch {
	case errors.Is(err, transport.ErrRepositoryNotFound), errors.Is(err, git.ErrRepositoryNotExists):
		hint = "; check git, and that the credentials may read it"
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		hint = "; check token_file and username"
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		hint = "; push something first"
	}
	return fmt.Errorf("read git repository %s: %w%s", r.url, r.discreet(err), hint)
}
