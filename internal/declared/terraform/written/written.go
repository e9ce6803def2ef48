// Package written tells in which files of a Terraform root it is written what a
// resource is.
package written

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Root is a Terraform root, with the modules beside it. It reads each folder
// once.
type Root struct {
	dir, within string
	varFiles    []string
	modules     map[string]*module
}

// New returns the root in a folder, whose variables are set by its own files
// and by varFiles, which lie in it or are absolute. No file outside of the
// folder within is read; "" stands for the root's own.
func New(dir, within string, varFiles []string) *Root {
	if within == "" {
		within = dir
	}
	return &Root{dir: dir, within: within, varFiles: varFiles, modules: map[string]*module{}}
}

// Files returns the files that say what the resource at an address is, by path
// from the root, sorted: where its block is, where the variables and locals are
// set that the block uses, and where the modules are called that it lies in.
// Where there is no such block there are none: it was removed, and what is left
// does not tell by whom.
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

// maxModules bounds how many folders are read.
const maxModules = 2000

// module returns what a folder says, by its path from the root.
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

// isLocal tells a module that lies beside the root from one that is fetched.
func isLocal(source string) bool {
	return strings.HasPrefix(source, "./") || strings.HasPrefix(source, "../")
}

// split returns the names of the modules that an address leads through, and the
// resource in there, all without index: module.net["a.b"].lab_server.web[0]
// leads through net to lab_server.web.
func split(address string) (calls []string, resource string) {
	parts := strings.Split(withoutIndexes(address), ".")
	for len(parts) > 2 && parts[0] == "module" {
		calls, parts = append(calls, parts[1]), parts[2:]
	}
	return calls, strings.Join(parts, ".")
}

// withoutIndexes takes out what stands in brackets, which may hold any text in
// quotes.
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
