package normalize

import (
	"slices"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// An Entry is a row of the changelog, reduced to the fields that describe the change.
type Entry struct {
	// Model and ID identify the object.
	Model, ID string
	Action    model.Action
	// Before and After are the values of the object before and after the change; null if the row
	// does not contain them.
	Before, After model.Value
}

// A sideEffect is a change of another object that follows from an entry, and for which NetBox
// writes no entry.
type sideEffect struct {
	// when are the fields whose change has the side effect. Creation and deletion always have
	// it.
	when []string
	// idField is the field with the id of the other object. Its model is kind, or the value of
	// modelField.
	idField, kind, modelField string
	// fields are the changed fields of the other object. copied is a further one, which repeats
	// the entry's field of the same name: it changes if that changed or was deleted.
	fields []string
	copied string
}

// sideEffects returns the side effects by the model of the entry.
func sideEffects() map[string]sideEffect {
	return map[string]sideEffect{
		"virtualization.virtualdisk": {when: []string{"size", "virtual_machine"}, idField: "virtual_machine", kind: "virtualization.virtualmachine", fields: []string{"disk"}},
		"dcim.macaddress": {when: []string{"mac_address", "assigned_object_type", "assigned_object_id"},
			idField: "assigned_object_id", modelField: "assigned_object_type", fields: []string{"mac_addresses"}, copied: "mac_address"},
		"dcim.cabletermination": {when: []string{"cable", "cable_end", "termination_type", "termination_id"}, idField: "cable", kind: "dcim.cable",
			fields: []string{"a_terminations", "b_terminations"}},
		"dcim.virtualchassis": {when: []string{"master"}, idField: "master", kind: "dcim.device", fields: []string{"virtual_chassis", "vc_position"}},
	}
}

// Models maps content type IDs to the names of the models.
type Models map[string]string

// SideEffects returns the changes of other objects that follow from an entry, without the actor. An
// event without an ID concerns every object that has the value.
func SideEffects(e Entry, models Models) []model.AuditEvent {
	switch e.Model {
	case "extras.tag":
		return e.tagEvents()
	case CustomField:
		return e.customFieldEvents(models)
	}
	rule, ok := sideEffects()[e.Model]
	if !ok || e.Action == model.Edited && !e.differs(rule.when) {
		return nil
	}
	fields := rule.fields
	if rule.copied != "" && (e.Action == model.Deleted || e.Action == model.Edited && e.differs([]string{rule.copied})) {
		fields = append([]string{rule.copied}, fields...)
	}
	var events []model.AuditEvent
	for _, side := range []model.Value{e.Before, e.After} {
		kind := rule.kind
		if rule.modelField != "" {
			kind = models.named(side.At(rule.modelField))
		}
		id := side.At(rule.idField)
		ref := model.Ref{Kind: Type + "/" + kind, ID: id.Text()}
		if kind == "" || id.Kind() != model.Number || slices.ContainsFunc(events, func(t model.AuditEvent) bool { return t.Ref == ref }) {
			continue
		}
		events = append(events, model.AuditEvent{Ref: ref, Fields: fields})
	}
	return events
}

// named returns the name of a model from its content type id or its name.
func (m Models) named(v model.Value) string {
	if v.Kind() == model.String {
		return v.Text()
	}
	return m[v.Text()]
}

func (e Entry) differs(fields []string) bool {
	return slices.ContainsFunc(differing(e.Before, e.After), func(name string) bool { return slices.Contains(fields, name) })
}

// tagEvents returns the events of all objects with a tag that is renamed or deleted.
func (e Entry) tagEvents() []model.AuditEvent {
	before, after := e.Before.At("name").Str(), e.After.At("name").Str()
	if e.Action == model.Created || before == "" || e.Action == model.Edited && before == after {
		return nil
	}
	texts := []string{before}
	if e.Action == model.Edited && after != "" {
		texts = append(texts, after)
	}
	return []model.AuditEvent{{Fields: []string{"tags"}, Texts: texts}}
}

// customFieldEvents returns the events of a change of a custom field's definition. A new field
// adds its default to the objects. A field that is renamed, removed from a model or deleted
// loses its values.
func (e Entry) customFieldEvents(models Models) []model.AuditEvent {
	before, after := e.Before.At("name").Str(), e.After.At("name").Str()
	if e.Action == model.Created && table.Blank(e.After.At("default")) || e.Action == model.Edited && before == "" {
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
	case e.Action == model.Edited && before == after:
		return e.assignmentEvents(models, fields)
	}
	return []model.AuditEvent{{Fields: fields}}
}

// assignmentEvents returns the events for the models that a custom field with a default was
// added to, or that a field was removed from.
func (e Entry) assignmentEvents(models Models, fields []string) []model.AuditEvent {
	var events []model.AuditEvent
	for _, name := range []string{"object_types", "content_types"} {
		added, removed := difference(e.After.At(name), e.Before.At(name)), difference(e.Before.At(name), e.After.At(name))
		if table.Blank(e.After.At("default")) {
			added = nil
		}
		for _, number := range slices.Concat(added, removed) {
			modelName := models.named(number)
			if modelName == "" {
				return []model.AuditEvent{{Fields: fields}}
			}
			events = append(events, model.AuditEvent{Ref: model.Ref{Kind: Type + "/" + modelName}, Fields: fields})
		}
	}
	return events
}

// difference returns the elements of a list that another list lacks.
func difference(v, other model.Value) []model.Value {
	return slices.DeleteFunc(slices.Clone(v.Items()), func(item model.Value) bool {
		return slices.ContainsFunc(other.Items(), item.Equal)
	})
}
