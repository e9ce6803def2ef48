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

// The history of a remote repository is in a second clone. It contains as many commits as
// are read, and no files if the server supports filters. Reading the declaration does not
// wait for it, and damage to it does not affect the declaration.

// maxHistory bounds the transfer of one fetch of history, in bytes.
const maxHistory = 512 << 20

// A source is the clone that contains a fetched commit.
type source struct {
	clone   *clone
	objects *objectStore
	// requested is the hash that was requested from the server: that of the commit, or of a
	// tag of it.
	requested plumbing.Hash
}

// lookupRemote returns the lookup from head, a commit that was fetched.
func (r *Repository) lookupRemote(from source, head *object.Commit) lookup {
	return func(ctx context.Context, paths []string, known *touchResults) (*touchResults, error) {
		if shallow, err := from.objects.Shallow(); err != nil || len(shallow) > 0 {
			return r.lookupDeepened(ctx, from, head, paths, known)
		}
		return findTouchesIn(ctx, osfs.New(from.clone.dir), head, paths, r.history.limit, known)
	}
}

// lookupDeepened fetches the history and finds the last changes of paths in it. If the clone
// of the history is damaged, it clones again, once.
func (r *Repository) lookupDeepened(ctx context.Context, from source, head *object.Commit, paths []string, known *touchResults) (*touchResults, error) {
	c := &clone{dir: strings.TrimSuffix(from.clone.dir, ".git") + ".history"}
	for again := true; ; again = false {
		err := r.deepen(ctx, c, from.requested, head.Hash)
		if err == nil {
			var found *touchResults
			if found, err = findTouchesIn(ctx, osfs.New(c.dir), head, paths, r.history.limit, known); err == nil {
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

// deepen fetches the history of the commit head, up to the limit. Commits that the clone c has
// are not fetched again.
func (r *Repository) deepen(ctx context.Context, c *clone, requested, head plumbing.Hash) (err error) {
	s, err := c.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	// The ref name contains the depth, so a changed depth is fetched again.
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
	request.Wants = []plumbing.Hash{requested}
	spec := fetchSpec{depth: r.history.limit + 1, filter: packp.FilterBlobNone(), limit: maxHistory, setting: "history"}
	if err := r.uploadTo(ctx, c.dir, request, spec); err != nil {
		return fmt.Errorf("fetch history of %s: %w", r.url, err)
	}
	s.Reindex()
	if _, err := object.GetCommit(s, head); err != nil {
		return damage("commit", head, err)
	}
	return s.SetReference(plumbing.NewHashReference(fetched, head))
}

// A fetchSpec limits what a server uploads: the number of commits (0 means all), and the files
// that the filter excludes, if the server supports filters.
type fetchSpec struct {
	// follow is the ref whose current commit is wanted; "" means the commits of the request.
	follow plumbing.ReferenceName
	depth  int
	filter packp.Filter
	// limit bounds the transfer, in bytes. setting is the name of the setting that reduces the
	// transfer or raises the limit.
	limit   int64
	setting string
}

// uploadTo fetches spec into the clone in dir. It returns when ctx ends, even if the server
// does not respond. The transfer can therefore outlast the call, and opens the clone itself.
func (r *Repository) uploadTo(ctx context.Context, dir string, request *packp.UploadPackRequest, spec fetchSpec) error {
	auth, err := r.auth()
	if err != nil {
		return err
	}
	_, err = await.Call(ctx, func() (struct{}, error) {
		into, err := openClonedObjects(dir, cacheSize)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, errors.Join(r.upload(ctx, into, auth, request, spec), into.Close())
	})
	return err
}

// upload fetches spec into s.
func (r *Repository) upload(ctx context.Context, s *objectStore, auth transport.AuthMethod, request *packp.UploadPackRequest, spec fetchSpec) (err error) {
	c, err := r.connect(auth)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	ad, err := c.AdvertisedReferencesContext(ctx)
	if err != nil {
		return err
	}
	if err := spec.negotiate(request, ad); err != nil {
		return err
	}
	response, err := c.UploadPack(ctx, request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Close()) }()
	c.removeLimit()
	if err := spec.receive(ctx, s, response, request.Capabilities); err != nil {
		return err
	}
	return setShallow(s, request.Shallows, response)
}

// negotiate completes request with the capabilities that the server supports.
func (f fetchSpec) negotiate(request *packp.UploadPackRequest, ad *packp.AdvRefs) error {
	if now, there := advertisedRefs(ad).at(f.follow); there {
		request.Wants = []plumbing.Hash{now}
	}
	server := ad.Capabilities
	request.Capabilities = packp.NewUploadRequestFromCapabilities(server).Capabilities
	request.Depth = packp.DepthCommits(0)
	var capabilities []capability.Capability
	if server.Supports(capability.Shallow) {
		request.Depth = packp.DepthCommits(f.depth)
		capabilities = append(capabilities, capability.Shallow)
	}
	if server.Supports(capability.NoProgress) {
		capabilities = append(capabilities, capability.NoProgress)
	}
	if f.filter != "" && server.Supports(capability.Filter) {
		capabilities = append(capabilities, capability.Filter)
		request.Filter = f.filter
	}
	for _, c := range capabilities {
		if err := request.Capabilities.Set(c); err != nil {
			return fmt.Errorf("request capability %s: %w", c, err)
		}
	}
	return nil
}

// incoming is the prefix of the temporary files in a clone to which a transfer is written.
const incoming = "incoming-"

// receive adds the objects of response to s. If it fails, it removes what it wrote.
func (f fetchSpec) receive(ctx context.Context, s *objectStore, response io.Reader, agreed *capability.List) (err error) {
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
		return fmt.Errorf("create temporary file for objects: %w", err)
	}
	defer func() {
		err = errors.Join(err, pack.Close())
		if removed := files.Remove(pack.Name()); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}()
	switch size, err := io.Copy(contextWriter{ctx, pack}, io.LimitReader(content, f.limit+1)); {
	case err != nil:
		return err
	case size > f.limit:
		return fmt.Errorf("%w: the transfer exceeds %d bytes; %s", errTooLarge, f.limit, f.advice())
	}
	return addPack(ctx, s, pack)
}

// advice returns the next step after a transfer that is too large.
func (f fetchSpec) advice() string {
	if f.setting == "history" {
		return "reduce the setting history"
	}
	return "raise " + f.setting
}

// addPack adds pack, a file of the clone, to s. It leaves out objects that are too large and
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

// setShallow records where the history of a clone ends.
func setShallow(s storage.Storer, before []plumbing.Hash, response *packp.UploadPackResponse) error {
	ends := slices.DeleteFunc(append(slices.Clone(before), response.Shallows...), func(h plumbing.Hash) bool {
		return slices.Contains(response.Unshallows, h)
	})
	slices.SortFunc(ends, func(a, b plumbing.Hash) int { return slices.Compare(a[:], b[:]) })
	if err := s.SetShallow(slices.Compact(ends)); err != nil {
		return fmt.Errorf("record where history ends: %w", err)
	}
	return nil
}
