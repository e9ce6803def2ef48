package plan

import (
	"slices"
	"strconv"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
)

// expressions are the arguments of a resource in the configuration: an *tfjson.Expression for an
// attribute, a []map[string]*tfjson.Expression in an expression for nested blocks.
type expressions map[string]*tfjson.Expression

// configured returns the resources of a configuration by their address without instance keys; nil
// without a configuration.
func configured(c *tfjson.Config) map[string]*tfjson.ConfigResource {
	if c == nil {
		return nil
	}
	index := map[string]*tfjson.ConfigResource{}
	indexModule(index, "", c.RootModule)
	return index
}

func indexModule(index map[string]*tfjson.ConfigResource, prefix string, m *tfjson.ConfigModule) {
	if m == nil {
		return
	}
	for _, r := range m.Resources {
		index[prefix+r.Address] = r
	}
	for name, call := range m.ModuleCalls {
		if call != nil {
			indexModule(index, prefix+"module."+name+".", call.Module)
		}
	}
}

// withoutKeys returns the configuration address of the resource of an instance. It removes keys
// such as [0] and ["a\"]b"].
func withoutKeys(address string) string {
	var b strings.Builder
	inKey, quoted := false, false
	for i := 0; i < len(address); i++ {
		switch c := address[i]; {
		case quoted && c == '\\':
			i++
		case inKey && c == '"':
			quoted = !quoted
		case quoted:
		case c == '[':
			inKey = true
		case c == ']':
			inKey = false
		case !inKey:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// writing is the configuration of one resource.
type writing struct {
	expressions expressions
	shape       *shape
	blocks      Blocks
	// known is set if all its blocks are known.
	known bool
}

// writes reports whether the configuration sets the attribute or block at path. It returns true if
// that is unknown, as for a dynamic block or without a configuration.
func (w writing) writes(path []string) bool {
	if len(path) == 0 {
		return true
	}
	names := slices.DeleteFunc(slices.Clone(path), isPosition)
	if slices.ContainsFunc(w.blocks.Dynamic, func(at []string) bool {
		n := min(len(at), len(names))
		return slices.Equal(at[:n], names[:n])
	}) {
		return true
	}
	if w.expressions[path[0]] == nil && slices.Contains(w.blocks.Names, path[0]) {
		return true
	}
	return w.expressions.write(path, w.shape, w.known)
}

// write is writes for the expressions of a resource or block. If the blocks are not known, a block
// without an expression may exist.
func (e expressions) write(path []string, s *shape, known bool) bool {
	if len(path) == 0 {
		return true
	}
	expression, found := e[path[0]]
	if !found {
		below := s.field(path[0])
		return !known && below != nil && below.block
	}
	if expression == nil || expression.ExpressionData == nil {
		return true
	}
	if len(expression.NestedBlocks) == 0 {
		return holdsPath(expression.ConstantValue, path[1:])
	}
	rest := attributePath(path[1:])
	return len(rest) == 0 || slices.ContainsFunc(expression.NestedBlocks, func(block map[string]*tfjson.Expression) bool {
		return expressions(block).write(rest, s.field(path[0]).inBlock(), known)
	})
}

// isConstant reports whether an expression is a constant without null. The decoded plan has null also for calls of
// functions without references.
func isConstant(e *tfjson.Expression) bool {
	return e != nil && e.ExpressionData != nil && len(e.NestedBlocks) == 0 && e.ConstantValue != tfjson.UnknownConstantValue && !hasNull(e.ConstantValue)
}

func hasNull(v any) bool {
	switch t := v.(type) {
	case nil:
		return true
	case []any:
		return slices.ContainsFunc(t, hasNull)
	case map[string]any:
		for _, below := range t {
			if hasNull(below) {
				return true
			}
		}
	}
	return false
}

// holdsPath reports whether a constant has a value at path. It returns true for anything except a
// constant.
func holdsPath(constant any, path []string) bool {
	if len(path) == 0 {
		return true
	}
	switch t := constant.(type) {
	case map[string]any:
		below, found := t[path[0]]
		return found && holdsPath(below, path[1:])
	case []any:
		i, err := strconv.Atoi(path[0])
		return err != nil || i < len(t) && holdsPath(t[i], path[1:])
	}
	return true
}

// attributePath drops a leading list index.
func attributePath(path []string) []string {
	if len(path) > 0 && isPosition(path[0]) {
		return path[1:]
	}
	return path
}

// isPosition reports whether a step of a path is a list position.
func isPosition(step string) bool { return step != "" && strings.Trim(step, "0123456789") == "" }

// inBlock returns the shape of one block of a nested block.
func (s *shape) inBlock() *shape {
	if s != nil && s.each != nil {
		return s.each
	}
	return s
}
