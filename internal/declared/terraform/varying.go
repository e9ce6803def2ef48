package terraform

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/model"
)

// varying holds the values that differ between plans of the same files, by the address of the instance.
type varying map[string][]plan.Varying

func varyingOf(list []plan.Varying) varying {
	found := varying{}
	for _, v := range list {
		found[v.Address] = append(found[v.Address], v)
	}
	return found
}

// markVarying marks the values of an instance that differ between plans in its claims. They are not compared, and the first claim is
// nondeterministic.
func markVarying(claims []model.Claim, i *plan.Instance, list []plan.Varying) {
	if len(list) == 0 || len(claims) == 0 {
		return
	}
	severity := model.Low
	if i.Action == "replace" {
		severity = model.Medium
	}
	for k := range claims {
		for _, v := range list {
			if v.Path != "" {
				claims[k].Delegated = append(claims[k].Delegated, model.Delegation{Path: v.Path, To: "chance: " + v.By})
			}
		}
	}
	claims[0].Violations = append(claims[0].Violations, nondeterministic(list, severity))
}

// violations returns the violations of resources of which each plan has other instances.
func (v varying) violations() []model.PartViolation {
	var list []model.PartViolation
	for _, address := range slices.Sorted(maps.Keys(v)) {
		list = append(list, model.PartViolation{Address: address, Violation: nondeterministic(v[address], model.Medium)})
	}
	return list
}

// maxVaryingPaths bounds the paths in the reason of a violation.
const maxVaryingPaths = 5

// nondeterministic returns the violation of an instance or a resource with values that differ between plans.
func nondeterministic(list []plan.Varying, severity model.Severity) model.Violation {
	var paths, causes []string
	for _, v := range list {
		causes = append(causes, v.By)
		if v.Path != "" {
			path := v.Path
			if v.List {
				path += " (no element of this list is compared)"
			}
			paths = append(paths, path)
		}
	}
	named := "set of instances"
	if len(paths) > 0 {
		named = strings.Join(paths[:min(len(paths), maxVaryingPaths)], ", ")
	}
	if more := len(paths) - maxVaryingPaths; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	slices.Sort(causes)
	return model.Violation{
		Check: "terraform/nondeterministic", Verdict: model.Nondeterministic, Severity: severity,
		Reason: strings.Join(slices.Compact(causes), ", ") + ": each plan of the same files has another " + named +
			": use a value that the files or the state have, or list the attribute in ignore_changes",
		Actor: model.UnknownActor("the configuration itself is the cause"),
	}
}
