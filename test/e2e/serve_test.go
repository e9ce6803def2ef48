//go:build e2e

package e2e

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/driftd/driftd/test/kubetest"
)

// visibleWithin is the time within which a watched change must be visible.
const visibleWithin = 2 * time.Second

// TestServeSeesChanges measures the time until a change is visible, without other tests. The
// median counts.
//
//nolint:paralleltest // other tests would be measured too
func TestServeSeesChanges(t *testing.T) {
	d := install(t, cluster, "").serve()
	d.awaitFindings()
	var took []time.Duration
	for n := range 5 {
		image := fmt.Sprintf("web:hotfix-%d", n)
		d.kubectl("set", "image", "deployment/web", "web="+image)
		took = append(took, d.awaitFindings(
			"changed Deployment.apps $NS/web by kubectl-set: spec.template.spec.containers[name=web].image \"web:1.4\" -> \""+image+"\"\n"))
		d.kubectl("set", "image", "deployment/web", "web=web:1.4")
		took = append(took, d.awaitFindings())
	}
	slices.Sort(took)
	t.Logf("a change was visible after %s", took)
	if middle := took[len(took)/2]; middle > visibleWithin {
		t.Errorf("a change was visible after %s, want at most %s", middle, visibleWithin)
	}
	if code := d.stop(); code != 0 {
		t.Errorf("driftd serve stopped with exit code %d, want 0", code)
	}
}

// TestServeAnswers reads a running daemon through every interface.
func TestServeAnswers(t *testing.T) {
	t.Parallel()
	d := install(t, cluster, "").serve()
	d.kubectl("create", "secret", "generic", "byhand", "--from-literal=password=correct-horse")
	d.kubectl("delete", "configmap/app")
	want := []string{"missing ConfigMap $NS/app by unknown\n", "unmanaged Secret $NS/byhand by kubectl-create\n"}
	d.awaitFindings(want...)

	for _, args := range [][]string{
		{"report", "-o", "json"}, {"scan", "-o", "json"}, {"report"}, {"report", "-o", "markdown"},
		{"report", "-o", "html"}, {"report", "-o", "sarif"}, {"report", "-o", "junit"},
	} {
		stdout, stderr, code := d.driftd(args...)
		if code != 2 || !strings.Contains(stdout, d.namespace+"/byhand") || !strings.Contains(stdout, d.namespace+"/app") {
			t.Errorf("driftd %v with a daemon: exit code %d, want 2 and both findings: %s%s", args, code, stdout, stderr)
		}
	}
	if stdout, stderr, code := d.driftd("findings", "list"); code != 0 || !strings.Contains(stdout, "byhand") {
		t.Errorf("driftd findings list: exit code %d: %s%s", code, stdout, stderr)
	}
	for _, path := range []string{"/", "/healthz", "/metrics", "/api/v1/findings", "/api/v1/status", "/api/v1/runs"} {
		body, err := d.get(path)
		if err != nil {
			t.Error(err)
		}
		if strings.Contains(body, "correct-horse") || strings.Contains(body, "Y29ycmVjdC1ob3JzZQ") {
			t.Errorf("%s shows a secret: %s", path, body)
		}
	}
}

// TestMetrics checks the metrics page of a daemon with findings with promtool.
func TestMetrics(t *testing.T) {
	t.Parallel()
	d := install(t, cluster, "").serve()
	d.kubectl("delete", "configmap/app")
	d.awaitFindings("missing ConfigMap $NS/app by unknown\n")
	d.awaitMetric(`driftd_findings{kind="kubernetes/ConfigMap",severity="high",source="test",verdict="missing"} 1`) // A scan is stored before it is counted.
	page, err := d.get("/metrics")
	if err != nil {
		t.Fatal(err)
	}
	lint := exec.Command(prometheusProgram("promtool"), "check", "metrics")
	lint.Stdin = strings.NewReader(page)
	if out, err := lint.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v: %s", err, out)
	}
	for _, want := range []string{
		`driftd_build_info{`,
		`driftd_config_last_reload_successful 1`, `driftd_source_stale{source="test"} 0`,
	} {
		if !strings.Contains(page, "\n"+want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
}

// TestReload reloads a running daemon with a good and a bad configuration.
func TestReload(t *testing.T) {
	t.Parallel()
	d := install(t, cluster, "").serve()
	d.kubectl("delete", "configmap/app")
	d.awaitFindings("missing ConfigMap $NS/app by unknown\n")

	d.write("driftd.yaml", d.config("shedule: {every: 1m}\n"))
	d.signal(syscall.SIGHUP)
	d.awaitMetric("driftd_config_last_reload_successful 0")
	d.awaitFindings("missing ConfigMap $NS/app by unknown\n")
	// The file is invalid for the other commands, too: they ask the daemon.
	if stdout, stderr, code := d.driftd("status"); code != 0 || !strings.Contains(stdout, "was not reloaded") || !strings.Contains(stderr, "shedule") {
		t.Errorf("driftd status exits with %d:\n%s%s", code, stdout, stderr)
	}
	d.kubectl("scale", "deployment/web", "--replicas=3")
	d.awaitFindings(
		"changed Deployment.apps $NS/web by kubectl: spec.replicas 2 -> 3\n",
		"missing ConfigMap $NS/app by unknown\n")

	d.write("driftd.yaml", d.config(`
ignore:
  - {kind: kubernetes/Deployment.apps, path: spec.replicas, reason: scaled by hand}
`))
	d.signal(syscall.SIGHUP)
	d.awaitMetric("driftd_config_last_reload_successful 1")
	d.awaitFindings("missing ConfigMap $NS/app by unknown\n")
	if !strings.Contains(d.finishedLog(), "shedule") {
		t.Error("the log does not name the unknown key of the bad configuration")
	}
}

// finishedLog stops the daemon and returns what it logged.
func (d *daemon) finishedLog() string {
	d.t.Helper()
	d.stop()
	return d.log.String()
}

func (d *daemon) awaitMetric(line string) {
	d.t.Helper()
	d.eventually(startTimeout, line, func() error {
		page, err := d.get("/metrics")
		if err != nil {
			return err
		}
		if !strings.Contains(page, "\n"+line+"\n") {
			return fmt.Errorf("/metrics lacks %s", line)
		}
		return nil
	})
}

// TestServeOutlivesTheCluster breaks the watched cluster: its server hangs, and is restarted.
func TestServeOutlivesTheCluster(t *testing.T) {
	t.Parallel()
	own := startCluster(t, kubetest.Options{})
	d := install(t, own, "").serve()
	d.awaitFindings()

	if err := own.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.kubectl("delete", "configmap/app")
	d.awaitFindings("missing ConfigMap $NS/app by unknown\n")

	// A scan that hangs does not keep the daemon from stopping in time.
	if err := own.Pause(); err != nil {
		t.Fatal(err)
	}
	scan := d.command("scan")
	if err := scan.Start(); err != nil {
		t.Fatal(err)
	}
	if code := d.stop(); code != 0 {
		t.Errorf("driftd serve stopped with exit code %d during a scan, want 0", code)
	}
	if err := scan.Wait(); err == nil {
		t.Error("driftd scan succeeded although its daemon stopped")
	}

	// Nor does a server that hangs at the start.
	hung := d.start()
	hung.eventually(startTimeout, "health", func() error {
		_, err := hung.get("/healthz")
		return err
	})
	if code := hung.stop(); code != 0 {
		t.Errorf("driftd serve stopped with exit code %d during its first scan, want 0", code)
	}
	if err := own.Resume(); err != nil {
		t.Fatal(err)
	}
	again := d.serve()
	again.awaitFindings("missing ConfigMap $NS/app by unknown\n")
}

// TestServeReportsLostCluster pauses the API server that the daemon watches: connections stay
// open without responses. Status, metrics and log show the loss within 30 seconds, and the
// return.
func TestServeReportsLostCluster(t *testing.T) {
	t.Parallel()
	own := startCluster(t, kubetest.Options{})
	d := install(t, own, "").serve()
	d.awaitFindings()
	if err := own.Pause(); err != nil {
		t.Fatal(err)
	}
	resumed := false
	defer func() {
		if !resumed {
			_ = own.Resume()
		}
	}()
	const lostWithin = 30 * time.Second
	d.eventually(lostWithin, "the loss", func() error {
		page, err := d.get("/metrics")
		if err != nil {
			return err
		}
		for _, line := range []string{`driftd_source_up{source="test"} 0`, "driftd_complete 0", `driftd_not_checked{what="unreachable"} 1`} {
			if !strings.Contains(page, line) {
				return fmt.Errorf("/metrics lacks %s", line)
			}
		}
		return nil
	})
	stdout, stderr, code := d.driftd("status")
	if code != 0 || !strings.Contains(stdout, "not checked") || !strings.Contains(stdout, "1 source unreachable") || !strings.Contains(stdout, "no full answer within") {
		t.Errorf("driftd status: exit code %d:\n%s%s", code, stdout, stderr)
	}
	if stdout, stderr, code := d.driftd("report"); code != 3 || strings.Contains(stdout, "missing") {
		t.Errorf("driftd report: exit code %d, want 3:\n%s%s", code, stdout, stderr)
	}
	if err := own.Resume(); err != nil {
		t.Fatal(err)
	}
	resumed = true
	d.eventually(time.Minute, "the return", func() error {
		if stdout, stderr, code := d.driftd("report"); code != 0 {
			return fmt.Errorf("driftd report: exit code %d:\n%s%s", code, stdout, stderr)
		}
		return nil
	})
	d.kubectl("delete", "configmap/app")
	d.awaitFindings("missing ConfigMap $NS/app by unknown\n")
}

// startCluster starts a cluster for one test.
func startCluster(t *testing.T, o kubetest.Options) *kubetest.Cluster {
	t.Helper()
	o.Dir = t.TempDir()
	c, err := kubetest.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}
