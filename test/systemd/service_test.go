//go:build e2e

package systemd

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/test/netboxlab"
)

// resources is the number of resources in the estate. Some are declared, and each of these
// drifted twice: it has another color, and a note that is not declared.
const (
	resources = 20_000
	declared  = 200
	drifted   = 2 * declared
)

// configuration has an estate in a file, and a NetBox that is not reachable before the machine
// has a network.
const configuration = `
state_dir: /var/lib/driftd
schedule: {every: 1h, jitter: 0s}
server: {listen: "127.0.0.1:9797"}
sources:
  - {name: big, type: kubernetes, settings: {dump: estate.json, dump_complete: true}}
  - {name: netbox, type: netbox, every: 2s, settings: {url: "https://` + inventory + `", token_file: netbox-token, ca_file: netbox-ca.pem, timeout: 3s}}
declarations:
  - {name: shop, type: manifests, governs: [big], settings: {dir: deploy}}
`

// configure writes configuration, credential and estate into a machine.
func (m *machine) configure() {
	m.t.Helper()
	var live, files strings.Builder
	live.WriteString(`{"apiVersion": "v1", "kind": "List", "items": [`)
	for i := range resources {
		if i > 0 {
			live.WriteString(",")
		}
		namespace := "rest"
		if i < declared {
			namespace = "shop"
			fmt.Fprintf(&files, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: app-%05d, namespace: shop}\ndata: {color: blue}\n", i)
		}
		fmt.Fprintf(&live, `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "app-%05d", "namespace": %q,
"uid": "00000000-0000-4000-8000-%012d"}, "data": {"color": "red", "note": "this is what somebody wrote about number %d"}}`, i, namespace, i, i)
	}
	live.WriteString("]}")
	m.write("/etc/driftd/estate.json", live.String(), 0o644)
	m.write("/etc/driftd/deploy/apps.yaml", files.String(), 0o644)
	m.write("/etc/driftd/deploy/kustomization.yaml", "resources: [apps.yaml]\n", 0o644)
	m.write("/etc/driftd/driftd.yaml", configuration, 0o644)
	m.write("/etc/driftd/netbox-ca.pem", authority(), 0o644)
	m.write("/etc/hosts", "127.0.0.1 localhost\n"+server+" example.com\n", 0o644)
	m.write("/etc/driftd/credentials/netbox-token", netboxlab.Token("driftd")+"\n", 0o600)
}

// drop overrides long timeouts of the unit.
func (m *machine) drop(settings string) {
	m.t.Helper()
	m.write("/etc/systemd/system/driftd.service.d/test.conf", "[Service]\n"+settings, 0o644)
	m.run("systemctl", "daemon-reload")
}

// known has the findings and decisions of the service.
type known struct {
	Findings  []string
	Decisions string
}

// known returns the findings and decisions of the service, without what the last scan could
// not read: on a busy machine the NetBox may miss its timeout once.
func (m *machine) known() known {
	m.t.Helper()
	var listed struct {
		Findings []struct{ ID, Verdict, Resource string }
	}
	text := m.run("driftd", "findings", "list", "--output", "json")
	if err := json.Unmarshal([]byte(text), &listed); err != nil {
		m.t.Fatalf("driftd findings: %v: %.200s", err, text)
	}
	var k known
	for _, f := range listed.Findings {
		if f.Verdict == "unchecked" {
			continue
		}
		k.Findings = append(k.Findings, f.ID+" "+f.Verdict+" "+f.Resource)
	}
	k.Decisions = m.run("driftd", "decisions", "list", "--output", "json")
	return k
}

// TestService tests the life cycle of the service in one machine: each part starts in the state
// that the one before has left.
//
//nolint:paralleltest // the parts depend on each other
func TestService(t *testing.T) {
	m := newMachine(t)
	m.boot()
	parts := []struct {
		name string
		part func(*testing.T, *machine)
	}{
		{"installs", installs},
		{"is hardened", isHardened},
		{"starts", starts},
		{"boxes foreign input", boxes},
		{"boxes plans", boxesPlans},
		{"boots without network", bootsWithoutNetwork},
		{"waits for its address", waitsForItsAddress},
		{"reloads", reloads},
		{"comes back when killed", comesBack},
		{"is restarted when it hangs", isRestarted},
		{"says why it does not start", reportsWhy},
		{"bears what root left", bearsWhatRootLeft},
		{"upgrades", upgrades},
		{"bears a full disk", bearsFullDisk},
		{"keeps secrets", keepsSecrets},
		{"goes", goes},
	}
	for _, p := range parts {
		if !t.Run(p.name, func(t *testing.T) {
			began := time.Now()
			m.t = t
			defer func() { m.t = m.owner }()
			p.part(t, m)
			t.Logf("took %s", time.Since(began).Round(time.Millisecond))
		}) {
			break
		}
	}
}

// installs: a new installation is enabled, and waits for a configuration.
func installs(t *testing.T, m *machine) {
	deb := m.copyIn(packageFile(t, before, ".deb"))
	said := m.run("dpkg", "--install", deb)
	if !strings.Contains(said, "nothing is configured yet") {
		t.Errorf("installing does not say what to do next:\n%s", said)
	}
	if got := m.run("systemctl", "is-enabled", "driftd.service"); got != "enabled" {
		t.Errorf("after the installation the service is %s, want enabled", got)
	}
	if failed := m.run("systemctl", "--failed", "--no-legend"); failed != "" {
		t.Errorf("a fresh installation leaves something failed: %s", failed)
	}
	said = m.fails("systemctl", "start", "driftd.service")
	if !strings.Contains(said, "ssertion") {
		t.Errorf("starting without a configuration says: %s", said)
	}
	m.run("driftd", "version")
}

// isHardened: the rating by systemd itself.
func isHardened(t *testing.T, m *machine) {
	if said := m.run("systemd-analyze", "verify", "driftd.service"); said != "" {
		t.Errorf("systemd-analyze verify: %s", said)
	}
	const threshold = "15" // 1.5
	said := m.run("systemd-analyze", "security", "--no-pager", "--threshold="+threshold, "driftd.service")
	lines := strings.Split(said, "\n")
	t.Log(lines[len(lines)-1])
}

// starts: with a configuration the service runs, has findings, and responds to root.
func starts(t *testing.T, m *machine) {
	m.configure()
	m.run("driftd", "config", "check")
	began := time.Now()
	m.run("systemctl", "start", "driftd.service")
	t.Logf("ready after %s", time.Since(began).Round(time.Millisecond))
	m.awaitStatus("netbox  ")
	m.awaitStatus(fmt.Sprintf("%d drifted", drifted))
	if got := m.property("StatusErrno"); got != "0" {
		t.Errorf("StatusErrno = %s", got)
	}
	for path, want := range map[string]string{"/var/lib/private": "700", "/var/lib/private/driftd": "700", "/etc/driftd/credentials": "700"} {
		if got := m.run("stat", "--format", "%a", path); got != want {
			t.Errorf("%s has mode %s, want %s", path, got, want)
		}
	}
	uid := m.run("stat", "--format", "%u", "/var/lib/private/driftd/driftd.db")
	if pid := m.property("MainPID"); uid == "0" || m.run("stat", "--format", "%u", "/proc/"+pid) != uid {
		t.Errorf("the service's files belong to %s, and so does not it", uid)
	}
}

// bootsWithoutNetwork: on a node without a network the service runs, reports what is
// unreachable, and continues when the network is up.
func bootsWithoutNetwork(t *testing.T, m *machine) {
	m.reboot()
	m.awaitState("active")
	m.awaitStatus("network is unreachable")
	m.awaitStatus(fmt.Sprintf("%d drifted", drifted))
	if code, body, err := m.get("/metrics"); err != nil || code != 200 || !strings.Contains(body, `driftd_source_`) {
		t.Errorf("/metrics: %d, %v", code, err)
	}

	lab, err := netboxlab.New(netboxlab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lab.Grant("driftd", netboxlab.Permission{Models: lab.Models(), Actions: []string{"view"}})
	m.connect()
	m.serve(lab)
	m.await("a NetBox that is read", patience, func() (string, bool) {
		said, err := m.try("driftd", "status")
		return said, err == nil && !strings.Contains(said, "unreachable") && !strings.Contains(said, "refused")
	})
	if n := lab.Writes(); n != 0 || len(lab.Requests()) == 0 {
		t.Errorf("NetBox got %d requests, %d of them writes", len(lab.Requests()), n)
	}
	m.awaitReady(200, "ready")
}

// waitsForItsAddress: the service waits for an address that is added later.
func waitsForItsAddress(t *testing.T, m *machine) {
	const late = "192.0.2.77"
	m.drop("RestartSec=200ms\nEnvironment=DRIFTD_SERVER_LISTEN=" + late + ":9797\n")
	since := m.mark()
	m.fails("systemctl", "restart", "driftd.service")
	m.awaitJournal(since, "listen on "+late)
	// More often than any start limit of systemd that would stop the service.
	m.await("several new attempts", patience, func() (string, bool) {
		n := m.property("NRestarts")
		return n, len(n) > 1 || n > "6"
	})
	output(t, "", "nsenter", "--target", fmt.Sprint(m.leader), "--net", "ip", "address", "add", late+"/32", "dev", "lo")
	m.awaitState("active")
	m.drop("")
	m.run("systemctl", "restart", "driftd.service")
}

// reloads: a good configuration is used, a bad one is refused and reported.
func reloads(t *testing.T, m *machine) {
	pid := m.property("MainPID")
	m.write("/etc/driftd/driftd.yaml", configuration+"ignore: [{resource: shop/app-00000, reason: somebody said so}]\n", 0o644)
	m.run("systemctl", "reload", "driftd.service")
	m.awaitStatus(fmt.Sprintf("%d drifted", drifted-2))

	m.write("/etc/driftd/driftd.yaml", configuration+"shedule: {every: 1m}\n", 0o644)
	since := m.mark()
	m.fails("systemctl", "reload", "driftd.service")
	m.await("a status with the problem", patience, func() (string, bool) {
		_, body, _ := m.get("/api/v1/status")
		return body, strings.Contains(body, "the configuration was not reloaded") && strings.Contains(body, fmt.Sprintf(`"findings":%d,`, drifted-2))
	})
	m.awaitJournal(since, "did you mean")
	m.write("/etc/driftd/driftd.yaml", configuration, 0o644)
	m.run("systemctl", "reload", "driftd.service")
	m.awaitStatus(fmt.Sprintf("%d drifted", drifted))
	if now := m.property("MainPID"); now != pid {
		t.Errorf("after reloads the service is process %s, want still %s", now, pid)
	}
	if said := m.run("driftd", "status"); strings.Contains(said, "PROBLEM") {
		t.Errorf("after a good reload the status still has a problem:\n%s", said)
	}
}

// comesBack: a killed service is restarted with its earlier data.
func comesBack(t *testing.T, m *machine) {
	had := m.known()
	pid := m.property("MainPID")
	m.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", "driftd.service")
	m.awaitAnother(pid)
	if diff := cmp.Diff(had, m.known()); diff != "" {
		t.Errorf("after a kill driftd knows something else:\n%s", diff)
	}
}

// awaitAnother waits until the service runs as another process.
func (m *machine) awaitAnother(pid string) {
	m.t.Helper()
	m.await("another process", patience, func() (string, bool) {
		now := m.property("MainPID")
		return now, now != pid && now != "0"
	})
	m.awaitState("active")
}

// isRestarted: the watchdog restarts a hung service.
func isRestarted(_ *testing.T, m *machine) {
	m.drop("WatchdogSec=3s\nTimeoutAbortSec=1s\nRestartSec=200ms\n")
	m.run("systemctl", "restart", "driftd.service")
	pid := m.property("MainPID")
	since := m.mark()
	m.run("systemctl", "kill", "--kill-whom=main", "--signal=STOP", "driftd.service")
	m.awaitAnother(pid)
	m.awaitJournal(since, "Watchdog timeout")
	// A service that does not hang is not restarted for longer than the watchdog's timeout.
	pid = m.property("MainPID")
	m.awaitAlive(pid, 2*3*time.Second)
	m.drop("")
	m.run("systemctl", "restart", "driftd.service")
}

// awaitAlive checks that the service keeps running.
func (m *machine) awaitAlive(pid string, long time.Duration) {
	m.t.Helper()
	until := time.Now().Add(long)
	m.await("time to pass", 2*long, func() (string, bool) {
		if now := m.property("MainPID"); now != pid {
			m.t.Fatalf("the service was restarted: %s, then %s", pid, now)
		}
		return "", time.Now().After(until)
	})
}

// reportsWhy: a service that cannot start reports the reason, and starts by itself once it can.
func reportsWhy(_ *testing.T, m *machine) {
	m.drop("RestartSec=500ms\n")
	m.write("/etc/driftd/driftd.yaml", "sorces: []\n", 0o644)
	since := m.mark()
	m.fails("systemctl", "restart", "driftd.service")
	m.awaitJournal(since, `unknown key "sorces": did you mean "sources"?`)
	m.await("a systemctl status that says why", patience, func() (string, bool) {
		said, _ := m.try("systemctl", "status", "--no-pager", "--full", "driftd.service")
		return said, strings.Contains(said, `did you mean "sources"?`)
	})
	m.write("/etc/driftd/driftd.yaml", configuration, 0o644)
	m.awaitState("active")
	m.drop("")
}

// bearsWhatRootLeft: root scanned while the service was stopped.
func bearsWhatRootLeft(t *testing.T, m *machine) {
	m.run("systemctl", "stop", "driftd.service")
	if out, err := m.try("driftd", "scan"); err == nil {
		t.Errorf("driftd scan found no drift: %s", out)
	}
	m.run("install", "-d", "-o", "root", "-m", "0700", "/var/lib/driftd/cache/of-root")
	m.run("systemctl", "start", "driftd.service")
	if left := m.run("find", "/var/lib/driftd/", "-user", "root"); left != "" {
		t.Errorf("still root's: %s", left)
	}
	m.awaitReady(200, "ready")
}

// upgrades: the next version has all data of the one before.
func upgrades(t *testing.T, m *machine) {
	found := m.known().Findings
	first, _, _ := strings.Cut(found[0], " ")
	m.run("driftd", "accept", first, "--reason", "it may stay so", "--owner", "team-shop", "--until", time.Now().AddDate(0, 1, 0).Format(time.DateOnly))
	had := m.known()
	if len(had.Findings) != drifted-1 || !strings.Contains(had.Decisions, "it may stay so") {
		t.Fatalf("before the upgrade there are %d findings, and decisions %s", len(had.Findings), had.Decisions)
	}
	runs := m.runs()
	pid := m.property("MainPID")
	began := time.Now()
	m.run("dpkg", "--install", m.copyIn(packageFile(t, after, ".deb")))
	t.Logf("upgraded in %s, with a database of %s bytes", time.Since(began).Round(time.Millisecond),
		m.run("stat", "--format", "%s", "/var/lib/driftd/driftd.db"))
	if now := m.property("MainPID"); now == pid || now == "0" {
		t.Errorf("after the upgrade the service is process %s, want another than %s", now, pid)
	}
	m.awaitState("active")
	m.awaitStatus("driftd " + after + " ")
	if diff := cmp.Diff(had, m.known()); diff != "" {
		t.Errorf("after the upgrade driftd knows something else (-before +after):\n%s", diff)
	}
	if now := m.runs(); !strings.Contains(now, runs) {
		t.Errorf("the scans before the upgrade are forgotten: %s, want %s among them", now, runs)
	}
	m.awaitStatus(fmt.Sprintf("%d accepted", 1))
}

// runs returns the oldest scan in the store of the service.
func (m *machine) runs() string {
	m.t.Helper()
	code, body, err := m.get("/api/v1/runs?limit=500")
	if err != nil || code != 200 {
		m.t.Fatalf("/api/v1/runs: %d %v %s", code, err, body)
	}
	var runs struct{ Runs []struct{ ID string } }
	if err := json.Unmarshal([]byte(body), &runs); err != nil || len(runs.Runs) == 0 {
		m.t.Fatalf("/api/v1/runs: %v: %.300s", err, body)
	}
	return runs.Runs[len(runs.Runs)-1].ID
}

// bearsFullDisk: on a full disk the service runs on and reports it, and stores scans again once
// there is room.
func bearsFullDisk(t *testing.T, m *machine) {
	m.run("systemctl", "stop", "driftd.service")
	state := "/var/lib/private/driftd"
	m.run("mount", "-t", "tmpfs", "-o", "size=48m,mode=0700", "tmpfs", state)
	m.run("systemctl", "start", "driftd.service")
	m.awaitReady(200, "ready")
	pid := m.property("MainPID")
	// The next scan has more to store than there is room.
	m.fails("sh", "-c", "cat /dev/zero > "+state+"/filler")
	live, err := os.ReadFile(filepath.Join(m.root, "/etc/driftd/estate.json"))
	if err != nil {
		t.Fatal(err)
	}
	m.write("/etc/driftd/estate.json", strings.ReplaceAll(string(live), `"red"`, `"green, and more than that"`), 0o644)
	m.fails("driftd", "scan")
	m.awaitReady(503, "room to store")
	m.awaitStatus("room to store")
	m.run("rm", state+"/filler")
	m.awaitReady(200, "ready")
	if now := m.property("MainPID"); now != pid {
		t.Errorf("a full disk ended the service")
	}
	m.run("systemctl", "stop", "driftd.service")
	m.run("umount", state)
	m.run("systemctl", "start", "driftd.service")
	m.awaitReady(200, "ready")
}

// keepsSecrets: credentials are in no log, and in no file of the service.
func keepsSecrets(t *testing.T, m *machine) {
	token := netboxlab.Token("driftd")
	if log := m.run("journalctl", "--no-pager", "--all"); strings.Contains(log, token) {
		t.Error("the journal holds the token")
	}
	if out, err := m.try("grep", "--recursive", "--files-with-matches", "--fixed-strings", token, "/var/lib/private/driftd"); err == nil {
		t.Errorf("the token is kept in %s", out)
	}
	environ := m.run("cat", "/proc/"+m.property("MainPID")+"/environ")
	if strings.Contains(environ, token) {
		t.Error("the token is in the environment")
	}
}

// goes: removal keeps the user's files, purging leaves nothing.
func goes(t *testing.T, m *machine) {
	m.run("dpkg", "--remove", "driftd")
	if state, _ := m.try("systemctl", "is-active", "driftd.service"); state == "active" {
		t.Error("the service runs on after its removal")
	}
	for _, kept := range []string{"/var/lib/private/driftd/driftd.db", "/etc/driftd/driftd.yaml", "/etc/driftd/credentials/netbox-token"} {
		m.run("test", "-e", kept)
	}
	m.run("dpkg", "--install", m.copyIn(packageFile(t, after, ".deb")))
	m.awaitState("active")
	if said := m.run("driftd", "decisions", "list"); !strings.Contains(said, "it may stay so") {
		t.Errorf("after removal and installation the decisions are:\n%s", said)
	}

	m.run("dpkg", "--purge", "driftd")
	left := m.run("find", "/", "-xdev", "-name", "*driftd*", "-not", "-path", "/proc/*", "-not", "-path", "/root/*",
		"-not", "-path", "/sys/*", "-not", "-path", "/run/*", "-not", "-path", "/var/log/*", "-not", "-path", "/etc/systemd/system/driftd.service.d")
	if left != "" {
		t.Errorf("purging left:\n%s", left)
	}
	m.run("rm", "-r", "/etc/systemd/system/driftd.service.d")
	m.run("systemctl", "daemon-reload")
	if failed := m.run("systemctl", "--failed", "--no-legend"); failed != "" {
		t.Errorf("purging leaves something failed: %s", failed)
	}
}

// boxes: under the hardening of the unit, all seals hold in the process that expands foreign
// input.
func boxes(t *testing.T, m *machine) {
	want := regexp.MustCompile(`(?m)^box +sealed: memory limit, landlock [0-9]+, seccomp$`)
	if said := m.run("driftd", "status"); !want.MatchString(said) {
		t.Errorf("driftd status does not say that the box is sealed:\n%s", said)
	}
}
