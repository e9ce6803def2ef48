//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/collectors/kubernetes"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/kubetest"
	"github.com/driftd/driftd/test/process"
)

// startTimeout and stopTimeout bound the start and stop of a daemon. driftd promises to stop
// within ten seconds.
const (
	startTimeout = 60 * time.Second
	stopTimeout  = 10 * time.Second
)

// An installation is a configuration, a state folder, and a namespace of the cluster with
// declared objects.
type installation struct {
	t         *testing.T
	cluster   *kubetest.Cluster
	dir       string
	namespace string
	address   string
}

// install makes an installation that declares a ConfigMap "app" and a Deployment "web", both
// applied. Extra is added to the configuration.
func install(t *testing.T, c *kubetest.Cluster, extra string) *installation {
	t.Helper()
	i := &installation{t: t, cluster: c, dir: t.TempDir(), namespace: newNamespace(), address: freeAddress(t)}
	i.write("kubeconfig", "")
	if err := c.WriteKubeconfig(i.path("kubeconfig"), i.namespace, c.Admin()); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(i.path("deploy"), 0o700); err != nil {
		t.Fatal(err)
	}
	i.write("deploy/app.yaml", i.manifests())
	i.write("driftd.yaml", i.config(extra))
	i.kubectl("create", "namespace", i.namespace)
	i.kubectl("apply", "-f", i.path("deploy"))
	return i
}

func (i *installation) manifests() string {
	return fmt.Sprintf(`
apiVersion: v1
kind: ConfigMap
metadata: {name: app, namespace: %[1]s}
data: {color: blue}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: %[1]s}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1.4"}]}
`, i.namespace)
}

func (i *installation) config(extra string) string {
	return fmt.Sprintf(`
state_dir: state
schedule: {every: 1h}
server: {listen: "%s"}
sources:
  - {name: test, type: kubernetes, settings: {kubeconfig: kubeconfig, timeout: 5s, namespaces: [%s], exclude_kinds: [%s]}}
declarations:
  - {name: shop, type: manifests, governs: [test], settings: {dir: deploy}}
%s`, i.address, i.namespace, strings.Join(notOfOthers(), ", "), extra)
}

// notOfOthers returns the kinds that an installation does not read: those that the product
// excludes by default, and those of which other tests create objects in the shared cluster.
func notOfOthers() []string {
	kinds := append(kubernetes.DefaultExcludeKinds(), "Namespace", "ClusterRole.*", "ClusterRoleBinding.*",
		"*.admissionregistration.k8s.io", "APIService.*")
	for i := range kinds {
		kinds[i] = strconv.Quote(kinds[i])
	}
	return kinds
}

func (i *installation) path(name string) string { return filepath.Join(i.dir, name) }

func (i *installation) write(name, text string) {
	i.t.Helper()
	if err := os.WriteFile(i.path(name), []byte(text), 0o600); err != nil {
		i.t.Fatal(err)
	}
}

// kubectl runs kubectl in the installation's namespace.
func (i *installation) kubectl(args ...string) {
	i.t.Helper()
	args = append([]string{"--kubeconfig", i.path("kubeconfig")}, args...)
	if out, err := exec.Command(i.cluster.Kubectl(), args...).CombinedOutput(); err != nil {
		i.t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// command returns a driftd command of the installation.
func (i *installation) command(args ...string) *exec.Cmd {
	cmd := exec.Command(driftdPath(i.t), append(args, "--config", i.path("driftd.yaml"))...)
	cmd.Dir, cmd.Env = i.dir, []string{"HOME=" + i.dir}
	return cmd
}

// driftd runs a command to its end, and returns its output.
func (i *installation) driftd(args ...string) (stdout, stderr string, code int) {
	i.t.Helper()
	stdout, stderr, code, err := process.Run(i.command(args...))
	if err != nil {
		i.t.Fatal(err)
	}
	return stdout, stderr, code
}

// A daemon is a running `driftd serve`.
type daemon struct {
	*installation
	process *process.Process
	log     *bytes.Buffer
}

// serve starts the daemon and waits until it is ready.
func (i *installation) serve() *daemon {
	i.t.Helper()
	d := i.start()
	d.eventually(startTimeout, "ready", func() error {
		if d.process.Exited() {
			return errors.New("it exited")
		}
		_, err := d.get("/readyz")
		return err
	})
	return d
}

// start starts the daemon. It is killed at the end of the test.
func (i *installation) start() *daemon {
	i.t.Helper()
	d := &daemon{installation: i, log: &bytes.Buffer{}}
	cmd := i.command("serve")
	cmd.Stdout, cmd.Stderr = d.log, d.log
	var err error
	if d.process, err = process.Watch(cmd); err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(func() {
		d.kill()
		if i.t.Failed() {
			i.t.Logf("log of driftd serve:\n%s", d.log)
		}
	})
	return d
}

func (d *daemon) signal(s syscall.Signal) {
	d.t.Helper()
	if err := d.process.Signal(s); err != nil {
		d.t.Error(err)
	}
}

// kill kills the daemon, unless it has ended.
func (d *daemon) kill() {
	d.t.Helper()
	if err := d.process.Kill(); err != nil {
		d.t.Error(err)
	}
}

// stop asks the daemon to stop, and returns its exit code.
func (d *daemon) stop() int {
	d.t.Helper()
	d.signal(syscall.SIGTERM)
	select {
	case <-d.process.Done():
		return d.process.ExitCode()
	case <-time.After(stopTimeout):
		d.t.Fatalf("driftd serve did not stop within %s", stopTimeout)
		return -1
	}
}

// get requests a path of the daemon. A status other than 200 is an error.
func (d *daemon) get(path string) (string, error) { return get("http://" + d.address + path) }

// get requests a URL. A status other than 200 is an error.
func get(url string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", fmt.Errorf("ask for %s: %w", url, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("ask for %s: %w", url, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return string(body), fmt.Errorf("ask for %s: %s: %s: %w", url, resp.Status, body, err)
	}
	return string(body), nil
}

// report returns the report of the daemon.
func (d *daemon) report() (model.Report, error) {
	var r model.Report
	body, err := d.get("/api/v1/report")
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		return r, fmt.Errorf("decode report: %w: %s", err, body)
	}
	return r, nil
}

// awaitFindings waits until the daemon's report has exactly these findings, in the form of
// scripts, and returns how long that took.
func (d *daemon) awaitFindings(want ...string) time.Duration {
	d.t.Helper()
	since := time.Now()
	d.eventually(startTimeout, "its report", func() error {
		r, err := d.report()
		if err != nil {
			return err
		}
		if got := strings.ReplaceAll(summarize(r), d.namespace, "$NS"); got != strings.Join(want, "") {
			return fmt.Errorf("report:\n%swant:\n%s", got, strings.Join(want, ""))
		}
		return nil
	})
	return time.Since(since)
}

// awaitScan waits for the report of a scan that begins after the call.
func (d *daemon) awaitScan() {
	d.t.Helper()
	since := time.Now()
	d.eventually(startTimeout, "a new scan", func() error {
		r, err := d.report()
		if err == nil && !r.Scan.Started.After(since) {
			err = fmt.Errorf("the last scan began at %s", r.Scan.Started)
		}
		return err
	})
}

// eventually calls a function until it returns no error.
func (i *installation) eventually(timeout time.Duration, what string, check func() error) {
	i.t.Helper()
	deadline := time.After(timeout)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			i.t.Fatalf("wait for driftd, %s: %v", what, err)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := process.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// runServer runs a program and stops it at the end of the test.
func runServer(t *testing.T, o process.Options) *process.Process {
	t.Helper()
	server, err := process.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("log of %s:\n%s", o.Program, server.Log())
		}
	})
	return server
}
