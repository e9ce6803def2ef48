package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/daemon"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// An adoption is a change of a declaration that scans have to prove.
type adoption struct {
	cfg     *config.Config
	around  surroundings
	sources []daemon.Source
	files   adopter
}

// An adopter edits the files of one type of declaration.
type adopter interface {
	// edited returns a loader of the declaration with a change; nil is the declaration as it is.
	edited(of declared.Loader, c *change) (declared.Loader, error)
	// changes returns the changes that may adopt a finding, the likeliest first. It is called after
	// a scan of the declaration as it is.
	changes(ctx context.Context, f *model.Finding) ([]change, error)
	// check returns an error if the last scan with a change contradicts it.
	check(f *model.Finding) error
	// place is where the declaration is.
	place() place
	// branch returns a branch with a change.
	branch(c *change) gitrepo.NewBranch
}

// A place is where a declaration is: its folder, or its path in a repository, with the commit of the scan
// without a change, which is "" before that scan.
type place struct{ dir, path, revision string }

// A change is a file with its new content.
type change struct {
	// name is the path of the file from the top of the repository or folder, and shown its name in
	// messages.
	name, shown string
	content     []byte
	// added is set for a file that the declaration does not have.
	added bool
}

// A proof is the result of the scan with a change.
type proof struct {
	change change
	// left is the number of other findings on the resource.
	left int
	// codified reports whether only the record of what was applied is older.
	codified bool
	// imported reports whether the next apply imports the resource.
	imported bool
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

// kinds returns the kinds of a source that was read; nil before.
func (a *adoption) kinds(source string) map[string]*model.Kind {
	for i := range a.sources {
		if r, ok := a.sources[i].Collector.(*readOnce); ok && a.sources[i].Name == source {
			return r.snapshot.Kinds
		}
	}
	return nil
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

// prove scans the declaration as it is and with each of the changes, until one is proved.
func (a *adoption) prove(ctx context.Context, f *model.Finding) (p proof, err error) {
	if dir := a.files.place().dir; dir != "" {
		a.files = atHead{a.files, gitrepo.HeadOf(dir)}
	}
	before, err := a.scan(ctx, nil)
	if err != nil {
		return p, err
	}
	if !covers(before, f) {
		return p, errors.New("a scan now does not show the finding: it is over, or a source cannot be read")
	}
	changes, err := a.files.changes(ctx, f)
	if err != nil {
		return p, err
	}
	for i := range changes {
		p, err = a.try(ctx, f, before, &changes[i])
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	return p, err
}

// try scans the declaration with a change.
func (a *adoption) try(ctx context.Context, f *model.Finding, before []model.Finding, c *change) (proof, error) {
	after, err := a.scan(ctx, c)
	if err == nil {
		err = a.files.check(f)
	}
	if err != nil {
		return proof{}, err
	}
	p, err := judge(f, before, after)
	p.change = *c
	return p, err
}

// judge compares the findings of the scans with and without the change.
func judge(f *model.Finding, before, after []model.Finding) (p proof, err error) {
	for i := range after {
		g := &after[i]
		mine := g.Key == f.Key
		switch {
		case mine && g.Verdict == model.Codified: // live and declared agree
			p.codified = true
		case mine && f.Verdict == model.Unmanaged && g.Verdict == model.Pending && len(g.Changes) == 0:
			p.imported = true
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
	if f.Verdict == model.Unmanaged {
		return slices.ContainsFunc(all, func(g model.Finding) bool { return g.Key == f.Key && g.Verdict == f.Verdict })
	}
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

// scan compares the declaration with the live systems, with a database of its own, so that no scan
// depends on what is stored.
func (a *adoption) scan(ctx context.Context, c *change) ([]model.Finding, error) {
	estate, err := newEstate(a.cfg, a.around)
	if err != nil {
		return nil, err
	}
	estate.Sources = a.sources
	if estate.Declarations[0].Loader, err = a.files.edited(estate.Declarations[0].Loader, c); err != nil {
		return nil, err
	}
	found, _, err := scanApart(ctx, a.cfg, estate)
	return found, err
}

// checkNewFile returns an error for a file that exists, or that is in a git folder.
func checkNewFile(to string) error {
	absolute, err := resolved(to)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--to: the folder %s does not exist: make it, or name a file in an existing one", filepath.Dir(to))
	}
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

// declares reports whether a file would be in the declaration: in its folder, or, after the scans, in
// the same place of a work tree that has the scanned commit, from where git add would add it.
func (a *adoption) declares(file string) bool {
	at := a.files.place()
	if at.dir != "" {
		return inside(file, at.dir)
	}
	absolute, err := resolved(file)
	if err != nil {
		return false
	}
	top := gitrepo.TopOf(filepath.Dir(absolute))
	return top != "" && at.revision != "" && inside(absolute, filepath.Join(top, filepath.FromSlash(at.path))) && gitrepo.HasCommit(top, at.revision)
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
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}
