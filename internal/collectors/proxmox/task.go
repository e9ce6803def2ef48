package proxmox

import (
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// A taskEffect describes how a type of task changes its guest.
type taskEffect struct {
	// kind is the kind of the guest; "" if the type is used for both kinds.
	kind   string
	action model.Action
	fields []string
	// leaves is the status of the guest after the task; "" if the task does not set it. mayKeep reports whether the task may
	// also leave the status as it was.
	leaves  string
	mayKeep bool
	// unnamedDisk reports whether the task changes a disk of the guest without naming it.
	unnamedDisk bool
	// replacesSettings reports whether the task may change any setting of an existing guest.
	replacesSettings bool
	// unnamedSettings reports whether the task changes settings without naming them.
	unnamedSettings bool
	// delegated reports whether the task is executed by the HA manager as root@pam.
	delegated bool
}

// The values of a guest's status.
const running, stopped = "running", "stopped"

// taskEffects returns the effects of the types of tasks that change compared fields. It omits
// clones, because their task names the source, which does not change.
func taskEffects() map[string]taskEffect {
	status, node := []string{"status"}, []string{"node"}
	effects := map[string]taskEffect{
		"resize": {unnamedDisk: true}, "move_volume": {kind: normalize.LXC, unnamedDisk: true},
		"qmigrate": {kind: normalize.QEMU, fields: node}, "vzmigrate": {kind: normalize.LXC, fields: node}, "hamigrate": {fields: node, delegated: true},
		"hastart": {fields: status, leaves: running, delegated: true}, "hastop": {fields: status, leaves: stopped, delegated: true},
		"hashutdown": {fields: status, leaves: stopped, delegated: true},
	}
	for prefix, kind := range map[string]string{"qm": normalize.QEMU, "vz": normalize.LXC} {
		for name, effect := range map[string]taskEffect{
			"create": {action: model.Created}, "restore": {action: model.Created, replacesSettings: true}, "destroy": {action: model.Deleted},
			"config": {unnamedSettings: true}, "resize": {unnamedDisk: true}, "move": {unnamedDisk: true}, "rollback": {},
			"template": {fields: []string{"template"}},
			"start":    {fields: status, leaves: running}, "resume": {fields: status, leaves: running},
			"stop": {fields: status, leaves: stopped}, "shutdown": {fields: status, leaves: stopped},
			// A guest that is suspended to memory is still running; the task does not name the target.
			"suspend": {fields: status, leaves: stopped, mayKeep: true},
		} {
			effect.kind = kind
			effects[prefix+name] = effect
		}
	}
	return effects
}

// managerDelay is the time limit within which a task of the HA manager counts as requested by
// an earlier task.
const managerDelay = 10 * time.Minute

// withoutHAManager removes the tasks that the HA manager executed for a user's request: those with the
// same effect. The entries are sorted by guest and time.
func withoutHAManager(entries []logEntry) []logEntry {
	var request logEntry
	return slices.DeleteFunc(entries, func(e logEntry) bool {
		if e.delegated {
			request = e
			return false
		}
		return e.task && e.Actor.Name == "root@pam" && e.Ref == request.Ref && slices.Equal(e.Fields, request.Fields) &&
			e.leaves == request.leaves && e.Actor.At.Sub(request.Actor.At) <= managerDelay
	})
}

// disksOf returns the names of a guest's settings that are disks; nil if the guest was not
// read.
func (sc *scan) disksOf(r model.Ref) []string {
	var disks []string
	for _, f := range sc.guestValue(r).Fields() {
		if _, ok := f.Value.Get("volume"); ok {
			disks = append(disks, f.Name)
		}
	}
	return disks
}
