package normalize

import (
	"slices"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// An Entry is a row of the changelog, as far as it says what changed.
type Entry struct {
	// Model and ID are the object's.
	Model, ID string
	Deed      model.Action
	// Before and After are the object's sides; null where the row has none.
	Before, After model.Value
}

// An echo is what an entry on one object changes on another one, of which NetBox
// writes no entry.
type echo struct {
	// when are the fields whose change is heard; creation and deletion always are.
	when []string
	// of is the field that holds the other object's id. Its model is kind, or what
	// the field typed says.
	of, kind, typed string
	// fields are those of the other object; copied is one that repeats the entry's
	// own of that name, and so is heard where that changed, or went with it.
	fields []string
	copied string
}

// echoes are the echoes by the model of the entry.
func echoes() map[string]echo {
	return map[string]echo{
		"virtualization.virtualdisk": {when: []string{"size", "virtual_machine"}, of: "virtual_machine", kind: "virtualization.virtualmachine", fields: []string{"disk"}},
		"dcim.macaddress": {when: []string{"mac_address", "assigned_object_type", "assigned_object_id"},
			of: "assigned_object_id", typed: "assigned_object_type", fields: []string{"mac_addresses"}, copied: "mac_address"},
		"dcim.cabletermination": {when: []string{"cable", "cable_end", "termination_type", "termination_id"}, of: "cable", kind: "dcim.cable",
			fields: []string{"a_terminations", "b_terminations"}},
		"dcim.virtualchassis": {when: []string{"master"}, of: "master", kind: "dcim.device", fields: []string{"virtual_chassis", "vc_position"}},
	}
}

// Models names the models by the numbers that NetBox has for them in the sides
// of an entry.
type Models map[string]string

// Echoes returns what the entry tells of other objects, without who did it: of
// one, or, where Ref has no ID, of every object that bears what came or went.
func Echoes(e Entry, models Models) []model.AuditEvent {
	switch e.Model {
	case "extras.tag":
		return e.tagged()
	case CustomField:
		return e.defined(models)
	}
	rule, ok := echoes()[e.Model]
	if !ok || e.Deed == model.Edited && !e.differs(rule.when) {
		return nil
	}
	fields := rule.fields
	if rule.copied != "" && (e.Deed == model.Deleted || e.Deed == model.Edited && e.differs([]string{rule.copied})) {
		fields = append([]string{rule.copied}, fields...)
	}
	var traces []model.AuditEvent
	for _, side := range []model.Value{e.Before, e.After} {
		kind := rule.kind
		if rule.typed != "" {
			kind = models.named(side.At(rule.typed))
		}
		id := side.At(rule.of)
		ref := model.Ref{Kind: Type + "/" + kind, ID: id.Text()}
		if kind == "" || id.Kind() != model.Number || slices.ContainsFunc(traces, func(t model.AuditEvent) bool { return t.Ref == ref }) {
			continue
		}
		traces = append(traces, model.AuditEvent{Ref: ref, Fields: fields})
	}
	return traces
}

// named returns the model that a number, or a text, stands for.
func (m Models) named(v model.Value) string {
	if v.Kind() == model.String {
		return v.Text()
	}
	return m[v.Text()]
}

func (e Entry) differs(fields []string) bool {
	return slices.ContainsFunc(differing(e.Before, e.After), func(name string) bool { return slices.Contains(fields, name) })
}

// tagged tells what a tag that is renamed or deleted does to all that bear it.
func (e Entry) tagged() []model.AuditEvent {
	before, after := e.Before.At("name").Str(), e.After.At("name").Str()
	if e.Deed == model.Created || before == "" || e.Deed == model.Edited && before == after {
		return nil
	}
	of := []string{before}
	if e.Deed == model.Edited && after != "" {
		of = append(of, after)
	}
	return []model.AuditEvent{{Fields: []string{"tags"}, Texts: of}}
}

// defined tells what the definition of a custom field does to the values: a new
// one brings its default, one that is renamed, taken from a model or deleted
// takes them along.
func (e Entry) defined(models Models) []model.AuditEvent {
	before, after := e.Before.At("name").Str(), e.After.At("name").Str()
	if e.Deed == model.Created && table.Blank(e.After.At("default")) || e.Deed == model.Edited && before == "" {
		return nil
	}
	var fields []string
	for _, name := range []string{before, after} {
		if name != "" && !slices.Contains(fields, CustomFieldPath(name)) {
			fields = append(fields, CustomFieldPath(name))
		}
	}
	switch {
	case len(fields) == 0:
		return nil
	case e.Deed == model.Edited && before == after:
		return e.given(models, fields)
	}
	return []model.AuditEvent{{Fields: fields}}
}

// given tells of the models that a custom field was given to, with its default,
// or taken from.
func (e Entry) given(models Models, fields []string) []model.AuditEvent {
	var traces []model.AuditEvent
	for _, name := range []string{"object_types", "content_types"} {
		came, went := apart(e.After.At(name), e.Before.At(name)), apart(e.Before.At(name), e.After.At(name))
		if table.Blank(e.After.At("default")) {
			came = nil
		}
		for _, number := range slices.Concat(came, went) {
			of := models.named(number)
			if of == "" {
				return []model.AuditEvent{{Fields: fields}}
			}
			traces = append(traces, model.AuditEvent{Ref: model.Ref{Kind: Type + "/" + of}, Fields: fields})
		}
	}
	return traces
}

// apart returns the elements of a list that another one lacks.
func apart(v, other model.Value) []model.Value {
	return slices.DeleteFunc(slices.Clone(v.Items()), func(item model.Value) bool {
		return slices.ContainsFunc(other.Items(), item.Equal)
	})
}
