//go:build e2e

package e2e

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/test/pvelab"
)

// TestProxmox runs the scripts in testdata/proxmox: the real provider applies to a cluster, and
// driftd compares the state with the cluster.
func TestProxmox(t *testing.T) {
	t.Parallel()
	runScripts(t, "proxmox")
}

const proxmoxProvider = `
terraform {
  required_providers {
    proxmox = { source = "bpg/proxmox" }
  }
}
provider "proxmox" {
  endpoint  = "$PVE"
  api_token = "terraform@pve!tf=12345678-1234-1234-1234-123456789abc"
  insecure  = true
}
`

// setUpProxmox makes a cluster for a script, at $PVE, with its certificate in pve.pem and a
// token's secret in token.
func (h terraformHarness) setUpProxmox(env *testscript.Env) error {
	lab := pvelab.New(pvetest.New(pvelab.Cluster(), rand.New(rand.NewPCG(1, 2))))
	server := httptest.NewUnstartedServer(lab)
	// A closed connection is not logged.
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	env.Defer(server.Close)
	env.Values[pveKey{}] = lab
	env.Setenv("PVE", server.URL)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for name, content := range map[string][]byte{"pve.pem": certificate, "token": []byte("0123\n")} {
		if err := os.WriteFile(filepath.Join(env.WorkDir, name), content, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

func (h terraformHarness) pveOf(ts *testscript.TestScript) *pvelab.Lab {
	lab, _ := ts.Value(pveKey{}).(*pvelab.Lab)
	return lab
}

// pve changes the cluster by hand. Guests, by their numbers and as a user: set ID KEY VALUE
// WHO, wait ID KEY VALUE WHO (until a restart), unset ID KEY WHO, create KIND ID NODE NAME WHO,
// destroy ID WHO, migrate ID NODE WHO, start ID WHO, stop ID WHO. Nodes: down NODE, up NODE;
// partition NODE and heal NODE, of the node that responds. Rows of lists: row PATH KEY ID FIELD
// VALUE, remove PATH KEY ID. Rights of driftd's user: rights PATH [PRIVILEGES].
func (h terraformHarness) pve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: pve VERB ARGS...")
	}
	lab, verb := h.pveOf(ts), args[0]
	args = append(args[1:], "", "", "", "", "")
	// Commands for nodes and lists have no guest number.
	id, _ := strconv.Atoi(args[0])
	switch verb {
	case "set":
		lab.SetConfig(id, args[1], jsonOrText(args[2]), args[3])
	case "wait":
		lab.SetPending(id, args[1], jsonOrText(args[2]), args[3])
	case "unset":
		lab.SetConfig(id, args[1], nil, args[2])
	case "create":
		if id, err := strconv.Atoi(args[1]); err == nil {
			lab.Create(pvetest.Guest{ID: id, Kind: args[0], Node: args[2], Status: "stopped", Config: pvetest.Row{nameKey(args[0]): args[3]}}, args[4])
		}
	case "destroy":
		lab.Destroy(id, args[1])
	case "migrate":
		lab.Migrate(id, args[1], args[2])
	case "start", "stop":
		lab.SetStatus(id, map[string]string{"start": "running", "stop": "stopped"}[verb], args[1])
	default:
		lab.Edit(clusterEdit(ts, verb, args))
	}
}

func nameKey(kind string) string {
	if kind == "lxc" {
		return "hostname"
	}
	return "name"
}

func clusterEdit(ts *testscript.TestScript, verb string, args []string) func(*pvetest.Cluster) {
	return func(c *pvetest.Cluster) {
		switch verb {
		case "down", "up":
			i := slices.IndexFunc(c.Nodes, func(n pvetest.Node) bool { return n.Name == args[0] })
			c.Nodes[i].Offline = verb == "down"
		case "partition", "heal":
			c.NoQuorum = verb == "partition"
		case "row":
			c.Row(args[0], args[1], args[2])[args[3]] = jsonOrText(args[4])
		case "remove":
			c.Remove(args[0], args[1], args[2])
		case "rights":
			c.Rights[args[0]] = strings.Fields(args[1])
		default:
			ts.Fatalf("pve: unknown verb %q", verb)
		}
	}
}
