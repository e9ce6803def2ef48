package mapping

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// A relation defines how the live value of an attribute is adapted to the values of the
// instance.
type relation struct {
	// without names an attribute with a list; its elements are removed from the live value.
	without string
	// granted adds the instance's elements to the live value.
	granted bool
	// while are live fields that must equal the expansion of a template; otherwise the
	// instance's value replaces the live one.
	while []match
	// found means that a missing live value is unknown: the instance's value replaces it.
	found bool
	// among keeps only those elements of the live list that the instance has. Attributes with one
	// value are those of one element.
	among bool
	// unsent are values that the provider never sends. If one is declared and another value is
	// recorded, the recorded one is compared.
	unsent []model.Value
}

type match struct {
	names []string
	is    template
}

// depends reports whether a view depends on the instance.
func (r *relation) depends() bool {
	return r.without != "" || r.granted || r.found || r.among || len(r.while) > 0
}

// ofInstance reports whether the comparison of the attribute needs other values of the
// instance than its own.
func (a *attribute) ofInstance() bool {
	return a.relative.depends() || a.relative.unsent != nil || a.typed
}

// A claimLens is the lens of one claim.
type claimLens struct {
	*lens

	// attributes are the instance's, declared the mapped form of them.
	attributes, declared model.Value
	sealer               model.Sealer
	onlyKnown            bool
	// filled holds the values that other instances of the declaration add to attributes.
	filled map[string]filling
}

// newClaimLens returns the lens of a claim, or the type's lens if nothing depends on the
// instance.
func newClaimLens(l *lens, onlyKnown bool, attributes, declared model.Value, sealer model.Sealer) model.Lens {
	depends := func(a attribute) bool {
		return a.relative.depends() || a.typed && !declared.At(a.name).IsEmpty() || onlyKnown && !a.known(attributes)
	}
	if !declared.HasSecret() && !slices.ContainsFunc(l.attributes, depends) && !l.whole.depends(attributes) {
		return l
	}
	return &claimLens{lens: l, attributes: attributes, declared: declared, sealer: sealer, onlyKnown: onlyKnown}
}

// View implements model.Lens. It returns the view of the type's lens, adapted to the instance and
// sealed like it, so that the two can be compared.
func (l *claimLens) View(live model.Value) model.Value {
	fields := slices.DeleteFunc(l.stray(live), l.isSet)
	if l.whole != nil {
		fields = append(fields, l.whole.unset(l.attributes, live)...)
	}
	one := l.oneOfEach(live)
	for i := range l.lens.attributes {
		a := &l.lens.attributes[i]
		if l.onlyKnown && !a.known(l.attributes) {
			continue
		}
		from := live
		if l.isOneAmong(a) {
			from = one
		}
		if v := l.seen(a, a.view(top(from)), live); !v.IsNull() {
			fields = append(fields, model.Field{Name: a.name, Value: v})
		}
	}
	v := model.MapOf(fields...)
	if l.declared.HasSecret() {
		return l.sealer.SealLike(v, l.declared)
	}
	return v
}

// isOneAmong reports whether the instance's value of an attribute is that of one element of a live list.
func (l *claimLens) isOneAmong(a *attribute) bool {
	held := l.declared.At(a.name)
	return a.relative.among && !held.IsNull() && held.Kind() != model.List
}

// oneOfEach returns the live value with only one element in each list among whose elements attributes with
// one value are: the element that has the most of these values. Otherwise, a value that two elements
// exchanged, or that another element has too, would count as that of the instance.
func (l *claimLens) oneOfEach(live model.Value) model.Value {
	of := map[string][]*attribute{}
	for i := range l.lens.attributes {
		a := &l.lens.attributes[i]
		if l.isOneAmong(a) && a.live.base != fromFound && len(a.live.names) == 1 {
			of[a.live.names[0]] = append(of[a.live.names[0]], a)
		}
	}
	one := live
	for list, attributes := range of {
		most := -1
		for _, item := range live.At(list).Items() {
			only, agrees := live.With(list, model.ListOf(item)), 0
			for _, a := range attributes {
				if !among(a.view(top(only)), l.declared.At(a.name)).IsNull() {
					agrees++
				}
			}
			if agrees > most {
				most, one = agrees, one.With(list, model.ListOf(item))
			}
		}
	}
	return one
}

// isSet reports whether the instance sets a stray field with an attribute that has no mapping.
func (l *claimLens) isSet(field model.Field) bool {
	by, _ := l.whole.setBy(field.Name)
	return slices.ContainsFunc(by, func(name string) bool { return !l.attributes.At(name).IsEmpty() })
}

// IsShared implements model.Lens.
func (l *claimLens) IsShared(path string) bool {
	steps := parseSteps(path)
	if len(steps) == 0 {
		return false
	}
	a := find(l.lens.attributes, steps[0].name)
	return a != nil && a.relative.among
}

// seen returns the live value v of an attribute, adapted to the instance.
func (l *claimLens) seen(a *attribute, v, live model.Value) model.Value {
	held := l.declared.At(a.name)
	if !a.whileHolds(live, l.attributes) || a.relative.found && v.IsNull() {
		return held
	}
	if a.relative.without != "" {
		v = less(v, less(l.attributes.At(a.relative.without), l.attributes.At(a.name)))
	}
	if a.relative.granted {
		v = more(v, held)
	}
	if a.relative.among {
		v = among(v, held)
	}
	if a.typed {
		v = spelled(v, held)
	}
	return l.filled[a.name].unfilled(v)
}

func (a *attribute) whileHolds(live, attributes model.Value) bool {
	return !slices.ContainsFunc(a.relative.while, func(m match) bool {
		want := m.is.text(attributes)
		return want == "" || live.At(m.names...).Text() != want
	})
}

// less returns the list v without the elements of others, or the map v without their names.
func less(v, others model.Value) model.Value {
	if v.Kind() == model.Map {
		for _, f := range others.Fields() {
			v = v.Without(f.Name)
		}
		return v
	}
	if v.Kind() != model.List || len(others.Items()) == 0 {
		return v
	}
	return model.ListOf(slices.DeleteFunc(slices.Clone(v.Items()), func(item model.Value) bool {
		return slices.ContainsFunc(others.Items(), item.Equal)
	})...)
}

// among returns held, or those of its elements, that are elements of the list v.
func among(v, held model.Value) model.Value {
	has := func(item model.Value) bool { return slices.ContainsFunc(v.Items(), item.Equal) }
	switch {
	case held.Kind() == model.List:
		return model.ListOf(slices.DeleteFunc(slices.Clone(held.Items()), func(item model.Value) bool { return !has(item) })...)
	case has(held):
		return held
	}
	return model.Value{}
}

// more returns the list v with the missing elements of others added.
func more(v, others model.Value) model.Value {
	return model.ListOf(slices.Concat(v.Items(), less(others, v).Items())...)
}
