package literal

import (
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/driftd/driftd/internal/model"
)

// isMeta reports whether a name in a resource block is defined by Terraform, not by
// the provider.
func isMeta(name string) bool {
	return slices.Contains([]string{"count", "for_each", "provider", "depends_on", "lifecycle", "connection", "provisioner", "dynamic"}, name)
}

// resource evaluates one instance of a resource block.
func (s *scope) resource(body hcl.Body, key cty.Value) Resource {
	attributes := attributesOf(body)
	inner, found := s.instance(attributes, lifecycleOf(body), key)
	if found != Present {
		return elsewhere(found)
	}
	c := &collector{}
	v := c.block(inner, body, nil)
	return Resource{Presence: Present, Value: v, Unknown: c.unknown, Secret: c.secret}
}

// lifecycleOf returns the attributes of the lifecycle block.
func lifecycleOf(body hcl.Body) hcl.Attributes {
	content, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "lifecycle"}}})
	if content == nil || len(content.Blocks) == 0 {
		return nil
	}
	return attributesOf(content.Blocks[0].Body)
}

// A collector converts values to trees, and collects the paths of unknown and
// sensitive values.
type collector struct {
	unknown, secret [][]string
}

// block evaluates the body of a resource or of a nested block.
func (c *collector) block(s *scope, body hcl.Body, at []string) model.Value {
	var fields []model.Field
	for name, a := range attributesOf(body) {
		if len(at) == 0 && isMeta(name) {
			continue
		}
		fields = appendField(fields, name, c.tree(s.value(a.Expr), below(at, name)))
	}
	if native, is := body.(*hclsyntax.Body); is {
		fields = append(fields, c.blocks(s, native, at)...)
	} else if len(at) == 0 {
		c.dynamicJSON(attributesOf(body)["dynamic"])
	}
	return model.MapOf(fields...)
}

// blocks evaluates nested blocks of native syntax, and returns a list for each type.
func (c *collector) blocks(s *scope, body *hclsyntax.Body, at []string) []model.Field {
	lists := map[string][]model.Value{}
	uncertain := map[string]bool{}
	for _, b := range body.Blocks {
		switch {
		case b.Type == "dynamic" && len(b.Labels) == 1:
			uncertain[b.Labels[0]] = true
		case len(at) == 0 && isMeta(b.Type):
		case len(b.Labels) > 0:
			uncertain[b.Type] = true
		default:
			position := strconv.Itoa(len(lists[b.Type]))
			lists[b.Type] = append(lists[b.Type], c.block(s, b.Body, below(at, b.Type, position)))
		}
	}
	var fields []model.Field
	for name := range uncertain {
		delete(lists, name)
		c.unknown = append(c.unknown, below(at, name))
	}
	for name, list := range lists {
		fields = append(fields, model.Field{Name: name, Value: model.ListOf(list...)})
	}
	return fields
}

// dynamicJSON records the block types that a dynamic block of JSON syntax generates as
// unknown.
func (c *collector) dynamicJSON(a *hcl.Attribute) {
	if a == nil {
		return
	}
	pairs, diags := hcl.ExprMap(a.Expr)
	if diags.HasErrors() {
		c.unknown = append(c.unknown, []string{})
	}
	for _, pair := range pairs {
		name, diags := pair.Key.Value(nil)
		if diags.HasErrors() || !name.IsKnown() || name.IsNull() || name.Type() != cty.String {
			c.unknown = append(c.unknown, []string{})
			continue
		}
		c.unknown = append(c.unknown, []string{name.AsString()})
	}
}

// tree converts a value to a tree.
func (c *collector) tree(v cty.Value, at []string) model.Value {
	if v.IsMarked() {
		v, _ = v.Unmark()
		c.secret = append(c.secret, at)
	}
	switch {
	case !v.IsKnown():
		c.unknown = append(c.unknown, at)
	case v.IsNull():
	case v.Type() == cty.String:
		return model.StringOf(v.AsString())
	case v.Type() == cty.Bool:
		return model.BoolOf(v.True())
	case v.Type() == cty.Number:
		if n, ok := numberOf(v); ok {
			return n
		}
		c.unknown = append(c.unknown, at)
	case v.Type().IsObjectType(), v.Type().IsMapType():
		return c.fields(v, at)
	case v.CanIterateElements():
		var items []model.Value
		for it := v.ElementIterator(); it.Next(); {
			_, item := it.Element()
			items = append(items, c.tree(item, below(at, strconv.Itoa(len(items)))))
		}
		return model.ListOf(items...)
	default:
		c.unknown = append(c.unknown, at)
	}
	return model.Value{}
}

// numberOf returns a number; ok is false for one that is too large.
func numberOf(v cty.Value) (n model.Value, ok bool) {
	if digits(v) > maxValue {
		return model.Value{}, false
	}
	return model.NumberOf(v.AsBigFloat().Text('f', -1))
}

func (c *collector) fields(v cty.Value, at []string) model.Value {
	var fields []model.Field
	for it := v.ElementIterator(); it.Next(); {
		key, field := it.Element()
		key, _ = key.Unmark()
		fields = appendField(fields, key.AsString(), c.tree(field, below(at, key.AsString())))
	}
	return model.MapOf(fields...)
}

func appendField(fields []model.Field, name string, v model.Value) []model.Field {
	if v.IsNull() {
		return fields
	}
	return append(fields, model.Field{Name: name, Value: v})
}

// below returns a copy of a path with further steps.
func below(at []string, steps ...string) []string { return slices.Concat(at, steps) }
