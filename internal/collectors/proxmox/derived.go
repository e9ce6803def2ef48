package proxmox

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// withRestoredSettings returns the entry, and for the restore of a guest also an edit, because
// any setting may have changed.
func (e logEntry) withRestoredSettings() []logEntry {
	if !e.replacesSettings {
		return []logEntry{e}
	}
	edit := e
	edit.Action, edit.Actor.Confidence = model.Edited, model.Likely
	return []logEntry{e, edit}
}

// onResource returns the entry as an event on another resource than its guest.
func (e logEntry) onResource(kind, id string, sure model.Confidence) logEntry {
	e.Ref, e.Actor.Confidence = ref(kind, id), sure
	return e
}

// maxDeletedWithGuests is the approximate limit of the events that deletedWithGuests returns.
const maxDeletedWithGuests = 10_000

// deletedWithGuests returns events for the resources that were deleted with a guest, if no guest
// with its ID exists: its firewall, its HA resource (Proxmox VE only destroys a guest that has
// none), and its membership in a pool. The task does not name the pool, so there is one event for
// each pool.
func (sc *scan) deletedWithGuests(entries []logEntry) []logEntry {
	var pools []string
	for i := range sc.resources {
		if sc.resources[i].Kind == normalize.Pool {
			pools = append(pools, sc.resources[i].ID)
		}
	}
	var events []logEntry
	for _, e := range sc.deletedGuests(entries) {
		guest, sid := "qemu/"+e.id, "vm:"+e.id
		if e.Kind == normalize.LXC {
			guest, sid = "lxc/"+e.id, "ct:"+e.id
		}
		events = append(events, e.onResource(normalize.FirewallOptions, guest, model.Exact), e.onResource(normalize.FirewallRules, guest, model.Exact),
			e.onResource(normalize.HAResource, sid, model.Likely))
		for _, pool := range pools {
			events = append(events, e.onResource(normalize.PoolMember, pool+"/vm/"+e.id, model.Likely))
		}
		if len(events) > maxDeletedWithGuests {
			return events
		}
	}
	return events
}

// deletedGuests returns the last deletion of each guest that does not exist, the newest first.
func (sc *scan) deletedGuests(entries []logEntry) []logEntry {
	last := map[string]logEntry{}
	for _, e := range entries {
		if e.Action == model.Deleted && !sc.isGuest(ref(normalize.QEMU, e.id)) && !sc.isGuest(ref(normalize.LXC, e.id)) &&
			!e.Actor.At.Before(last[e.id].Actor.At) {
			last[e.id] = e
		}
	}
	deletions := slices.Collect(maps.Values(last))
	slices.SortFunc(deletions, func(a, b logEntry) int { return cmp.Or(b.Actor.At.Compare(a.Actor.At), cmp.Compare(a.id, b.id)) })
	return deletions
}

// cloneTask decodes a row of a task log for a clone of a virtual machine. It names only the
// source.
func cloneTask(row model.Value) (logEntry, bool) {
	u, done := finishedTask(row)
	if !done || u.typ != "qmclone" {
		return logEntry{}, false
	}
	e := logEntry{id: u.id, node: u.node, pid: u.pid, task: true}
	e.Ref, e.Action = ref(normalize.QEMU, u.id), model.Created
	e.Actor = model.Actor{Name: printable.Text(u.user), At: u.start, Via: "task log", Evidence: printable.Text(row.At("upid").Str()), Confidence: model.Likely}
	return e, true
}

// cloneEvents returns creation events for machines without a creation task. A clone keeps the
// creation time of its source. If no more machines have that time than there are clone tasks of
// their source, and all of these tasks are by one user, that user created the machines.
func (sc *scan) cloneEvents(entries []logEntry) []logEntry {
	tasks := map[time.Time][]logEntry{}
	created := map[string]bool{}
	for _, c := range sc.cloneTasks {
		created[c.id] = true
		if i, ok := sc.resource(c.Ref); ok && !sc.resources[i].Created.IsZero() {
			tasks[sc.resources[i].Created] = append(tasks[sc.resources[i].Created], c)
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	for _, e := range entries {
		if e.Action == model.Created {
			created[e.id] = true
		}
	}
	clonesAt := map[time.Time][]model.Ref{}
	for i := range sc.resources {
		r := &sc.resources[i]
		if r.Kind == normalize.QEMU && tasks[r.Created] != nil && !created[r.ID] {
			clonesAt[r.Created] = append(clonesAt[r.Created], model.Ref{Kind: r.Kind, ID: r.ID})
		}
	}
	var all []logEntry
	for at, clones := range clonesAt {
		all = append(all, clonedBy(tasks[at], clones)...)
	}
	return all
}

// clonedBy returns a creation event for each clone, if all tasks are by one user. The time is known
// if there is only one task.
func clonedBy(tasks []logEntry, clones []model.Ref) []logEntry {
	slices.SortFunc(tasks, func(a, b logEntry) int { return cmp.Compare(a.Actor.Evidence, b.Actor.Evidence) })
	tasks = slices.CompactFunc(tasks, func(a, b logEntry) bool { return a.Actor == b.Actor })
	e := tasks[0]
	if len(clones) > len(tasks) || slices.ContainsFunc(tasks, func(t logEntry) bool { return t.Actor.Name != e.Actor.Name }) {
		return nil
	}
	if len(tasks) > 1 {
		e.Actor.At = time.Time{}
		e.Actor.Evidence = fmt.Sprintf("%s, one of %d clones", e.Actor.Evidence, len(tasks))
	}
	all := make([]logEntry, len(clones))
	for i, c := range clones {
		all[i] = e
		all[i].Ref, all[i].id = c, c.ID
	}
	return all
}
