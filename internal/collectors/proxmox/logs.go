package proxmox

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// A logEntry is an entry of the cluster log or of a task log that concerns a guest.
type logEntry struct {
	model.AuditEvent
	// id is the guest's id. Not every entry has the guest's kind.
	id   string
	node string
	// pid is the process that wrote the entry: that of a task, or a daemon.
	pid int64
	// task reports whether the entry is from a task log.
	task bool
	// line is the message of the cluster log. written are the settings in it, as rows of /pending, and size is that of a disk.
	line    string
	written []model.Value
	size    string
	taskEffect
}

// maxLog is the largest number of entries to request. The cluster log has fewer; the newest
// tasks of a node come first.
const maxLog = 5000

// logNeed returns the privilege to see the entries of other users in the cluster log. The role
// PVEAuditor does not have it.
func logNeed() need { return need{privilege: "Sys.Syslog", path: "/", exact: true} }

// readLogs reads the logs. If a log cannot be read, authors are unknown, but the coverage does not
// change.
func (sc *scan) readLogs(ctx context.Context, nodes map[string]*node) {
	if sc.config.LogSince == 0 {
		return
	}
	since := sc.taken.Add(-sc.config.LogSince)
	var onNodes []*node
	for _, n := range nodes {
		onNodes = append(onNodes, n)
	}
	collectors.Parallel(sc.config.Concurrency, len(onNodes)+2, func(i int) {
		switch i {
		case 0:
			sc.readClusterLog(ctx)
		case 1:
			// This list includes the tasks of nodes that are down.
			sc.readTasks(ctx, sc.api, "/cluster/tasks")
		default:
			n := onNodes[i-2]
			query := url.Values{"since": {strconv.FormatInt(since.Unix(), 10)}, "source": {"all"}, "limit": {strconv.Itoa(maxLog)}}
			sc.readTasks(ctx, n, nodePath(n.name)+"/tasks?"+query.Encode())
		}
	})
	old := func(e logEntry) bool { return e.Actor.At.Before(since) }
	sc.logEntries, sc.cloneTasks = slices.DeleteFunc(sc.logEntries, old), slices.DeleteFunc(sc.cloneTasks, old)
}

func (sc *scan) readClusterLog(ctx context.Context) {
	rows, err := listOf(ctx, sc.api, "/cluster/log?max="+strconv.Itoa(maxLog))
	_, lacks := sc.rights.missing(logNeed())
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if err != nil {
		sc.clusterLogError = sc.config.reason(err)
		return
	}
	sc.clusterLogComplete = !lacks
	for _, row := range rows.Items() {
		if entry, ok := logLine(row); ok {
			sc.logEntries = append(sc.logEntries, entry)
		}
	}
}

// logLine decodes a row of the cluster log.
func logLine(row model.Value) (logEntry, bool) {
	line := row.At("msg").Str()
	u, ok := parseUpdate(line)
	at := unixTime(row.At("time").Text())
	if !ok || at.IsZero() {
		return logEntry{}, false
	}
	pid, err := strconv.ParseInt(row.At("pid").Text(), 10, 64)
	if err != nil {
		pid = 0
	}
	confidence := model.Exact
	if len(u.fields) == 0 {
		confidence = model.Likely
	}
	e := logEntry{id: u.id, node: row.At("node").Str(), pid: pid, line: line, written: u.rows(), size: u.size}
	e.Ref, e.Fields, e.Quotes = ref(normalize.QEMU, u.id), u.fields, u.quotes
	e.Actor = model.Actor{
		Name: printable.Text(row.At("user").Str()), At: at, Via: model.ViaClusterLog, Confidence: confidence,
		Evidence: fmt.Sprintf("%s (%s on %s)", u.shown, printable.Text(row.At("tag").Str()), printable.Text(e.node)),
	}
	return e, e.Actor.Name != ""
}

func (sc *scan) readTasks(ctx context.Context, via api, path string) {
	rows, err := listOf(ctx, via, path)
	effects := taskEffects()
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if err != nil {
		// Keep the first reason in alphabetical order, so that the result does not depend on timing.
		if reason := sc.config.reason(err); sc.taskLogError == "" || reason < sc.taskLogError {
			sc.taskLogError = reason
		}
		return
	}
	for _, row := range rows.Items() {
		if entry, ok := taskEntry(row, effects); ok {
			sc.logEntries = append(sc.logEntries, entry.withRestoredSettings()...)
		}
		if c, ok := cloneTask(row); ok {
			sc.cloneTasks = append(sc.cloneTasks, c)
		}
	}
}

// finishedTask parses the id of a successful task on a guest. ok is false for a task that
// failed or still runs, because it may have had no effect.
func finishedTask(row model.Value) (u upid, ok bool) {
	u, ok = parseUPID(row.At("upid").Str())
	status := row.At("status").Str()
	return u, ok && isVMID(u.id) && (status == "OK" || strings.HasPrefix(status, "WARNINGS"))
}

// taskEntry decodes a row of a task log, if effects contains the type of the task.
func taskEntry(row model.Value, effects map[string]taskEffect) (logEntry, bool) {
	u, ok := finishedTask(row)
	effect, known := effects[u.typ]
	if !ok || !known {
		return logEntry{}, false
	}
	confidence := model.Exact
	if effect.action == model.Edited && len(effect.fields) == 0 || effect.mayKeep {
		confidence = model.Likely
	}
	e := logEntry{id: u.id, node: u.node, pid: u.pid, task: true, taskEffect: effect}
	e.Ref, e.Action, e.Fields = ref(effect.kind, u.id), effect.action, effect.fields
	e.Actor = model.Actor{Name: printable.Text(u.user), At: u.start, Via: "task log", Evidence: printable.Text(row.At("upid").Str()), Confidence: confidence}
	return e, true
}

// auditEvents returns the events of the logs without duplicates, in the order of a snapshot. An
// entry without a kind has the kind of the guest with its ID.
func (sc *scan) auditEvents() []model.AuditEvent {
	entries := slices.Clone(sc.logEntries)
	for i := range entries {
		if entries[i].Kind == "" {
			entries[i].Kind = sc.kindOf(entries[i].id)
		}
		if entries[i].unnamedDisk {
			entries[i].Fields = sc.disksOf(entries[i].Ref)
		}
	}
	if !sc.clusterLogComplete {
		entries = markAmbiguous(entries)
	}
	entries = slices.Concat(entries, sc.cloneEvents(entries), sc.deletedWithGuests(entries))
	slices.SortStableFunc(entries, func(a, b logEntry) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID), a.Actor.At.Compare(b.Actor.At),
			cmp.Compare(a.Actor.Evidence, b.Actor.Evidence))
	})
	lines := map[process]time.Time{}
	for _, e := range entries {
		if !e.task {
			lines[e.process()] = e.Actor.At
		}
	}
	entries = sc.withoutOverwritten(withoutHAManager(entries))
	var events []model.AuditEvent
	for i, e := range entries {
		// The process of the task also wrote a line to the cluster log, which has more details.
		line, inClusterLog := lines[e.process()]
		inClusterLog = inClusterLog && e.task && e.Action == model.Edited && !line.Before(e.Actor.At.Add(-time.Second))
		if repeated := i > 0 && entries[i-1].Ref == e.Ref && entries[i-1].Actor == e.Actor; !repeated && !inClusterLog {
			events = append(events, sc.withQuotes(e))
		}
	}
	return events
}

// withQuotes returns the event of an entry with the quoted values also in the form of the resource, so that rules about
// their parts apply.
func (sc *scan) withQuotes(e logEntry) model.AuditEvent {
	event := e.AuditEvent
	if len(e.Quotes) == 0 || len(e.written) == 0 {
		return event
	}
	written, _ := sc.normalizer.Guest(e.Kind, e.written)
	for _, q := range e.Quotes {
		if v := written.At(q.Path); !v.IsNull() {
			event.Quotes = append(slices.Clip(event.Quotes), model.Quote{Path: q.Path, Value: v, From: q.From, To: q.To})
		}
	}
	return event
}

// ambiguousReason explains why an event may be another edit than the one in question.
const ambiguousReason = "the task does not name the field; most edits are only in the cluster log, which requires Sys.Syslog on /"

// markAmbiguous adds a reason to tasks that do not name the changed field, if the cluster log was
// not read, because most edits are recorded only there. It removes such tasks by the user who
// created the guest: that user is usually the account that applies declarations, and would be named
// as the author of other users' edits.
func markAmbiguous(entries []logEntry) []logEntry {
	type creator struct {
		model.Ref
		user string
	}
	creators := map[creator]bool{}
	for _, e := range entries {
		if e.Action == model.Created {
			creators[creator{e.Ref, e.Actor.Name}] = true
		}
	}
	kept := make([]logEntry, 0, len(entries))
	for _, e := range entries {
		if e.unnamedSettings && creators[creator{e.Ref, e.Actor.Name}] {
			continue
		}
		if e.unnamedSettings {
			e.Actor.Reason = ambiguousReason
		}
		kept = append(kept, e)
	}
	return kept
}

// A process identifies the writer of an entry, the guest, and the user.
type process struct {
	model.Ref
	node, user string
	pid        int64
}

func (e logEntry) process() process { return process{e.Ref, e.node, e.Actor.Name, e.pid} }
