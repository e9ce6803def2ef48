package netbox

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func TestCompareGuestFields(t *testing.T) {
	t.Parallel()
	vm := func(fields string) string { return "virtualization.virtualmachine 6 {\"cluster\":1," + fields + "}" }
	tests := []struct {
		reason string
		// netbox contains lines that are added to lab. live contains pairs of old and new text
		// in the guest.
		netbox, kind string
		live         []string
		want         []string
		config       func(*Config)
	}{
		{reason: "equal machine"},
		{reason: "equal container", kind: kindLXC},
		{reason: "a different name is a move", live: []string{"name: app-01", "name: app-02"},
			want: []string{`moved name name: "app-01", live "app-02"`}},
		{reason: "a container's name is its host name", kind: kindLXC, live: []string{"hostname: app-01", "hostname: old"},
			want: []string{`moved name hostname: "app-01", live "old"`}},
		{reason: "the case of names is ignored", live: []string{"name: app-01", "name: APP-01"}},
		{reason: "a different node is a move", live: []string{"node: pve1", "node: pve2"},
			want: []string{`moved device node: "pve1.example.org", live "pve2"`}},
		{reason: "a stopped guest is not active", live: []string{"running", "stopped"},
			want: []string{`changed status status: "active", live "offline"`}},
		{reason: "a template never runs", live: []string{"status: running", "status: stopped\ntemplate: 1"}},
		{reason: "other statuses are not compared", netbox: vm(`"name":"app-01","status":"failed"`), live: []string{"running", "stopped"}},
		{reason: "sockets count", live: []string{"sockets: 2", "sockets: 1"}, want: []string{"changed vcpus cores: 4, live 2"}},
		{reason: "the default is one processor", live: []string{"cores: 2\nsockets: 2", "numa: 1"}, want: []string{"changed vcpus cores: 4, live 1"}},
		{reason: "plugged processors are compared", live: []string{"sockets: 2", "sockets: 4\nvcpus: 4"}},
		{reason: "fewer plugged processors", live: []string{"sockets: 2", "sockets: 2\nvcpus: 3"}, want: []string{"changed vcpus vcpus: 4, live 3"}},
		{reason: "a container without cores has all of the host's", kind: kindLXC, live: []string{"cores: 4\n", ""}},
		{reason: "a container's cores", kind: kindLXC, live: []string{"cores: 4", "cores: 8"}, want: []string{"changed vcpus cores: 4, live 8"}},
		{reason: "a fraction of a processor is compared with the limit", kind: kindLXC, netbox: vm(`"vcpus":1.5,"custom_fields":{"vmid":101}`), live: []string{"cores: 4", "cores: 4\ncpulimit: 2"},
			want: []string{"changed vcpus cpulimit: 1.5, live 2"}},
		{reason: "a fraction of a processor without a limit is not compared", netbox: vm(`"vcpus":1.5,"custom_fields":{"vmid":101}`)},
		{reason: "memory", live: []string{"memory: 4096", "memory: 8192"}, want: []string{"changed memory memory: 4096, live 8192"}},
		{reason: "memory with several properties", live: []string{"memory: 4096", "memory: current=8192,max=9000"}, want: []string{"changed memory memory.current: 4096, live 8192"}},
		{reason: "malformed memory is not compared", live: []string{"memory: 4096", "memory: much"}},
		{reason: "a container's memory", kind: kindLXC, live: []string{"memory: 4096", "memory: 1024"}, want: []string{"changed memory memory: 4096, live 1024"}},
		{reason: "the default memory is 512", live: []string{"memory: 4096\n", ""}, want: []string{"changed memory memory: 4096, live 512"}},
		{reason: "a disk grew, the other is paired by size", live: []string{"size=100G", "size=200G"},
			want: []string{"changed disks[name=data].size virtio3.size: 100000, live 200000"}},
		{reason: "a disk that Proxmox lacks", live: []string{"virtio3", "unused3"},
			want: []string{`changed disks[name=data] : {"name":"data","size":100000}, live -`}},
		{reason: "a disk that NetBox lacks", live: []string{"unused0: a:vm-101-disk-9", "sata1: a:vm-101-disk-9,size=1G"},
			want: []string{`undeclared disks[name=sata1] sata1: -, live {"name":"sata1","size":1024}`}},
		{reason: "a container's mount point", kind: kindLXC, live: []string{"size=100G", "size=50G"},
			want: []string{"changed disks[name=data].size mp0.size: 100000, live 50000"}},
		{reason: "a disk of unknown size matches any disk", live: []string{"a:vm-101-disk-1,iothread=1,size=100G", "/dev/disk/by-id/x"}},
		{reason: "disks named by slot are paired by slot",
			netbox: "virtualization.virtualdisk 1 {\"name\":\"virtio3\",\"virtual_machine\":6,\"size\":20480}\nvirtualization.virtualdisk 2 {\"name\":\"scsi0\",\"virtual_machine\":6,\"size\":100000}",
			want:   []string{"changed disks[name=scsi0].size scsi0.size: 100000, live 20000", "changed disks[name=virtio3].size virtio3.size: 20480, live 102400"}},
		{reason: "a disk named by a slot is not paired by size",
			netbox: `virtualization.virtualdisk 2 {"name":"scsi9","virtual_machine":6,"size":102400}`,
			want:   []string{`changed disks[name=scsi9] : {"name":"scsi9","size":102400}, live -`, `undeclared disks[name=virtio3] virtio3: -, live {"name":"virtio3","size":102400}`}},
		{reason: "without virtual disks the sum is compared",
			netbox: "virtualization.virtualdisk 1 -\nvirtualization.virtualdisk 2 -\n" + vm(`"disk":122880,"custom_fields":{"vmid":101}`)},
		{reason: "the sum differs",
			netbox: "virtualization.virtualdisk 1 -\nvirtualization.virtualdisk 2 -\n" + vm(`"disk":20000,"custom_fields":{"vmid":101}`),
			want:   []string{"changed disk : 20000, live 120000"}},
		{reason: "the sum of one disk has the path of the disk",
			netbox: "virtualization.virtualdisk 1 -\nvirtualization.virtualdisk 2 -\n" + vm(`"disk":20000,"custom_fields":{"vmid":101}`), live: []string{"virtio3", "unused3", "size=20G", "size=30G"},
			want: []string{"changed disk scsi0.size: 20000, live 30000"}},
		{reason: "a sum with an unknown size is not compared", live: []string{"a:vm-101-disk-1,iothread=1,size=100G", "/dev/disk/by-id/x"},
			netbox: "virtualization.virtualdisk 1 -\nvirtualization.virtualdisk 2 -\n" + vm(`"disk":20000,"custom_fields":{"vmid":101}`)},
		{reason: "a different VLAN", live: []string{"tag=100", "tag=300"}, want: []string{"changed interfaces[name=eth0].vlan net0.tag: 100, live 300"}},
		{reason: "a VLAN that Proxmox lacks", live: []string{",tag=100", ""}, want: []string{"changed interfaces[name=eth0].vlan net0.tag: 100, live -"}},
		{reason: "the VLAN of the bridge needs no tag", live: []string{",tag=100", ""},
			config: func(c *Config) { c.BridgeVLANs = map[string]int64{"vmbr0": 100} }},
		{reason: "a VLAN that NetBox lacks", live: []string{"trunks", "tag=5,trunks"}, want: []string{"changed interfaces[name=eth1].vlan net1.tag: 0, live 5"}},
		{reason: "different tagged VLANs", live: []string{"200-201", "200-202"}, want: []string{"changed interfaces[name=eth1].tagged_vlans net1.trunks: [200,201], live [200,201,202]"}},
		{reason: "a different bridge", live: []string{"bridge=vmbr0", "bridge=vmbr9"}, want: []string{`changed interfaces[name=eth0].bridge net0.bridge: "vmbr0", live "vmbr9"`}},
		{reason: "a disabled device", live: []string{"tag=100", "tag=100,link_down=1"}, want: []string{"changed interfaces[name=eth0].enabled net0.link_down: true, live false"}},
		{reason: "a device that NetBox lacks", live: []string{"net1", "net2: virtio=BC:24:11:00:00:09,bridge=vmbr7\nnet1"},
			want: []string{`undeclared interfaces[name=net2] net2: -, live {"bridge":"vmbr7","enabled":true,"mac":"BC:24:11:00:00:09","name":"net2"}`}},
		{reason: "a device that Proxmox lacks", live: []string{"net1", "gone"},
			want: []string{`changed interfaces[name=eth1] : {"enabled":true,"mac":"BC:24:11:00:00:02","name":"eth1","tagged_vlans":[200,201],"vlan":0}, live -`}},
		{reason: "an interface without mode and VLAN is not compared by VLAN",
			netbox: `virtualization.vminterface 11 {"name":"eth0","virtual_machine":6,"enabled":true,"mac_address":"bc-24-11-00-00-01"}`, live: []string{"tag=100", "tag=300"}},
		{reason: "without any MAC address interfaces are not compared",
			netbox: "virtualization.vminterface 11 {\"name\":\"eth0\",\"virtual_machine\":6}\nvirtualization.vminterface 12 -", live: []string{"tag=100", "tag=300"}},
		{reason: "a guest without a node is not compared by node", live: []string{"node: pve1\n", ""}},
		{reason: "an interface without a MAC address matches any device",
			netbox: `virtualization.vminterface 12 {"name":"eth1","virtual_machine":6,"mode":"access","untagged_vlan":7}`},
		{reason: "a different address", live: []string{"ip=10.0.0.5/24", "ip=10.0.0.6/24"}, want: []string{`changed primary_ip4 ipconfig0.ip: "10.0.0.5/24", live "10.0.0.6/24"`}},
		{reason: "a different address of a container", kind: kindLXC, live: []string{"ip=10.0.0.5/24", "ip=10.0.0.6/24"}, want: []string{`changed primary_ip4 net0.ip: "10.0.0.5/24", live "10.0.0.6/24"`}},
		{reason: "the prefix length is ignored", live: []string{"ip=10.0.0.5/24", "ip=10.0.0.5/16"}},
		{reason: "a different IPv6 address", live: []string{"0::5/64", "0::6/64"}, want: []string{`changed primary_ip6 ipconfig0.ip6: "2001:db8::5/64", live "2001:db8:0::6/64"`}},
		{reason: "a DHCP address is not compared", live: []string{"ip=10.0.0.5/24", "ip=dhcp"}},
		{reason: "the guest agent reports the declared address", live: []string{"ip=10.0.0.5/24", "ip=dhcp", "tags", "agent_addresses: 127.0.0.1/8 fe80::1/64 10.0.0.5/24\ntags"}},
		{reason: "the guest agent reports a different address", live: []string{"ip=10.0.0.5/24", "ip=dhcp", "tags", "agent_addresses: 127.0.0.1/8 10.0.0.9/24\ntags"},
			want: []string{`changed primary_ip4 agent_addresses: "10.0.0.5/24", live "10.0.0.9/24"`}},
		{reason: "different tags", live: []string{"web-shop", "db"}, want: []string{`changed tags tags: ["prod","web-shop"], live ["db","prod"]`}},
		{reason: "ignored tags", live: []string{"web-shop", "web-shop;tf-1"}, config: func(c *Config) { c.IgnoreTags = []string{"TF-*"} }},
		{reason: "ignored fields", live: []string{"web-shop;", "", "tag=100", "tag=1", "memory: 4096", "memory: 16"},
			config: func(c *Config) { c.Ignore = []string{"tags", "vlan", "memory"} }},
		{reason: "fields without a value in NetBox are not compared", netbox: "virtualization.virtualdisk 1 -\nvirtualization.virtualdisk 2 -\nvirtualization.vminterface 11 -\nvirtualization.vminterface 12 -\n" + vm(`"custom_fields":{"vmid":101}`)},
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
		{reason: "without a primary MAC address any of them matches", netbox: eth0(`"mac_addresses":[32,33]`), mac: "BC:24:11:00:00:04"},
		{reason: "a secondary MAC address is not undeclared",
			netbox: eth0(`"mac_address":"BC:24:11:00:00:03","primary_mac_address":32,"mac_addresses":[32,33]`), mac: "BC:24:11:00:00:04",
			want: []string{`changed interfaces[name=eth0].mac net0.macaddr: "BC:24:11:00:00:03", live "BC:24:11:00:00:04"`}},
		{reason: "a bridge inside the guest has no device", mac: "BC:24:11:00:00:03",
			netbox: eth0(`"mac_address":"BC:24:11:00:00:03","bridge":10`) + "\nvirtualization.vminterface 10 {\"name\":\"br0\",\"virtual_machine\":6,\"mac_address\":\"BC:24:11:00:00:0A\"}"},
		{reason: "an unread MAC address matches any device", netbox: eth0(`"mac_address":"BC:24:11:00:00:03","mac_addresses":[32,99]`), mac: "BC:24:11:00:00:09",
			want: []string{`changed interfaces[name=eth0] : {"mac":"BC:24:11:00:00:03","name":"eth0"}, live -`}},
		{reason: "an interface that the guest creates has no device", mac: "BC:24:11:00:00:03",
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

func TestLiveValueOfGuest(t *testing.T) {
	t.Parallel()
	const nic = "interfaces[name=eth0]"
	tests := []struct{ reason, path, declared, want string }{
		{"memory", "memory", "4096", "4096"},
		{"active is running", "status", `"active"`, `"running"`},
		{"offline is stopped", "status", `"offline"`, `"stopped"`},
		{"a node without its domain", "device", `"pve1.example.org"`, `"pve1"`},
		{"GiB", "disks[name=root].size", "20480", "21474836480"},
		{"GiB times 1000", `disks[name="a,b"].size`, "20000", "21474836480"},
		{"a VLAN", nic + ".vlan", "100", "100"},
		{"no VLAN", nic + ".vlan", "0", "null"},
		{"enabled is link_down=0", nic + ".enabled", "true", "false"},
		{"tags", "tags", `["a"]`, `["a"]`},
		{"cores for each socket", "vcpus", "6", "3"},
		{"no whole number of cores", "vcpus", "5", `"5/2"`},
		{"a fraction of a processor is unknown", "vcpus", "2.5", ""},
		{"a whole disk", "disks[name=root]", `{"size":1}`, ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			value, known := (&lens{system: systemOf(proxmox)}).LiveValue(parse(t, `{"cores":1,"sockets":2}`), test.path, parse(t, test.declared))
			got := ""
			if known {
				got = string(value.AppendJSON(nil))
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestObject checks that addresses of claims name objects of NetBox.
func TestObject(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]model.Ref{
		"virtual-machines/6": {Kind: kindMachine, ID: "6"}, "devices/7": {Kind: kindDevice, ID: "7"}, "virtual-machines": {}, "virtual-machines/": {}, "clusters/1": {}, "netbox": {}, "": {},
	} {
		got, ok := (&deriver{}).Object(address)
		if ok != (want.ID != "") || ok && got != want {
			t.Errorf("%q names %+v, %v, want %+v", address, got, ok, want)
		}
	}
}

func TestDeriveEmptySnapshot(t *testing.T) {
	t.Parallel()
	d := derive(t, estate(), netbox(t), nil)
	want := model.Declaration{Name: "intent", Governs: []string{"pve"}, Inventory: true, Claims: []model.Claim{}, Scopes: []model.Scope{{Kind: kindLXC}, {Kind: kindQEMU}}}
	if diff := gocmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
}
