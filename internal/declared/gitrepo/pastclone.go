package gitrepo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-billy/v5/util"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/sourcegraph/conc/panics"

	"github.com/driftd/driftd/internal/declared/await"
)

// The history with its files is fetched into a separate clone, and only when
// History is called. Reading the declaration does not wait for it and is not
// affected by damage to it.

// A pastClone is that clone. One caller at a time holds it.
type pastClone struct {
	dir string
	// unlock releases the clone, or removes it if it was created for one call.
	unlock func() error
	// busy is closed when an upload ends that outlasted its context; nil if there
	// is none.
	busy chan struct{}
}

// maxPastClone bounds the clone's packs, in bytes. A larger clone is removed and
// created again.
const maxPastClone = 4 * maxHistory

// openPastClone locks the clone of a URL. Without a cache folder, it creates a clone
// for this call only.
func openPastClone(ctx context.Context, cacheDir, url string) (*pastClone, error) {
	if cacheDir == "" {
		dir, err := os.MkdirTemp("", "driftd-history-")
		if err != nil {
			return nil, fmt.Errorf("create clone: %w", err)
		}
		return &pastClone{dir: dir, unlock: func() error { return os.RemoveAll(dir) }}, nil
	}
	if err := os.MkdirAll(cacheDir, 0o700); err != nil {
		return nil, fmt.Errorf("create clone: %w", err)
	}
	hash := sha256.Sum256([]byte(url))
	dir := filepath.Join(cacheDir, hex.EncodeToString(hash[:12])+".past")
	unlock, err := lock(ctx, dir+".lock")
	if err != nil {
		return nil, fmt.Errorf("wait for clone: %w", err)
	}
	return &pastClone{dir: dir, unlock: unlock}, nil
}

// release unlocks the clone. If an upload is still running, release waits for it in
// the background, and removes the clone before it unlocks it.
func (c *pastClone) release() error {
	if c.busy == nil {
		return c.unlock()
	}
	go panics.Try(func() {
		<-c.busy
		// If this fails, the next caller gets the error.
		_ = errors.Join(c.discard(), c.unlock())
	})
	return nil
}

func (c *pastClone) discard() error {
	if err := os.RemoveAll(c.dir); err != nil {
		return fmt.Errorf("remove clone: %w", err)
	}
	return nil
}

func (c *pastClone) open() (*objectStore, error) {
	if err := removeIncoming(c.dir); err != nil {
		return nil, err
	}
	packs, size, err := packsIn(c.dir)
	if err != nil {
		return nil, err
	}
	if packs > maxPacks || size > maxPastClone {
		if err := c.discard(); err != nil {
			return nil, err
		}
	}
	return c.storage()
}

// storage opens the clone. A storage is not safe for concurrent use, so each upload
// opens its own.
func (c *pastClone) storage() (*objectStore, error) {
	return openClonedObjects(c.dir, pastCache)
}

// A pastFetch fetches a history and reads it.
type pastFetch struct {
	repository *Repository
	clone      *pastClone
	query      Query
	// fetchErr is the error of fetching the ref's history, or nil.
	fetchErr error
}

// run fetches the history of a head and reads it. requested is the hash that the server
// advertises for the ref.
func (f *pastFetch) run(ctx context.Context, requested plumbing.Hash, p past, read func(Log) error) (damage, err error) {
	s, err := f.clone.open()
	if err != nil {
		return nil, read(Log{Gap: fmt.Sprintf("history cannot be fetched: %v", err)})
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if f.repository.history.limit > 0 {
		fetching, cancel := await.Half(ctx)
		defer cancel()
		f.fetchErr = f.fetchRef(fetching, s, requested, p.head)
		if errors.Is(f.fetchErr, errDamaged) {
			return f.fetchErr, nil
		}
		if f.fetchErr != nil {
			p.gap = fmt.Sprintf("history cannot be fetched: %v", f.fetchErr)
		}
		p.prepare = func(branches []branch) string { return f.fetchBranches(fetching, s, p.head, branches) }
	}
	return f.repository.readPast(ctx, s, p, read)
}

// moved returns the head, and read's error. If the history could not be fetched, it
// returns the current head, because the ref may have moved meanwhile.
func (f *pastFetch) moved(ctx context.Context, head string, readErr error) (string, error) {
	if f.fetchErr == nil || readErr != nil {
		return head, readErr
	}
	if _, _, now, err := f.repository.remoteHead(ctx, f.query.Ref); err == nil {
		return now, nil
	}
	return head, nil
}

// The prefixes of the clone's refs: of the head whose history was fetched, with the
// limit of commits in the name, and of the branches that were fetched.
const (
	pastRefs   = "refs/driftd/past-%d/"
	branchRefs = "refs/driftd/branches/"
)

// fetchRef fetches the history of a head, unless the clone has it.
func (f *pastFetch) fetchRef(ctx context.Context, s *objectStore, requested, head plumbing.Hash) error {
	prefix := fmt.Sprintf(pastRefs, f.repository.history.limit)
	have, err := fetchedRefs(s, prefix)
	if err != nil {
		return err
	}
	if !slices.Contains(have, head) {
		if err := f.repository.pastFailures.skipped(); err != nil {
			return err
		}
		err = f.upload(ctx, s, []plumbing.Hash{requested}, have, f.repository.history.limit+1)
		f.repository.pastFailures.record(err)
		if err != nil {
			return err
		}
	}
	if _, err := object.GetCommit(s, head); err != nil {
		return damage("commit", head, err)
	}
	return keepRefs(s, prefix, have, []plumbing.Hash{head})
}

// fetchBranches fetches the newest commits of branches, and returns why that
// failed, or "".
func (f *pastFetch) fetchBranches(ctx context.Context, s *objectStore, head plumbing.Hash, branches []branch) string {
	have, err := fetchedRefs(s, branchRefs)
	if err != nil {
		return "branches cannot be read: " + err.Error()
	}
	var wants, all []plumbing.Hash
	for _, b := range branches {
		all = append(all, b.hash)
		if !slices.Contains(have, b.hash) && !slices.Contains(wants, b.hash) {
			wants = append(wants, b.hash)
		}
	}
	if len(wants) > 0 {
		err := f.repository.branchFailures.skipped()
		if err == nil {
			err = f.upload(ctx, s, wants, append(slices.Clone(have), head), maxBranchCommits+1)
			f.repository.branchFailures.record(err)
		}
		if err != nil {
			return fmt.Sprintf("branches and pull requests cannot be fetched: %v", err)
		}
	}
	if err := keepRefs(s, branchRefs, have, all); err != nil {
		return "branches cannot be read: " + err.Error()
	}
	return ""
}

// upload requests commits from the server and writes them to the clone that s reads.
// If ctx ends before the upload, the clone stays locked until the upload has ended.
func (f *pastFetch) upload(ctx context.Context, s *objectStore, wants, have []plumbing.Hash, depth int) error {
	auth, err := f.repository.auth()
	if err != nil {
		return err
	}
	into, err := f.clone.storage()
	if err != nil {
		return err
	}
	request := &packp.UploadPackRequest{}
	request.Wants, request.Haves = wants, have
	limit := max(min(f.query.MaxFile, maxObject), 0) + 1
	spec := fetchSpec{depth: depth, filter: packp.FilterBlobLimit(uint64(limit), packp.BlobLimitPrefixNone), limit: maxHistory, setting: "history"}
	done := make(chan error, 1)
	ended := make(chan struct{})
	var caught panics.Catcher
	go func() {
		defer close(ended)
		var err error
		caught.Try(func() {
			err = f.receive(ctx, into, auth, request, spec)
			if request.Filter != "" && err == nil {
				err = noteLeftOut(into, limit)
			}
		})
		done <- errors.Join(err, into.Close())
	}()
	select {
	case err = <-done:
		caught.Repanic()
	case <-ctx.Done():
		f.clone.busy = ended
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	s.Reindex()
	return nil
}

func (f *pastFetch) receive(
	ctx context.Context, into *objectStore, auth transport.AuthMethod, request *packp.UploadPackRequest, spec fetchSpec,
) error {
	var err error
	if request.Shallows, err = into.Shallow(); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	if err := f.repository.upload(ctx, into, auth, request, spec); err != nil {
		return err
	}
	return trimShallow(into)
}

// leftOutFile is a file of the clone that holds a size in bytes: files of that size
// or larger were not fetched.
const leftOutFile = "driftd-left-out"

// noteLeftOut records that files of the size limit or larger were not fetched.
func noteLeftOut(s *objectStore, limit int64) error {
	if known := leftOut(s); known > 0 && known <= limit {
		return nil
	}
	if err := util.WriteFile(s.Filesystem(), leftOutFile, []byte(strconv.FormatInt(limit, 10)), 0o600); err != nil {
		return fmt.Errorf("record fetched commits: %w", err)
	}
	return nil
}

// leftOut returns the size that noteLeftOut recorded, or 0.
func leftOut(s *objectStore) int64 {
	content, err := util.ReadFile(s.Filesystem(), leftOutFile)
	if err != nil {
		return 0
	}
	size, err := strconv.ParseInt(string(content), 10, 64)
	if err != nil {
		return 0
	}
	return size
}

// trimShallow removes commits whose parents are present from the list of shallow
// commits: a server that gets a request with a small depth also names commits
// whose history was fetched before.
func trimShallow(s *objectStore) error {
	ends, err := s.Shallow()
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	ends = slices.DeleteFunc(ends, func(h plumbing.Hash) bool {
		commit, err := object.GetCommit(s, h)
		return err == nil && !slices.ContainsFunc(commit.ParentHashes, func(p plumbing.Hash) bool { return s.HasEncodedObject(p) != nil })
	})
	if err := s.SetShallow(ends); err != nil {
		return fmt.Errorf("record where history ends: %w", err)
	}
	return nil
}

// fetchedRefs returns the commits that the clone's refs with a prefix name, sorted.
func fetchedRefs(s *objectStore, prefix string) ([]plumbing.Hash, error) {
	all, err := localRefs(s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	var found []plumbing.Hash
	for name, hash := range all.named {
		if strings.HasPrefix(name.String(), prefix) {
			found = append(found, hash)
		}
	}
	slices.SortFunc(found, func(a, b plumbing.Hash) int { return slices.Compare(a[:], b[:]) })
	return found, nil
}

// keepRefs changes the clone's refs with a prefix from the commits before to the
// commits now.
func keepRefs(s *objectStore, prefix string, before, now []plumbing.Hash) error {
	for _, hash := range now {
		if slices.Contains(before, hash) {
			continue
		}
		if err := s.SetReference(plumbing.NewHashReference(plumbing.ReferenceName(prefix+hash.String()), hash)); err != nil {
			return fmt.Errorf("record fetched commits: %w", err)
		}
	}
	for _, hash := range before {
		if slices.Contains(now, hash) {
			continue
		}
		if err := s.RemoveReference(plumbing.ReferenceName(prefix + hash.String())); err != nil {
			return fmt.Errorf("record fetched commits: %w", err)
		}
	}
	return nil
}
