package hclsource

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/driftd/driftd/internal/declared/folder"
	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// maxFile bounds a file, in bytes. Real configuration files are far smaller.
const maxFile = 8 << 20

// A module holds the parsed files of one folder. Files that cannot be parsed are left out.
type module struct {
	// dir is the path from the root.
	dir string
	// blocks are the resources, by type and name, and the checks, by check and name. The other maps are by name.
	blocks    map[string]part
	calls     map[string]call
	variables map[string]part
	locals    map[string]part
	// values are the files that set a variable.
	values map[string][]string
}

// A part is a block or local in a file, with the variables and locals that it uses.
type part struct {
	at   Position
	uses []use
	// overrides are the files that override arguments of the block.
	overrides []string
	// ignored is the ignore_changes of a resource, and ignores whether the block has one.
	ignored syntax.Ignored
	ignores bool
}

// A use is a reference: of is "var" or "local".
type use struct{ of, name string }

// A call is a call of the module at source.
type call struct {
	part

	source string
}

func newModule(dir string) *module {
	return &module{
		dir: dir, blocks: map[string]part{}, calls: map[string]call{}, variables: map[string]part{},
		locals: map[string]part{}, values: map[string][]string{},
	}
}

// follow adds the files of a part, and of all variables and locals that it uses, directly or
// indirectly.
func (m *module) follow(p part, found map[string]bool) {
	seen := map[use]bool{}
	due := []part{p}
	for len(due) > 0 {
		p, due = due[0], due[1:]
		found[p.at.File] = true
		for _, file := range p.overrides {
			found[file] = true
		}
		for _, u := range p.uses {
			if seen[u] {
				continue
			}
			seen[u] = true
			due = append(due, m.used(u)...)
		}
	}
}

// used returns the parts that define or set a variable or local.
func (m *module) used(u use) []part {
	if u.of == "local" {
		if p, known := m.locals[u.name]; known {
			return []part{p}
		}
		return nil
	}
	var parts []part
	if p, known := m.variables[u.name]; known {
		parts = append(parts, p)
	}
	for _, file := range m.values[u.name] {
		parts = append(parts, part{at: Position{File: file}})
	}
	return parts
}

// scan reads the configuration files of a folder.
func (r *Root) scan(m *module, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	for _, name := range names {
		full := filepath.Join(dir, name)
		if !r.isConfiguration(name) || r.isReplaced(name, names) || !r.mayRead(full) {
			continue
		}
		text, err := folder.ReadFile(full)
		if err != nil {
			continue
		}
		if file, _ := syntax.Parse(name, text); file != nil {
			m.read(path.Join(m.dir, name), file.Body)
		}
	}
}

// isConfiguration reports whether a file holds resources, variables or module calls.
func (r *Root) isConfiguration(name string) bool {
	_, suffix := syntax.SplitName(name)
	isTofu := strings.HasPrefix(suffix, ".tofu")
	return suffix != "" && (r.Tofu || !isTofu) || strings.TrimSuffix(name, ".json") == "terragrunt.hcl"
}

// isReplaced reports whether OpenTofu reads another file of the same name instead: main.tofu instead of main.tf. See
// https://opentofu.org/docs/language/files/
func (r *Root) isReplaced(name string, names []string) bool {
	stem, suffix := syntax.SplitName(name)
	format, found := strings.CutPrefix(suffix, ".tf")
	return r.Tofu && found && slices.Contains(names, stem+".tofu"+format)
}

func (m *module) read(file string, body hcl.Body) {
	content, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "resource", LabelNames: []string{"type", "name"}}, {Type: "module", LabelNames: []string{"name"}},
		{Type: "check", LabelNames: []string{"name"}}, {Type: "variable", LabelNames: []string{"name"}}, {Type: "locals"},
	}})
	for _, block := range content.Blocks {
		p := part{at: Position{file, lineOf(block)}, uses: uses(block.Body)}
		switch block.Type {
		case "resource":
			p.ignored, p.ignores = syntax.IgnoredBy(block.Body)
			m.addBlock(block.Labels[0]+"."+block.Labels[1], p)
		case "check":
			m.blocks["check."+block.Labels[0]] = p
		case "module":
			m.calls[block.Labels[0]] = call{p, source(block.Body)}
		case "variable":
			m.variables[block.Labels[0]] = part{at: p.at}
		case "locals":
			attributes, _ := block.Body.JustAttributes()
			for name, a := range attributes {
				m.locals[name] = part{at: Position{file, a.Range.Start.Line}, uses: usesOf(a.Expr.Variables())}
			}
		}
	}
}

// addBlock adds a block, or what a file overrides of one. The files are added in the order of their names, so that an
// override can come first.
func (m *module) addBlock(name string, p part) {
	if before, known := m.blocks[name]; known {
		if syntax.IsOverride(before.at.File) {
			before, p = p, before
		}
		if syntax.IsOverride(p.at.File) {
			before.uses, before.overrides = append(before.uses, p.uses...), append(slices.Concat(before.overrides, p.overrides), p.at.File)
			if p.ignores {
				before.ignored, before.ignores = p.ignored, true
			}
			p = before
		}
	}
	m.blocks[name] = p
}

// lineOf returns the line of the last label of a block. In JSON syntax, a block type can have several blocks, each of
// which begins with its last label.
func lineOf(block *hcl.Block) int {
	if n := len(block.LabelRanges); n > 0 {
		return block.LabelRanges[n-1].Start.Line
	}
	return block.DefRange.Start.Line
}

// source returns the source of a module call, or "" if it is not a literal string.
func source(body hcl.Body) string {
	content, _, _ := body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "source"}}})
	if a := content.Attributes["source"]; a != nil {
		if v, diags := a.Expr.Value(nil); !diags.HasErrors() && v.IsWhollyKnown() && !v.IsNull() && v.Type() == cty.String {
			return v.AsString()
		}
	}
	return ""
}

// uses returns the references in a block and all its nested blocks.
func uses(body hcl.Body) []use {
	native, ok := body.(*hclsyntax.Body)
	if !ok {
		var traversals []hcl.Traversal
		attributes, _ := body.JustAttributes()
		for _, a := range attributes {
			traversals = append(traversals, a.Expr.Variables()...)
		}
		return usesOf(traversals)
	}
	var traversals []hcl.Traversal
	// VisitAll returns only the errors of the visitor, which returns none.
	_ = hclsyntax.VisitAll(native, func(n hclsyntax.Node) hcl.Diagnostics {
		if e, ok := n.(*hclsyntax.ScopeTraversalExpr); ok {
			traversals = append(traversals, e.Traversal)
		}
		return nil
	})
	return usesOf(traversals)
}

func usesOf(traversals []hcl.Traversal) []use {
	var found []use
	for _, t := range traversals {
		if root := t.RootName(); len(t) < 2 || root != "var" && root != "local" {
			continue
		}
		if a, ok := t[1].(hcl.TraverseAttr); ok {
			found = append(found, use{t.RootName(), a.Name})
		}
	}
	return found
}

// scanValues reads the files that set the root's variables: those that Terraform loads by default,
// and the named ones.
func (r *Root) scanValues(m *module, dir string) {
	var names []string
	if entries, err := os.ReadDir(dir); err == nil {
		for _, e := range entries {
			if setsVariables(e.Name()) {
				names = append(names, e.Name())
			}
		}
	}
	for _, name := range r.VarFiles {
		if relative, err := filepath.Rel(dir, name); err == nil && filepath.IsAbs(name) {
			name = relative
		}
		names = append(names, filepath.Clean(name))
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		full, at := filepath.Join(dir, name), path.Join(m.dir, filepath.ToSlash(name))
		if !r.mayRead(full) {
			continue
		}
		for _, variable := range assigned(full) {
			m.values[variable] = append(m.values[variable], at)
		}
	}
}

// setsVariables reports whether Terraform loads a file of values by default.
func setsVariables(name string) bool {
	name = strings.TrimSuffix(name, ".json")
	return name == "terraform.tfvars" || strings.HasSuffix(name, ".auto.tfvars")
}

// assigned returns the variables that a file of values sets.
func assigned(file string) []string {
	text, err := folder.ReadFile(file)
	if err != nil {
		return nil
	}
	var names []string
	if strings.HasSuffix(file, ".json") {
		var values map[string]json.RawMessage
		if json.Unmarshal(text, &values) != nil {
			return nil
		}
		for name := range values {
			names = append(names, name)
		}
		return names
	}
	parsed, _ := syntax.Parse(filepath.Base(file), text)
	if parsed == nil {
		return nil
	}
	attributes, _ := parsed.Body.JustAttributes()
	for name := range attributes {
		names = append(names, name)
	}
	return names
}
