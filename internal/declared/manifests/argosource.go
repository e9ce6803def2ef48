package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

func kubeTemplate(text string) bool { return kube.Unrendered(text) }

// maxOverrides bounds a file of overrides of a source, in bytes.
const maxOverrides = 1 << 20

// render returns the objects of a source in a folder of the tree, as Argo CD renders them.
// https://argo-cd.readthedocs.io/en/stable/user-guide/application_sources/
func (r *argoReader) render(a *application, source model.Value) (content, error) {
	if source.At("chart").Str() != "" {
		return r.remoteChart(a, source)
	}
	dir := folderOf(source.At("path").Str())
	info, err := fs.Stat(r.tree.files, dir)
	switch {
	case r.tree.submodule(dir) != "":
		return content{}, notRead(sketch{unknown: true}, "deploys %s, which is in the git submodule %s: driftd does not read submodules; "+
			"declare the repository of the submodule on its own", shown(dir), shown(r.tree.submodule(dir)))
	case errors.Is(err, fs.ErrNotExist):
		return content{}, notRead(sketch{}, "deploys %s, which does not exist in %s", shown(dir), r.tree.where)
	case err != nil:
		return content{}, notRead(sketch{unknown: true}, "deploys %s: %v", shown(dir), bounded.Cause(err))
	case !info.IsDir():
		return content{}, notRead(sketch{unknown: true}, "deploys %s, which is not a folder", shown(dir))
	}
	if source, err = r.overridden(a, source, dir); err != nil {
		return content{}, err
	}
	tool, err := r.tool(source, dir)
	if err != nil {
		return content{}, err
	}
	switch tool {
	case "helm":
		return r.chart(a, source.At("helm"), HelmConfig{}, dir, a.namespace())
	case "kustomize":
		found, err := r.kustomized(a, source.At("kustomize"), dir)
		r.tree.nameFiles(&found)
		return found, err
	}
	found, err := r.directory(source.At("directory"), dir)
	r.tree.nameFiles(&found)
	return found, err
}

// overridden returns the source with the overrides in its folder, which Argo CD's image updater
// commits there. https://argo-cd.readthedocs.io/en/stable/user-guide/parameters/
func (r *argoReader) overridden(a *application, source model.Value, dir string) (model.Value, error) {
	for _, name := range []string{".argocd-source.yaml", ".argocd-source-" + a.short() + ".yaml"} {
		data, err := r.tree.readFile(path.Join(dir, name), maxOverrides)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		docs, parseErr := decode.YAML(bytes.NewReader(data))
		if err = errors.Join(err, parseErr); err != nil || len(docs) > 1 {
			return source, notRead(sketch{unknown: true}, "has the overrides %s, which cannot be read", path.Join(dir, name))
		}
		for _, doc := range docs {
			source = merged(source, doc.Value)
		}
	}
	return source, nil
}

// merged returns a value with a JSON merge patch (RFC 7396).
func merged(v, patch model.Value) model.Value {
	if patch.Kind() != model.Map {
		return patch
	}
	if v.Kind() != model.Map {
		v = model.MapOf()
	}
	for _, f := range patch.Fields() {
		if f.Value.IsNull() {
			v = v.Without(f.Name)
			continue
		}
		v = v.With(f.Name, merged(v.At(f.Name), f.Value))
	}
	return v
}

// tool returns the tool that renders a source: "helm", "kustomize", or "" for a folder of manifests.
func (r *argoReader) tool(source model.Value, dir string) (string, error) {
	if _, ok := source.Get("plugin"); ok {
		return "", notRead(sketch{unknown: true}, "deploys %s with a plugin, which driftd does not run", shown(dir))
	}
	var set []string
	for _, tool := range []string{"helm", "kustomize", "directory"} {
		if v := source.At(tool); v.Kind() == model.Map && !v.IsEmpty() {
			set = append(set, tool)
		}
	}
	entries, err := fs.ReadDir(r.tree.files, dir)
	if err != nil {
		return "", notRead(sketch{unknown: true}, "deploys %s: %v", shown(dir), bounded.Cause(err))
	}
	switch {
	case len(set) > 1:
		return "", notRead(sketch{unknown: true}, "has settings for several tools: %s", strings.Join(set, ", "))
	case len(set) == 1 && set[0] == "directory":
		return "", nil
	case len(set) == 1:
		return set[0], nil
	case slices.ContainsFunc(entries, isKustomizationFile):
		return "kustomize", nil
	case slices.ContainsFunc(entries, isChart):
		return "helm", nil
	}
	return "", nil
}

// directory reads a folder of manifests. https://argo-cd.readthedocs.io/en/stable/user-guide/directory/
func (r *argoReader) directory(settings model.Value, dir string) (content, error) {
	include, exclude := settings.At("include").Str(), settings.At("exclude").Str()
	w := directoryWalk{reader: r, top: dir, recurse: settings.At("recurse").Text() == "true"}
	var err error
	if w.include, err = argoGlob(include); err == nil {
		w.exclude, err = argoGlob(exclude)
	}
	if err != nil {
		return content{}, err
	}
	if err := w.folder(dir); err != nil {
		return content{}, err
	}
	found, err := r.loader.plainFiles(r.ctx, r.tree, w.files)
	if err != nil {
		return content{}, err
	}
	for _, name := range w.submodules {
		found.limited(r.tree.address(name), sketch{unknown: true}, submoduleUnread)
	}
	for _, name := range w.jsonnet {
		found.limited(r.tree.address(name), sketch{unknown: true}, "a Jsonnet file, which driftd does not evaluate")
	}
	return found, nil
}

// A directoryWalk lists the files of a folder of manifests.
type directoryWalk struct {
	reader           *argoReader
	top              string
	recurse          bool
	include, exclude *regexp.Regexp
	files, jsonnet   []string
	// submodules are those whose files Argo CD reads.
	submodules []string
	folders    int
}

func (w *directoryWalk) folder(dir string) error {
	t, limit := w.reader.tree, w.reader.loader.config.MaxFiles
	entries, err := fs.ReadDir(t.files, dir)
	if w.reader.ctx.Err() != nil {
		return fmt.Errorf("walk %s: %w", t.address(dir), w.reader.ctx.Err())
	}
	if err != nil {
		return notRead(sketch{unknown: true}, "deploys %s: %v", shown(dir), bounded.Cause(err))
	}
	if w.folders++; w.folders > limit || len(w.files) > limit {
		return notRead(sketch{unknown: true}, "deploys more than %d files or folders: raise max_files", limit)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir():
			if w.recurse && e.Name() != ".git" {
				if err := w.folder(name); err != nil {
					return err
				}
			}
		case e.Type()&fs.ModeIrregular != 0:
			if w.recurse {
				w.submodules = append(w.submodules, name)
			}
		case w.chooses(name):
			w.add(name)
		}
	}
	return nil
}

// chooses reports whether Argo CD reads a file.
func (w *directoryWalk) chooses(name string) bool {
	relative := strings.TrimPrefix(strings.TrimPrefix(name, w.top), "/")
	if w.top == "." {
		relative = name
	}
	return !strings.HasPrefix(path.Base(name), ".argocd-source") && (w.exclude == nil || !w.exclude.MatchString(relative)) &&
		(w.include == nil || w.include.MatchString(relative))
}

func (w *directoryWalk) add(name string) {
	switch {
	case isManifest(name):
		w.files = append(w.files, name)
	case path.Ext(name) == ".jsonnet":
		w.jsonnet = append(w.jsonnet, name)
	}
}

// argoGlob returns the expression of a pattern of include and exclude, in which * also matches
// slashes; nil if there is none. https://github.com/gobwas/glob
func argoGlob(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, nil
	}
	text := strings.NewReplacer(`\*`, `.*`, `\?`, `.`, `\{`, `(?:`, `\}`, `)`, `\[!`, `[^`, `\[`, `[`, `\]`, `]`).Replace(regexp.QuoteMeta(pattern))
	if strings.Contains(pattern, "{") {
		text = strings.ReplaceAll(text, ",", "|")
	}
	compiled, err := regexp.Compile("^(?:" + text + ")$")
	if err != nil {
		return nil, notRead(sketch{unknown: true}, "has the pattern %s, which driftd does not read", shown(pattern))
	}
	return compiled, nil
}

// build builds the kustomization in dir, a path below mountPoint.
func (r *argoReader) build(t *tree, dir string) (content, error) {
	r.builds++
	return r.loader.render(r.ctx, t, r.kustomize, dir)
}

// kustomized builds a kustomization with the settings of an Application. Argo CD edits its file.
// https://argo-cd.readthedocs.io/en/stable/user-guide/kustomize/
func (r *argoReader) kustomized(a *application, settings model.Value, dir string) (content, error) {
	t := r.tree
	if !settings.IsEmpty() {
		k := readKustomization(t.kustomize, path.Join(mountPoint, dir))
		name, ok := within(k.file)
		if k.value.IsNull() || !ok {
			return content{}, notRead(sketch{unknown: true}, "deploys the kustomization %s, which cannot be read", shown(dir))
		}
		edit := kustomizationEdit{r, a, dir, settings, k.value}
		if err := edit.apply(); err != nil {
			return content{}, err
		}
		t = t.withFiles(r.ctx, addedFS{t.files, map[string][]byte{name: edit.value.AppendJSON(nil)}}, r.loader.config.MaxFileSize)
	}
	return r.build(t, path.Join(mountPoint, dir))
}
