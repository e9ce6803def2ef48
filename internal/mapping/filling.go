package mapping

import (
	"math/big"
	"net/netip"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A fill defines the values that instances of a type add to claims on other resources.
type fill struct {
	reference

	// each names an attribute; the fill applies to each of its elements.
	each       string
	attributes []string
	// with names the attribute that holds the value, is is a template of it, and block one of
	// a block. Without any of them the value is unknown. sum reports whether the target
	// attribute holds the sum of the values.
	with  string
	is    template
	block map[string]template
	sum   bool
	// through references the resource whose claim confirms the fill; without a claim on that
	// resource nothing is filled in.
	through *reference
}

// A Filling is a value that an instance adds to attributes of claims on another resource, such as a
// primary address to the attributes of its machine. The state of the machine may be older than the
// instance and lack the value.
type Filling struct {
	// Ref is the other resource. Its ID may be one of its identities.
	Ref        model.Ref
	Attributes []string
	// Value is the value to add. The elements of a list are added one by one, and a map is added to
	// a block. Null matches any value.
	Value model.Value
	// Sum reports whether the attribute contains the sum of all values.
	Sum bool
	// Through is a resource that must be claimed for the Filling to apply; zero if there is no such
	// condition.
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

// filling returns the Filling of one element. If there is none, ok is false.
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

// expandBlock expands the templates of a block; ok is false if one of them cannot be
// expanded.
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

// Settle removes differences between the declared, recorded and live values of the claim that are
// not drift: those caused by the fillings, and by values that the provider never sends. The
// argument fillings must contain all fillings for the claimed resource. Settle modifies c; it does
// nothing if c has no lens of this package.
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

// heldOf returns a value of the claim without the attributes that other resources define.
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

// neverArrives reports whether the provider does not send a declared value, so that the
// recorded one stays.
func (a *attribute) neverArrives(d, r model.Value) bool {
	if a.relative.granted {
		return len(less(r, d).Items()) == 0
	}
	return !r.IsNull() && slices.ContainsFunc(a.relative.unsent, d.Equal)
}

// filling holds all values that are added to one attribute, and the claim's own value.
type filling struct {
	held   model.Value
	values []model.Value
	sum    bool
	// anything reports whether the filled value is unknown, so that any live value agrees.
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

// unfilled returns the claim's value if the live value was filled in, and a list without the
// filled elements.
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

// remaining returns a live list without the filled elements, except those that the claim also
// contains, in the claim's form.
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

// holds reports whether an element equals another one, or is a block that contains all fields
// of the other one.
func holds(item, other model.Value) bool {
	if other.Kind() != model.Map || item.Kind() != model.Map {
		return item.Equal(other)
	}
	return !slices.ContainsFunc(other.Fields(), func(f model.Field) bool { return !means(item.At(f.Name), f.Value) })
}

// means reports whether a value equals another one, which can be the text of a template: of a number, or of an
// address in another spelling.
func means(v, text model.Value) bool {
	if v.Equal(text) {
		return true
	}
	if text.Kind() != model.String || v.Kind() != model.String && v.Kind() != model.Number {
		return false
	}
	return plainAddress(v.Text()) == plainAddress(text.Text())
}

// plainAddress returns an IP address or a network in its usual spelling, and any other text unchanged.
func plainAddress(text string) string {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.String()
	}
	if prefix, err := netip.ParsePrefix(text); err == nil {
		return prefix.String()
	}
	return text
}

// explains reports whether everything that a claim holds in addition to an older value was
// filled in.
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

// total returns the sum of the whole numbers among the values.
func (f filling) total() model.Value {
	sum := new(big.Int)
	for _, v := range f.values {
		if n, ok := integer(v); ok {
			sum.Add(sum, n)
		}
	}
	return numberOf(sum)
}
