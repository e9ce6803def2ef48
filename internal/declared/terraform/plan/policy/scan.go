package policy

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared/folder"
	"github.com/driftd/driftd/internal/declared/terraform/plan/workcopy"
	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// The bounds of a scan.
const (
	maxFile    = 8 << 20
	maxModules = 2000
)

// A scan holds the parsed modules of a root.
type scan struct {
	Root
	modules []*module
	seen    map[string]bool
	// noted is the number of blocks in all modules.
	noted int
}

// A module holds the relevant content of one folder's files.
type module struct {
	// dir is the folder. pack is the folder of the fetched package that has it, or "" for the
	// repository.
	dir, pack string
	// prefix replaces dir in messages. It precedes the name of a file.
	prefix    string
	blocks    []Block
	calls     []call
	providers []use
	// unread are the files that could not be parsed.
	unread []error
}

// A call is a module call.
type call struct {
	place, shown string
	local        bool
	// dir is the folder of a local module. leadsOut is its source if that is outside of the
	// repository.
	dir, leadsOut string
	source        source
	// err is the reason why the source is unknown.
	err error
}

// A use is a use of a provider.
type use struct {
	place, shown string
	address      address
	// unknown is set if the source is not a constant.
	unknown bool
}

func newScan(r Root) *scan { return &scan{Root: r, seen: map[string]bool{}} }

// local reads a root and the local modules that it calls.
func (r Root) local() *scan {
	s := newScan(r)
	s.add(r.Dir, "", prefixOf(r.Shown))
	for due := s.modules; len(due) > 0; {
		known := len(s.modules)
		for _, m := range due {
			for _, c := range m.calls {
				if c.local && c.leadsOut == "" {
					s.add(c.dir, "", prefixOf(path.Join(r.Shown, relative(r.Dir, c.dir))))
				}
			}
		}
		due = s.modules[known:]
	}
	return s
}

// fetched reads a root and its modules as init installed them. If it returns an error, modules may
// be missing.
func (r Root) fetched() (*scan, error) {
	s := newScan(r)
	s.add(r.Dir, "", prefixOf(r.Shown))
	packages := filepath.Join(r.Data, "modules")
	list, err := workcopy.Modules(filepath.Join(packages, "modules.json"))
	for _, m := range list {
		dir := m.Dir
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(r.Dir, dir)
		}
		if below, ok := strings.CutPrefix(dir, packages+"/"); ok {
			name, _, _ := strings.Cut(below, "/")
			s.add(dir, filepath.Join(packages, name), "module "+m.Key+": ")
			continue
		}
		s.add(dir, "", prefixOf(path.Join(r.Shown, relative(r.Dir, dir))))
	}
	if len(s.modules) >= maxModules {
		err = cmp.Or(err, fmt.Errorf("more than %d modules", maxModules))
	}
	return s, err
}

func prefixOf(shown string) string {
	if shown == "" || shown == "." {
		return ""
	}
	return shown + "/"
}

// relative returns the path of dir from the folder from; both are absolute.
func relative(from, dir string) string {
	way, err := filepath.Rel(from, dir)
	if err != nil {
		return dir
	}
	return filepath.ToSlash(way)
}

// add reads a folder once. The CLI reports missing folders.
func (s *scan) add(dir, pack, prefix string) {
	if s.seen[dir] || len(s.modules) >= maxModules {
		return
	}
	s.seen[dir] = true
	m := &module{dir: dir, pack: pack, prefix: prefix}
	s.modules = append(s.modules, m)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		m.unread = append(m.unread, fmt.Errorf("list %s: %w", strings.TrimSuffix(prefix, "/"), errors.Unwrap(err)))
	}
	reading := &reading{scan: s, module: m, required: map[string][]use{}}
	for _, e := range entries {
		if syntax.IsConfiguration(e.Name()) { // of x.tf and x.tofu, both
			reading.file(e.Name())
		}
	}
	reading.resolve()
	if dir == s.Dir {
		reading.rest()
	}
}

// file reads one file of the module.
func (r *reading) file(name string) {
	full := filepath.Join(r.module.dir, name)
	info, err := os.Stat(full)
	switch {
	case err == nil && info.IsDir():
		return
	case err == nil && info.Size() > maxFile:
		err = fmt.Errorf("more than %d MiB", maxFile>>20)
	}
	var text []byte
	if err == nil {
		text, err = folder.ReadFile(full)
	}
	if err != nil {
		if failed, ok := errors.AsType[*os.PathError](err); ok {
			err = failed.Err // without the name of the private copy
		}
		r.module.unread = append(r.module.unread, fmt.Errorf("read %s%s: %w", r.module.prefix, name, err))
		return
	}
	file, err := syntax.Parse(r.module.prefix+name, text)
	if err != nil {
		r.module.unread = append(r.module.unread, err)
	}
	if file == nil {
		return
	}
	r.name = r.module.prefix + name
	r.body(file.Body)
	r.functions(file.Body, text)
}

// rest reads the other inputs of the CLI: the programs in terraform.d, and the files that complete
// the backend block.
func (r *reading) rest() {
	const plugins = "terraform.d/plugins"
	if _, err := os.Lstat(filepath.Join(r.module.dir, plugins)); !errors.Is(err, os.ErrNotExist) {
		r.block("plugins.folder", r.module.prefix+plugins, "")
	}
	r.name = r.module.prefix + ".terraform/terraform.tfstate"
	r.remembered("backend.file", r.scan.Remembered)
	for _, name := range r.scan.BackendFiles {
		if filepath.IsAbs(name) {
			continue
		}
		text, err := folder.ReadBounded(filepath.Join(r.module.dir, name), maxFile)
		if errors.Is(err, folder.ErrTooLarge) {
			r.refuseToRead(fmt.Errorf("read %s%s: more than %d MiB", r.module.prefix, name, maxFile>>20))
		}
		if err != nil {
			continue // init reports the error.
		}
		r.name = r.module.prefix + name
		file, err := syntax.Parse(r.name, text)
		if err != nil {
			r.module.unread = append(r.module.unread, err)
			continue
		}
		r.arguments("backend.file", "the backend's file", file.Body)
	}
}

// remembered records the arguments that complete the backend block and are not in a configuration
// file.
func (r *reading) remembered(prefix string, arguments map[string]any) {
	for name, value := range arguments {
		r.block(prefix+"."+name, "the backend of the last init: "+name, r.name)
		items, isList := value.([]any)
		if !isList {
			items = []any{value}
		}
		for _, item := range items {
			if below, ok := item.(map[string]any); ok && len(prefix)+len(name) < maxName {
				r.remembered(prefix+"."+name, below)
			}
		}
	}
}

// maxNotes bounds the notes, because they are stored and shown with every scan.
const maxNotes = 500

// notes returns the dangerous parts, sorted by place, without duplicates.
func (s *scan) notes() []Note {
	var notes []Note
	for _, m := range s.modules {
		for _, b := range m.blocks {
			if d, ok := reportable(b); ok {
				notes = append(notes, Note{b.Place, b.Shown + " " + d.does})
			}
		}
	}
	slices.SortFunc(notes, func(a, b Note) int { return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.Text, b.Text)) })
	notes = slices.Compact(notes)
	if more := len(notes) - maxNotes; more > 0 {
		notes = append(notes[:maxNotes:maxNotes], Note{notes[maxNotes].Place, fmt.Sprintf("from here on: %d more dangerous blocks that are not listed", more)})
	}
	return notes
}
