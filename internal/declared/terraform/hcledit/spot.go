package hcledit

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/model"
)

// An editor edits the text of one resource block.
type editor struct {
	text  []byte
	block *hclsyntax.Block
}

func newEditor(name string, text []byte, address string) (*editor, error) {
	block, err := find(name, text, address)
	switch {
	case err != nil:
		return nil, err
	case block == nil:
		return nil, unsupported("the file does not have the block")
	}
	for _, argument := range []string{"count", "for_each"} {
		if block.Body.Attributes[argument] != nil {
			return nil, unsupported("the block has %s, so that a value may stand for several instances", argument)
		}
	}
	return &editor{text, block}, nil
}

// A spot is the place of an argument: its expression, or the innermost block that exists, with the
// steps from there.
type spot struct {
	within *hclsyntax.Block
	// argument is the argument itself; nil if the expression is a part of one.
	argument *hclsyntax.Attribute
	value    hclsyntax.Expression
	rest     []fieldpath.Step
}

// locate follows a path through blocks and expressions.
func (e *editor) locate(steps []fieldpath.Step) (s spot, err error) {
	s = spot{within: e.block, rest: steps}
	for len(s.rest) > 0 {
		name := s.rest[0].Name
		if a := s.within.Body.Attributes[name]; a != nil {
			s.argument, s.value = a, a.Expr
			err := s.descend(s.rest[1:])
			return s, err
		}
		if isDynamic(s.within.Body, name) {
			return s, unsupported("the block %s is dynamic", name)
		}
		below, used := nested(s.within.Body, s.rest)
		if below == nil {
			return s, nil
		}
		s.within, s.rest = below, s.rest[used:]
	}
	return s, unsupported("it is a whole block")
}

// descend follows the rest of a path in an expression.
func (s *spot) descend(rest []fieldpath.Step) error {
	for i := range rest {
		next := part(s.value, &rest[i])
		if next == nil {
			return unsupported("it is a part of a value that is not written as a literal, or is absent there")
		}
		s.value, s.argument = next, nil
	}
	s.rest = nil
	return nil
}

// part returns a part of a literal object or list; nil if there is none.
func part(e hclsyntax.Expression, step *fieldpath.Step) hclsyntax.Expression {
	switch t := e.(type) {
	case *hclsyntax.ObjectConsExpr:
		for _, item := range t.Items {
			if key, ok := literal(item.KeyExpr); ok && step.Kind == fieldpath.Field && key.Text() == step.Name {
				return item.ValueExpr
			}
		}
	case *hclsyntax.TupleConsExpr:
		if step.Kind == fieldpath.Index && step.Index < len(t.Exprs) {
			return t.Exprs[step.Index]
		}
	}
	return nil
}

func isDynamic(body *hclsyntax.Body, name string) bool {
	return slices.ContainsFunc(body.Blocks, func(b *hclsyntax.Block) bool {
		return b.Type == "dynamic" && slices.Equal(b.Labels, []string{name})
	})
}

// nested returns the block that the first steps select, and their number; nil if there is none.
func nested(body *hclsyntax.Body, steps []fieldpath.Step) (below *hclsyntax.Block, used int) {
	if steps[0].Kind != fieldpath.Field {
		return nil, 0
	}
	var named []*hclsyntax.Block
	for _, b := range body.Blocks {
		if b.Type == steps[0].Name && len(b.Labels) == 0 {
			named = append(named, b)
		}
	}
	if len(steps) > 1 && steps[1].Kind != fieldpath.Field {
		if named = slices.DeleteFunc(slices.Clone(named), func(b *hclsyntax.Block) bool {
			return !selects(&steps[1], b, slices.Index(named, b))
		}); len(named) == 1 {
			return named[0], 2
		}
		return nil, 0
	}
	if len(named) == 1 {
		return named[0], 1
	}
	return nil, 0
}

// selects reports whether a step selects the n-th block of a type.
func selects(step *fieldpath.Step, b *hclsyntax.Block, n int) bool {
	if step.Kind != fieldpath.Keyed {
		return step.Kind == fieldpath.Index && step.Index == n
	}
	return !slices.ContainsFunc(step.Keys, func(key fieldpath.Key) bool {
		a := b.Body.Attributes[key.Name]
		if a == nil {
			return true
		}
		v, ok := literal(a.Expr)
		return !ok || v.Text() != key.Value
	})
}

// check returns an error unless the file has a value.
func (s *spot) check(was *model.Value) error {
	if s.value == nil {
		if was == nil {
			return nil
		}
		return unsupported("the block does not set it")
	}
	v, ok := literal(s.value)
	switch {
	case !ok:
		return unsupported("it is written as an expression, and not as a literal")
	case was == nil || !same(v, *was):
		return unsupported("the file has another value than the declaration")
	}
	return nil
}

// ofItem returns the change of a whole list for the change of one of its elements.
func (s *spot) ofItem(item *fieldpath.Step, c *Change) (Change, error) {
	if s.value == nil {
		return Change{}, unsupported("the block does not set the list")
	}
	list, ok := literal(s.value)
	if !ok || list.Kind() != model.List {
		return Change{}, unsupported("the list is written as an expression, and not as a literal")
	}
	items := slices.Clone(list.Items())
	switch at := item.Element(list); {
	case c.Was == nil && c.Value != nil:
		items = append(items, *c.Value)
	case at < 0:
		return Change{}, unsupported("the list does not have the element exactly once")
	case c.Value == nil:
		items = slices.Delete(items, at, at+1)
	default:
		items[at] = *c.Value
	}
	value := model.ListOf(items...)
	return Change{Was: &list, Value: &value}, nil
}

// ofSet returns the change of a list that the file has in another order than the declaration: the
// elements of a set have none. Those that stay keep their order.
func (s *spot) ofSet(c Change) Change {
	if s.value == nil || c.Was == nil || c.Value == nil || c.Was.Kind() != model.List || c.Value.Kind() != model.List {
		return c
	}
	list, ok := literal(s.value)
	if !ok || same(list, *c.Was) || len(without(list.Items(), c.Was.Items())) > 0 || len(list.Items()) != len(c.Was.Items()) {
		return c
	}
	gone := without(list.Items(), c.Value.Items())
	value := model.ListOf(append(without(list.Items(), gone), without(c.Value.Items(), list.Items())...)...)
	return Change{Was: &list, Value: &value}
}

// without returns the elements of a list that another one does not have.
func without(list, other []model.Value) []model.Value {
	return slices.DeleteFunc(slices.Clone(list), func(v model.Value) bool {
		return slices.ContainsFunc(other, func(w model.Value) bool { return same(v, w) })
	})
}

// same reports whether a literal is a value. Terraform converts the numbers and booleans that are
// written as text.
func same(a, b model.Value) bool {
	if len(a.Items()) != len(b.Items()) || len(a.Fields()) != len(b.Fields()) {
		return false
	}
	for i, item := range a.Items() {
		if !same(item, b.Items()[i]) {
			return false
		}
	}
	for _, field := range a.Fields() {
		if other, ok := b.Get(field.Name); !ok || !same(field.Value, other) {
			return false
		}
	}
	return (a.Kind() == model.Map) == (b.Kind() == model.Map) && (a.Kind() == model.List) == (b.Kind() == model.List) && a.Text() == b.Text()
}
