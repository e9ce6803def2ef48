package state

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// dynamic returns the value of a dynamic attribute. Terraform encodes one as {"value": …, "type":
// …}, in this order. An object with attributes of these names has them in alphabetical order, like
// all objects.
func dynamic(fields []model.Field) (model.Value, bool) {
	if len(fields) != 2 || fields[0].Name != "value" || fields[1].Name != "type" {
		return model.Value{}, false
	}
	return fields[0].Value, conforms(fields[0].Value, fields[1].Value)
}

// conforms reports whether v has a type in cty's JSON notation: "string", ["list", T], ["object",
// {"a": T}], ["tuple", [T, …]].
func conforms(v, typ model.Value) bool {
	if typ.Kind() == model.String {
		return conformsScalar(v, typ.Str())
	}
	parts := typ.Items()
	if len(parts) < 2 {
		return false
	}
	of := parts[1]
	switch parts[0].Str() {
	case "list", "set":
		return isNullOr(v, model.List) && !slices.ContainsFunc(v.Items(), func(item model.Value) bool {
			return !conforms(item, of)
		})
	case "map":
		return isNullOr(v, model.Map) && !slices.ContainsFunc(v.Fields(), func(f model.Field) bool {
			return !conforms(f.Value, of)
		})
	case "tuple":
		return isNullOr(v, model.List) && slices.EqualFunc(v.Items(), of.Items(), conforms)
	case "object":
		return isNullOr(v, model.Map) && slices.EqualFunc(v.Fields(), of.Fields(), func(f, typ model.Field) bool {
			return f.Name == typ.Name && conforms(f.Value, typ.Value)
		})
	}
	return false
}

func conformsScalar(v model.Value, typ string) bool {
	switch typ {
	case "string":
		return isNullOr(v, model.String)
	case "number":
		return isNullOr(v, model.Number)
	case "bool":
		return isNullOr(v, model.Bool)
	}
	return typ == "dynamic" && v.IsNull()
}

func isNullOr(v model.Value, kind model.ValueKind) bool { return v.IsNull() || v.Kind() == kind }
