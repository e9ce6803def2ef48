package netbox

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/netboxapi"
	"github.com/driftd/driftd/internal/reconcile"
)

// Plan implements reconcile.Actuator. It verifies that the values in NetBox are those of the finding. The
// new values come from the last read of the live resource.
func (a *Actuator) Plan(ctx context.Context, s reconcile.Subject) (reconcile.Change, error) {
	f := s.Finding
	switch {
	case s.Lens == nil:
		return nil, refuse(guardKind, "declaration %s is none of a NetBox", f.Declaration)
	case len(f.Changes) == 0:
		return nil, refuse(guardKind, "the finding names no field")
	case s.Live.IsNull():
		return nil, refuse(guardStillSo, "the resource was not read: look again")
	case len(s.Opposed) > 0:
		return nil, refuse(guardScope, "%s declares something else than is live, too: put that back first, or change it there", strings.Join(s.Opposed, " and "))
	}
	paths := make([]string, len(f.Changes))
	for i := range f.Changes {
		paths[i] = f.Changes[i].Path
	}
	slices.Sort(paths)
	var c *change
	err := a.with(func(session *netboxapi.Session) error {
		vm, header, err := a.machine(ctx, session, f.Address)
		if err != nil {
			return err
		}
		targets, err := a.locate(ctx, session, &vm, paths)
		if err != nil {
			return err
		}
		changes, err := changesOf(&s, targets)
		if err != nil {
			return err
		}
		for i := range targets {
			if err := a.checkFree(ctx, session, &targets[i]); err != nil {
				return err
			}
		}
		c = &change{actuator: a, targets: targets, note: noteFor(header.Get("API-Version"), s.Note), again: s.Again, plan: reconcile.Plan{
			UID: vm.value.At("created").Text(), System: f.Address, Records: true, Endpoint: a.options.Access.URL, Identity: session.Token(), Changes: changes, Person: personFor(targets)}}
		return nil
	})
	if errors.Is(err, errGone) {
		return nil, refuse(guardStillSo, "%v: look again", errGone)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// personFor returns which of some targets are not written without a person. A device with a new MAC address is paired with its
// interface by its name, or because no other is left.
func personFor(targets []target) string {
	if slices.ContainsFunc(targets, func(t target) bool { return strings.HasSuffix(t.name, macField) }) {
		return "the MAC address of an interface"
	}
	return ""
}

// changesOf returns what the targets of a plan have, and what they get. It sets their values.
func changesOf(s *reconcile.Subject, targets []target) ([]reconcile.FieldChange, error) {
	seen := s.Lens.View(s.Live)
	var changes []reconcile.FieldChange
	for i := range targets {
		t := &targets[i]
		declared, _ := jsonpatch.Find(s.Written, t.path)
		held := t.held(&t.object)
		live, _ := jsonpatch.Find(seen, t.path)
		switch {
		case declared == nil || !same(held, *declared):
			return nil, refuse(guardStillSo, "%s was changed in NetBox since it was read: look again", t.path)
		case live == nil || live.IsNull() || live.Kind() == model.List || live.Kind() == model.Map:
			return nil, refuse(guardKind, "%s: the live resource does not have it", t.path)
		}
		live, err := t.documented(live)
		switch {
		case err != nil:
			return nil, err
		case same(held, *live):
			return nil, refuse(guardStillSo, "%s is as the live resource has it: look again", t.path)
		}
		t.value = t.sent(*live)
		changes = append(changes, reconcile.FieldChange{Path: t.path, Old: &held, New: live})
	}
	return changes, nil
}

// noteFor returns the text for the changelog; "" if a version of NetBox takes none.
func noteFor(version, note string) string {
	if before(version, 4, 4) {
		return ""
	}
	const most = 200 // characters of NetBox's field
	if runes := []rune(note); len(runes) > most {
		note = string(runes[:most-1]) + "…"
	}
	return note
}

// before reports whether a version, as in 4.6, is before another one, or unknown.
func before(version string, major, minor int) bool {
	x, y, _ := strings.Cut(version, ".")
	a, errA := strconv.Atoi(x)
	b, errB := strconv.Atoi(y)
	return errA != nil || errB != nil || a < major || a == major && b < minor
}

// Inspect implements reconcile.Actuator.
func (a *Actuator) Inspect(ctx context.Context, _ model.Key, p reconcile.Plan) (inspection reconcile.Inspection, err error) {
	err = a.with(func(session *netboxapi.Session) error {
		vm, _, err := a.machine(ctx, session, p.System)
		if err != nil {
			return err
		}
		paths := make([]string, len(p.Changes))
		for i := range p.Changes {
			paths[i] = p.Changes[i].Path
		}
		targets, err := a.locate(ctx, session, &vm, paths)
		if err != nil {
			return err
		}
		inspection = compare(&vm, targets, &p)
		return nil
	})
	if refusal := (*reconcile.Refusal)(nil); errors.Is(err, errGone) || errors.As(err, &refusal) {
		return reconcile.AsOther, nil
	}
	return inspection, err
}

// compare compares what NetBox has with a plan.
func compare(vm *object, targets []target, p *reconcile.Plan) reconcile.Inspection {
	if vm.value.At("created").Text() != p.UID {
		return reconcile.AsOther
	}
	wanted, as := true, true
	for i := range targets {
		held := targets[i].held(&targets[i].object)
		wanted = wanted && same(held, *p.Changes[i].New)
		as = as && same(held, *p.Changes[i].Old)
	}
	return reconcile.Inspected(wanted, as)
}
