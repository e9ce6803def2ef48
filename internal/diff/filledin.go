package diff

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// withoutDefaults returns a live list without a schema, without the fields that the system may have
// filled in: those that are neither declared nor recorded, in a list that no other writer than the
// applier wrote. Writers own such a list as a whole, and defaults in it belong to the request in which
// the system filled them in. The fields are recorded as exempt.
func (w *walk) withoutDefaults(d, r, l model.Value) model.Value {
	kept := withoutExtra(d, r, l)
	if kept.Equal(l) {
		return l
	}
	o, why := w.fillerIn(l)
	if why == "" {
		return l
	}
	w.exempt(l, o, why)
	return kept
}

// fillerIn returns the owner with whose write the system may have filled in fields of the live list at
// the walk's path, nil if no owner is recorded, and the evidence; "" if another writer changed the list.
func (w *walk) fillerIn(l model.Value) (o *model.Owner, why string) {
	const unknown = "no schema: the fields that are not declared may be defaults"
	owners := w.writers.ownersAt(w.path)
	if len(owners) == 0 {
		return nil, unknown
	}
	applied := func(o *model.Owner) bool { return w.writers.isApplier(o) || w.isMaker(o) }
	switch i := slices.IndexFunc(owners, applied); {
	case i >= 0:
		return owners[i], unknown
	case w.appliedSince(owners):
		return owners[0], unknown
	}
	for _, o := range owners {
		if why, _ := w.evidence(o, l); why != "" {
			return o, why
		}
	}
	return nil, ""
}

// isMaker reports whether the owner's entry is as old as the object, or represents writers from before
// the system recorded them. The log must have no edit under its name.
func (w *walk) isMaker(o *model.Owner) bool {
	return !o.Edits && (o.Inherits || o.At.Equal(w.live.Created)) &&
		lastEvent(w.subject.AuditEvents, func(t *model.AuditEvent) bool { return t.Action == model.Edited && t.Writer == o.Name }) == nil
}

// withoutExtra returns a live value without the fields that neither d nor r has. Lists are compared by
// position; a list of another length than d stays as it is.
func withoutExtra(d, r, l model.Value) model.Value {
	switch {
	case d.IsNull() && !r.IsNull():
		return withoutExtra(r, d, l)
	case d.Kind() == model.Map && l.Kind() == model.Map:
		var kept []model.Field
		for _, f := range l.Fields() {
			_, declared := d.Get(f.Name)
			if _, recorded := r.Get(f.Name); declared || recorded {
				kept = append(kept, model.Field{Name: f.Name, Value: withoutExtra(d.At(f.Name), r.At(f.Name), f.Value)})
			}
		}
		return model.MapOf(kept...)
	case sameLength(d, l):
		kept := make([]model.Value, len(l.Items()))
		for i := range kept {
			kept[i] = withoutExtra(d.Items()[i], itemAt(r, i), l.Items()[i])
		}
		return model.ListOf(kept...)
	}
	return l
}
