package reconcile

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// An Applier resolves findings of one declaration with the declaration's own tool. Because an apply may
// change all resources of the declaration, it always requires a person.
type Applier struct {
	Actuator

	// Sources are the names of the sources that contain resources of the declaration.
	Sources []string
}

// Writers are all actuators, appliers and recorders.
type Writers struct {
	// Actuators maps the names of sources to the actuators that write to them.
	Actuators map[string]Actuator
	// Appliers maps the names of declarations to their appliers. An applier takes precedence over an
	// actuator, because the tool that created a resource keeps a record of it.
	Appliers map[string]Applier
	// Recorders maps the names of declarations to their recorders.
	Recorders map[string]Recorder
}

// A Recorder writes live values into a declaration.
type Recorder struct {
	Actuator

	// Source is the source from which the declaration is read. Governs are the names of the sources that
	// the declaration governs.
	Source  string
	Governs []string
}

// For returns the actuator that carries out a rule for a finding, or nil if there is none.
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

// Reads returns the name of the source in which the result of an action is visible.
func (w *Writers) Reads(a *Action) string {
	if a.Plan.Records {
		return w.Recorders[a.Declaration].Source
	}
	return a.Subject.Source
}

// sources returns the names of the sources that an action concerns: those of its resources, and the one that it writes
// to.
func (w *Writers) sources(a *Action) []string {
	all := []string{w.Reads(a)} // "" if the recorder is gone
	for _, key := range a.resources() {
		all = append(all, key.Source)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Sources returns the names of the sources that actions can concern, sorted: those of findings, and those of
// declarations that are written.
func (w *Writers) Sources() []string {
	var all []string
	for source := range w.Actuators {
		all = append(all, source)
	}
	for _, a := range w.Appliers {
		all = append(all, a.Sources...)
	}
	for _, r := range w.Recorders {
		all = append(append(all, r.Source), r.Governs...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
