package reconcile

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// An Applier puts back resources of one declaration with the declaration's own tool. An apply may change all resources
// of the declaration, and is never carried out without a person.
type Applier struct {
	Actuator

	// Sources are the sources that have resources of the declaration.
	Sources []string
}

// Writers are all that write.
type Writers struct {
	// Actuators write to sources, by their names.
	Actuators map[string]Actuator
	// Appliers apply declarations, by their names. They precede the actuators: the tool that made a resource keeps the
	// record of it.
	Appliers map[string]Applier
}

// For returns the actuator that puts a finding back; nil if there is none.
func (w *Writers) For(f *model.Finding) Actuator {
	if w.applies(f) {
		return w.Appliers[f.Declaration].Actuator
	}
	return w.Actuators[f.Source]
}

// applies reports whether a finding is put back by an Applier.
func (w *Writers) applies(f *model.Finding) bool { return w.Appliers[f.Declaration].Actuator != nil }

// of returns the actuator that carries out, or carried out, an action; nil if there is none any more.
func (w *Writers) of(a *Action) Actuator {
	if len(a.Plan.Addresses) > 0 {
		return w.Appliers[a.Declaration].Actuator
	}
	return w.Actuators[a.Subject.Source]
}

// Sources returns the sources that may be written to, sorted.
func (w *Writers) Sources() []string {
	var all []string
	for source := range w.Actuators {
		all = append(all, source)
	}
	for _, a := range w.Appliers {
		all = append(all, a.Sources...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
