package normalize

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// Changed returns the paths in the kind's values that differ between the two
// sides of a row of the changelog, sorted. Rows hold a choice as its value, a
// reference as an id, and counters and fields that driftd does not read, which
// it leaves out.
func Changed(k *Kind, before, after model.Value) []string {
	var paths []string
	for _, name := range differing(before, after) {
		if name == "custom_fields" {
			for _, field := range differing(before.At(name), after.At(name)) {
				paths = append(paths, CustomFieldPath(field))
			}
			continue
		}
		paths = append(paths, k.newer(name)...)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// newer returns the fields of the kind that a row's field stands for.
func (k *Kind) newer(name string) []string {
	if k.Has(name) {
		if name == "primary_mac_address" {
			return []string{"mac_address", name}
		}
		// An id of another model is that of another object, if it is the same number.
		if of, typed := strings.CutSuffix(name, "_type"); typed && k.Has(of+"_id") {
			return []string{of + "_id", name}
		}
		return []string{name}
	}
	for _, o := range k.older {
		if names, ok := o.told[name]; ok {
			return names
		}
	}
	if name == "object_permissions" && k.Has("permissions") {
		return []string{"permissions"}
	}
	return nil
}

// differing returns the names of the fields that two maps do not have in common,
// sorted. What says nothing is as good as absent.
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

// CustomFieldPath is where a custom field's value stands.
func CustomFieldPath(name string) string {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" {
		return "custom_fields." + name
	}
	return "custom_fields[" + strconv.Quote(name) + "]"
}
