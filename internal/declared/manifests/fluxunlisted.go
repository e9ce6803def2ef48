package manifests

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// addUnlisted adds a note for each Kustomization of Flux that lies below a folder that Flux applies, and that no kustomization there lists.
func (r *fluxReader) addUnlisted() error {
	found, err := r.loader.plainFiles(r.ctx, r.tree, r.unlisted())
	if err != nil {
		return err
	}
	for _, o := range found.objects {
		if _, read := r.seen[inputID(o.value)]; !read && kindOf(o.value) == fluxKustomization && o.value.At("spec", "path").Str() != "" {
			r.all.remarks = append(r.all.remarks, model.Note{Address: o.address, Text: fmt.Sprintf("Kustomization %s of Flux is in no kustomization that Flux applies, so that nothing of it is declared: "+
				"list the file in resources, or remove it", shown(nameOf(o.value)))})
		}
	}
	return nil
}

// unlisted returns the files with objects of Flux that no kustomization lists, below the folders that Flux applies.
func (r *fluxReader) unlisted() (names []string) {
	known := map[string]bool{}
	for _, name := range r.all.files() {
		known[name] = true
	}
	searched, most := 0, r.loader.config.MaxFiles
	for _, dir := range slices.Compact(slices.Sorted(slices.Values(r.folders))) {
		// A folder that cannot be listed has its problem from the build.
		_ = fs.WalkDir(r.tree.files, dir, func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil || r.ctx.Err() != nil || searched > most:
				return fs.SkipAll
			case e.IsDir() && e.Name() == ".git":
				return fs.SkipDir
			case known[name] || !slices.Contains([]string{".yaml", ".yml"}, path.Ext(name)):
				return nil
			}
			known[name] = true
			searched++
			if data, err := readFile(r.tree.files, name, maxInline); err == nil && bytes.Contains(data, []byte("kustomize.toolkit.fluxcd.io/")) {
				names = append(names, name)
			}
			return nil
		})
	}
	if searched > most {
		r.all.remarks = append(r.all.remarks, model.Note{Text: fmt.Sprintf("more than %d files that no kustomization lists: not all were searched for Kustomizations of Flux; raise max_files", most)})
	}
	return names
}
