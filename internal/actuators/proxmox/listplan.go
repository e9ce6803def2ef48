package proxmox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/putback"
	"github.com/driftd/driftd/internal/reconcile"
)

// maxSteps bounds the requests of one action: more of them are a list that is made anew.
const maxSteps = 60

// planList plans to put a list back, row by row.
func (a *Actuator) planList(ctx context.Context, s *reconcile.Subject) (reconcile.Change, error) {
	f := s.Finding
	l, err := a.readList(ctx, f.Key)
	if errors.Is(err, errGone) {
		return nil, refuse(guardStillSo, "%v: look again", errGone)
	}
	if err != nil {
		return nil, err
	}
	e := elements{a: a, s: s, l: l}
	wanted, keeps, err := e.rows()
	if err != nil {
		return nil, err
	}
	steps := l.steps(wanted, keeps)
	switch {
	case len(steps) == 0:
		return nil, refuse(guardStillSo, "it is as declared: look again")
	case len(steps) > maxSteps:
		return nil, refuse(guardKind, "it would take %d requests, and %d is the most: apply the declaration instead", len(steps), maxSteps)
	}
	after := steps[len(steps)-1].rows
	if !e.isDeclared(after) {
		return nil, refuse(guardKind, "%s: driftd found no rows in which it would be as declared", e.attribute)
	}
	if err := a.checkOwner(ctx, l.owner, []string{firewallPrivilege(l.owner)}); err != nil {
		return nil, err
	}
	before, then := a.listValue(l, l.rows).At(l.field), a.listValue(l, after).At(l.field)
	plan := reconcile.Plan{System: l.cluster, Endpoint: a.options.Reading.URL, Identity: a.options.Writing.Name(), Person: personFor(l.owner),
		Changes: []reconcile.FieldChange{{Path: l.field, Old: &before, New: &then}}}
	for i := range steps {
		plan.Requests = append(plan.Requests, steps[i].text)
	}
	return &listChange{actuator: a, key: f.Key, before: l, steps: steps, plan: plan}, nil
}

// personFor returns what needs a person, by the owner of a firewall; "" for a guest.
func personFor(owner string) string {
	if owner == onCluster {
		return "a change of the cluster's firewall, which many guests may use,"
	}
	return ""
}

// elements are the elements of a list in the form of the declaration.
type elements struct {
	a *Actuator
	s *reconcile.Subject
	l *list
	// attribute is the name of the list in the declaration.
	attribute string
}

// schema returns the schema of the declaration.
func (e *elements) schema() *model.Schema {
	if e.s.Lens != nil {
		return e.s.Lens.Schema()
	}
	return e.a.kinds[e.l.kind].Schema
}

// view returns a list with some rows in the form of the declaration.
func (e *elements) view(rows []model.Value) model.Value {
	return putback.View(e.s, e.a.listValue(e.l, rows))
}

// declared returns the declared value of the resource.
func (e *elements) declared() model.Value {
	if e.s.Lens != nil {
		return e.s.Written
	}
	return e.s.Declared
}

func (e *elements) isDeclared(rows []model.Value) bool {
	return diff.Equal(e.schema().Field(e.attribute), e.view(rows).At(e.attribute), e.declared().At(e.attribute))
}

// find sets the attribute of the list, and compares the list with what the source read last. The finding must have all that
// differs in it: rows are only put back together.
func (e *elements) find() error {
	paths := make([]string, len(e.s.Finding.Changes))
	now := e.a.listValue(e.l, e.l.rows)
	if !diff.Equal(e.a.kinds[e.l.kind].Schema, e.s.Live, now) {
		return refuse(guardStillSo, "it changed since the scan: look again")
	}
	for i := range e.s.Finding.Changes {
		c := &e.s.Finding.Changes[i]
		steps, ok := fieldpath.Parse(c.Path)
		if !ok || len(steps) == 0 || e.attribute != "" && e.attribute != steps[0].Name {
			return refuse(guardKind, "%s: driftd puts back the rows of the list, and nothing else together with them", c.Path)
		}
		e.attribute, paths[i] = steps[0].Name, c.Path
	}
	at := e.attribute
	if e.s.Lens != nil {
		at = e.s.Lens.LivePath(now, e.attribute)
	}
	if at != e.l.field {
		return refuse(guardKind, "%s: driftd puts back the rows of the list only", e.attribute)
	}
	for _, other := range e.s.Others {
		if other.Key == e.s.Finding.Key && slices.ContainsFunc(other.Changes, func(c model.Change) bool { return diff.Touches([]string{e.attribute}, c.Path) }) {
			return refuse(guardScope, "finding %s (%s) is about the same list: settle it first", other.ID, other.VerdictText())
		}
	}
	only := func(v model.Value) model.Value {
		return model.MapOf(model.Field{Name: e.attribute, Value: v.At(e.attribute)})
	}
	for _, c := range diff.Fields(e.schema(), only(e.declared()), only(putback.View(e.s, now))) {
		if !diff.Touches(paths, c.Path) {
			return refuse(guardScope, "%s differs too, and not for the same reason: look at the other findings of the resource", c.Path)
		}
	}
	return nil
}

// rows returns the rows that are wanted, and for each of them the position of the row that it is now, or -1.
func (e *elements) rows() (wanted []model.Value, keeps []int, err error) {
	if err := e.find(); err != nil {
		return nil, nil, err
	}
	element := e.schema().Field(e.attribute).Element()
	declared := e.declared().At(e.attribute).Items()
	live := make([]model.Value, len(e.l.rows))
	for i, row := range e.l.rows {
		live[i] = e.one(row)
	}
	equal := func(n, i int) bool { return diff.Equal(element, declared[n], live[i]) }
	keeps = pairs(len(declared), len(live), equal, e.l.isOrdered())
	for n, d := range declared {
		if keeps[n] >= 0 {
			wanted = append(wanted, e.l.rows[keeps[n]])
			continue
		}
		candidates := e.candidates(d)
		at := slices.IndexFunc(candidates, func(row model.Value) bool { return diff.Equal(element, d, e.one(row)) })
		if at < 0 {
			return nil, nil, refuse(guardKind, "%s[%d]: driftd found no notation in which it would be as declared", e.attribute, n)
		}
		wanted = append(wanted, candidates[at])
	}
	return wanted, keeps, nil
}

// one returns a row in the form of the declaration; null if that has none.
func (e *elements) one(row model.Value) model.Value {
	items := e.view([]model.Value{row}).At(e.attribute).Items()
	if len(items) != 1 {
		return model.Value{}
	}
	return items[0]
}

// candidates returns rows that may be a declared element.
func (e *elements) candidates(element model.Value) []model.Value {
	row := model.MapOf()
	for _, f := range element.Fields() {
		name, value, ok := e.field(f)
		if text := partText(value); ok && text != "" {
			row = row.With(name, model.StringOf(text))
		}
	}
	if !e.l.isOrdered() {
		return []model.Value{row}
	}
	if _, ok := row.Get("enable"); !ok {
		row = row.With("enable", model.StringOf("1"))
	}
	return []model.Value{row, row.With("type", model.StringOf("group"))}
}

// field returns the name and the value that a field of a declared element has in Proxmox VE.
func (e *elements) field(f model.Field) (name string, value model.Value, ok bool) {
	if e.s.Lens == nil {
		return f.Name, f.Value, true
	}
	path := fmt.Sprintf("%s[0].%s", e.attribute, f.Name)
	live := e.a.listValue(e.l, []model.Value{placeholder()})
	steps, parsed := fieldpath.Parse(e.s.Lens.LivePath(live, path))
	if !parsed || len(steps) != 3 {
		return "", model.Value{}, false
	}
	value, ok = e.s.Lens.LiveValue(live, path, f.Value)
	return steps[2].Name, value, ok
}

// placeholder returns a row that every list keeps: an entry needs its key.
func placeholder() model.Value {
	return model.MapOf(model.Field{Name: "cidr", Value: model.StringOf("::")})
}

// pairs returns, for each of n elements, the position of the one of m elements that it equals, or -1. No position occurs
// twice. If the order has a meaning, the positions rise, and as many elements as possible have one.
func pairs(n, m int, equal func(n, m int) bool, ordered bool) []int {
	all := make([]int, n)
	if !ordered {
		for i := range all {
			all[i] = -1
			for j := range m {
				if equal(i, j) && !slices.Contains(all[:i], j) {
					all[i] = j
					break
				}
			}
		}
		return all
	}
	// longest[i][j] is the number of pairs of the elements from i and from j on.
	longest := make([][]int, n+1)
	longest[n] = make([]int, m+1)
	for i := n - 1; i >= 0; i-- {
		longest[i] = make([]int, m+1)
		for j := m - 1; j >= 0; j-- {
			longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			if equal(i, j) {
				longest[i][j] = max(longest[i][j], longest[i+1][j+1]+1)
			}
		}
	}
	for i, j := 0, 0; i < n; i++ {
		all[i] = -1
		for ; j < m && longest[i][j] > longest[i+1][j]; j++ {
			if equal(i, j) && longest[i][j] == longest[i+1][j+1]+1 {
				all[i] = j
				j++
				break
			}
		}
	}
	return all
}
