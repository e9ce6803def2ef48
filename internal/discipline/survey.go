package discipline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/declared/terraform"
)

// Bounds of a tree: the files and folders that are visited, the depth of folders, and the bytes of a file.
const (
	maxVisited = 1_000_000
	maxDepth   = 100
	maxFile    = 16 << 20
)

// A survey lists what there is to check.
type survey struct {
	// modules are the folders with files of Terraform, charts the folders of Helm charts, and manifests the files that may
	// have objects of Kubernetes.
	modules, charts, manifests []string

	visited int
}

// survey walks the tree. It follows no symbolic link to a folder.
func (c *checker) survey(ctx context.Context) (*survey, error) {
	s := &survey{}
	info, err := fs.Stat(c.Files, c.Root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		s.manifests = []string{c.Root}
		return s, nil
	}
	err = fs.WalkDir(c.Files, c.Root, func(name string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return c.visit(s, name, e, err)
	})
	for _, list := range []*[]string{&s.modules, &s.charts, &s.manifests} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return s, err
}

func (c *checker) visit(s *survey, name string, e fs.DirEntry, err error) error {
	if s.visited++; s.visited > maxVisited {
		c.gap(c.Root, 0, fmt.Sprintf("more than %d files and folders: name folders below it", maxVisited))
		return fs.SkipAll
	}
	switch {
	case err != nil && name == c.Root:
		return err
	case err != nil:
		c.gap(name, 0, bounded.Cause(err).Error())
		if e != nil && e.IsDir() {
			return fs.SkipDir
		}
		return nil
	case e.IsDir():
		return c.visitFolder(name)
	}
	c.visitFile(s, name, e)
	return nil
}

func (c *checker) visitFolder(name string) error {
	if name == c.Root {
		return nil
	}
	switch base := path.Base(name); {
	case strings.HasPrefix(base, "."):
		return fs.SkipDir
	case slices.Contains([]string{"node_modules", "vendor", "examples", "example", "testdata", "fixtures"}, base):
		if len(c.leftOut) < maxFindings {
			c.leftOut = append(c.leftOut, name)
		}
		return fs.SkipDir
	case strings.Count(name, "/")-strings.Count(c.Root, "/") >= maxDepth:
		c.gap(name, 0, fmt.Sprintf("more than %d folders deep", maxDepth))
		return fs.SkipDir
	}
	return nil
}

func (c *checker) visitFile(s *survey, name string, e fs.DirEntry) {
	dir := path.Dir(name)
	switch base := path.Base(name); {
	case strings.HasPrefix(base, "."):
	case terraform.IsConfiguration(base):
		if len(s.modules) == 0 || s.modules[len(s.modules)-1] != dir {
			s.modules = append(s.modules, dir)
		}
	case base == "Chart.yaml":
		s.charts = append(s.charts, dir)
	case isManifest(base):
		// A link leads to a file that is visited itself, or out of the tree.
		if e.Type()&fs.ModeSymlink == 0 {
			s.manifests = append(s.manifests, name)
		}
	}
}

// isManifest reports whether a file may have objects of Kubernetes, by its name.
func isManifest(base string) bool {
	return base == "Kustomization" || slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(path.Ext(base)))
}

// inChart reports whether a path is in the folder of a chart, and not that folder itself.
func (s *survey) inChart(name string) bool {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if _, found := slices.BinarySearch(s.charts, dir); found {
			return true
		}
		if dir == "." || dir == "/" {
			return false
		}
	}
}

// read returns the content of a file that is checked. A file that cannot be read is a gap, unless it does not exist.
func (c *checker) read(name string) ([]byte, bool) {
	text, ok := c.load(name)
	if ok {
		c.note(name, text)
	}
	return text, ok
}

// note records that a file is checked, and its comments.
func (c *checker) note(name string, text []byte) {
	c.files[name] = true
	c.noteComments(name, text)
}

// load returns the content of a file. One that cannot be read is a gap, unless it does not exist.
func (c *checker) load(name string) ([]byte, bool) {
	info, err := fs.Stat(c.Files, name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	var text []byte
	if err == nil {
		text, err = bounded.ReadFile(c.Files, name, maxFile)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, bounded.ErrTooLarge):
		c.gap(name, 0, fmt.Sprintf("larger than %d MiB", maxFile>>20))
	case err != nil:
		c.gap(name, 0, bounded.Cause(err).Error())
	}
	return text, err == nil
}
