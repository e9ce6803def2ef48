package mapping

import (
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/suggest"
)

// A fitting is whether a lens fits the resources with a schema.
type fitting struct {
	schema *model.Schema
	misfit string
}

// Misfit implements model.Lens. It keeps the result for the last schema, which all resources of a
// kind share.
func (l *lens) Misfit(live *model.Schema) string {
	last := l.fits.Load()
	if last == nil || last.schema != live {
		c := fieldCheck{root: live}
		c.attributes(l.attributes, live)
		last = &fitting{live, strings.Join(c.missing, ", ")}
		l.fits.Store(last)
	}
	return last.misfit
}

// A fieldCheck collects the live fields that attributes read and that a schema does not have.
type fieldCheck struct {
	root    *model.Schema
	missing []string
}

func (c *fieldCheck) attributes(attributes []attribute, schema *model.Schema) {
	for i := range attributes {
		a := &attributes[i]
		below := c.resolve(&a.live, schema)
		elements := []*model.Schema{below}
		switch {
		case len(a.slots.prefixes) > 0:
			elements = c.slots(&a.slots, below)
		case a.block != plainValue && below != nil && len(below.Fields) == 0:
			elements = []*model.Schema{below.Each}
		}
		for _, element := range elements {
			c.conditions(a, element, schema)
			c.attributes(a.attributes, element)
		}
	}
}

// conditions checks the fields of conditions on elements and on live values.
func (c *fieldCheck) conditions(a *attribute, element, around *model.Schema) {
	for _, cond := range slices.Concat(a.slots.where, a.slots.except) {
		c.walk(cond.names, element)
	}
	for _, name := range a.slots.having {
		c.walk([]string{name}, element)
	}
	for _, cond := range slices.Concat(a.when, a.unless) {
		c.walk(cond.names, around)
	}
}

func (c *fieldCheck) slots(s *slots, schema *model.Schema) []*model.Schema {
	var elements []*model.Schema
	for _, prefix := range s.prefixes {
		elements = append(elements, c.walk([]string{prefix + "0"}, schema))
	}
	return elements
}

func (c *fieldCheck) resolve(s *source, schema *model.Schema) *model.Schema {
	switch s.base {
	case fromRoot:
		schema = c.root
	case fromFound:
		schema = c.slots(s.found, c.root)[0]
	case fromElement:
	}
	return c.walk(s.names, schema)
}

// walk follows the names until the schema does not define the fields of a map. It returns nil for a
// value whose fields are not defined.
func (c *fieldCheck) walk(names []string, schema *model.Schema) *model.Schema {
	for i, name := range names {
		if schema == nil || len(schema.Fields) == 0 {
			return nil
		}
		below, ok := schema.Fields[name]
		if !ok && schema.Each == nil {
			c.add(strings.Join(names[:i+1], "."), name, schema)
		}
		schema = below
	}
	return schema
}

// add adds a field that a schema does not have.
func (c *fieldCheck) add(path, name string, schema *model.Schema) {
	if near, ok := suggest.Word(name, slices.Sorted(maps.Keys(schema.Fields))); ok {
		path += " (did you mean " + near + "?)"
	}
	if !slices.Contains(c.missing, path) {
		c.missing = append(c.missing, path)
	}
}
