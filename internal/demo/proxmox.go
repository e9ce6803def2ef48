package demo

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
)

// created returns the creation time of the guests, in seconds since 1970.
func created(now time.Time) int64 { return now.Add(-60 * 24 * time.Hour).Unix() }

// clusterRules is the API path of the cluster's firewall rules.
const clusterRules = "/cluster/firewall/rules"

// newProxmox returns the initial cluster. It contains one drift: Carol increased the memory of
// db-01 13 hours ago.
func newProxmox(now time.Time) *pvetest.Server {
	c := pvetest.Cluster{Version: "9.0.5", Nodes: []pvetest.Node{{Name: "pve1"}, {Name: "pve2"}, {Name: "pve3"}},
		Rights: pvetest.Auditor(), Pools: map[string]pvetest.Pool{}, Objects: map[string]pvetest.Row{
			"/cluster/firewall/options": {"enable": 1, "policy_in": "DROP", "policy_out": "ACCEPT", "policy_forward": "ACCEPT", "ebtables": 1},
		},
		Lists: map[string][]pvetest.Row{"/storage": {
			{"storage": "local", "type": "dir", "path": "/var/lib/vz", "content": "iso,vztmpl,backup", "shared": 0},
			{"storage": "fast", "type": "rbd", "pool": "vms", "content": "images,rootdir", "shared": 1},
		}}}
	for _, m := range machines() {
		c.Guests = append(c.Guests, m.guest(now))
	}
	for i, r := range firewall() {
		c.Lists[clusterRules] = append(c.Lists[clusterRules], r.row(i))
	}
	s := pvetest.New(c, rand.New(rand.NewPCG(1, 1)))
	s.Now = func() time.Time { return now.Add(-13 * time.Hour) }
	s.SetConfig(idOf("db-01"), "memory", "24576", "carol@pve")
	s.Now = time.Now
	return s
}

func (r rule) row(place int) pvetest.Row {
	row := pvetest.Row{"pos": place, "type": "in", "action": "ACCEPT", "proto": r.proto, "dport": r.port, "enable": 1, "comment": r.comment}
	if r.source != "" {
		row["source"] = r.source
	}
	return row
}

// guest returns the machine as a Proxmox guest.
func (m machine) guest(now time.Time) pvetest.Guest {
	g := pvetest.Guest{ID: m.id, Kind: "qemu", Node: m.node, Status: "running", Addresses: map[string][]string{"net0": {m.address()}}}
	if m.container {
		g.Kind = "lxc"
		g.Config = pvetest.Row{
			"hostname": m.name, "arch": "amd64", "cores": m.cores, "cpulimit": "0", "cpuunits": 1024, "memory": m.memory, "swap": 0,
			"ostype": "debian", "unprivileged": 1, "onboot": 1, "protection": 0, "template": 0, "console": 1, "tty": 2, "cmode": "tty",
			"tags": "shop;" + m.tag, "rootfs": fmt.Sprintf("fast:vm-%d-disk-0,size=%dG", m.id, m.disk),
			"net0": fmt.Sprintf("name=eth0,bridge=vmbr0,firewall=1,gw=%s,hwaddr=%s,ip=%s,type=veth", gateway, m.mac(), m.address()),
		}
		return g
	}
	g.Config = pvetest.Row{
		"name": m.name, "acpi": 1, "agent": "enabled=1,fstrim_cloned_disks=0,type=virtio", "bios": "seabios", "boot": "order=scsi0;net0",
		"cores": m.cores, "sockets": 1, "numa": 0, "cpu": "cputype=x86-64-v2-AES", "cpuunits": 1024, "memory": strconv.Itoa(m.memory),
		"keyboard": "en-us", "onboot": 1, "ostype": "l26", "protection": 0, "tablet": 1, "template": 0, "tags": "shop;" + m.tag,
		"scsihw":    "virtio-scsi-single",
		"scsi0":     fmt.Sprintf("fast:vm-%d-disk-0,aio=io_uring,backup=1,cache=none,discard=on,iothread=1,replicate=1,size=%dG,ssd=1", m.id, m.disk),
		"ide2":      fmt.Sprintf("fast:vm-%d-cloudinit,media=cdrom,size=4M", m.id),
		"ipconfig0": "gw=" + gateway + ",ip=" + m.address(),
		"net0":      fmt.Sprintf("virtio=%s,bridge=vmbr0,firewall=1", m.mac()),
		"smbios1":   "uuid=" + pvetest.UUID(m.id), "vmgenid": fmt.Sprintf("9f2d1c60-0000-4000-a000-%012d", m.id),
		"meta": fmt.Sprintf("creation-qemu=10.1.2,ctime=%d", created(now)),
	}
	return g
}
