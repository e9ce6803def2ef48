//go:build e2e

package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/reconcile"
)

// webLists are lists that are put back row by row. A security group belongs to the cluster.
const webLists = `
resource "proxmox_virtual_environment_firewall_ipset" "callers" {
  node_name = "pve1"
  vm_id     = proxmox_virtual_environment_vm.web.vm_id
  name      = "callers"

  cidr {
    name    = "198.51.100.0/24"
    comment = "the office"
  }

  cidr {
    name    = "198.51.100.66"
    nomatch = true
  }
}

resource "proxmox_virtual_environment_cluster_firewall_security_group" "public" {
  name    = "public"
  comment = "what all may reach"

  rule {
    type   = "in"
    action = "ACCEPT"
    proto  = "tcp"
    dport  = "80,443"
  }
}

resource "proxmox_virtual_environment_firewall_rules" "web" {
  node_name = "pve1"
  vm_id     = proxmox_virtual_environment_vm.web.vm_id

  rule {
    security_group = proxmox_virtual_environment_cluster_firewall_security_group.public.name
    comment        = "all"
  }

  rule {
    type   = "in"
    action = "DROP"
    source = "192.0.2.0/24"
    log    = "info"
  }

  rule {
    type    = "in"
    action  = "ACCEPT"
    macro   = "SSH"
    source  = "+callers"
    comment = "the office"
  }

  rule {
    type    = "in"
    action  = "ACCEPT"
    proto   = "tcp"
    dport   = "9100"
    enabled = false
  }
}
`

// clusterObjects are objects that are changed with one request.
const clusterObjects = `
resource "proxmox_virtual_environment_pool" "shop" {
  pool_id = "shop"
  comment = "the shop"
}

resource "proxmox_virtual_environment_role" "operator" {
  role_id    = "operator"
  privileges = ["VM.Audit", "VM.PowerMgmt"]
}

resource "proxmox_virtual_environment_group" "ops" {
  group_id = "ops"
  comment  = "on call"
}

resource "proxmox_virtual_environment_user" "carol" {
  user_id = "carol@pve"
  email   = "carol@example.org"
  enabled = false
  groups  = [proxmox_virtual_environment_group.ops.group_id]
}

resource "proxmox_acl" "ops" {
  path      = "/vms"
  group_id  = proxmox_virtual_environment_group.ops.group_id
  role_id   = proxmox_virtual_environment_role.operator.role_id
  propagate = true
}

resource "proxmox_pool_membership" "local" {
  pool_id    = proxmox_virtual_environment_pool.shop.pool_id
  storage_id = "local"
}

resource "proxmox_backup_job" "night" {
  id       = "night"
  schedule = "03:15"
  storage  = "local"
  vmid     = ["301"]
  mode     = "snapshot"
}
`

// Rules, IP sets and security groups are put back row by row. At each moment the firewall of the guest decides about a packet
// as it did before, or as it does afterwards.
func TestReconcileProxmoxLists(t *testing.T) {
	t.Parallel()
	const rules, callers, public = "/qemu/301/firewall/rules", "/qemu/301/firewall/ipset/callers", "/cluster/firewall/groups/public"
	accept := pvetest.Row{"type": "in", "action": "ACCEPT", "enable": int64(1)}
	r := newGuestRoom(t, oneCLI(t))
	d := r.serve()
	d.awaitFindings()
	for reason, drift := range map[string]func(*pvetest.Cluster){
		"a rule by hand":      func(c *pvetest.Cluster) { c.Lists[rules] = slices.Insert(slices.Clone(c.Lists[rules]), 1, accept) },
		"a rule that is gone": func(c *pvetest.Cluster) { c.Lists[rules] = slices.Delete(slices.Clone(c.Lists[rules]), 1, 2) },
		"a rule that was changed": func(c *pvetest.Cluster) {
			c.Lists[rules][1] = pvetest.Row{"type": "in", "action": "ACCEPT", "enable": int64(1), "source": "192.0.2.0/24"}
		},
		"another order, and a rule by hand": func(c *pvetest.Cluster) {
			c.Lists[rules] = append([]pvetest.Row{accept, c.Lists[rules][2], c.Lists[rules][0]}, c.Lists[rules][1], c.Lists[rules][3])
		},
		"no rules": func(c *pvetest.Cluster) { c.Lists[rules] = nil },
		"an entry by hand, another gone, and one that was changed": func(c *pvetest.Cluster) {
			c.Lists[callers] = []pvetest.Row{{"cidr": "0.0.0.0/0"}, {"cidr": "198.51.100.0/24", "comment": "by hand"}}
		},
		"a security group": func(c *pvetest.Cluster) { c.Lists[public] = append(c.Lists[public], accept) },
	} {
		var before []pvetest.Row
		r.pve.Edit(func(c *pvetest.Cluster) {
			declared := slices.Clone(c.Lists[rules])
			drift(c)
			before = c.Lists[rules]
			c.AfterFirewall = func(c *pvetest.Cluster, at string) {
				for source, port := range map[string]string{"192.0.2.9": "22", "198.51.100.9": "22", "203.0.113.9": "443", "192.0.2.10": "9100"} {
					if is := fate(c.Lists[rules], source, port); is != fate(before, source, port) && is != fate(declared, source, port) {
						t.Errorf("%s: after a change of %s, port %s is %s for %s: %v", reason, at, port, is, source, c.Lists[rules])
					}
				}
			}
		})
		after := d.putBack("alice")
		if after.State != reconcile.Converged {
			t.Fatalf("%s: it is %s: %s", reason, after.State, after.Outcome)
		}
		if len(after.Plan.Requests) == 0 || (after.Plan.Person != "") != (reason == "a security group") {
			t.Errorf("%s: the plan is %+v", reason, after.Plan)
		}
		d.awaitFindings()
	}
	r.nothingToDo()
}

// putBack approves a proposal as a person. A scan that began before the last drift may end one that it proposed: then there is
// another.
func (d *daemon) putBack(user string) (after reconcile.Action) {
	d.t.Helper()
	d.eventually(startTimeout, "an action that is carried out", func() error {
		a := d.awaitAction(reconcile.Proposed)
		status, text := d.as(user, "/api/v1/actions/"+a.ID+"/approve", map[string]string{"digest": a.Digest, "reason": "by hand"})
		if status != http.StatusOK {
			return fmt.Errorf("%d: %s", status, text)
		}
		return json.Unmarshal([]byte(text), &after)
	})
	return after
}

// fate returns what rules decide about a packet from an address to a port, as the first rule of those of the test that
// matches does.
func fate(rules []pvetest.Row, source, port string) string {
	for _, rule := range rules {
		from, to := fmt.Sprint(cmp.Or[any](rule["source"], "")), fmt.Sprint(cmp.Or[any](rule["dport"], ""))
		switch {
		case fmt.Sprint(rule["enable"]) != "1",
			from == "192.0.2.0/24" && !strings.HasPrefix(source, "192.0.2."),
			from == "+callers" && source != "198.51.100.9",
			rule["macro"] == "SSH" && port != "22",
			rule["type"] == "group" && port != "443",
			to != "" && to != port:
		default:
			return fmt.Sprint(rule["action"])
		}
	}
	return "the policy"
}

// Objects of the cluster are put back with one request each. Users and roles need a person. The root does not have whether
// the backup job is enabled: a plan that finds it off does not make that what is declared.
func TestReconcileProxmoxObjects(t *testing.T) {
	t.Parallel()
	r := newGuestRoom(t, oneCLI(t))
	d := r.serve()
	d.awaitFindings()
	for kind, drift := range map[string]struct {
		do     func(*pvetest.Cluster)
		path   string
		person bool
	}{
		"proxmox/pool": {func(c *pvetest.Cluster) {
			c.Pools["shop"] = pvetest.Pool{Comment: "ours", Storages: c.Pools["shop"].Storages}
		}, "comment", false},
		"proxmox/role": {func(c *pvetest.Cluster) {
			c.Row("/access/roles", "roleid", "operator")["privs"] = "VM.Audit,VM.PowerMgmt,Permissions.Modify"
		}, "privs", true},
		"proxmox/group":      {func(c *pvetest.Cluster) { c.Row("/access/groups", "groupid", "ops")["comment"] = "gone" }, "comment", false},
		"proxmox/user":       {func(c *pvetest.Cluster) { c.Row("/access/users", "userid", "carol@pve")["enable"] = 1 }, "enable", true},
		"proxmox/backup_job": {func(c *pvetest.Cluster) { c.Row("/cluster/backup", "id", "night")["enabled"] = 0 }, "enabled", false},
	} {
		r.pve.Edit(drift.do)
		after := d.putBack("alice")
		if after.State != reconcile.Converged {
			t.Fatalf("%s: it is %s: %s", kind, after.State, after.Outcome)
		}
		if after.Subject.Kind != kind || len(after.Plan.Changes) != 1 || after.Plan.Changes[0].Path != drift.path || (after.Plan.Person != "") != drift.person {
			t.Errorf("%s: the plan is %+v", kind, after.Plan)
		}
		d.awaitFindings()
	}
	r.nothingToDo()
}

// Permissions and members of pools that were removed are added again, if the rule creates.
func TestReconcileProxmoxGrants(t *testing.T) {
	t.Parallel()
	r := newGuestRoom(t, oneCLI(t))
	config, err := os.ReadFile(r.path("driftd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r.write("driftd.yaml", strings.Replace(string(config), "per_hour: 100", "per_hour: 100, create: true, delete: true", 1))
	d := r.serve()
	d.awaitFindings()
	for kind, drift := range map[string]func(*pvetest.Cluster){
		"proxmox/acl": func(c *pvetest.Cluster) {
			c.Lists["/access/acl"] = slices.DeleteFunc(slices.Clone(c.Lists["/access/acl"]), func(row pvetest.Row) bool { return row["ugid"] == "ops" })
		},
		"proxmox/pool_member": func(c *pvetest.Cluster) { c.Pools["shop"] = pvetest.Pool{Comment: "the shop"} },
	} {
		r.pve.Edit(drift)
		after := d.putBack("alice")
		if after.State != reconcile.Converged {
			t.Fatalf("%s: it is %s: %s", kind, after.State, after.Outcome)
		}
		if after.Subject.Kind != kind || !after.Plan.Creates || after.Plan.Person == "" {
			t.Errorf("%s: the plan is %+v", kind, after.Plan)
		}
		d.awaitFindings()
	}
	// A permission that was added by hand is deleted, but no guest is.
	r.pve.Edit(func(c *pvetest.Cluster) {
		c.Lists["/access/acl"] = append(c.Lists["/access/acl"], pvetest.Row{"path": "/", "ugid": "mallory@pve", "type": "user", "roleid": "Administrator", "propagate": int64(1)})
	})
	if after := d.putBack("alice"); after.State != reconcile.Converged || !after.Plan.Deletes || after.Subject.Kind != "proxmox/acl" {
		t.Errorf("a permission by hand: %s: %s: %+v", after.State, after.Outcome, after.Plan)
	}
	d.awaitFindings()
	r.nothingToDo()
	r.pve.Create(pvetest.Guest{ID: 799, Kind: "qemu", Node: "pve1", Status: "stopped", Config: pvetest.Row{"name": "rogue"}}, "mallory@pve")
	d.awaitHeld("kind", "driftd does not delete resources of kind proxmox/qemu")
}
