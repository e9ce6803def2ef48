package workcopy

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

// Limits limit the size of a copy.
type Limits struct {
	Files int
	Bytes int64
}

// ErrTooLarge is returned if a copy exceeds its limits.
var ErrTooLarge = errors.New("the folder is too large to copy")

// ErrLeadsOut is returned if a contained copy has a symbolic link that leads out of the repository.
var ErrLeadsOut = errors.New("the link leads out of the repository, and allow or refuse is set")

// A Source describes a root to copy.
type Source struct {
	// Root is the folder in which the CLI runs.
	Root string
	// Within is the top of a git repository, outside of which nothing is copied. "" means no restriction.
	// Whole copies the whole repository.
	Within string
	Whole  bool
	// Absent maps missing files to the reasons, by slash-separated path below Within. Copy returns an error
	// if one of them is in a folder that it copies.
	Absent map[string]error
	absent absences
	// Except is a folder that is not copied: driftd's own. Stateless excludes the state files of the
	// root. It is set if the root has a backend block, because init would migrate them to that backend.
	Except    string
	Stateless bool
	// Contained makes Copy return an error for a symbolic link that leads out of Within, or out of Root if
	// Within is "". It also excludes test files: init would fetch their modules, and plans do not read
	// them. Sealed copies such a link as a link, because the authors of the root must not choose which
	// files driftd reads.
	Contained, Sealed bool
	Limits            Limits
	// Received, if not nil, is called with the path of each file and folder that is copied, or to which a
	// link in a sealed copy leads. The path contains no symbolic links.
	Received func(path string, isDir bool)
}

// Copy copies a root and the folders that its modules need to the folder to. It returns the path of the
// root in the copy. The folders keep their relative paths.
//
// Copy replaces symbolic links by copies of their targets. It skips files that no CLI reads: .git,
// .terraform, the cache of Terragrunt, and the lock infos and backups of states.
func Copy(ctx context.Context, s Source, to string) (string, error) {
	root, err := filepath.EvalSymlinks(s.Root)
	if err != nil {
		return "", fmt.Errorf("copy root: %w", err)
	}
	s.Root = root
	c := copier{limits: s.Limits, received: s.Received, except: []string{s.Except}, done: map[string]bool{}}
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

// borders returns the folders that links must not lead out of, or none.
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

// wanted returns the folders to copy: the root, the outside paths in its files, the outside paths
// in the files there, and so on. Parent folders come first.
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

// outside returns the paths in the files of a folder that are outside of the folder. A path may be
// relative to the module or to the root, so both are included.
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

// allows reports whether a path may be copied.
func (s Source) allows(path string) bool {
	if s.Within == "" {
		return filepath.Dir(path) != path
	}
	return holds(s.Within, path)
}

// holds reports whether path is dir or below it.
func holds(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// folders returns a folder and its subfolders, except those that are not copied.
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

// Skips reports whether Copy skips files and folders with the given name.
func Skips(name string) bool { return skipped(name) }

func skipped(name string) bool {
	switch name {
	case ".git", ".terraform", ".terragrunt-cache", "node_modules", "crash.log":
		return true
	}
	return strings.HasSuffix(name, ".tfstate.lock.info") || strings.HasSuffix(name, ".tfstate.backup")
}

// isTest reports whether a file is read only by `terraform test` or `tofu test`.
func isTest(name string) bool {
	name, isHCL := strings.CutSuffix(name, ".hcl")
	name, isJSON := strings.CutSuffix(name, ".json")
	return (isHCL || isJSON) && (strings.HasSuffix(name, ".tftest") || strings.HasSuffix(name, ".tofutest"))
}

// commonFolder returns the deepest folder that contains all the paths.
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

// maxDepth bounds the nesting of folders. It also ends circular links.
const maxDepth = 64

type copier struct {
	limits   Limits
	received func(path string, isDir bool)
	// border is the folder that no link may lead out of, or "".
	border string
	except []string
	// inside are the folders that are being copied. A link to one of them is circular, and is left
	// out.
	inside []string
	done   map[string]bool
	absent absences
	// borders are the folders that links must not lead out of. It is empty if there is no
	// restriction.
	borders []string
}

// leadsOut returns the target of a path outside of the borders, or "". Below the copied folders,
// only a link can have one.
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
		// A broken link belongs to no module.
		return nil
	case err != nil:
		return fmt.Errorf("copy root: %w", err)
	case c.leadsOut(from, depth) != "":
		c.report(c.leadsOut(from, depth), info.IsDir())
		return errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.Symlink(c.leadsOut(from, depth), to))
	case depth > maxDepth:
		return fmt.Errorf("copy %s: more than %d levels of folders: check for circular links", from, maxDepth)
	case info.IsDir():
		return c.copyDir(ctx, from, to, depth)
	case info.Mode().IsRegular():
		return c.copyFile(from, to, info)
	}
	return nil
}

func (c *copier) report(place string, isDir bool) {
	if c.received != nil {
		c.received(place, isDir)
	}
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
	c.report(place, true)
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

// contained returns an error if links in a path lead out of the border.
func (c *copier) contained(path string) error {
	if c.border == "" {
		return nil
	}
	target, err := filepath.EvalSymlinks(path)
	if err == nil && !holds(c.border, target) {
		return fmt.Errorf("copy %s: %w", path, ErrLeadsOut)
	}
	return nil // a broken link is left out
}

func (c *copier) copyFile(from, to string, info fs.FileInfo) error {
	c.limits.Files--
	c.limits.Bytes -= info.Size()
	if c.limits.Files < 0 || c.limits.Bytes < 0 {
		return fmt.Errorf("copy %s: %w; set a smaller root, or move files that Terraform does not need out of it",
			from, ErrTooLarge)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("copy root: %w", err)
	}
	place, err := filepath.EvalSymlinks(from)
	if err != nil {
		return fmt.Errorf("copy root: %w", err)
	}
	c.report(place, false)
	in, err := folder.OpenFile(from)
	if err != nil {
		return fmt.Errorf("copy root: %w", err)
	}
	// The content was already read, so an error of Close does not matter.
	defer func() { _ = in.Close() }()
	// The permissions of the owner are kept, because external data sources run programs in the
	// root.
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()&0o700|0o600)
	if err != nil {
		return fmt.Errorf("copy root: %w", err)
	}
	if _, err := io.Copy(out, io.LimitReader(in, info.Size())); err != nil {
		return errors.Join(fmt.Errorf("copy %s: %w", from, err), out.Close())
	}
	return out.Close()
}
