package plan

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

// withoutChildren removes the elements of an attribute or block that child resources declare,
// because the children report differences in them. Elements that are missing live are no drift
// either if children declare such elements: a missing child is reported by itself, and others were
// destroyed or changed by an apply. New elements without any value are removed, too.
func (r *reader) withoutChildren(i *Instance, name string, shape *shape, n sides) sides {
	parent := r.family().members[objectKey{i.Address, i.Deposed}]
	if parent == nil || parent.live.IsNull() {
		return n
	}
	p := r.partOf(parent, name, shape)
	switch {
	case p.isWhole():
		return sides{n.l, n.l, n.l}
	case n.l.Kind() == model.List || n.r.Kind() == model.List:
		return p.list(n)
	case n.l.IsEmpty() && p.listed, p.holdsScalar(n.l):
		return sides{n.l, n.l, n.l}
	}
	return n
}

// A part is an attribute or block of an object whose elements child resources may declare.
type part struct {
	delegation
	*family

	parent *member
	shape  *shape
	// listed reports whether delegations has the part.
	listed bool
	// children are the children of the parent that may declare elements of this part.
	children []*member
}

func (r *reader) partOf(parent *member, name string, shape *shape) *part {
	p := &part{family: r.family(), parent: parent, shape: shape, delegation: delegation{typ: parent.typ, name: name}}
	all := delegations()
	if at := slices.IndexFunc(all, func(d delegation) bool { return d.typ == parent.typ && d.name == name }); at >= 0 {
		p.delegation, p.listed = all[at], true
	}
	twins := p.twins()
	p.children = slices.DeleteFunc(slices.Clone(p.of(parent)), func(m *member) bool { return m.isOf(twins, name) })
	return p
}

// twins returns the other attributes and blocks whose elements have the same fields, such as
// ingress and egress.
func (p *part) twins() []string {
	var twins []string
	for name, other := range p.parent.shape.fields {
		if name != p.name && p.shape.each != nil && p.shape.each.fields != nil && other.each != nil && slices.Equal(other.each.names(), p.shape.each.names()) {
			twins = append(twins, name)
		}
	}
	return twins
}

// isOf reports whether a member belongs to one of the twins of a part: its type, or a string or
// boolean at its top level, contains the twin's name.
func (m *member) isOf(twins []string, name string) bool {
	if len(twins) == 0 {
		return false
	}
	if flag := m.recorded.At(name); flag.Kind() == model.Bool && flag.IsEmpty() {
		return true
	}
	return slices.ContainsFunc(twins, func(twin string) bool {
		return strings.Contains("_"+m.typ+"_", "_"+twin+"_") || m.recorded.At(twin).Text() == "true" ||
			slices.ContainsFunc(m.recorded.Fields(), func(f model.Field) bool { return f.Value.Str() == twin })
	})
}

// isWhole reports whether a child has the whole part.
func (p *part) isWhole() bool {
	return slices.ContainsFunc(p.children, func(m *member) bool { return slices.Contains(p.by, m.typ) })
}

// holdsScalar reports whether a child has the string: the ID of another object, or a document under
// the same name. Other strings may be equal by chance.
func (p *part) holdsScalar(v model.Value) bool {
	_, isDocument := mapping.Document(v.Str())
	return v.Str() != "" && slices.ContainsFunc(p.children, func(m *member) bool {
		if isDocument {
			return essence(m.live.At(p.name)).Equal(essence(v))
		}
		return p.identifies(v.Str()) && slices.ContainsFunc(m.live.Fields(), func(f model.Field) bool { return f.Value.Equal(v) })
	})
}

// list removes elements from the sides of a list.
func (p *part) list(n sides) sides {
	before, after := essences(n.r), essences(n.l)
	held, left := p.listed, []model.Value(nil)
	var live []model.Value
	for at, item := range n.l.Items() {
		rest := item
		if !slices.ContainsFunc(before, after[at].Equal) {
			if rest = p.unheld(item, liveSide); !rest.Equal(item) {
				held = true
			}
			if (p.listed || n.r.IsEmpty()) && isBlank(item) {
				rest = model.Value{}
			}
			if !rest.IsNull() {
				left = append(left, rest)
			}
		}
		if !rest.IsNull() {
			live = append(live, rest)
		}
	}
	recorded := p.stays(n, before, after, left, held)
	if len(recorded) < len(n.r.Items()) {
		n.r = model.ListOf(recorded...)
	}
	if unheld := model.ListOf(live...); len(n.l.Items()) > 0 && !unheld.Equal(n.l) {
		if n.d.Equal(n.l) {
			n.d = unheld
		}
		n.l = unheld
	}
	return n
}

// stays returns the recorded elements except missing ones that a child declares or declared. An
// element that changed into one in left stays, for the comparison.
func (p *part) stays(n sides, before, after, left []model.Value, held bool) []model.Value {
	vanished := func(at int) bool { return !slices.ContainsFunc(after, before[at].Equal) }
	items := n.r.Items()
	for at := range items {
		held = held || vanished(at) && !p.unheld(items[at], recordedSide).Equal(items[at])
	}
	var stays []model.Value
	for at, item := range items {
		became := slices.ContainsFunc(left, func(l model.Value) bool { return p.pairs(item, l) || len(items) == 1 && len(n.l.Items()) == 1 })
		if !held || !vanished(at) || became && p.unheld(item, recordedSide).Equal(item) {
			stays = append(stays, item)
		}
	}
	return stays
}

// pairs reports whether two elements have equal identifying fields.
func (p *part) pairs(a, b model.Value) bool {
	if p.shape.each == nil || a.Kind() != model.Map {
		return false
	}
	keys := p.shape.each.identity()
	return len(keys) > 0 && !slices.ContainsFunc(keys, func(key string) bool { return !a.At(key).Equal(b.At(key)) }) &&
		slices.ContainsFunc(keys, func(key string) bool { return !a.At(key).IsEmpty() })
}
