package plan

import (
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/driftd/driftd/internal/declared/terraform/state"
	"github.com/driftd/driftd/internal/declared/terraform/syntax"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// maxDependencies bounds the implicit dependencies of a root, and maxReturned the names of one that changed.
const (
	maxDependencies = 200
	maxReturned     = 20
)

// maxReturnedName bounds the name of an output that is shown.
const maxReturnedName = 60

// maxPriorState bounds the compressed state in a plan file, in bytes.
const maxPriorState = 256 << 20

// previousState is the entry of a plan file with the state as the last apply wrote it.
const previousState = "tfstate-prev"

// A returned value is a part of what a data source returned: an output, or an attribute.
type returned struct{ attribute, name string }

// returnedBy returns the sealed values that a data source returned, if it reads what is declared elsewhere; nil for others. They are
// those of the check terraform/implicit-dependency.
func returnedBy(typ string, values model.Value, sealer model.Sealer) map[returned]model.Value {
	d, ok := syntax.ImplicitDependencyOf(typ)
	if !ok || d.IfMostRecent && values.At(syntax.MostRecent).Text() != "true" {
		return nil
	}
	found := map[returned]model.Value{}
	for _, attribute := range d.Returned {
		switch v := withoutNulls(values.At(attribute)); v.Kind() {
		case model.Null:
		case model.Map:
			for _, f := range v.Fields() {
				found[returned{attribute, f.Name}] = sealer.SealTree(f.Value)
			}
		default:
			found[returned{attribute, attribute}] = sealer.SealTree(v)
		}
	}
	return found
}

// withoutNulls returns a value without the fields that are null, which the JSON of a plan has, and driftd leaves out.
func withoutNulls(v model.Value) model.Value {
	switch v.Kind() {
	case model.Map:
		var fields []model.Field
		for _, f := range v.Fields() {
			if below := withoutNulls(f.Value); !below.IsNull() {
				fields = append(fields, model.Field{Name: f.Name, Value: below})
			}
		}
		return model.MapOf(fields...)
	case model.List:
		items := slices.Clone(v.Items())
		for i := range items {
			items[i] = withoutNulls(items[i])
		}
		return model.ListOf(items...)
	}
	return v
}

// A dependency is a data source that reads what is declared elsewhere.
type dependency struct {
	returned map[returned]model.Value
	// unread is set if the plan did not read it.
	unread bool
	// changed are the values that are not those of the last apply.
	changed map[returned]bool
}

// dependencies are the implicit dependencies of a plan, by the address of the instance.
type dependencies map[string]*dependency

// dependencies returns the implicit dependencies of a plan. If a data source cannot be read, or only by an apply, the plan has the values
// of the last apply, or none.
func (in *Input) dependencies(sealer model.Sealer) dependencies {
	found := dependencies{}
	for _, s := range in.Plan.recorded() {
		if s.Mode != tfjson.DataResourceMode || len(found) == maxDependencies {
			continue
		}
		if values := returnedBy(s.Type, valueOf(s.AttributeValues), sealer); values != nil {
			found[s.Address] = &dependency{returned: values}
		}
	}
	for _, c := range in.Plan.ResourceChanges {
		if c.Mode == tfjson.DataResourceMode && (found[c.Address] != nil || returnedBy(c.Type, valueOf(c.Change.After), sealer) != nil) {
			found[c.Address] = &dependency{unread: true}
		}
	}
	for _, d := range in.Diagnostics {
		if found[d.Address] != nil {
			found[d.Address] = &dependency{unread: true}
		}
	}
	return found
}

// compare compares the dependencies with what they returned to the last apply, which the plan file has.
func (all dependencies) compare(ctx context.Context, planFile string, sealer model.Sealer) error {
	if !slices.ContainsFunc(slices.Collect(maps.Values(all)), func(d *dependency) bool { return !d.unread }) {
		return nil
	}
	return inPlanFile(planFile, previousState, maxPriorState, func(content io.Reader) error {
		_, err := state.Read(ctx, content, state.Options{Sealer: sealer}, func(i state.Instance) error {
			if d := all[i.Address]; d != nil && !d.unread && i.Data && i.Deposed == "" {
				d.changed = changedSince(returnedBy(i.Type, i.Attributes, sealer), d.returned)
			}
			return nil
		})
		return err
	})
}

// changedSince returns the values that are not equal.
func changedSince(before, now map[returned]model.Value) map[returned]bool {
	changed := map[returned]bool{}
	for _, names := range []map[returned]model.Value{before, now} {
		for name := range names {
			b, hadBefore := before[name]
			n, has := now[name]
			if hadBefore != has || !b.Equal(n) {
				changed[name] = true
			}
		}
	}
	return changed
}

// reads returns the dependencies for the record of the state, sorted by address.
func (all dependencies) reads() []model.DependencyRead {
	var list []model.DependencyRead
	for _, address := range slices.Sorted(maps.Keys(all)) {
		d := all[address]
		list = append(list, model.DependencyRead{Address: address, Unread: d.unread, Changed: namesOf(d.changed)})
	}
	return list
}

// namesOf returns the names of values for people, sorted.
func namesOf(values map[returned]bool) []string {
	var names []string
	for v := range values {
		names = append(names, printable.Line(v.name, maxReturnedName))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxReturned)]
}

// named returns the dependencies whose changed values are among references to data sources, for people; "" if there are none.
func (all dependencies) named(references []string) string {
	causes := map[string]map[returned]bool{}
	for _, reference := range references {
		for address, d := range all {
			rest, is := strings.CutPrefix(reference, address)
			if !is {
				continue
			}
			for v := range d.changed {
				if v.isReferred(rest) {
					if causes[address] == nil {
						causes[address] = map[returned]bool{}
					}
					causes[address][v] = true
				}
			}
		}
	}
	var texts []string
	for _, address := range slices.Sorted(maps.Keys(causes)) {
		texts = append(texts, address+" ("+strings.Join(namesOf(causes[address]), ", ")+")")
	}
	return strings.Join(texts, " and ")
}

// isReferred reports whether a reference to a data source includes the value. rest is the reference after the address: ".outputs.vpc".
func (v returned) isReferred(rest string) bool {
	attribute := "." + v.attribute
	if rest == "" || rest == attribute {
		return true
	}
	for _, whole := range []string{attribute + "." + v.name, attribute + "[" + strconv.Quote(v.name) + "]"} {
		if below, is := strings.CutPrefix(rest, whole); is && (below == "" || below[0] == '.' || below[0] == '[') {
			return true
		}
	}
	return false
}

// depend returns the implicit dependencies of a plan, and adds those that changed to the instances that refer to them. If what they
// returned before cannot be read, none is known to have changed.
func (r *runner) depend(ctx context.Context, in *Input, out *Output) []model.DependencyRead {
	all := in.dependencies(r.Sealer)
	if err := all.compare(ctx, r.planFile(planStage), r.Sealer); err != nil {
		for _, d := range all {
			d.unread, d.changed = true, nil
		}
	}
	if slices.ContainsFunc(slices.Collect(maps.Values(all)), func(d *dependency) bool { return len(d.changed) > 0 }) {
		w := newWiring(in.Plan.Config)
		for k := range out.Instances {
			out.Instances[k].Causes = w.causes(&out.Instances[k], all.named)
		}
	}
	return all.reads()
}
