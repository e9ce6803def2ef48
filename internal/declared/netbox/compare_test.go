package netbox

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func TestEachFieldThatDiffersIsFound(t *testing.T) {
	t.Parallel()
	vm := func(fields string) string { return "virtualization.virtualmachine 6 {\"cluster\":1," + fields + "}" }
	tests := []struct {
		reason string
		// netbox are lines over lab, live replaces text in the guest.
		netbox, kind string
		live         []string
		want         []string
		config       func(*Config)
	}{
		{reason: "a machine in agreement gives nothing"},
		{reason: "a container in agreement gives nothing", kind: kindLXC},
		{reason: "another name is a move", live: []string{"name: app-01", "name: app-02"},
			want: []string{`moved name name: "app-01", live "app-02"`}},
		{reason: "a container's name is its host name", kind: kindLXC, live: []string{"hostname: app-01", "hostname: old"},
			want: []string{`moved name hostname: "app-01", live "old"`}},
		{reason: "names differ in more than case", live: []string{"name: app-01", "name: APP-01"}},
		{reason: "another host is a move", live: []string{"node: pve1", "node: pve2"},
			want: []string{`moved device node: "pve1.example.org", live "pve2"`}},
		{reason: "a stopped guest is not active", live: []string{"running", "stopped"},
			want: []string{`changed status status: "active", live "offline"`}},
		{reason: "a template never runs", live: []string{"status: running", "status: stopped\ntemplate: 1"}},
		{reason: "other statuses do not say whether it runs", netbox: vm(`"name":"app-01","status":"failed"`), live: []string{"running", "stopped"}},
		{reason: "sockets count", live: []string{"sockets: 2", "sockets: 1"}, want: []string{"changed vcpus cores: 4, live 2"}},
		{reason: "processors are one where nothing is said", live: []string{"cores: 2\nsockets: 2", "numa: 1"}, want: []string{"changed vcpus cores: 4, live 1"}},
		{reason: "of what could be plugged, what is plugged counts", live: []string{"sockets: 2", "sockets: 4\nvcpus: 4"}},
		{reason: "fewer are plugged", live: []string{"sockets: 2", "sockets: 2\nvcpus: 3"}, want: []string{"changed vcpus vcpus: 4, live 3"}},
		{reason: "a container without cores has all of the host's", kind: kindLXC, live: []string{"cores: 4\n", ""}},
		{reason: "a container's cores", kind: kindLXC, live: []string{"cores: 4", "cores: 8"}, want: []string{"changed vcpus cores: 4, live 8"}},
		{reason: "part of a processor is a limit", kind: kindLXC, netbox: vm(`"vcpus":1.5,"custom_fields":{"vmid":101}`), live: []string{"cores: 4", "cores: 4\ncpulimit: 2"},
			want: []string{"changed vcpus cpulimit: 1.5, live 2"}},
		{reason: "part of a processor without a limit cannot be compared", netbox: vm(`"vcpus":1.5,"custom_fields":{"vmid":101}`)},
		{reason: "memory", live: []string{"memory: 4096", "memory: 8192"}, want: []string{"changed memory memory: 4096, live 8192"}},
		{reason: "memory of a version that says more of it", live: []string{"memory: 4096", "memory: current=8192,max=9000"}, want: []string{"changed memory memory.current: 4096, live 8192"}},
		{reason: "memory that makes no sense is not compared", live: []string{"memory: 4096", "memory: much"}},
		{reason: "a container's memory", kind: kindLXC, live: []string{"memory: 4096", "memory: 1024"}, want: []string{"changed memory memory: 4096, live 1024"}},
		{reason: "memory is 512 where nothing is said", live: []string{"memory: 4096\n", ""}, want: []string{"changed memory memory: 4096, live 512"}},
		{reason: "a disk grew: the one of its size is the other", live: []string{"size=100G", "size=200G"},
			want: []string{"changed disks[name=data].size virtio3.size: 100000, live 200000"}},
		{reason: "a disk is gone", live: []string{"virtio3", "unused3"},
			want: []string{`changed disks[name=data] : {"name":"data","size":100000}, live -`}},
		{reason: "a disk that NetBox does not know", live: []string{"unused0: a:vm-101-disk-9", "sata1: a:vm-101-disk-9,size=1G"},
			want: []string{`undeclared disks[name=sata1] sata1: -, live {"name":"sata1","size":1024}`}},
		{reason: "a container's mount point", kind: kindLXC, live: []string{"size=100G", "size=50G"},
			want: []string{"changed disks[name=data].size mp0.size: 100000, live 50000"}},
		{reason: "a disk of unknown size may be any", live: []string{"a:vm-101-disk-1,iothread=1,size=100G", "/dev/disk/by-id/x"}},
		{reason: "disks named by slot are paired by slot",
			netbox: "virtualization.virtualdisk 1 {\"name\":\"virtio3\",\"virtual_machine\":6,\"size\":20480}\nvirtualization.virtualdisk 2 {\"name\":\"scsi0\",\"virtual_machine\":6,\"size\":100000}",
			want:   []string{"changed disks[name=scsi0].size scsi0.size: 100000, live 20000", "changed disks[name=virtio3].size virtio3.size: 20480, live 102400"}},
		{reason: "a slot is its own disk, whatever size another has",
			netbox: `virtualization.virtualdisk 2 {"name":"scsi9","virtual_machine":6,"size":102400}`,
			want:   []string{`changed disks[name=scsi9] : {"name":"scsi9","size":102400}, live -`, `undeclared disks[name=virtio3] virtio3: -, live {"name":"virtio3","size":102400}`}},
		{reason: "without virtual disks the sum counts",
			netbox: "virtualization.virtualdisk 1 -\nvirtualization.virtualdisk 2 -\n" + vm(`"disk":122880,"custom_fields":{"vmid":101}`)},
		{reason: "the sum differs",
			netbox: "virtualization.virtualdisk 1 -\nvirtualization.virtualdisk 2 -\n" + vm(`"disk":20000,"custom_fields":{"vmid":101}`),
			want:   []string{"changed disk : 20000, live 120000"}},
		{reason: "the sum of one disk is that disk",
			netbox: "virtualization.virtualdisk 1 -\nvirtualization.virtualdisk 2 -\n" + vm(`"disk":20000,"custom_fields":{"vmid":101}`), live: []string{"virtio3", "unused3", "size=20G", "size=30G"},
			want: []string{"changed disk scsi0.size: 20000, live 30000"}},
		{reason: "a sum with a part of unknown size is none", live: []string{"a:vm-101-disk-1,iothread=1,size=100G", "/dev/disk/by-id/x"},
			netbox: "virtualization.virtualdisk 1 -\nvirtualization.virtualdisk 2 -\n" + vm(`"disk":20000,"custom_fields":{"vmid":101}`)},
		{reason: "another VLAN", live: []string{"tag=100", "tag=300"}, want: []string{"changed interfaces[mac=BC:24:11:00:00:01].vlan net0.tag: 100, live 300"}},
		{reason: "no VLAN where NetBox has one", live: []string{",tag=100", ""}, want: []string{"changed interfaces[mac=BC:24:11:00:00:01].vlan net0.tag: 100, live -"}},
		{reason: "a bridge that carries the VLAN needs no tag", live: []string{",tag=100", ""},
			config: func(c *Config) { c.BridgeVLANs = map[string]int64{"vmbr0": 100} }},
		{reason: "a VLAN where NetBox has none", live: []string{"trunks", "tag=5,trunks"}, want: []string{"changed interfaces[mac=BC:24:11:00:00:02].vlan net1.tag: 0, live 5"}},
		{reason: "other tagged VLANs", live: []string{"200-201", "200-202"}, want: []string{"changed interfaces[mac=BC:24:11:00:00:02].tagged_vlans net1.trunks: [200,201], live [200,201,202]"}},
		{reason: "another bridge", live: []string{"bridge=vmbr0", "bridge=vmbr9"}, want: []string{`changed interfaces[mac=BC:24:11:00:00:01].bridge net0.bridge: "vmbr0", live "vmbr9"`}},
		{reason: "an unplugged cable", live: []string{"tag=100", "tag=100,link_down=1"}, want: []string{"changed interfaces[mac=BC:24:11:00:00:01].enabled net0.link_down: true, live false"}},
		{reason: "a device that NetBox does not know", live: []string{"net1", "net2: virtio=BC:24:11:00:00:09,bridge=vmbr7\nnet1"},
			want: []string{`undeclared interfaces[mac=BC:24:11:00:00:09] net2: -, live {"bridge":"vmbr7","enabled":true,"mac":"BC:24:11:00:00:09"}`}},
		{reason: "a device is gone", live: []string{"net1", "gone"},
			want: []string{`changed interfaces[mac=BC:24:11:00:00:02] : {"enabled":true,"mac":"BC:24:11:00:00:02","name":"eth1","tagged_vlans":[200,201],"vlan":0}, live -`}},
		{reason: "an interface without mode and VLAN says nothing of VLANs",
			netbox: `virtualization.vminterface 11 {"name":"eth0","virtual_machine":6,"enabled":true,"mac_address":"bc-24-11-00-00-01"}`, live: []string{"tag=100", "tag=300"}},
		{reason: "without any MAC address interfaces are not compared",
			netbox: "virtualization.vminterface 11 {\"name\":\"eth0\",\"virtual_machine\":6}\nvirtualization.vminterface 12 -", live: []string{"tag=100", "tag=300"}},
		{reason: "a guest that tells nothing of its host lies anywhere", live: []string{"node: pve1\n", ""}},
		{reason: "an interface without a MAC address may be any device",
			netbox: `virtualization.vminterface 12 {"name":"eth1","virtual_machine":6,"mode":"access","untagged_vlan":7}`},
		{reason: "another address", live: []string{"ip=10.0.0.5/24", "ip=10.0.0.6/24"}, want: []string{`changed primary_ip4 ipconfig0.ip: "10.0.0.5/24", live "10.0.0.6/24"`}},
		{reason: "another address of a container", kind: kindLXC, live: []string{"ip=10.0.0.5/24", "ip=10.0.0.6/24"}, want: []string{`changed primary_ip4 net0.ip: "10.0.0.5/24", live "10.0.0.6/24"`}},
		{reason: "the mask does not count", live: []string{"ip=10.0.0.5/24", "ip=10.0.0.5/16"}},
		{reason: "another IPv6 address", live: []string{"0::5/64", "0::6/64"}, want: []string{`changed primary_ip6 ipconfig0.ip6: "2001:db8::5/64", live "2001:db8:0::6/64"`}},
		{reason: "who leases an address is not known", live: []string{"ip=10.0.0.5/24", "ip=dhcp"}},
		{reason: "the guest tells a leased address", live: []string{"ip=10.0.0.5/24", "ip=dhcp", "tags", "agent_addresses: 127.0.0.1/8 fe80::1/64 10.0.0.5/24\ntags"}},
		{reason: "the guest tells another leased address", live: []string{"ip=10.0.0.5/24", "ip=dhcp", "tags", "agent_addresses: 127.0.0.1/8 10.0.0.9/24\ntags"},
			want: []string{`changed primary_ip4 agent_addresses: "10.0.0.5/24", live "10.0.0.9/24"`}},
		{reason: "other tags", live: []string{"web-shop", "db"}, want: []string{`changed tags tags: ["prod","web-shop"], live ["db","prod"]`}},
		{reason: "tags that one side has on purpose", live: []string{"web-shop", "web-shop;tf-1"}, config: func(c *Config) { c.IgnoreTags = []string{"TF-*"} }},
		{reason: "words that are ignored", live: []string{"web-shop;", "", "tag=100", "tag=1", "memory: 4096", "memory: 16"},
			config: func(c *Config) { c.Ignore = []string{"tags", "vlan", "memory"} }},
		{reason: "what NetBox does not say is left to Proxmox", netbox: "virtualization.virtualdisk 1 -\nvirtualization.virtualdisk 2 -\nvirtualization.vminterface 11 -\nvirtualization.vminterface 12 -\n" + vm(`"custom_fields":{"vmid":101}`)},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			kind, text := kindQEMU, qemu101
			if test.kind == kindLXC {
				kind, text = kindLXC, lxc101
			}
			for i := 0; i+1 < len(test.live); i += 2 {
				if !strings.Contains(text, test.live[i]) {
					t.Fatalf("the guest has no %s", test.live[i])
				}
				text = strings.Replace(text, test.live[i], test.live[i+1], 1)
			}
			d := derive(t, estate(), netbox(t, lab, test.netbox), test.config)
			if len(d.Problems) > 0 {
				t.Fatal(d.Problems)
			}
			if diff := gocmp.Diff(test.want, outcomes(d, pve(guestOf(kind, "101", text)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMACAddressesOfOneInterface(t *testing.T) {
	t.Parallel()
	const others = "\ndcim.macaddress 32 {\"mac_address\":\"BC:24:11:00:00:03\"}\ndcim.macaddress 33 {\"mac_address\":\"BC:24:11:00:00:04\"}\n"
	eth0 := func(fields string) string {
		return others + "virtualization.vminterface 12 -\nvirtualization.vminterface 11 {\"name\":\"eth0\",\"virtual_machine\":6," + fields + "}"
	}
	live := func(mac string) string {
		return "name: app-01\nnode: pve1\nnet0: virtio=" + mac
	}
	tests := []struct {
		reason, netbox, mac string
		want                []string
	}{
		{reason: "of several none is the primary one: any will do", netbox: eth0(`"mac_addresses":[32,33]`), mac: "BC:24:11:00:00:04"},
		{reason: "the primary one counts, and its neighbour is no stranger",
			netbox: eth0(`"mac_address":"BC:24:11:00:00:03","primary_mac_address":32,"mac_addresses":[32,33]`), mac: "BC:24:11:00:00:04",
			want: []string{`changed interfaces[mac=BC:24:11:00:00:03] : {"mac":"BC:24:11:00:00:03","name":"eth0"}, live -`}},
		{reason: "a bridge inside the guest has no device", mac: "BC:24:11:00:00:03",
			netbox: eth0(`"mac_address":"BC:24:11:00:00:03","bridge":10`) + "\nvirtualization.vminterface 10 {\"name\":\"br0\",\"virtual_machine\":6,\"mac_address\":\"BC:24:11:00:00:0A\"}"},
		{reason: "a MAC address that is not seen may be any", netbox: eth0(`"mac_address":"BC:24:11:00:00:03","mac_addresses":[32,99]`), mac: "BC:24:11:00:00:09",
			want: []string{`changed interfaces[mac=BC:24:11:00:00:03] : {"mac":"BC:24:11:00:00:03","name":"eth0"}, live -`}},
		{reason: "what the guest makes for itself has no device", mac: "BC:24:11:00:00:03",
			netbox: eth0(`"mac_address":"BC:24:11:00:00:03"`) + "\nvirtualization.vminterface 10 {\"name\":\"eth0.5\",\"virtual_machine\":6,\"parent\":11,\"mode\":\"access\",\"mac_address\":\"BC:24:11:00:00:03\"}"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			vm := `virtualization.virtualmachine 6 {"name":"app-01","cluster":1,"custom_fields":{"vmid":101}}`
			d := derive(t, estate(), netbox(t, lab, vm, "virtualization.virtualdisk 1 -\nvirtualization.virtualdisk 2 -", test.netbox), nil)
			if diff := gocmp.Diff(test.want, outcomes(d, pve(guestOf(kindQEMU, "101", live(test.mac))))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDeclaresTurnsWordsRound(t *testing.T) {
	t.Parallel()
	const nic = "interfaces[mac=BC:24:11:00:00:01]"
	tests := []struct{ reason, path, says, want string }{
		{"memory is what Proxmox has", "memory", "4096", "4096"},
		{"active runs", "status", `"active"`, `"running"`},
		{"offline does not", "status", `"offline"`, `"stopped"`},
		{"a host has no domain there", "device", `"pve1.example.org"`, `"pve1"`},
		{"GiB", "disks[name=root].size", "20480", "21474836480"},
		{"GiB times 1000", `disks[name="a,b"].size`, "20000", "21474836480"},
		{"a VLAN", nic + ".vlan", "100", "100"},
		{"no VLAN", nic + ".vlan", "0", "null"},
		{"enabled is not down", nic + ".enabled", "true", "false"},
		{"tags", "tags", `["a"]`, `["a"]`},
		{"processors are cores of each socket", "vcpus", "6", "3"},
		{"no number of cores makes so many", "vcpus", "5", `"5/2"`},
		{"a part of a processor nothing tells", "vcpus", "2.5", ""},
		{"a whole disk", "disks[name=root]", `{"size":1}`, ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			means, known := (&lens{system: systemOf(proxmox)}).LiveValue(parse(t, `{"cores":1,"sockets":2}`), test.path, parse(t, test.says))
			got := ""
			if known {
				got = string(means.AppendJSON(nil))
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestNothingComesOfNothing(t *testing.T) {
	t.Parallel()
	d := derive(t, estate(), netbox(t), nil)
	want := model.Declaration{Name: "intent", Governs: []string{"pve"}, Inventory: true, Claims: []model.Claim{}, Scopes: []model.Scope{{Kind: kindLXC}, {Kind: kindQEMU}}}
	if diff := gocmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
}
