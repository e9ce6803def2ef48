package proxmox

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/collectors/proxmox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// all returns the entry with what follows from it: a restored guest may have
// any other setting than before.
func (e logEntry) all() []logEntry {
	if !e.rewrites {
		return []logEntry{e}
	}
	edit := e
	edit.Action, edit.Actor.Confidence = model.Edited, model.Likely
	return []logEntry{e, edit}
}

// on is the entry as it tells of something else than its guest.
func (e logEntry) on(kind, id string, sure model.Confidence) logEntry {
	e.Ref, e.Actor.Confidence = ref(kind, id), sure
	return e
}

// maxLost bounds what is said to have gone with guests.
const maxLost = 10_000

// lost returns what went with guests that were destroyed, and have not come
// back since: the firewall, what the HA manager was told of them (without it
// Proxmox VE destroys no guest of the manager's), and their place in a pool. The
// task does not say which pool that was, so it is said of each.
func (l *look) lost(entries []logEntry) []logEntry {
	var pools []string
	for i := range l.resources {
		if l.resources[i].Kind == normalize.Pool {
			pools = append(pools, l.resources[i].ID)
		}
	}
	var lost []logEntry
	for _, e := range l.gone(entries) {
		guest, sid := "qemu/"+e.id, "vm:"+e.id
		if e.Kind == normalize.LXC {
			guest, sid = "lxc/"+e.id, "ct:"+e.id
		}
		lost = append(lost, e.on(normalize.FirewallOptions, guest, model.Exact), e.on(normalize.FirewallRules, guest, model.Exact),
			e.on(normalize.HAResource, sid, model.Likely))
		for _, pool := range pools {
			lost = append(lost, e.on(normalize.PoolMember, pool+"/vm/"+e.id, model.Likely))
		}
		if len(lost) > maxLost {
			return lost
		}
	}
	return lost
}

// gone returns the last deletion of each guest that is not there, the newest
// first.
func (l *look) gone(entries []logEntry) []logEntry {
	last := map[string]logEntry{}
	for _, e := range entries {
		if e.Action == model.Deleted && !l.isGuest(ref(normalize.QEMU, e.id)) && !l.isGuest(ref(normalize.LXC, e.id)) &&
			!e.Actor.At.Before(last[e.id].Actor.At) {
			last[e.id] = e
		}
	}
	gone := slices.Collect(maps.Values(last))
	slices.SortFunc(gone, func(a, b logEntry) int { return cmp.Or(b.Actor.At.Compare(a.Actor.At), cmp.Compare(a.id, b.id)) })
	return gone
}

// cloning reads a row of a task log that tells of a machine that was cloned. It
// names the source alone.
func cloning(row model.Value) (logEntry, bool) {
	u, done := finished(row)
	if !done || u.typ != "qmclone" {
		return logEntry{}, false
	}
	e := logEntry{id: u.id, node: u.node, pid: u.pid, task: true}
	e.Ref, e.Action = ref(normalize.QEMU, u.id), model.Created
	e.Actor = model.Actor{Name: httpclient.Printable(u.user), At: u.start, Via: "task log", Evidence: httpclient.Printable(row.At("upid").Str()), Confidence: model.Likely}
	return e, true
}

// cloned returns who made the machines that no task names as made. A clone keeps
// the time at which its source was made; where no more machines have it than
// there are tasks that cloned one of that time, all by one person, that person
// made them.
func (l *look) cloned(entries []logEntry) []logEntry {
	tasks := map[time.Time][]logEntry{}
	known := map[string]bool{}
	for _, c := range l.clonings {
		known[c.id] = true
		if i, ok := l.resource(c.Ref); ok && !l.resources[i].Created.IsZero() {
			tasks[l.resources[i].Created] = append(tasks[l.resources[i].Created], c)
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	for _, e := range entries {
		if e.Action == model.Created {
			known[e.id] = true
		}
	}
	made := map[time.Time][]model.Ref{}
	for i := range l.resources {
		r := &l.resources[i]
		if r.Kind == normalize.QEMU && tasks[r.Created] != nil && !known[r.ID] {
			made[r.Created] = append(made[r.Created], model.Ref{Kind: r.Kind, ID: r.ID})
		}
	}
	var all []logEntry
	for at, clones := range made {
		all = append(all, clonedBy(tasks[at], clones)...)
	}
	return all
}

// clonedBy says of each clone that the one person of the tasks made it. When,
// is known where there is one task.
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
