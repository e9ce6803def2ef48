package manifests

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/model"
)

// A rendering is the outcome of building a kustomization or a chart, with every path that was
// read and the state of the path. If all states are the same, the outcome is the same.
type rendering struct {
	paths   map[string]string
	outcome *outcome
	// content is what a later build may need of a build of Flux.
	content content
}

// maxPerFolder bounds the renderings of one folder that are cached.
const maxPerFolder = 600

// matches reports whether the recorded paths have the same state in files.
func (r *rendering) matches(files *gitrepo.FS) bool {
	for name, state := range r.paths {
		if state != pathState(files, name) {
			return false
		}
	}
	return true
}

// pathState returns the state of a path for kustomize: the ID of a file's content, "folder"
// for a folder, or "" if the path does not exist. The state of a path that ends in a slash is the ID
// of the folder.
func pathState(files *gitrepo.FS, name string) string {
	folder, listed := strings.CutSuffix(name, "/")
	id, err := files.ID(folder)
	if err != nil || listed {
		return id
	}
	if strings.HasPrefix(id, "folder ") {
		return "folder"
	}
	return id
}

// A recordedFS records the paths that are read, and the folders that are listed.
type recordedFS struct {
	files *gitrepo.FS
	paths map[string]string
}

func (f *recordedFS) record(name string) {
	if _, known := f.paths[name]; !known {
		f.paths[name] = pathState(f.files, name)
	}
}

// Open implements fs.FS.
func (f *recordedFS) Open(name string) (fs.File, error) {
	f.record(name)
	return f.files.Open(name)
}

// Stat implements fs.StatFS.
func (f *recordedFS) Stat(name string) (fs.FileInfo, error) {
	f.record(name)
	return f.files.Stat(name)
}

// ReadDir implements fs.ReadDirFS.
func (f *recordedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	f.record(name + "/")
	return f.files.ReadDir(name)
}

// kustomizations finds the subjects in the kustomizations of a tree, and reports
// whether the outcome depends only on the files.
func (r *pastReader) kustomizations(t *tree, files *gitrepo.FS, dirs []string, found *outcome) (final bool) {
	final = true
	for _, dir := range roots(t.kustomize, mounted(dirs)) {
		if r.ctx.Err() != nil {
			found.merge(&outcome{all: timedOut})
			return false
		}
		part, cacheable := r.kustomization(t, files, dir)
		found.merge(part)
		final = final && cacheable
	}
	return final
}

// kustomization returns the outcome of one kustomization.
func (r *pastReader) kustomization(t *tree, files *gitrepo.FS, dir string) (found *outcome, cacheable bool) {
	if cached := r.cached(dir, files); cached != nil {
		return cached.outcome, true
	}
	recorded := &recordedFS{files: files, paths: map[string]string{}}
	if found, cacheable = r.render(t.withFiles(r.ctx, recorded, r.loader.config.MaxFileSize), dir); !cacheable {
		return found, cacheable
	}
	if r.ctx.Err() != nil {
		return &outcome{all: timedOut}, false
	}
	found.upTo = len(r.cache.subjects)
	r.keep(dir, &rendering{paths: recorded.paths, outcome: found})
	return found, true
}

// cached returns the cached rendering with a key that has the same files, or nil.
func (r *pastReader) cached(key string, files *gitrepo.FS) *rendering {
	known := r.cache.renderings[key]
	for i := len(known) - 1; i >= 0; i-- {
		if cached := known[i]; cached.outcome.upTo == len(r.cache.subjects) && cached.matches(files) {
			// The next commit probably has the same content.
			copy(known[i:], known[i+1:])
			known[len(known)-1] = cached
			return cached
		}
	}
	return nil
}

// keep caches a rendering.
func (r *pastReader) keep(key string, made *rendering) {
	known := slices.DeleteFunc(r.cache.renderings[key], func(k *rendering) bool { return k.outcome.upTo != made.outcome.upTo })
	if len(known) >= maxPerFolder {
		known = known[1:]
	}
	r.cache.renderings[key] = append(known, made)
	r.cache.size += int64(len(made.paths)) * 150
	for _, o := range made.content.objects {
		r.cache.size += o.value.Weight()
	}
}

// render builds a kustomization if it may generate a subject.
func (r *pastReader) render(t *tree, dir string) (found *outcome, cacheable bool) {
	found = &outcome{}
	parts := withBases(t.kustomize, dir)
	var subjects []int
	for n, s := range r.cache.subjects {
		if slices.ContainsFunc(parts, func(k kustomization) bool { return k.mayGenerate(s) }) {
			subjects = append(subjects, n)
		}
	}
	if len(subjects) == 0 {
		return found, true
	}
	if r.renderings == 0 {
		for _, n := range subjects {
			found.addUnread(n, t.of(parts[0].file)+": not built, because the limit of old kustomizations for one reading is reached; the next reading continues")
		}
		return found, false
	}
	r.renderings--
	built, err := r.loader.render(r.ctx, t, r.box, dir)
	if err != nil {
		for _, n := range subjects {
			found.addUnread(n, timedOut)
		}
		return found, false
	}
	r.match(found, built, subjects)
	return found, true
}

// mayGenerate reports whether building the kustomization may generate an object with the
// subject's name. One of its files contains the name, unless the name is composed, or comes
// from a file that cannot be read.
func (k kustomization) mayGenerate(s *subject) bool {
	if k.value.Kind() != model.Map || slices.ContainsFunc(k.entries(), k.isElsewhere) {
		return true
	}
	for _, field := range []string{"transformers", "replacements", "generators", "helmCharts", "vars"} {
		if len(k.value.At(field).Items()) > 0 {
			return true
		}
	}
	prefix, suffix := k.value.At("namePrefix").Str(), k.value.At("nameSuffix").Str()
	if prefix+suffix != "" && strings.Contains(s.name, prefix) && strings.Contains(s.name, suffix) {
		return true
	}
	for _, field := range []string{"configMapGenerator", "secretGenerator"} {
		for _, generator := range k.value.At(field).Items() {
			if strings.Contains(s.name, generator.At("name").Str()) {
				return true
			}
		}
	}
	searched := 0
	return slices.ContainsFunc(k.namedFiles(), func(file string) bool {
		data, err := k.files.ReadFile(file)
		searched += len(data)
		return err != nil || searched > maxSearched || mayEscape(data) || bytes.Contains(data, []byte(s.name))
	})
}

// maxSearched bounds the bytes of one kustomization's files that are searched for a name.
const maxSearched = 64 << 20

// allTexts returns the strings of a tree.
func allTexts(v model.Value) []string {
	var found []string
	if s := v.Str(); s != "" {
		found = append(found, s)
	}
	for _, item := range v.Items() {
		found = append(found, allTexts(item)...)
	}
	for _, f := range v.Fields() {
		found = append(found, allTexts(f.Value)...)
	}
	return found
}

func afterEquals(text string) string {
	_, after, _ := strings.Cut(text, "=")
	return after
}
