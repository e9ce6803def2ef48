package shape

import (
	"maps"
	"slices"
	"strconv"
	"strings"

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
		if !x.Equal(y) && !(isBlank(x) && isBlank(y)) {
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

// A Written is a field as an edit left it: its path, the names that lead to it,
// and its value.
type Written struct {
	Path  string
	Names []string
	Value model.Value
}

// maxWritten bounds the texts that are remembered of an edit, in bytes.
const maxWritten = 256

// WrittenBy returns what an edit left in the fields whose rows and values say
// one thing in the same words: scalars that are no secrets.
func WrittenBy(k *Kind, before, after model.Value) []Written {
	var all []Written
	for _, name := range differing(before, after) {
		if name != "custom_fields" {
			if i := slices.IndexFunc(k.fields, func(f field) bool { return f.name == name }); i >= 0 && k.fields[i].form.literal {
				all = addScalar(all, Written{name, []string{name}, after.At(name)})
			}
			continue
		}
		for _, custom := range differing(before.At(name), after.At(name)) {
			all = addScalar(all, Written{CustomFieldPath(custom), []string{name, custom}, after.At(name, custom)})
		}
	}
	return all
}

func addScalar(all []Written, w Written) []Written {
	if w.Value.Kind() >= model.List || len(w.Value.Text()) > maxWritten {
		return all
	}
	return append(all, w)
}

// Left tells whether an object may hold what the edit left: whether nobody
// changed the field since without a row of the changelog. What it cannot tell
// may be.
func (w *Written) Left(object model.Value) bool {
	live := object.At(w.Names...)
	switch {
	case live.Kind() >= model.List || live.Equal(w.Value):
		return true
	case live.IsEmpty() || w.Value.IsEmpty():
		return live.IsEmpty() && w.Value.IsEmpty()
	}
	a, errA := strconv.ParseFloat(live.Text(), 64)
	b, errB := strconv.ParseFloat(w.Value.Text(), 64)
	switch {
	case errA == nil && errB == nil:
		// A size was counted in GB before 4.1.
		return a == b || a == 1000*b
	case live.Kind() != w.Value.Kind():
		return true
	}
	return strings.EqualFold(strings.Join(strings.Fields(live.Text()), " "), strings.Join(strings.Fields(w.Value.Text()), " "))
}
