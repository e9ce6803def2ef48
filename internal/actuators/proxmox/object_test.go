package proxmox

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
	"github.com/driftd/driftd/internal/reconcile"
)

// objects are objects of pvetest.Lab, how they are found there, and what is declared for them.
func objects() []struct {
	reason, kind, id, declared string
	of                         func(*pvetest.Cluster) pvetest.Row
	before, want               pvetest.Row
	person                     bool
} {
	listed := func(list, key, name string) func(*pvetest.Cluster) pvetest.Row {
		return func(c *pvetest.Cluster) pvetest.Row { return c.Row(list, key, name) }
	}
	pool := func(c *pvetest.Cluster) pvetest.Row { return pvetest.Row{"comment": c.Pools["shop"].Comment} }
	options := func(c *pvetest.Cluster) pvetest.Row { return c.Objects["/cluster/options"] }
	firewall := func(c *pvetest.Cluster) pvetest.Row { return c.Objects["/qemu/401/firewall/options"] }
	alias := listed("/lxc/410/firewall/aliases", "name", "upstream")
	node := func(c *pvetest.Cluster) pvetest.Row { return c.Objects["/nodes/pve1/config"] }
	return []struct {
		reason, kind, id, declared string
		of                         func(*pvetest.Cluster) pvetest.Row
		before, want               pvetest.Row
		person                     bool
	}{
		{"an option of a firewall", normalize.FirewallOptions, "qemu/401", `{"enable": false, "policy_in": "REJECT"}`, firewall, nil, pvetest.Row{"enable": "0", "policy_in": "REJECT"}, false},
		{"an option of a firewall that is not declared", normalize.FirewallOptions, "qemu/401", `{"dhcp": null}`, firewall, nil, pvetest.Row{"dhcp": nil}, false},
		{"an alias keeps its comment", normalize.FirewallAlias, "lxc/410/upstream", `{"cidr": "203.0.113.54"}`, alias, pvetest.Row{"comment": "of the provider"}, pvetest.Row{"cidr": "203.0.113.54"}, false},
		{"a comment of an alias that is not declared", normalize.FirewallAlias, "lxc/410/upstream", `{"comment": null}`, alias, pvetest.Row{"comment": "by hand"}, pvetest.Row{"comment": nil}, false},
		{"an alias of the cluster", normalize.FirewallAlias, "cluster/desk", `{"cidr": "198.51.100.0/24"}`, listed("/cluster/firewall/aliases", "name", "desk"), nil, pvetest.Row{"cidr": "198.51.100.0/24"}, true},
		{"a schedule", normalize.BackupJob, "night", `{"schedule": "02:00", "enabled": false}`, listed("/cluster/backup", "id", "night"), nil, pvetest.Row{"schedule": "02:00", "enabled": "0"}, false},
		{"guests of a backup", normalize.BackupJob, "night", `{"vmid": ["401", "403"]}`, listed("/cluster/backup", "id", "night"), nil, pvetest.Row{"vmid": "401,403"}, false},
		{"a part that is an object", normalize.BackupJob, "night", `{"prune-backups.keep-daily": 3}`, listed("/cluster/backup", "id", "night"),
			pvetest.Row{"prune-backups": pvetest.Row{"keep-daily": "7", "keep-last": "2"}}, pvetest.Row{"prune-backups": "keep-daily=3,keep-last=2"}, false},
		{"a note", normalize.Pool, "shop", `{"comment": "all of the shop"}`, pool, nil, pvetest.Row{"comment": "all of the shop"}, false},
		{"a note that is not declared", normalize.Pool, "shop", `{"comment": null}`, pool, nil, pvetest.Row{"comment": ""}, false},
		{"the nodes of a storage", normalize.Storage, "local", `{"nodes": ["pve1", "pve2"]}`, listed("/storage", "storage", "local"), nil, pvetest.Row{"nodes": "pve1,pve2"}, true},
		{"a state of high availability", normalize.HAResource, "vm:401", `{"state": "stopped"}`, listed("/cluster/ha/resources", "sid", "vm:401"), nil, pvetest.Row{"state": "stopped"}, true},
		{"a part of the options of the cluster", normalize.ClusterOptions, "cluster", `{"migration.type": "insecure"}`, options, nil, pvetest.Row{"migration": "network=192.0.2.0/24,type=insecure"}, true},
		{"the description of a node", normalize.NodeConfig, "pve1", `{"description": "the second one"}`, node, nil, pvetest.Row{"description": "the second one"}, false},
		{"a user", normalize.User, "new@pve", `{"enable": false, "email": null}`, listed("/access/users", "userid", "new@pve"), pvetest.Row{"email": "a@example.org"}, pvetest.Row{"enable": "0", "email": ""}, true},
		{"a group", normalize.Group, "new", `{"comment": "on call"}`, listed("/access/groups", "groupid", "new"), nil, pvetest.Row{"comment": "on call"}, false},
		{"a role", normalize.Role, "new", `{"privs": ["VM.Audit"]}`, listed("/access/roles", "roleid", "new"), pvetest.Row{"privs": "VM.Audit,VM.Config.CPU"}, pvetest.Row{"privs": "VM.Audit"}, true},
	}
}

// TestObjects puts objects other than guests back. What Proxmox VE guards with no digest is read again before it is
// written.
func TestObjects(t *testing.T) {
	t.Parallel()
	for _, tc := range objects() {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Edit(func(c *pvetest.Cluster) {
				c.Lists["/access/users"] = append(c.Lists["/access/users"], pvetest.Row{"userid": "new@pve", "enable": 1})
				c.Lists["/access/groups"] = append(c.Lists["/access/groups"], pvetest.Row{"groupid": "new"})
				c.Lists["/access/roles"] = append(c.Lists["/access/roles"], pvetest.Row{"roleid": "new"})
				maps.Copy(tc.of(c), tc.before)
			})
			row := func() (r pvetest.Row) {
				b.Edit(func(c *pvetest.Cluster) { r = maps.Clone(tc.of(c)) })
				delete(r, "digest")
				return r
			}
			before := row()
			f := b.findingOn(model.Key{Source: "pve", Kind: tc.kind, ID: tc.id}, "", tc.declared)
			c, err := b.plan(f)
			if err != nil {
				t.Fatal(err)
			}
			stale, err := b.plan(f)
			if err != nil {
				t.Fatal(err)
			}
			if (c.Plan().Person != "") != tc.person {
				t.Errorf("a person is needed: %q", c.Plan().Person)
			}
			expect(t, b.a, f.Key, c.Plan(), reconcile.AsBefore)
			if receipt, err := c.Write(t.Context()); err != nil || receipt.Unexpected != nil {
				t.Fatal(receipt, err)
			}
			expect(t, b.a, f.Key, c.Plan(), reconcile.AsWanted)
			compareRows(t, tc.kind, row(), before, tc.want)
			_, err = stale.Write(t.Context())
			if r := (*reconcile.Refusal)(nil); !isNotWritten(err) && !errors.As(err, &r) {
				t.Errorf("a plan of before: %v", err)
			}
		})
	}
}

// TestObjectsRefuse plans changes of objects that are not made.
func TestObjectsRefuse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, kind, id, declared, want string }{
		{"the user of the account that writes", normalize.User, "driftd@pve", `{"enable": false}`, "the account that driftd writes with"},
		{"a script of a backup", normalize.BackupJob, "night", `{"script": "/usr/local/bin/before"}`, "does not put it back"},
		{"the path of a storage", normalize.Storage, "local", `{"path": "/"}`, "does not put it back"},
		{"a part that is not told apart", normalize.ClusterOptions, "cluster", `{"keyboard": "de,x=1", "fencing": "both"}`, "does not put it back"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Edit(func(c *pvetest.Cluster) {
				c.Lists["/access/users"] = []pvetest.Row{{"userid": "driftd@pve", "enable": 1}}
			})
			_, err := b.plan(b.findingOn(model.Key{Source: "pve", Kind: tc.kind, ID: tc.id}, "", tc.declared))
			if r := (*reconcile.Refusal)(nil); !errors.As(err, &r) || r.Guard != guardKind || !strings.Contains(r.Why, tc.want) {
				t.Errorf("%v, want a refusal of kind with %q", err, tc.want)
			}
		})
	}
	t.Run("a right that lacks", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		c, err := b.plan(b.findingOn(model.Key{Source: "pve", Kind: normalize.BackupJob, ID: "night"}, "", `{"schedule": "02:00"}`))
		if err != nil {
			t.Fatal(err)
		}
		b.Edit(func(c *pvetest.Cluster) { c.Accounts["driftd@pve!fix"] = nil })
		if _, err := c.Write(t.Context()); !isNotWritten(err) || !strings.Contains(err.Error(), "Sys.Modify") {
			t.Errorf("Write() = %v", err)
		}
	})
}
