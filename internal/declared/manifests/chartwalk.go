package manifests

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/driftd/driftd/internal/bounded"
)

// maxLinks bounds the links to folders on the path of a file of a chart.
const maxLinks = 4

// A chartWalk lists the files of a chart. Like Helm, it follows symbolic links.
type chartWalk struct {
	ctx   context.Context //nolint:containedctx // a walk lives for one call
	tree  *tree
	limit int
	files []string
	// excluded reports whether a file is left out; nil leaves out none.
	excluded func(name string) bool
	// linked reports whether there is a symbolic link.
	linked bool
	// archive is set for the archive of a chart that is not in the tree. It is in files.
	archive string
}

// chartFiles lists the files of the chart in the declared folder.
func (l *loader) chartFiles(ctx context.Context, t *tree) (*chartWalk, error) {
	if l.fetched != nil {
		return &chartWalk{archive: archiveFile, files: []string{archiveFile}}, nil
	}
	w := &chartWalk{ctx: ctx, tree: t, limit: l.config.MaxFiles, excluded: l.excluded}
	info, err := fs.Stat(t.files, t.Root)
	switch {
	case err == nil && !info.IsDir():
		return nil, fmt.Errorf("read chart: %s is a file, and packaged charts are not read: name the folder of the chart", t.Root)
	case err == nil:
		_, err = fs.Stat(t.files, path.Join(t.Root, chartFile))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read chart: %w in %s of %s; check the path", errNoChart, t.Root, t.where)
	}
	if err == nil {
		err = w.folder(t.Root, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("read chart: %w", err)
	}
	return w, nil
}

func (w *chartWalk) folder(dir string, links int) error {
	if w.ctx.Err() != nil {
		return w.ctx.Err()
	}
	entries, err := fs.ReadDir(w.tree.files, dir)
	if err != nil {
		return fmt.Errorf("%s: %w", w.tree.address(dir), bounded.Cause(err))
	}
	for _, e := range entries {
		if err := w.entry(path.Join(dir, e.Name()), e, links); err != nil {
			return err
		}
	}
	return nil
}

func (w *chartWalk) entry(name string, e fs.DirEntry, links int) error {
	isDir := e.IsDir()
	if e.Type()&fs.ModeSymlink != 0 {
		w.linked = true
		info, err := fs.Stat(w.tree.files, name)
		if err != nil {
			return fmt.Errorf("%s: a symbolic link that cannot be followed", w.tree.address(name))
		}
		if isDir = info.IsDir(); isDir {
			links++
		}
	}
	switch {
	case isDir && e.Name() == ".git":
		return nil
	case links > maxLinks:
		return fmt.Errorf("%s: more than %d links to folders within each other", w.tree.address(name), maxLinks)
	case isDir:
		return w.folder(name, links)
	case w.excluded != nil && w.excluded(name):
		return nil
	case len(w.files) == w.limit:
		return fmt.Errorf("more than %d files in the chart", w.limit)
	}
	w.files = append(w.files, name)
	return nil
}
