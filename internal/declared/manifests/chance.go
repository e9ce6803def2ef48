package manifests

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// maxByChance bounds the fields of an object that are left to chance.
const maxByChance = 100

// leftToChance marks the fields of a claim that have other values in further renderings. They are not
// compared. If equal inputs give these renderings, the claim is nondeterministic.
func (o *object) leftToChance(claim *model.Claim, options kube.ClaimOptions) error {
	paths, renderings, err := o.differing(claim, o.again, options)
	if err != nil {
		return err
	}
	if o.random && len(paths) > 0 {
		claim.Violations = append(claim.Violations, nondeterministic(claim.Kind, stablePaths(paths, renderings), strings.TrimPrefix(o.chance, "chance: ")))
	}
	// The value may be that of a Secret, a decrypted one, or a random password.
	o.delegate(claim, paths, model.Delegation{To: o.chance, Hidden: true})
	return nil
}

// leftToCluster marks the fields of a claim that depend on the API versions of the cluster, each of which must have
// one of its values, and the claim itself if the object does.
func (o *object) leftToCluster(claim *model.Claim, options kube.ClaimOptions) error {
	paths, renderings, err := o.differing(claim, o.otherwise, options)
	if err != nil {
		return err
	}
	for _, d := range claim.Delegated {
		delete(paths, d.Path) // chance determines it, for each cluster
	}
	if len(paths) > 0 {
		claim.Otherwise = renderings[1:]
	}
	o.delegate(claim, paths, model.Delegation{To: o.asked, Among: true})
	claim.OnlyLive = claim.OnlyLive || o.optional
	return nil
}

// differing returns the paths of the fields that differ between a claim and other renderings of
// its object, and all renderings.
func (o *object) differing(claim *model.Claim, others []model.Value, options kube.ClaimOptions) (paths map[string]bool, renderings []model.Value, err error) {
	paths, renderings = map[string]bool{}, []model.Value{claim.Value}
	for _, other := range others {
		same, err := kube.NewClaim(other, options)
		if err != nil {
			return nil, nil, err
		}
		renderings = append(renderings, same.Value)
		for _, change := range diff.Fields(options.SchemaOf(claim.Kind), claim.Value, same.Value) {
			paths[change.Path] = true
		}
	}
	return paths, renderings, nil
}

// delegate adds a delegation of each of the fields.
func (o *object) delegate(claim *model.Claim, paths map[string]bool, d model.Delegation) {
	if len(paths) > maxByChance {
		claim.Unchecked = cmp.Or(claim.Unchecked, fmt.Sprintf("%d fields are left to %s", len(paths), d.To))
		return
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		d.Path = path
		claim.Delegated = append(claim.Delegated, d)
	}
}

// stablePaths returns the paths of fields that differ between renderings, sorted, without the steps that
// only some renderings have: the name of a field or of an element is left to chance then. Paths below
// another one are left out.
func stablePaths(paths map[string]bool, renderings []model.Value) []string {
	stable := map[string]bool{}
	for path := range paths {
		stable[stablePath(path, renderings)] = true
	}
	maps.DeleteFunc(stable, func(path string, _ bool) bool {
		for above := range stable {
			rest, ok := strings.CutPrefix(path, above)
			if ok && rest != "" && (above == "" || rest[0] == '.' || rest[0] == '[') {
				return true
			}
		}
		return false
	})
	return slices.Sorted(maps.Keys(stable))
}

// maxChancePath bounds the length of a path in the reason of a violation.
const maxChancePath = 200

// stablePath returns the longest part of a path that all renderings have.
func stablePath(path string, renderings []model.Value) string {
	values, kept := slices.Clone(renderings), 0
	for kept < len(path) {
		end := kept + stepLength(path[kept:])
		steps, ok := fieldpath.Parse(path[kept:end])
		if !ok || len(steps) != 1 || end > maxChancePath || !descend(values, &steps[0]) {
			break
		}
		kept = end
	}
	return path[:kept]
}

// stepLength returns the length of the first step of a path, with the dot before it.
func stepLength(path string) int {
	if path[0] == '[' {
		bracket, _ := model.CutBracket(path)
		return len(bracket)
	}
	if end := strings.IndexAny(path[1:], ".["); end >= 0 {
		return end + 1
	}
	return len(path)
}

// descend replaces each value by the part that a step selects; it returns false if one has none. A
// position selects nothing: the order of elements can be left to chance, too.
func descend(values []model.Value, step *fieldpath.Step) bool {
	for i, v := range values {
		switch step.Kind {
		case fieldpath.Field:
			part, ok := v.Get(step.Name)
			if !ok {
				return false
			}
			values[i] = part
		case fieldpath.Keyed, fieldpath.Item:
			at := step.Element(v)
			if at < 0 {
				return false
			}
			values[i] = v.Items()[at]
		default:
			return false
		}
	}
	return true
}

// maxChancePaths bounds the paths in the reason of a violation.
const maxChancePaths = 5

// nondeterministic returns the violation of a claim with fields that differ between renderings of equal
// inputs. by is why they differ.
func nondeterministic(kind string, paths []string, by string) model.Violation {
	severity := model.Low
	if slices.ContainsFunc(paths, func(path string) bool { return kube.InPodTemplate(kind, path) }) {
		severity = model.Medium // each apply replaces the pods
	}
	named := cmp.Or(strings.Join(paths[:min(len(paths), maxChancePaths)], ", "), "field at the top")
	if more := len(paths) - maxChancePaths; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return model.Violation{
		Check: "helm/nondeterministic", Verdict: model.Nondeterministic, Severity: severity,
		Reason: by + ", so that each rendering has another " + named + ": set it in the values, or keep it in an object that the chart does not render",
		Actor:  model.UnknownActor("the chart itself is the cause"),
	}
}
