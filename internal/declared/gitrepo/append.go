package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/driftd/driftd/internal/declared/await"
	"github.com/driftd/driftd/internal/printable"
)

// A Change is a commit that writes one file, for Repository.Append.
type Change struct {
	// Branch is the name of the branch. If it does not exist, it is created, or, if MustExist is set,
	// Append returns an error for which IsNoRef reports true.
	Branch    string
	MustExist bool
	// File is the path of the file in the repository, and Content its new content.
	File    string
	Content []byte
	// Message is the commit message. Author and Email are the name and the e-mail address of its author and
	// committer.
	Message, Author, Email string
	When                   time.Time
}

// maxMoves bounds how often Append starts again because the branch moved meanwhile.
const maxMoves = 3

// errMoved reports that the branch is at another commit than the one that was read.
var errMoved = errors.New("other commits were pushed at the same time")

// Append adds a commit to the head of a branch and pushes it. It never rewrites the branch: if the branch
// moves in the meantime, Append tries again from the new head, at most three times. If the file already has
// the content, Append does nothing. It ignores the settings History and Log.
//
// In a local repository, the git command of the machine writes the commit, so that hooks run.
func (r *Repository) Append(ctx context.Context, c Change) error {
	var err error
	for range 1 + maxMoves {
		if err = r.appendOnce(ctx, c); !errors.Is(err, errMoved) {
			break
		}
	}
	if err != nil {
		return r.explainPush(c.Branch, err)
	}
	return nil
}

func (r *Repository) appendOnce(ctx context.Context, c Change) error {
	var built *builtCommit
	err := r.atEnd(ctx, c.Branch, func(s *objectStore, tip *object.Commit) (err error) {
		built, err = buildCommit(s, tip, c)
		return err
	})
	if err != nil || built == nil {
		return err
	}
	rejected := r.push(ctx, built)
	if refused := (*rejectedError)(nil); !errors.As(rejected, &refused) {
		return rejected
	}
	// Servers word it differently that the branch moved.
	err = r.atEnd(ctx, c.Branch, func(_ *objectStore, tip *object.Commit) error {
		if hashOf(tip) != built.old {
			rejected = errMoved
		}
		return nil
	})
	return errors.Join(rejected, err)
}

// hashOf returns the hash of a commit, and the zero hash for nil.
func hashOf(c *object.Commit) plumbing.Hash {
	if c == nil {
		return plumbing.ZeroHash
	}
	return c.Hash
}

// atEnd calls read with the commit at the end of a branch, or nil if there is no such branch, and
// with the objects of the repository.
func (r *Repository) atEnd(ctx context.Context, branch string, read func(*objectStore, *object.Commit) error) (err error) {
	name := plumbing.NewBranchReferenceName(branch)
	if r.endpoint.Protocol == "file" {
		return r.atLocalEnd(name, read)
	}
	c, err := openClone(ctx, r.settings.CacheDir, r.url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.unlock()) }()
	err = r.atRemoteEnd(ctx, c, name, read)
	if !errors.Is(err, errDamaged) || ctx.Err() != nil {
		return err
	}
	if err := c.discard(); err != nil {
		return err
	}
	return r.atRemoteEnd(ctx, c, name, read)
}

func (r *Repository) atLocalEnd(branch plumbing.ReferenceName, read func(*objectStore, *object.Commit) error) (err error) {
	s, err := openLocal(r.endpoint.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	refs, err := localRefs(s)
	if err != nil {
		return err
	}
	hash, ok := refs.at(branch)
	if !ok {
		return read(s, nil)
	}
	tip, err := commitOf(s, hash)
	if err != nil {
		return err
	}
	return read(s, tip)
}

func (r *Repository) atRemoteEnd(ctx context.Context, c *clone, branch plumbing.ReferenceName, read func(*objectStore, *object.Commit) error) (err error) {
	s, err := c.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	tip, err := r.remoteEnd(ctx, c, s, branch)
	if err != nil {
		return err
	}
	return read(s, tip)
}

// remoteEnd returns the commit at the end of a branch of the server, which it fetches, or nil if
// there is no such branch.
func (r *Repository) remoteEnd(ctx context.Context, c *clone, s *objectStore, branch plumbing.ReferenceName) (*object.Commit, error) {
	auth, err := r.auth()
	if err != nil {
		return nil, err
	}
	ad, err := await.Call(ctx, func() (*packp.AdvRefs, error) { return r.advertisement(ctx, auth) })
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	hash, ok := advertisedRefs(ad).at(branch)
	if !ok {
		return nil, nil
	}
	commit, err := commitOf(s, hash)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		commit, _, err = r.transfer(ctx, c, s, target{branch, hash}, ad)
	}
	return commit, err
}

// A rejectedError is the answer of a server that does not accept a push.
type rejectedError struct{ status string }

// Error returns the answer.
func (e *rejectedError) Error() string { return "rejected: " + e.status }

// maxStatus bounds the answer of a server that is shown, in characters.
const maxStatus = 200

// push sends a commit to the server. The error is a *rejectedError if the server does not accept
// it. It returns when ctx ends, even if the server does not respond.
func (r *Repository) push(ctx context.Context, b *builtCommit) error {
	auth, err := r.auth()
	if err != nil {
		return err
	}
	_, err = await.Call(ctx, func() (struct{}, error) { return struct{}{}, r.receive(ctx, auth, b) })
	return err
}

func (r *Repository) receive(ctx context.Context, auth transport.AuthMethod, b *builtCommit) (err error) {
	session, done, err := r.connectPush(auth)
	if err != nil {
		return err
	}
	// The session has ended by itself after a push: the result is in the report.
	defer done()
	ad, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return err
	}
	request := packp.NewReferenceUpdateRequestFromCapabilities(ad.Capabilities)
	request.Commands = []*packp.Command{{Name: b.branch, Old: b.old, New: b.hash}}
	request.Packfile = io.NopCloser(bytes.NewReader(b.pack))
	report, err := session.ReceivePack(ctx, request)
	if report == nil {
		return errors.Join(err, errors.New("the server did not confirm the push"))
	}
	for _, command := range report.CommandStatuses {
		if command.Error() != nil {
			return &rejectedError{printable.Line(command.Status, maxStatus)}
		}
	}
	return err
}

// explainPush returns err with the repository, the branch and a hint.
func (r *Repository) explainPush(branch string, err error) error {
	var rejected *rejectedError
	hint := ""
	switch {
	case errors.As(err, &rejected):
		hint = "; check the protection of the branch and the hooks of the server: driftd appends commits, and never forces"
	case errors.Is(err, transport.ErrRepositoryNotFound):
		hint = "; check the setting git, and that the credentials have write access"
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		hint = "; check token_file and username, and that they have write access"
	case errors.Is(err, exec.ErrNotFound):
		hint = "; a local repository is written by git: install it, or name the repository by https or ssh"
	}
	return fmt.Errorf("push to branch %s of %s: %w%s", branch, r.url, r.redact(err), hint)
}
