package diff

import (
	"slices"
	"strconv"

	"github.com/driftd/driftd/internal/model"
)

// unenforced returns why the tool that applies the claim does not put the field at the walk's path back; "" if it does, or if it leaves
// the whole resource.
func (w *walk) unenforced() string {
	for i := range w.claim.Unenforced {
		u := &w.claim.Unenforced[i]
		if len(u.Path)+len(u.Writer) > 0 && w.isBelow(u.Path) && w.isWrittenBy(u.Writer) {
			return u.Why
		}
	}
	return ""
}

// isWrittenBy reports whether a writer of the name is an owner of the node.
func (w *walk) isWrittenBy(name string) bool {
	return name == "" || slices.ContainsFunc(w.writers.ownersAt(w.path), func(o *model.Owner) bool { return o.Name == name })
}

// isBelow reports whether the node is selected by the picks or below a selected one. A position
// refers to either list, because the tools remove the field from both before they compare them.
func (w *walk) isBelow(picks []model.Pick) bool {
	if len(picks) > len(w.path) {
		return false
	}
	live, d, l := w.path.live(), w.claim.Value, w.view
	for i, p := range picks {
		nextD, _ := w.path[i].follow(d)
		nextL, _ := live[i].follow(l)
		switch {
		case p.Where != nil && !hasFields(nextD, *p.Where) && !hasFields(nextL, *p.Where),
			p.Where == nil && w.path[i].kind == model.FieldStep && p.Name != w.path[i].name,
			p.Where == nil && w.path[i].kind != model.FieldStep && !isAt(p.Name, d, nextD) && !isAt(p.Name, l, nextL):
			return false
		}
		d, l = nextD, nextL
	}
	return true
}

// hasFields reports whether a value has all fields of another one.
func hasFields(v, fields model.Value) bool {
	return !slices.ContainsFunc(fields.Fields(), func(f model.Field) bool { return !v.At(f.Name).Equal(f.Value) })
}

// isAt reports whether the element is at the position in the list.
func isAt(position string, list, element model.Value) bool {
	n, err := strconv.Atoi(position)
	return err == nil && n >= 0 && n < len(list.Items()) && list.Items()[n].Equal(element)
}
