package remedy

import (
	"cmp"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// putBack returns the step that changes the live system.
func (c *issue) putBack() Step {
	if c.Kind == helmReleaseKind {
		return c.putBackRelease()
	}
	switch c.Verdict {
	case model.Changed, model.Undeclared, model.Bypassed:
		return c.revert()
	case model.Missing:
		return c.recreate()
	case model.Pending:
		s := c.apply("Apply the declaration")
		if c.IsUnproven() {
			s.note("It is not proven that the declaration moved: if the live system did, the apply erases that change.")
		}
		return s
	case model.Conflict:
		s := c.apply("Apply the declaration")
		s.note("Declared, recorded and live value all differ: the apply overwrites the live value, and ships the commit that is not applied yet with it.")
		return s
	case model.PendingRestart:
		return c.restart()
	case model.Codified:
		return c.renew()
	case model.Disputed:
		return c.settle()
	case model.Unmanaged:
		return c.remove()
	case model.Moved:
		return words("Move it back by hand", "Moving a resource may interrupt it, and Terraform may destroy and create it: read its plan first.")
	case model.Violated, model.Nondeterministic:
		return words("Correct what the check found", "Check "+c.Check+": "+cmp.Or(c.Reason, "no reason")+".")
	}
	return words("Nothing is suggested while it is not compared", "Reason: "+cmp.Or(c.Reason, "unknown")+".")
}

// remove returns the step for an unmanaged resource. Only a rule of a security group is deleted
// without losing data.
func (c *issue) remove() Step {
	if c.Kind != "openstack/security_group_rule" || !openstackID().MatchString(c.Key.ID) {
		return words("No command is suggested, because it would delete the resource",
			"driftd does not know what depends on it. Ask who created it first.")
	}
	s := words("Delete the rule")
	rule := command{"openstack", "security", "group", "rule"}
	s.commands(append(rule[:len(rule):len(rule)], "show", c.Key.ID))
	s.commands(append(rule[:len(rule):len(rule)], "delete", c.Key.ID))
	s.note("Connections that only this rule allows end. The first command shows what it takes to create it again.")
	return s
}

// revert returns the step that restores the declared values of fields.
func (c *issue) revert() Step {
	if len(c.Changes) == 0 {
		return words("Put it back by hand", "The finding is about the resource as a whole, and names no field.")
	}
	if c.Declared == terraform {
		s := c.terraformApply("Apply the Terraform root")
		direct := c.direct()
		s.Blocks = append(s.Blocks, direct.Blocks...)
		if len(direct.Blocks) > 0 {
			s.note("The other commands change the live system directly, without Terraform; the next plan must then be empty for %s.", c.place())
			s.Notes = append(s.Notes, direct.Notes...)
		}
		return s
	}
	return c.direct()
}

// direct returns the step that changes the live system without the declaration's own tool.
func (c *issue) direct() Step {
	system, _, _ := strings.Cut(c.Kind, "/")
	switch system {
	case "kubernetes":
		return c.kubernetes()
	case "proxmox":
		return c.proxmox()
	case "netbox":
		return c.netbox()
	case "openstack":
		return c.openstack()
	}
	return words("Put it back by hand", "driftd has no commands for "+phrase.Kind(c.Kind)+" resources: set the declared value of each field in "+c.Source+".")
}

// recreate returns the step that creates a missing resource again.
func (c *issue) recreate() Step {
	s := c.apply("Apply the declaration to create it again")
	s.note("What the deleted resource contained, such as data on its disks, does not come back.")
	return s
}

// apply returns the step that applies the whole declaration.
func (c *issue) apply(title string) Step {
	switch c.Declared {
	case manifests:
		return c.applyFile(title)
	case helm:
		return words(title, "A chart renders it from "+c.place()+": run helm upgrade with the chart and the values of the release, at the commit that is to be live. Do not patch the object: Helm does not see that.")
	case terraform:
		return c.terraformApply(title)
	}
	return words(title, "It is declared in "+c.place()+".")
}

// restart returns the step for changes that wait for a restart.
func (c *issue) restart() Step {
	s := words("Restart it, at a time that suits its users")
	s.note("A restart applies everything that waits, also changes of others.")
	if c.Kind == guestVM || c.Kind == guestContainer {
		c.pendingCommand(&s)
	}
	return s
}

// renew returns the step that brings the record of what was applied up to date.
func (c *issue) renew() Step {
	if c.Declared == terraform {
		s := words("Refresh the Terraform state")
		s.commands(command{"terraform", "plan", "-refresh-only"})
		s.commands(command{"terraform", "apply", "-refresh-only"})
		s.note("Live and declaration agree already. A resource that was deleted leaves the state, and the next plan creates it again: read the plan.")
		return s
	}
	s := c.apply("Apply the declaration once")
	s.note("Live and declaration agree already, so that only the record changes.")
	return s
}

// sideText returns a side as text.
func sideText(v *model.Value) string {
	if v == nil {
		return "no value"
	}
	return v.String()
}

// adopt returns the step that changes the declaration. Its title begins with what would be declared
// open or exposed.
func (c *issue) adopt() Step {
	s := c.adoptAs()
	if !c.IsDangerous() || !movedLive(c.Finding) && c.Verdict != model.Unmanaged {
		return s
	}
	s.Title = c.danger() + " Only if that is intended: " + strings.ToLower(s.Title[:1]) + s.Title[1:]
	return s
}

// danger returns what an adoption would declare, as a sentence.
func (c *issue) danger() string {
	text := "This declares the " + string(c.Severity) + " finding to be right"
	if c.Reason != "" {
		text += " (" + phrase.Line(c.Reason, maxDanger) + ")"
	}
	worst := c.WorstFirst()
	var fields []string
	for i := range worst.Changes {
		change := &worst.Changes[i]
		if worst.SeverityOf(change) != c.Severity && change.Exposure == "" {
			continue
		}
		value := "(secret)"
		if !change.Secret {
			value = phrase.Line(sideText(change.Live), maxDanger)
		}
		if fields = append(fields, change.Path+" = "+value); len(fields) == mostDangers {
			break
		}
	}
	if len(fields) > 0 {
		text += ": " + strings.Join(fields, ", ")
	}
	return text + "."
}

// maxDanger bounds a value or a reason in a warning, in columns, and mostDangers the fields.
const (
	maxDanger   = 100
	mostDangers = 3
)

func (c *issue) adoptAs() Step {
	if c.Kind == helmReleaseKind && c.Verdict != model.Unchecked {
		return c.adoptRelease()
	}
	switch c.Verdict {
	case model.Unmanaged:
		return c.declareNew()
	case model.Pending:
		if c.IsUnproven() {
			return c.adoptUnproven()
		}
		return words("Nothing to adopt", "The declaration is not behind the live system.")
	case model.Codified, model.PendingRestart:
		return words("Nothing to adopt", "The declaration is not behind the live system.")
	case model.Missing:
		return words("Remove it from the declaration", "It is declared in "+c.place()+".")
	case model.Moved:
		return words("Declare its new place", "Edit "+c.place()+"; in Terraform use a moved block, so that the plan destroys nothing.")
	case model.Disputed:
		return c.correct()
	case model.Changed, model.Undeclared, model.Bypassed, model.Conflict:
		return c.adoptFields()
	case model.Violated, model.Nondeterministic:
		return words("Nothing to adopt", "A failed check has no value to adopt.")
	}
	return words("Nothing is suggested while it is not compared")
}

// adoptUnproven returns the step that changes the declaration if the live system moved, which is not
// proven.
func (c *issue) adoptUnproven() Step {
	adopted := Adopted(c.Finding)
	s := (&issue{&adopted, c.Facts}).adoptFields()
	s.Title = "If the live system moved: " + strings.ToLower(s.Title[:1]) + s.Title[1:]
	s.Notes = append([]string{"It is not proven which side moved. If a commit moved the declaration, this would undo it: apply the declaration instead."}, s.Notes...)
	return s
}

func (c *issue) adoptFields() Step {
	switch {
	case len(c.Changes) == 0:
		return words("Adopt it by hand", "The finding is about the resource as a whole, and names no field.")
	case c.Declared == manifests:
		return c.adoptManifest()
	case c.Declared == terraform:
		return c.adoptTerraform()
	case c.Declared == netbox:
		return c.correctInventory(c.Address, c.Changes)
	}
	s := words("Edit the declaration by hand", "It is declared in "+c.place()+".")
	c.liveValues(&s)
	return s
}

// liveValues adds the live value of each field as a note.
func (c *issue) liveValues(s *Step) {
	for i := range c.Changes {
		change := &c.Changes[i]
		switch {
		case change.Secret:
			s.note("%s is a secret: its value is not shown. It is declared in %s.", change.Path, c.place())
		case change.Live == nil:
			s.note("Remove %s.", change.Path)
		default:
			s.note("Set %s to %s.", change.Path, change.Live)
		}
	}
}

// declareNew returns the step that declares an unmanaged resource.
func (c *issue) declareNew() Step {
	switch {
	case c.Declared == netbox && c.isGuest():
		return c.recordGuest()
	case c.Import != "":
		return c.importBlock()
	case strings.HasPrefix(c.Kind, "kubernetes/"):
		s := words("Export it, remove what the system sets, and add it to the manifests")
		s.commands(c.kubectl("get", "--output=yaml"))
		s.note("Remove status and, in metadata, uid, resourceVersion, generation, creationTimestamp and managedFields. Remove the values of Secrets.")
		return s
	}
	return words("Declare it by hand", "No mapping table has the import ID of "+phrase.Kind(c.Kind)+" resources.")
}

// accept returns the step that changes neither side.
func (c *issue) accept() Step {
	if !c.Verdict.IsDrift() {
		return words("Nothing to accept", "It was not compared.")
	}
	if c.Accepted() {
		return c.accepted()
	}
	s := words("Accept this state until a date; it is reopened when it changes")
	s.commands(command{"driftd", "accept", c.ID, "--reason=" + blank, "--owner=" + cmp.Or(c.Owner, blank), "--until=30d"})
	s.note("Replace %s: the command refuses it.", blank)
	return s
}

// blank is the placeholder in a command. It is refused as a reason and as an owner.
const blank = "…"

// accepted returns the step for a finding that is accepted already.
func (c *issue) accepted() Step {
	d := c.Decision
	s := words("It is accepted already; it is reopened when it changes")
	text := "Accepted by " + d.By
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	if !d.Until.IsZero() {
		text += ", until " + d.Until.UTC().Format("2006-01-02 15:04 UTC")
	}
	s.note("%s.", text)
	if d.From != "" {
		s.note("To end this, remove it in %s.", d.Via)
		return s
	}
	s.note("The command ends this.")
	s.commands(command{"driftd", "decisions", "revoke", d.ID})
	return s
}

// ask returns the step that names people: the one who changed it, or else the owner.
func (c *issue) ask() Step {
	if c.Verdict == model.Disputed {
		if s, known := c.askWriters(); known {
			return s
		}
	}
	s := Step{Title: "No person to ask is known"}
	actor, person := c.Person()
	if !person {
		actor = c.Actor
	}
	known := actor.Confidence != model.Unknown && actor.Name != ""
	switch {
	case person:
		s.Title = "Ask " + actor.Name
	case c.Owner != "":
		s.Title = "Ask " + c.Owner
	case known:
		s.Title += "; " + actor.Name + " wrote it"
	}
	switch {
	case known:
		s.note("%s (%s).", c.deed(&actor), actor.Confidence)
		if actor.Via == model.ViaManagedFields {
			s.note("%s is the name of a program: managedFields do not record users. The audit log of the API server does.", actor.Name)
		}
	case actor.Reason != "":
		s.note("The actor is unknown: %s.", actor.Reason)
	}
	if c.Owner != "" {
		s.note("%s is responsible according to the rules of owners.", c.Owner)
	}
	return s
}

// deed returns what an actor did, when, and according to what.
func (c *issue) deed(actor *model.Actor) string {
	text := actor.Name + " " + cmp.Or(phrase.Verb(c.Finding), "changed") + " it"
	if !actor.At.IsZero() {
		text += " at " + actor.At.UTC().Format("2006-01-02 15:04 UTC")
	}
	if actor.Via != "" {
		text += ", according to " + actor.Via
	}
	return text
}
