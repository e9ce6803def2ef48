// Package literal evaluates the values that a Terraform configuration sets for a resource, if its files
// alone determine them: literals, and expressions of variables and locals with literal values. It does not
// run Terraform, and does not use providers, data sources or environment variables.
package literal

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/driftd/driftd/internal/model"
)

// Options determine the values of variables of the root module, in addition to its own files.
type Options struct {
	// VarFiles are variable files inside the root, in the order in which they are passed to Terraform.
	VarFiles []string
	// Foreign reports whether a source other than the files, such as the environment or a command-line
	// option, may set a variable. The value of such a variable is unknown.
	Foreign func(variable string) bool
}

// A Presence reports whether a configuration declares an instance.
type Presence uint8

// The values of a Presence. Maybe means that the resource block exists, but that its count or for_each is
// unknown.
const (
	Absent Presence = iota
	Present
	Maybe
)

// A Resource contains the values that a configuration sets for one instance of a resource.
type Resource struct {
	Presence Presence
	// Value maps attributes to their values, and types of nested blocks to lists of such maps. It does not
	// contain null attributes.
	Value model.Value
	// Unknown are the paths of unknown values: field names and list positions. Values below such a path are
	// also unknown. An empty path means the whole Value.
	Unknown [][]string
	// Secret are the paths of values that come from sensitive variables.
	Secret [][]string
}

// unknown returns a resource that may exist and whose value is unknown.
func unknown() Resource { return Resource{Presence: Maybe, Unknown: [][]string{{}}} }

// A Root is the configuration of a root module at one commit. It reads each folder once. It is not safe for
// concurrent use.
type Root struct {
	files   fs.FS
	dir     string
	options Options
	parser  *Parser
	modules map[string]*module
}

// NewRoot returns the root module in the folder dir of files; "." is their top. The roots of several
// commits can share a parser.
func NewRoot(files fs.FS, dir string, o Options, p *Parser) *Root {
	return &Root{files: files, dir: path.Clean(dir), options: o, parser: p, modules: map[string]*module{}}
}

// Resource evaluates the instance at an address such as module.net["a"].lab_server.web[0]. It returns an
// error if the files of a module in the address cannot be read or parsed.
func (r *Root) Resource(address string) (Resource, error) {
	a, err := parseAddress(address)
	if err != nil {
		return Resource{}, err
	}
	m := r.module(r.dir)
	s := newScope(m, r.rootInputs(m))
	for _, call := range a.calls {
		var found Presence
		if s, found, err = r.enter(s, call); err != nil || found != Present {
			return elsewhere(found), err
		}
	}
	if err := s.module.err; err != nil {
		return Resource{}, err
	}
	if s.module.opaque {
		return unknown(), nil
	}
	block, known := s.module.resources[a.resource]
	if !known {
		return Resource{}, nil
	}
	return s.resource(block, a.key), nil
}

// elsewhere returns the resource to report if a module cannot be entered.
func elsewhere(call Presence) Resource {
	if call == Maybe {
		return unknown()
	}
	return Resource{}
}

// enter returns the scope of a module that s calls.
func (r *Root) enter(s *scope, call step) (*scope, Presence, error) {
	if err := s.module.err; err != nil {
		return nil, Absent, err
	}
	if s.module.opaque {
		return nil, Maybe, nil
	}
	body, known := s.module.calls[call.name]
	if !known {
		return nil, Absent, nil
	}
	attributes := attributesOf(body)
	repeated, found := s.instance(attributes, nil, call.key)
	if found != Present {
		return nil, found, nil
	}
	source := sourceOf(attributes)
	if !strings.HasPrefix(source, "./") && !strings.HasPrefix(source, "../") {
		return nil, Maybe, nil
	}
	dir := path.Join(s.module.dir, source)
	if dir == ".." || strings.HasPrefix(dir, "../") {
		return nil, Maybe, nil
	}
	child := r.module(dir)
	return newScope(child, inputsOf(child, repeated, attributes)), Present, child.err
}

// sourceOf returns the source of a module call, or "" if it is not literal.
func sourceOf(attributes hcl.Attributes) string {
	a := attributes["source"]
	if a == nil {
		return ""
	}
	v, diags := a.Expr.Value(nil)
	if diags.HasErrors() || !v.IsKnown() || v.IsNull() || v.Type() != cty.String {
		return ""
	}
	return v.AsString()
}

// An address leads through module calls to a resource.
type address struct {
	calls    []step
	resource string
	key      cty.Value
}

// A step is a name with an instance key; the key is cty.NilVal if there is none.
type step struct {
	name string
	key  cty.Value
}

// parseAddress parses the address of an instance of a managed resource.
func parseAddress(text string) (address, error) {
	traversal, diags := hclsyntax.ParseTraversalAbs([]byte(text), "", hcl.InitialPos)
	if diags.HasErrors() {
		return address{}, fmt.Errorf("address %q cannot be parsed", text)
	}
	steps := stepsOf(traversal)
	var a address
	for len(steps) > 1 && steps[0].name == "module" {
		a.calls, steps = append(a.calls, steps[1]), steps[2:]
	}
	if len(steps) != 2 {
		return address{}, fmt.Errorf("address %q has no resource", text)
	}
	a.resource, a.key = steps[0].name+"."+steps[1].name, steps[1].key
	return a, nil
}

func stepsOf(traversal hcl.Traversal) []step {
	var steps []step
	for _, t := range traversal {
		switch t := t.(type) {
		case hcl.TraverseRoot:
			steps = append(steps, step{name: t.Name})
		case hcl.TraverseAttr:
			steps = append(steps, step{name: t.Name})
		case hcl.TraverseIndex:
			if len(steps) > 0 {
				steps[len(steps)-1].key = t.Key
			}
		}
	}
	return steps
}
