package plan

import (
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/driftd/driftd/internal/model"
)

// A member is an object that the state records, with what a refresh found.
type member struct {
	// resource is the address in the configuration: without instance keys.
	resource, typ  string
	shape          *shape
	recorded, live model.Value
	// dependsOn are the resources that it depends on, as the state and its expressions
	// have them.
	dependsOn []string
}

// A family is the recorded objects of a root and how they refer to each other. Children
// of an object are the others that refer to it, such as the rules of a security group.
type family struct {
	members map[objectKey]*member
	// mentions are the members by a text at their top and the attribute that has it.
	mentions map[string]map[string][]*member
	children map[*member][]*member
}

// family returns the family of the root; it is made once.
func (r *reader) family() *family {
	if r.kin != nil {
		return r.kin
	}
	r.kin = &family{members: map[objectKey]*member{}, mentions: map[string]map[string][]*member{}, children: map[*member][]*member{}}
	imported := map[objectKey]bool{} // The state holds them only after an apply.
	for _, list := range [][]*tfjson.ResourceChange{r.Plan.ResourceDrift, r.Plan.ResourceChanges} {
		for _, c := range list {
			imported[keyOf(c)] = imported[keyOf(c)] || c.Change.Importing != nil
			if c.Mode != tfjson.DataResourceMode && c.Change.Before != nil && c.Change.Importing == nil {
				live := c.Change.Before // A planned change starts with what is live.
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
			r.kin.members[key].dependsOn = append(r.kin.members[key].dependsOn, s.DependsOn...)
		}
	}
	return r.kin
}

// enter adds an object to the family. The first entry for it counts.
func (r *reader) enter(key objectKey, provider, typ string, recorded, live any) {
	if r.kin.members[key] != nil {
		return
	}
	m := &member{resource: withoutKeys(key.address), typ: typ, shape: r.Schemas.shape(provider, typ), recorded: valueOf(recorded), live: valueOf(live)}
	if c := r.config[m.resource]; c != nil {
		m.refersTo(strings.TrimSuffix(m.resource, c.Address), c.Expressions)
	}
	r.kin.members[key] = m
	for _, f := range m.recorded.Fields() {
		for _, text := range topTexts(f.Value) {
			if r.kin.mentions[text] == nil {
				r.kin.mentions[text] = map[string][]*member{}
			}
			r.kin.mentions[text][f.Name] = append(r.kin.mentions[text][f.Name], m)
		}
	}
}

// refersTo adds what expressions refer to, in the module with the prefix.
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

// topTexts returns a text or number, or those in a list.
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

// of returns the members of other types that refer to one, each once.
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
				continue // The same place or network, for example: no reference.
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

// refers reports whether a member that has a text of the parent refers to it. Names
// repeat: if the text is not the parent's ID, the member has to depend on the parent. An
// ID may be written out, but only if no other resource of the parent's type is meant.
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

// neighbours returns the members that refer to one and those that it refers to.
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
