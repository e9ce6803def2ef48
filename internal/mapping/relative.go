package mapping

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// A relation says of an attribute that its live value is read in the light of
// the instance.
type relation struct {
	// without names an attribute with a list: what that has more than this one
	// is none of this one's.
	without string
	// granted tells that what the instance holds counts as there.
	granted bool
	// while are live fields that must hold what a template makes of the instance;
	// otherwise what the instance holds counts as there.
	while []match
	// found tells that a live value that is not there is not known: what the
	// instance holds counts as there.
	found bool
	// among tells that the live value is a list, of which only what the instance
	// holds counts.
	among bool
	// unsent are values that the provider never sends: declared beside another
	// recorded one, that stays.
	unsent []model.Value
}

type match struct {
	names []string
	is    template
}

// depends tells whether a view depends on the instance.
func (r *relation) depends() bool {
	return r.without != "" || r.granted || r.found || r.among || len(r.while) > 0
}

// ofInstance tells whether what the attribute is compared with takes more of the
// instance than its own value.
func (a *attribute) ofInstance() bool {
	return a.relative.depends() || a.relative.unsent != nil || a.typed
}

// A claimLens is a lens as one claim needs it.
type claimLens struct {
	*lens

	// attributes are the instance's, declared what the table makes of them.
	attributes, declared model.Value
	sealer               model.Sealer
	onlyKnown            bool
	// filled is what other instances of the declaration put into attributes.
	filled map[string]filling
}

// newClaimLens returns the lens of a claim: the type's own where nothing in it
// depends on the instance.
func newClaimLens(l *lens, onlyKnown bool, attributes, declared model.Value, sealer model.Sealer) model.Lens {
	depends := func(a attribute) bool {
		return a.relative.depends() || a.typed && !declared.At(a.name).IsEmpty() || onlyKnown && !a.known(attributes)
	}
	if !declared.HasSecret() && !slices.ContainsFunc(l.attributes, depends) {
		return l
	}
	return &claimLens{lens: l, attributes: attributes, declared: declared, sealer: sealer, onlyKnown: onlyKnown}
}

// View returns what the lens within returns, in the light of the instance, and
// sealed where that is, so that the two can be compared.
func (l *claimLens) View(live model.Value) model.Value {
	fields := l.stray(live)
	for i := range l.lens.attributes {
		a := &l.lens.attributes[i]
		if l.onlyKnown && !a.known(l.attributes) {
			continue
		}
		if v := l.seen(a, a.view(top(live)), live); !v.IsNull() {
			fields = append(fields, model.Field{Name: a.name, Value: v})
		}
	}
	v := model.MapOf(fields...)
	if l.declared.HasSecret() {
		return l.sealer.SealLike(v, l.declared)
	}
	return v
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

// seen returns the live value v of an attribute in the light of the instance.
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

// less returns the list v without the elements of others, or the map v without
// their names.
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

// among returns what of held, or of its elements, is an element of the list v.
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

// more returns the list v with those elements of others that it lacks.
func more(v, others model.Value) model.Value {
	return model.ListOf(slices.Concat(v.Items(), less(others, v).Items())...)
}
