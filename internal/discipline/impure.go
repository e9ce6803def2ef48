package discipline

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// ignoreEach records the attributes in the list of an ignore_changes, and adds their names to ignored.
func (m *module) ignoreEach(address string, list hcl.Expression, at place, ignored map[string]bool) {
	items, _ := hcl.ExprList(list)
	for _, item := range items {
		traversal, diags := hcl.AbsTraversalForExpr(item)
		if diags.HasErrors() || len(traversal) == 0 {
			continue
		}
		name := traversal.RootName()
		if !ignored[name] {
			m.ignored = append(m.ignored, dependency{address: address + " " + name, at: place{at.file, item.Range().Start.Line}, block: at.line})
		}
		ignored[name] = true
	}
}

// useImpure records the arguments of a resource that call an impure function. Those in ignored are left out, and so are functions in
// JSON, local values and variables.
func (m *module) useImpure(address string, body hcl.Body, at place, ignored map[string]bool) {
	native, ok := body.(*hclsyntax.Body)
	if !ok {
		return
	}
	arguments := map[string]hclsyntax.Node{}
	for name, a := range native.Attributes {
		arguments[name] = a
	}
	for _, block := range native.Blocks {
		if !slices.Contains([]string{"lifecycle", "provisioner", "connection", "dynamic"}, block.Type) {
			arguments[block.Type] = block.Body
		}
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if call := impureCall(arguments[name]); call != nil && !ignored[name] {
			m.impure = append(m.impure, dependency{address: address + " " + name, what: "calls " + syntax.FunctionName(call.Name) + "()",
				at: place{at.file, call.NameRange.Start.Line}, block: at.line})
		}
	}
}

// impureCall returns the first call of a function whose result is another one in each plan; nil if there is none.
func impureCall(n hclsyntax.Node) (found *hclsyntax.FunctionCallExpr) {
	// VisitAll returns only the errors of the visitor, which returns none.
	_ = hclsyntax.VisitAll(n, func(n hclsyntax.Node) hcl.Diagnostics {
		if call, ok := n.(*hclsyntax.FunctionCallExpr); ok && found == nil && syntax.PurityOf(call.Name) != syntax.Pure {
			found = call
		}
		return nil
	})
	return found
}
