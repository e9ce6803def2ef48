package discipline

import (
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// A module is the content of a folder with configuration files.
type module struct {
	dir string
	// native reports whether there is a file that is not one of Terragrunt.
	native bool
	// first is the position of the block that stands for the module in findings: the first block terraform, or else the first of
	// any kind. hasFirst reports whether it is one of the former.
	first    place
	hasFirst bool
	// required are the entries of required_providers by local name, and uses the local names that resources, data sources and
	// configurations of providers use.
	required map[string]requirement
	uses     map[string]bool
	calls    []call
	implicit []dependency
	ignoring []dependency
	// ignored are attributes in ignore_changes, and impure the arguments that call a function whose result is another one in each
	// plan.
	ignored, impure []dependency
}

type place struct {
	file string
	line int
}

type requirement struct {
	source      string
	constrained bool
	at          place
}

// A call is a call of a module. Its source is "" if that is no literal text.
type call struct {
	name, source string
	// version is the version constraint. It is only valid if hasVersion and isLiteral are true.
	version               string
	hasVersion, isLiteral bool
	at                    place
	block                 int
}

// A dependency is a data source or a resource that a finding is about.
type dependency struct {
	address, what string
	at            place
	block         int
}

// module returns the module in a folder. Files that cannot be parsed are gaps.
func (c *checker) module(dir string) *module {
	if m := c.folders[dir]; m != nil {
		return m
	}
	m := &module{dir: dir, required: map[string]requirement{}, uses: map[string]bool{}}
	c.folders[dir] = m
	entries, err := fs.ReadDir(c.Files, dir)
	if err != nil {
		return m // The walk reports a folder below the root that cannot be read.
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if e.IsDir() || !terraform.IsConfiguration(e.Name()) || c.leadsNowhere(name, e) {
			continue
		}
		if file := c.parse(name); file != nil {
			m.add(name, file.Body, e.Type()&fs.ModeSymlink != 0)
		}
	}
	return m
}

// leadsNowhere reports whether an entry is a link to no file. Editors lock files with such links.
func (c *checker) leadsNowhere(name string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := fs.Stat(c.Files, name)
	return err == nil && !info.Mode().IsRegular()
}

// parse returns a parsed file; nil if it cannot be read or parsed, which is a gap.
func (c *checker) parse(name string) *hcl.File {
	text, ok := c.read(name)
	if !ok {
		return nil
	}
	file, err := syntax.Parse(path.Base(name), text)
	if err != nil {
		line, reason := 0, strings.TrimPrefix(err.Error(), "parse "+path.Base(name)+":")
		if number, rest, found := strings.Cut(reason, ":"); found {
			if line, err = strconv.Atoi(number); err == nil {
				reason = rest
			}
		}
		c.gap(name, line, strings.TrimSpace(reason))
		return nil
	}
	return file
}

func header(typ string, labels ...string) hcl.BlockHeaderSchema {
	return hcl.BlockHeaderSchema{Type: typ, LabelNames: labels}
}

func blocksOf(body hcl.Body, headers ...hcl.BlockHeaderSchema) hcl.Blocks {
	content, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: headers})
	return content.Blocks
}

// attribute returns an attribute of a body, or nil.
func attribute(body hcl.Body, name string) *hcl.Attribute {
	content, _, _ := body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: name}}})
	return content.Attributes[name]
}

// add adds the blocks of a file. A linked file adds no findings of its own: the file that it leads to does.
func (m *module) add(file string, body hcl.Body, linked bool) {
	if path.Base(file) == "terragrunt.hcl" || path.Base(file) == "terragrunt.hcl.json" {
		m.addTerragrunt(file, body)
		return
	}
	m.native = true
	for _, block := range blocksOf(body, header("terraform"), header("provider", "name"), header("resource", "type", "name"), header("data", "type", "name"),
		header("ephemeral", "type", "name"), header("module", "name")) {
		at := place{file, block.DefRange.Start.Line}
		if isTerraform := block.Type == "terraform"; m.first == (place{}) || isTerraform && !m.hasFirst {
			m.first, m.hasFirst = at, isTerraform
		}
		switch block.Type {
		case "terraform":
			m.require(file, block.Body)
		case "provider":
			m.uses[block.Labels[0]] = true
		case "module":
			if !linked {
				m.calls = append(m.calls, newCall(block.Labels[0], block.Body, at))
			}
		default:
			m.use(block, at, linked)
		}
	}
}

// require reads the blocks required_providers.
func (m *module) require(file string, body hcl.Body) {
	for _, block := range blocksOf(body, header("required_providers")) {
		attributes, _ := block.Body.JustAttributes()
		for name, a := range attributes {
			r := requirement{at: place{file, a.NameRange.Start.Line}}
			pairs, diags := hcl.ExprMap(a.Expr)
			if diags.HasErrors() {
				_, r.constrained = literal(a.Expr)
			}
			for _, pair := range pairs {
				switch key := keyOf(pair.Key); key {
				case "source":
					r.source, _ = literal(pair.Value)
				case "version":
					text, isLiteral := literal(pair.Value)
					r.constrained = !isLiteral || strings.TrimSpace(text) != ""
				}
			}
			m.required[name] = r
		}
	}
}

// keyOf returns the key of an object, which is a word or a text.
func keyOf(e hcl.Expression) string {
	if word := hcl.ExprAsKeyword(e); word != "" {
		return word
	}
	text, _ := literal(e)
	return text
}

// literal returns the value of an expression that is a literal text.
func literal(e hcl.Expression) (string, bool) {
	if len(e.Variables()) > 0 {
		return "", false
	}
	v, diags := e.Value(nil)
	if diags.HasErrors() || v.IsMarked() || !v.IsKnown() || v.IsNull() || v.Type() != cty.String {
		return "", false
	}
	return v.AsString(), true
}

// use records the provider of a resource or a data source, and what it is checked for.
func (m *module) use(block *hcl.Block, at place, linked bool) {
	typ, name := block.Labels[0], block.Labels[1]
	m.uses[providerOf(typ, block.Body)] = true
	if linked {
		return
	}
	if block.Type == "data" {
		if what := dependsOn(typ, block.Body); what != "" {
			m.implicit = append(m.implicit, dependency{address: typ + "." + name, what: what, at: at})
		}
	}
	ignored := map[string]bool{}
	for _, lifecycle := range blocksOf(block.Body, header("lifecycle")) {
		a := attribute(lifecycle.Body, "ignore_changes")
		switch {
		case a == nil:
		case ignoresAll(a.Expr):
			m.ignoring = append(m.ignoring, dependency{address: typ + "." + name, at: place{at.file, a.NameRange.Start.Line}, block: at.line})
			return
		default:
			m.ignoreEach(typ+"."+name, a.Expr, at, ignored)
		}
	}
	if block.Type == "resource" {
		m.useImpure(typ+"."+name, block.Body, at, ignored)
	}
}

// ignoresAll reports whether the value of ignore_changes is all.
func ignoresAll(e hcl.Expression) bool {
	text, _ := literal(e) // in JSON
	return hcl.ExprAsKeyword(e) == "all" || text == "all"
}

// providerOf returns the local name of the provider of a resource.
func providerOf(typ string, body hcl.Body) string {
	if a := attribute(body, "provider"); a != nil {
		if t, diags := hcl.AbsTraversalForExpr(a.Expr); !diags.HasErrors() {
			return t.RootName()
		}
	}
	name, _, _ := strings.Cut(typ, "_")
	return name
}

// dependsOn returns what a data source reads that is declared elsewhere; "" if it reads what its provider has.
func dependsOn(typ string, body hcl.Body) string {
	d, _ := syntax.ImplicitDependencyOf(typ)
	if d.IfMostRecent && !isTrue(attribute(body, syntax.MostRecent)) {
		return ""
	}
	return d.Reads
}

// isTrue reports whether an attribute is set to the constant true.
func isTrue(a *hcl.Attribute) bool {
	if a == nil {
		return false
	}
	v, diags := a.Expr.Value(nil)
	return !diags.HasErrors() && v.Type() == cty.Bool && v.IsKnown() && !v.IsNull() && v.True()
}

// addressOf returns the address of the provider with a local name.
func (m *module) addressOf(name string) string {
	r := m.required[name]
	if r.source == "" {
		if name == "terraform" {
			return builtin
		}
		return address(name)
	}
	return address(r.source)
}

// newCall returns the call of a module block. Its position is that of its source.
func newCall(name string, body hcl.Body, at place) call {
	c := call{name: name, at: at, block: at.line}
	if a := attribute(body, "source"); a != nil {
		c.source, _ = literal(a.Expr)
		c.at.line = a.NameRange.Start.Line
	}
	if a := attribute(body, "version"); a != nil {
		c.hasVersion = true
		c.version, c.isLiteral = literal(a.Expr)
	}
	return c
}

// addTerragrunt adds the source of a configuration of Terragrunt, which has no lock file of its own.
func (m *module) addTerragrunt(file string, body hcl.Body) {
	for _, block := range blocksOf(body, header("terraform")) {
		if attribute(block.Body, "source") != nil {
			m.calls = append(m.calls, newCall("of Terragrunt", block.Body, place{file, block.DefRange.Start.Line}))
		}
	}
}
