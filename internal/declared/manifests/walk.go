package manifests

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/model"
)

// An inventory contains the files of a tree, by path, sorted.
type inventory struct {
	files []string
	// kustomizations are the folders with a kustomization.
	kustomizations []string
	problems       []model.Problem
}

// walk lists the files of the declared folder. A file or folder that cannot be read is a
// problem and does not affect the others.
func (l *loader) walk(ctx context.Context, t *tree) (inventory, error) {
	w := walker{ctx: ctx, tree: t, chosen: l.chosen, limit: l.config.MaxFiles}
	info, err := fs.Stat(t.files, t.Root)
	if errors.Is(err, fs.ErrNotExist) {
		return inventory{}, fmt.Errorf("read manifests: %s does not exist in %s; check path", t.Root, t.where)
	}
	if err != nil {
		return inventory{}, fmt.Errorf("read manifests: %w", err)
	}
	if !info.IsDir() {
		return inventory{files: []string{t.Root}}, nil
	}
	err = w.folder(t.Root, false)
	return w.found, err
}

type walker struct {
	ctx    context.Context //nolint:containedctx // a walker lives for one walk
	tree   *tree
	chosen selection
	limit  int
	// folders counts the folders that were listed. The same git folder can be in many places,
	// so that the number is not bounded by the size of the repository.
	folders int
	found   inventory
}

// folder lists the folder dir. Files in the folder of a kustomization belong to it: below, it
// only searches for further kustomizations. If the declared folder itself is a kustomization,
// it does not search below.
func (w *walker) folder(dir string, inKustomization bool) error {
	if err := w.ctx.Err(); err != nil {
		return fmt.Errorf("walk %s: %w", w.tree.address(dir), err)
	}
	if w.folders++; w.folders > w.limit {
		return fmt.Errorf("read manifests: more than %d folders in %s; narrow it, or raise max_files", w.limit, w.tree.where)
	}
	entries, err := fs.ReadDir(w.tree.files, dir)
	if err != nil {
		return w.unreadable(dir, err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return w.isIgnored(dir, e) })
	if i := slices.IndexFunc(entries, isKustomizationFile); i >= 0 {
		inKustomization = true
		if w.chosen.includes(w.relative(path.Join(dir, entries[i].Name()))) {
			w.found.kustomizations = append(w.found.kustomizations, dir)
			if dir == w.tree.Root {
				return nil
			}
		}
	}
	if !inKustomization && slices.ContainsFunc(entries, isChart) {
		w.limited(dir, "a Helm chart; declare it with type helm, or exclude it", w.tree.chart(dir))
		return nil
	}
	for _, e := range entries {
		if err := w.entry(path.Join(dir, e.Name()), e, inKustomization); err != nil {
			return err
		}
	}
	return nil
}

// isIgnored reports whether e is hidden or excluded.
func (w *walker) isIgnored(dir string, e fs.DirEntry) bool {
	return strings.HasPrefix(e.Name(), ".") || w.chosen.excludes(w.relative(path.Join(dir, e.Name())))
}

func isKustomizationFile(e fs.DirEntry) bool {
	return !e.IsDir() && slices.Contains(konfig.RecognizedKustomizationFileNames(), e.Name())
}

func isChart(e fs.DirEntry) bool { return e.Name() == "Chart.yaml" }

// submoduleUnread is the problem of a git submodule.
const submoduleUnread = "a git submodule; it is not read: declare it on its own, or exclude it"

func (w *walker) entry(name string, e fs.DirEntry, inKustomization bool) error {
	switch {
	case e.IsDir():
		return w.folder(name, inKustomization)
	case inKustomization:
		return nil
	case e.Type()&fs.ModeSymlink != 0:
		return w.link(name)
	case e.Type()&fs.ModeIrregular != 0:
		w.problem(name, submoduleUnread)
		return nil
	}
	return w.file(name, e.Type())
}

// link adds a symbolic link to a file like a file. It ignores links to folders, because
// folders in the tree are read at their own path.
func (w *walker) link(name string) error {
	info, err := fs.Stat(w.tree.files, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if isManifest(name) {
			w.problem(name, "a symbolic link to a missing file")
		}
		return nil
	case err != nil:
		w.problem(name, "a symbolic link that leads out of the folder; it is not followed")
		return nil //nolint:nilerr // noted as a problem: it costs this file only
	case info.IsDir():
		return nil
	}
	return w.file(name, info.Mode().Type())
}

func (w *walker) file(name string, mode fs.FileMode) error {
	if !isManifest(name) || !w.chosen.includes(w.relative(name)) {
		return nil
	}
	if mode != 0 {
		w.problem(name, "not a regular file")
		return nil
	}
	if len(w.found.files) == w.limit {
		return fmt.Errorf("read manifests: more than %d files in %s; narrow it, or raise max_files", w.limit, w.tree.where)
	}
	w.found.files = append(w.found.files, name)
	return nil
}

func (w *walker) unreadable(dir string, err error) error {
	if dir == w.tree.Root {
		return fmt.Errorf("read manifests: %w", err)
	}
	w.problem(dir, bounded.Cause(err).Error())
	return nil
}

func (w *walker) problem(name, reason string) {
	w.found.problems = append(w.found.problems, model.Problem{Address: w.tree.address(name), Reason: reason})
}

// limited adds a problem with a part that declares at most the objects in the sketch s.
func (w *walker) limited(name, reason string, s sketch) {
	c := content{problems: w.found.problems}
	c.limited(w.tree.address(name), s, "%s", reason)
	w.found.problems = c.problems
}

// relative returns the path from the declared folder, to which patterns apply.
func (w *walker) relative(name string) string {
	if w.tree.Root == "." {
		return name
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, w.tree.Root), "/")
}

func isManifest(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}
