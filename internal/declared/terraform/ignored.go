package terraform

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
	"github.com/driftd/driftd/internal/model"
)

// leftByTerraform is why the live value of an attribute in ignore_changes is not drift.
const leftByTerraform = "in ignore_changes: no apply changes it back"

// exemptIgnored exempts the attributes in ignore_changes from the comparison of a claim with the live resource of a governed
// source. attributes are those of the instance, from which the claim was mapped.
func exemptIgnored(c *model.Claim, attributes model.Value, ignored syntax.Ignored) {
	paths := ignored.Paths
	if ignored.All {
		paths = allAttributes(c.Lens)
	}
	for _, steps := range paths {
		if path, ok := claimPath(steps, attributes, c.Value, valueOf(c.Recorded)); ok {
			c.Delegated = append(c.Delegated, model.Delegation{Path: path, Why: leftByTerraform})
		}
	}
}

// allAttributes returns the paths of the attributes of a type. Live fields without an attribute are not below ignore_changes = all.
func allAttributes(lens model.Lens) [][]string {
	if lens == nil {
		return nil
	}
	fields := lens.Schema().Fields
	var paths [][]string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !fields[name].Stray {
			paths = append(paths, []string{name})
		}
	}
	return paths
}

// claimPath returns the path of an attribute in the form of Change.Path. ok is false if the claim does not have the attribute in
// the form of the instance: if it compares a list or a text as a whole, or lacks elements, so that positions differ.
func claimPath(steps []string, attributes, declared, recorded model.Value) (path string, ok bool) {
	var b strings.Builder
	for _, step := range steps {
		at, isPosition := position(step, attributes)
		sides := []model.Value{attributes, declared, recorded}
		for i, v := range sides {
			switch {
			case v.IsNull():
			case isPosition && (v.Kind() != model.List || len(v.Items()) != len(attributes.Items())), !isPosition && v.Kind() != model.Map:
				return "", false
			case isPosition:
				sides[i] = v.Items()[at]
			default:
				sides[i] = v.At(step)
			}
		}
		if isPosition {
			b.WriteString("[" + step + "]")
		} else {
			model.WriteField(&b, step)
		}
		attributes, declared, recorded = sides[0], sides[1], sides[2]
	}
	return b.String(), true
}

// position returns the position that a step means in a list; ok is false if the value is none, or is shorter.
func position(step string, v model.Value) (at int, ok bool) {
	at, err := strconv.Atoi(step)
	return at, err == nil && v.Kind() == model.List && at >= 0 && at < len(v.Items())
}
