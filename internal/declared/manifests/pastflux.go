package manifests

import (
	"errors"
	"slices"

	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/kube"
)

// maxFluxBuilds bounds the folders that are built for old commits in one call of History.
const maxFluxBuilds = 1000

var errFluxBuilds = errors.New("not built, because the limit of old builds for one reading is reached; the next reading continues")

// applied finds the subjects in what Flux applied at a commit, and reports whether the outcome
// depends only on the files.
func (r *pastReader) applied(t *tree, files *gitrepo.FS, found *outcome) (final bool) {
	recorded := &recordedFS{files: files, paths: map[string]string{}}
	t = t.withFiles(r.ctx, recorded, r.loader.config.MaxFileSize)
	reader := &fluxReader{ctx: r.ctx, loader: r.loader, tree: t, urls: r.loader.fluxURLs(t)}
	reader.build = func(_ *tree, a fluxArgs, address string) (content, error) { return r.fluxBuild(files, a, address) }
	c, err := reader.read()
	switch {
	case r.ctx.Err() != nil:
		found.all = timedOut
		return false
	case err != nil:
		found.all = truncate(err.Error())
		return !errors.Is(err, errFluxBuilds)
	}
	subjects := make([]int, len(r.cache.subjects))
	for n := range subjects {
		subjects[n] = n
	}
	// The objects of a release are not among the subjects.
	c.problems = reader.failed
	r.match(found, c, subjects)
	return !c.passing
}

// fluxBuild builds a folder of a commit as Flux does.
func (r *pastReader) fluxBuild(files *gitrepo.FS, a fluxArgs, address string) (content, error) {
	key, err := a.key()
	if err != nil {
		return content{}, err
	}
	if cached := r.cached(key, files); cached != nil {
		return cached.content.clone(), nil
	}
	if r.renderings == 0 {
		return content{}, errFluxBuilds
	}
	r.renderings--
	recorded := &recordedFS{files: files, paths: map[string]string{}}
	var made packed
	err = r.box.Do(r.ctx, recorded, fluxJob, a, &made)
	c, err := r.loader.unpacked(r.ctx, "kustomize", address, made, err)
	if err != nil || c.passing {
		return c, err
	}
	r.keep(key, &rendering{paths: recorded.paths, outcome: &outcome{upTo: len(r.cache.subjects)}, content: r.needed(c)})
	return c, nil
}

// needed returns the objects of a build that are subjects, or that a later build may need.
func (r *pastReader) needed(c content) content {
	kept := content{problems: c.problems}
	for _, o := range c.objects {
		kind := kindOf(o.value)
		if isFluxInput(kind) || declaresMore("kubernetes/"+kind) || r.isSubject(o) {
			kept.objects = append(kept.objects, o)
		}
	}
	return kept.clone()
}

func (r *pastReader) isSubject(o object) bool {
	kind, name := kube.KindName(o.value.At("apiVersion").Str(), o.value.At("kind").Str()), o.value.At("metadata", "name").Str()
	for _, s := range r.cache.subjects {
		if s.kind == kind && s.name == name {
			return true
		}
	}
	return false
}

// clone returns a content that can be changed without changing c.
func (c *content) clone() content {
	copied := content{objects: slices.Clone(c.objects), problems: slices.Clone(c.problems), passing: c.passing}
	for i := range copied.objects {
		o := &copied.objects[i]
		o.files, o.again = slices.Clone(o.files), slices.Clone(o.again)
	}
	return copied
}
