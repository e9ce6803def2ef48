// Package acceptances reads accepted findings from a file named acceptances.yaml, in a folder or at a
// commit of a git repository. It also writes such files.
package acceptances

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/await"
	"github.com/driftd/driftd/internal/declared/folder"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/model"
)

// Type is the type of declarations of acceptances.
const Type = "acceptances"

// fileName is the name of the file in a folder.
const fileName = "acceptances.yaml"

// maxSize is the maximum size of the file, in bytes.
const maxSize = 16 << 20

// Config configures a declaration of acceptances. The path is that of the file, or of the folder that
// contains it.
type Config struct {
	gitrepo.Place `mapstructure:",squash"`
	// Lookback bounds how far the history is read to find the authors of failed checks.
	gitrepo.Lookback `mapstructure:",squash"`
	// Timeout is the maximum duration of one reading.
	Timeout time.Duration `mapstructure:"timeout"`
}

// Defaults returns the default settings.
func Defaults() Config {
	return Config{Place: gitrepo.DefaultPlace(), Lookback: gitrepo.Lookback{Commits: gitrepo.DefaultLookback}, Timeout: 2 * time.Minute}
}

// Definition returns the definition of the loader type "acceptances". Its declarations govern no sources,
// because each acceptance names its own.
func Definition() declared.Definition {
	d := declared.Define(Type, Defaults(), open)
	d.Alone, d.ClaimsNothing = true, true
	return d
}

func open(env declared.Env, config Config) (declared.Loader, error) {
	if err := cmp.Or(config.Place.Check(Type), config.Lookback.Check()); err != nil {
		return nil, err
	}
	switch {
	case config.Timeout <= 0:
		return nil, fmt.Errorf("timeout %s: want more than 0", config.Timeout)
	case len(env.Governs) > 0:
		return nil, errors.New("governs: acceptances govern no sources, because each names its own: leave governs out")
	}
	repository, err := config.OpenWithHistory(env.CloneDir, config.Lookback, env.Log)
	return &loader{name: env.Name, config: config, repository: repository, workTree: gitrepo.NewWorkTree(config.Lookback, env.Log), check: env.Check}, err
}

type loader struct {
	name   string
	config Config
	// repository is nil for a folder.
	repository *gitrepo.Repository
	// workTree has the history of a folder.
	workTree *gitrepo.WorkTree
	// check is nil if no checks are configured.
	check declared.Check
}

// Load implements declared.Loader. It reports an invalid entry as a Problem and uses the other entries. If
// the file cannot be read or parsed, Load returns an error.
func (l *loader) Load(ctx context.Context) (model.Declaration, error) {
	if l.repository == nil {
		return await.Within(ctx, l.config.Timeout, l.folder)
	}
	return await.Within(ctx, l.config.Timeout, l.git)
}

func (l *loader) folder(ctx context.Context) (d model.Declaration, err error) {
	if err := ctx.Err(); err != nil {
		return model.Declaration{}, fmt.Errorf("read acceptances: %w", err)
	}
	dir, name := place(l.config.Dir)
	files, err := folder.Open(dir)
	if err != nil {
		return model.Declaration{}, fmt.Errorf("read acceptances in %s: %w", l.config.Dir, err)
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	touches := func(ctx context.Context, names []string) map[string]gitrepo.Touch {
		return l.workTree.Touches(ctx, dir, names)
	}
	return l.read(ctx, gitrepo.Commit{}, touches, files, name, l.config.Dir)
}

// place returns the folder of a path, or the folder and the name of a file. The path itself
// may be a symbolic link to anywhere; links inside the folder must stay inside.
func place(at string) (dir, name string) {
	if resolved, err := filepath.EvalSymlinks(at); err == nil {
		at = resolved
	}
	if info, err := os.Stat(at); err == nil && info.IsDir() {
		return at, "."
	}
	return filepath.Dir(at), filepath.Base(at)
}

func (l *loader) git(ctx context.Context) (d model.Declaration, err error) {
	err = l.repository.Read(ctx, l.config.Ref, func(c gitrepo.Commit) error {
		d, err = l.read(ctx, c, c.Touches, c.Files, l.config.Root(), fmt.Sprintf("%s at %.12s", l.repository.URL(), c.Hash))
		return err
	})
	return d, err
}

// read reads the file at root, or in the folder root. where is the place of the file in error messages.
func (l *loader) read(ctx context.Context, c gitrepo.Commit, touches gitrepo.TouchesFunc, files fs.FS, root, where string) (model.Declaration, error) {
	name, data, err := readFile(files, root)
	if err != nil {
		return model.Declaration{}, fmt.Errorf("read acceptances in %s: %w", where, err)
	}
	address := name
	if l.repository == nil {
		address = path.Base(name)
	}
	f, err := parse(data)
	if err != nil {
		return model.Declaration{}, fmt.Errorf("read %s in %s: %w", address, where, err)
	}
	d := model.Declaration{Name: l.name, Revision: c.Hash, Revised: c.When,
		Decisions: f.decisions(l.name, address, c.When), Problems: f.problems(address)}
	if l.check == nil {
		return d, nil
	}
	addChecks, err := l.check(ctx, declared.Files{FS: files, Root: name, Pinned: c.Pinned(), Address: func(string) string { return address },
		Authors: touches.Authors})
	if err != nil {
		return model.Declaration{}, err
	}
	addChecks(&d)
	return d, nil
}

// readFile returns the file's name and content.
func readFile(files fs.FS, root string) (name string, data []byte, err error) {
	name = root
	info, err := fs.Stat(files, name)
	if err == nil && info.IsDir() {
		name = path.Join(root, fileName)
		info, err = fs.Stat(files, name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, fmt.Errorf("there is no %s: check the path, or create the file with `driftd accept --export`", name)
	case err != nil:
		return "", nil, err
	case !info.Mode().IsRegular():
		return "", nil, fmt.Errorf("%s is not a regular file", name)
	}
	data, err = bounded.ReadFile(files, name, maxSize)
	if errors.Is(err, bounded.ErrTooLarge) {
		err = fmt.Errorf("%s is larger than %d MiB", name, maxSize>>20)
	}
	return name, data, err
}
