//go:build e2e

package systemd

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// peopleConfiguration has two persons, and one finding for each decision of TestPeople.
const peopleConfiguration = `
schedule: {every: 1h, jitter: 0s}
sources: [{name: live, type: kubernetes, settings: {dump: live.json, dump_complete: true}}]
declarations: [{name: shop, type: manifests, governs: [live], settings: {dir: deploy}}]
people:
  - {name: alice, unix: alice, oidc: alice@example.org}
  - {name: bob, unix: "1702"}
`

// TestPeople verifies under the hardening of the unit that a decision records the user who logged
// in, and that root without a login is no person.
//
//nolint:paralleltest // one machine at a time
func TestPeople(t *testing.T) {
	m := newMachine(t)
	m.boot()
	m.run("dpkg", "--install", m.copyIn(packageFile(t, after, ".deb")))
	decided := []struct {
		reason string
		// login is the user ID of the login session, "" for none.
		login string
		by    decision
	}{
		{"root without a login is several people", "", decision{"unix:root", "command line"}},
		{"alice runs sudo", "1701", decision{"alice", "command line (as root)"}},
		{"bob is listed by user ID", "1702", decision{"bob", "command line (as root)"}},
		{"carol is not listed", "1703", decision{"unix:carol", "command line (as root)"}},
		{"a user ID without a user is not listed", "1799", decision{"unix:1799", "command line (as root)"}},
		{"the overflow ID is no user", "65534", decision{"unix:root", "command line"}},
	}
	for i, name := range []string{"alice", "bob", "carol"} {
		m.run("useradd", "--uid", fmt.Sprint(1701+i), name)
	}
	var live, files strings.Builder
	for i := range decided {
		fmt.Fprintf(&files, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: app-%d, namespace: shop}\ndata: {color: blue}\n", i)
		fmt.Fprintf(&live, `,{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "app-%d", "namespace": "shop"}, "data": {"color": "red"}}`, i)
	}
	m.write("/etc/driftd/live.json", `{"apiVersion": "v1", "kind": "List", "items": [`+live.String()[1:]+"]}", 0o644)
	m.write("/etc/driftd/deploy/apps.yaml", files.String(), 0o644)
	m.write("/etc/driftd/driftd.yaml", peopleConfiguration, 0o644)
	m.run("systemctl", "start", "driftd.service")
	m.awaitStatus(fmt.Sprintf("%d drifted", len(decided)))

	for i, id := range m.findings() {
		command := fmt.Sprintf("driftd accept %s --reason test --owner shop --until 1d", id)
		if login := decided[i].login; login != "" {
			command = "echo " + login + " >/proc/self/loginuid && " + command
		}
		m.run("sh", "-c", command)
		if diff := cmp.Diff(decided[i].by, m.decisionOf(id)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", decided[i].reason, diff)
		}
	}
	if said := m.fails("setpriv", "--reuid", "alice", "--clear-groups", "driftd", "decisions"); !strings.Contains(said, "permission denied") {
		t.Errorf("alice without sudo: %s", said)
	}
}

// A decision has the fields of a decision that describe its author.
type decision struct{ By, Via string }

// findings returns the IDs of the open findings.
func (m *machine) findings() []string {
	m.t.Helper()
	var listed struct{ Findings []struct{ ID string } }
	if err := json.Unmarshal([]byte(m.run("driftd", "findings", "list", "--output", "json")), &listed); err != nil {
		m.t.Fatal(err)
	}
	ids := make([]string, 0, len(listed.Findings))
	for _, f := range listed.Findings {
		ids = append(ids, f.ID)
	}
	return ids
}

// decisionOf returns the decision about a finding.
func (m *machine) decisionOf(finding string) decision {
	m.t.Helper()
	var listed struct {
		Decisions []struct {
			Finding string
			decision
		}
	}
	if err := json.Unmarshal([]byte(m.run("driftd", "decisions", "list", "--output", "json")), &listed); err != nil {
		m.t.Fatal(err)
	}
	for _, d := range listed.Decisions {
		if d.Finding == finding {
			return d.decision
		}
	}
	m.t.Fatalf("finding %s has no decision", finding)
	return decision{}
}
