package plan

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// replacePaths converts the replace_paths of a plan: [["disk", 0, "size"]] is "disk.size". It quotes
// names in the way of the paths of changes: ["labels", "a.b/c"] is labels["a.b/c"].
func replacePaths(raw []any) []model.Replacement {
	var replaces []model.Replacement
	for _, steps := range raw {
		var path strings.Builder
		list, _ := steps.([]any)
		for _, step := range list {
			if name, ok := step.(string); ok {
				model.WriteField(&path, name)
			}
		}
		replacement := model.Replacement{Path: path.String()}
		if path.Len() > 0 && !slices.Contains(replaces, replacement) {
			replaces = append(replaces, replacement)
		}
	}
	return replaces
}
