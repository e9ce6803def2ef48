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
// arguments are unknown in each one. The arguments are the nodes of a graph: "module.m.local.now", "module.m.lab_server.web.notes".
type impurity struct {
	// calls are the arguments by the impure function that they call. users are the arguments by what they refer to.
	calls, users map[string][]string
	// owners are the resource, the data source or the module call of each argument or output, which a reference may name as a whole.
	owners map[string]string
}

func newImpurity() impurity {
	return impurity{map[string][]string{}, map[string][]string{}, map[string]string{}}
}

// module adds a module.
func (p impurity) module(prefix string, m *workcopy.Module) {
	for _, a := range m.Arguments {
		node := prefix + a.Of + "." + a.Name
		switch {
		case a.Of == "output":
			node = prefix + a.Name
			p.owners[node] = strings.TrimSuffix(prefix, ".")
		case a.Of != "local" && !strings.HasPrefix(a.Of, "module."):
			p.owners[node] = prefix + a.Of
		}
		for _, function := range a.Impure {
			p.calls[function] = append(p.calls[function], node)
		}
		for _, to := range a.Refers {
			// The variables of a module are arguments of its call.
			p.users[prefix+to] = append(p.users[prefix+to], node)
		}
	}
}

// resources returns the impure functions by the address of a resource in the configuration, and by its argument. The function is "" if
// the argument only may depend on one: it refers to a resource or a data source that has such an argument, or to a module as a whole.
func (p impurity) resources() map[string]map[string]string {
	causes := map[string]string{}
	for _, function := range slices.Sorted(maps.Keys(p.calls)) {
		p.spread(causes, function, p.calls[function])
	}
	for _, node := range slices.Collect(maps.Keys(causes)) {
		p.spread(causes, "", []string{p.owners[node]})
	}
	found := map[string]map[string]string{}
	for node, function := range causes {
		owner := p.owners[node]
		if name, is := strings.CutPrefix(node, owner+"."); is && owner != "" {
			if found[owner] == nil {
				found[owner] = map[string]string{}
			}
			found[owner][name] = function
		}
	}
	return found
}

// spread adds a cause to the nodes and to all that depend on them and have none.
func (p impurity) spread(causes map[string]string, cause string, nodes []string) {
	for len(nodes) > 0 {
		node := nodes[len(nodes)-1]
		nodes = nodes[:len(nodes)-1]
		if _, found := causes[node]; found || node == "" {
			continue
		}
		causes[node] = cause
		nodes = append(nodes, p.users[node]...)
		if cause == "" {
			nodes = append(nodes, p.owners[node])
		}
	}
}

// addImpure adds the values of an instance that are unknown because of an impure function. A value that may be unknown for that reason
// leaves the plan undetermined.
func (r *reader) addImpure(i *Instance, after model.Value, unknown any, m *marks) {
	resource := withoutKeys(i.Address)
	impure := r.Impure[resource]
	if len(impure) == 0 || i.Deposed != "" {
		return
	}
	attributes, _ := unknown.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(impure)) {
		if !hasUnknown(attributes[name]) || r.Ignored[resource].Covers([]string{name}) {
			continue
		}
		if impure[name] == "" {
			r.unfollowed = true
			continue
		}
		only := map[string]any{name: attributes[name]}
		a, b := m.seal(r.sealer, filled(after, only, "a")), m.seal(r.sealer, filled(after, only, "b"))
		for _, c := range diff.Fields(i.Schema, a, b) {
			r.varying = append(r.varying, varyingAt(i.Address, c, impure[name]+"()"))
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
