// Package setup generates a configuration of driftd for the systems and files on a machine: kubeconfig
// contexts, clouds, Terraform roots, manifests and git remotes. It treats all names and files as untrusted.
// It does not run programs, open connections, or copy credentials.
package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/declared/terraform"
)

// A Tree describes the content of a folder. Except for Dir, paths are relative to Dir.
type Tree struct {
	// Dir is the absolute path of the folder.
	Dir string
	// Origin is the origin of the git work tree that contains the folder.
	Origin gitrepo.Origin
	// Roots are the Terraform roots, sorted by folder. Their outlines are empty before ReadContents.
	Roots []Root
	// Modules are the folders with Terraform files that are not roots, sorted.
	Modules []string
	// Manifests are the folders with manifests, outside of roots and charts, sorted.
	Manifests []string
	// Kustomizations are the folders in Manifests that contain a kustomization.
	Kustomizations []string
	// Overlays are the overlays of Kustomizations. It is empty before ReadContents.
	Overlays []manifests.Overlay
	// Charts are the folders of Helm charts. Values are the further value files in them.
	Charts, Values []string
	// Flux and ArgoCD are the files with objects that Flux or Argo CD acts on, outside of roots and charts.
	// ArgoCD also contains the templates of charts with such objects.
	Flux, ArgoCD []string
	// Appliers are the objects in these files that apply folders; "" is a folder outside of Dir. It is
	// empty before ReadContents.
	Appliers []manifests.Applier
	// LeftOut are the folders named node_modules, which are skipped.
	LeftOut []string
	// Unread are descriptions of the parts that could not be read. Closed are the folders and manifests
	// among them.
	Unread, Closed []string
	// Bounded reports whether the folder has more content than Look reads.
	Bounded bool
	// Full reports whether there are more manifests, kustomizations, or files of Flux or Argo CD than are
	// listed.
	Full bool
}

// A Root is a Terraform root.
type Root struct {
	// Dir is relative to the folder of the tree; "." for the folder itself.
	Dir string
	terraform.Outline
}

// Bounds of a tree: the files and folders that are visited, and the roots and folders of manifests that are found.
const (
	maxVisited = 1_000_000
	maxFound   = 1000
)

// Look returns the content of a folder. It follows symbolic links to files, but not to folders, and skips
// node_modules and folders whose names begin with a dot. It returns an error if the folder does not exist.
// It reports files and folders that cannot be read in Tree.Unread.
func Look(ctx context.Context, dir string) (Tree, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Tree{}, fmt.Errorf("%s does not exist: check the path", dir)
	case err != nil:
		return Tree{}, err
	case !info.IsDir():
		return Tree{}, fmt.Errorf("%s is a file: name a folder", dir)
	}
	w := walk{tree: Tree{Dir: dir}, files: os.DirFS(dir), isRoot: terraform.Definition().IsMember, manifests: map[string]bool{}}
	if err := fs.WalkDir(w.files, ".", func(name string, e fs.DirEntry, err error) error { return w.visit(ctx, name, e, err) }); err != nil {
		return Tree{}, err
	}
	w.tree.Manifests = slices.Sorted(maps.Keys(w.manifests))
	if w.tree.Origin, err = gitrepo.OriginOf(dir); err != nil {
		w.tree.unread(err)
	}
	return w.tree, nil
}

type walk struct {
	tree    Tree
	files   fs.FS
	isRoot  func(fsys fs.FS, dir string, deep bool) (bool, error)
	visited int
	// manifests are the folders that Tree.Manifests lists.
	manifests map[string]bool
}

// unread adds what could not be read. The paths in errors are relative to the folder of the tree.
func (t *Tree) unread(err error) {
	t.Unread = append(t.Unread, fmt.Sprintf("in %s: %v", t.Dir, err))
}

// ReadContents reads the outlines of the roots, and calls ReadManifests. Look does not read these.
func (t *Tree) ReadContents() {
	t.ReadManifests()
	files := os.DirFS(t.Dir)
	for i := range t.Roots {
		var err error
		if t.Roots[i].Outline, err = terraform.ReadOutline(files, t.Roots[i].Dir); err != nil {
			t.unread(err)
		}
	}
}

// ReadManifests reads the overlays and the appliers.
func (t *Tree) ReadManifests() {
	files := os.DirFS(t.Dir)
	for _, dir := range t.Kustomizations {
		t.Overlays = append(t.Overlays, manifests.ReadOverlay(files, dir))
	}
	t.readAppliers()
}

// bounded ends the walk at a bound.
func (w *walk) bounded(most int, of string) error {
	w.tree.unread(fmt.Errorf("more than %d %s: the rest was not looked at; name folders below it", most, of))
	w.tree.Bounded = true
	return fs.SkipAll
}

func (w *walk) visit(ctx context.Context, name string, e fs.DirEntry, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if w.visited++; w.visited > maxVisited {
		return w.bounded(maxVisited, "files and folders")
	}
	switch {
	case err != nil:
		w.tree.unread(err)
		if e != nil && e.IsDir() {
			w.tree.Closed = append(w.tree.Closed, name)
			return fs.SkipDir
		}
		return nil
	case e.IsDir():
		return w.folder(name)
	case w.isFile(name, e):
		w.file(name)
	}
	return nil
}

// isFile reports whether an entry is a file, or a link to one.
func (w *walk) isFile(name string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular()
	}
	info, err := fs.Stat(w.files, name)
	return err == nil && info.Mode().IsRegular()
}

func (w *walk) folder(name string) error {
	switch base := path.Base(name); {
	case name == ".":
	case strings.HasPrefix(base, "."):
		return fs.SkipDir
	case base == "node_modules":
		if len(w.tree.LeftOut) < maxFound {
			w.tree.LeftOut = append(w.tree.LeftOut, name)
		}
		return fs.SkipDir
	}
	// There may be roots below a chart, but no manifests.
	if _, err := fs.Stat(w.files, path.Join(name, "Chart.yaml")); err == nil && !w.inChart(path.Dir(name)) {
		w.tree.Charts = append(w.tree.Charts, name)
	}
	holds, err := w.isRoot(w.files, name, false)
	if err != nil || !holds {
		return nil //nolint:nilerr // an unreadable folder is reported when it is walked
	}
	is, err := w.isRoot(w.files, name, name != ".")
	if err == nil && !is {
		w.tree.Modules = append(w.tree.Modules, name)
		return nil
	}
	if err != nil { // with a file that cannot be read, it may be a root
		w.tree.unread(err)
	}
	if len(w.tree.Roots) == maxFound {
		return w.bounded(maxFound, "Terraform roots")
	}
	w.tree.Roots = append(w.tree.Roots, Root{Dir: name})
	return nil
}

func (w *walk) file(name string) {
	dir := path.Dir(name)
	if w.inRoot(dir) || w.inChart(dir) {
		w.chartFile(name)
		return
	}
	if strings.HasPrefix(path.Base(name), ".") {
		return // manifests does not read it
	}
	looks, err := manifests.Resembles(w.files, name)
	if err != nil {
		w.tree.unread(err)
		w.tree.Closed = append(w.tree.Closed, name)
		return
	}
	for _, f := range []struct {
		found bool
		list  *[]string
		name  string
	}{{looks.Kustomization, &w.tree.Kustomizations, dir}, {looks.Flux, &w.tree.Flux, name}, {looks.ArgoCD, &w.tree.ArgoCD, name}} {
		if f.found && w.hasRoom(len(*f.list)) {
			*f.list = append(*f.list, f.name)
		}
	}
	if looks.Manifest && (w.manifests[dir] || w.hasRoom(len(w.manifests))) {
		w.manifests[dir] = true
	}
}

// chartFile records further values of a chart, and templates of objects of Argo CD.
func (w *walk) chartFile(name string) {
	if slices.Contains(w.tree.Charts, path.Dir(name)) && isValues(path.Base(name)) && len(w.tree.Values) < maxFound {
		w.tree.Values = append(w.tree.Values, name)
	}
	if w.inRoot(path.Dir(name)) || !strings.Contains(name, "/templates/") && !strings.HasPrefix(name, "templates/") {
		return
	}
	// One that cannot be read fails where the chart is rendered.
	if looks, err := manifests.Resembles(w.files, name); err == nil && looks.ArgoCD && w.hasRoom(len(w.tree.ArgoCD)) {
		w.tree.ArgoCD = append(w.tree.ArgoCD, name)
	}
}

// hasRoom reports whether a list can have one more element, and records if it cannot.
func (w *walk) hasRoom(n int) bool {
	if n < maxFound {
		return true
	}
	if !w.tree.Full {
		w.tree.unread(fmt.Errorf("more than %d folders of manifests, kustomizations, or files of Flux or Argo CD: the rest is not listed; name folders below it", maxFound))
		w.tree.Full = true
	}
	return false
}

// isValues reports whether a file of a chart has the name of values that are not its defaults.
func isValues(name string) bool {
	extension := path.Ext(name)
	return (extension == ".yaml" || extension == ".yml") && strings.HasPrefix(name, "values") && strings.TrimSuffix(name, extension) != "values"
}

// inRoot reports whether a folder is a root or below one.
func (w *walk) inRoot(dir string) bool {
	return slices.ContainsFunc(w.tree.Roots, func(r Root) bool { return within(dir, r.Dir) })
}

// inChart reports whether a folder is a chart or below one.
func (w *walk) inChart(dir string) bool { return w.tree.chartOf(dir) != "" }

// chartOf returns the chart that a folder is or is below; "" if there is none.
func (t *Tree) chartOf(dir string) string {
	i := slices.IndexFunc(t.Charts, func(chart string) bool { return within(dir, chart) })
	if i < 0 {
		return ""
	}
	return t.Charts[i]
}

// within reports whether a slash-separated path is below another one, or is it.
func within(name, dir string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// below returns the path of a file relative to a folder that contains it.
func below(file, dir string) (string, bool) {
	name, err := filepath.Rel(dir, file)
	return filepath.ToSlash(name), err == nil && filepath.IsLocal(name)
}
