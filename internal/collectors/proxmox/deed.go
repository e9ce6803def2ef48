package proxmox

import (
	"slices"
	"time"

	"github.com/driftd/driftd/internal/collectors/proxmox/normalize"
	"github.com/driftd/driftd/internal/model"
)

// A taskDeed is what a type of task does to the guest that it names.
type taskDeed struct {
	// kind of the guest; "" where tasks of both kinds are called the same.
	kind   string
	deed   model.Action
	fields []string
	// drives tells that it changes one of the guest's disks and does not say
	// which.
	drives bool
	// rewrites tells that a guest that was there has other settings after it.
	rewrites bool
	// writes tells that it writes settings, and does not say which.
	writes bool
	// asked tells that the task asks the HA manager, which does it as root@pam.
	asked bool
}

// taskDeeds are the types of tasks that change what is compared. A clone's task
// names the guest that was copied, and does nothing to it.
func taskDeeds() map[string]taskDeed {
	status, node := []string{"status"}, []string{"node"}
	deeds := map[string]taskDeed{
		"resize": {drives: true}, "move_volume": {kind: normalize.LXC, drives: true},
		"qmigrate": {kind: normalize.QEMU, fields: node}, "vzmigrate": {kind: normalize.LXC, fields: node}, "hamigrate": {fields: node, asked: true},
		"hastart": {fields: status, asked: true}, "hastop": {fields: status, asked: true}, "hashutdown": {fields: status, asked: true},
	}
	for prefix, kind := range map[string]string{"qm": normalize.QEMU, "vz": normalize.LXC} {
		for name, d := range map[string]taskDeed{
			"create": {deed: model.Created}, "restore": {deed: model.Created, rewrites: true}, "destroy": {deed: model.Deleted},
			"config": {writes: true}, "resize": {drives: true}, "move": {drives: true}, "rollback": {},
			"template": {fields: []string{"template"}},
			"start":    {fields: status}, "stop": {fields: status}, "shutdown": {fields: status}, "suspend": {fields: status}, "resume": {fields: status},
		} {
			d.kind = kind
			deeds[prefix+name] = d
		}
	}
	return deeds
}

// managerDelay is how long the HA manager may take to do what it was asked for.
const managerDelay = 10 * time.Minute

// withoutManager drops what the HA manager did because somebody asked it to.
// The entries are sorted by guest and time.
func withoutManager(entries []logEntry) []logEntry {
	var asked logEntry
	return slices.DeleteFunc(entries, func(e logEntry) bool {
		if e.asked {
			asked = e
			return false
		}
		return e.task && e.Actor.Name == "root@pam" && e.Ref == asked.Ref && slices.Equal(e.Fields, asked.Fields) &&
			e.Actor.At.Sub(asked.Actor.At) <= managerDelay
	})
}

// drivesOf are the settings of a guest that are disks; nil where it was not
// read.
func (l *look) drivesOf(r model.Ref) []string {
	var drives []string
	for _, f := range l.guestValue(r).Fields() {
		if _, ok := f.Value.Get("volume"); ok {
			drives = append(drives, f.Name)
		}
	}
	return drives
}
