package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/driftd/driftd/internal/declared/await"
)

// fetch fetches the commit of ref into s, with as little history as the server allows.
// requested is the hash that was requested: that of the commit, or of a tag of it. A commit
// that is in s already is not fetched again.
func (r *Repository) fetch(ctx context.Context, c *clone, s *objectStore, ref string) (_ *object.Commit, requested plumbing.Hash, all refs, err error) {
	ad, want, err := r.advertised(ctx, ref)
	if err != nil {
		return nil, plumbing.ZeroHash, refs{}, err
	}
	all = advertisedRefs(ad)
	commit, err := commitOf(s, want.hash)
	if !errors.Is(err, plumbing.ErrObjectNotFound) {
		return commit, want.hash, all, err
	}
	commit, requested, err = r.transfer(ctx, c, s, want, ad)
	return commit, requested, all, err
}

// advertised returns the refs of the server, and the target of ref.
func (r *Repository) advertised(ctx context.Context, ref string) (*packp.AdvRefs, target, error) {
	auth, err := r.auth()
	if err != nil {
		return nil, target{}, r.explain(err)
	}
	ad, err := await.Call(ctx, func() (*packp.AdvRefs, error) { return r.advertisement(ctx, auth) })
	if err != nil {
		return nil, target{}, r.explain(err)
	}
	want, err := advertisedRefs(ad).resolve(ref)
	if err != nil {
		return nil, target{}, r.explain(err)
	}
	return ad, want, nil
}

// advertisement returns the refs that the server advertises.
func (r *Repository) advertisement(ctx context.Context, auth transport.AuthMethod) (_ *packp.AdvRefs, err error) {
	c, err := r.connect(auth)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	ad, err := c.AdvertisedReferencesContext(ctx)
	if err == nil && len(ad.References) > maxRefs {
		err = fmt.Errorf("%w: it has %d refs, more than %d", errTooLarge, len(ad.References), maxRefs)
	}
	return ad, err
}

// wanted is the ref, in a clone, of the commit that was fetched last.
const wanted = "refs/driftd/wanted"

// notOurRef is the error of git's upload-pack for a commit that it does not have.
const notOurRef = "not our ref"

// transfer fetches a commit. A commit that is too large for a clone is not transferred
// a second time.
func (r *Repository) transfer(ctx context.Context, c *clone, s *objectStore, want target, ad *packp.AdvRefs) (_ *object.Commit, requested plumbing.Hash, err error) {
	if err := r.tooLarge.check(want.hash); err != nil {
		return nil, plumbing.ZeroHash, err
	}
	request, spec, err := r.choose(want, s, ad)
	if err != nil {
		return nil, plumbing.ZeroHash, err
	}
	_, before, err := packsIn(c.dir)
	if err != nil {
		return nil, plumbing.ZeroHash, err
	}
	if err := r.uploadTo(ctx, c.dir, request, spec); err != nil {
		if want.name == "" && strings.Contains(err.Error(), notOurRef) {
			return nil, plumbing.ZeroHash, r.explain(fmt.Errorf("%w %s", errNoCommit, want.hash))
		}
		err = r.transferError(err, s)
		if errors.Is(err, errTooLarge) {
			r.tooLarge.record(want.hash, err)
		}
		return nil, plumbing.ZeroHash, err
	}
	s.Reindex()
	if want.name != "" {
		want.hash = request.Wants[0]
	}
	commit, err := commitOf(s, want.hash)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, plumbing.ZeroHash, r.explain(fmt.Errorf("%w %s in any branch or tag", errNoCommit, want.hash))
	}
	if err == nil {
		err = r.keep(c, s, before, want.hash)
	}
	return commit, want.hash, err
}

// keep sets the ref wanted. If the clone exceeds its limit, it returns an errDamaged instead,
// so that the clone is created again without the earlier commits.
func (r *Repository) keep(c *clone, s *objectStore, before int64, hash plumbing.Hash) error {
	_, size, err := packsIn(c.dir)
	if err != nil {
		return err
	}
	if before > 0 && size > r.maxClone {
		return fmt.Errorf("%w: earlier commits make the clone larger than %d bytes", errDamaged, r.maxClone)
	}
	if err := s.SetReference(plumbing.NewHashReference(wanted, hash)); err != nil {
		return fmt.Errorf("record fetched commit: %w", err)
	}
	return nil
}

// choose returns the request for want: one commit without history, if the server allows that,
// or every branch and tag.
func (r *Repository) choose(want target, s *objectStore, ad *packp.AdvRefs) (*packp.UploadPackRequest, fetchSpec, error) {
	request := &packp.UploadPackRequest{}
	spec := fetchSpec{follow: want.name, depth: 1, limit: r.maxClone, setting: "max_clone_size"}
	var err error
	if request.Shallows, err = s.Shallow(); err != nil {
		return nil, spec, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if have, err := s.Reference(wanted); err == nil && s.HasEncodedObject(have.Hash()) == nil {
		request.Haves = []plumbing.Hash{have.Hash()}
	}
	request.Wants = []plumbing.Hash{want.hash}
	byHash := ad.Capabilities.Supports(capability.AllowReachableSHA1InWant) || ad.Capabilities.Supports(capability.AllowTipSHA1InWant)
	if want.name != "" || byHash {
		return request, spec, nil
	}
	if len(request.Shallows) > 0 {
		return nil, spec, fmt.Errorf("%w: commit %s needs a clone with history", errDamaged, want.hash)
	}
	spec.depth, request.Wants = 0, nil
	for name, hash := range advertisedRefs(ad).named {
		if name.IsBranch() || name.IsTag() {
			request.Wants = append(request.Wants, hash)
		}
	}
	slices.SortFunc(request.Wants, func(a, b plumbing.Hash) int { return slices.Compare(a[:], b[:]) })
	request.Wants = slices.Compact(request.Wants)
	return request, spec, nil
}

// transferError returns an errDamaged if the clone may be the cause of the failed transfer, or
// the explained error.
func (r *Repository) transferError(err error, s *objectStore) error {
	var network net.Error
	var file *fs.PathError
	refs, listErr := localRefs(s)
	isNew := listErr == nil && len(refs.named) == 0
	stopped := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if isNew || stopped || errors.Is(err, errTooLarge) || errors.As(err, &network) || errors.As(err, &file) {
		return r.explain(err)
	}
	return fmt.Errorf("%w: fetch %s: %w", errDamaged, r.url, err)
}

// A tooLargeCommit is the commit of the last transfer that was too large.
type tooLargeCommit struct {
	mu   sync.Mutex
	hash plumbing.Hash
	err  error
}

// check returns the error of the last transfer of the commit hash, if it was too large.
func (f *tooLargeCommit) check(hash plumbing.Hash) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hash != hash {
		return nil
	}
	return f.err
}

// record records that the commit hash is too large.
func (f *tooLargeCommit) record(hash plumbing.Hash, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hash, f.err = hash, err
}
