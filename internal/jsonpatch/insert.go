package jsonpatch

import (
	"slices"
	"strconv"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/model"
)

// An insertion is a field or an element that is added to an object. Its place depends on what is
// there when it is added.
type insertion struct {
	steps  []fieldpath.Step
	wanted *model.Value
	// order selects the declared elements of the list to which the value is added, in their
	// order, and position is the index of the value among them. order is nil for a field.
	order    []fieldpath.Step
	position int
}

// insert adds a value that is absent. Maps and lists above it that are absent are added with it. It
// returns why that is not possible; "" if it is.
func (p *Patch) insert(steps []fieldpath.Step, wanted *model.Value) (why string) {
	i := insertion{steps: steps, wanted: wanted}
	if last := &steps[len(steps)-1]; last.Kind != fieldpath.Field {
		list, ok := declaredAt(*p.Declared, steps[:len(steps)-1])
		if !ok || last.Kind == fieldpath.Index {
			return "its position in the list is not known, and the order counts"
		}
		i.position = declaredElement(list, last)
		if i.position < 0 {
			return "the declaration has no such element, or more than one"
		}
		for _, item := range list.Items() {
			i.order = append(i.order, stepTo(item, last))
		}
	}
	if why := i.checkPlace(*p.Live); why != "" {
		return why
	}
	p.pending = append(p.pending, i)
	return ""
}

// checkPlace returns why the value cannot be added to an object; "" if it can.
func (i *insertion) checkPlace(live model.Value) string {
	above, rest, _, why := deepest(live, i.steps)
	switch {
	case why != "":
		return why
	case len(rest) == 0:
		return "the live object has a value at its path"
	case len(rest) > 1 && slices.ContainsFunc(rest[:len(rest)-1], func(s fieldpath.Step) bool { return s.Kind != fieldpath.Field }):
		return noElement
	}
	at := valueAt(live, above)
	if rest[0].Kind == fieldpath.Field && at.Kind() != model.Map || rest[0].Kind != fieldpath.Field && at.Kind() != model.List {
		return nothingThere
	}
	if at.Kind() == model.List && !IsExact(&at) {
		return "the live list is not valid text"
	}
	return ""
}

// place returns the operation that adds the value to the object now, and tests against the live
// object: of the keys of elements on the way and of the neighbour, and that the field is absent.
func (i *insertion) place(live, now model.Value) (add operation, tests []operation) {
	_, before, tests, _ := deepest(live, i.steps)
	above, rest, _, _ := deepest(now, i.steps)
	if len(before) > 0 && before[0].Kind == fieldpath.Field {
		pointer, _, _, _ := deepest(live, i.steps)
		tests = append(tests, operation{"test", append(slices.Clone(pointer), before[0].Name), &model.Value{}})
	}
	if rest[0].Kind == fieldpath.Field {
		return operation{"add", append(above, rest[0].Name), wrapped(rest[1:], i.wanted)}, tests
	}
	n := i.index(valueAt(now, above))
	if len(before) == 1 {
		tests = append(tests, i.neighbours(live)...)
	}
	return operation{"add", append(above, strconv.Itoa(n)), i.wanted}, tests
}

// index returns where in a list the element belongs: after its nearest declared predecessor that is
// there, else before its nearest declared successor, else at the start.
func (i *insertion) index(list model.Value) int {
	for _, step := range slices.Backward(i.order[:i.position]) {
		if n := element(list, &step); n >= 0 {
			return n + 1
		}
	}
	for _, step := range i.order[i.position+1:] {
		if n := element(list, &step); n >= 0 {
			return n
		}
	}
	return 0
}

// element returns the index of the only element that a step selects; -1 if there is none, or more
// than one. A step without keys selects none.
func element(list model.Value, step *fieldpath.Step) int {
	if step.Kind == fieldpath.Keyed && len(step.Keys) == 0 {
		return -1
	}
	return step.Element(list)
}

// neighbours returns tests of the keys of the live elements between which the element is added, so
// that a patch that was applied cannot be applied again. At the end of a list only the whole list
// shows that.
func (i *insertion) neighbours(live model.Value) (tests []operation) {
	above, _, _, _ := deepest(live, i.steps)
	list := valueAt(live, above)
	n, last := i.index(list), &i.steps[len(i.steps)-1]
	if n == len(list.Items()) {
		return []operation{{"test", above, &list}}
	}
	for _, k := range []int{n - 1, n} {
		if k < 0 {
			continue
		}
		item := list.Items()[k]
		pointer := append(slices.Clone(above), strconv.Itoa(k))
		if last.Kind == fieldpath.Item {
			tests = append(tests, operation{"test", pointer, &item})
			continue
		}
		keys, _ := keyTests(pointer, item, last)
		tests = append(tests, keys...)
	}
	return tests
}

// deepest follows a path as far as it leads. It returns the pointer to the last value on the way,
// the steps that are left, and tests of the keys of list elements on the way.
func deepest(v model.Value, steps []fieldpath.Step) (pointer []string, rest []fieldpath.Step, guards []operation, why string) {
	for i := range steps {
		step := &steps[i]
		if step.Kind == fieldpath.Field {
			next, ok := v.Get(step.Name)
			if !ok {
				return pointer, steps[i:], guards, ""
			}
			pointer, v = append(pointer, step.Name), next
			continue
		}
		n := step.Element(v)
		if n < 0 {
			return pointer, steps[i:], guards, ""
		}
		pointer, v = append(pointer, strconv.Itoa(n)), v.Items()[n]
		keys, why := keyTests(pointer, v, step)
		if why != "" {
			return nil, nil, nil, why
		}
		guards = append(guards, keys...)
	}
	return pointer, nil, guards, ""
}

// wrapped returns a value inside the maps and the list to which steps lead.
func wrapped(steps []fieldpath.Step, v *model.Value) *model.Value {
	for _, s := range slices.Backward(steps) {
		outer := model.ListOf(*v)
		if s.Kind == fieldpath.Field {
			outer = model.MapOf(model.Field{Name: s.Name, Value: *v})
		}
		v = &outer
	}
	return v
}

func valueAt(v model.Value, pointer []string) model.Value {
	for _, name := range pointer {
		if v.Kind() != model.List {
			v = v.At(name)
			continue
		}
		if n, err := strconv.Atoi(name); err == nil && n < len(v.Items()) {
			v = v.Items()[n]
		}
	}
	return v
}

// declaredAt returns the declared value at a path of a live object.
func declaredAt(v model.Value, steps []fieldpath.Step) (model.Value, bool) {
	for i := range steps {
		if steps[i].Kind == fieldpath.Field {
			next, ok := v.Get(steps[i].Name)
			if !ok {
				return model.Value{}, false
			}
			v = next
			continue
		}
		n := declaredElement(v, &steps[i])
		if n < 0 {
			return model.Value{}, false
		}
		v = v.Items()[n]
	}
	return v, true
}

// declaredElement returns the index of the only declared element that a step selects; -1 if there is
// none, or more than one. A key that the declaration leaves to its default fits.
func declaredElement(list model.Value, step *fieldpath.Step) int {
	found := -1
	for i, item := range list.Items() {
		own := stepTo(item, step)
		if own.Kind == fieldpath.Keyed && (len(own.Keys) == 0 || !sameKeys(own.Keys, step.Keys)) || own.Kind != fieldpath.Keyed && !selects(step, item) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// sameKeys reports whether each key is among others.
func sameKeys(keys, others []fieldpath.Key) bool {
	return !slices.ContainsFunc(keys, func(k fieldpath.Key) bool { return !slices.Contains(others, k) })
}

func selects(step *fieldpath.Step, item model.Value) bool {
	return step.Kind == fieldpath.Item && step.Element(model.ListOf(item)) == 0
}

// stepTo returns the step to an element of a list, by the keys that another step to the list has and
// the element sets.
func stepTo(item model.Value, like *fieldpath.Step) fieldpath.Step {
	if like.Kind != fieldpath.Keyed {
		return fieldpath.Step{Kind: like.Kind, Item: item.Text()}
	}
	step := fieldpath.Step{Kind: fieldpath.Keyed}
	for _, key := range like.Keys {
		if v, ok := item.Get(key.Name); ok {
			step.Keys = append(step.Keys, fieldpath.Key{Name: key.Name, Value: v.Text()})
		}
	}
	return step
}
