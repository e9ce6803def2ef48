package kube

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// violations returns the checks that an object fails, sorted. whole is the object as the API
// server returns it, with its status. A client that can write the status of an object can add and hide
// violations, and nothing else: no other finding depends on it.
func violations(kind string, whole model.Value) []model.Violation {
	var all []model.Violation
	switch {
	case plainKind(kind) == "Application.argoproj.io":
		all = applicationViolations(whole)
	case isFlux(kind):
		all = fluxViolations(kind, whole)
	default:
		all = crossplaneViolations(kind, whole)
	}
	if held := heldDeletion(whole); held != nil {
		all = append(all, *held)
	}
	slices.SortStableFunc(all, func(a, b model.Violation) int { return cmp.Compare(a.Check, b.Check) })
	return all
}

// checkDeleting is the check that an object is not being deleted.
const checkDeleting = "kubernetes/deleting"

// heldDeletion returns the violation of an object that was deleted, and that only finalizers hold: nothing can undo the
// deletion, and the object is gone when they are. It returns nil for another object.
func heldDeletion(whole model.Value) *model.Violation {
	// A Namespace has those of its content in its spec.
	at := whole.At("metadata", "deletionTimestamp")
	finalizers := slices.Concat(whole.At("metadata", "finalizers").Items(), whole.At("spec", "finalizers").Items())
	if at.Str() == "" || len(finalizers) == 0 {
		return nil
	}
	names := make([]string, len(finalizers))
	for i, f := range finalizers {
		names[i] = f.Str()
	}
	actor := model.UnknownActor("managedFields do not show who deletes an object")
	actor.At = instant(at)
	return &model.Violation{Check: checkDeleting, Severity: model.High, Deletion: true, Actor: actor,
		Reason: "it is being deleted, which cannot be undone, and is gone as soon as nothing holds it: finalizers " + strings.Join(names, ", ")}
}

// undecided returns the checks of an object that cannot be judged now, sorted.
func undecided(kind string, whole model.Value) []string {
	if isFlux(kind) {
		return fluxUndecided(whole)
	}
	return nil
}

// installs returns the objects that a deployment tool installed according to the status of an
// object, sorted.
func installs(kind string, whole model.Value) []model.Ref {
	var all []model.Ref
	switch plainKind(kind) {
	case "Application.argoproj.io":
		all = applicationInstalls(whole)
	case fluxKustomization:
		all = fluxInstalls(whole)
	}
	slices.SortFunc(all, func(a, b model.Ref) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) })
	return slices.Compact(all)
}

// fillValues sets the values of violations with a path from the value of the resource, in which
// secrets are sealed.
func fillValues(r *model.Resource) {
	for i := range r.Violations {
		v := &r.Violations[i]
		if v.Path == "" || v.Value != nil {
			continue
		}
		if value := r.Value.At(strings.Split(v.Path, ".")...); !value.IsNull() {
			v.Value = &value
		}
	}
}

func fieldSteps(path ...string) []model.Step {
	steps := make([]model.Step, len(path))
	for i, name := range path {
		steps[i] = model.Step{Text: name}
	}
	return steps
}

// writerOf returns the last writer of a field according to managedFields. The confidence is at most
// Likely, since clients choose the name.
func writerOf(whole model.Value, path ...string) model.Actor {
	steps := fieldSteps(path...)
	list, err := owners("", whole.At("metadata", "managedFields"))
	if err != nil || len(list) == 0 {
		return model.UnknownActor("the object has no managedFields that can be read")
	}
	var last *model.Owner
	for i := range list {
		if o := &list[i]; o.Fields.Depth(steps) == len(steps) && (last == nil || o.At.After(last.At)) {
			last = o
		}
	}
	if last == nil {
		return model.UnknownActor("managedFields do not show who wrote the field, or removed it")
	}
	return model.Actor{Name: last.Name, At: last.At, Via: model.ViaManagedFields, Confidence: model.Likely}
}
