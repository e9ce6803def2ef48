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

func TestOrderIsDrawnAnew(t *testing.T) {
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
		{"a path that nobody knows", "9.2.11", "/nope", 501, "not implemented"},
		{"a guest that is not there", "9.2.11", "/nodes/pve1/qemu/999/config", 500, "Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist"},
		{"a guest of another node", "9.2.11", "/nodes/pve1/lxc/410/pending", 500, "'nodes/pve1/lxc/410.conf' does not exist"},
		{"a guest's firewall through another node", "9.2.11", "/nodes/pve3/qemu/401/firewall/options", 200, "policy_in"},
		{"a node that is not there", "9.2.11", "/nodes/pve9/qemu", 500, "hostname lookup"},
		{"a pool in a pool", "9.2.11", "/pools/?poolid=shop%2Ftest", 200, `"vmid":411`},
		{"HA groups now", "9.2.11", "/cluster/ha/groups", 500, "migrated to rules"},
		{"HA groups then", "8.4.1", "/cluster/ha/groups", 200, "front-first"},
		{"HA rules then", "8.4.1", "/cluster/ha/rules", 501, ""},
		{"mappings then", "7.4-18", "/cluster/mapping/pci", 501, ""},
		{"what waits for a restart", "9.2.11", "/nodes/pve1/qemu/401/config", 200, `"memory":"8192"`},
		{"what only writers may read", "9.2.11", "/cluster/acme/plugins", 403, "(/, Sys.Modify)"},
	} {
		cluster := pvetest.Lab()
		cluster.Version = tc.version
		code, body := get(pvetest.New(cluster, rand.New(rand.NewPCG(1, 1))), tc.path)
		if code != tc.code || !strings.Contains(body, tc.want) {
			t.Errorf("%s: %d %s", tc.reason, code, body)
		}
	}
}

func TestEditsLeaveTheDescriptionAlone(t *testing.T) {
	t.Parallel()
	cluster := pvetest.Lab()
	server := pvetest.New(cluster, rand.New(rand.NewPCG(1, 1)))
	server.SetConfig(401, "cores", 16, "dana@pve")
	server.Edit(func(c *pvetest.Cluster) { c.Row("/storage", "storage", "fast")["shared"] = 0 })
	if diff := cmp.Diff(pvetest.Lab(), cluster); diff != "" {
		t.Errorf("the caller's cluster changed:\n%s", diff)
	}
	if _, body := get(server, "/cluster/log"); !strings.Contains(body, "update VM 401: -cores 16") {
		t.Errorf("the log says %s", body)
	}
}
