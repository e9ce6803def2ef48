//go:build e2e

package e2e

import (
	"encoding/json"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/process"
)

// TestTwoDaemons starts a second daemon with the state folder of the first.
func TestTwoDaemons(t *testing.T) {
	t.Parallel()
	i := install(t, cluster, "")
	first := i.serve()
	i.address = freeAddress(t)
	i.write("driftd.yaml", i.config(""))
	_, stderr, code := i.driftd("serve")
	if code != 1 || !strings.Contains(stderr, strconv.Itoa(first.process.PID())) || !strings.Contains(stderr, "state") {
		t.Errorf("the second daemon: exit code %d, want 1 and the holder's pid %d: %s", code, first.process.PID(), stderr)
	}
	if first.process.Exited() {
		t.Error("the second daemon ended the first")
	}
}

// TestKills kills scans, of the command and of a daemon, at times spread over their duration.
// Earlier findings must not be lost.
func TestKills(t *testing.T) {
	t.Parallel()
	const kills = 24
	i := install(t, cluster, "")
	i.kubectl("delete", "configmap/app")
	began := time.Now()
	if _, stderr, code := i.driftd("scan"); code != 2 {
		t.Fatalf("driftd scan: exit code %d, want 2: %s", code, stderr)
	}
	whole := time.Since(began)
	known := i.findingIDs()
	for n := range kills {
		args := []string{"scan", "serve"}[n%2 : n%2+1]
		i.killAfter(i.command(args...), whole*time.Duration(n+1)/kills)
		for _, id := range known {
			if got := i.findingIDs(); !strings.Contains(strings.Join(got, " "), id) {
				t.Fatalf("after kill %d: finding %s is lost, there are %v", n, id, got)
			}
		}
	}
	if stdout, stderr, code := i.driftd("scan"); code != 2 {
		t.Errorf("driftd scan after the kills: exit code %d, want 2: %s%s", code, stdout, stderr)
	}
	if got := i.findingIDs(); strings.Join(got, " ") != strings.Join(known, " ") {
		t.Errorf("findings after the kills: %v, want %v", got, known)
	}
}

// killAfter starts a command and kills it after a time, unless it has ended.
func (i *installation) killAfter(cmd *exec.Cmd, after time.Duration) {
	i.t.Helper()
	p, err := process.Watch(cmd)
	if err != nil {
		i.t.Fatal(err)
	}
	<-time.After(after)
	if err := p.Kill(); err != nil {
		i.t.Fatal(err)
	}
}

// findingIDs returns the open findings of driftd report, without a daemon.
func (i *installation) findingIDs() []string {
	i.t.Helper()
	stdout, stderr, code := i.driftd("report", "-o", "json")
	if code != 2 {
		i.t.Fatalf("driftd report: exit code %d, want 2: %s", code, stderr)
	}
	var r model.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		i.t.Fatalf("decode report: %v: %s", err, stdout)
	}
	ids := make([]string, 0, len(r.Findings))
	for _, f := range r.Findings {
		ids = append(ids, f.ID)
	}
	return ids
}

// TestScanTwice scans a drifted namespace twice: the findings are the same, except for the time
// when they were last seen.
func TestScanTwice(t *testing.T) {
	t.Parallel()
	i := install(t, cluster, "")
	i.kubectl("delete", "configmap/app")
	i.kubectl("set", "env", "deployment/web", "A=1", "B=2", "C=3")
	i.kubectl("create", "configmap", "byhand", "--from-literal=a=1")
	first := i.findings()
	if len(first) != 3 {
		t.Errorf("the first scan found %d things, want 3: %v", len(first), first)
	}
	ignoreLastSeen := cmpopts.IgnoreFields(model.Finding{}, "LastSeen")
	if d := cmp.Diff(first, i.findings(), ignoreLastSeen); d != "" {
		t.Errorf("the second scan found something else (-first +second):\n%s", d)
	}
}

// findings scans and returns the findings.
func (i *installation) findings() []model.Finding {
	i.t.Helper()
	stdout, stderr, code := i.driftd("scan", "-o", "json")
	if code != 2 {
		i.t.Fatalf("driftd scan: exit code %d, want 2: %s", code, stderr)
	}
	var r model.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		i.t.Fatalf("decode report: %v: %s", err, stdout)
	}
	return r.Findings
}

// TestStateDir has a state folder that is not writable.
func TestStateDir(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{
		"below a file":          "driftd.yaml/state",
		"read-only file system": "/proc/driftd",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := install(t, cluster, "")
			for _, verb := range []string{"scan", "serve"} {
				_, stderr, code := i.driftd(verb, "--state-dir", dir)
				if code != 1 || !strings.Contains(stderr, dir) {
					t.Errorf("driftd %s: exit code %d, want 1 and the folder's name: %s", verb, code, stderr)
				}
			}
		})
	}
}
