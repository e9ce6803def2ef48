// Package putback finds the fields of a live resource that get their declared values again, and compares values in the form
// of the declaration.
package putback

import (
	"cmp"
	"fmt"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// A Field is a field of a live resource that is to have another value.
type Field struct {
	Change *model.Change
	// Path is its path in the resource.
	Path string
	// Old is the current value, and Wanted the new value, in the form of the source. nil means that the
	// field is absent.
	Old, Wanted *model.Value
}

// PathOf returns the path in the live resource of a field that differs.
func PathOf(c *model.Change) string { return cmp.Or(c.LivePath, c.Path) }

// Find returns the field of a change in the resource as it was read just now. The error is a *reconcile.Refusal if it is not as
// in the finding, if it is a secret, or if the value of the source does not follow from the declared one.
func Find(s *reconcile.Subject, live model.Value, c *model.Change) (Field, error) {
	f := Field{Change: c, Path: PathOf(c), Wanted: c.Declared}
	if c.Secret {
		return f, refuse("kind", "%s is a secret", c.Path)
	}
	seen, _ := jsonpatch.Find(View(s, live), c.Path)
	if !model.SameValue(seen, c.Live) {
		return f, refuse("still-so", "%s changed since the scan: look again", c.Path)
	}
	f.Old, _ = jsonpatch.Find(live, f.Path)
	if s.Lens == nil || c.Declared == nil {
		return f, nil
	}
	wanted, known := s.Lens.LiveValue(live, c.Path, *c.Declared)
	if !known {
		return f, refuse("kind", "%s: the live value does not follow from the declared one alone", c.Path)
	}
	f.Wanted = &wanted
	return f, nil
}

// Holds reports whether the field of a resource has its declared value, in the form of the declaration. schema is that of the
// kind.
func (f *Field) Holds(s *reconcile.Subject, schema *model.Schema, live model.Value) bool {
	if s.Lens != nil {
		schema = s.Lens.Schema()
	}
	seen, _ := jsonpatch.Find(View(s, live), f.Change.Path)
	return EqualAt(schema, f.Change.Path, seen, f.Change.Declared)
}

// View returns a resource in the form of the declaration.
func View(s *reconcile.Subject, live model.Value) model.Value {
	if s.Lens == nil {
		return live
	}
	return s.Lens.View(live)
}

// EqualAt compares two values of the field at a path by its schema; nil stands for none.
func EqualAt(schema *model.Schema, path string, a, b *model.Value) bool {
	steps, _ := fieldpath.Parse(path)
	for _, step := range steps {
		if step.Kind == fieldpath.Field {
			schema = schema.Field(step.Name)
		} else {
			schema = schema.Element()
		}
	}
	var x, y model.Value
	if a != nil {
		x = *a
	}
	if b != nil {
		y = *b
	}
	return diff.Equal(schema, x, y)
}

// Inspect compares a resource with a plan.
func Inspect(schema *model.Schema, live model.Value, p *reconcile.Plan) reconcile.Inspection {
	wanted, before := true, true
	for i := range p.Changes {
		c := &p.Changes[i]
		held, _ := jsonpatch.Find(live, c.Path)
		wanted = wanted && EqualAt(schema, c.Path, held, c.New)
		before = before && EqualAt(schema, c.Path, held, c.Old)
	}
	return reconcile.Inspected(wanted, before)
}

func refuse(guard, format string, args ...any) error {
	return &reconcile.Refusal{Guard: guard, Why: fmt.Sprintf(format, args...)}
}
