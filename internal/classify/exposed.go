package classify

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// exposedContent returns the values of the fields with which an unmanaged resource gives rights or a way into a network.
// They are part of the basis: an acceptance of a rule does not hold for what the rule allows later. Code changes with every
// release of a program, so that fields that only decide about code are left out.
func exposedContent(s *model.Subject, f *model.Finding) []model.Value {
	if f.Verdict != model.Unmanaged || f.Check != "" || s.Live == nil || s.Kind == nil {
		return nil
	}
	var content []model.Value
	for _, e := range s.Kind.Exposed {
		switch {
		case e.What == model.ExposesCode:
		case e.Path == "":
			labels, _, _ := strings.Cut(s.Kind.Labels, ".")
			content = append(content, settled(s.Live.Value.Without(labels), s.Kind.Schema))
		default:
			value, schema := s.Live.Value, s.Kind.Schema
			for name := range strings.SplitSeq(e.Path, ".") {
				if value.Kind() == model.Map {
					value, schema = value.At(name), schema.Field(name)
				}
			}
			content = append(content, settled(value, schema))
		}
	}
	return content
}

// settled returns a value without the parts that the system sets, and with lists in an order that does not depend on
// that of the value.
func settled(v model.Value, schema *model.Schema) model.Value {
	switch v.Kind() {
	case model.Map:
		var fields []model.Field
		for _, f := range v.Fields() {
			of := schema.Field(f.Name)
			if of != nil && (of.Volatile || of.Generated || of.Derived) || f.Value.IsEmpty() {
				continue
			}
			fields = append(fields, model.Field{Name: f.Name, Value: settled(f.Value, of)})
		}
		return model.MapOf(fields...)
	case model.List:
		items := make([]model.Value, 0, len(v.Items()))
		for _, item := range v.Items() {
			items = append(items, settled(item, schema.Element()))
		}
		slices.SortFunc(items, func(a, b model.Value) int {
			return strings.Compare(string(a.AppendJSON(nil)), string(b.AppendJSON(nil)))
		})
		return model.ListOf(items...)
	}
	return v
}
