package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// A history finds the last commits that changed files. It caches the results of the last
// commit, so that for a newer commit only the new commits are read. Reading the history is
// optional: a failure is logged, and does not fail the reading of the declaration.
type history struct {
	// limit is the number of commits to read; 0 disables the history.
	limit int
	log   *slog.Logger

	mu    sync.Mutex
	known *touchResults
	// failed counts consecutive failures. skip is the number of readings to skip.
	failed, skip int
}

// A lookup finds the last changes of paths, from a commit that contains them. known can be
// nil.
type lookup func(ctx context.Context, paths []string, known *touchResults) (*touchResults, error)

// maxKnown bounds the number of cached results. maxSkip bounds the number of readings that are
// skipped after failures.
const (
	maxKnown = 200_000
	maxSkip  = 63
)

// touches returns the last change of each file of head, by name.
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
	if !found.covers(head, paths) {
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

// find finds the last changes of paths. It returns nil if that failed, or is skipped after an
// earlier failure.
func (h *history) find(ctx context.Context, paths []string, find lookup) *touchResults {
	if h.skip > 0 {
		h.skip--
		return nil
	}
	ctx, cancel := withHistoryTimeout(ctx)
	defer cancel()
	found, err := find(ctx, paths, h.known)
	if err != nil {
		h.fail(ctx, err)
		return nil
	}
	h.failed = 0
	if h.known != nil && h.known.head == found.head {
		// The paths of an earlier call must not be looked up again in the next reading.
		maps.Copy(found.of, h.known.of)
	}
	if h.known = found; len(found.of) > maxKnown {
		h.known = nil
	}
	return found
}

// fail records that the history could not be read. The first failure is logged as a warning.
// Each consecutive failure skips more readings.
func (h *history) fail(ctx context.Context, err error) {
	level := slog.LevelDebug
	if h.failed == 0 {
		level = slog.LevelWarn
	}
	h.log.Log(ctx, level, "git history cannot be read, authors of declared values are unknown", "err", err)
	h.failed++
	h.skip = min(1<<min(h.failed, 6)-1, maxSkip)
}

// maxHistoryTime bounds the time of one reading of the history.
const maxHistoryTime = time.Minute

// withHistoryTimeout returns a context for reading the history. It leaves at least half of the
// remaining time for the rest.
func withHistoryTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := maxHistoryTime
	if deadline, bounded := ctx.Deadline(); bounded {
		limit = min(limit, time.Until(deadline)/2)
	}
	return context.WithTimeout(ctx, limit)
}

// covers reports whether a contains results for all paths of head.
func (a *touchResults) covers(head *object.Commit, paths []string) bool {
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

// last returns the latest of the touches of paths. It returns an empty Touch if all are
// farther away than the limit. known is false if a path has no result.
func (a *touchResults) last(paths []string) (last Touch, known bool) {
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
	return func(ctx context.Context, paths []string, known *touchResults) (*touchResults, error) {
		files, err := gitFolder(dir)
		if err != nil {
			return nil, fmt.Errorf("open repository: %w", err)
		}
		return findTouchesIn(ctx, files, head, paths, limit, known)
	}
}

// walkCache bounds the objects that a walk keeps in memory, in bytes.
const walkCache = 32 * cache.MiByte

// findTouchesIn calls findTouches with the repository in files. It opens the repository
// itself, because a storage is not safe for concurrent use.
func findTouchesIn(ctx context.Context, files billy.Filesystem, head *object.Commit, paths []string, limit int, known *touchResults) (_ *touchResults, err error) {
	s := openObjects(files, walkCache)
	defer func() { err = errors.Join(err, s.Close()) }()
	return findTouches(ctx, s, head, paths, limit, known)
}
