package normalize

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// maxKept limits the texts that are kept of deleted objects, in bytes.
const maxKept = 256

// LastValue returns the scalars of a deleted object that have the form of the kind's values, for
// the kinds that identify a virtual machine. For other kinds it returns null.
func LastValue(k *Kind, e Entry, models Models) model.Value {
	if !slices.Contains([]string{"virtualization.virtualmachine", "virtualization.vminterface", "dcim.macaddress"}, k.Model) {
		return model.Value{}
	}
	var fields []model.Field
	for _, f := range e.Before.Fields() {
		switch of, typed := strings.CutSuffix(f.Name, "_type"); {
		case f.Name == "custom_fields":
			fields = append(fields, model.Field{Name: f.Name, Value: scalarsOf(f.Value)})
		case typed && k.Has(of+"_id"):
			fields = append(fields, model.Field{Name: f.Name, Value: model.StringOf(models.named(f.Value))})
		case k.literal(f.Name) && isKept(f.Value):
			fields = append(fields, f)
		}
	}
	return model.MapOf(fields...)
}

func scalarsOf(v model.Value) model.Value {
	return model.MapOf(slices.DeleteFunc(slices.Clone(v.Fields()), func(f model.Field) bool { return !isKept(f.Value) })...)
}

func isKept(v model.Value) bool {
	return !v.IsNull() && v.Kind() < model.List && len(v.Text()) <= maxKept
}
