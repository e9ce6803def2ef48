package plan

import (
	"slices"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/driftd/driftd/internal/model"
)

// A shape is what a provider's schema says of an attribute or block. A nil
// shape knows nothing: values are compared as they stand.
type shape struct {
	// computed tells that no configuration can set the attribute.
	computed bool
	// lenient tells that the provider fills in what the configuration leaves
	// out.
	lenient bool
	// writeOnly reports whether the value is never recorded.
	writeOnly bool
	// text reports whether a scalar is a text, boolean whether it is true or false.
	text, boolean bool
	// block tells a nested block, which a dynamic one may write.
	block bool
	// scalar tells a text, number or boolean, exact one of the latter two.
	scalar, exact bool
	// set tells that the order of elements does not count.
	set bool
	// sensitive tells that the provider hides the value; secretive that it, or
	// something below it, is.
	sensitive, secretive bool
	fields               map[string]*shape
	// each is the shape of the elements of a list or set, or of a map's values.
	each *shape
	// free tells a map whose names are free.
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

// kept reports whether a provider may keep what the configuration does not write: of
// blocks, schemas do not tell.
func (s *shape) kept() bool { return s != nil && !s.computed && (s.block || s.lenient) }

func (s *shape) unordered() bool { return s != nil && s.set }

// shapeOf reads the schema of a resource type.
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

// relax makes the shape and all below lenient: who fills in an attribute fills
// in all of it.
func (s *shape) relax() {
	s.lenient = true
	for _, below := range s.fields {
		below.relax()
	}
	if s.each != nil {
		s.each.relax()
	}
}

// nest wraps the shape of one object in that of its container.
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

// schema says how package diff compares what has the shape. Outside lists, a
// number or boolean that is null says something else than zero; that an empty
// text or list is as good as none is every provider's habit.
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

// identity returns the fields that identify an element of a list: the first kind of
// them that it has. Provider schemas do not have them.
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

// anySchema compares a value of which nothing is known as it stands. It has to
// be something, because a nil schema forgives lists whose elements hold more
// than is declared.
func anySchema() *model.Schema {
	s := &model.Schema{}
	s.Each = s
	return s
}
