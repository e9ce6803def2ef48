package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	"github.com/go-git/go-git/v5/storage"

	"github.com/driftd/driftd/internal/declared/await"
)

// fetch brings the commit of ref into s, with no more history than the server
// insists on, and says as what the server gave it out. A commit that s has
// already is not fetched again.
func (r *Repository) fetch(ctx context.Context, s storage.Storer, ref string) (_ *object.Commit, asked plumbing.Hash, err error) {
	endpoint, auth, err := r.access()
	if err != nil {
		return nil, plumbing.ZeroHash, r.explain(err)
	}
	ad, err := await.Call(ctx, func() (*packp.AdvRefs, error) { return advertisement(ctx, endpoint, auth) })
	if err != nil {
		return nil, plumbing.ZeroHash, r.explain(err)
	}
	want, err := advertisedRefs(ad).resolve(ref)
	if err != nil {
		return nil, plumbing.ZeroHash, r.explain(err)
	}
	commit, err := commitOf(s, want.hash)
	if !errors.Is(err, plumbing.ErrObjectNotFound) {
		return commit, want.hash, err
	}
	return r.transfer(ctx, s, want, ad, &git.FetchOptions{Auth: auth, CABundle: endpoint.CaBundle, Tags: git.NoTags, Force: true})
}

// access returns how to reach the repository now.
func (r *Repository) access() (endpoint transport.Endpoint, auth transport.AuthMethod, err error) {
	endpoint = r.endpoint
	if auth, err = r.auth(); err != nil {
		return endpoint, nil, err
	}
	endpoint.CaBundle, err = r.authorities()
	return endpoint, auth, err
}

// advertisement asks what a repository has.
func advertisement(ctx context.Context, endpoint transport.Endpoint, auth transport.AuthMethod) (_ *packp.AdvRefs, err error) {
	c, err := client.NewClient(&endpoint)
	if err != nil {
		return nil, err
	}
	session, err := c.NewUploadPackSession(&endpoint, auth)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	return session.AdvertisedReferencesContext(ctx)
}

// wanted is the ref of a clone that holds on to what was fetched last.
const wanted = "refs/driftd/wanted"

func (r *Repository) transfer(ctx context.Context, s storage.Storer, want target, ad *packp.AdvRefs, o *git.FetchOptions) (_ *object.Commit, asked plumbing.Hash, err error) {
	if err := choose(want, s, ad.Capabilities, o); err != nil {
		return nil, plumbing.ZeroHash, err
	}
	from := git.NewRemote(s, &config.RemoteConfig{Name: "origin", URLs: []string{r.url}})
	_, err = await.Call(ctx, func() (struct{}, error) { return struct{}{}, from.FetchContext(ctx, o) })
	if err != nil && !errors.Is(err, git.NoErrAlreadyUpToDate) {
		return nil, plumbing.ZeroHash, r.transferError(err, s)
	}
	if moved, err := s.Reference(wanted); err == nil && want.name != "" {
		want.hash = moved.Hash()
	}
	commit, err := commitOf(s, want.hash)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, plumbing.ZeroHash, r.explain(fmt.Errorf("commit %s is in none of its branches and tags", want.hash))
	}
	return commit, want.hash, err
}

// choose says what to fetch: one commit without history where the server can
// give that out, and else every branch and tag.
func choose(want target, s storage.Storer, server *capability.List, o *git.FetchOptions) error {
	byHash := server.Supports(capability.AllowReachableSHA1InWant) || server.Supports(capability.AllowTipSHA1InWant)
	if want.name == "" && !byHash {
		o.RefSpecs = []config.RefSpec{"+refs/heads/*:refs/driftd/heads/*", "+refs/tags/*:refs/driftd/tags/*"}
		if shallow, err := s.Shallow(); err != nil || len(shallow) > 0 {
			return fmt.Errorf("%w: commit %s needs a clone with history", errDamaged, want.hash)
		}
		return nil
	}
	source := want.name.String()
	if want.name == "" {
		source = want.hash.String()
	}
	o.RefSpecs = []config.RefSpec{config.RefSpec("+" + source + ":" + wanted)}
	if server.Supports(capability.Shallow) {
		o.Depth = 1
	}
	return nil
}

// transferError tells a clone that cannot take what the server sends from a
// transfer that failed.
func (r *Repository) transferError(err error, s storage.Storer) error {
	var network net.Error
	var file *fs.PathError
	refs, listErr := localRefs(s)
	isNew := listErr == nil && len(refs.named) == 0
	stopped := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if isNew || stopped || errors.As(err, &network) || errors.As(err, &file) {
		return r.explain(err)
	}
	return fmt.Errorf("%w: fetch %s: %w", errDamaged, r.url, err)
}
