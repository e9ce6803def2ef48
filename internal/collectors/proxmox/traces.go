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
	"github.com/driftd/driftd/internal/collectors/proxmox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// A logEntry is one entry of the cluster's logs that tells of a guest.
type logEntry struct {
	model.AuditEvent
	// id is the guest's, whose kind is not in every entry.
	id   string
	node string
	// pid is the process that wrote it: a task's own, or a daemon's.
	pid int64
	// task tells an entry of the task log.
	task bool
	// line is what the cluster log says, and written are the settings that it
	// tells, as rows of /pending.
	line    string
	written []model.Value
	taskDeed
}

// maxLog is how many entries of a log are asked for. The cluster log holds
// less; of a node's tasks the newest come first.
const maxLog = 5000

// logNeed is the privilege without which the cluster log shows one's own
// entries only. PVEAuditor lacks it.
func logNeed() need { return need{privilege: "Sys.Syslog", path: "/", alone: true} }

// readLogs reads who did what. What cannot be read leaves its authors unknown
// and narrows no coverage.
func (l *look) readLogs(ctx context.Context, nodes map[string]*node) {
	if l.config.LogSince == 0 {
		return
	}
	since := l.taken.Add(-l.config.LogSince)
	var vias []*node
	for _, n := range nodes {
		vias = append(vias, n)
	}
	collectors.Parallel(l.config.Concurrency, len(vias)+2, func(i int) {
		switch i {
		case 0:
			l.readClusterLog(ctx)
		case 1:
			// It also tells of nodes that are down.
			l.readTasks(ctx, l.api, "/cluster/tasks")
		default:
			n := vias[i-2]
			query := url.Values{"since": {strconv.FormatInt(since.Unix(), 10)}, "source": {"all"}, "limit": {strconv.Itoa(maxLog)}}
			l.readTasks(ctx, n, nodePath(n.name)+"/tasks?"+query.Encode())
		}
	})
	old := func(e logEntry) bool { return e.Actor.At.Before(since) }
	l.traces, l.clonings = slices.DeleteFunc(l.traces, old), slices.DeleteFunc(l.clonings, old)
}

func (l *look) readClusterLog(ctx context.Context) {
	rows, err := listOf(ctx, l.api, "/cluster/log?max="+strconv.Itoa(maxLog))
	_, lacks := l.rights.missing(logNeed())
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.clusterFault = l.config.reason(err)
		return
	}
	l.logged = !lacks
	for _, row := range rows.Items() {
		if entry, ok := logLine(row); ok {
			l.traces = append(l.traces, entry)
		}
	}
}

// logLine reads a row of the cluster log.
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
	e := logEntry{id: u.id, node: row.At("node").Str(), pid: pid, line: line, written: u.rows()}
	e.Ref, e.Fields = ref(normalize.QEMU, u.id), u.fields
	e.Actor = model.Actor{
		Name: httpclient.Printable(row.At("user").Str()), At: at, Via: "cluster log", Confidence: confidence,
		Evidence: fmt.Sprintf("%s (%s on %s)", u.shown, httpclient.Printable(row.At("tag").Str()), httpclient.Printable(e.node)),
	}
	return e, e.Actor.Name != ""
}

func (l *look) readTasks(ctx context.Context, via api, path string) {
	rows, err := listOf(ctx, via, path)
	deeds := taskDeeds()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		// Of several the first by its words, so that it is always the same one.
		if reason := l.config.reason(err); l.taskFault == "" || reason < l.taskFault {
			l.taskFault = reason
		}
		return
	}
	for _, row := range rows.Items() {
		if entry, ok := taskEntry(row, deeds); ok {
			l.traces = append(l.traces, entry.all()...)
		}
		if c, ok := cloning(row); ok {
			l.clonings = append(l.clonings, c)
		}
	}
}

// finished reads the name of a task on a guest; ok is false for one that
// failed, or still runs, and may have done nothing.
func finished(row model.Value) (u upid, ok bool) {
	u, ok = parseUPID(row.At("upid").Str())
	status := row.At("status").Str()
	return u, ok && isVMID(u.id) && (status == "OK" || strings.HasPrefix(status, "WARNINGS"))
}

// taskEntry reads a row of a task log by what its types of tasks do.
func taskEntry(row model.Value, deeds map[string]taskDeed) (logEntry, bool) {
	u, ok := finished(row)
	deed, known := deeds[u.typ]
	if !ok || !known {
		return logEntry{}, false
	}
	confidence := model.Exact
	if deed.deed == model.Edited && len(deed.fields) == 0 {
		confidence = model.Likely
	}
	e := logEntry{id: u.id, node: u.node, pid: u.pid, task: true, taskDeed: deed}
	e.Ref, e.Action, e.Fields = ref(deed.kind, u.id), deed.deed, deed.fields
	e.Actor = model.Actor{Name: httpclient.Printable(u.user), At: u.start, Via: "task log", Evidence: httpclient.Printable(row.At("upid").Str()), Confidence: confidence}
	return e, true
}

// told returns what the logs tell, each deed once, sorted as a snapshot wants
// it. Kinds that an entry does not name are those of the guests that were seen.
func (l *look) told() []model.AuditEvent {
	entries := slices.Clone(l.traces)
	for i := range entries {
		if entries[i].Kind == "" {
			entries[i].Kind = l.kindOf(entries[i].id)
		}
		if entries[i].drives {
			entries[i].Fields = l.drivesOf(entries[i].Ref)
		}
	}
	if !l.logged {
		entries = vague(entries)
	}
	entries = slices.Concat(entries, l.cloned(entries), l.lost(entries))
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
	entries = l.lasting(withoutManager(entries))
	var traces []model.AuditEvent
	for i, e := range entries {
		// A line of the cluster log that the task's own process wrote says the
		// same, and more.
		line, told := lines[e.process()]
		told = told && e.task && e.Action == model.Edited && !line.Before(e.Actor.At.Add(-time.Second))
		if repeated := i > 0 && entries[i-1].Ref == e.Ref && entries[i-1].Actor == e.Actor; !repeated && !told {
			traces = append(traces, e.AuditEvent)
		}
	}
	return traces
}

// vagueReason says why an edit that names no field may be another one.
const vagueReason = "the task names no field, and most edits are in the cluster log alone, which takes Sys.Syslog on /"

// vague says of tasks that name no field that they may have done something else,
// where the cluster log was not read: it alone tells of most edits. Those of
// whoever made the guest are dropped: it is mostly what applies a declaration,
// and would be named for everybody else's edits.
func vague(entries []logEntry) []logEntry {
	type maker struct {
		model.Ref
		user string
	}
	makers := map[maker]bool{}
	for _, e := range entries {
		if e.Action == model.Created {
			makers[maker{e.Ref, e.Actor.Name}] = true
		}
	}
	kept := make([]logEntry, 0, len(entries))
	for _, e := range entries {
		if e.writes && makers[maker{e.Ref, e.Actor.Name}] {
			continue
		}
		if e.writes {
			e.Actor.Reason = vagueReason
		}
		kept = append(kept, e)
	}
	return kept
}

// A process is what wrote an entry, for whom and of what.
type process struct {
	model.Ref
	node, user string
	pid        int64
}

func (e logEntry) process() process { return process{e.Ref, e.node, e.Actor.Name, e.pid} }
