package reconcile

import (
	"cmp"
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
	// Recorders write what is live into declarations, by their names.
	Recorders map[string]Recorder
}

// A Recorder writes what is live into a declaration.
type Recorder struct {
	Actuator

	// Source is the source that the declaration is read from, and Governs the sources that it declares.
	Source  string
	Governs []string
}

// For returns the actuator that carries out a rule for a finding; nil if there is none.
func (w *Writers) For(f *model.Finding, rule *Rule) Actuator {
	switch {
	case rule.records():
		return w.Recorders[w.seen(f, rule).Declaration].Actuator
	case w.applies(f, rule):
		return w.Appliers[f.Declaration].Actuator
	}
	return w.Actuators[f.Source]
}

// seen returns a finding as the declaration has it that a rule changes. A dispute is about several declarations: it is the
// only one of them that has a Recorder, or none. Otherwise it returns the finding itself.
func (w *Writers) seen(f *model.Finding, rule *Rule) *model.Finding {
	if !rule.records() || f.Verdict != model.Disputed {
		return f
	}
	own := *f
	own.Declaration, own.Changes = "", slices.Clone(f.Changes)
	for i := range own.Changes {
		c := &own.Changes[i]
		c.Claims = slices.Clone(c.Claims)
		for k := range c.Claims { // those without a path have that of the change
			c.Claims[k].Path = cmp.Or(c.Claims[k].Path, f.Changes[i].Path)
		}
		for _, claimed := range c.Claims {
			switch {
			case w.Recorders[claimed.Declaration].Actuator == nil:
			case own.Declaration != "" && own.Declaration != claimed.Declaration:
				own.Declaration = ""
				return &own
			default:
				own.Declaration, own.Address = claimed.Declaration, claimed.Address
				c.Path, c.Declared = claimed.Path, &claimed.Value
			}
		}
	}
	return &own
}

// applies reports whether a rule puts a finding back with an Applier.
func (w *Writers) applies(f *model.Finding, rule *Rule) bool {
	return !rule.records() && w.Appliers[f.Declaration].Actuator != nil
}

// of returns the actuator that carries out, or carried out, an action; nil if there is none any more.
func (w *Writers) of(a *Action) Actuator {
	switch {
	case a.Plan.Records:
		return w.Recorders[a.Declaration].Actuator
	case len(a.Plan.Addresses) > 0:
		return w.Appliers[a.Declaration].Actuator
	}
	return w.Actuators[a.Subject.Source]
}

// Reads returns the source that shows what an action changed.
func (w *Writers) Reads(a *Action) string {
	if a.Plan.Records {
		return w.Recorders[a.Declaration].Source
	}
	return a.Subject.Source
}

// Sources returns the sources with findings that actions may be about, sorted.
func (w *Writers) Sources() []string {
	var all []string
	for source := range w.Actuators {
		all = append(all, source)
	}
	for _, a := range w.Appliers {
		all = append(all, a.Sources...)
	}
	for _, r := range w.Recorders {
		all = append(all, r.Governs...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
