package remedy

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// The kinds of guests.
const (
	guestVM        = "proxmox/qemu"
	guestContainer = "proxmox/lxc"
)

// guestPath returns the API path of a guest; ok is false if the finding is about something else,
// or if the node is not known.
func (c *issue) guestPath() (at string, ok bool) {
	kind := strings.TrimPrefix(c.Kind, "proxmox/")
	return "/nodes/" + c.Place + "/" + kind + "/" + c.Key.ID, isNumber(c.Key.ID) && c.Place != "" && (c.Kind == guestVM || c.Kind == guestContainer)
}

// pendingCommand adds the command that shows what waits for a restart of a guest.
func (c *issue) pendingCommand(s *Step) {
	if at, ok := c.guestPath(); ok {
		s.commands(command{"pvesh", "get", at + "/pending"})
	}
}

// proxmox returns the step that puts the configuration of a guest back.
func (c *issue) proxmox() Step {
	at, ok := c.guestPath()
	if !ok {
		return words("Put it back by hand", "driftd has commands for the configuration of guests only: set the declared value of each field in Proxmox VE.")
	}
	s := Step{Title: "Set the configuration of the guest"}
	set, removed := command{"pvesh", "set", at + "/config"}, []string(nil)
	waits := false
	for i := range c.Changes {
		change := &c.Changes[i]
		value, why := c.guestOption(change)
		if why != "" {
			s.note("Not in the command: %s, because %s.", change.Path, why)
			continue
		}
		if change.Declared == nil {
			removed = append(removed, path(change))
		} else {
			set = append(set, "--"+path(change)+"="+value)
		}
		waits = waits || !strings.Contains(hotOptions, " "+path(change)+" ")
	}
	if len(removed) > 0 {
		set = append(set, "--delete="+strings.Join(removed, ","))
	}
	if len(set) == 3 {
		s.Title = "Put it back by hand"
		return s
	}
	s.commands(command{"pvesh", "get", at + "/pending"}, command{"pvesh", "get", at + "/config"})
	s.commands(append(set, "--digest=DIGEST"), command{"pvesh", "get", at + "/pending"})
	s.note("Replace DIGEST by the digest of the second command: Proxmox VE refuses the write if the configuration has changed since. If anything else waits in the first answer, ask its author.")
	if waits && c.Kind == guestVM {
		s.note("Of a running guest a part only takes effect after a stop and a start: the last command shows what waits, whatever the answer of the write was.")
	}
	return s
}

// plainOptions are the options of a guest that are written as they are read, and whose change
// loses nothing.
const plainOptions = " name hostname description onboot protection startup cores sockets vcpus memory swap cpulimit cpuunits " +
	"balloon numa ciuser ciupgrade nameserver searchdomain tablet kvm acpi "

// hotOptions take effect at once on a running guest.
const hotOptions = " name description onboot protection startup ciuser balloon vcpus tablet "

// guestOption returns the declared value of an option as the API takes it, or why it is not
// suggested.
func (c *issue) guestOption(change *model.Change) (value, why string) {
	option := path(change)
	switch {
	case change.Secret:
		return "", "it is a secret: apply " + c.place() + " instead"
	case riskyOption(option) != "":
		return "", riskyOption(option)
	case !strings.Contains(plainOptions, " "+option+" "):
		return "", "driftd does not know how it is written: see qm.conf(5)"
	case c.form(change) != "":
		return "", c.form(change)
	}
	return optionText(change.Declared)
}

// riskyOption returns why an option is only described in words; "" for others.
func riskyOption(option string) string {
	name, _, _ := strings.Cut(option, ".")
	switch strings.TrimRight(name, "0123456789") {
	case "template":
		return "its disks are base images, and removing the flag does not undo that"
	case "node":
		return "moving a guest is a migration"
	case "net":
		return "the whole string of the device must be written: copy it from the configuration, keep the MAC address, and change only this part"
	case "scsi", "virtio", "sata", "ide", "rootfs", "mp", "unused", "efidisk", "tpmstate":
		return "a disk cannot be made smaller, and deleting an unused one erases it"
	}
	return ""
}

// optionText returns a scalar as the API of Proxmox VE takes it.
func optionText(v *model.Value) (text, why string) {
	if v == nil {
		return "", ""
	}
	switch v.Kind() {
	case model.Bool:
		if v.Text() == "true" {
			return "1", ""
		}
		return "0", ""
	case model.Number, model.String:
		return v.Text(), ""
	}
	return "", "it has several parts: see qm.conf(5)"
}
