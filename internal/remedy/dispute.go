package remedy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/model"
)

// whoseDecision is the note about the directions of a dispute.
const whoseDecision = "Which direction is right is the decision of whoever is responsible for the resource: whether NetBox, or another declaration, leads or follows is the operator's rule, and driftd has none."

// settle returns the step for a dispute of declarations in which the live system follows one of
// them.
func (c *issue) settle() Step {
	s := words("Decide which side is right; driftd does not", whoseDecision)
	for i := range c.Changes {
		change := &c.Changes[i]
		if change.Secret {
			s.note("%s is a secret: compare it in the declarations.", change.Path)
			continue
		}
		for j := range change.Claims {
			claim := &change.Claims[j]
			where := claim.Declaration + " (" + claim.Address + ")"
			if change.Live != nil && claim.Value.Equal(*change.Live) {
				s.note("%s: %s and the live system have %s. To make the others follow, correct their declarations.", change.Path, where, claim.Value)
				continue
			}
			s.note("%s: if reality follows %s, set it to %s live; if %s follows reality, set it to %s there.", change.Path, where, claim.Value, claim.Declaration, sideText(change.Live))
		}
	}
	for _, claim := range c.inventoryClaims() {
		live := c.towards(claim)
		if len(live.Blocks) == 0 {
			continue
		}
		s.Blocks = append(s.Blocks, live.Blocks...)
		s.note("The commands make the live system follow %s (%s).", claim.Declaration, claim.Address)
		s.Notes = append(s.Notes, live.Notes...)
	}
	return s
}

// correct returns the step for a dispute in which a declaration follows the live system.
func (c *issue) correct() Step {
	s := words("Correct the declaration that is wrong", "All directions are listed above: put back. Which one is right is the operator's rule.")
	for _, claim := range c.inventoryClaims() {
		step := c.correctInventory(claim.Address, c.changesOf(claim, func(change *model.Change, own *model.ClaimedValue) model.Change {
			return model.Change{Path: cmp.Or(own.Path, change.Path), LivePath: change.LivePath, Declared: &own.Value, Live: change.Live, Secret: change.Secret}
		}))
		s.Blocks = append(s.Blocks, step.Blocks...)
		s.note("For %s (%s) to follow the live system:", claim.Declaration, claim.Address)
		s.Notes = append(s.Notes, step.Notes...)
	}
	return s
}

// inventoryClaims returns the claims of NetBox that differ from the live system, one of each
// declaration and object.
func (c *issue) inventoryClaims() []model.ClaimedValue {
	var found []model.ClaimedValue
	for i := range c.Changes {
		for _, claim := range c.Changes[i].Claims {
			live := c.Changes[i].Live
			known := slices.ContainsFunc(found, func(f model.ClaimedValue) bool {
				return f.Declaration == claim.Declaration && f.Address == claim.Address
			})
			if !known && inventoryObject(claim.Address) != "" && (live == nil || !claim.Value.Equal(*live)) {
				found = append(found, claim)
			}
		}
	}
	return found
}

// changesOf returns a change for each field in which a claim's declaration differs from the live
// system.
func (c *issue) changesOf(of model.ClaimedValue, change func(*model.Change, *model.ClaimedValue) model.Change) []model.Change {
	var changes []model.Change
	for i := range c.Changes {
		for _, claim := range c.Changes[i].Claims {
			live := c.Changes[i].Live
			if claim.Declaration == of.Declaration && claim.Address == of.Address && (live == nil || !claim.Value.Equal(*live)) {
				changes = append(changes, change(&c.Changes[i], &claim))
			}
		}
	}
	return changes
}

// towards returns the commands with which the live system follows a claim of NetBox.
func (c *issue) towards(claim model.ClaimedValue) Step {
	f := *c.Finding
	f.Changes = c.changesOf(claim, func(change *model.Change, own *model.ClaimedValue) model.Change {
		return model.Change{Path: change.Path, LivePath: change.LivePath, Declared: &own.Value, Live: change.Live, Secret: change.Secret}
	})
	f.Changes = slices.DeleteFunc(f.Changes, func(change model.Change) bool { return !c.isSameUnit(&change) })
	followed := &issue{&f, c.Facts}
	followed.Facts.Declared = netbox
	if len(f.Changes) == 0 {
		return Step{}
	}
	return followed.direct()
}

// correctInventory returns the step that sets fields of an object of NetBox to their live values.
func (c *issue) correctInventory(address string, changes []model.Change) Step {
	s := Step{Title: "Patch the object in NetBox"}
	var fields []model.Field
	for i := range changes {
		change := &changes[i]
		switch {
		case change.Secret:
			s.note("%s is a secret: its value is not shown.", change.Path)
		case change.Live == nil:
			s.note("Remove %s in NetBox.", change.Path)
		case !strings.Contains(netboxFields, " "+change.Path+" ") || !c.isSameUnit(change) || !jsonpatch.IsExact(change.Live):
			s.note("Set %s to %s in NetBox, in its unit and form.", change.Path, change.Live)
		default:
			fields = append(fields, model.Field{Name: change.Path, Value: *change.Live})
		}
	}
	object := inventoryObject(address)
	if len(fields) == 0 || object == "" {
		s.Title = "Edit the object in NetBox"
		for _, field := range fields {
			s.note("Set %s to %s.", field.Name, field.Value)
		}
		return s
	}
	s.netboxRequest(object, fields)
	return s
}

// inventoryObject returns the path of an object in the API of NetBox; "" if the address is not that
// of a machine or device.
func inventoryObject(address string) string {
	kind, id, _ := strings.Cut(address, "/")
	switch {
	case !isNumber(id):
	case kind == "virtual-machines":
		return "virtualization/virtual-machines/" + id
	case kind == "devices":
		return "dcim/devices/" + id
	}
	return ""
}

// isSameUnit reports whether NetBox and the live system write a field alike, so that the value of
// one is that of the other. The cores of a guest are its vCPUs if it has one socket.
func (c *issue) isSameUnit(change *model.Change) bool {
	switch live := path(change); live {
	case "name", "hostname", "memory":
	case "cores":
		if c.Live == nil {
			return false
		}
		sockets := c.Live.At("sockets")
		if limited := c.Live.At("vcpus"); !limited.IsNull() || !sockets.IsNull() && sockets.Text() != "1" {
			return false
		}
	default:
		return false
	}
	return change.Live == nil || change.Declared == nil || change.Live.Kind() == change.Declared.Kind()
}

// A writer is who set a side of a disputed field.
type writer struct {
	where string
	actor model.Actor
}

// writers returns the writers of all sides of disputed fields: of the live system first, then of each
// declaration.
func (c *issue) writers() []writer {
	var all []writer
	add := func(where string, actor *model.Actor) {
		if w := (writer{where: where}); actor != nil {
			w.actor = *actor
			if !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	for i := range c.Changes {
		add("in the live system", c.Changes[i].LiveActor)
	}
	for i := range c.Changes {
		for j := range c.Changes[i].Claims {
			claim := &c.Changes[i].Claims[j]
			add("in "+claim.Declaration+" ("+claim.Address+")", claim.Actor)
		}
	}
	return all
}

// askWriters returns the step that names the writers of all sides of a dispute; known is false if
// none is recorded.
func (c *issue) askWriters() (s Step, known bool) {
	writers := c.writers()
	var people []string
	for _, w := range writers {
		if w.actor.IsPerson() && !slices.Contains(people, w.actor.Name) {
			people = append(people, w.actor.Name)
		}
		if w.actor.Confidence == model.Unknown || w.actor.Name == "" {
			s.note("Who set it %s is unknown: %s.", w.where, cmp.Or(w.actor.Reason, "no evidence"))
			continue
		}
		text := w.actor.Name + " set it " + w.where
		if !w.actor.At.IsZero() {
			text += " at " + w.actor.At.UTC().Format("2006-01-02 15:04 UTC")
		}
		if w.actor.Via != "" {
			text += ", according to " + w.actor.Via
		}
		s.note("%s (%s).", text, w.actor.Confidence)
	}
	switch {
	case len(people) > 0:
		s.Title = "Ask " + strings.Join(people, " and ")
	case c.Owner != "":
		s.Title = "Ask " + c.Owner
	default:
		s.Title = "No person to ask is known"
	}
	if c.Owner != "" {
		s.note("%s is responsible according to the rules of owners.", c.Owner)
	}
	return s, len(writers) > 0
}
