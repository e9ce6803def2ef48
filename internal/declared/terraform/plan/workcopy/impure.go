package workcopy

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// An Expression is what determines whether the value of an argument is the same in each plan.
type Expression struct {
	// Impure are the functions in it whose results are unknown in each plan: "timestamp". Refers are the local values and
	// variables in it: "local.now", "var.tags".
	Impure, Refers []string
}

// An Argument is an argument or a block of a resource or of a module call, or a local value.
type Argument struct {
	// Of is the resource ("lab_server.web"), the module call ("module.network"), or "local".
	Of, Name string
	Expression
}

// readImpure records the arguments of a native file that call an impure function or refer to what may. Functions in JSON are not
// found.
func (m *Module) readImpure(body *hclsyntax.Body) {
	for _, block := range body.Blocks {
		var of string
		switch {
		case block.Type == "locals":
			of = "local"
		case block.Type == "resource" && len(block.Labels) == 2:
			of = block.Labels[0] + "." + block.Labels[1]
		case block.Type == "module" && len(block.Labels) == 1:
			of = "module." + block.Labels[0]
		case block.Type == "data", block.Type == "ephemeral":
			m.Reads = true
			continue
		default:
			continue
		}
		for name, a := range block.Body.Attributes {
			m.argument(of, name, a)
		}
		for _, nested := range block.Body.Blocks {
			name := nested.Type
			if name == "dynamic" && len(nested.Labels) == 1 {
				name = nested.Labels[0]
			}
			m.argument(of, name, nested.Body)
		}
	}
}

// argument records one argument if a function or a reference in it may make its value unknown.
func (m *Module) argument(of, name string, n hclsyntax.Node) {
	a := Argument{Of: of, Name: name}
	// VisitAll returns only the errors of the visitor, which returns none.
	_ = hclsyntax.VisitAll(n, func(n hclsyntax.Node) hcl.Diagnostics {
		switch t := n.(type) {
		case *hclsyntax.FunctionCallExpr:
			switch function := strings.TrimPrefix(t.Name, "core::"); {
			case slices.Contains([]string{"timestamp", "uuid", "bcrypt"}, function):
				a.Impure = append(a.Impure, function)
			case function == "plantimestamp", strings.HasPrefix(function, "provider::"):
				m.Reads = true
			}
		case *hclsyntax.ScopeTraversalExpr:
			if path := steps(t.Traversal); len(path) > 1 && (path[0] == "local" || path[0] == "var") {
				a.Refers = append(a.Refers, path[0]+"."+path[1])
			}
		}
		return nil
	})
	if len(a.Impure)+len(a.Refers) > 0 {
		m.Arguments = append(m.Arguments, a)
	}
}
