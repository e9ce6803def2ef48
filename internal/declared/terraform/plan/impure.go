package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/declared/terraform/plan/workcopy"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
)

// An impurity finds the arguments that depend on an impure function. Terraform does not call these functions in a plan, so that the
// arguments are unknown in each one.
type impurity struct {
	// resources are the functions by the address of the resource in the configuration, and by its argument.
	resources map[string]map[string]string
	// variables are the functions by the variables of each module: prefix of the module, and "var.NAME".
	variables map[string]map[string]string
}

func newImpurity() impurity {
	return impurity{map[string]map[string]string{}, map[string]map[string]string{}}
}

// module adds a module. The modules that call it are added before.
func (p impurity) module(prefix string, m *workcopy.Module) {
	known := map[string]string{}
	maps.Copy(known, p.variables[prefix])
	functionOf := func(e workcopy.Expression) string {
		if len(e.Impure) > 0 {
			return slices.Min(e.Impure)
		}
		for _, name := range e.Refers {
			if function := known[name]; function != "" {
				return function
			}
		}
		return ""
	}
	for found := true; found; { // A local value may refer to a later one.
		found = false
		for _, a := range m.Arguments {
			name := a.Of + "." + a.Name
			if function := functionOf(a.Expression); a.Of == "local" && function != "" && known[name] == "" {
				known[name], found = function, true
			}
		}
	}
	for _, a := range m.Arguments {
		function := functionOf(a.Expression)
		switch {
		case function == "" || a.Of == "local":
		case strings.HasPrefix(a.Of, "module."):
			set(p.variables, prefix+a.Of+".", "var."+a.Name, function)
		default:
			set(p.resources, prefix+a.Of, a.Name, function)
		}
	}
}

func set(all map[string]map[string]string, key, name, function string) {
	if all[key] == nil {
		all[key] = map[string]string{}
	}
	all[key][name] = function
}

// addImpure adds the values of an instance that are unknown because of an impure function.
func (r *reader) addImpure(i *Instance, after model.Value, unknown any, m *marks) {
	resource := withoutKeys(i.Address)
	impure := r.Impure[resource]
	if len(impure) == 0 || i.Deposed != "" {
		return
	}
	attributes, _ := unknown.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(impure)) {
		if !hasUnknown(attributes[name]) || r.Ignored[resource].covers([]string{name}) {
			continue
		}
		only := map[string]any{name: attributes[name]}
		a, b := m.seal(r.sealer, filled(after, only, "a")), m.seal(r.sealer, filled(after, only, "b"))
		for _, c := range diff.Fields(i.Schema, a, b) {
			r.varying = append(r.varying, Varying{i.Address, c.Path, impure[name] + "()"})
		}
	}
}

// filled returns a value with a text at each place that is unknown.
func filled(v model.Value, unknown any, text string) model.Value {
	switch t := unknown.(type) {
	case bool:
		if t {
			return model.StringOf(text)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(t)) {
			if hasUnknown(t[name]) {
				v = v.With(name, filled(v.At(name), t[name], text))
			}
		}
	case []any:
		items := slices.Clone(v.Items())
		for i := range t {
			if i == len(items) {
				items = append(items, model.Value{})
			}
			if hasUnknown(t[i]) {
				items[i] = filled(items[i], t[i], text+strconv.Itoa(i))
			}
		}
		return model.ListOf(items...)
	}
	return v
}
