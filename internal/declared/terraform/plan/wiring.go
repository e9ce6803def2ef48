package plan

import (
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/driftd/driftd/internal/model"
)

// maxHops bounds the variables and outputs of modules between an argument and a data source.
const maxHops = 8

// A wiring is the configuration of a plan, for following references from module to module. A plan has no local values, so that
// references through them are not followed.
type wiring struct {
	resources map[string]*tfjson.ConfigResource
	// modules and calls are those of each module, by its address without instance keys. The root has no call.
	modules map[string]*tfjson.ConfigModule
	calls   map[string]*tfjson.ModuleCall
}

func newWiring(c *tfjson.Config) *wiring {
	w := &wiring{configured(c), map[string]*tfjson.ConfigModule{}, map[string]*tfjson.ModuleCall{}}
	if c != nil {
		w.add("", c.RootModule)
	}
	return w
}

func (w *wiring) add(address string, m *tfjson.ConfigModule) {
	if m == nil {
		return
	}
	w.modules[address] = m
	for name, call := range m.ModuleCalls {
		if call != nil {
			below := below(address, "module."+name)
			w.calls[below] = call
			w.add(below, call.Module)
		}
	}
}

// below returns the address of an object in a module.
func below(module, name string) string { return strings.TrimPrefix(module+"."+name, ".") }

// origins returns the data sources to which references in a module lead: their addresses with instance keys, and the attributes that
// follow.
func (w *wiring) origins(module string, references []string, hops int) []string {
	if hops == 0 {
		return nil
	}
	var found []string
	for _, reference := range references {
		switch kind, name, _ := strings.Cut(reference, "."); kind {
		case "data":
			found = append(found, below(module, reference))
		case "var":
			variable, _ := model.CutName(name)
			if call := w.calls[withoutKeys(module)]; call != nil {
				found = append(found, w.origins(parentOf(module), referencesOf(call.Expressions[variable]), hops-1)...)
			}
		case "module":
			address := below(module, reference)
			child := moduleOf(address)
			output, _ := model.CutName(strings.TrimPrefix(strings.TrimPrefix(address, child), "."))
			if m := w.modules[withoutKeys(child)]; m != nil && m.Outputs[output] != nil {
				found = append(found, w.origins(child, referencesOf(m.Outputs[output].Expression), hops-1)...)
			}
		}
	}
	return found
}

// parentOf returns the address of the module that calls another one.
func parentOf(module string) string {
	parent := ""
	for {
		rest := strings.TrimPrefix(strings.TrimPrefix(module, parent), ".")
		end := endOfStep(rest, len("module."))
		if end >= len(rest) {
			return parent
		}
		parent = below(parent, rest[:end])
	}
}

// referencesOf returns the references in an expression. Of references of which one is a part of another, such as data.x.y and
// data.x.y.id, which are one in the files, it returns the longer one.
func referencesOf(e *tfjson.Expression) []string {
	if e == nil || e.ExpressionData == nil {
		return nil
	}
	all := slices.Clone(e.References)
	for _, block := range e.NestedBlocks {
		for _, nested := range block {
			all = append(all, referencesOf(nested)...)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(slices.Clone(all), func(a string) bool {
		return slices.ContainsFunc(all, func(b string) bool { return strings.HasPrefix(b, a+".") || strings.HasPrefix(b, a+"[") })
	})
}

// causes returns the dependencies that returned other values than to the last apply, by the argument of an instance that refers to one
// of these values. The argument is "" for count and for_each.
func (w *wiring) causes(i *Instance, named func(references []string) string) map[string]string {
	resource := w.resources[withoutKeys(i.Address)]
	if resource == nil || i.Deposed != "" || i.Action == "no-op" {
		return nil
	}
	found := map[string]string{}
	add := func(argument string, e *tfjson.Expression) {
		if cause := named(w.origins(i.Module, referencesOf(e), maxHops)); cause != "" {
			found[argument] = cause
		}
	}
	for name, e := range resource.Expressions {
		add(name, e)
	}
	add("", resource.CountExpression)
	add("", resource.ForEachExpression)
	return found
}
