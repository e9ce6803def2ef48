package kubernetes

import (
	"slices"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/model"
)

// declarer returns the field manager that applies the declaration by server-side apply; "" if there
// is none, as of an object that is applied by the client: kubectl compares that with the annotation
// that it left, and does not mind who owns a field.
//
// It is the manager that owns more of what is declared than every other one. Managers that own a
// field that is put back count only if no other owns anything: they wrote the drift, perhaps with an
// apply of their own. A controller may apply a single field of an object that something else
// declares, so that to apply is not enough: given the written fields, it would remove them with its
// next apply.
func declarer(o *object, declared model.Value, f *model.Finding) string {
	best, found := mostOwning(o, declared, func(w *model.Owner) bool { return !ownsDrift(w, o, f) })
	if !found {
		best, _ = mostOwning(o, declared, func(*model.Owner) bool { return true })
	}
	return best
}

// mostOwning returns the name of the manager that owns the most of what is declared, if it applies and
// no other owns as much. found reports whether any owns some of it.
func mostOwning(o *object, declared model.Value, counts func(*model.Owner) bool) (name string, found bool) {
	most := 0
	for i := range o.sealed.Owners {
		w := &o.sealed.Owners[i]
		if w.Name == manager || w.Through != "" || !counts(w) {
			continue
		}
		n := owned(&w.Fields, declared)
		switch {
		case n > most && w.Applies:
			name, most = w.Name, n
		case n > most:
			name, most = "", n
		case n == most:
			name = ""
		}
	}
	return name, most > 0
}

// ownsDrift reports whether a manager owns a field that is put back.
func ownsDrift(w *model.Owner, o *object, f *model.Finding) bool {
	return slices.ContainsFunc(f.Changes, func(c model.Change) bool {
		path, _, inList := cutIndex(c.Path)
		steps, ok := fieldSteps(o.raw, path)
		return ok && (c.Live != nil || inList) && w.Fields.Depth(steps) >= 0
	})
}

// fieldSteps returns a path of an object in the form of field sets; ok is false if it leads to
// nothing.
func fieldSteps(v model.Value, path string) (steps []model.Step, ok bool) {
	parsed, ok := fieldpath.Parse(path)
	for i := range parsed {
		s := &parsed[i]
		if s.Kind == fieldpath.Field {
			if v, ok = v.Get(s.Name); !ok {
				return nil, false
			}
			steps = append(steps, model.Step{Text: s.Name})
			continue
		}
		n := s.Element(v)
		if n < 0 {
			return nil, false
		}
		v = v.Items()[n]
		steps = append(steps, elementStep(v, s))
	}
	return steps, ok
}

func elementStep(item model.Value, s *fieldpath.Step) model.Step {
	switch s.Kind {
	case fieldpath.Keyed:
		var keys []model.Field
		for _, key := range s.Keys {
			keys = append(keys, model.Field{Name: key.Name, Value: item.At(key.Name)})
		}
		return model.Step{Kind: model.KeyStep, Text: string(model.MapOf(keys...).AppendJSON(nil))}
	case fieldpath.Item:
		return model.Step{Kind: model.ItemStep, Text: string(item.AppendJSON(nil))}
	}
	return model.Step{Kind: model.IndexStep}
}

// owned returns how many leaves of a set of fields are declared.
func owned(fields *model.FieldSet, declared model.Value) (n int) {
	if fields.Leaf() {
		return 1
	}
	for _, step := range fields.Steps() {
		if below, ok := declaredBelow(declared, step); ok {
			n += owned(fields.Child(step), below)
		}
	}
	return n
}

func declaredBelow(v model.Value, step model.Step) (model.Value, bool) {
	switch step.Kind {
	case model.FieldStep:
		return v.Get(step.Text)
	case model.KeyStep:
		keys, err := decoded([]byte(step.Text))
		if err != nil {
			return model.Value{}, false
		}
		for _, item := range v.Items() {
			if hasKeys(item, keys) {
				return item, true
			}
		}
	case model.ItemStep:
		for _, item := range v.Items() {
			if string(item.AppendJSON(nil)) == step.Text {
				return item, true
			}
		}
	case model.IndexStep:
	}
	return model.Value{}, false
}

// hasKeys reports whether a declared element has the keys of a live one, or leaves them to their
// defaults.
func hasKeys(item, keys model.Value) bool {
	some := false
	for _, key := range keys.Fields() {
		v, ok := item.Get(key.Name)
		if ok && !v.Equal(key.Value) {
			return false
		}
		some = some || ok
	}
	return some
}
