package plan

import (
	"slices"
	"strconv"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
)

// Disagrees returns the paths of known values in a that differ from the declared values of the plan. Such
// values depend on inputs other than literals, such as an environment variable, or a provider normalizes
// them.
func (f *Form) Disagrees(a Arranged) [][]model.Step {
	c := &comparing{unknown: a.Unknown}
	c.node(f.schema, a.Value, valueAt(f.declared), nil)
	return c.found
}

// A comparing collects the paths at which two trees differ.
type comparing struct {
	unknown, found [][]model.Step
}

func (c *comparing) node(schema *model.Schema, a, b model.Value, path []model.Step) {
	switch {
	case slices.ContainsFunc(c.unknown, func(p []model.Step) bool { return slices.Equal(p, path) }):
	case a.Kind() == model.Map && (b.Kind() == model.Map || b.IsNull()):
		for _, name := range (sides{d: a, r: b}).names(nil) {
			c.node(schema.Field(name), a.At(name), b.At(name), appended(path, model.Step{Text: name}))
		}
	case a.Kind() == model.List && b.Kind() == model.List && len(a.Items()) == len(b.Items()) && ordered(schema):
		for i := range a.Items() {
			c.node(schema.Element(), a.Items()[i], b.Items()[i], appended(path, model.Step{Kind: model.IndexStep, Text: strconv.Itoa(i)}))
		}
	case !diff.Equal(schema, a, b):
		c.found = append(c.found, path)
	}
}

func ordered(schema *model.Schema) bool { return schema != nil && schema.List == model.Ordered }
