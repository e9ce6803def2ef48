package manifests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// Bounds of one call of History: kustomizations that are built, and bytes of files
// that are parsed.
const (
	maxRenderings = 50
	maxParsed     = 128 << 20
)

// A pastReader finds the subjects at commits, in one call of History. It caches an
// outcome unless a bound or a failure made it incomplete.
type pastReader struct {
	ctx    context.Context //nolint:containedctx // a reader lives for one call
	loader *loader
	cache  *historyCache
	// renderings and parse are what remains of the bounds.
	renderings int
	parse      int64
	// box expands foreign input; that of a release renders charts. It has no network, because everyone with push access can push
	// a branch.
	box *box.Box
}

const timedOut = "not read in time; the next reading continues"

// commit returns the outcome of a commit.
func (r *pastReader) commit(c *gitrepo.LogCommit) *outcome {
	if r.ctx.Err() != nil {
		return &outcome{all: timedOut}
	}
	root := r.loader.config.Root()
	id, err := c.Files.ID(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &outcome{}
	case err != nil:
		return &outcome{all: truncate(bounded.Cause(err).Error())}
	}
	top, err := c.Files.ID(".")
	if err != nil {
		return &outcome{all: truncate(bounded.Cause(err).Error())}
	}
	keys := []string{"root " + id, "top " + top}
	for _, key := range keys {
		if found := r.cache.trees[key]; found != nil && found.upTo == len(r.cache.subjects) {
			return found
		}
	}
	found, simple, final := r.tree(c)
	if r.ctx.Err() != nil {
		return &outcome{all: timedOut}
	}
	if final {
		key := keys[len(keys)-1]
		if simple {
			key = keys[0]
		}
		r.cache.trees[key] = found
		r.cache.size += 200
	}
	return found
}

// A linkFS records whether a listed folder contains a symbolic link.
type linkFS struct {
	*gitrepo.FS

	linked bool
}

// ReadDir implements fs.ReadDirFS.
func (f *linkFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := f.FS.ReadDir(name)
	for _, e := range entries {
		f.linked = f.linked || e.Type()&fs.ModeSymlink != 0
	}
	return entries, err
}

// tree reads the declared path of a commit. simple reports whether the outcome
// depends only on files in the path, and final whether it depends only on files.
func (r *pastReader) tree(c *gitrepo.LogCommit) (found *outcome, simple, final bool) {
	found = &outcome{upTo: len(r.cache.subjects)}
	files := &linkFS{FS: c.Files}
	t := r.loader.commitTree(files, c.Hash)
	t = t.withFiles(r.ctx, files, r.loader.config.MaxFileSize)
	switch {
	case r.loader.release != nil:
		return found, false, r.release(t, c.Files, found)
	case r.loader.argocd != nil:
		return found, false, r.applications(t, found)
	}
	if r.loader.flux != nil {
		return found, false, r.applied(t, c.Files, found)
	}
	inventory, err := r.loader.walk(r.ctx, t)
	if r.ctx.Err() != nil {
		found.all = timedOut
		return found, false, false
	}
	if err != nil {
		found.all = truncate(err.Error())
		return found, false, true
	}
	for _, p := range inventory.problems {
		found.merge(&outcome{all: truncate(p.Address + ": " + p.Reason)})
	}
	final = true
	for _, name := range inventory.files {
		part, cacheable := r.file(t, c.Files, name)
		found.merge(part)
		final = final && cacheable
	}
	if len(inventory.kustomizations) > 0 && r.hasMissing(found) {
		final = r.kustomizations(t, c.Files, inventory.kustomizations, found) && final
	}
	return found, !files.linked && len(inventory.kustomizations) == 0, final
}

// hasMissing reports whether a subject was not found.
func (r *pastReader) hasMissing(o *outcome) bool {
	for n := range r.cache.subjects {
		if len(o.states[n]) == 0 {
			return true
		}
	}
	return false
}

// file returns the outcome of a file. cacheable reports whether it depends only on the file.
func (r *pastReader) file(t *tree, files *gitrepo.FS, name string) (found *outcome, cacheable bool) {
	id, err := files.ID(name)
	if err != nil {
		return &outcome{all: truncate(t.address(name) + ": " + bounded.Cause(err).Error())}, false
	}
	found = r.cache.blobs[id]
	if found != nil && found.upTo == len(r.cache.subjects) {
		return found, true
	}
	if r.ctx.Err() != nil {
		return &outcome{all: timedOut}, false
	}
	data, cacheable, err := r.content(t, name)
	if err != nil {
		found = &outcome{all: truncate(t.address(name) + ": " + bounded.Cause(err).Error())}
	} else {
		found = &outcome{}
		cacheable = r.objects(found, t, name, data)
	}
	if found.upTo = len(r.cache.subjects); cacheable {
		r.cache.blobs[id] = found
		r.cache.size += 200
	}
	return found, cacheable
}

// content returns the content of a file. With an error, cacheable reports whether every later
// call returns the same error, because the file is too large.
func (r *pastReader) content(t *tree, name string) (data []byte, cacheable bool, err error) {
	limit := r.loader.config.MaxFileSize
	info, err := fs.Stat(t.files, name)
	switch {
	case errors.Is(err, gitrepo.ErrLeftOut):
		return nil, true, err
	case err != nil:
		return nil, false, err
	case info.Size() > limit:
		return nil, true, fmt.Errorf("larger than %d bytes", limit)
	}
	data, err = t.readFile(name, limit)
	return data, err == nil, err
}

// objects finds the subjects in data, the content of a file. It parses data only if it may
// contain the name of a subject.
func (r *pastReader) objects(found *outcome, t *tree, name string, data []byte) (cacheable bool) {
	var literal, escaped []int
	escapes := mayEscape(data)
	for n, s := range r.cache.subjects {
		switch {
		case bytes.Contains(data, []byte(s.name)):
			literal = append(literal, n)
		case escapes:
			escaped = append(escaped, n)
		}
	}
	if len(literal)+len(escaped) == 0 {
		return true
	}
	if r.parse -= int64(len(data)); r.parse < 0 || r.cache.size > 2*maxMemory {
		for _, n := range append(literal, escaped...) {
			found.addUnread(n, t.address(name)+": not read, because the limit of parsed bytes of old commits is reached")
		}
		return false
	}
	c, err := r.parsed(t, name, data)
	if err != nil {
		found.all = timedOut
		return false
	}
	r.match(found, c, literal)
	// A broken file that does not contain the name does not declare the subject.
	c.problems = nil
	r.match(found, c, escaped)
	return true
}

// parsed parses a file of a commit, a large one in the box.
func (r *pastReader) parsed(t *tree, name string, data []byte) (content, error) {
	if len(data) > maxInline {
		return r.loader.parseFile(r.ctx, t, r.box, name)
	}
	return t.parse(name, data), nil
}

// match finds subjects in the content of a file. A subject that is not found may be
// in a part that could not be read.
func (r *pastReader) match(found *outcome, c content, subjects []int) {
	for _, n := range subjects {
		for _, o := range c.objects {
			if state, ok := r.cache.state(n, o); ok {
				found.add(n, state)
			}
		}
		if len(c.problems) > 0 && len(found.states[n]) == 0 {
			found.addUnread(n, truncate(c.problems[0].Address+": "+c.problems[0].Reason))
		}
	}
}

// mayEscape reports whether a text in YAML or JSON may contain an escaped name.
func mayEscape(data []byte) bool {
	return bytes.IndexByte(data, '\\') >= 0 || bytes.Contains(data, []byte("!!binary"))
}

// namedFiles returns the files that a kustomization names, including its own file.
func (k kustomization) namedFiles() []string {
	files := []string{k.file}
	seen := map[string]bool{k.file: true}
	for _, text := range allTexts(k.value) {
		for _, name := range []string{text, afterEquals(text)} {
			file := path.Join(k.dir, name)
			if name == "" || seen[file] {
				continue
			}
			if seen[file] = true; k.files.Exists(file) && !k.files.IsDir(file) {
				files = append(files, file)
			}
		}
	}
	return files
}
