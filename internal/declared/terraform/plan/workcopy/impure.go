package workcopy

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// An Expression describes whether the value of an argument is the same in each plan.
type Expression struct {
	// Impure are the functions in the expression whose results differ in each plan: "timestamp". Refers are
	// the local values, variables, modules and their outputs, resources, and data sources in it:
	// "local.now", "var.tags", "module.network.id", "lab_server.web".
	Impure, Refers []string
}

// An Argument is an argument or block of a resource, a data source or a module call, or a local value or
// output.
type Argument struct {
	// Of is the resource ("lab_server.web"), the data source ("data.lab_lookup.a"), the variables of a
	// module call ("module.network.var"), "local", or "output". Name is the name of the argument, local
	// value or output.
	Of, Name string
	Expression
}

// readImpure records the arguments of a native file that call an impure function or refer to what may. Functions in JSON are not
// found.
func (m *Module) readImpure(body *hclsyntax.Body) {
	for _, block := range body.Blocks {
		if block.Type == "data" || block.Type == "ephemeral" {
			m.Reads = true
		}
		of := ofBlock(block)
		if of == "" {
			continue
		}
		for name, a := range block.Body.Attributes {
			if of != "output" {
				m.argument(of, name, a)
			} else if name == "value" {
				m.argument(of, block.Labels[0], a)
			}
		}
		for _, nested := range block.Body.Blocks {
			name := nested.Type
			if name == "dynamic" && len(nested.Labels) == 1 {
				name = nested.Labels[0]
			}
			if of != "output" {
				m.argument(of, name, nested.Body)
			}
		}
	}
}

// ofBlock returns the Argument.Of for the arguments in a block, or "" if they determine no value.
func ofBlock(block *hclsyntax.Block) string {
	switch labels := block.Labels; {
	case block.Type == "locals":
		return "local"
	case block.Type == "output" && len(labels) == 1:
		return "output"
	case block.Type == "resource" && len(labels) == 2:
		return labels[0] + "." + labels[1]
	case block.Type == "data" && len(labels) == 2:
		return "data." + labels[0] + "." + labels[1]
	case block.Type == "module" && len(labels) == 1:
		return "module." + labels[0] + ".var"
	}
	return ""
}

// argument records one argument if a function or a reference in it may make its value unknown.
func (m *Module) argument(of, name string, n hclsyntax.Node) {
	a := Argument{Of: of, Name: name}
	// VisitAll returns only the errors of the visitor, which returns none.
	_ = hclsyntax.VisitAll(n, func(n hclsyntax.Node) hcl.Diagnostics {
		switch t := n.(type) {
		case *hclsyntax.FunctionCallExpr:
			switch purity := syntax.PurityOf(t.Name); {
			case purity == syntax.ImpureInApply:
				a.Impure = append(a.Impure, syntax.FunctionName(t.Name))
			case purity == syntax.ImpureInPlan, strings.HasPrefix(t.Name, "provider::"):
				m.Reads = true
			}
		case *hclsyntax.ScopeTraversalExpr:
			if to := reference(of, t.Traversal); to != "" {
				a.Refers = append(a.Refers, to)
			}
		}
		return nil
	})
	if len(a.Impure)+len(a.Refers) > 0 {
		m.Arguments = append(m.Arguments, a)
	}
}

// reference returns the object that a traversal in an argument refers to, or "". Keys of instances are left out.
func reference(of string, traversal hcl.Traversal) string {
	var names []string
	for _, step := range traversal {
		switch t := step.(type) {
		case hcl.TraverseRoot:
			names = append(names, t.Name)
		case hcl.TraverseAttr:
			names = append(names, t.Name)
		}
	}
	if len(names) < 2 {
		return ""
	}
	switch names[0] {
	case "each":
		if names[1] == "value" {
			return of + ".for_each"
		}
		return ""
	case "module", "data":
		return strings.Join(names[:min(len(names), 3)], ".")
	}
	return names[0] + "." + names[1]
}
