package preview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// authors finds the stored findings on the objects of a plan.
type authors struct {
	plan *Plan
	o    Options
	// missing is why there is no stored finding at all; "" if there may be some.
	missing string
	scanned time.Time
	// byAddress are the stored findings on manual changes.
	byAddress map[string][]*model.Finding
	// unclaimed are the stored findings on resources that no declaration manages.
	unclaimed map[model.Ref][]*model.Finding
	// named are the findings of o.Declaration.
	named []*model.Finding
}

func newAuthors(plan *Plan, k *Known, o Options) *authors {
	a := &authors{plan: plan, o: o, missing: k.Missing, scanned: k.finished(), byAddress: map[string][]*model.Finding{}}
	a.unclaimed = unclaimedIn(k.open())
	types := k.types()
	for _, f := range k.open() {
		_, made := handMade(f)
		if f.Address == "" || f.Kind == model.PartKind || types[f.Declaration] != terraform || o.Declaration != "" && f.Declaration != o.Declaration {
			continue
		}
		if a.named = append(a.named, f); made {
			a.byAddress[f.Address] = append(a.byAddress[f.Address], f)
		}
	}
	for _, list := range a.byAddress {
		slices.SortFunc(list, model.CompareWorst)
	}
	slices.SortFunc(a.named, func(f, g *model.Finding) int {
		return cmp.Or(cmp.Compare(f.Address, g.Address), model.CompareWorst(f, g))
	})
	return a
}

// check returns an error if findings of o.Declaration show that the plan is of another state:
// the plan has none of their objects.
func (a *authors) check() error {
	if a.o.Declaration == "" || len(a.named) == 0 {
		return nil
	}
	at := map[string][]Object{}
	for _, object := range a.plan.Objects {
		at[object.Address] = append(at[object.Address], object)
	}
	var other *model.Finding
	for _, f := range a.named {
		if slices.ContainsFunc(at[f.Address], func(object Object) bool { return isOf(f, &object) }) {
			return nil
		}
		if len(at[f.Address]) > 0 {
			other = cmp.Or(other, f)
		}
	}
	hint := fmt.Sprintf("make the plan in the root of %s, run driftd scan if its last scan (%s) is too old, or name another declaration",
		a.o.Declaration, a.scanned.Format(time.RFC3339))
	if other != nil {
		return fmt.Errorf("the plan is of another state than declaration %s: its %s is another object (%s) than driftd knows (%s); %s",
			a.o.Declaration, other.Address, idOf(at[other.Address]), cmp.Or(other.Name, other.Key.ID), hint)
	}
	return fmt.Errorf("the plan is of another state than declaration %s: it has none of the resources with findings there, such as %s; %s",
		a.o.Declaration, a.named[0].Address, hint)
}

// idOf returns the ID of an object.
func idOf(objects []Object) string {
	ids := make([]string, len(objects))
	for i := range objects {
		ids[i] = cmp.Or(objects[i].ID, objects[i].Live.ID)
	}
	return slices.Min(ids)
}

// isOf reports whether a finding at the address of an object can be about the object.
func isOf(f *model.Finding, object *Object) bool {
	switch f.Kind {
	case "terraform/" + object.Type:
		return object.ID == "" || f.Name == "" || f.Name == object.ID || f.Name == object.Name
	case object.Live.Kind:
		return object.Live.ID == "" || f.Key.ID == object.Live.ID
	}
	return true
}

// of returns the stored findings on manual changes of an object; none if they are of several
// declarations, because one of them may be about another object of the same address.
func (a *authors) of(object *Object) []*model.Finding {
	if list := a.fitting(object); len(declarations(list)) == 1 {
		return list
	}
	return nil
}

// fitting returns the stored findings that can be about an object.
func (a *authors) fitting(object *Object) []*model.Finding {
	var list []*model.Finding
	for _, f := range a.byAddress[object.Address] {
		if isOf(f, object) {
			list = append(list, f)
		}
	}
	return list
}

// declarations returns the declarations of findings, sorted.
func declarations(list []*model.Finding) []string {
	names := make([]string, len(list))
	for i, f := range list {
		names[i] = f.Declaration
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// unknown returns why no stored finding names an author for an object.
func (a *authors) unknown(object *Object) string {
	same := a.fitting(object)
	names := declarations(same)
	switch {
	case a.missing != "":
		return a.missing
	case len(names) > 1:
		return "several declarations have this address (" + strings.Join(names, ", ") + "): name one with --declaration"
	case len(same) > 0:
		return "driftd last saw another value: scan again"
	case len(a.byAddress[object.Address]) > 0:
		return "driftd knows another object at this address"
	case a.scanned.IsZero():
		return "driftd has not scanned it"
	}
	return "driftd found no such change in its last scan at " + a.scanned.Format(time.RFC3339)
}

// change returns the stored finding with a change of the plan, and its change; or nil and the
// reason why there is none. The live values must be equal, as far as they are comparable: an
// earlier author did not write another value.
func (a *authors) change(object *Object, c *model.Change) (*model.Finding, *model.Change, string) {
	for _, f := range a.of(object) {
		hand, _ := handMade(f)
		for i := range hand.Changes {
			if known := &hand.Changes[i]; overlap(known.Path, c.Path) && sameLive(known, c) {
				return f, known, ""
			}
		}
	}
	if f := a.unmanaged(object); f != nil {
		return f, &model.Change{}, ""
	}
	return nil, nil, a.unknown(object)
}

// sameLive reports whether the live values of a stored change and of one of the plan may be
// the same. Secrets, and values of different paths or forms, are not comparable.
func sameLive(known, c *model.Change) bool {
	switch {
	case known.Secret || c.Secret || model.WithoutKeys(known.Path) != model.WithoutKeys(c.Path):
		return true
	case known.Live == nil || c.Live == nil:
		return (known.Live == nil || known.Live.IsEmpty()) == (c.Live == nil || c.Live.IsEmpty())
	case isTree(known.Live) || isTree(c.Live):
		return true
	}
	return known.Live.Text() == c.Live.Text()
}

func isTree(v *model.Value) bool { return v.Kind() == model.Map || v.Kind() == model.List }

// fields sets the actors of a finding's changes. The finding is hidden, or has a decision, only
// if that is so for each change.
func (a *authors) fields(object *Object, f *model.Finding) {
	hidden, decided := true, true
	for i := range f.Changes {
		c := &f.Changes[i]
		found, change, reason := a.change(object, c)
		if found == nil {
			unknown := model.UnknownActor(reason)
			c.Actor, hidden, decided = &unknown, false, false
			continue
		}
		c.Actor, hidden, decided = actorOf(found, change), hidden && found.Hidden != "", decided && found.Decision != nil
		takeOver(f, found)
	}
	if !hidden {
		f.Hidden = ""
	}
	if !decided {
		f.Decision = nil
	}
	lift(f)
}

// whole sets the actor of a finding about a removed object.
func (a *authors) whole(object *Object, f *model.Finding) {
	f.Actor = model.UnknownActor(a.unknown(object))
	for _, stored := range a.of(object) {
		if stored.Verdict == model.Missing {
			f.Actor = stored.Actor
			takeOver(f, stored)
			return
		}
	}
}

// actorOf returns the actor of a change of a finding.
func actorOf(f *model.Finding, c *model.Change) *model.Actor {
	actor := f.Actor
	if c.Actor != nil {
		actor = *c.Actor
	}
	if f.Verdict == model.Disputed && c.LiveActor != nil {
		actor = *c.LiveActor
	}
	return &actor
}

// lift sets the actor of a finding from those of its changes.
func lift(f *model.Finding) {
	for i := range f.Changes {
		if f.Changes[i].Actor == nil {
			actor := f.Actor
			f.Changes[i].Actor = &actor
		}
	}
	f.Actor = model.LiftActor(f.Changes)
}

// takeOver copies the identity of a stored finding, the decision about it, and its severity: a
// rule of the configuration decides, otherwise the worse one does.
func takeOver(f, stored *model.Finding) {
	if f.ID == "" {
		f.ID, f.Key, f.Place, f.Name, f.Declaration = stored.ID, stored.Key, stored.Place, stored.Name, stored.Declaration
		f.Owner, f.Labels, f.Decision, f.Hidden = stored.Owner, stored.Labels, stored.Decision, stored.Hidden
		f.FirstSeen, f.LastSeen, f.Rated = stored.FirstSeen, stored.LastSeen, stored.Rated
		if f.Rated != nil {
			f.Severity = stored.Severity
		}
	}
	if stored.FirstSeen.Before(f.FirstSeen) {
		f.FirstSeen = stored.FirstSeen
	}
	if f.Rated == nil && stored.Severity.Rank() < f.Severity.Rank() {
		f.Severity = stored.Severity
	}
}
