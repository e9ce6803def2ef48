package mapping

import (
	"math/big"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A fill says what the instances of a type put into claims on other resources.
type fill struct {
	reference

	attributes []string
	// with names the attribute that holds what is put there; sum tells that the
	// others hold the sum of it.
	with string
	sum  bool
}

// A Filling is what an instance puts into attributes of what claims another
// resource: a primary address into those of its machine. Those were read before
// that was made, so what a state holds of them may be old.
type Filling struct {
	Ref        model.Ref
	Attributes []string
	Value      model.Value
	// Sum tells that the attribute holds the sum of all that is put into it.
	Sum bool
}

func (t *Type) fillings(attributes model.Value) []Filling {
	var fillings []Filling
	for _, f := range t.fills {
		id, v := f.id.text(attributes), attributes.At(f.with)
		if id != "" && !v.IsEmpty() {
			fillings = append(fillings, Filling{Ref: model.Ref{Kind: f.kind, ID: id}, Attributes: f.attributes, Value: v, Sum: f.sum})
		}
	}
	return fillings
}

// Settle takes out of a claim what is no difference although its sides are not
// the same: what the fillings, all of them on the claimed resource, put there,
// and what the provider never sends. A claim that no table made stays.
func Settle(c *model.Claim, fillings []Filling) {
	var own claimLens
	switch l := c.Lens.(type) {
	case *lens:
		own = claimLens{lens: l}
	case *claimLens:
		own = *l
	default:
		return
	}
	if own.filled = filledBy(fillings, own.lens, c.Value); len(own.filled) > 0 {
		c.Lens = &own
	}
	if c.Recorded == nil || c.Value.IsNull() {
		return
	}
	declared, recorded := c.Value, *c.Recorded
	for i := range own.lens.attributes {
		a := &own.lens.attributes[i]
		d, r := declared.At(a.name), recorded.At(a.name)
		switch {
		case d.Equal(r):
		case own.filled[a.name].explains(d, r):
			recorded = with(recorded, a.name, d)
		case a.neverArrives(d, r):
			declared = with(declared, a.name, r)
		}
	}
	c.Value, c.Recorded = declared, &recorded
}

func with(v model.Value, name string, field model.Value) model.Value {
	if field.IsNull() {
		return v.Without(name)
	}
	return v.With(name, field)
}

// neverArrives tells whether a declared value is one that the provider does not
// send, so that the recorded one stays.
func (a *attribute) neverArrives(d, r model.Value) bool {
	if a.relative.granted {
		return len(less(r, d).Items()) == 0
	}
	return !r.IsNull() && slices.ContainsFunc(a.relative.unsent, d.Equal)
}

// filling is all that is put into one attribute, and what the claim holds there.
type filling struct {
	held   model.Value
	values []model.Value
	sum    bool
}

func filledBy(fillings []Filling, l *lens, held model.Value) map[string]filling {
	filled := map[string]filling{}
	for _, put := range fillings {
		for _, name := range put.Attributes {
			if find(l.attributes, name) == nil {
				continue
			}
			f := filled[name]
			f.held, f.values, f.sum = held.At(name), append(f.values, put.Value), put.Sum
			filled[name] = f
		}
	}
	return filled
}

// unfilled returns what the claim holds in place of a live value that was put
// there, and a list without the elements that were.
func (f filling) unfilled(v model.Value) model.Value {
	switch {
	case len(f.values) == 0:
		return v
	case v.Kind() == model.List:
		return less(v, less(model.ListOf(f.values...), f.held))
	case f.put(v):
		return f.held
	}
	return v
}

// explains tells whether all that a claim holds beyond an older value was put
// there.
func (f filling) explains(held, older model.Value) bool {
	if held.Kind() == model.List {
		return len(less(less(held, older), model.ListOf(f.values...)).Items()) == 0 && len(f.values) > 0
	}
	return f.put(held)
}

func (f filling) put(v model.Value) bool {
	if f.sum {
		return f.total().Equal(v)
	}
	return slices.ContainsFunc(f.values, func(put model.Value) bool { return !v.IsNull() && strings.EqualFold(put.Text(), v.Text()) })
}

// total is the sum of the whole numbers among the values.
func (f filling) total() model.Value {
	sum := new(big.Int)
	for _, v := range f.values {
		if n, ok := integer(v); ok {
			sum.Add(sum, n)
		}
	}
	return numberOf(sum)
}
