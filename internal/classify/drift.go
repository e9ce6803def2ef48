package classify

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A changedField is one changed field of a resource.
type changedField struct {
	resource model.Value
	// path leads to the field without list keys, steps with them.
	path  string
	steps []step
	// live is the field's live value and before the declared one, or else the
	// recorded one; null where it is absent.
	live, before model.Value
}

func newChangedField(s *model.Subject, claim *model.Claim, c *model.Change) *changedField {
	d := &changedField{before: valueOf(cmp.Or(c.Declared, c.Recorded)), live: valueOf(c.Live)}
	if s.Live != nil {
		d.resource = s.Live.Value
	}
	if claim != nil && claim.LiveRead != nil {
		for _, f := range claim.LiveRead.Value.Fields() {
			d.resource = d.resource.With(f.Name, f.Value)
		}
	}
	path := cmp.Or(c.LivePath, c.Path)
	d.path, d.steps = model.WithoutKeys(path), parseSteps(path, c.LivePath != "")
	return d
}

func valueOf(v *model.Value) model.Value {
	if v == nil {
		return model.Value{}
	}
	return *v
}

// fits reports whether a rule matches the change.
func (d *changedField) fits(rule *model.SeverityRule) bool {
	switch {
	case rule.Removed:
		return d.removes(rule)
	case rule.Path != "" && !model.Below(d.path, rule.Path) && !d.has(d.live, rule.Path):
		return false
	}
	return len(rule.Where) == 0 || d.causes(rule.Where)
}

// has reports whether a value at the change's path has the field at a longer path.
func (d *changedField) has(v model.Value, path string) bool {
	if !model.Below(path, d.path) {
		return false
	}
	field := model.Condition{Path: strings.TrimPrefix(path[len(d.path):], "."), Present: true}
	return !v.IsNull() && field.Holds(v)
}

// removes reports whether the change removes the field that a rule is about, or elements
// of it.
func (d *changedField) removes(rule *model.SeverityRule) bool {
	removed, nothing := added(d.before, d.live)
	if nothing || !d.live.IsNull() && d.live.Kind() != model.List || d.path != rule.Path && !d.has(removed, rule.Path) {
		return false
	}
	before, ok := d.with(d.steps, d.resource, removed, false)
	return len(rule.Where) == 0 || ok && model.HoldsAll(rule.Where, before)
}

// causes reports whether the values that the change added meet the conditions. If the change only
// removed values, it reports whether the remaining values meet them.
func (d *changedField) causes(where []model.Condition) bool {
	brought, nothing := added(d.live, d.before)
	after, ok := d.with(d.steps, d.resource, brought, true)
	switch {
	case !ok && nothing && slices.ContainsFunc(d.steps, func(s step) bool { return s.element }):
		return false
	case !ok: // The change is in the form of its declaration.
		return model.HoldsAll(where, d.resource)
	case !nothing || !slices.ContainsFunc(where, func(c model.Condition) bool { return d.concerns(&c, "") }):
		return model.HoldsAll(where, after)
	}
	after, _ = d.with(d.steps, d.resource, d.live, true)
	before, _ := d.with(d.steps, d.resource, d.before, true)
	return model.HoldsAll(where, after) && !model.HoldsAll(where, before)
}

// concerns reports whether a condition, whose path begins at from, depends on the changed
// field.
func (d *changedField) concerns(c *model.Condition, from string) bool {
	at := strings.Trim(from+"."+c.Path, ".")
	if model.Below(d.path, at) && len(c.With) > 0 {
		return slices.ContainsFunc(c.With, func(c model.Condition) bool { return d.concerns(&c, at) })
	}
	return model.Overlap(d.path, at)
}

// with returns the part of the resource at the steps, with another value for the changed field. Of
// each list on the path it keeps the elements in which the field has the live value of the change;
// if there are none, ok is false. A removed element is put back into its list, together with the
// other elements if keep is set.
func (d *changedField) with(steps []step, v, field model.Value, keep bool) (_ model.Value, ok bool) {
	if len(steps) == 0 {
		return field, v.Equal(d.live)
	}
	to, rest := steps[0], steps[1:]
	if !to.element {
		below, ok := d.with(rest, v.At(to.name), field, keep)
		return v.With(to.name, below), ok
	}
	items := v.Items()
	if len(rest) == 0 && d.live.IsNull() {
		if !keep {
			items = nil
		}
		if !field.IsNull() {
			items = append(slices.Clone(items), field)
		}
		return model.ListOf(items...), v.Kind() == model.List || v.IsNull()
	}
	var kept []model.Value
	for i, item := range items {
		if to.index != anywhere && to.index != i {
			continue
		}
		if below, ok := d.with(rest, item, field, keep); ok {
			kept = append(kept, below)
		}
	}
	return model.ListOf(kept...), len(kept) > 0
}

// added returns the part of a live value that an earlier value does not contain, if both are lists
// or maps of lists; otherwise the live value. It reports whether the result is empty.
func added(live, before model.Value) (_ model.Value, nothing bool) {
	if live.Kind() != before.Kind() {
		return live, live.IsNull() || live.Kind() == model.List && live.IsEmpty()
	}
	switch live.Kind() {
	case model.List:
		items := slices.DeleteFunc(slices.Clone(live.Items()), func(item model.Value) bool {
			return slices.ContainsFunc(before.Items(), item.Equal)
		})
		return model.ListOf(items...), len(items) == 0
	case model.Map:
		fields := slices.Clone(live.Fields())
		for i := range fields {
			fields[i].Value, _ = added(fields[i].Value, before.At(fields[i].Name))
		}
		return model.MapOf(fields...), false
	}
	return live, live.IsNull()
}
