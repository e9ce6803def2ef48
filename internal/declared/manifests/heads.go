package manifests

import (
	"maps"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// heads remembers which commits refs named in the readings of a process.
type heads struct {
	mu  sync.Mutex
	all map[checkout]model.Fetch
}

// maxReplaced bounds the earlier commits of a ref that are remembered.
const maxReplaced = 200

// update records the commits of checkouts at the time now, removes all other checkouts, and returns the
// result. An empty commit means that the checkout could not be read: its previous entry remains.
func (h *heads) update(commits map[checkout]string, now time.Time) map[checkout]model.Fetch {
	h.mu.Lock()
	defer h.mu.Unlock()
	next := make(map[checkout]model.Fetch, len(commits))
	for at, commit := range commits {
		f := h.all[at]
		if commit != "" {
			f = withRead(f, commit, now)
		}
		if f.Commit != "" {
			next[at] = f
		}
	}
	h.all = next
	return maps.Clone(next)
}

// withRead returns f after the reading of a commit.
func withRead(f model.Fetch, commit string, now time.Time) model.Fetch {
	if f.Read = now; f.Commit == commit {
		return f
	}
	replaced := maps.Clone(f.Replaced) // claims have the earlier map
	if replaced == nil {
		replaced = map[string]time.Time{}
	}
	if f.Commit != "" {
		replaced[f.Commit] = now
	}
	delete(replaced, commit)
	if len(replaced) > maxReplaced {
		oldest := f.Commit
		for name, at := range replaced {
			if at.Before(replaced[oldest]) {
				oldest = name
			}
		}
		delete(replaced, oldest)
	}
	f.Commit, f.Since, f.Replaced = commit, now, replaced
	return f
}

// fetchGrace is the time that source-controller has for a fetch, in addition to the interval.
const fetchGrace = 10 * time.Minute

// maxFetchInterval bounds the interval of a source.
const maxFetchInterval = 365 * 24 * time.Hour

// addFetches adds to each GitRepository among the objects the commit that source-controller must fetch, if
// its ref was read.
func (r *fluxReader) addFetches(objects []object, now time.Time) {
	sources, commits := map[int]checkout{}, map[checkout]string{}
	for i := range objects {
		at, commit, ok := r.fetchOf(&objects[i])
		if ok {
			sources[i], commits[at] = at, commit
		}
	}
	known := r.loader.heads.update(commits, now)
	for i, at := range sources {
		f, found := known[at]
		interval, err := time.ParseDuration(objects[i].value.At("spec", "interval").Str())
		if !found || err != nil || !objects[i].isCertain("spec", "interval") {
			continue
		}
		f.Within = min(max(interval, 0), maxFetchInterval) + fetchGrace
		objects[i].fetch = &f
	}
}

// fetchOf returns the checkout that an object names, and its commit; "" if that was not read. ok is false if the object is no
// GitRepository of a repository that driftd reads.
func (r *fluxReader) fetchOf(o *object) (at checkout, commit string, ok bool) {
	if kindOf(o.value) != fluxGitRepository || r.tree.revision == "" {
		return at, "", false
	}
	at, reason := r.checkoutOf(*o, "GitRepository", nameOf(o.value))
	if reason != "" {
		return at, "", false
	}
	if at.repository == nil {
		// source_branch may stand for another commit.
		return at, r.tree.revision, r.isAt(fluxRef(o.value.At("spec", "ref")))
	}
	return at, r.tree.others.commits[at], true
}
