package manifests

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// maxByChance bounds the fields of an object that are left to chance.
const maxByChance = 100

// leftToChance marks the fields of a claim that have other values in further renderings. They are not
// compared. If equal inputs give these renderings, the claim is nondeterministic.
func (o *object) leftToChance(claim *model.Claim, options kube.ClaimOptions) error {
	paths, shown := map[string]bool{}, map[string]bool{}
	for _, other := range o.again {
		same, err := kube.NewClaim(other, options)
		if err != nil {
			return err
		}
		for _, change := range diff.Fields(options.SchemaOf(claim.Kind), claim.Value, same.Value) {
			paths[change.Path] = true
			shown[stablePath(&change)] = true
		}
	}
	if o.random && len(paths) > 0 {
		claim.Violations = append(claim.Violations, nondeterministic(slices.Sorted(maps.Keys(shown)), strings.TrimPrefix(o.chance, "chance: ")))
	}
	if len(paths) > maxByChance {
		claim.Unchecked = cmp.Or(claim.Unchecked, fmt.Sprintf("%d fields are left to %s", len(paths), o.chance))
		return nil
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		claim.Delegated = append(claim.Delegated, model.Delegation{Path: path, To: o.chance})
	}
	return nil
}

// stablePath returns the path of a field that differs between renderings, or, if only one of them has
// the field, the path of what contains it: the name of the field is left to chance then.
func stablePath(c *model.Change) string {
	if c.Recorded != nil && c.Live != nil {
		return c.Path
	}
	return c.Path[:max(0, strings.LastIndexAny(c.Path, ".["))]
}

// maxChancePaths bounds the paths in the reason of a violation.
const maxChancePaths = 5

// nondeterministic returns the violation of a claim with fields that differ between renderings of equal
// inputs. by is why they differ.
func nondeterministic(paths []string, by string) model.Violation {
	severity := model.Low
	if slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(path, "spec.template") }) {
		severity = model.Medium // each apply replaces the pods
	}
	named := strings.Join(paths[:min(len(paths), maxChancePaths)], ", ")
	if more := len(paths) - maxChancePaths; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return model.Violation{
		Check: "helm/nondeterministic", Verdict: model.Nondeterministic, Severity: severity,
		Reason: by + ", so that each rendering has another " + named + ": set it in the values, or keep it in an object that the chart does not render",
		Actor:  model.UnknownActor("the chart itself is the cause"),
	}
}
