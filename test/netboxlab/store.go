package netboxlab

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Object is an object in the form of the API.
type Object = map[string]any

// An object is an object of the store. References are IDs, numbers float64.
type object struct {
	model            *model
	id               int
	fields           map[string]any
	created, updated time.Time
}

// ref is the field of a model that refers to an object.
type ref struct {
	model, field, target string
	id                   int
}

// A store has objects and the references to them.
type store struct {
	models   []*model
	byName   map[string]*model
	objects  map[string]map[int]*object
	last     map[string]int
	referrer map[ref]map[int]bool
	// order is the order of a model's list; nil means that it has to be computed.
	order map[string][]int
	names *regexp.Regexp
}

func newStore(all []*model) *store {
	s := &store{models: all, names: regexp.MustCompile(`\{[^}]+\}`), byName: map[string]*model{}, objects: map[string]map[int]*object{}, last: map[string]int{},
		referrer: map[ref]map[int]bool{}, order: map[string][]int{}}
	for _, m := range all {
		s.byName[m.name] = m
		s.objects[m.name] = map[int]*object{}
	}
	return s
}

// get returns an object, or nil.
func (s *store) get(model string, id int) *object { return s.objects[model][id] }

// put adds a new object.
func (s *store) put(m *model, fields map[string]any, at time.Time) *object {
	s.last[m.name]++
	o := &object{model: m, id: s.last[m.name], fields: fields, created: at, updated: at}
	s.objects[m.name][o.id] = o
	s.index(o, true)
	delete(s.order, m.name)
	return o
}

// change sets fields of an object.
func (s *store) change(o *object, fields map[string]any) {
	s.index(o, false)
	maps.Copy(o.fields, fields)
	s.index(o, true)
	delete(s.order, o.model.name)
}

// drop removes an object.
func (s *store) drop(o *object) {
	s.index(o, false)
	delete(s.objects[o.model.name], o.id)
	delete(s.order, o.model.name)
}

// index adds or removes the references of an object.
func (s *store) index(o *object, there bool) {
	for _, f := range o.model.fields {
		for _, at := range o.targets(f) {
			at.model, at.field = o.model.name, f.name
			if !there {
				delete(s.referrer[at], o.id)
				continue
			}
			if s.referrer[at] == nil {
				s.referrer[at] = map[int]bool{}
			}
			s.referrer[at][o.id] = true
		}
	}
}

// targets returns the objects that a field refers to.
func (o *object) targets(f *field) []ref {
	switch {
	case f.reference() && o.id0(f.name) != 0:
		return []ref{{target: f.target, id: o.id0(f.name)}}
	case f.generic() && o.id0(f.name+"_id") != 0:
		target, _ := o.fields[f.name+"_type"].(string)
		return []ref{{target: target, id: o.id0(f.name + "_id")}}
	case f.kind == references || f.kind == tagged:
		target := f.target
		if f.kind == tagged {
			target = "extras.tag"
		}
		var refs []ref
		for _, id := range o.ids(f.name) {
			refs = append(refs, ref{target: target, id: id})
		}
		return refs
	case f.kind == cableEnd:
		ends, _ := o.fields[f.name].([]ref)
		return ends
	}
	return nil
}

// id0 returns the ID in a field, or 0.
func (o *object) id0(name string) int {
	id, _ := o.fields[name].(int)
	return id
}

func (o *object) ids(name string) []int {
	ids, _ := o.fields[name].([]int)
	return ids
}

func (o *object) text(name string) string {
	switch value := o.fields[name].(type) {
	case string:
		return value
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	default:
		return fmt.Sprint(value)
	}
}

// referring lists the objects of a model that refer to an object by a field.
func (s *store) referring(model, field string, o *object) []*object {
	ids := s.referrer[ref{model, field, o.model.name, o.id}]
	found := make([]*object, 0, len(ids))
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		found = append(found, s.get(model, id))
	}
	return found
}

// display returns the display name of an object.
func (s *store) display(o *object) string {
	shown, option, _ := strings.Cut(o.model.display, "[")
	if name := s.names.FindString(option); name != "" && s.shown(o, name) != "" {
		shown += strings.TrimSuffix(option, "]")
	}
	return s.names.ReplaceAllStringFunc(shown, func(name string) string { return s.shown(o, name) })
}

// shown returns the value of a {name} in a display name.
func (s *store) shown(o *object, name string) string {
	name = strings.Trim(name, "{}")
	if f := o.model.byName[name]; f != nil && (f.reference() || f.generic()) {
		if target := s.target(o, f); target != nil {
			return s.display(target)
		}
	}
	switch name {
	case "id":
		return strconv.Itoa(o.id)
	case "created":
		return o.created.Format("2006-01-02 15:04") + " (" + label(o.text("kind")) + ")"
	case "label|name":
		return cmp.Or(o.text("label"), label(o.text("name")))
	}
	return o.text(name)
}

// target returns the object that a field refers to, or nil.
func (s *store) target(o *object, f *field) *object {
	for _, at := range o.targets(f) {
		return s.get(at.target, at.id)
	}
	return nil
}

// listed returns the IDs of a model's objects in the order of its list: by name, with numbers
// in names compared as numbers.
func (s *store) listed(m *model) []int {
	if order, ok := s.order[m.name]; ok {
		return order
	}
	keys := make(map[int]string, len(s.objects[m.name]))
	for id, o := range s.objects[m.name] {
		keys[id] = natural(s.display(o))
	}
	order := slices.SortedFunc(maps.Keys(keys), func(a, b int) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), a-b) })
	s.order[m.name] = order
	return order
}

// natural returns a text with its numbers padded, so that they sort as numbers.
func natural(text string) string {
	var padded strings.Builder
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		if end == i {
			padded.WriteByte(text[i])
			i++
			continue
		}
		padded.WriteString(strings.Repeat("0", max(0, 10-(end-i))) + text[i:end])
		i = end
	}
	return strings.ToLower(padded.String())
}

// label returns the label of a value: "Virtual machine" for "virtual-machine".
func label(value string) string {
	words := strings.Fields(strings.NewReplacer("-", " ", "_", " ").Replace(value))
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, " ")
}
