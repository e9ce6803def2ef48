package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/daemon"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// An adoption is a change of a folder of manifests that scans have to prove.
type adoption struct {
	cfg         *config.Config
	declaration config.Declaration
	folder      manifests.Config
	// file is the manifest, relative to the folder, and line that of the object.
	file    string
	line    int
	around  surroundings
	sources []daemon.Source
}

// A proof is the result of the scan with the change.
type proof struct {
	// left is the number of other findings on the resource.
	left int
	// codified reports whether only the record of what was applied is older.
	codified bool
}

// openSources opens the sources, so that all scans compare with one read.
func (a *adoption) openSources() error {
	opened, err := openAll(a.cfg.Sources, a.around.openSource)
	for i := range opened {
		opened[i].Collector = &readOnce{Collector: opened[i].Collector}
	}
	a.sources = opened
	return err
}

// readOnce is a collector that reads its source once, and returns the result again.
type readOnce struct {
	collectors.Collector
	once     sync.Once
	snapshot model.Snapshot
	err      error
}

// Collect returns the result of the first read.
func (r *readOnce) Collect(ctx context.Context) (model.Snapshot, error) {
	r.once.Do(func() { r.snapshot, r.err = r.Collector.Collect(ctx) })
	return r.snapshot, r.err
}

// prove scans a private copy of the declaration as it is and with the edited manifest.
func (a *adoption) prove(ctx context.Context, f *model.Finding, edited []byte) (p proof, err error) {
	work, err := os.MkdirTemp("", "driftd-adopt-")
	if err != nil {
		return p, fmt.Errorf("make a private copy: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	dir, err := a.copyTo(filepath.Join(work, "copy"))
	if err != nil {
		return p, fmt.Errorf("make a private copy: %w", err)
	}
	before, err := a.scan(ctx, dir, filepath.Join(work, "before"))
	if err != nil {
		return p, err
	}
	if !covers(before, f) {
		return p, errors.New("a scan now does not show the finding: it is over, or a source cannot be read")
	}
	if err := a.change(dir, edited); err != nil {
		return p, fmt.Errorf("change the private copy: %w", err)
	}
	after, err := a.scan(ctx, dir, filepath.Join(work, "after"))
	if err != nil {
		return p, err
	}
	return judge(f, before, after)
}

// change replaces the manifest in a private copy. It follows no symbolic link out of the copy.
func (a *adoption) change(dir string, edited []byte) error {
	name := a.file
	if name == "." {
		dir, name = filepath.Split(dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	err = root.Remove(name)
	if err == nil {
		err = root.WriteFile(name, edited, 0o600)
	}
	return errors.Join(err, root.Close())
}

// judge compares the findings of the scans with and without the change.
func judge(f *model.Finding, before, after []model.Finding) (p proof, err error) {
	for i := range after {
		g := &after[i]
		mine := g.Key == f.Key
		switch {
		case mine && g.Verdict == model.Codified: // live and declared agree
			p.codified = true
		case mine && touches(g, f):
			return p, fmt.Errorf("with the change, a scan still shows: %s", phrase.Subject(g))
		case !slices.ContainsFunc(before, func(b model.Finding) bool { return sameProblem(&b, g) }):
			return p, fmt.Errorf("with the change, a scan also shows: %s", phrase.Subject(g))
		case mine:
			p.left++
		}
	}
	return p, nil
}

// covers reports whether findings have every changed field of f.
func covers(all []model.Finding, f *model.Finding) bool {
	for i := range f.Changes {
		has := func(g model.Finding) bool {
			return g.Key == f.Key && g.Verdict.IsDrift() && slices.ContainsFunc(g.Changes, func(c model.Change) bool { return c.Path == f.Changes[i].Path })
		}
		if !slices.ContainsFunc(all, has) {
			return false
		}
	}
	return true
}

// touches reports whether g has a changed field of f, or is about the resource as a whole.
func touches(g, f *model.Finding) bool {
	return len(g.Changes) == 0 || slices.ContainsFunc(g.Changes, func(c model.Change) bool { return hasPath(f, c.Path) })
}

func hasPath(f *model.Finding, path string) bool {
	return slices.ContainsFunc(f.Changes, func(c model.Change) bool { return c.Path == path })
}

// sameProblem reports whether two findings of different scans are about the same fields.
func sameProblem(a, b *model.Finding) bool {
	return a.Key == b.Key && a.Declaration == b.Declaration && a.Verdict == b.Verdict && a.Reason == b.Reason &&
		slices.EqualFunc(a.Changes, b.Changes, func(x, y model.Change) bool { return x.Path == y.Path })
}

// scan compares a folder with the live systems, with a database of its own, so that neither scan
// depends on what is stored.
func (a *adoption) scan(ctx context.Context, dir, stateDir string) (found []model.Finding, err error) {
	cfg := *a.cfg
	cfg.StateDir, cfg.Sources = stateDir, nil
	d := a.declaration
	label := a.folder.Label
	if label == "" {
		label = strings.Trim(filepath.ToSlash(filepath.Base(a.folder.Dir)), "/.")
	}
	d.Settings = d.With(map[string]any{"dir": dir, "label": label})
	cfg.Declarations = []config.Declaration{d}
	estate, err := newEstate(&cfg, a.around)
	if err != nil {
		return nil, err
	}
	estate.Sources = a.sources
	options := storeOptions(&cfg, slog.New(slog.DiscardHandler))
	st, err := openSealed(&cfg, options, daemon.Reseal(estate.Secrets))
	if err != nil {
		return nil, err
	}
	engine := daemon.New(estate, daemon.Options{Store: st, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	r, err := engine.Cycle(ctx, engine.Everything())
	return r.Findings, errors.Join(err, st.Close())
}

// copyTo copies the declared folder, or the declared file, without .git.
func (a *adoption) copyTo(target string) (string, error) {
	root, err := filepath.EvalSymlinks(a.folder.Dir)
	if err != nil {
		return "", err
	}
	if a.file == "." {
		data, err := os.ReadFile(root)
		if err != nil {
			return "", err
		}
		if err := os.Mkdir(target, 0o700); err != nil {
			return "", err
		}
		name := filepath.Join(target, filepath.Base(a.folder.Dir))
		return name, os.WriteFile(name, data, 0o600)
	}
	return target, copyTree(root, target, a.folder.MaxFileSize)
}

// copyTree copies a folder. Files of more than limit bytes, which no declaration may have, are
// left out, and so is .git.
func copyTree(root, target string, limit int64) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		to := filepath.Join(target, name)
		switch {
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir():
			return os.Mkdir(to, 0o700)
		case entry.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, to)
		case !entry.Type().IsRegular():
			return nil
		}
		if info, err := entry.Info(); err != nil || info.Size() > limit {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o600)
	})
}

// checkNewFile returns an error for a file that exists, or that is in a git folder.
func checkNewFile(to string) error {
	absolute, err := resolved(to)
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	if slices.Contains(strings.Split(absolute, string(filepath.Separator)), ".git") {
		return fmt.Errorf("--to: %s is in a .git folder: name a file elsewhere", to)
	}
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("--to: %s exists already: name a new file", to)
	}
	return nil
}

// resolved returns the absolute path of a file that may not exist, without symbolic links in its
// folder.
func resolved(file string) (string, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(dir, filepath.Base(file)))
}

// inside reports whether a file is in a folder, or is it.
func inside(file, dir string) bool {
	absolute, err := resolved(file)
	if err != nil {
		return false
	}
	top, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	if top, err = filepath.Abs(top); err != nil {
		return false
	}
	name, err := filepath.Rel(top, absolute)
	return err == nil && filepath.IsLocal(name)
}

// writeNew writes a file that must not exist. Only the owner may read it.
func writeNew(to string, data []byte) error {
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(fmt.Errorf("--to: %w", err), os.Remove(to))
	}
	return nil
}
