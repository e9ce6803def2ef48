package normalize_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

// rows are the rows of the lists of a cloud, by kind.
type rows map[string][]string

func (r rows) estate(t testing.TB) *normalize.Estate {
	t.Helper()
	e := &normalize.Estate{Project: "p", User: "u", Objects: map[string][]normalize.Object{}}
	for kind, list := range r {
		e.Objects[kind] = []normalize.Object{}
		for _, row := range list {
			e.Objects[kind] = append(e.Objects[kind], object(t, kind, row))
		}
	}
	return e
}

// small returns a cloud with one object of each kind, related to each other.
func small() rows {
	return rows{
		normalize.Server: {`{"id":"s1","name":"web","tenant_id":"p","flavor":{"id":"f"},"image":{"id":"i"},"created":"2026-01-02T03:00:00Z"}`, `{"id":"s2","name":"alone","tenant_id":"p","flavor":{"id":"gone"}}`},
		normalize.Flavor: {`{"id":"f","name":"m1"}`},
		normalize.Image:  {`{"id":"i","name":"debian","owner":"p"}`, `{"id":"o","name":"other","owner":"q","visibility":"public"}`},
		normalize.Port: {
			`{"id":"pb","tenant_id":"p","network_id":"n2","mac_address":"fa:16:3e:00:00:02","device_id":"s1","device_owner":"compute:nova","created_at":"2026-01-02T03:00:02Z"}`,
			`{"id":"pa","name":"eth0","tenant_id":"p","network_id":"n","mac_address":"fa:16:3e:00:00:01","device_id":"s1","device_owner":"compute:nova","created_at":"2026-01-02T03:00:01Z","fixed_ips":[{"ip_address":"10.0.0.9","subnet_id":"s"}]}`,
			`{"id":"ri","tenant_id":"p","device_id":"r","device_owner":"network:router_interface_distributed","fixed_ips":[{"ip_address":"10.0.0.1","subnet_id":"s"}]}`,
			`{"id":"rg","tenant_id":"","device_id":"r","device_owner":"network:router_gateway"}`,
			`{"id":"fp","tenant_id":"","device_id":"fip","device_owner":"network:floatingip"}`,
			`{"id":"dhcp","tenant_id":"p","device_id":"dhcp1","device_owner":"network:dhcp"}`,
			`{"id":"lb","tenant_id":"p","device_id":"lb-1","device_owner":"Octavia"}`,
			`{"id":"hidden","tenant_id":"p","device_id":"sx","device_owner":"compute:nova"}`,
			`{"id":"free","name":"vip","tenant_id":"p"}`},
		normalize.Router:      {`{"id":"r","name":"edge","tenant_id":"p"}`},
		normalize.FloatingIP:  {`{"id":"fip","floating_ip_address":"203.0.113.5","tenant_id":"p"}`},
		normalize.Network:     {`{"id":"n","name":"net","tenant_id":"p"}`, `{"id":"x","name":"outer","tenant_id":"q","shared":true}`},
		normalize.ServerGroup: {`{"id":"g2","name":"b","members":["s1"]}`, `{"id":"g1","name":"a","members":["s1","gone"],"project_id":"p"}`},
		normalize.Keypair:     {`{"keypair":{"name":"ops"}}`},
		normalize.Volume: {`{"id":"root","name":"","os-vol-tenant-attr:tenant_id":"p","created_at":"2026-01-02T03:00:20.000000","attachments":[{"server_id":"s1","device":"/dev/vda"}]}`,
			`{"id":"blank","name":"s1-blank-vol","os-vol-tenant-attr:tenant_id":"p","created_at":"2026-01-02T03:00:20.000000","attachments":[{"server_id":"s1"}]}`,
			`{"id":"later","name":"","os-vol-tenant-attr:tenant_id":"p","created_at":"2026-01-05T03:00:20.000000","attachments":[{"server_id":"s1"}]}`,
			`{"id":"named","name":"data","created_at":"2026-01-02T03:00:20.000000","attachments":[{"server_id":"s1"}]}`},
	}
}

func find(t testing.TB, resources []model.Resource, kind, id string) model.Resource {
	t.Helper()
	for _, r := range resources {
		if r.Kind == kind && r.ID == id {
			return r
		}
	}
	t.Fatalf("there is no %s %s", kind, id)
	return model.Resource{}
}

func TestRelations(t *testing.T) {
	t.Parallel()
	resources, unread := small().estate(t).Resources("cloud")
	if len(unread) > 0 {
		t.Errorf("not read: %v", unread)
	}
	for reason, tc := range map[string]struct{ kind, id, name, place, automatic string }{
		"a server":                                  {normalize.Server, "s1", "web", "p", ""},
		"what belongs to no project":                {normalize.Flavor, "f", "m1", "", "it belongs to no project"},
		"an image":                                  {normalize.Image, "i", "debian", "p", ""},
		"an image of others":                        {normalize.Image, "o", "other", "q", "of project q"},
		"a network of others":                       {normalize.Network, "x", "outer", "q", "of project q"},
		"a port of a server":                        {normalize.Port, "pa", "eth0", "p", "belongs to server web, whose interfaces show it"},
		"a port of a server, without a name":        {normalize.Port, "pb", "pb", "p", "belongs to server web, whose interfaces show it"},
		"a port of a server that is not seen":       {normalize.Port, "hidden", "hidden", "p", "belongs to server sx, whose interfaces show it"},
		"a router is plugged in":                    {normalize.Port, "ri", "10.0.0.1", "p", ""},
		"a router's outside":                        {normalize.Port, "rg", "rg", "", "the gateway of router edge, which shows it"},
		"where a floating IP is kept":               {normalize.Port, "fp", "fp", "", "the address of floating IP 203.0.113.5"},
		"Neutron's own":                             {normalize.Port, "dhcp", "dhcp", "p", "made by OpenStack itself (network:dhcp)"},
		"a load balancer's":                         {normalize.Port, "lb", "lb", "p", "made by OpenStack itself (Octavia)"},
		"a port of its own":                         {normalize.Port, "free", "vip", "p", ""},
		"a keypair":                                 {normalize.Keypair, "ops", "ops", "u", ""},
		"a server group that does not say whose":    {normalize.ServerGroup, "g2", "b", "p", ""},
		"a volume that came with the server":        {normalize.Volume, "root", "root", "p", "made with server web"},
		"an empty volume that came with the server": {normalize.Volume, "blank", "s1-blank-vol", "p", "made with server web"},
		"a volume that was attached later":          {normalize.Volume, "later", "later", "p", ""},
		"a volume with a name":                      {normalize.Volume, "named", "data", "p", ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			r := find(t, resources, tc.kind, tc.id)
			if r.Source != "cloud" || r.Name != tc.name || r.Place != tc.place || r.SystemOwned != tc.automatic || r.Parent != (model.Ref{}) {
				t.Errorf("%q in %q, automatic %q, below %v", r.Name, r.Place, r.SystemOwned, r.Parent)
			}
		})
	}
}

func TestAllProjects(t *testing.T) {
	t.Parallel()
	e := small().estate(t)
	e.AllProjects = true
	resources, _ := e.Resources("cloud")
	for _, ref := range []model.Ref{{Kind: normalize.Flavor, ID: "f"}, {Kind: normalize.Image, ID: "o"}, {Kind: normalize.Network, ID: "x"}} {
		if r := find(t, resources, ref.Kind, ref.ID); r.SystemOwned != "" {
			t.Errorf("%v is automatic: %s", ref, r.SystemOwned)
		}
	}
}

func TestPortsLessSecureThanTheirNetwork(t *testing.T) {
	t.Parallel()
	resources, _ := rows{
		normalize.Network: {`{"id":"safe","tenant_id":"p","port_security_enabled":true}`, `{"id":"open","tenant_id":"p","port_security_enabled":false}`},
		normalize.Port: {`{"id":"a","tenant_id":"p","network_id":"safe","port_security_enabled":false}`, `{"id":"b","tenant_id":"p","network_id":"safe","port_security_enabled":true}`,
			`{"id":"c","tenant_id":"p","network_id":"open","port_security_enabled":false}`, `{"id":"d","tenant_id":"p","network_id":"unseen","port_security_enabled":false}`},
	}.estate(t).Resources("cloud")
	for id, want := range map[string]string{"a": "true", "b": "", "c": "", "d": ""} {
		if got := find(t, resources, normalize.Port, id).Value.At("unprotected").Text(); got != want {
			t.Errorf("port %s is unprotected: %q, want %q", id, got, want)
		}
	}
}

func TestServers(t *testing.T) {
	t.Parallel()
	resources, _ := small().estate(t).Resources("cloud")
	for id, want := range map[string]string{
		"s1": `{"flavor":"f","flavor_name":"m1","image":"i","image_name":"debian","interfaces":[{"fixed_ips":[{"ip_address":"10.0.0.9","subnet_id":"s"}],"mac":"fa:16:3e:00:00:01","network":"n","port":"pa"},{"mac":"fa:16:3e:00:00:02","network":"n2","port":"pb"}],"name":"web","server_groups":["g1","g2"]}`,
		"s2": `{"flavor":"gone","name":"alone"}`,
	} {
		if got := text(find(t, resources, normalize.Server, id).Value); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

func TestUnread(t *testing.T) {
	t.Parallel()
	const rule = `{"id":"r","direction":"ingress","security_group_id":"g"}`
	for reason, tc := range map[string]struct {
		rows rows
		want string
	}{
		"a server that is made":                {rows{normalize.Server: {`{"id":"s","status":"BUILD"}`}, normalize.Port: nil}, "it cannot be compared while its status is BUILD"},
		"a server":                             {rows{normalize.Server: {`{"id":"s","status":"ACTIVE"}`}, normalize.Port: nil}, ""},
		"a server whose ports were not read":   {rows{normalize.Server: {`{"id":"s","status":"ACTIVE"}`}}, "its interfaces are not known"},
		"a rule whose group went":              {rows{normalize.SecurityGroupRule: {rule}, normalize.SecurityGroup: nil}, "its group g is not in the list of groups"},
		"a rule, while groups cannot be read":  {rows{normalize.SecurityGroupRule: {rule}}, ""},
		"a rule whose group was read":          {rows{normalize.SecurityGroupRule: {rule}, normalize.SecurityGroup: {`{"id":"g"}`}}, ""},
		"an image that has no content so far":  {rows{normalize.Image: {`{"id":"i","status":"queued"}`}}, "it cannot be compared while its status is queued"},
		"a volume while it is being attached":  {rows{normalize.Volume: {`{"id":"v","status":"attaching"}`}}, "it cannot be compared while its status is attaching"},
		"a volume that is part of some server": {rows{normalize.Volume: {`{"id":"v","status":"in-use"}`}}, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			resources, unread := tc.rows.estate(t).Resources("cloud")
			got := ""
			for _, u := range unread {
				got += u.Reason
			}
			if !strings.HasPrefix(got, tc.want) || (got == "") != (tc.want == "") {
				t.Errorf("not read because %q, want %q; read: %v", got, tc.want, resources)
			}
		})
	}
}

func TestSecurityGroups(t *testing.T) {
	t.Parallel()
	made := func(second int) string {
		return fmt.Sprintf(`"created_at":"2026-01-02T03:04:%02dZ","tenant_id":"p"`, second)
	}
	resources, _ := rows{
		normalize.SecurityGroup: {`{"id":"d","name":"default","description":"Default security group",` + made(0) + `}`, `{"id":"w","name":"web",` + made(0) + `}`, `{"id":"shut","name":"shut",` + made(0) + `}`},
		normalize.SecurityGroupRule: {
			`{"id":"d-out","direction":"egress","ethertype":"IPv4","security_group_id":"d",` + made(0) + `}`,
			`{"id":"d-in","direction":"ingress","ethertype":"IPv6","security_group_id":"d","remote_group_id":"d",` + made(1) + `}`,
			`{"id":"d-ssh","direction":"ingress","ethertype":"IPv4","protocol":"tcp","port_range_min":22,"port_range_max":22,"security_group_id":"d","remote_ip_prefix":"0.0.0.0/0",` + made(1) + `}`,
			`{"id":"w-out","direction":"egress","ethertype":"IPv6","security_group_id":"w","description":"Legacy default SG rule for egress traffic",` + made(0) + `}`,
			`{"id":"w-late","direction":"egress","ethertype":"IPv4","security_group_id":"w",` + made(30) + `}`,
			`{"id":"w-undated","direction":"egress","ethertype":"IPv4","security_group_id":"w"}`,
			`{"id":"w-members","direction":"ingress","ethertype":"IPv4","security_group_id":"w","remote_group_id":"w",` + made(0) + `}`,
			`{"id":"w-ssh","direction":"ingress","ethertype":"IPv4","protocol":"6","port_range_min":22,"port_range_max":22,"security_group_id":"w","remote_ip_prefix":"0.0.0.0/0",` + made(1) + `}`,
			`{"id":"w-range","direction":"ingress","ethertype":"IPv6","protocol":"udp","port_range_min":8000,"port_range_max":8010,"security_group_id":"w","remote_ip_prefix":"2001:db8::/32",` + made(1) + `}`,
			`{"id":"w-all","direction":"ingress","ethertype":"IPv6","security_group_id":"w",` + made(1) + `}`,
			`{"id":"w-half","direction":"ingress","ethertype":"IPv4","protocol":"icmp","port_range_min":8,"port_range_max":0,"security_group_id":"w","remote_ip_prefix":"128.0.0.0/1",` + made(1) + `}`,
			`{"id":"w-six","direction":"ingress","ethertype":"IPv6","protocol":"ipv6-icmp","port_range_min":128,"security_group_id":"w","remote_ip_prefix":"2000::/3",` + made(1) + `}`,
			`{"id":"w-dns","direction":"egress","ethertype":"IPv4","protocol":"udp","port_range_min":53,"port_range_max":53,"security_group_id":"w","remote_ip_prefix":"0.0.0.0/0",` + made(1) + `}`,
			`{"id":"w-book","direction":"ingress","ethertype":"IPv4","protocol":"tcp","port_range_min":5432,"port_range_max":5432,"security_group_id":"w","remote_address_group_id":"ag",` + made(1) + `}`,
		}}.estate(t).Resources("cloud")
	const byNeutron = "Neutron makes it with each group"
	below := model.Ref{Kind: normalize.SecurityGroup, ID: "w"}
	for id, want := range map[string]struct {
		name, automatic string
		parent          model.Ref
		open            bool
	}{
		"d-out":     {"egress anything to anywhere over IPv4 in default", byNeutron, model.Ref{}, false},
		"d-in":      {"ingress anything from group default in default", byNeutron, model.Ref{}, false},
		"d-ssh":     {"ingress tcp 22 from 0.0.0.0/0 in default", "", model.Ref{}, true},
		"w-out":     {"egress anything to anywhere over IPv6 in web", byNeutron, below, false},
		"w-late":    {"egress anything to anywhere over IPv4 in web", "", below, false},
		"w-undated": {"egress anything to anywhere over IPv4 in web", byNeutron, below, false},
		"w-members": {"ingress anything from group web in web", "", below, false},
		"w-ssh":     {"ingress tcp 22 from 0.0.0.0/0 in web", "", below, true},
		"w-range":   {"ingress udp 8000-8010 from 2001:db8::/32 in web", "", below, false},
		"w-all":     {"ingress anything from anywhere over IPv6 in web", "", below, true},
		"w-half":    {"ingress icmp type 8 code 0 from 128.0.0.0/1 in web", "", below, true},
		"w-six":     {"ingress ipv6-icmp type 128 from 2000::/3 in web", "", below, true},
		"w-dns":     {"egress udp 53 to 0.0.0.0/0 in web", "", below, false},
		"w-book":    {"ingress tcp 5432 from address group ag in web", "", below, false},
	} {
		r := find(t, resources, normalize.SecurityGroupRule, id)
		if open := strings.HasPrefix(r.Value.At("open_to").Str(), "anybody"); r.Name != want.name || r.SystemOwned != want.automatic || r.Parent != want.parent || open != want.open {
			t.Errorf("%s is %q, automatic %q, below %v, open: %t", id, r.Name, r.SystemOwned, r.Parent, open)
		}
	}
	for id, want := range map[string]string{
		"d":    `{"description":"Default security group","name":"default","open":["tcp 22 from 0.0.0.0/0"],"open_to":"anybody"}`,
		"w":    `{"name":"web","open":["anything from anywhere over IPv6","icmp type 8 code 0 from 128.0.0.0/1","ipv6-icmp type 128 from 2000::/3","tcp 22 from 0.0.0.0/0"],"open_to":"anybody"}`,
		"shut": `{"name":"shut"}`,
	} {
		r := find(t, resources, normalize.SecurityGroup, id)
		if d := cmp.Diff(want, text(r.Value)); d != "" {
			t.Errorf("%s (-want +got):\n%s", id, d)
		}
		if (r.SystemOwned != "") != (id == "d") {
			t.Errorf("%s is automatic: %q", id, r.SystemOwned)
		}
	}
}

// TestUnreadFields reads objects of which a token without the role admin, or a list that
// was not read, leaves fields out.
func TestUnreadFields(t *testing.T) {
	t.Parallel()
	const server = `{"id":"s","flavor":{"id":"f"},"image":{"id":"i"}}`
	lists := func(change func(rows)) rows {
		r := rows{normalize.Server: {server}, normalize.Port: nil, normalize.ServerGroup: nil, normalize.Flavor: {`{"id":"f","name":"m1","vcpus":2,"extra_specs":{}}`}, normalize.Image: {`{"id":"i","name":"debian"}`}}
		change(r)
		return r
	}
	for reason, tc := range map[string]struct {
		rows            rows
		admin           bool
		kind, id, field string
		want            string
	}{
		"a network's segment":                  {rows{normalize.Network: {`{"id":"n"}`}}, false, normalize.Network, "n", "segmentation_id", "role admin"},
		"a network's segments":                 {rows{normalize.Network: {`{"id":"n"}`}}, false, normalize.Network, "n", "segments", "role admin"},
		"a network without one":                {rows{normalize.Network: {`{"id":"n","provider:segmentation_id":null}`}}, false, normalize.Network, "n", "segmentation_id", ""},
		"a network, for an administrator":      {rows{normalize.Network: {`{"id":"n"}`}}, true, normalize.Network, "n", "segmentation_id", ""},
		"a field that every user may read":     {rows{normalize.Network: {`{"id":"n"}`}}, false, normalize.Network, "n", "dns_domain", ""},
		"a router's field distributed":         {rows{normalize.Router: {`{"id":"r"}`}}, false, normalize.Router, "r", "distributed", "role admin"},
		"a router with that field":             {rows{normalize.Router: {`{"id":"r","distributed":false}`}}, false, normalize.Router, "r", "distributed", ""},
		"a port's binding":                     {rows{normalize.Port: {`{"id":"p"}`}}, false, normalize.Port, "p", "profile", "role admin"},
		"the segment of a subnet":              {rows{normalize.Subnet: {`{"id":"p"}`}}, false, normalize.Subnet, "p", "segment_id", "role admin"},
		"a flavor's extra specs":               {rows{normalize.Flavor: {`{"id":"f"}`}}, false, normalize.Flavor, "f", "extra_specs", "role admin"},
		"a server's flavor":                    {lists(func(rows) {}), false, normalize.Server, "s", "flavor_vcpus", ""},
		"a server's groups that were not read": {lists(func(r rows) { delete(r, normalize.ServerGroup) }), false, normalize.Server, "s", "server_groups", "openstack/server_group was not read"},
		"a server in no group":                 {lists(func(rows) {}), false, normalize.Server, "s", "server_groups", ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			e := tc.rows.estate(t)
			e.Admin = tc.admin
			resources, _ := e.Resources("cloud")
			r := find(t, resources, tc.kind, tc.id)
			if got := r.UnreadField(tc.field); !strings.Contains(got, tc.want) || (got == "") != (tc.want == "") {
				t.Errorf("%s is unread: %q, want %q", tc.field, got, tc.want)
			}
			if field := normalize.Schemas()[tc.kind].Schema.Fields[tc.field]; field == nil {
				t.Errorf("%s has no field %s", tc.kind, tc.field)
			}
		})
	}
}

// TestBrokenLists joins estates with and without some lists: objects that the services
// create by themselves belong to no declaration.
func TestBrokenLists(t *testing.T) {
	t.Parallel()
	const volume = `{"id":"v","name":"","created_at":"2026-01-02T03:00:20.000000","attachments":[{"server_id":"s"}]}`
	const named = `{"id":"v","name":"data","attachments":[{"server_id":"s"}]}`
	const outwards = `{"id":"r","direction":"egress","ethertype":"IPv4","security_group_id":"g","created_at":"2026-01-02T03:00:00Z"}`
	const inwards = `{"id":"r","direction":"ingress","ethertype":"IPv4","security_group_id":"g","protocol":"tcp"}`
	for reason, tc := range map[string]struct {
		rows      rows
		kind, id  string
		automatic string
	}{
		"a volume, while servers were not read":            {rows{normalize.Volume: {volume}}, normalize.Volume, "v", "may be made with server s"},
		"a volume of a server that was deleted":            {rows{normalize.Volume: {volume}, normalize.Server: nil}, normalize.Volume, "v", ""},
		"a volume of a server that does not answer":        {rows{normalize.Volume: {volume}, normalize.Server: {`{"id":"s","status":"BUILD"}`}}, normalize.Volume, "v", "may be made with server s"},
		"a named volume, while servers were not read":      {rows{normalize.Volume: {named}}, normalize.Volume, "v", ""},
		"a group's first rule, while groups were not read": {rows{normalize.SecurityGroupRule: {outwards}}, normalize.SecurityGroupRule, "r", "Neutron makes such a rule with each group"},
		"a rule that lets in, while groups were not read":  {rows{normalize.SecurityGroupRule: {inwards}}, normalize.SecurityGroupRule, "r", ""},
		"a group's later rule":                             {rows{normalize.SecurityGroupRule: {outwards}, normalize.SecurityGroup: {`{"id":"g","created_at":"2025-01-01T00:00:00Z"}`}}, normalize.SecurityGroupRule, "r", ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			resources, _ := tc.rows.estate(t).Resources("cloud")
			if got := find(t, resources, tc.kind, tc.id).SystemOwned; !strings.HasPrefix(got, tc.automatic) || (got == "") != (tc.automatic == "") {
				t.Errorf("automatic: %q, want %q", got, tc.automatic)
			}
		})
	}
}

// TestUnreadThatSettles expects no declaration of an object that changed a moment ago, and
// one of an object that has been in a transient state for a long time.
func TestUnreadThatSettles(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)
	for reason, tc := range map[string]struct {
		row  string
		want bool
	}{
		"made a minute ago":           {`{"id":"s","name":"web","tenant_id":"p","status":"BUILD","created":"2026-01-02T03:59:00Z"}`, true},
		"made long ago":               {`{"id":"s","name":"web","tenant_id":"p","status":"BUILD","created":"2026-01-01T03:59:00Z"}`, false},
		"made long ago, changing now": {`{"id":"s","name":"web","tenant_id":"p","status":"RESIZE","created":"2025-01-01T03:59:00Z","updated":"2026-01-02T03:59:30Z"}`, true},
		"without a time":              {`{"id":"s","name":"web","tenant_id":"p","status":"BUILD"}`, false},
	} {
		e := rows{normalize.Server: {tc.row}, normalize.Port: nil}.estate(t)
		e.Taken = now
		_, unread := e.Resources("cloud")
		if len(unread) != 1 || (unread[0].SystemOwned != "") != tc.want || unread[0].Name != "web" || unread[0].Place != "p" {
			t.Errorf("%s: %+v", reason, unread)
		}
	}
}
