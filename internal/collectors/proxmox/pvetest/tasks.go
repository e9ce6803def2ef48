package pvetest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A working is a task that still runs.
type working struct {
	// row is that of the task lists, and left how many requests for its status find it running.
	row  Row
	left int
	// end makes the task take effect, and returns its exit status.
	end func(pid int) string
}

// startTask starts a task, and returns its id. Without SlowTasks it ends at once.
func (s *Server) startTask(node, typ, id, user string, end func(pid int) string) (upid string) {
	row := s.newTask(node, typ, id, user)
	w := &working{row: row, left: s.cluster.SlowTasks, end: end}
	s.working = append(s.working, w)
	if w.left == 0 {
		s.endTask(w)
	}
	return fmt.Sprint(row["upid"])
}

// EndTasks ends all tasks that still run.
func (s *Server) EndTasks() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range slices.Clone(s.working) {
		s.endTask(w)
	}
}

func (s *Server) endTask(w *working) {
	s.working = slices.DeleteFunc(s.working, func(other *working) bool { return other == w })
	pid, _ := w.row["pid"].(int)
	s.endRow(w.row, w.end(pid))
}

// taskOf adds a successful task to the logs, and returns its process.
func (s *Server) taskOf(node, typ, id, user string) (pid int) {
	row := s.newTask(node, typ, id, user)
	s.endRow(row, "OK")
	return s.pid
}

// newTask adds a task that runs to the logs.
func (s *Server) newTask(node, typ, id, user string) Row {
	s.pid++
	at := s.Now().Unix()
	upid := fmt.Sprintf("UPID:%s:%08X:%08X:%08X:%s:%s:%s:", node, s.pid, 4711, at, typ, id, user)
	name, token, isToken := strings.Cut(user, "!")
	row := Row{"upid": upid, "node": node, "pid": s.pid, "pstart": 4711, "starttime": at, "type": typ, "id": id, "user": name, "status": taskRuns}
	if isToken {
		row["tokenid"] = token
	}
	s.tasks = append(s.tasks, row)
	s.logLine(node, user, 100, "starting task "+upid)
	return row
}

// taskRuns is the status of a task that runs in the lists of tasks.
const taskRuns = "RUNNING"

func (s *Server) endRow(row Row, status string) {
	row["endtime"], row["status"] = s.Now().Unix(), status
	s.logLine(fmt.Sprint(row["node"]), userOf(row), 100, fmt.Sprintf("end task %v %s", row["upid"], status))
}

// userOf returns the user of a task, with the token.
func userOf(row Row) string {
	if token, ok := row["tokenid"]; ok {
		return fmt.Sprintf("%v!%v", row["user"], token)
	}
	return fmt.Sprint(row["user"])
}

// readTasks returns the task log of a node, or the status of one of its tasks. An account sees its own tasks, and all with Sys.Audit.
func (s *Server) readTasks(parts []string, query url.Values, account string) (any, *apiError) {
	sees := func(row Row) bool {
		return userOf(row) == account || s.cluster.as(account).holds("Sys.Audit", "/nodes/"+parts[2])
	}
	if len(parts) == 4 {
		return slices.DeleteFunc(s.tasksOf(parts[2], query), func(row Row) bool { return !sees(row) }), nil
	}
	at := slices.IndexFunc(s.tasks, func(row Row) bool { return row["upid"] == parts[4] })
	switch {
	case at < 0 || len(parts) != 6 || parts[5] != "status":
		return nil, &apiError{http.StatusBadRequest, "Parameter verification failed."}
	case !sees(s.tasks[at]):
		return nil, forbidden("(/nodes/" + parts[2] + ", Sys.Audit)")
	}
	return s.statusOf(parts[4]), nil
}

// TaskStatus returns the status of a task; nil if there is none with the id.
func (s *Server) TaskStatus(upid string) Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.statusOf(upid)
}

func (s *Server) statusOf(upid string) Row {
	i := slices.IndexFunc(s.tasks, func(row Row) bool { return row["upid"] == upid })
	if i < 0 {
		return nil
	}
	if at := slices.IndexFunc(s.working, func(w *working) bool { return w.row["upid"] == upid }); at >= 0 {
		w := s.working[at]
		if w.left--; w.left >= 0 {
			return Row{"upid": upid, "type": w.row["type"], "id": w.row["id"], "status": "running"}
		}
		s.endTask(w)
	}
	row := s.tasks[i]
	return Row{"upid": upid, "type": row["type"], "id": row["id"], "status": "stopped", "exitstatus": row["status"]}
}

// tasksOf returns the task log of a node.
func (s *Server) tasksOf(node string, query url.Values) []Row {
	since, err := strconv.ParseInt(query.Get("since"), 10, 64)
	if err != nil {
		since = 0
	}
	tasks := []Row{}
	for _, task := range s.tasks {
		at, ok := task["starttime"].(int64)
		is := func(parameter, key string) bool {
			return cmp.Or(query.Get(parameter), fmt.Sprint(task[key])) == fmt.Sprint(task[key])
		}
		if ok && task["node"] == node && at >= since && is("typefilter", "type") && is("vmid", "id") && (query.Get("source") != "active" || task["status"] == taskRuns) {
			tasks = append(tasks, task)
		}
	}
	return tasks
}
