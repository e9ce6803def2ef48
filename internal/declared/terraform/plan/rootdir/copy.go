package rootdir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared/folder"
)

// Limits bound a copy.
type Limits struct {
	Files int
	Bytes int64
}

// ErrTooLarge is the error of a copy that would go over its limits.
var ErrTooLarge = errors.New("the folder is too large to copy")

// ErrLeadsOut is the error of a contained copy.
var ErrLeadsOut = errors.New("the link leads out of the repository, and allow or refuse is set")

// A Source is what is copied.
type Source struct {
	// Root is the folder that the CLI runs in.
	Root string
	// Within is the folder beyond which nothing is copied (the top of a git
	// repository), "" for none. Whole tells to copy all of it.
	Within string
	Whole  bool
	// Absent are files that are missing below Within, by their slash-separated path
	// from there, each with the reason. Copy fails if one of them lies where the root
	// or a folder that its files name is copied from.
	Absent map[string]error
	absent absences
	// Except is a folder that is left out: driftd's own. Stateless leaves out the
	// states of a root that has no backend block, for one that has: init would
	// take them for what is to be migrated.
	Except    string
	Stateless bool
	// Contained makes a link that leads out of Within, or out of Root without one, an error. It
	// leaves out the files of tests: init would fetch their modules, and no plan reads them.
	// Sealed copies one as a link: whoever writes the root must not choose what driftd reads.
	Contained, Sealed bool
	Limits            Limits
}

// Copy copies a root, and what its modules need beside it, into the folder to,
// and returns where the root lies in there. Folders keep their places to one
// another.
//
// A link is copied as what it leads to. What no CLI reads is left out: .git,
// .terraform, Terragrunt's cache, lock infos and backups of states.
func Copy(ctx context.Context, s Source, to string) (string, error) {
	root, err := filepath.EvalSymlinks(s.Root)
	if err != nil {
		return "", fmt.Errorf("copy root: %w", err)
	}
	s.Root = root
	c := copier{limits: s.Limits, except: []string{s.Except}, done: map[string]bool{}}
	if s.Contained {
		if c.border, err = filepath.EvalSymlinks(cmp.Or(s.Within, root)); err != nil {
			return "", fmt.Errorf("copy root: %w", err)
		}
		s.Within = c.border
	}
	if s.absent, err = absentBelow(s.Within, s.Absent); err != nil {
		return "", fmt.Errorf("copy root: %w", err)
	}
	wanted, err := s.wanted(ctx)
	if err != nil {
		return "", err
	}
	needed := len(wanted)
	if s.Whole && s.Within != "" {
		wanted = append(wanted, s.Within)
	}
	base := commonFolder(wanted)
	c.absent, c.borders = s.absent, s.borders(wanted)
	if s.Stateless {
		c.except = append(c.except, filepath.Join(root, "terraform.tfstate"), filepath.Join(root, "terraform.tfstate.d"))
	}
	for i, path := range wanted {
		if i == needed {
			c.absent = nil
		}
		if err := c.contained(path); err != nil {
			return "", err
		}
		if err := c.copy(ctx, path, filepath.Join(to, strings.TrimPrefix(path, base)), 0); err != nil {
			return "", err
		}
	}
	return filepath.Join(to, strings.TrimPrefix(root, base)), nil
}

// borders returns the folders that links must not lead out of; none where they may.
func (s Source) borders(wanted []string) []string {
	if !s.Sealed {
		return nil
	}
	if s.Within != "" {
		wanted = []string{s.Within, s.Root}
	}
	var borders []string
	for _, path := range wanted {
		if place, err := filepath.EvalSymlinks(path); err == nil {
			borders = append(borders, place)
		}
	}
	return borders
}

// wanted returns what is copied: the root, what its files speak of outside of
// it, what the files there speak of, and so on; the widest folders come first.
func (s Source) wanted(ctx context.Context) ([]string, error) {
	wanted := []string{s.Root}
	for i := 0; i < len(wanted); i++ {
		for _, dir := range s.folders(wanted[i]) {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			for _, path := range s.outside(dir) {
				if !slices.ContainsFunc(wanted, func(w string) bool { return holds(w, path) }) {
					wanted = append(wanted, path)
				}
			}
		}
	}
	slices.SortFunc(wanted, func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) })
	return wanted, nil
}

// outside returns what the files of a folder speak of outside of it. Nothing
// tells whether a path begins at the module or at the root.
func (s Source) outside(dir string) []string {
	var found []string
	for _, text := range Scan(dir).Outside {
		for _, from := range []string{dir, s.Root} {
			path := filepath.Join(from, text)
			if !s.allows(path) {
				continue
			}
			if _, err := os.Stat(path); err == nil || s.absent.of(path) != nil {
				found = append(found, path)
			}
		}
	}
	return found
}

// allows tells whether a path may be copied.
func (s Source) allows(path string) bool {
	if s.Within == "" {
		return filepath.Dir(path) != path
	}
	return holds(s.Within, path)
}

// holds tells whether path lies in dir, or is it.
func holds(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// folders returns a folder and those below it, without those that are not
// copied.
func (s Source) folders(path string) []string {
	var list []string
	// A folder that cannot be read fails when it is copied.
	_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil, d.IsDir() && p != path && (skipped(d.Name()) || p == s.Except):
			return fs.SkipDir
		case d.IsDir():
			list = append(list, p)
		}
		return nil
	})
	return list
}

func skipped(name string) bool {
	switch name {
	case ".git", ".terraform", ".terragrunt-cache", "node_modules", "crash.log":
		return true
	}
	return strings.HasSuffix(name, ".tfstate.lock.info") || strings.HasSuffix(name, ".tfstate.backup")
}

// isTest reports whether a file is one of `terraform test` or `tofu test`.
func isTest(name string) bool {
	name, isHCL := strings.CutSuffix(name, ".hcl")
	name, isJSON := strings.CutSuffix(name, ".json")
	return (isHCL || isJSON) && (strings.HasSuffix(name, ".tftest") || strings.HasSuffix(name, ".tofutest"))
}

// commonFolder returns the folder that holds all the paths.
func commonFolder(paths []string) string {
	base := paths[0]
	if info, err := os.Stat(base); err == nil && !info.IsDir() {
		base = filepath.Dir(base)
	}
	for slices.ContainsFunc(paths, func(p string) bool { return !holds(base, p) }) {
		base = filepath.Dir(base)
	}
	return base
}

// maxDepth bounds folders, and with them links that lead in a circle.
const maxDepth = 64

type copier struct {
	limits Limits
	// border is the folder that no link may lead out of, "" for none.
	border string
	except []string
	// inside are the folders that are being copied: a link back to one of them
	// leads in a circle, and is left out.
	inside []string
	done   map[string]bool
	absent absences
	// borders are the folders that links must not lead out of; none where they may.
	borders []string
}

// leadsOut returns where a path leads out of the borders, "" where it does not. Below
// the paths that were asked for, only a link does.
func (c *copier) leadsOut(path string, depth int) string {
	if len(c.borders) == 0 {
		return ""
	}
	if info, err := os.Lstat(path); err != nil || depth > 0 && info.Mode()&fs.ModeSymlink == 0 {
		return ""
	}
	place, err := filepath.EvalSymlinks(path)
	if err != nil || slices.ContainsFunc(c.borders, func(b string) bool { return holds(b, place) }) {
		return ""
	}
	return place
}

// copy copies a file or folder.
func (c *copier) copy(ctx context.Context, from, to string, depth int) error {
	if c.done[to] || slices.Contains(c.except, from) {
		return nil
	}
	c.done[to] = true
	info, err := os.Stat(from)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, fs.ErrNotExist) && c.absent.of(from) != nil:
		return c.absent.of(from)
	case errors.Is(err, fs.ErrNotExist) && depth > 0:
		// A link that leads nowhere is nobody's module.
		return nil
	case err != nil:
		return fmt.Errorf("copy root: %w", err)
	case c.leadsOut(from, depth) != "":
		return errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.Symlink(c.leadsOut(from, depth), to))
	case depth > maxDepth:
		return fmt.Errorf("copy %s: more than %d folders deep: does a link lead in a circle?", from, maxDepth)
	case info.IsDir():
		return c.copyDir(ctx, from, to, depth)
	case info.Mode().IsRegular():
		return c.copyFile(from, to, info)
	}
	return nil
}

func (c *copier) copyDir(ctx context.Context, from, to string, depth int) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return fmt.Errorf("copy root: %w", err)
	}
	place, err := filepath.EvalSymlinks(from)
	if err != nil {
		return fmt.Errorf("copy root: %w", err)
	}
	if slices.Contains(c.inside, place) {
		return nil
	}
	if err := c.absent.in(place); err != nil {
		return err
	}
	c.inside = append(c.inside, place)
	defer func() { c.inside = c.inside[:len(c.inside)-1] }()
	if err := os.MkdirAll(to, 0o700); err != nil {
		return fmt.Errorf("copy root: %w", err)
	}
	for _, e := range entries {
		if skipped(e.Name()) || c.border != "" && isTest(e.Name()) {
			continue
		}
		if e.Type()&fs.ModeSymlink != 0 {
			if err := c.contained(filepath.Join(from, e.Name())); err != nil {
				return err
			}
		}
		if err := c.copy(ctx, filepath.Join(from, e.Name()), filepath.Join(to, e.Name()), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// contained returns an error for a path that links lead out of the border.
func (c *copier) contained(path string) error {
	if c.border == "" {
		return nil
	}
	target, err := filepath.EvalSymlinks(path)
	if err == nil && !holds(c.border, target) {
		return fmt.Errorf("copy %s: %w", path, ErrLeadsOut)
	}
	return nil // A link that leads nowhere is left out.
}

func (c *copier) copyFile(from, to string, info fs.FileInfo) error {
	c.limits.Files--
	c.limits.Bytes -= info.Size()
	if c.limits.Files < 0 || c.limits.Bytes < 0 {
		return fmt.Errorf("copy %s: %w; name a smaller root, or move what Terraform does not need out of it",
			from, ErrTooLarge)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("copy root: %w", err)
	}
	in, err := folder.OpenFile(from)
	if err != nil {
		return fmt.Errorf("copy root: %w", err)
	}
	// What was read is read, whatever closing says.
	defer func() { _ = in.Close() }()
	// Owner bits are kept: programs of external data sources are run.
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()&0o700|0o600)
	if err != nil {
		return fmt.Errorf("copy root: %w", err)
	}
	if _, err := io.Copy(out, io.LimitReader(in, info.Size())); err != nil {
		return errors.Join(fmt.Errorf("copy %s: %w", from, err), out.Close())
	}
	return out.Close()
}
