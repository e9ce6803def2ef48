package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	"github.com/go-git/go-git/v5/storage"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/driftd/driftd/internal/declared/await"
)

// The history of a repository that is read from afar lies beside its clone, in
// a clone of its own: as many commits as are looked at, and, where the server
// can leave them out, no files. So reading the declaration waits for none of it,
// and no harm to it is harm to the declaration.

// maxHistory bounds what one fetch of history brings, in bytes, and maxObject
// each thing in it, unpacked.
const (
	maxHistory = 512 << 20
	maxObject  = 64 << 20
)

// errNoHistory tells that there is nothing to look at.
var errNoHistory = errors.New("a clone in memory has no history")

// A source is where a commit was fetched: as the commit, or a tag of it.
type source struct {
	clone   *clone
	objects storage.Storer
	// asked is what the server gave out.
	asked plumbing.Hash
}

// lookupRemote returns the lookup from a commit that was fetched.
func (r *Repository) lookupRemote(from source, head *object.Commit) lookup {
	return func(ctx context.Context, paths []string, known *answers) (*answers, error) {
		if shallow, err := from.objects.Shallow(); err != nil || len(shallow) > 0 {
			return r.lookupDeepened(ctx, from, head, paths, known)
		}
		if from.clone.dir == "" {
			return walkFrom(ctx, from.objects, head, paths, r.history.limit, known)
		}
		return walkStored(ctx, osfs.New(from.clone.dir), head, paths, r.history.limit, known)
	}
}

// lookupDeepened fetches history and looks at that. One that is damaged is made
// anew, once.
func (r *Repository) lookupDeepened(ctx context.Context, from source, head *object.Commit, paths []string, known *answers) (*answers, error) {
	if from.clone.dir == "" {
		return nil, errNoHistory
	}
	c := &clone{dir: strings.TrimSuffix(from.clone.dir, ".git") + ".history"}
	for again := true; ; again = false {
		err := r.deepen(ctx, c, from.asked, head.Hash)
		if err == nil {
			var found *answers
			if found, err = walkStored(ctx, osfs.New(c.dir), head, paths, r.history.limit, known); err == nil {
				return found, nil
			}
		}
		if ctx.Err() != nil {
			return nil, errors.Join(err, c.discard())
		}
		if err := errors.Join(err, c.discard()); !again || !errors.Is(err, errDamaged) {
			return nil, err
		}
	}
}

// deepen fetches the history of a commit, as far as it is looked at. What is
// there already is not fetched again.
func (r *Repository) deepen(ctx context.Context, c *clone, asked, head plumbing.Hash) error {
	s, err := c.open()
	if err != nil {
		return err
	}
	// The name holds the depth: another one is fetched anew.
	fetched := plumbing.ReferenceName(fmt.Sprintf("refs/driftd/history-%d", r.history.limit))
	have, err := s.Reference(fetched)
	if err == nil && have.Hash() == head {
		return nil
	}
	request := &packp.UploadPackRequest{}
	if err == nil {
		request.Haves = []plumbing.Hash{have.Hash()}
	}
	if request.Shallows, err = s.Shallow(); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	request.Wants = []plumbing.Hash{asked}
	endpoint, auth, err := r.access()
	if err != nil {
		return err
	}
	part := portion{depth: r.history.limit + 1, filter: packp.FilterBlobNone()}
	_, err = await.Call(ctx, func() (struct{}, error) { return struct{}{}, r.upload(ctx, s, &endpoint, auth, request, part) })
	if err != nil {
		return fmt.Errorf("fetch history of %s: %w", r.url, err)
	}
	if _, err := object.GetCommit(s, head); err != nil {
		return fmt.Errorf("%w: commit %s: %w", errDamaged, head, err)
	}
	return s.SetReference(plumbing.NewHashReference(fetched, head))
}

// A portion is how much of the wanted commits' history a server uploads: so many
// commits, without the files that the filter names where the server can leave
// them out.
type portion struct {
	depth  int
	filter packp.Filter
}

// upload has the server upload what is wanted into s.
func (r *Repository) upload(ctx context.Context, s storage.Storer, endpoint *transport.Endpoint, auth transport.AuthMethod, request *packp.UploadPackRequest, part portion) (err error) {
	c, err := client.NewClient(endpoint)
	if err != nil {
		return err
	}
	session, err := c.NewUploadPackSession(endpoint, auth)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	ad, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return err
	}
	if err := part.negotiate(request, ad.Capabilities); err != nil {
		return err
	}
	response, err := session.UploadPack(ctx, request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Close()) }()
	if err := receive(s, response, request.Capabilities); err != nil {
		return err
	}
	return setShallow(s, request.Shallows, response)
}

// negotiate completes a request with what the server can do.
func (p portion) negotiate(request *packp.UploadPackRequest, server *capability.List) error {
	request.Capabilities = packp.NewUploadRequestFromCapabilities(server).Capabilities
	request.Depth = packp.DepthCommits(0)
	var capabilities []capability.Capability
	if server.Supports(capability.Shallow) {
		request.Depth = packp.DepthCommits(p.depth)
		capabilities = append(capabilities, capability.Shallow)
	}
	if server.Supports(capability.NoProgress) {
		capabilities = append(capabilities, capability.NoProgress)
	}
	if server.Supports(capability.Filter) {
		capabilities = append(capabilities, capability.Filter)
		request.Filter = p.filter
	}
	for _, c := range capabilities {
		if err := request.Capabilities.Set(c); err != nil {
			return fmt.Errorf("ask for %s: %w", c, err)
		}
	}
	return nil
}

// receive takes in the objects of a response.
func receive(s storage.Storer, response io.Reader, agreed *capability.List) (err error) {
	content := response
	switch {
	case agreed.Supports(capability.Sideband64k):
		content = sideband.NewDemuxer(sideband.Sideband64k, response)
	case agreed.Supports(capability.Sideband):
		content = sideband.NewDemuxer(sideband.Sideband, response)
	}
	stored, ok := s.(*filesystem.Storage)
	if !ok {
		return errNoHistory
	}
	pack, err := stored.Filesystem().TempFile("", "history-")
	if err != nil {
		return fmt.Errorf("make room for history: %w", err)
	}
	defer func() { err = errors.Join(err, pack.Close(), stored.Filesystem().Remove(pack.Name())) }()
	switch size, err := io.Copy(pack, io.LimitReader(content, maxHistory+1)); {
	case err != nil:
		return err
	case size > maxHistory:
		return fmt.Errorf("more than %d bytes; look less far back: set history", maxHistory)
	}
	if err := weigh(pack); err != nil {
		return err
	}
	return unpack(s, pack)
}

// unpack takes in the objects of a pack; one without any is none.
func unpack(s storage.Storer, pack io.ReadSeeker) error {
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := packfile.UpdateObjectStorage(s, pack); !errors.Is(err, packfile.ErrEmptyPackfile) {
		return err
	}
	return nil
}

// weigh refuses a pack with an object that is too large: whoever takes in a pack
// holds each of its objects in memory. Nobody looks at files here, but a server
// that cannot leave them out sends them all.
func weigh(pack io.ReadSeeker) error {
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return err
	}
	scanner := packfile.NewScanner(pack)
	_, objects, err := scanner.Header()
	if errors.Is(err, packfile.ErrEmptyPackfile) {
		return nil
	}
	for ; err == nil && objects > 0; objects-- {
		var header *packfile.ObjectHeader
		if header, err = scanner.NextObjectHeader(); err == nil && header.Length > maxObject {
			return fmt.Errorf("a file of %d bytes lies in it, over %d: let the server leave files out (uploadpack.allowFilter), or set history to 0", header.Length, maxObject)
		}
	}
	return err
}

// setShallow notes where the history of a clone ends.
func setShallow(s storage.Storer, before []plumbing.Hash, response *packp.UploadPackResponse) error {
	ends := slices.DeleteFunc(append(slices.Clone(before), response.Shallows...), func(h plumbing.Hash) bool {
		return slices.Contains(response.Unshallows, h)
	})
	slices.SortFunc(ends, func(a, b plumbing.Hash) int { return slices.Compare(a[:], b[:]) })
	if err := s.SetShallow(slices.Compact(ends)); err != nil {
		return fmt.Errorf("note where history ends: %w", err)
	}
	return nil
}
