package gitrepo

import (
	"io/fs"
	"path"
)

// entries returns, by name, the paths that determine the content of a file: its own path and,
// if it is a symbolic link, the path of the target before it. Files that do not exist are left
// out.
func (c *FS) entries(names []string) map[string][]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := make(map[string][]string, len(names))
	folders := map[string]*entry{}
	for _, name := range names {
		if !fs.ValidPath(name) {
			continue
		}
		dir := path.Dir(name)
		if _, seen := folders[dir]; !seen {
			folders[dir] = c.findFolder(dir)
		}
		if paths := c.entriesIn(folders[dir], name); len(paths) > 0 {
			found[name] = paths
		}
	}
	return found
}

// findFolder returns the folder at the path name, or nil.
func (c *FS) findFolder(name string) *entry {
	hops := 0
	e, err := c.find(name, &hops)
	if err != nil || !e.mode.IsDir() {
		return nil
	}
	return e
}

func (c *FS) entriesIn(parent *entry, name string) []string {
	if parent == nil {
		return nil
	}
	folder, err := c.folder(parent.hash)
	if err != nil {
		return nil
	}
	child, ok := folder[path.Base(name)]
	if !ok {
		return nil
	}
	e := c.entry(path.Join(parent.path, child.Name), child)
	if e.mode&fs.ModeSymlink == 0 {
		return []string{e.path}
	}
	hops := 0
	behind, err := c.find(name, &hops)
	if err != nil || behind.path == "." {
		return nil
	}
	return []string{behind.path, e.path}
}
