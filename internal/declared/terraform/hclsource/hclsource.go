// Package hclsource finds the files of a Terraform root that define a resource.
package hclsource

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Root is a Terraform root with its local modules. It reads each folder once.
type Root struct {
	dir, within string
	varFiles    []string
	modules     map[string]*module
}

// New returns the root in folder dir. varFiles set its variables, in addition to its own files;
// their paths are inside the root, or absolute. No file outside of the folder within is read; ""
// means dir.
func New(dir, within string, varFiles []string) *Root {
	if within == "" {
		within = dir
	}
	return &Root{dir: dir, within: within, varFiles: varFiles, modules: map[string]*module{}}
}

// Files returns the files that define the resource at an address, as sorted paths from the root:
// the file of its block, the files that set the variables and locals which the block uses, and the
// files that call its modules. It returns no files if there is no such block: the block was
// removed, and the remaining files do not show by which commit.
func (r *Root) Files(address string) []string {
	found := map[string]bool{}
	calls, resource := split(address)
	m := r.module(".")
	for _, name := range calls {
		call, known := m.calls[name]
		if !known {
			return nil
		}
		m.follow(call.part, found)
		if !isLocal(call.source) {
			return slices.Sorted(maps.Keys(found))
		}
		m = r.module(path.Join(m.dir, call.source))
	}
	block, known := m.resources[resource]
	if !known {
		return nil
	}
	m.follow(block, found)
	return slices.Sorted(maps.Keys(found))
}

// maxModules bounds the number of folders that are read.
const maxModules = 2000

// module returns the parsed files of a folder, by its path from the root.
func (r *Root) module(dir string) *module {
	if m := r.modules[dir]; m != nil {
		return m
	}
	m := newModule(dir)
	full := filepath.Join(r.dir, filepath.FromSlash(dir))
	if relative, err := filepath.Rel(r.within, full); err == nil && filepath.IsLocal(relative) && len(r.modules) < maxModules {
		m.scan(full)
		if dir == "." {
			m.scanValues(full, r.varFiles)
		}
	}
	r.modules[dir] = m
	return m
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
