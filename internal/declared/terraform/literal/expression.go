package literal

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// maxReferences bounds the references of one expression. With maxValue, it also
// bounds the size of the expression's value.
const maxReferences = 200

// value evaluates an expression. Parts that the files do not determine are unknown.
func (s *scope) value(e hcl.Expression) cty.Value {
	switch t := e.(type) {
	case *hclsyntax.ObjectConsExpr:
		return s.object(t)
	case *hclsyntax.TupleConsExpr:
		items := make([]cty.Value, len(t.Exprs))
		for i, item := range t.Exprs {
			items[i] = s.value(item)
		}
		return cty.TupleVal(items)
	}
	if native, is := e.(hclsyntax.Expression); is && loops(native) {
		return cty.DynamicVal
	}
	references := e.Variables()
	if len(references) > maxReferences {
		return cty.DynamicVal
	}
	v, diags := e.Value(&hcl.EvalContext{Variables: s.referenced(references), Functions: functions()})
	if diags.HasErrors() {
		return cty.DynamicVal
	}
	return v
}

func (s *scope) object(e *hclsyntax.ObjectConsExpr) cty.Value {
	fields := make(map[string]cty.Value, len(e.Items))
	for _, item := range e.Items {
		name, marks := s.value(item.KeyExpr).Unmark()
		if len(marks) > 0 || !name.IsKnown() || name.IsNull() || name.Type() != cty.String {
			return cty.DynamicVal
		}
		fields[name.AsString()] = s.value(item.ValueExpr)
	}
	return cty.ObjectVal(fields)
}

// loops reports whether an expression holds a for expression or a splat.
func loops(e hclsyntax.Expression) bool {
	found := false
	// VisitAll returns only the errors of the visitor, which returns none.
	_ = hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n.(type) {
		case *hclsyntax.ForExpr, *hclsyntax.SplatExpr:
			found = true
		}
		return nil
	})
	return found
}

// referenced returns the values of the references of an expression. References to
// anything other than variables, locals, count and each are unknown.
func (s *scope) referenced(references []hcl.Traversal) map[string]cty.Value {
	values := map[string]cty.Value{}
	named := map[string]map[string]cty.Value{"var": {}, "local": {}}
	for _, t := range references {
		root := t.RootName()
		if values[root] == cty.NilVal {
			values[root] = cty.DynamicVal
		}
		if extra, known := s.extra[root]; known {
			values[root] = extra
		}
		if named[root] == nil || len(t) < 2 {
			continue
		}
		if a, is := t[1].(hcl.TraverseAttr); is {
			named[root][a.Name] = s.named(root, a.Name)
		}
	}
	for root, fields := range named {
		if len(fields) > 0 {
			values[root] = cty.ObjectVal(fields)
		}
	}
	return values
}

func (s *scope) named(root, name string) cty.Value {
	if root == "var" {
		return s.variable(name)
	}
	return s.local(name)
}

// functions returns the functions that Terraform uses from the same library and whose
// results are no larger than their arguments. Calls of other functions are unknown.
func functions() map[string]function.Function {
	return map[string]function.Function{
		"concat":     stdlib.ConcatFunc,
		"jsonencode": stdlib.JSONEncodeFunc,
		"lower":      stdlib.LowerFunc,
		"merge":      stdlib.MergeFunc,
		"tobool":     stdlib.MakeToFunc(cty.Bool),
		"tolist":     stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
		"tomap":      stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
		"tonumber":   stdlib.MakeToFunc(cty.Number),
		"toset":      stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
		"tostring":   stdlib.MakeToFunc(cty.String),
		"upper":      stdlib.UpperFunc,
	}
}
