package plan

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"github.com/hashicorp/terraform-exec/tfexec"
	tfjson "github.com/hashicorp/terraform-json"

	"github.com/driftd/driftd/internal/declared/terraform/plan/policy"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
)

// read reads a plan, with the values that agree replaces. The notes are why values may have been left as they are.
func (r *runner) read(ctx context.Context, in Input) (Result, []policy.Note) {
	res := Read(in, r.Sealer)
	if in.Plan.Errored {
		return res, nil
	}
	agreed, err := r.agree(ctx, &in, &res)
	switch {
	case err != nil:
		return res, []policy.Note{{Place: cmp.Or(r.Shown, r.Dir), Text: err.Error()}}
	case agreed:
		res = Read(in, r.Sealer)
	}
	return res, nil
}

// agree replaces planned values that the provider takes for the recorded ones, sets in.Unset, and reports whether
// there are any of either. Only a plan without a refresh shows both, and it is made only for attributes that it matters for:
//
// A plan has the spelling of the configuration, "tcp", for an attribute that was changed by hand, also where the state has
// "6" for it: declared, recorded and live would be three different values, although the provider takes the first two for
// the same.
//
// A plan has the live value for an attribute that the provider fills in if the configuration sets it to null, such as to
// a variable without a value. The edit would be called codified, as if the configuration had the live value.
//
// If that plan fails, the values stay as they are, and the error is for a note.
func (r *runner) agree(ctx context.Context, in *Input, res *Result) (found bool, err error) {
	p := in.Plan
	disputed, adopted := res.doubtful(in)
	if len(disputed) == 0 || r.plansAtService() {
		return false, nil
	}
	unrefreshed, _, err := r.plan(ctx, "plan without refresh", tfexec.Refresh(false))
	if err != nil {
		return false, fmt.Errorf("what is in conflict or codified may be a change by hand only: %w", err)
	}
	again, drift := changesByKey(unrefreshed.ResourceChanges), changesByKey(p.ResourceDrift)
	for _, c := range p.ResourceChanges {
		key := keyOf(c)
		for name := range disputed[key] {
			value, ok := unchanged(again[key], name)
			switch {
			case !ok || !reflect.DeepEqual(value, attribute(drift[key], name)):
			case adopted[key][name]:
				in.unset(c.Address, name)
				found = true
			case value != nil:
				found = setPlanned(c.Change, name, value) || found
			}
		}
	}
	return found, nil
}

// doubtful returns the attributes of Instance.disputed, and of Instance.adopted, which are among them.
func (res *Result) doubtful(in *Input) (disputed, adopted map[objectKey]map[string]bool) {
	config := configured(in.Plan.Config)
	disputed, adopted = map[objectKey]map[string]bool{}, map[objectKey]map[string]bool{}
	for k := range res.Instances {
		i := &res.Instances[k]
		if i.Deposed != "" {
			continue
		}
		if names := i.disputed(); len(names) > 0 {
			disputed[objectKey{address: i.Address}] = names
		}
		if names := i.adopted(config[withoutKeys(i.Address)], in.Schemas.shape(i.Provider, i.Type)); len(names) > 0 {
			adopted[objectKey{address: i.Address}] = names
		}
	}
	return disputed, adopted
}

// unset adds an attribute to Unset.
func (in *Input) unset(address, name string) {
	if in.Unset == nil {
		in.Unset = map[string]map[string]bool{}
	}
	if in.Unset[address] == nil {
		in.Unset[address] = map[string]bool{}
	}
	in.Unset[address][name] = true
}

func changesByKey(list []*tfjson.ResourceChange) map[objectKey]*tfjson.Change {
	changes := map[objectKey]*tfjson.Change{}
	for _, c := range list {
		changes[keyOf(c)] = c.Change
	}
	return changes
}

// disputed returns the top-level attributes of which the recorded value differs from the declared and the
// live one. A change by hand that requires a replacement makes the provider plan all attributes anew, in the
// spelling of the configuration: then it returns all of which the declared value differs from the recorded one.
func (i *Instance) disputed() map[string]bool {
	if i.Declared == nil || i.Recorded == nil || i.Live == nil || i.Unchecked != "" {
		return nil
	}
	declared, names := map[string]bool{}, map[string]bool{}
	for _, c := range diff.Fields(i.Schema, *i.Declared, *i.Recorded) {
		name, _ := model.CutName(c.Path)
		declared[name] = true
	}
	edited := diff.Fields(i.Schema, *i.Recorded, *i.Live)
	if i.Action == "replace" && len(edited) > 0 {
		return declared
	}
	for _, c := range edited {
		if name, _ := model.CutName(c.Path); declared[name] {
			names[name] = true
		}
	}
	return names
}

// adopted returns the top-level attributes with the live value as the declared one and another recorded one, if it is
// unknown whether the configuration sets them: the provider may fill them in, and their expressions are not constant.
func (i *Instance) adopted(c *tfjson.ConfigResource, s *shape) map[string]bool {
	if i.Declared == nil || i.Recorded == nil || i.Live == nil || i.Unchecked != "" || c == nil {
		return nil
	}
	differs := map[string]bool{}
	for _, change := range diff.Fields(i.Schema, *i.Declared, *i.Live) {
		name, _ := model.CutName(change.Path)
		differs[name] = true
	}
	names := map[string]bool{}
	for _, change := range diff.Fields(i.Schema, *i.Recorded, *i.Live) {
		name, _ := model.CutName(change.Path)
		if e := c.Expressions[name]; !differs[name] && s.field(name).kept() && !isConstant(e) {
			names[name] = true
		}
	}
	return names
}

// attribute returns a top-level attribute before a change; nil if there is none.
func attribute(c *tfjson.Change, name string) any {
	if c == nil {
		return nil
	}
	before, _ := c.Before.(map[string]any)
	return before[name]
}

// unchanged returns the value of an attribute that a plan keeps; nil is null.
func unchanged(c *tfjson.Change, name string) (value any, ok bool) {
	if c == nil || c.Before == nil || c.After == nil {
		return nil, false
	}
	value = attribute(c, name)
	after, _ := c.After.(map[string]any)
	unknown, _ := c.AfterUnknown.(map[string]any)
	return value, !hasUnknown(unknown[name]) && reflect.DeepEqual(value, after[name])
}

// setPlanned sets the planned value of an attribute, except for the parts that the plan keeps as they are.
func setPlanned(c *tfjson.Change, name string, value any) bool {
	after, ok := c.After.(map[string]any)
	if ok {
		after[name] = kept(after[name], attribute(c, name), value)
	}
	if unknown, is := c.AfterUnknown.(map[string]any); is {
		delete(unknown, name)
	}
	return ok
}

// kept returns a recorded value with the parts of a planned one that are those of the live one: an apply
// does not change them back. Blocks that there may be several of have no names to compare them by.
func kept(planned, live, recorded any) any {
	if reflect.DeepEqual(planned, live) {
		return planned
	}
	switch r := recorded.(type) {
	case map[string]any:
		p, isMap := planned.(map[string]any)
		l, both := live.(map[string]any)
		if !isMap || !both {
			return recorded
		}
		all := map[string]any{}
		for name := range r {
			all[name] = kept(p[name], l[name], r[name])
		}
		return all
	case []any:
		p, isList := planned.([]any)
		l, both := live.([]any)
		if isList && both && len(r) == 1 && len(p) == 1 && len(l) == 1 {
			return []any{kept(p[0], l[0], r[0])}
		}
	}
	return recorded
}
