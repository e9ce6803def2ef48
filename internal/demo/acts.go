package demo

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/demo/cluster"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/web"
)

// Drifting is the number of findings before the first act.
const Drifting = 2

// An act is a change that visitors can make to the simulated systems, and its reversal.
type act struct {
	id, title, detail string
	do, undo          func(now time.Time) error
}

// Acts returns the changes that can be made.
func (d *Demo) Acts() []web.Act {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]web.Act, len(d.acts))
	for i, a := range d.acts {
		list[i] = web.Act{ID: a.id, Title: a.title, Detail: a.detail, Done: d.done[a.id]}
	}
	return list
}

// Do performs an act, or reverts it if it was performed.
func (d *Demo) Do(_ context.Context, id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.acts, func(a act) bool { return a.id == id })
	if i < 0 {
		return fmt.Errorf("unknown act %q", id)
	}
	do := d.acts[i].do
	if d.done[id] {
		do = d.acts[i].undo
	}
	if err := do(time.Now()); err != nil {
		return err
	}
	d.done[id] = !d.done[id]
	return nil
}

func (d *Demo) newActs() []act {
	return slices.Concat(d.onProxmox(), d.inKubernetes(), d.inNetBox(), d.inGit())
}

func (d *Demo) onProxmox() []act {
	const byHand = 399
	last := len(firewall())
	open := pvetest.Row{"pos": last, "type": "in", "action": "ACCEPT", "source": "0.0.0.0/0", "enable": 1, "comment": "temporary!!"}
	cores := func(n int) func(time.Time) error {
		return func(time.Time) error {
			d.proxmox.SetConfig(idOf("app-01"), "cores", n, "carol@pve")
			return nil
		}
	}
	return []act{
		{"firewall", "Open the firewall", "A rule on Proxmox allows traffic from anywhere to every machine. Proxmox does not log changes of rules, so the actor is unknown.",
			func(time.Time) error {
				d.proxmox.Edit(func(c *pvetest.Cluster) { c.Lists[clusterRules] = append(slices.Clone(c.Lists[clusterRules]), open) })
				return nil
			},
			func(time.Time) error {
				d.proxmox.Edit(func(c *pvetest.Cluster) { c.Remove(clusterRules, "pos", strconv.Itoa(last)) })
				return nil
			}},
		{"grow", "Grow a virtual machine", "Carol increases the cores of app-01 from four to eight. The cluster log of Proxmox contains her name.", cores(8), cores(4)},
		{"byhand", "Create a virtual machine by hand", "Dave creates a virtual machine on Proxmox that is neither in Terraform nor in NetBox. The task log contains his name.",
			func(time.Time) error {
				d.proxmox.Create(pvetest.Guest{ID: byHand, Kind: "qemu", Node: "pve3", Status: "running",
					Config: pvetest.Row{"name": "daves-test", "cores": 2, "memory": "2048", "net0": "virtio,bridge=vmbr0"}}, "dave@pve")
				return nil
			},
			func(time.Time) error {
				d.proxmox.Destroy(byHand, "dave@pve")
				return nil
			}},
	}
}

func (d *Demo) inKubernetes() []act {
	settings := cluster.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "payment"}
	password := cluster.Ref{Kind: "Secret", Namespace: "shop", Name: "database"}
	return []act{
		{"image", "Edit a Deployment", "Nina deploys a hotfix to shop/api with kubectl edit. The audit log of the API server contains her name.",
			func(now time.Time) error {
				return d.cluster.Edit(deployment("api"), kubectl("nina@example.org"), now, setImage("registry.example.org/shop/api:3.1.0-nina"))
			},
			func(now time.Time) error { return d.redeploy(deployment("api"), now) }},
		{"secret", "Change a password", "Nina changes the password in the Secret shop/database. driftd reports the change, but never shows the password.",
			func(now time.Time) error {
				return d.cluster.Edit(password, kubectl("nina@example.org"), now, func(o cluster.Object) {
					o["data"] = map[string]any{"username": "c2hvcA==", "password": "bmV3LW5vdC1yZWFsLWVpdGhlcg=="}
				})
			},
			func(now time.Time) error { return d.redeploy(password, now) }},
		{"delete", "Delete a ConfigMap", "Omar deletes shop/payment, which the checkout needs. The audit log of the API server contains his name.",
			func(now time.Time) error { return d.cluster.Delete(settings, kubectl("omar@example.org"), now) },
			func(now time.Time) error { return d.redeploy(settings, now) }},
	}
}

// redeploy applies the manifest of an object in git.
func (d *Demo) redeploy(ref cluster.Ref, now time.Time) error {
	declared, err := d.repo.find(ref)
	if err != nil {
		return err
	}
	return d.cluster.Apply(declared, pipeline(), now)
}

func (d *Demo) inNetBox() []act {
	const addresses = "ipam/ip-addresses"
	return []act{
		{"address", "Delete an address", "Jonas deletes the address of the shop's load balancer in NetBox. The changelog of NetBox contains his name.",
			func(time.Time) error {
				d.netbox.Edit(func(e *netboxtest.Estate) {
					list := e.Lists[addresses]
					list.Rows = slices.DeleteFunc(slices.Clone(list.Rows), func(row netboxtest.Row) bool { return row["id"] == vipID })
					e.Lists[addresses] = list
					d.log.add(e, "jonas", "delete", "ipam.ipaddress", vipID, netboxtest.Row{"address": vip, "status": "active"}, nil)
				})
				return nil
			},
			func(time.Time) error {
				d.netbox.Edit(func(e *netboxtest.Estate) {
					list := e.Lists[addresses]
					list.Rows = append([]netboxtest.Row{addressRow(vipID, vip, "shop", 0)}, list.Rows...)
					e.Lists[addresses] = list
				})
				return nil
			}},
		{"dispute", "Create a conflict", "Carol sets the memory of queue-01 to 6 GB on Proxmox, Jonas sets it to 8 GB in NetBox, and Terraform still declares 4 GB.",
			func(time.Time) error { return d.memory("queue-01", 6144, 8192) },
			func(time.Time) error { return d.memory("queue-01", 4096, 4096) }},
		{"outage", "Let NetBox fail", "NetBox answers with errors. Everything that it declares becomes unchecked, and nothing is reported as missing.",
			func(time.Time) error { d.netbox.Break("", faults.BadGateway()); return nil },
			func(time.Time) error { d.netbox.Heal(); return nil }},
	}
}

// memory sets a machine's memory on Proxmox and then in NetBox.
func (d *Demo) memory(name string, live, intended int) (err error) {
	id := idOf(name)
	d.proxmox.SetConfig(id, "memory", strconv.Itoa(live), "carol@pve")
	d.netbox.Edit(func(e *netboxtest.Estate) {
		var row netboxtest.Row
		if row, err = findRow(e, "virtualization/virtual-machines", id); err != nil {
			return
		}
		before := row["memory"]
		row["memory"] = intended
		d.log.add(e, "jonas", "update", "virtualization.virtualmachine", id, netboxtest.Row{"name": name, "memory": before}, netboxtest.Row{"name": name, "memory": intended})
	})
	return err
}

func (d *Demo) inGit() []act {
	const file, now, next = "checkout.yaml", "checkout:2.3.0", "checkout:2.4.0"
	return []act{
		{"commit", "Commit without applying", "Lena commits checkout 2.4.0 to git, but the change is not applied. The commit contains her name.",
			func(at time.Time) error {
				return d.repo.replace(file, now, next, lena(), "checkout 2.4.0: gift cards", at)
			},
			func(at time.Time) error {
				return d.repo.replace(file, next, now, lena(), "Revert \"checkout 2.4.0: gift cards\"", at)
			}},
	}
}
