// Package hclsource finds the files of a Terraform root that define a resource.
package hclsource

import (
	"cmp"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// Options are options for reading a root.
type Options struct {
	// Within is the folder outside of which no file is read, including files to which symbolic links refer.
	// "" means the root.
	Within string
	// VarFiles are variable files in addition to those that Terraform loads automatically. Their paths are
	// relative to the root, or absolute.
	VarFiles []string
	// Tofu reports whether to read .tofu files, which only OpenTofu reads.
	Tofu bool
}

// A Root is a Terraform root with its local modules. It reads each folder once.
type Root struct {
	Options

	dir string
	// within is Within without links; "" if it does not exist.
	within  string
	modules map[string]*module
}

// New returns the root in the folder dir. It does not read any files.
func New(dir string, o Options) *Root {
	o.Within = cmp.Or(o.Within, dir)
	target, err := filepath.EvalSymlinks(o.Within)
	if err != nil {
		target = ""
	}
	return &Root{Options: o, dir: dir, within: target, modules: map[string]*module{}}
}

// Files returns the paths, relative to the root and sorted, of the files that define the resource at an
// address: the file with its block, the files that set the variables and locals that the block uses, and
// the files that call its modules. It returns nil if the resource has no block, because the remaining files
// do not show which commit removed it.
func (r *Root) Files(address string) []string {
	found := map[string]bool{}
	for _, s := range r.steps(address) {
		s.module.follow(s.part, found)
	}
	return slices.Sorted(maps.Keys(found))
}

// A Position is a line of a file. The path of the file is relative to the root.
type Position struct {
	File string
	Line int
}

// Position returns the position of the block of the resource or check at an address. If the block is in a
// module whose files are not read, it returns the position of the innermost module call that can be read.
// ok is false if there is neither.
func (r *Root) Position(address string) (at Position, ok bool) {
	steps := r.steps(address)
	if len(steps) == 0 {
		return Position{}, false
	}
	return steps[len(steps)-1].at, true
}

// Ignored returns the ignore_changes of the resource at an address. It returns none if the resource is in a module whose
// files are not read.
func (r *Root) Ignored(address string) syntax.Ignored {
	steps := r.steps(address)
	if len(steps) == 0 {
		return syntax.Ignored{}
	}
	return steps[len(steps)-1].ignored
}

// A step is a part that leads to a resource, with the module that has it.
type step struct {
	part

	module *module
}

// steps returns the module calls that lead to the resource at an address, and its block unless it is in a module
// whose files are not read. It returns none if a call or the block is missing.
func (r *Root) steps(address string) []step {
	calls, resource := split(address)
	m := r.module(".")
	var all []step
	for _, name := range calls {
		call, known := m.calls[name]
		if !known {
			return nil
		}
		all = append(all, step{call.part, m})
		dir := path.Join(m.dir, call.source)
		if !isLocal(call.source) || !r.isInside(dir) {
			return all
		}
		m = r.module(dir)
	}
	block, known := m.blocks[resource]
	if !known {
		return nil
	}
	return append(all, step{block, m})
}

// maxModules bounds the number of folders that are read.
const maxModules = 2000

// module returns the parsed files of a folder, by its path from the root.
func (r *Root) module(dir string) *module {
	if m := r.modules[dir]; m != nil {
		return m
	}
	m := newModule(dir)
	if full := filepath.Join(r.dir, filepath.FromSlash(dir)); r.isInside(dir) && len(r.modules) < maxModules {
		r.scan(m, full)
		if dir == "." {
			r.scanValues(m, full)
		}
	}
	r.modules[dir] = m
	return m
}

// isInside reports whether the files of a folder may be read.
func (r *Root) isInside(dir string) bool {
	relative, err := filepath.Rel(r.Within, filepath.Join(r.dir, filepath.FromSlash(dir)))
	return err == nil && filepath.IsLocal(relative)
}

// mayRead reports whether a path is a regular file inside Within, without following links out of it, of a usual size.
func (r *Root) mayRead(file string) bool {
	target, err := filepath.EvalSymlinks(file)
	if err != nil || r.within == "" {
		return false
	}
	relative, err := filepath.Rel(r.within, target)
	if err != nil || !filepath.IsLocal(relative) {
		return false
	}
	info, err := os.Stat(target)
	return err == nil && info.Mode().IsRegular() && info.Size() <= maxFile
}

// isLocal reports whether a module source is a local path.
func isLocal(source string) bool {
	return strings.HasPrefix(source, "./") || strings.HasPrefix(source, "../")
}

// split returns the names of the module calls in an address, and the resource, all without indexes:
// module.net["a.b"].lab_server.web[0] is lab_server.web in module net.
func split(address string) (calls []string, resource string) {
	parts := strings.Split(withoutIndexes(address), ".")
	for len(parts) > 2 && parts[0] == "module" {
		calls, parts = append(calls, parts[1]), parts[2:]
	}
	return calls, strings.Join(parts, ".")
}

// withoutIndexes removes the brackets of an address and their content, which may be any quoted
// text.
func withoutIndexes(address string) string {
	var b strings.Builder
	quoted, escaped, depth := false, false, 0
	for _, c := range address {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth == 0:
			b.WriteRune(c)
		}
	}
	return b.String()
}
