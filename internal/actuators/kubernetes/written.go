package kubernetes

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// trim removes from driftd's entry all fields that the plan did not write: an update also owns the
// defaults of what it adds. The manager that applies the declaration does not set those, and would
// seem to have applied what is not declared.
func trim(e *metav1.ManagedFieldsEntry, p reconcile.Plan) error {
	if e.FieldsV1 == nil {
		return nil
	}
	fields, err := decoded(e.FieldsV1.GetRawBytes())
	if err != nil {
		return err
	}
	kept := model.MapOf()
	for i := range p.Changes {
		c := &p.Changes[i]
		steps, ok := fieldpath.Parse(c.Path)
		if c.New == nil || !ok {
			continue
		}
		kept = merged(kept, writtenAt(fields, steps, *c.New))
	}
	e.FieldsV1 = &metav1.FieldsV1{}
	e.FieldsV1.SetRawBytes(kept.AppendJSON(nil))
	return nil
}

// writtenAt returns the part of a set of fields at a path that a value has. The form of the set is that
// of managedFields (FieldsV1).
func writtenAt(fields model.Value, steps []fieldpath.Step, v model.Value) model.Value {
	if len(steps) == 0 {
		return written(fields, v)
	}
	for _, f := range fields.Fields() {
		if leadsTo(f.Name, &steps[0]) {
			below := writtenAt(f.Value, steps[1:], v)
			if below.IsNull() {
				break
			}
			if len(steps) == 1 && steps[0].Kind != fieldpath.Field { // the element itself
				below = below.With(".", model.MapOf())
			}
			return model.MapOf(model.Field{Name: f.Name, Value: below})
		}
	}
	return model.Value{}
}

// leadsTo reports whether a name in a set of fields is that of a step.
func leadsTo(name string, s *fieldpath.Step) bool {
	kind, rest, _ := strings.Cut(name, ":")
	switch s.Kind {
	case fieldpath.Field:
		return kind == "f" && rest == s.Name
	case fieldpath.Keyed:
		keys, err := decoded([]byte(rest))
		return kind == "k" && err == nil && s.Element(model.ListOf(keys)) == 0
	case fieldpath.Item:
		item, err := decoded([]byte(rest))
		return kind == "v" && err == nil && s.Element(model.ListOf(item)) == 0
	}
	return false
}

// written returns the part of a set of fields that a value has.
func written(fields, v model.Value) model.Value {
	if fields.IsEmpty() {
		return fields
	}
	kept := model.MapOf()
	for _, f := range fields.Fields() {
		kind, rest, _ := strings.Cut(f.Name, ":")
		switch kind {
		case "f":
			if below, ok := v.Get(rest); ok {
				kept = kept.With(f.Name, written(f.Value, below))
			}
		case "k", "v":
			step := model.Step{Kind: model.KeyStep, Text: rest}
			if kind == "v" {
				step.Kind = model.ItemStep
			}
			if below, ok := declaredBelow(v, step); ok {
				kept = kept.With(f.Name, written(f.Value, below).With(".", model.MapOf()))
			}
		}
	}
	return kept
}

// merged returns the union of two sets of fields.
func merged(a, b model.Value) model.Value {
	for _, f := range b.Fields() {
		if held, ok := a.Get(f.Name); ok {
			f.Value = merged(held, f.Value)
		}
		a = a.With(f.Name, f.Value)
	}
	return a
}
