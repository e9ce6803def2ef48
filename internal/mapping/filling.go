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

	// each names an attribute of which every element puts something there.
	each       string
	attributes []string
	// with names the attribute that holds what is put there, is makes it, and
	// block says what the block holds that is put there. Without all three it is
	// not known. sum tells that the others hold the sum of it.
	with  string
	is    template
	block map[string]template
	sum   bool
	// through names the resource whose claim tells what is there; without one on
	// it nothing is put there.
	through *reference
}

// A Filling is what an instance puts into attributes of what claims another
// resource: a primary address into those of its machine. Those were read before
// that was made, so what a state holds of them may be old.
type Filling struct {
	// Ref is the resource; its ID may be one of its identities.
	Ref        model.Ref
	Attributes []string
	// Value is what is put there, each element of a list for itself; a map is what
	// a block there holds. Null is whatever is there.
	Value model.Value
	// Sum tells that the attribute holds the sum of all that is put into it.
	Sum bool
	// Through is the resource that must be claimed, too; zero where none must.
	Through model.Ref
}

func (t *Type) fillings(attributes model.Value) []Filling {
	var fillings []Filling
	for i := range t.fills {
		f := &t.fills[i]
		for _, element := range elementsAt(attributes, f.each) {
			if filling, ok := f.filling(attributes, element); ok {
				fillings = append(fillings, filling)
			}
		}
	}
	return fillings
}

// filling returns what one element puts; ok is false where that is nothing.
func (f *fill) filling(attributes, element model.Value) (filling Filling, ok bool) {
	id, err := f.id.expand(attributes, element)
	if err != nil {
		return Filling{}, false
	}
	filling = Filling{Ref: model.Ref{Kind: f.kind, ID: id}, Attributes: f.attributes, Sum: f.sum}
	if f.through != nil {
		through, err := f.through.id.expand(attributes, element)
		if err != nil {
			return Filling{}, false
		}
		filling.Through = model.Ref{Kind: f.through.kind, ID: through}
	}
	switch {
	case f.with != "":
		filling.Value = attributes.At(f.with)
	case f.is != nil:
		filling.Value = model.StringOf(f.is.text(attributes))
	case f.block != nil:
		filling.Value, ok = expandBlock(f.block, attributes, element)
		return filling, ok
	default:
		return filling, true
	}
	return filling, !filling.Value.IsEmpty()
}

// expandBlock makes a block of templates; ok is false where one of them makes
// nothing.
func expandBlock(block map[string]template, attributes, element model.Value) (v model.Value, ok bool) {
	for name, t := range block {
		text, err := t.expand(attributes, element)
		if err != nil {
			return model.Value{}, false
		}
		v = v.With(name, model.StringOf(text))
	}
	return v, true
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
	c.Value = own.heldOf(c.Value)
	if c.Recorded == nil || c.Value.IsNull() {
		return
	}
	declared, recorded := c.Value, own.heldOf(*c.Recorded)
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

// heldOf returns a value of the claim without the attributes of which others say
// what they hold.
func (l *claimLens) heldOf(v model.Value) model.Value {
	for name, f := range l.filled {
		if f.anything && !v.At(name).IsNull() {
			v = v.Without(name)
		}
	}
	return v
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
	// anything tells that whatever is live was put there: the claim says nothing.
	anything bool
}

func filledBy(fillings []Filling, l *lens, held model.Value) map[string]filling {
	filled := map[string]filling{}
	for _, put := range fillings {
		for _, name := range put.Attributes {
			if find(l.attributes, name) == nil {
				continue
			}
			f := filled[name]
			f.held, f.sum, f.anything = held.At(name), put.Sum, f.anything || put.Value.IsNull()
			if put.Value.Kind() == model.List {
				f.values = append(f.values, put.Value.Items()...)
			} else {
				f.values = append(f.values, put.Value)
			}
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
	case f.anything:
		return model.Value{}
	case v.Kind() == model.List:
		return f.remaining(v)
	case f.put(v):
		return f.held
	}
	return v
}

// remaining returns a live list without the elements that were put there, and
// with those of them that the claim holds as it holds them.
func (f filling) remaining(v model.Value) model.Value {
	items := make([]model.Value, 0, len(v.Items()))
	for _, item := range v.Items() {
		at := slices.IndexFunc(f.values, func(put model.Value) bool { return holds(item, put) })
		held := -1
		if at >= 0 {
			held = slices.IndexFunc(f.held.Items(), func(h model.Value) bool { return holds(h, f.values[at]) })
		}
		switch {
		case at < 0, held < 0 && slices.ContainsFunc(f.held.Items(), func(h model.Value) bool { return holds(item, h) }):
			items = append(items, item)
		case held >= 0:
			items = append(items, f.held.Items()[held])
		}
	}
	return model.ListOf(items...)
}

// holds tells whether an element is another one, or a block that holds all that
// the other one does.
func holds(item, other model.Value) bool {
	if other.Kind() != model.Map || item.Kind() != model.Map {
		return item.Equal(other)
	}
	return !slices.ContainsFunc(other.Fields(), func(f model.Field) bool { return !item.At(f.Name).Equal(f.Value) })
}

// explains tells whether all that a claim holds beyond an older value was put
// there.
func (f filling) explains(held, older model.Value) bool {
	if held.Kind() != model.List {
		return f.put(held)
	}
	added := less(held, older).Items()
	return len(f.values) > 0 && !slices.ContainsFunc(added, func(item model.Value) bool {
		return !slices.ContainsFunc(f.values, func(put model.Value) bool { return holds(item, put) })
	})
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
