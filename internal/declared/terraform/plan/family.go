package plan

import (
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/driftd/driftd/internal/model"
)

// A member is a recorded object, with its live value from the refresh.
type member struct {
	// resource is the address in the configuration, without instance keys.
	resource, typ  string
	shape          *shape
	recorded, live model.Value
	// dependsOn are the resources that the object depends on, from the state and from its
	// expressions.
	dependsOn []string
}

// A family holds the recorded objects of a root and the references between them. The children of an
// object are the objects that refer to it, such as the rules of a security group.
type family struct {
	members map[objectKey]*member
	// mentions are the members by a string at their top level, and by the attribute that has it.
	mentions map[string]map[string][]*member
	children map[*member][]*member
}

// family returns the family of the root, and caches it.
func (r *reader) family() *family {
	if r.relatives != nil {
		return r.relatives
	}
	r.relatives = &family{members: map[objectKey]*member{}, mentions: map[string]map[string][]*member{}, children: map[*member][]*member{}}
	imported := map[objectKey]bool{} // the state has them only after an apply
	for _, list := range [][]*tfjson.ResourceChange{r.Plan.ResourceDrift, r.Plan.ResourceChanges} {
		for _, c := range list {
			imported[keyOf(c)] = imported[keyOf(c)] || c.Change.Importing != nil
			if c.Mode != tfjson.DataResourceMode && c.Change.Before != nil && c.Change.Importing == nil {
				live := c.Change.Before // the live value before a planned change
				if c == r.drift[keyOf(c)] {
					live = c.Change.After
				}
				r.enter(keyOf(c), c.ProviderName, c.Type, c.Change.Before, live)
			}
		}
	}
	for _, s := range r.Plan.recorded() {
		key := objectKey{s.Address, s.DeposedKey}
		if s.Mode != tfjson.DataResourceMode && !imported[key] {
			r.enter(key, s.ProviderName, s.Type, s.AttributeValues, s.AttributeValues)
			r.relatives.members[key].dependsOn = append(r.relatives.members[key].dependsOn, s.DependsOn...)
		}
	}
	return r.relatives
}

// enter adds an object to the family. Only its first entry is used.
func (r *reader) enter(key objectKey, provider, typ string, recorded, live any) {
	if r.relatives.members[key] != nil {
		return
	}
	m := &member{resource: withoutKeys(key.address), typ: typ, shape: r.Schemas.shape(provider, typ), recorded: valueOf(recorded), live: valueOf(live)}
	if c := r.config[m.resource]; c != nil {
		m.refersTo(strings.TrimSuffix(m.resource, c.Address), c.Expressions)
	}
	r.relatives.members[key] = m
	for _, f := range m.recorded.Fields() {
		for _, text := range topTexts(f.Value) {
			if r.relatives.mentions[text] == nil {
				r.relatives.mentions[text] = map[string][]*member{}
			}
			r.relatives.mentions[text][f.Name] = append(r.relatives.mentions[text][f.Name], m)
		}
	}
}

// refersTo adds the references in expressions. module is the address prefix of their module.
func (m *member) refersTo(module string, expressions map[string]*tfjson.Expression) {
	for _, e := range expressions {
		if e == nil || e.ExpressionData == nil {
			continue
		}
		for _, reference := range e.References {
			m.dependsOn = append(m.dependsOn, withoutKeys(module+reference))
		}
		for _, block := range e.NestedBlocks {
			m.refersTo(module, block)
		}
	}
}

// topTexts returns a string or number as text, or those in a list.
func topTexts(v model.Value) []string {
	switch v.Kind() {
	case model.String, model.Number:
		if !v.IsEmpty() {
			return []string{v.Text()}
		}
	case model.List:
		var texts []string
		for _, item := range v.Items() {
			if item.Kind() != model.List {
				texts = append(texts, topTexts(item)...)
			}
		}
		slices.Sort(texts)
		return slices.Compact(texts)
	}
	return nil
}

// of returns the members of other types that refer to parent, without duplicates.
func (f *family) of(parent *member) []*member {
	if children, known := f.children[parent]; known {
		return children
	}
	var children []*member
	for _, field := range parent.recorded.Fields() {
		if field.Value.Kind() != model.String || field.Value.IsEmpty() {
			continue
		}
		strong := field.Name == "id" || field.Name == "arn"
		for name, members := range f.mentions[field.Value.Str()] {
			if name == "id" || name == field.Name && !strong {
				continue // both refer to the same place or network, for example
			}
			for _, m := range members {
				if m.typ != parent.typ && m.refers(parent, strong) && !slices.Contains(children, m) {
					children = append(children, m)
				}
			}
		}
	}
	f.children[parent] = children
	return children
}

// refers reports whether a member that has a string of the parent refers to the parent. Names are
// not unique: if the string is not the parent's ID, the member must depend on the parent. An ID may
// be a literal in the configuration, but only if the member depends on no other resource of the
// parent's type.
func (m *member) refers(parent *member, byID bool) bool {
	depends := func(resource string) bool {
		return slices.ContainsFunc(m.dependsOn, func(d string) bool { return d == resource || strings.HasPrefix(d, resource+".") })
	}
	if depends(parent.resource) {
		return true
	}
	return byID && !slices.ContainsFunc(m.dependsOn, func(d string) bool {
		return strings.HasPrefix(d, parent.typ+".") || strings.Contains(d, "."+parent.typ+".") && !strings.Contains(d, "data."+parent.typ+".")
	})
}

// neighbours returns the members that refer to m and those that m refers to.
func (f *family) neighbours(m *member) []*member {
	list := slices.Clone(f.of(m))
	for _, field := range m.recorded.Fields() {
		for _, text := range topTexts(field.Value) {
			for _, name := range []string{"id", "arn", "name"} {
				for _, other := range f.mentions[text][name] {
					if other != m && slices.Contains(f.of(other), m) {
						list = append(list, other)
					}
				}
			}
		}
	}
	return list
}

// identifies reports whether a text is the ID of a recorded object.
func (f *family) identifies(text string) bool {
	for _, m := range slices.Concat(f.mentions[text]["id"], f.mentions[text]["arn"]) {
		if m.recorded.At("id").Str() == text || m.recorded.At("arn").Str() == text {
			return true
		}
	}
	return false
}
