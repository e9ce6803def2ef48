package gitrepo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/driftd/driftd/internal/declared/await"
)

// A Query selects a history.
type Query struct {
	// Ref is a ref as in Repository.Read, and Revision the hash of the commit that Read returned for it.
	Ref, Revision string
	// MaxFile is the maximum size of the files that are read, in bytes. If the server supports filters,
	// larger files are not fetched.
	MaxFile int64
	// Only excludes the other branches and the pull requests.
	Only bool
}

// History calls read with the history of the ref, and of the other branches and pull requests, as far back
// as Settings.History. It returns the hash of the commit to which the ref refers now. If that is not
// q.Revision, History does not call read. If the clone is damaged, History clones the repository again and
// calls read a second time; the results of the first call are then invalid.
//
// History returns an error if read does, or if the head cannot be determined. All other failures are
// reported in Log.Gap.
func (r *Repository) History(ctx context.Context, q Query, read func(Log) error) (head string, err error) {
	if r.endpoint.Protocol == "file" {
		return r.localPast(ctx, q, read)
	}
	return r.remotePast(ctx, q, read)
}

// pastCache bounds the objects of a repository that are kept in memory while its
// history is read, in bytes.
const pastCache = 32 * cache.MiByte

// localPast reads the history of a repository on this machine. If an object is
// absent, it tries once more: git may have repacked the repository meanwhile.
func (r *Repository) localPast(ctx context.Context, q Query, read func(Log) error) (head string, err error) {
	for range 2 {
		var damage error
		if head, damage, err = r.openLocalPast(ctx, q, read); damage == nil {
			return head, err
		}
	}
	return head, read(Log{Gap: "history cannot be read: objects are missing from the repository"})
}

func (r *Repository) openLocalPast(ctx context.Context, q Query, read func(Log) error) (head string, damage, err error) {
	s, err := openLocal(r.endpoint.Path)
	if err != nil {
		return "", nil, r.explain(err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	refs, err := localRefs(s)
	if err != nil {
		return "", nil, r.explain(err)
	}
	want, err := refs.resolve(q.Ref)
	if err != nil {
		return "", nil, r.explain(err)
	}
	commit, err := commitOf(s, want.hash)
	if err != nil {
		return "", nil, r.explain(err)
	}
	if head = commit.Hash.String(); head != q.Revision {
		return head, nil, nil
	}
	damage, err = r.readPast(ctx, s, past{refs: refs, head: commit.Hash, only: q.Only}, read)
	return head, damage, err
}

// A past describes a history that can be read.
type past struct {
	refs refs
	head plumbing.Hash
	// prepare fetches the commits of branches; nil if they are present. It returns
	// why they cannot be fetched, or "".
	prepare func([]branch) (gap string)
	// gap is why the ref's commits may be absent, or "".
	gap string
	// cloned reports whether the repository is driftd's own clone, which has only
	// what was fetched so far.
	cloned bool
	// only reports whether branches are left out.
	only bool
}

// readPast calls read with a history. A damage error means that the repository is
// damaged and that the results of read are invalid.
func (r *Repository) readPast(ctx context.Context, s *objectStore, p past, read func(Log) error) (damage, err error) {
	if r.history.limit <= 0 {
		return nil, read(Log{Gap: "the declaration's setting history is 0: old commits are not read"})
	}
	reader := newObjectReader(s)
	defer reader.close()
	log, err := r.collect(ctx, s, reader, p)
	if p.cloned {
		reader.leftOut = leftOut(s)
	}
	switch {
	case errors.Is(err, errDamaged):
		return err, nil
	case errors.Is(err, errTooLarge):
		return nil, read(Log{Gap: fmt.Sprintf("history cannot be read: %v", err)})
	case err != nil:
		return nil, read(Log{Gap: fmt.Sprintf("history was not read in time: %v", err)})
	}
	err = read(log)
	reader.mu.Lock()
	defer reader.mu.Unlock()
	return reader.broken, err
}

// collect returns the commits of a history.
func (r *Repository) collect(ctx context.Context, s *objectStore, reader *objectReader, p past) (Log, error) {
	l := newLogReader(s, reader, r.history.limit)
	if p.gap != "" {
		l.gaps = []string{p.gap}
	}
	ref, err := l.ref(ctx, p.head)
	switch {
	case err != nil:
		return Log{}, err
	case len(ref.Commits) == 0:
		return Log{Gap: cmp.Or(p.gap, gap(l.gaps))}, nil
	}
	if p.only {
		return Log{Ref: ref, Gap: gap(l.gaps)}, nil
	}
	others, more := p.refs.others(func(h plumbing.Hash) bool { return l.reach[h] }, func(h plumbing.Hash) int64 {
		if p.cloned {
			// Which commits a clone has depends on earlier fetches.
			return 0
		}
		commit, err := object.GetCommit(s, h)
		if err != nil {
			return 0
		}
		return commit.Committer.When.Unix()
	})
	if more != "" {
		l.gaps = append(l.gaps, more)
	}
	if p.prepare != nil && len(others) > 0 {
		if gap := p.prepare(others); gap != "" {
			l.gaps = append(l.gaps, gap)
		}
	}
	branches, err := l.branches(ctx, others)
	if err != nil {
		return Log{}, err
	}
	return Log{Ref: ref, Branches: branches, Gap: gap(l.gaps)}, nil
}

func (r *Repository) remotePast(ctx context.Context, q Query, read func(Log) error) (head string, err error) {
	refs, want, head, err := r.remoteHead(ctx, q.Ref)
	if err != nil || head != q.Revision {
		return head, err
	}
	waiting, cancel := await.Half(ctx)
	defer cancel()
	c, err := openPastClone(waiting, r.settings.CacheDir, r.url)
	if err != nil {
		return head, read(Log{Gap: fmt.Sprintf("history cannot be fetched: %v", err)})
	}
	defer func() { err = errors.Join(err, c.release()) }()
	p := past{refs: refs, head: plumbing.NewHash(head), cloned: true, only: q.Only}
	for again := true; ; again = false {
		f := pastFetch{repository: r, clone: c, query: q}
		damage, err := f.run(ctx, want.hash, p, read)
		if damage == nil {
			return f.moved(ctx, head, err)
		}
		r.settings.Log.Warn("clone of the history cannot be used, cloning again", "url", r.url, "err", damage)
		if discardErr := c.discard(); discardErr != nil || !again || ctx.Err() != nil {
			return head, read(Log{Gap: "history cannot be read: the clone is damaged"})
		}
	}
}

// remoteHead returns the refs of a remote, and the commit that ref names there.
func (r *Repository) remoteHead(ctx context.Context, ref string) (refs, target, string, error) {
	ad, want, err := r.advertised(ctx, ref)
	if err != nil {
		return refs{}, target{}, "", err
	}
	head := want.hash
	if commit, isTag := ad.Peeled[want.name.String()]; isTag {
		head = commit
	}
	return advertisedRefs(ad), want, head.String(), nil
}

// A backoff skips attempts after failures. The number of skipped attempts grows
// with the number of failures in a row.
type backoff struct {
	mu           sync.Mutex
	failed, skip int
	last         error
}

// skipped returns the last failure if the next attempt must be skipped, or nil.
func (b *backoff) skipped() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.skip == 0 {
		return nil
	}
	b.skip--
	return b.last
}

// record records the result of an attempt.
func (b *backoff) record(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last = err; err == nil {
		b.failed = 0
		return
	}
	b.failed++
	b.skip = min(1<<min(b.failed, 6)-1, maxSkip)
}
