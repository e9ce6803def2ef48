package remedy

import (
	"strings"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
)

// openstackNoun returns the words of a kind in the commands of OpenStackClient; nil if no command
// is suggested for it.
func openstackNoun(kind string) command {
	switch strings.TrimPrefix(kind, "openstack/") {
	case "server", "network", "subnet", "port", "router", "volume":
		return command{strings.TrimPrefix(kind, "openstack/")}
	case "security_group":
		return command{"security", "group"}
	}
	return nil
}

// openstackID matches the IDs of OpenStack's objects.
var openstackID = lazyregexp.New(`^[0-9a-fA-F-]{32,36}$`)

// metadataKey matches keys of metadata without a sign that a command would split at.
var metadataKey = lazyregexp.New(`^[A-Za-z0-9_.:-]+$`)

// openstack returns the step that puts an object of OpenStack back.
func (c *issue) openstack() Step {
	noun := openstackNoun(c.Kind)
	if noun == nil || !openstackID().MatchString(c.Key.ID) {
		return words("Put it back by hand", "driftd has no commands for this kind: set the declared value of each field in OpenStack.")
	}
	s := Step{Title: "Set the fields with OpenStackClient"}
	var set, unset command
	for i := range c.Changes {
		change := &c.Changes[i]
		flag, away, why := c.openstackFlag(change)
		switch {
		case why != "":
			s.note("Not in the command: %s, because %s.", change.Path, why)
		case away:
			unset = append(unset, flag)
		default:
			set = append(set, flag)
		}
	}
	var lines []command
	if len(set) > 0 {
		lines = append(lines, c.openstackLine(noun, "set", set))
	}
	if len(unset) > 0 {
		lines = append(lines, c.openstackLine(noun, "unset", unset))
	}
	if len(lines) == 0 {
		s.Title = "Put it back by hand"
		return s
	}
	s.commands(c.openstackLine(noun, "show", nil))
	s.commands(lines...)
	s.note("The first command shows the object: look whether it still has the live values of this finding. OpenStack does not test that.")
	return s
}

func (c *issue) openstackLine(noun command, verb string, flags command) command {
	line := append(command{"openstack"}, noun...)
	return append(append(append(line, verb), flags...), c.Key.ID)
}

// openstackFlag returns the flag that sets a field, or takes it away, or why there is none.
func (c *issue) openstackFlag(change *model.Change) (flag string, away bool, why string) {
	if change.Secret {
		return "", false, "it is a secret: apply " + c.place() + " instead"
	}
	steps, ok := fieldpath.Parse(path(change))
	if !ok || len(steps) > 2 || steps[0].Kind != fieldpath.Field {
		return "", false, "driftd has no command for it"
	}
	if why := c.form(change); why != "" {
		return "", false, why
	}
	if len(steps) == 2 {
		return c.metadataFlag(steps, change)
	}
	if flag = c.scalarFlag(steps[0].Name, change.Declared); flag == "" {
		return "", false, "driftd has no command for it"
	}
	return flag, false, ""
}

// scalarFlag returns the flag that sets a field to a value; "" if there is none.
func (c *issue) scalarFlag(name string, declared *model.Value) string {
	switch {
	case declared == nil || declared.Kind() != model.String && declared.Kind() != model.Bool:
	case name == "name" && declared.Text() != "", name == "description" && c.Kind != "openstack/server":
		return "--" + name + "=" + declared.Text()
	case name == "admin_state_up" && declared.Text() == "true":
		return "--enable"
	case name == "admin_state_up" && declared.Text() == "false":
		return "--disable"
	}
	return ""
}

// metadataFlag returns the flag for one key of a server's or a volume's metadata.
func (c *issue) metadataFlag(steps []fieldpath.Step, change *model.Change) (flag string, away bool, why string) {
	key := steps[1].Name
	if steps[0].Name != "metadata" || steps[1].Kind != fieldpath.Field || c.Kind != "openstack/server" && c.Kind != "openstack/volume" || !metadataKey().MatchString(key) {
		return "", false, "driftd has no command for it"
	}
	if change.Declared == nil {
		return "--property=" + key, true, ""
	}
	if change.Declared.Kind() != model.String {
		return "", false, "its value is no text"
	}
	return "--property=" + key + "=" + change.Declared.Text(), false, ""
}
