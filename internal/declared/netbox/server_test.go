package netbox

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/model"
)

// The IDs of the servers and volumes in tests.
const (
	web1 = "0c5a2a52-6d0f-4f0e-9d0a-3f6f2f0b7a01"
	web2 = "0c5a2a52-6d0f-4f0e-9d0a-3f6f2f0b7a02"
	disk = "7b1d0c4e-2222-4a6b-8b8b-000000000001"
)

// shop is a NetBox with one virtual machine, web-1, in one OpenStack cloud.
const shop = `
virtualization.clustertype 1 {"name":"OpenStack","slug":"openstack"}
virtualization.cluster 1 {"name":"Berlin","type":1}
tenancy.tenant 4 {"name":"Shop"}
extras.tag 1 {"name":"Front End","slug":"front-end"}
ipam.ipaddress 20 {"address":"10.0.0.5/24","assigned_object_type":"virtualization.vminterface","assigned_object_id":11}
ipam.ipaddress 21 {"address":"2001:db8::5/64","assigned_object_type":"virtualization.vminterface","assigned_object_id":11}
ipam.ipaddress 22 {"address":"203.0.113.5/32","nat_inside":20}
virtualization.virtualmachine 6 {"name":"web-1","cluster":1,"tenant":4,"device":3,"status":"active","vcpus":2,"memory":4096,"disk":20480,"primary_ip4":20,"primary_ip6":21,"tags":["Front End"],"custom_fields":{"uuid":"` + web1 + `"}}
dcim.device 3 {"name":"compute-1"}
virtualization.vminterface 11 {"name":"eth0","virtual_machine":6,"enabled":true,"mode":"access","untagged_vlan":7,"mac_address":"FA:16:3E:00:00:01"}
virtualization.vminterface 12 {"name":"eth1","virtual_machine":6,"enabled":true,"mac_address":"FA:16:3E:00:00:02"}
ipam.vlan 7 {"vid":100}
`

// server1 is the server of shop as the OpenStack collector reads it.
const server1 = `{"name":"web-1","vm_state":"active","flavor":"f1","flavor_name":"m1.medium","flavor_vcpus":2,"flavor_ram":4096,"flavor_disk":20,
	"image":"i1","tags":["front-end"],"interfaces":[
	{"port":"p1","network":"n1","mac":"fa:16:3e:00:00:01","fixed_ips":[{"ip_address":"10.0.0.5","subnet_id":"s1"},{"ip_address":"2001:db8::5","subnet_id":"s2"}]},
	{"port":"p2","network":"n2","mac":"fa:16:3e:00:00:02","fixed_ips":[{"ip_address":"10.1.0.5","subnet_id":"s3"}]}]}`

const shopProject = "5f0e4f5a0d9b4c1c8d6d000000000001"

// serverOf returns a server with its identities.
func serverOf(t testing.TB, id, value string) model.Resource {
	t.Helper()
	r := model.Resource{Key: model.Key{Source: "cloud", Kind: kindServer, ID: id}, Place: shopProject, Value: parse(t, value)}
	r.Name = r.Value.At("name").Str()
	r.Identities = []model.Identity{{By: byUUID, Value: id}}
	for _, n := range readServer(r.Value).nics() {
		r.Identities = append(r.Identities, model.Identity{By: byMAC, Value: n.mac})
	}
	r.Identities = append(r.Identities, model.Identity{By: byName, Value: strings.ToLower(r.Name)})
	return r
}

// cloud returns a snapshot that was read with the rights of one project.
func cloud(servers ...model.Resource) model.Snapshot {
	return model.Snapshot{Source: "cloud", Home: shopProject, Resources: servers, Coverage: []model.Coverage{
		{Source: "cloud", Kind: kindServer, Place: shopProject, Complete: true},
		{Source: "cloud", Kind: kindServer, Skipped: true, Reason: "only project shop is read: set all_projects"}}}
}

// clouds returns an environment with two clouds and the Proxmox cluster of estate.
func clouds(governs ...string) declared.Env {
	env := estate()
	env.Types = map[string]string{"cloud": openstack, "west": openstack, "pve": proxmox, "netbox": Type}
	env.Governs = governs
	return env
}

func TestCompareServerFields(t *testing.T) {
	t.Parallel()
	vm := func(fields string) string {
		return `virtualization.virtualmachine 6 {"cluster":1,"custom_fields":{"uuid":"` + web1 + `"},` + fields + "}"
	}
	tests := map[string]struct {
		// netbox contains lines that are added to shop. live contains pairs of old and new
		// text in the server.
		netbox string
		live   []string
		want   []string
		config func(*Config)
	}{
		"equal":                                           {},
		"a different name is a move":                      {live: []string{`"web-1"`, `"web-9"`}, want: []string{`moved name name: "web-1", live "web-9"`}},
		"a stopped server is not active":                  {live: []string{`_state":"active`, `_state":"stopped`}, want: []string{`changed status vm_state: "active", live "offline"`}},
		"a shelved server does not run":                   {live: []string{`_state":"active`, `_state":"shelved_offloaded`}, want: []string{`changed status vm_state: "active", live "offline"`}},
		"a server in error has no status":                 {live: []string{`_state":"active`, `_state":"error`}},
		"offline in NetBox, active in OpenStack":          {netbox: vm(`"name":"web-1","status":"offline"`), want: []string{`changed status vm_state: "offline", live "active"`}},
		"a flavor with more processors":                   {live: []string{`vcpus":2`, `vcpus":4`}, want: []string{"changed vcpus flavor: 2, live 4"}},
		"a flavor with more memory":                       {live: []string{`ram":4096`, `ram":8192`}, want: []string{"changed memory flavor: 4096, live 8192"}},
		"a flavor with a larger disk":                     {live: []string{`disk":20`, `disk":40`}, want: []string{"changed disk flavor: 20480, live 40960"}},
		"a flavor that could not be read is not compared": {live: []string{`"flavor_vcpus":2,"flavor_ram":4096,"flavor_disk":20,`, ""}},
		"a flavor without a disk size is not compared":    {live: []string{`disk":20`, `disk":0`}},
		"volumes have unknown sizes":                      {live: []string{`"image":"i1"`, `"volumes":["` + disk + `"]`}},
		"the flavor's disk and a volume of unknown size":  {live: []string{`"image":"i1"`, `"image":"i1","volumes":["` + disk + `"]`}},
		"virtual disks: the disk of the flavor": {netbox: `virtualization.virtualdisk 1 {"name":"os","virtual_machine":6,"size":30720}`,
			want: []string{"changed disks[name=os].size flavor: 30720, live 20480"}},
		"virtual disks: a volume that NetBox lacks": {netbox: `virtualization.virtualdisk 1 {"name":"os","virtual_machine":6,"size":20480}`,
			live: []string{`"image":"i1"`, `"image":"i1","volumes":["` + disk + `"]`}, want: []string{"undeclared disks[name=" + disk + `] volumes: -, live {"name":"` + disk + `"}`}},
		"virtual disks: a volume matches a disk of any size": {netbox: `virtualization.virtualdisk 1 {"name":"data","virtual_machine":6,"size":999}`,
			live: []string{`"image":"i1"`, `"volumes":["` + disk + `"]`}},
		"virtual disks: a disk named by a volume ID is that volume": {netbox: `virtualization.virtualdisk 1 {"name":"` + disk + `","virtual_machine":6,"size":999}`,
			live: []string{`"image":"i1"`, `"volumes":["` + web2 + `"]`},
			want: []string{"changed disks[name=" + disk + `] : {"name":"` + disk + `","size":999}, live -`, "undeclared disks[name=" + web2 + `] volumes: -, live {"name":"` + web2 + `"}`}},
		"a port that NetBox lacks": {live: []string{`]}]}`, `]},{"port":"p3","mac":"fa:16:3e:00:00:03"}]}`},
			want: []string{`undeclared interfaces[name=FA:16:3E:00:00:03] interfaces[2]: -, live {"mac":"FA:16:3E:00:00:03","name":"FA:16:3E:00:00:03"}`}},
		"a port that OpenStack lacks": {live: []string{`,
	{"port":"p2","network":"n2","mac":"fa:16:3e:00:00:02","fixed_ips":[{"ip_address":"10.1.0.5","subnet_id":"s3"}]}`, ""},
			want: []string{`changed interfaces[name=eth1] : {"enabled":true,"mac":"FA:16:3E:00:00:02","name":"eth1"}, live -`}},
		"a different address": {live: []string{"10.0.0.5", "10.0.0.6"}, want: []string{`changed primary_ip4 interfaces[0].fixed_ips[0].ip_address: "10.0.0.5/24", live "10.0.0.6"`}},
		"a different IPv6 address": {live: []string{"2001:db8::5", "2001:db8::6"},
			want: []string{`changed primary_ip6 interfaces[0].fixed_ips[1].ip_address: "2001:db8::5/64", live "2001:db8::6"`}},
		"the inner address of a floating IP is compared": {netbox: vm(`"name":"web-1","primary_ip4":22`)},
		"the inner address of a floating IP differs": {netbox: vm(`"name":"web-1","primary_ip4":22`), live: []string{"10.0.0.5", "10.0.0.6"},
			want: []string{`changed primary_ip4 interfaces[0].fixed_ips[0].ip_address: "10.0.0.5/24", live "10.0.0.6"`}},
		"the access address of the server": {netbox: `ipam.ipaddress 20 {"address":"203.0.113.5/24"}`, live: []string{`"image"`, `"access_ipv4":"203.0.113.5","image"`}},
		"different tags":                   {live: []string{"front-end", "db"}, want: []string{`changed tags tags: ["front-end"], live ["db"]`}},
		"a tag by its NetBox name":         {live: []string{"front-end", "Front End"}},
		"ignored fields":                   {live: []string{`vcpus":2`, `vcpus":4`, `ram":4096`, `ram":1`}, config: func(c *Config) { c.Ignore = []string{"vcpus", "memory"} }},
	}
	for reason, test := range tests {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			text := server1
			for i := 0; i+1 < len(test.live); i += 2 {
				if !strings.Contains(text, test.live[i]) {
					t.Fatalf("the server has no %s", test.live[i])
				}
				text = strings.Replace(text, test.live[i], test.live[i+1], 1)
			}
			d := derive(t, clouds("cloud"), netbox(t, shop, test.netbox), test.config)
			if len(d.Problems) > 0 {
				t.Fatal(d.Problems)
			}
			if diff := gocmp.Diff(test.want, outcomes(d, cloud(serverOf(t, web1, text)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMatchServer(t *testing.T) {
	t.Parallel()
	named := func(id, name string) model.Resource { return serverOf(t, id, `{"name":"`+name+`"}`) }
	only := func(fields string) string {
		return "virtualization.vminterface 11 -\nvirtualization.vminterface 12 -\nvirtualization.virtualmachine 6 {\"name\":\"web-1\",\"cluster\":1,\"tenant\":4" + fields + "}"
	}
	all := func(c *Config) { c.Clusters = map[string]string{"berlin": "cloud"} }
	tests := map[string]struct {
		netbox string
		config func(*Config)
		live   model.Snapshot
		want   []string
	}{
		"the UUID takes precedence over the name": {live: cloud(named(web1, "old"), named(web2, "web-1")), netbox: only(`,"custom_fields":{"uuid":"` + strings.ToUpper(web1) + `"}`),
			want: []string{`moved name name: "web-1", live "old"`, "unmanaged " + web2}},
		"UUID in the configured field": {live: cloud(named(web1, "old")), netbox: only(`,"custom_fields":{"uuid":"` + web2 + `","nova":"` + web1 + `"}`),
			config: func(c *Config) { c.UUIDField = "nova" }, want: []string{`moved name name: "web-1", live "old"`}},
		"UUID in the serial number": {live: cloud(named(web1, "web-1")), netbox: only(`,"serial":"` + web1 + `"`)},
		"two servers with the same name": {live: cloud(named(web1, "web-1"), named(web2, "web-1")), netbox: only(""),
			want: []string{"unchecked web-1 (NetBox VM 6) ambiguous: " + web1 + " (web-1) and " + web2 + " (web-1) have the same name; give it a surer identity"}},
		"a server that is absent from a configured cluster is missing": {live: cloud(), netbox: only(""), config: all, want: []string{"missing web-1 (NetBox VM 6)"}},
		"a server that is absent from a configured tenant is missing": {live: cloud(), netbox: only(""), config: func(c *Config) { c.Tenants = map[string]string{"shop": "cloud"} },
			want: []string{"missing web-1 (NetBox VM 6)"}},
		"without settings it may be in another project": {live: cloud(), netbox: only(""),
			want: []string{"unchecked web-1 (NetBox VM 6) no server matches, but it may be in a project that cloud does not read; if cloud reads the whole cluster or tenant, add that to clusters or tenants"}},
		"a server that NetBox lacks":      {live: cloud(named(web1, "web-1"), named(web2, "by-hand")), netbox: only(""), want: []string{"unmanaged " + web2}},
		"a planned server is not missing": {live: cloud(), netbox: only(`,"status":"planned"`), config: all},
	}
	for reason, test := range tests {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			d := derive(t, clouds("cloud"), netbox(t, shop, test.netbox), test.config)
			if diff := gocmp.Diff(test.want, outcomes(d, test.live)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlacementOpenStack(t *testing.T) {
	t.Parallel()
	const (
		types = "virtualization.clustertype 1 {\"name\":\"OpenStack\"}\nvirtualization.clustertype 2 {\"name\":\"Proxmox VE\"}\nvirtualization.clustertype 3 {\"name\":\"Bare\"}\n"
		a     = "virtualization.virtualmachine 1 {\"name\":\"a\",\"cluster\":1,\"tenant\":1}\nvirtualization.cluster 1 {\"name\":\"Berlin\",\"type\":1}\n"
		b     = "virtualization.virtualmachine 2 {\"name\":\"b\",\"cluster\":2}\nvirtualization.cluster 2 {\"name\":\"Rack\",\"type\":2}\n"
		c     = "virtualization.virtualmachine 3 {\"name\":\"c\",\"cluster\":3}\nvirtualization.cluster 3 {\"name\":\"Old\",\"type\":3}\n"
		shops = "tenancy.tenant 1 {\"name\":\"Shop\"}\n"
		bare  = "virtualization.clustertype 1 {\"name\":\"KVM\"}\nvirtualization.clustertype 2 {\"name\":\"KVM too\"}\n"
	)
	tests := map[string]struct {
		netbox  string
		governs []string
		config  func(*Config)
		want    []string
	}{
		"the types of the clusters name the sources": {netbox: types + a + b + c, governs: []string{"cloud", "pve"},
			want: []string{"cloud openstack/server a (NetBox VM 1) name=a", "pve proxmox/qemu b (NetBox VM 2) name=b"}},
		"a type without a system belongs to the system that no type names": {netbox: types + b + c, governs: []string{"cloud", "pve"},
			want: []string{"cloud openstack/server c (NetBox VM 3) name=c", "pve proxmox/qemu b (NetBox VM 2) name=b"}},
		"a cluster of another system": {netbox: types + a, governs: []string{"pve"}},
		"a cluster of one of two systems": {netbox: bare + a, governs: []string{"cloud", "pve"},
			want: []string{`clusters/1: cluster "Berlin" may be any of several governed sources; set clusters: {"Berlin": cloud or pve}`}},
		"a cluster with the name of another system's source": {netbox: types + strings.Replace(b, "Rack", "cloud", 1), governs: []string{"cloud", "pve"},
			want: []string{"pve proxmox/qemu b (NetBox VM 2) name=b"}},
		"the tenant takes precedence over the cluster": {netbox: types + shops + a + b, governs: []string{"cloud", "pve", "west"},
			config: func(c *Config) { c.Tenants = map[string]string{"SHOP": "west"} },
			want:   []string{"west openstack/server a (NetBox VM 1) name=a", "pve proxmox/qemu b (NetBox VM 2) name=b"}},
		"machines of tenants that are not configured have no source": {netbox: types + shops + strings.Replace(a, `"tenant":1`, `"tenant":2`, 1) + "tenancy.tenant 2 {\"name\":\"Other\"}\n" + b,
			governs: []string{"cloud", "pve"}, config: func(c *Config) { c.Tenants = map[string]string{"shop": "cloud"} },
			want: []string{"pve proxmox/qemu b (NetBox VM 2) name=b"}},
		"a tenant that was not read": {netbox: types + shops + strings.Replace(a, `"tenant":1`, `"tenant":2`, 1), governs: []string{"cloud"},
			config: func(c *Config) { c.Tenants = map[string]string{"shop": "cloud"} },
			want:   []string{"tenants/2: its name could not be read, so its source is unknown; give the token the right to view tenants"}},
		"a tenant that NetBox lacks": {netbox: types + a, governs: []string{"cloud"}, config: func(c *Config) {
			c.Tenants, c.Clusters = map[string]string{"shop": "cloud"}, map[string]string{"berlin": "cloud"}
		},
			want: []string{`tenants: setting tenants names "shop": no tenant with that name was read; correct the name, or give the token the right to view it`,
				"tenants/1: its name could not be read, so its source is unknown; give the token the right to view tenants"}},
		"two clouds": {netbox: types + a, governs: []string{"cloud", "west"},
			want: []string{`clusters/1: cluster "Berlin" may be any of several governed sources; set clusters: {"Berlin": cloud or west}`}},
		"a configured cluster determines only its own type": {netbox: types + a + b, governs: []string{"cloud", "pve"},
			config: func(c *Config) { c.Clusters = map[string]string{"berlin": "cloud"} },
			want:   []string{"cloud openstack/server a (NetBox VM 1) name=a", "pve proxmox/qemu b (NetBox VM 2) name=b"}},
	}
	for reason, test := range tests {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			if diff := gocmp.Diff(test.want, summarize(derive(t, clouds(test.governs...), netbox(t, test.netbox), test.config))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestServerIdentities(t *testing.T) {
	t.Parallel()
	d := derive(t, clouds("cloud"), netbox(t, shop, `virtualization.virtualmachine 6 {"name":"Web-1","cluster":1,"custom_fields":{"vmid":101,"openstack_id":"`+web1+`"}}`), nil)
	want := []string{"cloud openstack/server Web-1 (NetBox VM 6) uuid=" + web1 + " mac=FA:16:3E:00:00:01 mac=FA:16:3E:00:00:02 name=web-1"}
	if diff := gocmp.Diff(want, summarize(d)); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff([]model.Scope{{Kind: kindServer}}, d.Scopes); diff != "" {
		t.Error(diff)
	}
}

// TestTenantEditIsClaimCreation moves a virtual machine to another tenant.
func TestTenantEditIsClaimCreation(t *testing.T) {
	t.Parallel()
	s := netbox(t, shop)
	s.AuditEvents = []model.AuditEvent{{Ref: model.Ref{Kind: kindMachine, ID: "6"}, Fields: []string{"tenant"}, Actor: model.Actor{Name: "ann", At: at(2)}}}
	count := func(edit func(*Config)) int { return len(derive(t, clouds("cloud"), s, edit).Claims[0].AuditEvents) }
	if with, without := count(func(c *Config) { c.Tenants = map[string]string{"Shop": "cloud"} }), count(nil); with != 2 || without != 0 {
		t.Errorf("%d audit events with tenants configured, %d without", with, without)
	}
}

func TestLiveValueOfServer(t *testing.T) {
	t.Parallel()
	for path, test := range map[string]struct{ reason, declared, want string }{
		"memory":        {"memory determines no flavor", "4096", ""},
		"vcpus":         {"processors determine no flavor", "2", ""},
		"name":          {"the name", `"web-1"`, `"web-1"`},
		"status":        {"offline is stopped", `"offline"`, `"stopped"`},
		"disk":          {"the sum determines no flavor", "20480", ""},
		"disks[name=a]": {"a whole disk", `{"size":1}`, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			value, known := (&lens{system: systemOf(openstack)}).LiveValue(parse(t, server1), path, parse(t, test.declared))
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

// FuzzServer passes arbitrary values of a server to a lens. It must not panic.
func FuzzServer(f *testing.F) {
	s := netbox(f, shop)
	f.Add(server1)
	f.Add(`{"interfaces":{"mac":1},"volumes":"x","image":[],"flavor_disk":-1,"flavor_ram":"1","vm_state":7,"tags":{"a":1}}`)
	f.Add(`{"interfaces":[1,{"mac":"fa:16:3e:00:00:01","fixed_ips":[{"ip_address":7},{"ip_address":"x"}]}],"image":"i","flavor_disk":1e300}`)
	f.Fuzz(func(t *testing.T, text string) {
		var live model.Value
		if live.UnmarshalJSON([]byte(text)) != nil {
			return
		}
		d := derive(t, clouds("cloud"), s, nil)
		outcomes(d, cloud(serverOf(t, web1, text)))
		for _, c := range d.Claims {
			for _, item := range c.Lens.View(live).At("interfaces").Items() {
				c.Lens.LivePath(live, element("interfaces", "mac", item.At("mac").Str())+".mac")
			}
		}
	})
}

// TestViewIgnoresOrderOfPorts shuffles the ports of a server.
func TestViewIgnoresOrderOfPorts(t *testing.T) {
	t.Parallel()
	d := derive(t, clouds("cloud"), netbox(t, shop, `virtualization.virtualdisk 1 {"name":"os","virtual_machine":6,"size":20480}`), nil)
	live := parse(t, strings.Replace(server1, `"image":"i1"`, `"image":"i1","volumes":["`+disk+`"]`, 1))
	want := d.Claims[0].Lens.View(live)
	rapid.Check(t, func(r *rapid.T) {
		shuffled := live.With("interfaces", model.ListOf(rapid.Permutation(live.At("interfaces").Items()).Draw(r, "ports")...))
		if got := d.Claims[0].Lens.View(shuffled); len(got.At("interfaces").Items()) != len(want.At("interfaces").Items()) ||
			string(got.With("interfaces", model.Value{}).AppendJSON(nil)) != string(want.With("interfaces", model.Value{}).AppendJSON(nil)) {
			r.Errorf("got %s, want %s", got.AppendJSON(nil), want.AppendJSON(nil))
		}
	})
}
