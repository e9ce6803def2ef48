package normalize

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// Changed returns the paths in the kind's values that differ between the two sides of a row of the
// changelog, sorted. In such rows, a choice is its value and a reference an ID. Changed omits
// counters and fields that driftd does not read.
func Changed(k *Kind, before, after model.Value) []string {
	var paths []string
	for _, name := range differing(before, after) {
		if name == "custom_fields" {
			for _, field := range differing(before.At(name), after.At(name)) {
				paths = append(paths, CustomFieldPath(field))
			}
			continue
		}
		paths = append(paths, k.fieldsOf(name)...)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// fieldsOf returns the fields of the kind that correspond to a field of a row.
func (k *Kind) fieldsOf(name string) []string {
	if k.Has(name) {
		if name == "primary_mac_address" {
			return []string{"mac_address", name}
		}
		// The same id of another model is another object.
		if of, typed := strings.CutSuffix(name, "_type"); typed && k.Has(of+"_id") {
			return []string{of + "_id", name}
		}
		return []string{name}
	}
	for _, o := range k.legacy {
		if names, ok := o.changelogNames[name]; ok {
			return names
		}
	}
	if name == "object_permissions" && k.Has("permissions") {
		return []string{"permissions"}
	}
	return nil
}

// differing returns the names of the fields that differ between two maps, sorted. Blank values
// equal absent ones.
func differing(a, b model.Value) []string {
	names := map[string]bool{}
	for _, f := range slices.Concat(a.Fields(), b.Fields()) {
		x, y := a.At(f.Name), b.At(f.Name)
		if !x.Equal(y) && !(table.Blank(x) && table.Blank(y)) {
			names[f.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// CustomFieldPath returns the path of the value of a custom field.
func CustomFieldPath(name string) string {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" {
		return "custom_fields." + name
	}
	return "custom_fields[" + strconv.Quote(name) + "]"
}
