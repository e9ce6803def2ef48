package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// A history tells which commits touched files last. It remembers what it told
// last: of a newer commit, only what is newer is looked at. It is an extra: what
// it cannot read it does not tell, and nobody else fails for that.
type history struct {
	// limit is how many commits back it looks, 0 none.
	limit int
	log   *slog.Logger

	mu    sync.Mutex
	known *answers
	// failed counts failures in a row, skip the readings to be left out.
	failed, skip int
}

// A lookup looks paths up, from a commit that has them; known may be nil.
type lookup func(ctx context.Context, paths []string, known *answers) (*answers, error)

// maxKnown bounds how many answers are remembered, maxSkip how many readings
// are left out after failures.
const (
	maxKnown = 200_000
	maxSkip  = 63
)

// touches returns the last touch of each file of head, by name.
func (h *history) touches(ctx context.Context, head *object.Commit, files *FS, names []string, find lookup) map[string]Touch {
	if h.limit <= 0 || len(names) == 0 {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	entries := files.entries(names)
	var paths []string
	for _, list := range entries {
		paths = append(paths, list...)
	}
	found := h.known
	if !found.answer(head, paths) {
		found = h.find(ctx, paths, find)
	}
	touches := make(map[string]Touch, len(names))
	for name, list := range entries {
		if t, known := found.last(list); known {
			touches[name] = t
		}
	}
	return touches
}

// find looks paths up, unless that failed lately.
func (h *history) find(ctx context.Context, paths []string, find lookup) *answers {
	if h.skip > 0 {
		h.skip--
		return nil
	}
	ctx, cancel := share(ctx)
	defer cancel()
	found, err := find(ctx, paths, h.known)
	if err != nil {
		h.fail(ctx, err)
		return nil
	}
	h.failed = 0
	if h.known = found; len(found.of) > maxKnown {
		h.known = nil
	}
	return found
}

// fail notes that the history could not be read: it is said aloud once, and
// each failure lengthens the pause.
func (h *history) fail(ctx context.Context, err error) {
	level := slog.LevelDebug
	if h.failed == 0 {
		level = slog.LevelWarn
	}
	h.log.Log(ctx, level, "history cannot be read, who declared what is not known", "err", err)
	h.failed++
	h.skip = min(1<<min(h.failed, 6)-1, maxSkip)
}

// maxShare bounds the time that one look at the history takes.
const maxShare = time.Minute

// share returns a context for an extra: most of the time that is left stays for
// the rest.
func share(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := maxShare
	if deadline, bounded := ctx.Deadline(); bounded {
		limit = min(limit, time.Until(deadline)/2)
	}
	return context.WithTimeout(ctx, limit)
}

// answer tells whether a holds what there is to know of paths of head.
func (a *answers) answer(head *object.Commit, paths []string) bool {
	if a == nil || a.head != head.Hash {
		return false
	}
	for _, name := range paths {
		if _, known := a.of[name]; !known {
			return false
		}
	}
	return true
}

// last returns the latest of the touches of paths, or none where all of them
// are too far away. It is not known unless all of them are.
func (a *answers) last(paths []string) (last Touch, known bool) {
	if a == nil {
		return Touch{}, false
	}
	for _, name := range paths {
		found, known := a.of[name]
		if !known {
			return Touch{}, false
		}
		if found.touch == nil {
			continue
		}
		t := *found.touch
		t.Path, t.steps = name, found.steps
		if last.Commit == "" || t.After(last) {
			last = t
		}
	}
	return last, true
}

// lookupLocal returns the lookup in a repository on this machine.
func lookupLocal(dir string, head *object.Commit, limit int) lookup {
	return func(ctx context.Context, paths []string, known *answers) (*answers, error) {
		files, err := gitFolder(dir)
		if err != nil {
			return nil, fmt.Errorf("open repository: %w", err)
		}
		return walkStored(ctx, files, head, paths, limit, known)
	}
}

// walkCache bounds how much of a repository is kept in memory during a walk.
const walkCache = 32 * cache.MiByte

// walkStored walks in a repository on disk, opened on its own: a storage is not
// safe for concurrent use.
func walkStored(ctx context.Context, files billy.Filesystem, head *object.Commit, paths []string, limit int, known *answers) (_ *answers, err error) {
	s := openObjects(files, walkCache)
	defer func() { err = errors.Join(err, s.Close()) }()
	return walkFrom(ctx, s, head, paths, limit, known)
}
