package plan

import (
	"fmt"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/driftd/driftd/internal/model"
)

// failures are the errors of a partial plan in the order of their reports, without the plan's
// secrets.
type failures []Diagnostic

// newFailures returns the diagnostics without the values that the plan marks as sensitive.
func newFailures(in Input) failures {
	if len(in.Diagnostics) == 0 {
		return nil
	}
	mask := newMask(in.Plan.secrets())
	list := make(failures, len(in.Diagnostics))
	for i, d := range in.Diagnostics {
		list[i] = Diagnostic{Address: d.Address, Summary: mask.hide(d.Summary), Detail: mask.hide(d.Detail)}
	}
	return list
}

// summary returns one line for all failures.
func (f failures) summary() string {
	if len(f) == 0 {
		return "the plan is partial, without an error"
	}
	switch text := f[0].located(); len(f) {
	case 1:
		return text
	case 2:
		return text + " (and 1 more error)"
	default:
		return fmt.Sprintf("%s (and %d more errors)", text, len(f)-1)
	}
}

// located returns the text, prefixed with the address.
func (d Diagnostic) located() string {
	if d.Address == "" {
		return d.Text()
	}
	return d.Address + ": " + d.Text()
}

// of returns the reason why an object was not planned: its own error, one of its dependencies, one
// of its provider, or the first error of all.
func (f failures) of(address, provider string, dependsOn []string) string {
	own := func(d Diagnostic) bool { return d.Address == address || d.Address == withoutKeys(address) }
	upstream := func(d Diagnostic) bool { return d.Address != "" && slices.Contains(dependsOn, withoutKeys(d.Address)) }
	providers := func(d Diagnostic) bool {
		return provider != "" && strings.Contains(d.Address, `provider["`+provider+`"]`)
	}
	if i := slices.IndexFunc(f, own); i >= 0 {
		return f[i].Text()
	}
	if i := slices.IndexFunc(f, upstream); i >= 0 {
		return "depends on " + f[i].located()
	}
	if i := slices.IndexFunc(f, providers); i >= 0 {
		return f[i].located()
	}
	return "not planned because of another error: " + f.summary()
}

// unplanned adds the recorded or declared objects that a partial plan has no change for.
func (r *reader) unplanned() {
	for _, s := range r.Plan.recorded() {
		key := objectKey{s.Address, s.DeposedKey}
		if s.Mode == tfjson.DataResourceMode || r.seen[key] || !r.Plan.Errored {
			continue
		}
		i := Instance{Address: s.Address, Deposed: s.DeposedKey, Module: moduleOf(s.Address), Type: s.Type, Name: s.Name,
			Provider: s.ProviderName, Schema: r.Schemas.schema(s.ProviderName, s.Type),
			Unchecked: r.failures.of(s.Address, s.ProviderName, s.DependsOn)}
		v := valueOf(s.AttributeValues)
		m := r.marksOf(i, sides{r: v})
		m.add(sensitiveValues(s))
		i.ID, i.Recorded = m.shownID(sides{r: v}), m.side(r.sealer, v)
		i.Whole.Recorded = i.Recorded
		r.add(i)
	}
	r.addUncreated()
}

// addUncreated adds the objects without count or for_each that are in the configuration, but
// neither in a partial plan nor in the state.
func (r *reader) addUncreated() {
	if !r.Plan.Errored || r.Plan.Config == nil {
		return
	}
	known := map[string]bool{}
	for key := range r.seen {
		known[withoutKeys(key.address)] = true
	}
	for address, c := range r.config {
		if c.Mode == tfjson.DataResourceMode || known[address] {
			continue
		}
		if repeated(r.Plan.Config.RootModule, address) {
			r.unlisted = true
			continue
		}
		r.add(Instance{Address: address, Module: moduleOf(address), Type: c.Type, Name: c.Name,
			Unchecked: r.failures.of(address, "", nil)})
	}
}

// repeated reports whether count or for_each determines the number of instances of a resource, or
// of a module that contains it.
func repeated(m *tfjson.ConfigModule, address string) bool {
	for m != nil {
		rest, inside := strings.CutPrefix(address, "module.")
		if !inside {
			break
		}
		name, below, _ := strings.Cut(rest, ".")
		call := m.ModuleCalls[name]
		if call == nil || call.CountExpression != nil || call.ForEachExpression != nil {
			return true
		}
		m, address = call.Module, below
	}
	return m == nil || slices.ContainsFunc(m.Resources, func(c *tfjson.ConfigResource) bool {
		return c.Address == address && (c.CountExpression != nil || c.ForEachExpression != nil)
	})
}

// deferred adds a change that Terraform deferred.
func (r *reader) deferred(d *tfjson.DeferredResourceChange) {
	if d == nil || d.ResourceChange == nil || d.ResourceChange.Change == nil || d.ResourceChange.Mode == tfjson.DataResourceMode {
		return
	}
	i := r.describe(d.ResourceChange)
	i.LiveRead = false
	i.Unchecked = "deferred by the plan (" + strings.ReplaceAll(d.Reason, "_", " ") + ")"
	r.add(i)
}

// recorded returns the objects in the refreshed state.
func (p *Plan) recorded() []*tfjson.StateResource {
	if p.PriorState == nil || p.PriorState.Values == nil {
		return nil
	}
	return resourcesBelow(p.PriorState.Values.RootModule)
}

func resourcesBelow(m *tfjson.StateModule) []*tfjson.StateResource {
	if m == nil {
		return nil
	}
	list := slices.DeleteFunc(slices.Clone(m.Resources), func(s *tfjson.StateResource) bool { return s == nil })
	for _, child := range m.ChildModules {
		list = append(list, resourcesBelow(child)...)
	}
	return list
}

// moduleOf returns the module part of an instance's address.
func moduleOf(address string) string {
	module, rest := "", address
	for strings.HasPrefix(rest, "module.") {
		end := endOfStep(rest, len("module."))
		module, rest = address[:len(address)-len(rest)+end], strings.TrimPrefix(rest[end:], ".")
	}
	return module
}

// endOfStep returns the end of the address step whose name begins at from.
func endOfStep(address string, from int) int {
	quoted := false
	for i := from; i < len(address); i++ {
		switch c := address[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '.' && !quoted:
			return i
		}
	}
	return len(address)
}

// checks adds the check blocks. If there is a refresh-only plan, its results are used: a normal
// plan evaluates checks with the values after an apply.
func (r *reader) checks() {
	list := r.Plan.Checks
	if r.RefreshOnly != nil {
		list = r.RefreshOnly.Checks
	}
	mask := newMask(nil)
	if slices.ContainsFunc(list, isFailedCheck) {
		mask = newMask(r.Plan.secrets())
	}
	for _, c := range list {
		if c.Address.Kind == tfjson.CheckKindCheckBlock {
			r.add(r.check(c, mask))
		}
	}
}

func isFailedCheck(c tfjson.CheckResultStatic) bool {
	return c.Address.Kind == tfjson.CheckKindCheckBlock && c.Status != tfjson.CheckStatusPass
}

// check returns an instance for a check block. Its declared status is "pass".
func (r *reader) check(c tfjson.CheckResultStatic, mask mask) Instance {
	status := func(s tfjson.CheckStatus) *model.Value {
		v := model.MapOf(model.Field{Name: "status", Value: model.StringOf(string(s))})
		return &v
	}
	i := Instance{Address: c.Address.ToDisplay, Module: c.Address.Module, Type: CheckType, Name: c.Address.Name,
		ID: c.Address.ToDisplay, LiveRead: true, Action: "no-op", Schema: anySchema(),
		Declared: status(tfjson.CheckStatusPass), Recorded: status(tfjson.CheckStatusPass), Live: status(c.Status)}
	messages := []model.Value{}
	for _, instance := range c.Instances {
		for _, p := range instance.Problems {
			messages = append(messages, model.StringOf(mask.hide(p.Message)))
		}
	}
	switch {
	case c.Status == tfjson.CheckStatusFail && len(messages) > 0:
		live := i.Live.With("problems", model.ListOf(messages...))
		i.Live = &live
	case c.Status == tfjson.CheckStatusError:
		i.Live, i.LiveRead = nil, false
		i.Unchecked = "the check failed to run: " + r.failures.of(i.Address, "", nil)
	case c.Status == tfjson.CheckStatusUnknown:
		i.Live, i.LiveRead = nil, false
		i.Unchecked = "the check depends on a value that is unknown until an apply, or on a failed object"
	}
	return i
}
