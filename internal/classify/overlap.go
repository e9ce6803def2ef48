package classify

import (
	"iter"

	"github.com/driftd/driftd/internal/model"
)

// overlap returns the number of fields of f that are also in e: the same field, a part of it, or a
// field that contains it. It includes fields that an ignore rule removed. Fields match by either
// path, since declarations may have different paths for one live path.
func overlap(e, f *model.Finding) int {
	paths, parents := map[string]bool{}, map[string]bool{}
	for _, field := range fieldsOf(e) {
		for _, path := range field {
			paths[path] = true
			for parent := range parentsOf(path) {
				parents[parent] = true
			}
		}
	}
	known := func(path string) bool {
		if path == "" {
			return false
		}
		for parent := range parentsOf(path) {
			if paths[parent] {
				return true
			}
		}
		return paths[path] || parents[path]
	}
	n := 0
	for _, field := range fieldsOf(f) {
		if known(field[0]) || known(field[1]) {
			n++
		}
	}
	return n
}

// fieldsOf returns the path and the live path of each field of a finding.
func fieldsOf(f *model.Finding) [][2]string {
	var fields [][2]string
	for i := range f.Changes {
		fields = append(fields, [2]string{f.Changes[i].Path, f.Changes[i].LivePath})
	}
	for i := range f.Ignored {
		fields = append(fields, [2]string{f.Ignored[i].Path, f.Ignored[i].LivePath})
	}
	return fields
}

// parentsOf yields the paths of the fields that contain the field at a path.
func parentsOf(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 1; i < len(path); i++ {
			if (path[i] == '.' || path[i] == '[') && !yield(path[:i]) {
				return
			}
		}
	}
}
