package plan

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// replacePaths converts the replace_paths of a plan: [["disk", 0, "size"]] is "disk.size".
func replacePaths(raw []any) []model.Replacement {
	var replaces []model.Replacement
	for _, steps := range raw {
		var names []string
		list, _ := steps.([]any)
		for _, step := range list {
			if name, ok := step.(string); ok {
				names = append(names, name)
			}
		}
		replacement := model.Replacement{Path: strings.Join(names, ".")}
		if len(names) > 0 && !slices.Contains(replaces, replacement) {
			replaces = append(replaces, replacement)
		}
	}
	return replaces
}
