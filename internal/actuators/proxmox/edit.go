package proxmox

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/putback"
	"github.com/driftd/driftd/internal/reconcile"
)

// A target is a field of a resource that is to have a value.
type target struct {
	putback.Field

	// option is the first step of the path, and part the second; "" for the whole option.
	option, part string
	// privilege is what a request that changes it requires; "" if that is not known.
	privilege string
	// detached reports whether it is a disk that was detached, and leaves are the fields of that.
	detached bool
	leaves   []leaf
	// grows is the size that a disk is to grow to, in the form of a request; "" if it is no size.
	grows string
}

// targetsOf returns the fields of a finding.
func targetsOf(s *reconcile.Subject, g *resource) ([]target, error) {
	var all []target
	for i := range s.Finding.Changes {
		t, err := targetOf(s, g, &s.Finding.Changes[i])
		if err != nil {
			return nil, err
		}
		if at := slices.IndexFunc(all, func(other target) bool { return t.detached && other.detached && other.option == t.option }); at >= 0 {
			all[at].leaves = append(all[at].leaves, t.leaves...)
			continue
		}
		all = append(all, t)
	}
	if len(all) == 0 {
		return nil, refuse(guardKind, "the finding names no field")
	}
	// A disk grows before its other parts are set: a change of them may wait for a restart, with the size of now.
	slices.SortStableFunc(all, func(a, b target) int { return -strings.Compare(a.grows, b.grows) })
	return all, nil
}

func targetOf(s *reconcile.Subject, g *resource, c *model.Change) (t target, err error) {
	path := putback.PathOf(c)
	steps, ok := fieldpath.Parse(path)
	if !ok || len(steps) > 2 || slices.ContainsFunc(steps, func(s fieldpath.Step) bool { return s.Kind != fieldpath.Field }) {
		return t, refuse(guardKind, "%s: the device is not there, or the path cannot be translated: driftd neither adds nor removes devices", c.Path)
	}
	t.option = steps[0].Name
	if len(steps) == 2 {
		t.part = steps[1].Name
	}
	if isDetached(g, c, t.option) {
		t.Field, t.privilege, t.detached, t.part = putback.Field{Change: c, Path: t.option}, diskPrivilege, true, ""
		t.leaves, err = leavesOf(s, g, c, t.option)
		return t, err
	}
	if isGrowth(g, &t) {
		return growth(s, g, c, t)
	}
	var why string
	if t.privilege, why = privilegeOf(g, t.option, t.part); why != "" && !c.Secret {
		return t, refuse(guardKind, "%s: %s", path, why)
	}
	t.Field, err = putback.Find(s, g.value, c)
	return t, err
}

// An edit sets an option to a text, or deletes it.
type edit struct {
	option, text string
	deletes      bool
	// attaches is the volume that it attaches; "" if it attaches none.
	attaches string
	// grows is the size that a disk grows to, by a request of its own; "" for another edit.
	grows string
}

// edits returns what a request has to do so that all targets have their values, and nothing else differs. It tries the
// spellings of each target in turn, and keeps the first one that proves right.
func (a *Actuator) edits(s *reconcile.Subject, g *resource, targets []target) ([]edit, error) {
	after := *g
	var edits []edit
	for i := range targets {
		t := &targets[i]
		next, err := a.next(s, &after, t)
		if err != nil {
			return nil, err
		}
		after = *after.with(next)
		after.value = a.valueOf(g.kind, after.rows)
		if t.detached {
			t.Wanted, _ = jsonpatch.Find(after.value, t.option)
		}
		edits = slices.DeleteFunc(edits, func(e edit) bool { return e.option == next.option && e.grows == "" })
		edits = append(edits, next)
	}
	for i := range targets {
		if !a.holds(s, after.value, &targets[i]) {
			return nil, refuse(guardKind, "%s: it would not have the declared value together with the other fields of the finding", targets[i].Path)
		}
	}
	slices.SortFunc(edits, func(a, b edit) int { return strings.Compare(a.option, b.option) })
	return edits, nil
}

// next returns the edit with which a target has its value. The error is a *reconcile.Refusal if there is none.
func (a *Actuator) next(s *reconcile.Subject, g *resource, t *target) (edit, error) {
	if t.detached {
		return a.attachment(g, t)
	}
	if model.SameValue(t.Old, t.Wanted) {
		return edit{}, refuse(guardStillSo, "%s has the declared value, or waits for a restart to have it: look again", t.Path)
	}
	next, ok := a.first(s, g, t)
	if !ok {
		return edit{}, refuse(guardKind, "%s: driftd found no notation in which it would have the declared value and nothing else would change", t.Path)
	}
	return next, nil
}

// first returns the first edit with which a target has its value, and nothing else differs.
func (a *Actuator) first(s *reconcile.Subject, g *resource, t *target) (edit, bool) {
	for _, e := range spellings(g, t) {
		value := a.valueOf(g.kind, g.with(e).rows)
		if a.holds(s, value, t) && a.onlyAt(g, value, t.Path) {
			return e, true
		}
	}
	return edit{}, false
}

// holds reports whether a target has its value, in the form of the declaration.
func (a *Actuator) holds(s *reconcile.Subject, value model.Value, t *target) bool {
	if t.detached {
		return a.hasLeaves(s.Finding.Kind, value, t)
	}
	return t.Holds(s, a.kinds[s.Finding.Kind].Schema, value)
}

// onlyAt reports whether nothing differs from a resource but the field at a path.
func (a *Actuator) onlyAt(g *resource, value model.Value, path string) bool {
	schema := a.kinds[g.kind].Schema
	return !slices.ContainsFunc(diff.Fields(schema, g.value, value), func(c model.Change) bool { return !diff.Touches([]string{path}, c.Path) })
}

// with returns the resource with an edit.
func (g *resource) with(e edit) *resource {
	after := *g
	after.rows = slices.DeleteFunc(slices.Clone(g.rows), func(r model.Value) bool { return r.At("key").Str() == e.option })
	if !e.deletes {
		after.rows = append(after.rows, row(e.option, model.StringOf(e.text)))
	}
	return &after
}

// spellings returns the edits that may give a target its value.
func spellings(g *resource, t *target) []edit {
	text, set := g.text(t.option)
	if t.part == "" {
		return wholeSpellings(g.kind, t)
	}
	var all []edit
	var parts []string
	if set && text != "" {
		parts = strings.Split(text, ",")
	}
	value := ""
	if t.Wanted != nil {
		value = cmp.Or(t.grows, partText(*t.Wanted))
	}
	add := func(parts []string) {
		all = append(all, edit{option: t.option, text: strings.Join(parts, ","), deletes: len(parts) == 0, grows: t.grows})
	}
	at := slices.IndexFunc(parts, func(p string) bool { return strings.HasPrefix(p, t.part+"=") })
	bare := len(parts) > 0 && !strings.Contains(parts[0], "=") // the value of the part that needs no name
	replaced := func(i int, with ...string) []string { return slices.Replace(slices.Clone(parts), i, i+1, with...) }
	switch {
	case t.Wanted == nil && at >= 0:
		add(replaced(at))
	case t.Wanted == nil && bare:
		add(replaced(0))
	case t.Wanted == nil:
	case at >= 0:
		add(replaced(at, t.part+"="+value))
	default:
		if bare {
			add(replaced(0, value))
		}
		add(append(slices.Clone(parts), t.part+"="+value))
	}
	return all
}

// wholeSpellings are the spellings of an option as a whole.
func wholeSpellings(kind string, t *target) []edit {
	if t.Wanted == nil {
		return []edit{{option: t.option, deletes: true}}
	}
	v := *t.Wanted
	switch v.Kind() {
	case model.List:
		texts := make([]string, len(v.Items()))
		for i, item := range v.Items() {
			texts[i] = item.Text()
		}
		if !isGuest(kind) {
			return []edit{{option: t.option, text: strings.Join(texts, ",")}}
		}
		return []edit{{option: t.option, text: partText(v)}, {option: t.option, text: strings.Join(texts, " ")},
			{option: t.option, text: url.PathEscape(strings.Join(texts, "\n"))}}
	case model.Map:
		return []edit{{option: t.option, text: optionText(v)}}
	}
	return []edit{{option: t.option, text: partText(v)}}
}

// partText returns a scalar, or a list of scalars, as Proxmox VE takes it in a part of an option.
func partText(v model.Value) string {
	switch v.Kind() {
	case model.Bool:
		if v.Text() == "true" {
			return "1"
		}
		return "0"
	case model.List:
		texts := make([]string, len(v.Items()))
		for i, item := range v.Items() {
			texts[i] = partText(item)
		}
		return strings.Join(texts, ";")
	}
	return v.Text()
}
