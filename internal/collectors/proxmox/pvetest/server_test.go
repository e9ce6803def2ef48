package pvetest_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
)

func get(server http.Handler, path string) (code int, body string) {
	w := httptest.NewRecorder()
	server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, pvetest.Prefix+path, http.NoBody))
	return w.Code, w.Body.String()
}

func TestOrderIsRandom(t *testing.T) {
	t.Parallel()
	server := pvetest.New(pvetest.Lab(), rand.New(rand.NewPCG(1, 1)))
	bodies := map[string]bool{}
	var first any
	for range 12 {
		_, body := get(server, "/access/roles")
		bodies[body] = true
		var answer struct{ Data []map[string]any }
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatal(err)
		}
		for _, row := range answer.Data {
			row["privs"] = len(strings.Split(row["privs"].(string), ","))
		}
		if first == nil {
			first = answer.Data
		}
		if diff := cmp.Diff(first, any(answer.Data), cmpopts.SortSlices(func(a, b map[string]any) bool { return a["roleid"].(string) < b["roleid"].(string) })); diff != "" {
			t.Errorf("the answer changed:\n%s", diff)
		}
	}
	if len(bodies) < 6 {
		t.Errorf("12 answers have %d orders", len(bodies))
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, version, path string
		code                  int
		want                  string
	}{
		{"an unknown path", "9.2.11", "/nope", 501, "not implemented"},
		{"a missing guest", "9.2.11", "/nodes/pve1/qemu/999/config", 500, "Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist"},
		{"a guest of another node", "9.2.11", "/nodes/pve1/lxc/410/pending", 500, "'nodes/pve1/lxc/410.conf' does not exist"},
		{"a guest's firewall through another node", "9.2.11", "/nodes/pve3/qemu/401/firewall/options", 200, "policy_in"},
		{"a missing node", "9.2.11", "/nodes/pve9/qemu", 500, "hostname lookup"},
		{"a nested pool", "9.2.11", "/pools/?poolid=shop%2Ftest", 200, `"vmid":411`},
		{"HA groups in version 9", "9.2.11", "/cluster/ha/groups", 500, "migrated to rules"},
		{"HA groups in version 8", "8.4.1", "/cluster/ha/groups", 200, "front-first"},
		{"HA rules in version 8", "8.4.1", "/cluster/ha/rules", 501, ""},
		{"mappings in version 7", "7.4-18", "/cluster/mapping/pci", 501, ""},
		{"a pending change", "9.2.11", "/nodes/pve1/qemu/401/config", 200, `"memory":"8192"`},
		{"a list that requires a write privilege", "9.2.11", "/cluster/acme/plugins", 403, "(/, Sys.Modify)"},
	} {
		cluster := pvetest.Lab()
		cluster.Version = tc.version
		code, body := get(pvetest.New(cluster, rand.New(rand.NewPCG(1, 1))), tc.path)
		if code != tc.code || !strings.Contains(body, tc.want) {
			t.Errorf("%s: %d %s", tc.reason, code, body)
		}
	}
}

func TestEditsKeepArgument(t *testing.T) {
	t.Parallel()
	cluster := pvetest.Lab()
	server := pvetest.New(cluster, rand.New(rand.NewPCG(1, 1)))
	server.SetConfig(401, "cores", 16, "dana@pve")
	server.Edit(func(c *pvetest.Cluster) { c.Row("/storage", "storage", "fast")["shared"] = 0 })
	if diff := cmp.Diff(pvetest.Lab(), cluster); diff != "" {
		t.Errorf("the caller's cluster changed:\n%s", diff)
	}
	if _, body := get(server, "/cluster/log"); !strings.Contains(body, "update VM 401: -cores 16") {
		t.Errorf("the log is %s", body)
	}
}

func TestGeneratedValues(t *testing.T) {
	t.Parallel()
	server := pvetest.New(pvetest.Lab(), rand.New(rand.NewPCG(1, 1)))
	server.Create(pvetest.Guest{ID: 700, Kind: "qemu", Node: "pve1", Status: "running",
		Config: pvetest.Row{"name": "new", "net0": "virtio,bridge=vmbr0", "net1": "virtio=BC:24:11:00:00:09,bridge=vmbr0"}}, "dana@pve")
	server.Create(pvetest.Guest{ID: 701, Kind: "lxc", Node: "pve1", Status: "running",
		Config: pvetest.Row{"hostname": "box", "net0": "name=eth0,bridge=vmbr0,ip=192.0.2.71/24,ip6=2001:db8::71/64"}}, "dana@pve")
	server.SetConfig(700, "net2", "e1000,bridge=vmbr1", "dana@pve")
	server.SetConfig(700, "name", "renamed", "dana@pve")
	server.Clone(700, 702, "copy", "erik@pve")
	server.Migrate(700, "pve2", "dana@pve")
	for _, tc := range []struct {
		reason, path, want string
		code               int
	}{
		{"a UUID", "/nodes/pve2/qemu/700/config", `"smbios1":"uuid=` + pvetest.UUID(700) + `"`, 200},
		{"an address", "/nodes/pve2/qemu/700/config", "virtio,bridge=vmbr0,macaddr=" + pvetest.MAC(700, "net0"), 200},
		{"a given address", "/nodes/pve2/qemu/700/config", `"net1":"virtio=BC:24:11:00:00:09,bridge=vmbr0"`, 200},
		{"an address of a new device", "/nodes/pve2/qemu/700/config", pvetest.MAC(700, "net2"), 200},
		{"the log has the sent value", "/cluster/log", `update VM 700: -net2 e1000,bridge=vmbr1"`, 200},
		{"a changed name", "/cluster/log", "update VM 700: -name renamed", 200},
		{"a migration", "/nodes/pve1/tasks", ":qmigrate:700:dana@pve:", 200},
		{"a clone's task names the source", "/nodes/pve1/tasks", ":qmclone:700:erik@pve:", 200},
		{"a clone has its own UUID", "/nodes/pve1/qemu/702/config", pvetest.UUID(702), 200},
		{"a clone has its own addresses", "/nodes/pve1/qemu/702/config", pvetest.MAC(702, "net1"), 200},
		{"no agent is configured", "/nodes/pve2/qemu/700/agent/network-get-interfaces", "No QEMU guest agent configured", 500},
		{"a machine has only its agent's interfaces", "/nodes/pve2/qemu/700/interfaces", "not implemented", 501},
		{"a container reports its configured address", "/nodes/pve1/lxc/701/interfaces", `"192.0.2.71"`, 200},
		{"an agent", "/nodes/pve1/qemu/401/agent/network-get-interfaces", `"192.0.2.41"`, 200},
	} {
		if code, body := get(server, tc.path); code != tc.code || !strings.Contains(body, tc.want) {
			t.Errorf("%s: %d %s", tc.reason, code, body)
		}
	}
	server.SetConfig(700, "agent", "enabled=1", "dana@pve")
	if _, body := get(server, "/nodes/pve2/qemu/700/agent/network-get-interfaces"); !strings.Contains(body, "QEMU guest agent is not running") {
		t.Errorf("an agent that does not run: %s", body)
	}
	server.SetAddresses(700, "net1", "192.0.2.70/24")
	if _, body := get(server, "/nodes/pve2/qemu/700/agent/network-get-interfaces"); !strings.Contains(body, `"192.0.2.70"`) || !strings.Contains(body, "bc:24:11:00:00:09") {
		t.Errorf("the agent sent %s", body)
	}
}
