package proxmox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// taskRow returns the row of a finished task on guest 5, so many seconds after a fixed time.
func taskRow(node, typ string, after int, user string) model.Value {
	upid := fmt.Sprintf("UPID:%s:%08X:00000001:%08X:%s:5:%s:", node, after+1, 0x69a00000+after, typ, user)
	return model.MapOf(model.Field{Name: "upid", Value: model.StringOf(upid)}, model.Field{Name: "status", Value: model.StringOf("OK")})
}

// TestTasksThatLiveContradicts verifies that a task counts only if the guest has the status, or can be on the node, that the
// last task left.
func TestTasksThatLiveContradicts(t *testing.T) {
	t.Parallel()
	type task struct {
		node, typ string
		after     int
		user      string
	}
	for _, tc := range []struct {
		reason       string
		status, node string
		tasks        []task
		want         string
	}{
		{"a start", "running", "n1", []task{{"n1", "qmstart", 0, "a@pve"}}, "a@pve status exact"},
		{"started, and powered off without a task", "stopped", "n1", []task{{"n1", "qmstart", 0, "a@pve"}}, ""},
		{"a stop", "stopped", "n1", []task{{"n1", "qmstop", 0, "a@pve"}}, "a@pve status exact"},
		{"a shutdown", "stopped", "n1", []task{{"n1", "qmshutdown", 0, "a@pve"}}, "a@pve status exact"},
		{"stopped, and started without a task", "running", "n1", []task{{"n1", "qmshutdown", 0, "a@pve"}}, ""},
		{"the last one counts", "running", "n1", []task{{"n1", "qmstart", 0, "a@pve"}, {"n1", "qmstop", 5, "b@pve"}, {"n1", "qmstart", 9, "c@pve"}}, "c@pve status exact"},
		{"an earlier one does not count instead of the last one", "running", "n1", []task{{"n1", "qmstart", 0, "a@pve"}, {"n1", "qmstop", 5, "b@pve"}}, ""},
		{"a resume", "running", "n1", []task{{"n1", "qmresume", 0, "a@pve"}}, "a@pve status exact"},
		{"suspended to disk", "stopped", "n1", []task{{"n1", "qmstart", 0, "a@pve"}, {"n1", "qmsuspend", 5, "b@pve"}}, "b@pve status likely"},
		{"suspended to memory", "running", "n1", []task{{"n1", "qmstart", 0, "a@pve"}, {"n1", "qmsuspend", 5, "b@pve"}}, "a@pve status exact"},
		{"suspended, and stopped later", "stopped", "n1", []task{{"n1", "qmsuspend", 0, "a@pve"}, {"n1", "qmstop", 5, "b@pve"}}, "b@pve status exact"},
		{"the HA manager's start", "running", "n1", []task{{"n1", "hastart", 0, "a@pve"}, {"n1", "qmstart", 20, "root@pam"}}, "a@pve status exact"},
		{"the HA manager's stop", "stopped", "n1", []task{{"n1", "hashutdown", 0, "a@pve"}, {"n1", "qmshutdown", 20, "root@pam"}}, "a@pve status exact"},
		{"the HA manager's stop, and powered on without a task", "running", "n1", []task{{"n1", "hastop", 0, "a@pve"}}, ""},
		{"root started it after another request", "running", "n1", []task{{"n1", "hastop", 0, "a@pve"}, {"n1", "qmstart", 20, "root@pam"}}, "root@pam status exact"},
		{"a migration", "running", "n2", []task{{"n1", "qmigrate", 0, "a@pve"}}, "a@pve node exact"},
		{"migrated away, and back without a task", "running", "n1", []task{{"n1", "qmigrate", 0, "a@pve"}}, ""},
		{"migrated twice, and back without a task", "running", "n2", []task{{"n1", "qmigrate", 0, "a@pve"}, {"n2", "qmigrate", 5, "b@pve"}}, ""},
		{"migrated twice", "running", "n3", []task{{"n1", "qmigrate", 0, "a@pve"}, {"n2", "qmigrate", 5, "b@pve"}}, "b@pve node exact"},
		{"the HA manager's migration", "running", "n2", []task{{"n1", "hamigrate", 0, "a@pve"}, {"n1", "qmigrate", 5, "root@pam"}}, "a@pve node exact"},
	} {
		sc := &scan{clusterLogComplete: true, resources: []model.Resource{{Key: model.Key{Kind: normalize.QEMU, ID: "5"}, Value: model.MapOf(
			model.Field{Name: "node", Value: model.StringOf(tc.node)}, model.Field{Name: "status", Value: model.StringOf(tc.status)})}}}
		for _, made := range tc.tasks {
			e, ok := taskEntry(taskRow(made.node, made.typ, made.after, made.user), taskEffects())
			if !ok {
				t.Fatalf("%s: a task is not parsed", tc.reason)
			}
			sc.logEntries = append(sc.logEntries, e)
		}
		var got []string
		for _, e := range sc.auditEvents() {
			got = append(got, fmt.Sprintf("%s %s %s", e.Actor.Name, strings.Join(e.Fields, ","), e.Actor.Confidence))
		}
		if d := cmp.Diff(tc.want, strings.Join(got, "; ")); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, d)
		}
	}
}
