package manifests

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// release finds the subjects in the chart of a commit, and reports whether the outcome depends
// only on the files.
func (r *pastReader) release(t *tree, files *gitrepo.FS, found *outcome) (final bool) {
	key := []string{"release", r.loader.fetched.Digest()}
	depends := r.loader.release.Values
	if r.loader.fetched == nil {
		depends = append([]string{t.Root}, depends...)
	}
	t, err := r.loader.withArchive(r.ctx, t, false)
	if err != nil {
		found.merge(&outcome{all: truncate(err.Error())})
		return false
	}
	w, err := r.loader.chartFiles(r.ctx, t)
	if err == nil && w.linked {
		// A link may lead out of the chart.
		depends = append(depends, ".")
	}
	for _, name := range depends {
		id, err := files.ID(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			found.merge(&outcome{all: truncate(t.address(name) + ": " + bounded.Cause(err).Error())})
			return false
		}
		key = append(key, id)
	}
	cached := strings.Join(key, " ")
	known := r.cache.trees[cached]
	if known == nil || known.upTo != len(r.cache.subjects) {
		if known, final = r.rendered(t); !final {
			found.merge(known)
			return false
		}
		r.cache.trees[cached] = known
		r.cache.size += 200
	}
	found.merge(known)
	return true
}

// rendered renders the chart of a commit, and reports whether the outcome depends only on the
// files.
func (r *pastReader) rendered(t *tree) (found *outcome, final bool) {
	found = &outcome{upTo: len(r.cache.subjects)}
	if r.renderings == 0 {
		found.all = "not rendered, because the limit of old charts for one reading is reached; the next reading continues"
		return found, false
	}
	r.renderings--
	c, err := r.loader.chartIn(r.ctx, t, r.box)
	switch {
	case r.ctx.Err() != nil:
		found.all = timedOut
		return found, false
	case errors.Is(err, errNoChart):
		return found, true
	case err != nil:
		found.all = truncate(err.Error())
		return found, true
	}
	subjects := make([]int, len(r.cache.subjects))
	for n := range subjects {
		subjects[n] = n
	}
	r.match(found, c, subjects)
	return found, !c.passing
}
