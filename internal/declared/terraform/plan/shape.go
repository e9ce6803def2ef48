package plan

import (
	"slices"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/driftd/driftd/internal/model"
)

// A shape is the schema of an attribute or block from its provider. With a nil shape, values are
// compared unchanged.
type shape struct {
	// computed is set if no configuration can set the attribute.
	computed bool
	// lenient is set if the provider may fill in the attribute when the configuration omits it.
	lenient bool
	// writeOnly is set if the value is never recorded.
	writeOnly bool
	// text is set for a string, boolean for a boolean.
	text, boolean bool
	// block is set for a nested block, which a dynamic block may generate.
	block bool
	// scalar is set for a string, number or boolean, exact for a number or boolean.
	scalar, exact bool
	// set is set if the order of elements is not significant.
	set bool
	// sensitive is set if the provider marks the value, secretive if it marks the value or a part
	// of it.
	sensitive, secretive bool
	fields               map[string]*shape
	// each is the shape of the elements of a list or set, or of the values of a map.
	each *shape
	// free is set for a map with arbitrary keys.
	free bool
}

func (s *shape) field(name string) *shape {
	if s == nil {
		return nil
	}
	if f := s.fields[name]; f != nil {
		return f
	}
	if s.free {
		return s.each
	}
	return nil
}

func (s *shape) element() *shape {
	if s == nil {
		return nil
	}
	return s.each
}

// kept reports whether a provider may keep a value that the configuration does not write. Schemas
// do not have this information for blocks.
func (s *shape) kept() bool { return s != nil && !s.computed && (s.block || s.lenient) }

func (s *shape) unordered() bool { return s != nil && s.set }

// shapeOf converts the schema of a resource type.
func shapeOf(block *tfjson.SchemaBlock) *shape {
	s := &shape{fields: map[string]*shape{}}
	if block == nil {
		return s
	}
	for name, attribute := range block.Attributes {
		s.put(name, shapeOfAttribute(attribute))
	}
	for name, nested := range block.NestedBlocks {
		below := nest(shapeOf(nested.Block), nested.NestingMode)
		below.block = true
		s.put(name, below)
	}
	return s
}

func (s *shape) put(name string, below *shape) {
	s.fields[name] = below
	s.secretive = s.secretive || below.secretive
}

func shapeOfAttribute(a *tfjson.SchemaAttribute) *shape {
	var s *shape
	if a.AttributeNestedType != nil {
		object := &shape{fields: map[string]*shape{}}
		for name, below := range a.AttributeNestedType.Attributes {
			object.put(name, shapeOfAttribute(below))
		}
		s = nest(object, a.AttributeNestedType.NestingMode)
	} else {
		s = shapeOfType(a.AttributeType)
	}
	s.computed = a.Computed && !a.Optional && !a.Required
	if a.Computed {
		s.relax()
	}
	s.sensitive, s.writeOnly = a.Sensitive, a.WriteOnly
	s.secretive = s.secretive || a.Sensitive
	return s
}

// relax makes the shape and all shapes below it lenient: a provider that fills in an attribute
// fills in all of it.
func (s *shape) relax() {
	s.lenient = true
	for _, below := range s.fields {
		below.relax()
	}
	if s.each != nil {
		s.each.relax()
	}
}

// nest returns the shape of a container of objects.
func nest(object *shape, mode tfjson.SchemaNestingMode) *shape {
	switch mode {
	case tfjson.SchemaNestingModeList, tfjson.SchemaNestingModeSet, tfjson.SchemaNestingModeMap:
		return &shape{each: object, secretive: object.secretive,
			set:  mode == tfjson.SchemaNestingModeSet,
			free: mode == tfjson.SchemaNestingModeMap}
	}
	return object
}

func shapeOfType(t cty.Type) *shape {
	switch {
	case t == cty.NilType:
		return &shape{}
	case t.IsPrimitiveType():
		return &shape{scalar: true, exact: t != cty.String, text: t == cty.String, boolean: t == cty.Bool}
	case t.IsObjectType():
		s := &shape{fields: map[string]*shape{}}
		for name, below := range t.AttributeTypes() {
			s.put(name, shapeOfType(below))
		}
		return s
	case t.IsCollectionType():
		return &shape{each: shapeOfType(t.ElementType()), set: t.IsSetType(), free: t.IsMapType()}
	}
	return &shape{}
}

// schema returns the schema for comparing values of the shape. Outside of lists, a null number or
// boolean differs from zero. All providers treat an empty string or list like null.
func (s *shape) schema() *model.Schema { return s.schemaAt(true) }

func (s *shape) schemaAt(strict bool) *model.Schema {
	switch {
	case s == nil || !s.scalar && s.fields == nil && s.each == nil:
		return anySchema()
	case s.scalar:
		return &model.Schema{Content: strict && s.exact}
	case s.each != nil:
		each := s.each.schemaAt(false)
		each.Content = s.free && s.each.scalar
		return &model.Schema{Each: each, List: s.listType(), Keys: s.each.identity()}
	}
	schema := &model.Schema{Fields: make(map[string]*model.Schema, len(s.fields))}
	for name, below := range s.fields {
		schema.Fields[name] = below.schemaAt(strict)
	}
	return schema
}

// identity returns the fields that identify an element of a list: the first group of fields that it
// has. Provider schemas do not have this information.
func (s *shape) identity() []string {
	for _, names := range [][]string{
		{"rule_no", "rule_number", "sid"},
		{"name", "key", "device_name", "interface"},
		{"destination", "cidr", "cidr_block", "ipv6_cidr_block", "address_prefix", "prefix", "destination_cidr", "destination_cidr_block",
			"destination_ipv6_cidr_block", "destination_prefix_list_id", "destination_range", "destination_address_prefix"},
	} {
		if has := slices.DeleteFunc(names, func(name string) bool { return s.fields[name] == nil || s.fields[name].computed }); len(has) > 0 {
			return has
		}
	}
	return nil
}

func (s *shape) listType() model.ListType {
	if s.set {
		return model.Bag
	}
	return model.Ordered
}

// anySchema returns the schema for values of unknown structure, which are compared unchanged, except that
// an empty value equals an absent one. A nil schema would ignore additional fields in the elements of lists.
func anySchema() *model.Schema {
	s := &model.Schema{}
	s.Each = s
	return s
}

// exactSchema returns the schema for values as a plan has them. An apply sets an empty value to null, so they differ.
func exactSchema() *model.Schema {
	s := &model.Schema{Content: true}
	s.Each = s
	return s
}
