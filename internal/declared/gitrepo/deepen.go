package gitrepo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/storage"

	"github.com/driftd/driftd/internal/declared/await"
)

// The history of a remote repository is a second clone beside the first: as many commits
// as are read, and no files where the server supports filters. Reading the declaration
// does not wait for it, and damage to it does not affect the declaration.

// maxHistory bounds what one fetch of history brings, in bytes.
const maxHistory = 512 << 20

// A source is where a commit was fetched: as the commit, or a tag of it.
type source struct {
	clone   *clone
	objects *objectStore
	// asked is what the server gave out.
	asked plumbing.Hash
}

// lookupRemote returns the lookup from a commit that was fetched.
func (r *Repository) lookupRemote(from source, head *object.Commit) lookup {
	return func(ctx context.Context, paths []string, known *answers) (*answers, error) {
		if shallow, err := from.objects.Shallow(); err != nil || len(shallow) > 0 {
			return r.lookupDeepened(ctx, from, head, paths, known)
		}
		return walkStored(ctx, osfs.New(from.clone.dir), head, paths, r.history.limit, known)
	}
}

// lookupDeepened fetches history and looks at that. One that is damaged is made
// anew, once.
func (r *Repository) lookupDeepened(ctx context.Context, from source, head *object.Commit, paths []string, known *answers) (*answers, error) {
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
func (r *Repository) deepen(ctx context.Context, c *clone, asked, head plumbing.Hash) (err error) {
	s, err := c.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
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
	part := portion{depth: r.history.limit + 1, filter: packp.FilterBlobNone(), limit: maxHistory, setting: "history"}
	if err := r.uploadTo(ctx, c.dir, request, part); err != nil {
		return fmt.Errorf("fetch history of %s: %w", r.url, err)
	}
	s.Reindex()
	if _, err := object.GetCommit(s, head); err != nil {
		return damage("commit", head, err)
	}
	return s.SetReference(plumbing.NewHashReference(fetched, head))
}

// A portion is how much of the wanted commits' history a server uploads: so many
// commits (0 is all), without the files that the filter names where the server can
// leave them out.
type portion struct {
	// follow is the ref whose commit is wanted, wherever it is by then; "" wants the
	// commits of the request.
	follow plumbing.ReferenceName
	depth  int
	filter packp.Filter
	// limit bounds the transfer, in bytes; setting is the setting that reduces it, or
	// raises the limit.
	limit   int64
	setting string
}

// uploadTo fetches a portion into a clone. It returns when ctx ends, also if the server
// does not respond, so the transfer opens the clone itself.
func (r *Repository) uploadTo(ctx context.Context, dir string, request *packp.UploadPackRequest, part portion) error {
	endpoint, auth, err := r.access()
	if err != nil {
		return err
	}
	_, err = await.Call(ctx, func() (struct{}, error) {
		into, err := openClonedObjects(dir, cacheSize)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, errors.Join(r.upload(ctx, into, &endpoint, auth, request, part), into.Close())
	})
	return err
}

// upload fetches a portion into s.
func (r *Repository) upload(ctx context.Context, s *objectStore, endpoint *transport.Endpoint, auth transport.AuthMethod, request *packp.UploadPackRequest, part portion) (err error) {
	c, err := r.connect(endpoint)
	if err != nil {
		return err
	}
	defer c.Close()
	session, err := c.NewUploadPackSession(endpoint, auth)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	ad, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return err
	}
	if err := part.negotiate(request, ad); err != nil {
		return err
	}
	response, err := session.UploadPack(ctx, request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Close()) }()
	c.unbound()
	if err := part.receive(ctx, s, response, request.Capabilities); err != nil {
		return err
	}
	return setShallow(s, request.Shallows, response)
}

// negotiate completes a request with the capabilities that the server supports.
func (p portion) negotiate(request *packp.UploadPackRequest, ad *packp.AdvRefs) error {
	if now, there := advertisedRefs(ad).at(p.follow); there {
		request.Wants = []plumbing.Hash{now}
	}
	server := ad.Capabilities
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
	if p.filter != "" && server.Supports(capability.Filter) {
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

// incoming is the prefix of the files of a clone that a transfer is written to.
const incoming = "incoming-"

// receive adds the objects of a response to s. If it fails, it removes what it wrote.
func (p portion) receive(ctx context.Context, s *objectStore, response io.Reader, agreed *capability.List) (err error) {
	content := response
	switch {
	case agreed.Supports(capability.Sideband64k):
		content = sideband.NewDemuxer(sideband.Sideband64k, response)
	case agreed.Supports(capability.Sideband):
		content = sideband.NewDemuxer(sideband.Sideband, response)
	}
	files := s.Filesystem()
	pack, err := files.TempFile("", incoming)
	if err != nil {
		return fmt.Errorf("make room for objects: %w", err)
	}
	defer func() {
		err = errors.Join(err, pack.Close())
		if removed := files.Remove(pack.Name()); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}()
	switch size, err := io.Copy(untilDone{ctx, pack}, io.LimitReader(content, p.limit+1)); {
	case err != nil:
		return err
	case size > p.limit:
		return fmt.Errorf("%w: the transfer exceeds %d bytes; %s", errTooLarge, p.limit, p.advice())
	}
	return addPack(ctx, s, pack)
}

// advice returns what to do about a transfer that is too large.
func (p portion) advice() string {
	if p.setting == "history" {
		return "look less far back: set history"
	}
	return "raise " + p.setting
}

// addPack adds a pack, a file of the clone. It leaves out objects that are too large and
// records their size in the clone. It ignores a pack without objects.
func addPack(ctx context.Context, s *objectStore, pack billy.File) error {
	index, tooLarge, err := indexPack(ctx, pack)
	if index == nil || err != nil {
		return err
	}
	if tooLarge > 0 {
		if err := noteLeftOut(s, maxObject+1); err != nil {
			return err
		}
	}
	files := s.Filesystem()
	name := files.Join("objects", "pack", "pack-"+plumbing.Hash(index.PackfileChecksum).String())
	if err := writeIndex(files, name+".idx", index); err != nil {
		return fmt.Errorf("write index of pack: %w", err)
	}
	if err := files.Rename(pack.Name(), name+".pack"); err != nil {
		return fmt.Errorf("add pack: %w", err)
	}
	s.Reindex()
	return nil
}

func writeIndex(files billy.Filesystem, name string, index *idxfile.MemoryIndex) (err error) {
	f, err := files.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	if _, err := idxfile.NewEncoder(w).Encode(index); err != nil {
		return err
	}
	return w.Flush()
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
