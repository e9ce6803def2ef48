package workcopy

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
)

// absences are the reasons why files are missing, by folder and file name.
type absences map[string]map[string]error

// absentBelow returns the absences of files with slash-separated paths from a folder. It leaves out
// files that are never copied.
func absentBelow(dir string, reasons map[string]error) (absences, error) {
	if len(reasons) == 0 {
		return nil, nil
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	all := absences{}
	for name, reason := range reasons {
		within, base := filepath.Split(filepath.Join(dir, filepath.FromSlash(name)))
		if skipped(base) {
			continue
		}
		within = filepath.Clean(within)
		if all[within] == nil {
			all[within] = map[string]error{}
		}
		all[within][base] = reason
	}
	return all, nil
}

// of returns an error if a file, or a folder above it, is missing.
func (a absences) of(path string) error {
	for ; filepath.Dir(path) != path; path = filepath.Dir(path) {
		if reason := a[filepath.Dir(path)][filepath.Base(path)]; reason != nil {
			return needed(reason)
		}
	}
	return nil
}

// in returns an error if a file is missing in a folder.
func (a absences) in(dir string) error {
	names := slices.Sorted(maps.Keys(a[dir]))
	if len(names) == 0 {
		return nil
	}
	return needed(a[dir][names[0]])
}

func needed(reason error) error {
	return fmt.Errorf("copy root: %w; Terraform may need it: store it in the repository as a regular file", reason)
}
