package discipline

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/printable"
)

const lockFile = ".terraform.lock.hcl"

// terraform checks the folders with configuration files of Terraform, OpenTofu and Terragrunt.
func (c *checker) terraform(ctx context.Context, s *survey) error {
	isMember := terraform.Definition().IsMember
	var roots []*module
	called := map[string]bool{}
	for _, dir := range s.modules {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		m := c.module(dir)
		c.checkModule(m)
		is, err := isMember(c.Files, dir, true)
		if err != nil || !is || !m.native {
			continue // A file that cannot be read is a gap already.
		}
		roots = append(roots, m)
		c.local(m, called)
	}
	for _, root := range roots {
		c.checkRoot(root)
	}
	for _, dir := range s.modules {
		m := c.module(dir)
		if !called[dir] && !slices.Contains(roots, m) {
			c.checkConstraints(m, nil)
		}
	}
	return nil
}

// local adds the folders of the modules in the tree that a module calls, directly or indirectly.
func (c *checker) local(m *module, found map[string]bool) {
	for due := []*module{m}; len(due) > 0; due = due[1:] {
		for i := range due[0].calls {
			source := due[0].calls[i].source
			if !isLocal(source) {
				continue
			}
			if dir := path.Join(due[0].dir, source); fs.ValidPath(dir) && !found[dir] {
				found[dir] = true
				due = append(due, c.module(dir))
			}
		}
	}
}

// checkRoot compares the providers of a root, and of the local modules that it calls, with its lock file.
func (c *checker) checkRoot(root *module) {
	locked, exists, readable := c.lock(root.dir)
	if exists && !readable {
		return
	}
	needed := c.providers(root)
	var missing []string
	for _, address := range slices.Sorted(maps.Keys(needed)) {
		if !locked[address] {
			missing = append(missing, shown(address))
		}
	}
	at := root.first
	lockName := path.Join(root.dir, lockFile)
	switch {
	case exists && at.file != "" && c.isUncommitted(lockName, at.file):
		c.report(lockMissing, at.file, at.line, 0, lockFile, "is there, and is not committed")
	case len(missing) == 0:
	case exists:
		c.report(lockMissing, at.file, at.line, 0, lockFile, "has no entry for "+enumerate(missing))
	default:
		c.report(lockMissing, at.file, at.line, 0, "no "+lockFile, "pins the versions of "+enumerate(missing))
	}
	c.checkConstraints(root, locked)
}

// providers returns the addresses of the providers that a root and its local modules require.
func (c *checker) providers(root *module) map[string]bool {
	needed := map[string]bool{}
	dirs := map[string]bool{root.dir: true}
	c.local(root, dirs)
	for dir := range dirs {
		m := c.module(dir)
		for name := range m.uses {
			needed[m.addressOf(name)] = true
		}
		for name := range m.required {
			needed[m.addressOf(name)] = true
		}
	}
	delete(needed, builtin)
	return needed
}

// checkConstraints reports the providers of a module without a version constraint that no lock file pins.
func (c *checker) checkConstraints(m *module, locked map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(m.required)) {
		r := m.required[name]
		address := m.addressOf(name)
		if r.constrained || locked[address] || address == builtin {
			continue
		}
		c.report(providerUnpinned, r.at.file, r.at.line, 0, "provider "+shown(address), "has no version constraint")
	}
}

// checkModule reports what a module calls and reads, whether it is a root or not.
func (c *checker) checkModule(m *module) {
	for i := range m.calls {
		call := &m.calls[i]
		if problem := call.problem(); problem != "" {
			c.report(moduleUnpinned, call.at.file, call.at.line, call.block, "module "+printable.Line(call.name, 100), problem)
		}
	}
	for _, d := range m.implicit {
		c.report(implicitDependency, d.at.file, d.at.line, 0, "data."+printable.Line(d.address, 100), d.what)
	}
	for _, r := range m.ignoring {
		c.report(ignoreChanges, r.at.file, r.at.line, r.block, printable.Line(r.address, 100), "has ignore_changes = all")
	}
	for _, r := range m.ignored {
		c.report(ignoredAttribute, r.at.file, r.at.line, r.block, printable.Line(r.address, 100), "is in ignore_changes")
	}
	for _, r := range m.impure {
		c.report(impureFunction, r.at.file, r.at.line, r.block, printable.Line(r.address, 100), r.what)
	}
}

// lock returns the addresses of the providers in the lock file of a root.
func (c *checker) lock(dir string) (locked map[string]bool, exists, readable bool) {
	name := path.Join(dir, lockFile)
	if _, err := fs.Stat(c.Files, name); errors.Is(err, fs.ErrNotExist) {
		return nil, false, true
	}
	file := c.parse(name)
	if file == nil {
		return nil, true, false
	}
	locked = map[string]bool{}
	for _, block := range blocksOf(file.Body, header("provider", "address")) {
		locked[address(block.Labels[0])] = true
	}
	return locked, true, true
}

// builtin is the address of the provider that is a part of Terraform.
const builtin = "terraform.io/builtin/terraform"

// address returns the full source address of a provider, without the host of the public registries.
func address(source string) string {
	source = strings.ToLower(source)
	for _, host := range []string{"registry.terraform.io/", "registry.opentofu.org/"} {
		source = strings.TrimPrefix(source, host)
	}
	if source != "" && !strings.Contains(source, "/") {
		return "hashicorp/" + source
	}
	return source
}

// shown returns an address as in the configuration.
func shown(address string) string { return printable.Line(address, 100) }

// maxNamed bounds the names in one finding.
const maxNamed = 10

// enumerate returns names with commas.
func enumerate(names []string) string { return enumerateOf(names, len(names)) }
