package policy

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// A reading reads the files of one module.
type reading struct {
	*scan
	*module

	// name is the file that is being read.
	name string
	// required are the sources of local names in required_providers. used are the local names that
	// the module uses.
	required map[string][]use
	used     []local
}

// A local is a use of a provider by its local name.
type local struct{ name, place, shown string }

// The bounds of recorded blocks. No CLI accepts a label of a kilobyte, and the record of each
// argument contains the labels of its block.
const (
	maxName   = 1 << 10
	maxBlocks = 100_000
)

func (r *reading) block(name, shown, place string) {
	switch {
	case len(name) > maxName || len(shown) > maxName:
		r.refuseToRead(fmt.Errorf("parse %s: a label or name of more than %d bytes", place, maxName))
		return
	case r.noted >= maxBlocks:
		r.refuseToRead(fmt.Errorf("read %s: more than %d blocks and arguments in all", r.name, maxBlocks))
		return
	}
	r.noted++
	r.blocks = append(r.blocks, Block{Name: name, Shown: shown, Place: place})
}

// maxUnread bounds the recorded errors of one module.
const maxUnread = 100

// refuseToRead records that driftd cannot read a part of the module.
func (r *reading) refuseToRead(err error) {
	if len(r.unread) < maxUnread {
		r.unread = append(r.unread, err)
	}
}

func (r *reading) place(at hcl.Range) string { return fmt.Sprintf("%s:%d", r.name, at.Start.Line) }

// content returns the blocks and attributes of a body. If the body does not match the schema, the
// file counts as unreadable.
func (r *reading) content(body hcl.Body, schema *hcl.BodySchema) *hcl.BodyContent {
	content, _, diags := body.PartialContent(schema)
	if diags.HasErrors() {
		r.refuseToRead(fmt.Errorf("parse %s: %s", r.place(body.MissingItemRange()), diags[0].Summary))
	}
	return content
}

func blockSchema(labels map[string][]string, attributes ...string) *hcl.BodySchema {
	schema := &hcl.BodySchema{}
	for name, l := range labels {
		schema.Blocks = append(schema.Blocks, hcl.BlockHeaderSchema{Type: name, LabelNames: l})
	}
	for _, name := range attributes {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name})
	}
	return schema
}

// body reads the blocks of a file.
func (r *reading) body(body hcl.Body) {
	typed, named := []string{"type", "name"}, []string{"name"}
	content := r.content(body, blockSchema(map[string][]string{"terraform": nil, "provider": named, "module": named, "check": named,
		"removed": nil, "resource": typed, "data": typed, "ephemeral": typed, "action": typed}))
	for _, b := range content.Blocks {
		switch b.Type {
		case "terraform":
			r.settings(b.Body)
		case "provider":
			r.provider(b)
		case "module":
			r.call(b)
		case "check":
			for _, data := range r.content(b.Body, blockSchema(map[string][]string{"data": typed})).Blocks {
				r.resource(data)
			}
		default:
			r.resource(b)
		}
	}
}

// resource reads a resource, data, ephemeral, action or removed block.
func (r *reading) resource(b *hcl.Block) {
	place, shown := r.place(b.DefRange), shownBlock(b)
	content := r.content(b.Body, blockSchema(map[string][]string{"provisioner": {"type"}}, "provider"))
	for _, p := range content.Blocks {
		r.block("provisioner."+p.Labels[0], shownBlock(p), r.place(p.DefRange))
	}
	if len(b.Labels) == 0 {
		return
	}
	r.block(b.Type+"."+b.Labels[0], shown, place)
	if b.Labels[0] == "terraform_remote_state" {
		// Its arguments are those of a backend, and may run programs.
		r.arguments(b.Type+"."+b.Labels[0], shown, b.Body)
	}
	if a := content.Attributes["provider"]; a != nil {
		r.uses(place, shown, roots(a.Expr)...)
		return
	}
	name, _, _ := strings.Cut(b.Labels[0], "_")
	r.uses(place, shown, name)
}

func shownBlock(b *hcl.Block) string {
	words := []string{b.Type}
	for _, label := range b.Labels {
		words = append(words, strconv.Quote(label))
	}
	return strings.Join(words, " ")
}

// uses records uses of providers by their local names.
func (r *reading) uses(place, shown string, names ...string) {
	for _, name := range names {
		r.used = append(r.used, local{name, place, shown})
	}
}

// roots returns the first names of the references in an expression.
func roots(e hcl.Expression) []string {
	var names []string
	if text, ok := constantText(e); ok {
		// The old form "aws.west", also used in JSON.
		name, _, _ := strings.Cut(text, ".")
		return []string{name}
	}
	for _, t := range e.Variables() {
		if !slices.Contains([]string{"each", "count", "var", "local", "path", "self", "terraform", "module", "data"}, t.RootName()) {
			names = append(names, t.RootName())
		}
	}
	return names
}

// constantText returns the value of an expression that is a constant string.
func constantText(e hcl.Expression) (string, bool) {
	v, diags := e.Value(nil)
	if diags.HasErrors() || !v.IsWhollyKnown() || v.IsNull() || v.Type() != cty.String {
		return "", false
	}
	return v.AsString(), true
}

// provider reads a provider block.
func (r *reading) provider(b *hcl.Block) {
	name := b.Labels[0]
	r.block("provider."+name, shownBlock(b), r.place(b.DefRange))
	r.uses(r.place(b.DefRange), shownBlock(b), name)
	r.arguments("provider."+name, shownBlock(b), b.Body)
}

// settings reads a terraform block.
func (r *reading) settings(body hcl.Body) {
	typed := []string{"type"}
	content := r.content(body, blockSchema(map[string][]string{"backend": typed, "cloud": nil, "state_store": typed,
		"encryption": nil, "required_providers": nil}))
	for _, b := range content.Blocks {
		switch b.Type {
		case "required_providers":
			r.requirements(b.Body)
		case "encryption":
			for _, e := range r.content(b.Body, blockSchema(map[string][]string{"key_provider": {"type", "name"}, "method": {"type", "name"}})).Blocks {
				name := "encryption." + e.Type + "." + e.Labels[0]
				r.block(name, shownBlock(e), r.place(e.DefRange))
				r.arguments(name, shownBlock(e), e.Body)
			}
		default:
			name := strings.Join(append([]string{b.Type}, b.Labels...), ".")
			if b.Type == "cloud" {
				name = "backend.cloud"
			}
			if b.Type == "state_store" {
				local, _, _ := strings.Cut(b.Labels[0], "_")
				r.uses(r.place(b.DefRange), shownBlock(b), local)
			}
			r.block(name, shownBlock(b), r.place(b.DefRange))
			r.arguments(name, shownBlock(b), b.Body)
		}
	}
}

// requirements reads a required_providers block.
func (r *reading) requirements(body hcl.Body) {
	attributes, diags := body.JustAttributes()
	if diags.HasErrors() {
		r.refuseToRead(fmt.Errorf("parse %s: %s", r.place(body.MissingItemRange()), diags[0].Summary))
	}
	for name, a := range attributes {
		u := use{place: r.place(a.NameRange), shown: "required_providers." + name, address: implied(name)}
		pairs, diags := hcl.ExprMap(a.Expr)
		if _, isVersion := constantText(a.Expr); diags.HasErrors() && !isVersion {
			u.unknown = true
		}
		for _, pair := range pairs {
			if key, ok := keyText(pair.Key); ok && key != "source" {
				continue
			}
			text, ok := constantText(pair.Value)
			parsed, err := parseAddress(text)
			u.address, u.unknown = parsed, !ok || err != nil
		}
		r.required[name] = append(r.required[name], u)
		r.providers = append(r.providers, u)
	}
}

// keyText returns a key of an object.
func keyText(e hcl.Expression) (string, bool) {
	if name := hcl.ExprAsKeyword(e); name != "" {
		return name, true
	}
	return constantText(e)
}

// resolve adds the implied providers: local names that are used but not in required_providers.
func (r *reading) resolve() {
	for _, l := range r.used {
		if len(r.required[l.name]) == 0 {
			r.providers = append(r.providers, use{place: l.place, shown: l.shown, address: implied(l.name)})
		}
	}
}

// call reads a module call.
func (r *reading) call(b *hcl.Block) {
	c := call{place: r.place(b.DefRange), shown: shownBlock(b)}
	content := r.content(b.Body, blockSchema(nil, "source", "version", "providers"))
	if a := content.Attributes["providers"]; a != nil {
		pairs, _ := hcl.ExprMap(a.Expr)
		for _, pair := range pairs {
			r.uses(c.place, c.shown, roots(pair.Value)...)
		}
	}
	a := content.Attributes["source"]
	if a == nil {
		return // an override file, or an error that the CLI reports
	}
	text, ok := constantText(a.Expr)
	switch {
	case !ok:
		c.err = errors.New("its source is not a constant, and allow.modules is set")
	case isLocal(text):
		c.local, c.dir = true, filepath.Join(r.dir, filepath.FromSlash(text))
		if !r.inside(r.module, c.dir) {
			c.leadsOut = text
		}
	default:
		c.source, c.err = parseSource(text)
		version := ""
		if v := content.Attributes["version"]; v != nil {
			version, _ = constantText(v.Expr)
		}
		if c.err == nil && !c.source.pinned(version) {
			r.block("module.unpinned", c.shown+" from "+c.source.String(), c.place)
		}
	}
	r.calls = append(r.calls, c)
}
