package netbox

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/model"
)

// summarize returns the source and the identities of each claim as lines, and the problems.
func summarize(d model.Declaration) []string {
	var lines []string
	for _, c := range d.Claims {
		line := c.Source + " " + c.Kind + " " + c.ID
		for _, id := range c.Identities {
			line += " " + id.By + "=" + id.Value
		}
		if c.MayBeAbsent {
			line += " may be absent"
		}
		if c.Cohort != "" {
			line += " uncertain"
		}
		lines = append(lines, line)
	}
	for _, p := range d.Problems {
		lines = append(lines, p.Address+": "+p.Reason)
	}
	return lines
}

func TestGuestIdentities(t *testing.T) {
	t.Parallel()
	const uuid = "8A6B1C2D-0000-4000-8000-00000000000A"
	tests := []struct {
		reason, netbox string
		config         func(*Config)
		want           []string
	}{
		{reason: "all identities, the most certain first",
			netbox: `virtualization.virtualmachine 6 {"name":"App-01","serial":"` + uuid + `","custom_fields":{"vm_id":"101"}}
virtualization.vminterface 1 {"virtual_machine":6,"mac_address":"bc:24:11:00:00:01"}
virtualization.vminterface 2 {"virtual_machine":6,"mac_address":"BC:24:11:00:00:02"}`,
			want: []string{"pve proxmox/qemu App-01 (NetBox VM 6) vmid=101 uuid=" + strings.ToLower(uuid) + " mac=BC:24:11:00:00:01 mac=BC:24:11:00:00:02 name=app-01"}},
		{reason: "the order of the settings", config: func(c *Config) { c.Identity = []string{"name", "vmid"}; c.VMIDField = "pve" },
			netbox: `virtualization.virtualmachine 6 {"name":"a","serial":"` + uuid + `","custom_fields":{"pve":101,"vmid":5}}`,
			want:   []string{"pve proxmox/qemu a (NetBox VM 6) name=a vmid=101"}},
		{reason: "malformed identities are left out",
			netbox: `virtualization.virtualmachine 6 {"name":"a","serial":"SN-1","custom_fields":{"vmid":"n/a","uuid":"00000000-0000-0000-0000-000000000000"}}
virtualization.vminterface 1 {"virtual_machine":6,"mac_address":"00:00:00:00:00:00"}`,
			want: []string{"pve proxmox/qemu a (NetBox VM 6) name=a"}},
		{reason: "a custom field takes precedence over the serial number",
			netbox: `virtualization.virtualmachine 6 {"serial":"` + uuid + `","custom_fields":{"proxmox_uuid":"11111111-2222-3333-4444-555555555555"}}`,
			want:   []string{"pve proxmox/qemu NetBox VM 6 uuid=11111111-2222-3333-4444-555555555555"}},
		{reason: "a planned machine may be absent",
			netbox: "virtualization.virtualmachine 6 {\"name\":\"a/b ☃\",\"status\":\"planned\"}\nvirtualization.virtualmachine 7 {\"name\":\"c\",\"status\":\"offline\"}",
			want:   []string{"pve proxmox/qemu a/b ☃ (NetBox VM 6) name=a/b ☃ may be absent", "pve proxmox/qemu c (NetBox VM 7) name=c"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			if diff := gocmp.Diff(test.want, summarize(derive(t, estate(), netbox(t, test.netbox), test.config))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlacementProxmox(t *testing.T) {
	t.Parallel()
	const (
		a        = "virtualization.virtualmachine 1 {\"name\":\"a\",\"cluster\":1}\nvirtualization.cluster 1 {\"name\":\"PVE\",\"type\":1}\n"
		b        = "virtualization.virtualmachine 2 {\"name\":\"b\",\"cluster\":2}\nvirtualization.cluster 2 {\"name\":\"lab\",\"type\":2}\n"
		unplaced = "virtualization.virtualmachine 3 {\"name\":\"c\"}\n"
		kvm      = "virtualization.clustertype 1 {\"name\":\"KVM\"}\nvirtualization.clustertype 2 {\"name\":\"VMware\"}\n"
		both     = "virtualization.virtualmachine 4 {\"name\":\"d\",\"cluster\":3}\nvirtualization.cluster 3 {\"name\":\"west\",\"type\":2}\n"
		proxmox2 = "virtualization.clustertype 1 {\"name\":\"Proxmox VE\"}\nvirtualization.clustertype 2 {\"name\":\"Proxmox too\"}\n"
		typed    = "virtualization.clustertype 1 {\"name\":\"Hypervisor\",\"slug\":\"pve-8\"}\nvirtualization.clustertype 2 {\"name\":\"VMware\"}\n"
	)
	guest := func(source, name string, id int) string {
		return fmt.Sprintf("%s proxmox/qemu %s (NetBox VM %d) name=%s", source, name, id, name)
	}
	tests := []struct {
		reason, netbox string
		governs        []string
		config         func(*Config)
		want           []string
	}{
		{reason: "one source, no type names Proxmox: the only cluster, and machines without one", netbox: b + unplaced + kvm,
			want: []string{guest("pve", "b", 2), guest("pve", "c", 3)}},
		{reason: "one source: the cluster with its name", netbox: a + b + unplaced + kvm,
			want: []string{guest("pve", "a", 1), guest("pve", "c", 3) + " uncertain"}},
		{reason: "one source: the Proxmox cluster with its name", netbox: a + both + proxmox2, want: []string{guest("pve", "a", 1)}},
		{reason: "one source: several Proxmox clusters are uncertain", netbox: b + both + proxmox2,
			want: []string{guest("pve", "b", 2) + " uncertain", guest("pve", "d", 4) + " uncertain"}},
		{reason: "one source, a type names Proxmox: other types have no source", netbox: a + b + unplaced + typed, want: []string{guest("pve", "a", 1), guest("pve", "c", 3) + " uncertain"}},
		{reason: "a machine without a cluster is in that of its device",
			netbox: a + typed + "dcim.device 9 {\"name\":\"h\",\"cluster\":1}\nvirtualization.virtualmachine 3 {\"name\":\"c\",\"device\":9}",
			want:   []string{guest("pve", "a", 1), guest("pve", "c", 3)}},
		{reason: "several sources: a cluster without a source's name", netbox: a + b + kvm, governs: []string{"pve", "west"},
			want: []string{guest("pve", "a", 1), `clusters/2: cluster "lab" may be any of several governed sources; set clusters: {"lab": pve or west}`}},
		{reason: "several sources: a cluster of another hypervisor has no source", netbox: a + b + typed, governs: []string{"pve", "west"}, want: []string{guest("pve", "a", 1)}},
		{reason: "several sources: a machine without a cluster", netbox: a + unplaced + kvm, governs: []string{"pve", "west"},
			want: []string{guest("pve", "a", 1), "virtual-machines: some virtual machines have no cluster, so their source is unknown (pve or west); assign them to a cluster"}},
		{reason: "with settings names and types are not compared", netbox: a + b + unplaced + typed, governs: []string{"pve", "west"},
			config: func(c *Config) { c.Clusters = map[string]string{"LAB": "west"} }, want: []string{guest("west", "b", 2)}},
		{reason: "a configured cluster that NetBox lacks", netbox: a + typed, config: func(c *Config) { c.Clusters = map[string]string{"pve": "pve", "labb": "pve"} },
			want: []string{guest("pve", "a", 1), `clusters: setting clusters names "labb": no cluster with that name was read; correct the name, or give the token the right to view it`}},
		{reason: "a cluster that was not read", netbox: "virtualization.virtualmachine 1 {\"name\":\"a\",\"cluster\":1}",
			want: []string{guest("pve", "a", 1) + " uncertain"}},
		{reason: "a cluster type that was not read", netbox: b,
			want: []string{guest("pve", "b", 2) + " uncertain"}},
		{reason: "several sources: a cluster type that was not read", netbox: b, governs: []string{"pve", "west"},
			want: []string{`clusters/2: cluster "lab": its type or that of another cluster could not be read, so its source is unknown; give the token the right to view cluster types, or set clusters: {"lab": pve or west}`}},
		{reason: "several sources: a cluster that was not read", netbox: "virtualization.virtualmachine 1 {\"name\":\"a\",\"cluster\":1}", governs: []string{"pve", "west"},
			want: []string{"clusters/1: its name and type could not be read, so its source is unknown; give the token the right to view clusters"}},
		{reason: "a machine without a cluster, and a type that was not read", netbox: a + unplaced, want: []string{guest("pve", "a", 1), guest("pve", "c", 3) + " uncertain"}},
		{reason: "nodes of a configured cluster", netbox: b + typed + "dcim.device 5 {\"name\":\"Node-1\",\"cluster\":2,\"status\":\"planned\"}\ndcim.device 6 {\"cluster\":2}\ndcim.device 7 {\"name\":\"x\"}",
			governs: []string{"prod", "pve"}, config: func(c *Config) { c.Clusters = map[string]string{"lab": "prod"} },
			want: []string{"prod kubernetes/Node NetBox device 6", "prod kubernetes/Node b", "prod kubernetes/Node node-1 may be absent"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			env := estate()
			env.Types = map[string]string{"pve": "proxmox", "west": "proxmox", "prod": "kubernetes", "netbox": "netbox"}
			if test.governs != nil {
				env.Governs = test.governs
			}
			if diff := gocmp.Diff(test.want, summarize(derive(t, env, netbox(t, test.netbox), test.config))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnknownSourceIsNotChecked(t *testing.T) {
	t.Parallel()
	env := estate()
	env.Governs = append(env.Governs, "typo")
	config := Defaults()
	config.Source = "netbox"
	if err := config.check(env); err != nil {
		t.Error(err)
	}
}

func TestUnknownSourceTypes(t *testing.T) {
	t.Parallel()
	for name, types := range map[string]map[string]string{"a misspelt type": {"netbox": "", "pve": "proxmox"}, "no sources": {}} {
		env, config := estate(), Defaults()
		env.Types, config.Source = types, "netbox"
		if err := config.check(env); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckSettings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		reason string
		edit   func(*declared.Env, *Config)
		want   string
	}{
		{"no source of the type", func(e *declared.Env, _ *Config) { delete(e.Types, "netbox") }, "no source of type netbox is configured"},
		{"no source named", func(_ *declared.Env, c *Config) { c.Source = "" }, "setting source is missing: name the source of type netbox (netbox)"},
		{"another type of source", func(_ *declared.Env, c *Config) { c.Source = "pve" }, `setting source is "pve", which is no source of type netbox: want netbox`},
		{"nodes without a cluster", func(e *declared.Env, _ *Config) { e.Governs = []string{"prod"} }, "name the NetBox cluster of its nodes"},
		{"a type that NetBox cannot govern", func(e *declared.Env, _ *Config) { e.Governs = []string{"netbox"} }, "NetBox can govern sources of type openstack, proxmox and kubernetes"},
		{"a cluster with a source that is not governed", func(_ *declared.Env, c *Config) { c.Clusters = map[string]string{"lab": "west"} }, `setting clusters maps "lab" to "west"`},
		{"no identity", func(_ *declared.Env, c *Config) { c.Identity = nil }, "setting identity is empty"},
		{"an unknown identity", func(_ *declared.Env, c *Config) { c.Identity = []string{"slug"} }, `setting identity: unknown identity "slug"`},
		{"an identity twice", func(_ *declared.Env, c *Config) { c.Identity = []string{"mac", "mac"} }, "names mac twice"},
		{"an unknown field", func(_ *declared.Env, c *Config) { c.Ignore = []string{"ram"} }, `setting ignore: unknown field "ram"`},
		{"a malformed pattern", func(_ *declared.Env, c *Config) { c.IgnoreTags = []string{"[a"} }, `pattern "[a" is malformed`},
		{"an invalid VLAN", func(_ *declared.Env, c *Config) { c.BridgeVLANs = map[string]int64{"vmbr1": 4095} }, "vmbr1 carries VLAN 4095: want 1 to 4094"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			env := estate()
			env.Types["prod"] = "kubernetes"
			config := Defaults()
			config.Source = "netbox"
			test.edit(&env, &config)
			_, err := Definition().Derive(env, func(into any) error {
				*into.(*Config) = config
				return nil
			})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestUnreadObjectsAreNotClaimed(t *testing.T) {
	t.Parallel()
	short := func(kinds ...string) []model.Coverage {
		coverage := []model.Coverage{{Complete: true}}
		for _, kind := range kinds {
			coverage = append(coverage, model.Coverage{Kind: kind, Reason: "half"})
		}
		return coverage
	}
	without := []string{"ipam.ipaddress 20 -", "ipam.vlan 7 -", "extras.tag 1 -", "dcim.device 3 -"}
	tests := []struct {
		reason   string
		netbox   []string
		coverage []model.Coverage
		unread   []model.Unread
		lacks    []string
		want     []string
	}{
		{reason: "dangling references", netbox: without, coverage: short(),
			lacks: []string{"device", "primary_ip4"}},
		{reason: "references to objects that were not read", netbox: without, coverage: short(kindAddress, kindVLAN, kindTag, kindDevice),
			lacks: []string{"device", "primary_ip4", "tags"},
			want: []string{"netbox: not compared, because NetBox was not read completely: VLANs of one virtual machine (ipam.vlan: half); primary addresses of one virtual machine (ipam.ipaddress: half); " +
				"tags of one virtual machine (extras.tag: half); the device of one virtual machine (dcim.device: half)"}},
		{reason: "references to objects of an incomplete kind", coverage: short(kindAddress, kindVLAN, kindTag, kindDevice)},
		{reason: "interfaces and disks of an incomplete kind", coverage: short(kindInterface, kindDisk), lacks: []string{"interfaces", "disks"},
			want: []string{"netbox: not compared, because NetBox was not read completely: interfaces of one virtual machine (virtualization.vminterface: half); single disks of one virtual machine (virtualization.virtualdisk: half)"}},
		{reason: "an excluded kind is no problem", coverage: []model.Coverage{{Complete: true}, {Kind: kindInterface, Skipped: true, Reason: "excluded"}}, lacks: []string{"interfaces"}},
		{reason: "some virtual machines were not read", coverage: short(kindMachine), want: []string{"virtual-machines: not all virtual machines could be read: half"}},
		{reason: "a virtual machine that was not read", coverage: short(), unread: []model.Unread{{Ref: model.Ref{Kind: kindMachine, ID: "9"}, Reason: "deleted while read"}},
			want: []string{"virtual-machines/9: deleted while read"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			s := netbox(t, append([]string{lab}, test.netbox...)...)
			s.Coverage, s.Unread = test.coverage, test.unread
			d := derive(t, estate(), s, nil)
			var lacks []string
			for _, word := range []string{"device", "disks", "interfaces", "name", "primary_ip4", "primary_ip6", "tags"} {
				if d.Claims[0].Value.At(word).IsNull() {
					lacks = append(lacks, word)
				}
			}
			if doubt := d.Claims[0].Doubt; (doubt != "") != strings.Contains(strings.Join(test.want, ""), "interfaces of") {
				t.Errorf("doubt %q", doubt)
			}
			slices.Sort(test.lacks)
			if diff := gocmp.Diff(test.lacks, lacks); diff != "" {
				t.Error(diff)
			}
			if diff := gocmp.Diff(test.want, summarize(d)[1:], gocmp.Transformer("empty", func(l []string) []string { return append([]string{}, l...) })); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMatchGuest(t *testing.T) {
	t.Parallel()
	guest := func(id, name, node, mac string) model.Resource {
		return guestOf(kindQEMU, id, "name: "+name+"\nnode: "+node+"\nnet0: virtio="+mac)
	}
	vm := func(id, fields string) string {
		return "virtualization.virtualmachine " + id + " {" + fields + "}\n"
	}
	nic := func(vm, mac string) string {
		return "virtualization.vminterface 1" + vm + " {\"virtual_machine\":" + vm + ",\"mac_address\":\"" + mac + "\"}\n"
	}
	const m1, m2 = "BC:24:11:00:00:01", "BC:24:11:00:00:02"
	tests := []struct {
		reason, netbox string
		live           []model.Resource
		want           []string
	}{
		{reason: "a guest that was renamed and migrated",
			netbox: vm("6", `"name":"app-01","device":3`) + nic("6", m1) + "dcim.device 3 {\"name\":\"pve1\"}", live: []model.Resource{guest("101", "app-02", "pve2", m1)},
			want: []string{`moved device node: "pve1", live "pve2"`, `moved name name: "app-01", live "app-02"`}},
		{reason: "one guest only in NetBox, one only on Proxmox", netbox: vm("6", `"name":"app-01"`), live: []model.Resource{guest("101", "db-01", "pve1", m1)},
			want: []string{"unmanaged 101", "missing app-01 (NetBox VM 6)"}},
		{reason: "two machines that claim one guest", netbox: vm("6", `"name":"app-01"`) + vm("7", `"name":"b"`) + nic("7", m1),
			live: []model.Resource{guest("101", "app-01", "pve1", m1)},
			want: []string{
				"unchecked 101 ambiguous: app-01 (virtual-machines/6) and b (virtual-machines/7) claim 101 (app-01); one of them is something else",
				"unchecked 101 ambiguous: app-01 (virtual-machines/6) and b (virtual-machines/7) claim 101 (app-01); one of them is something else"}},
		{reason: "a machine that matches two guests", netbox: vm("6", `"name":"app-01"`),
			live: []model.Resource{guest("101", "app-01", "pve1", m1), guest("102", "APP-01", "pve1", m2)},
			want: []string{"unchecked app-01 (NetBox VM 6) ambiguous: 101 (app-01) and 102 (APP-01) have the same name; give it a surer identity"}},
		{reason: "a planned machine is not missing", netbox: vm("6", `"name":"app-01","status":"planned"`)},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			if diff := gocmp.Diff(test.want, outcomes(derive(t, estate(), netbox(t, test.netbox), nil), pve(test.live...))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestKubernetesNodes(t *testing.T) {
	t.Parallel()
	env := estate()
	env.Governs, env.Types = []string{"prod"}, map[string]string{"prod": "kubernetes", "netbox": "netbox"}
	snapshot := netbox(t, "virtualization.cluster 1 {\"name\":\"k8s\"}\ndcim.device 1 {\"name\":\"Node-1\",\"cluster\":1}\nvirtualization.virtualmachine 2 {\"name\":\"node-2\",\"cluster\":1}")
	snapshot.AuditEvents = []model.AuditEvent{
		{Ref: model.Ref{Kind: kindMachine, ID: "2"}, Fields: []string{"memory"}, Actor: model.Actor{Name: "bob", At: at(1)}},
		{Ref: model.Ref{Kind: kindMachine, ID: "2"}, Fields: []string{"cluster"}, Actor: model.Actor{Name: "ann", At: at(2)}}}
	d := derive(t, env, snapshot, func(c *Config) { c.Clusters = map[string]string{"k8s": "prod"} })
	owner := model.Owner{Name: "kubectl-label", Edits: true, At: at(1)}
	live := model.Snapshot{Source: "prod", Coverage: []model.Coverage{{Complete: true}}, Resources: []model.Resource{
		{Key: model.Key{Source: "prod", Kind: kindNode, ID: "node-1"}, Value: parse(t, `{"metadata":{"labels":{"zone":"a"}}}`), Owners: []model.Owner{owner}}}}
	if diff := gocmp.Diff([]string{"missing node-2"}, outcomes(d, live)); diff != "" {
		t.Error(diff)
	}
	if events := d.Claims[1].AuditEvents; len(events) != 1 || events[0].Actor.Name != "ann" {
		t.Errorf("audit events of the claim: %v", events)
	}
	snapshot.LogUnread = "grant view on core.objectchange"
	snapshot.Resources[0].WriterUnknown = "other"
	for _, c := range derive(t, env, snapshot, func(c *Config) { c.Clusters = map[string]string{"k8s": "prod"} }).Claims {
		if c.WriterUnknown != snapshot.LogUnread {
			t.Errorf("the writer of %s is unknown because %q, want %q", c.ID, c.WriterUnknown, snapshot.LogUnread)
		}
	}
}

func TestAuditEventsOfClaim(t *testing.T) {
	t.Parallel()
	s := netbox(t, lab)
	addEvent := func(kind, id string, action model.Action, second int64, fields ...string) {
		s.AuditEvents = append(s.AuditEvents, model.AuditEvent{Ref: model.Ref{Kind: kind, ID: id}, Action: action, Fields: fields,
			Actor: model.Actor{Name: fmt.Sprintf("user%d", second), At: at(second), Via: "NetBox changelog", Confidence: model.Exact}})
	}
	addEvent(kindVLAN, "9", model.Edited, 90, "vid")
	addEvent(kindMachine, "6", model.Created, 10)
	addEvent(kindMachine, "6", model.Edited, 50, "memory", "description", "tags")
	addEvent(kindMachine, "6", model.Edited, 60, "description")
	addEvent(kindMachine, "6", model.Edited, 61, "custom_fields.vmid")
	addEvent(kindMachine, "6", model.Edited, 62, "memory", "status")
	addEvent(kindInterface, "11", model.Created, 20)
	addEvent(kindInterface, "11", model.Edited, 70, "mode", "untagged_vlan", "mtu")
	addEvent(kindDisk, "2", model.Edited, 40, "size")
	addEvent(kindAddress, "20", model.Edited, 30, "address", "dns_name")
	addEvent(kindAddress, "20", model.Edited, 31, "dns_name")
	addEvent(kindMAC, "31", model.Edited, 80, "mac_address")
	addEvent(kindTag, "2", model.Edited, 85, "slug")
	addEvent(kindDevice, "3", model.Created, 5)
	addEvent(kindMachine, "6", model.Deleted, 6, "memory")
	addEvent(kindInterface, "12", model.Edited, 100, "custom_fields.bridge")
	addEvent(kindInterface, "12", model.Edited, 101, "mac_address", "primary_mac_address", "tagged_vlans", "enabled")
	addEvent(kindDisk, "1", model.Created, 102)
	addEvent(kindDisk, "1", model.Edited, 103, "name")
	addEvent(kindDevice, "3", model.Edited, 95, "name", "rack")
	c := derive(t, estate(), s, nil).Claims[0]
	var got []string
	for _, event := range c.AuditEvents {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %d %s", event.Actor.Name, event.Action, strings.Join(event.Fields, " "))))
	}
	const eth0, eth1 = "interfaces[name=eth0]", "interfaces[name=eth1]"
	want := []string{"user10 1", "user20 0 " + eth0, "user30 0 primary_ip4", "user40 0 disks[name=data].size", "user50 0 memory tags", "user61 0 custom_fields.vmid",
		"user62 0 memory status", "user62 1 status",
		"user70 0 " + eth0 + ".tagged_vlans " + eth0 + ".vlan", "user80 0 " + eth1, "user85 0 tags", "user90 0 " + eth1 + ".tagged_vlans " + eth1 + ".vlan", "user95 0 device",
		"user100 0 " + eth1 + ".bridge", "user101 0 " + eth1 + " " + eth1 + ".enabled " + eth1 + ".tagged_vlans", "user102 0 disks[name=root]", "user103 0 disks[name=root]"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !c.Since.Equal(at(103)) {
		t.Errorf("since %v", c.Since)
	}
}

// TestDeriveIgnoresOrder derives from the resources in random order.
func TestDeriveIgnoresOrder(t *testing.T) {
	t.Parallel()
	s := netbox(t, large(40))
	text := func(d model.Declaration) string {
		var b strings.Builder
		for _, c := range d.Claims {
			fmt.Fprintf(&b, "%s %s %v %s\n", c.ID, c.Source, c.Identities, c.Value.AppendJSON(nil))
		}
		return b.String()
	}
	want := text(derive(t, estate(), s, nil))
	rapid.Check(t, func(r *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		shuffled := s
		shuffled.Resources = slices.Clone(s.Resources)
		random.Shuffle(len(shuffled.Resources), func(i, j int) {
			shuffled.Resources[i], shuffled.Resources[j] = shuffled.Resources[j], shuffled.Resources[i]
		})
		if diff := gocmp.Diff(want, text(derive(t, estate(), shuffled, nil))); diff != "" {
			r.Error(diff)
		}
	})
}

// large returns a NetBox with n virtual machines, each with an interface, a disk and an
// address. Every tenth has twenty interfaces.
func large(n int) string {
	var b strings.Builder
	b.WriteString("virtualization.cluster 1 {\"name\":\"pve\"}\nextras.tag 1 {\"name\":\"Web\",\"slug\":\"web\"}\nipam.vlan 1 {\"vid\":100}\n")
	next := 1
	for vm := 1; vm <= n; vm++ {
		fmt.Fprintf(&b, "virtualization.virtualmachine %d {\"name\":\"vm-%d\",\"cluster\":1,\"status\":\"active\",\"vcpus\":2,\"memory\":2048,\"primary_ip4\":%d,\"tags\":[\"Web\"]}\n", vm, vm, vm)
		fmt.Fprintf(&b, "virtualization.virtualdisk %d {\"name\":\"root\",\"virtual_machine\":%d,\"size\":20480}\n", vm, vm)
		fmt.Fprintf(&b, "ipam.ipaddress %d {\"address\":\"10.%d.%d.5/24\",\"assigned_object_type\":\"virtualization.vminterface\",\"assigned_object_id\":%d}\n", vm, vm/250, vm%250, next)
		for range cmp.Or(map[bool]int{true: 20}[vm%10 == 0], 1) {
			fmt.Fprintf(&b, "virtualization.vminterface %d {\"name\":\"eth%d\",\"virtual_machine\":%d,\"enabled\":true,\"mode\":\"access\",\"untagged_vlan\":1,\"mac_address\":\"BC:24:11:%02X:%02X:%02X\"}\n",
				next, next, vm, next>>16, next>>8&255, next&255)
			next++
		}
	}
	return b.String()
}

func BenchmarkDerive(b *testing.B) {
	s := netbox(b, large(20_000))
	b.ReportAllocs()
	for b.Loop() {
		derive(b, estate(), s, nil)
	}
}

// FuzzDerive passes arbitrary values of an object and of a guest. Derive must not panic, and
// the claims must be comparable.
func FuzzDerive(f *testing.F) {
	s := netbox(f, lab)
	shaped := func(kind, config string) string { return string(guestOf(kind, "101", config).Value.AppendJSON(nil)) }
	for _, r := range s.Resources {
		f.Add(r.Kind, r.ID, string(r.Value.AppendJSON(nil)), shaped(kindQEMU, qemu101))
		f.Add(r.Kind, r.ID, strings.NewReplacer(":1", ":null", ":\"", ":[\"", "\",", "\"],").Replace(string(r.Value.AppendJSON(nil))), shaped(kindLXC, lxc101))
	}
	f.Add(kindMachine, "6", `{"name":7,"vcpus":"2","memory":-1,"disk":1e300,"tags":{"a":1},"custom_fields":[1],"primary_ip4":"x"}`,
		`{"memory":"1","cores":true,"net0":"x","net1":{"macaddr":5,"trunks":["9-1","0-99999"]},"scsi0":{"size":"x"},"agent_addresses":7,"tags":"a"}`)
	f.Fuzz(func(t *testing.T, kind, id, object, guest string) {
		var v, live model.Value
		if v.UnmarshalJSON([]byte(object)) != nil || live.UnmarshalJSON([]byte(guest)) != nil {
			return
		}
		resources := slices.Clone(s.Resources)
		resources = append(resources, model.Resource{Key: model.Key{Source: "netbox", Kind: kind, ID: id}, Value: v})
		snapshot := s
		snapshot.Resources = resources
		d := derive(t, estate(), snapshot, nil)
		outcomes(d, pve(resourceOf(kindQEMU, "101", live)))
		for _, c := range d.Claims {
			view := c.Lens.View(live)
			for _, list := range []string{"disks", "interfaces"} {
				for _, item := range view.At(list).Items() {
					for _, key := range []string{"name", "mac"} {
						c.Lens.LivePath(live, element(list, key, item.At(key).Str())+".size")
					}
				}
			}
		}
	})
}
