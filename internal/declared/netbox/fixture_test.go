package netbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/match"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// parse returns the value of the JSON text.
func parse(t testing.TB, text string) model.Value {
	t.Helper()
	var v model.Value
	if err := v.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return v
}

// lab is a NetBox with one virtual machine, app-01, on one Proxmox cluster. Each line contains
// a kind, an ID and a value.
const lab = `
virtualization.clustertype 1 {"name":"Proxmox VE","slug":"pve"}
virtualization.cluster 1 {"name":"lab","type":1}
dcim.device 3 {"name":"pve1.example.org","cluster":1}
extras.tag 1 {"name":"Web.Shop","slug":"web-shop"}
extras.tag 2 {"name":"prod","slug":"prod"}
ipam.vlan 7 {"vid":100,"name":"app"}
ipam.vlan 8 {"vid":200,"name":"db"}
ipam.vlan 9 {"vid":201,"name":"backup"}
ipam.ipaddress 20 {"address":"10.0.0.5/24","assigned_object_type":"virtualization.vminterface","assigned_object_id":11}
ipam.ipaddress 21 {"address":"2001:db8::5/64","assigned_object_type":"virtualization.vminterface","assigned_object_id":11}
dcim.macaddress 30 {"mac_address":"BC:24:11:00:00:01"}
dcim.macaddress 31 {"mac_address":"BC:24:11:00:00:02"}
virtualization.virtualmachine 6 {"name":"app-01","cluster":1,"device":3,"status":"active","vcpus":4,"memory":4096,"primary_ip4":20,"primary_ip6":21,"tags":["Web.Shop","prod"],"custom_fields":{"vmid":101}}
virtualization.vminterface 11 {"name":"eth0","virtual_machine":6,"enabled":true,"mode":"access","untagged_vlan":7,"mac_address":"BC:24:11:00:00:01","primary_mac_address":30,"mac_addresses":[30],"custom_fields":{"bridge":"vmbr0"}}
virtualization.vminterface 12 {"name":"eth1","virtual_machine":6,"enabled":true,"mode":"tagged","tagged_vlans":[8,9],"mac_address":"BC:24:11:00:00:02","primary_mac_address":31,"mac_addresses":[31]}
virtualization.virtualdisk 1 {"name":"root","virtual_machine":6,"size":20480}
virtualization.virtualdisk 2 {"name":"data","virtual_machine":6,"size":100000}
`

// The configuration of the guest of lab in Proxmox VE, as a virtual machine and as a container.
const (
	qemu101 = `
node: pve1
status: running
name: app-01
cores: 2
sockets: 2
memory: 4096
scsi0: a:vm-101-disk-0,size=20G
virtio3: a:vm-101-disk-1,iothread=1,size=100G
ide2: iso:iso/debian.iso,media=cdrom,size=4M
ide0: a:vm-101-cloudinit,size=4M
efidisk0: a:vm-101-disk-2,efitype=4m,size=528K
unused0: a:vm-101-disk-9
net0: virtio=bc:24:11:00:00:01,bridge=vmbr0,firewall=1,tag=100
net1: bridge=vmbr1,virtio=BC:24:11:00:00:02,trunks=200-201
ipconfig0: ip=10.0.0.5/24,gw=10.0.0.1,ip6=2001:db8:0::5/64
smbios1: uuid=8a6b1c2d-0000-4000-8000-00000000000a
tags: web-shop;prod
`
	lxc101 = `
node: pve1
status: running
hostname: app-01
cores: 4
memory: 4096
swap: 512
rootfs: a:subvol-101-disk-0,size=20G
mp0: a:subvol-101-disk-1,mp=/data,size=100G
mp1: /mnt/host,mp=/host
net0: name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:01,ip=10.0.0.5/24,ip6=2001:db8::5/64,tag=100,type=veth
net1: name=eth1,bridge=vmbr1,hwaddr=BC:24:11:00:00:02,trunks=200;201,type=veth
tags: prod;web.shop
`
)

// netbox returns the snapshot of a NetBox with objects in the form of lab. The last line with
// a kind and an ID wins; the value - removes the object.
func netbox(t testing.TB, lines ...string) model.Snapshot {
	t.Helper()
	s := model.Snapshot{Source: "netbox", Coverage: []model.Coverage{{Source: "netbox", Complete: true}}}
	of := map[model.Ref]model.Resource{}
	for line := range strings.SplitSeq(strings.Join(lines, "\n"), "\n") {
		kind, rest, ok := strings.Cut(line, " ")
		if !ok {
			continue
		}
		id, text, _ := strings.Cut(rest, " ")
		ref := model.Ref{Kind: Type + "/" + kind, ID: id}
		if text == "-" {
			delete(of, ref)
			continue
		}
		of[ref] = model.Resource{Key: model.Key{Source: "netbox", Kind: ref.Kind, ID: id}, Value: parse(t, text)}
	}
	for _, r := range of {
		s.Resources = append(s.Resources, r)
	}
	slices.SortFunc(s.Resources, func(a, b model.Resource) int { return a.Key.Compare(b.Key) })
	return s
}

// guestOf returns a guest with the given configuration, as the collector reads it, and its
// identities.
func guestOf(kind, id, config string) model.Resource {
	var rows []model.Value
	own := map[string]model.Value{}
	for line := range strings.SplitSeq(config, "\n") {
		key, value, ok := strings.Cut(line, ": ")
		switch {
		case !ok:
		case key == "node" || key == "status":
			own[key] = model.StringOf(value)
		case key == "agent_addresses":
			own[key] = texts(strings.Fields(value))
		default:
			rows = append(rows, model.MapOf(model.Field{Name: "key", Value: model.StringOf(key)}, model.Field{Name: "value", Value: model.StringOf(value)}))
		}
	}
	v, _ := normalize.New(model.NewSealer([]byte("installation"))).Guest(kind, rows)
	for key, value := range own {
		v = v.With(key, value)
	}
	return resourceOf(kind, id, v)
}

func resourceOf(kind, id string, v model.Value) model.Resource {
	r := model.Resource{Key: model.Key{Source: "pve", Kind: kind, ID: id}, Place: v.At("node").Str(), Value: v}
	r.Name = cmp.Or(v.At("name").Str(), v.At("hostname").Str())
	r.Identities = []model.Identity{{By: "vmid", Value: id}}
	if uuid := v.At("smbios1", "uuid").Str(); uuid != "" {
		r.Identities = append(r.Identities, model.Identity{By: "uuid", Value: uuid})
	}
	for _, n := range readGuest(v).nics() {
		r.Identities = append(r.Identities, model.Identity{By: "mac", Value: n.mac})
	}
	r.Identities = append(r.Identities, model.Identity{By: "name", Value: strings.ToLower(r.Name)})
	return r
}

func pve(guests ...model.Resource) model.Snapshot {
	return model.Snapshot{Source: "pve", Resources: guests, Coverage: []model.Coverage{{Source: "pve", Complete: true}}}
}

func estate() declared.Env {
	return declared.Env{Name: "intent", Governs: []string{"pve"}, Types: map[string]string{"pve": "proxmox", "netbox": "netbox"}}
}

// derive derives a declaration from s. edit, which may be nil, changes the settings.
func derive(t testing.TB, env declared.Env, s model.Snapshot, edit func(*Config)) model.Declaration {
	t.Helper()
	d, err := Definition().Derive(env, func(into any) error {
		config := into.(*Config)
		config.Source = "netbox"
		if edit != nil {
			edit(config)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	declaration, err := d.Derive(s)
	if err != nil {
		t.Fatal(err)
	}
	return declaration
}

// outcomes compares d with live and returns the outcomes as lines.
func outcomes(d model.Declaration, live model.Snapshot) []string {
	var lines []string
	for _, s := range match.Match(live, []model.Declaration{d}) {
		for _, o := range diff.Compare(&s, diff.Options{}) {
			for _, c := range o.Changes {
				lines = append(lines, fmt.Sprintf("%s %s %s: %s, live %s", o.Verdict, c.Path, c.LivePath, side(c.Declared), side(c.Live)))
			}
			if len(o.Changes) == 0 {
				lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", o.Verdict, s.ID, o.Reason)))
			}
		}
	}
	return lines
}

func side(v *model.Value) string {
	if v == nil {
		return "-"
	}
	return string(v.AppendJSON(nil))
}

func at(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }
