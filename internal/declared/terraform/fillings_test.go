package terraform_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
)

// afterOneApply has a virtual machine as read before the same apply created its address and its
// disk.
const afterOneApply = `{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "outputs": {}, "resources": [
 {"mode": "managed", "type": "netbox_virtual_machine", "name": "app", "provider": "provider[\"registry.terraform.io/e-breuninger/netbox\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "6", "name": "app", "cluster_id": 2, "disk_size_mb": 0, "primary_ipv4": 0}}]},
 {"mode": "managed", "type": "netbox_virtual_disk", "name": "root", "provider": "provider[\"registry.terraform.io/e-breuninger/netbox\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "1", "name": "root", "size_mb": 2000, "virtual_machine_id": 6}}]},
 {"mode": "managed", "type": "netbox_virtual_disk", "name": "data", "provider": "provider[\"registry.terraform.io/e-breuninger/netbox\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "2", "name": "data", "size_mb": 3000, "virtual_machine_id": 6}}]},
 {"mode": "managed", "type": "netbox_primary_ip", "name": "app", "provider": "provider[\"registry.terraform.io/e-breuninger/netbox\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "6", "virtual_machine_id": 6, "ip_address_id": 7, "ip_address_version": 4}}]}
]}`

func TestStateFillings(t *testing.T) {
	t.Parallel()
	file := write(t, "terraform.tfstate", afterOneApply)
	d, err := load(t, map[string]string{"netbox": "netbox"}, func(c *terraform.Config) { c.State = []string{file} })
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		reason, live string
		want         map[string][]string
	}{
		{"no drift", `{"name":"app","cluster":2,"disk":5000,"primary_ip4":7}`, map[string][]string{}},
		{"an undeclared disk, and another address", `{"name":"app","cluster":2,"disk":6000,"primary_ip4":8}`,
			map[string][]string{"netbox_primary_ip.app": {"ip_address_id"}, "netbox_virtual_machine.app": {"disk_size_mb", "primary_ipv4"}}},
	} {
		var live model.Value
		if err := live.UnmarshalJSON([]byte(tc.live)); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tc.want, differing(d, "netbox/virtualization.virtualmachine", live)); d != "" {
			t.Errorf("%s: %s", tc.reason, d)
		}
	}
	for i := range d.Claims {
		if c := &d.Claims[i]; c.Address == "netbox_virtual_machine.app" {
			if d := cmp.Diff([]model.Identity{{By: "name", Value: "app@2"}}, c.Identities); d != "" {
				t.Error(d)
			}
		}
	}
}

// afterAnotherApply has a server and a port as read before the same apply attached the port and
// changed its security groups, and a floating IP as read before its association, which has only the
// address.
const afterAnotherApply = `{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "outputs": {}, "resources": [
 {"mode": "managed", "type": "openstack_compute_instance_v2", "name": "www", "provider": "provider[\"registry.terraform.io/terraform-provider-openstack/openstack\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "s1", "name": "www", "security_groups": ["web"],
   "network": [{"mac": "aa", "port": "p1", "uuid": "n1", "fixed_ip_v4": "10.0.0.2"}, {"mac": "bb", "port": "", "uuid": "n2", "fixed_ip_v4": "10.1.0.2"}]}}]},
 {"mode": "managed", "type": "openstack_networking_port_v2", "name": "www", "provider": "provider[\"registry.terraform.io/terraform-provider-openstack/openstack\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "p1", "mac_address": "aa", "network_id": "n1", "device_id": "s0", "security_group_ids": ["g1"], "all_security_group_ids": ["g1"], "all_fixed_ips": ["10.0.0.2", "10.0.0.3"]}}]},
 {"mode": "managed", "type": "openstack_networking_port_secgroup_associate_v2", "name": "www", "provider": "provider[\"registry.terraform.io/terraform-provider-openstack/openstack\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "p1", "port_id": "p1", "security_group_ids": ["g2"], "all_security_group_ids": ["g1", "g2"]}}]},
 {"mode": "managed", "type": "openstack_compute_interface_attach_v2", "name": "more", "provider": "provider[\"registry.terraform.io/terraform-provider-openstack/openstack\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "s1/p3", "instance_id": "s1", "port_id": "p3", "network_id": "n3"}}]},
 {"mode": "managed", "type": "openstack_networking_router_v2", "name": "edge", "provider": "provider[\"registry.terraform.io/terraform-provider-openstack/openstack\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "r1", "name": "edge"}}]},
 {"mode": "managed", "type": "openstack_networking_router_route_v2", "name": "lab", "provider": "provider[\"registry.terraform.io/terraform-provider-openstack/openstack\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "r1-route", "router_id": "r1", "destination_cidr": "10.8.0.0/16", "next_hop": "10.0.0.8"}}]},
 {"mode": "managed", "type": "openstack_networking_floatingip_v2", "name": "www", "provider": "provider[\"registry.terraform.io/terraform-provider-openstack/openstack\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "f1", "address": "192.0.2.7", "port_id": "", "fixed_ip": ""}}]},
 {"mode": "managed", "type": "openstack_compute_floatingip_associate_v2", "name": "www", "provider": "provider[\"registry.terraform.io/terraform-provider-openstack/openstack\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "192.0.2.7/s1/", "floating_ip": "192.0.2.7", "instance_id": "s1", "fixed_ip": ""}}]}
]}`

func TestStateFillingsOfBlocks(t *testing.T) {
	t.Parallel()
	file := write(t, "terraform.tfstate", afterAnotherApply)
	d, err := load(t, map[string]string{"cloud": "openstack"}, func(c *terraform.Config) { c.State = []string{file} })
	if err != nil {
		t.Fatal(err)
	}
	const own = `{"port":"p1","network":"n1","mac":"aa","fixed_ips":[{"ip_address":"10.0.0.2"},{"ip_address":"10.0.0.3"}]},{"port":"p2","network":"n2","mac":"bb","fixed_ips":[{"ip_address":"10.1.0.2"}]}`
	for _, tc := range []struct {
		reason, kind, live string
		want               map[string][]string
	}{
		{"no drift: the port's own instance has its addresses and groups", "openstack/server",
			`{"name":"www","vm_state":"active","security_groups":["default","lab","web"],"interfaces":[` + own + `,{"port":"p3","network":"n3","mac":"cc"}]}`, map[string][]string{}},
		{"an undeclared interface, and a declared one that is missing", "openstack/server",
			`{"name":"www","vm_state":"active","security_groups":["web"],"interfaces":[` + own + `,{"port":"p9","network":"n3","mac":"dd"}]}`,
			map[string][]string{"openstack_compute_instance_v2.www": {"network[2].mac"}, "openstack_compute_interface_attach_v2.more": {"port_id"}}},
		{"no drift: the port belongs to the new server", "openstack/port",
			`{"mac_address":"aa","network_id":"n1","device_id":"s1","security_groups":["g1","g2"],"fixed_ips":[{"ip_address":"10.0.0.2"},{"ip_address":"10.0.0.3"}]}`, map[string][]string{}},
		{"the port of another server, with an undeclared group", "openstack/port",
			`{"mac_address":"aa","network_id":"n1","device_id":"s9","security_groups":["g1","g2","g9"],"fixed_ips":[{"ip_address":"10.0.0.2"},{"ip_address":"10.0.0.3"}]}`,
			map[string][]string{"openstack_networking_port_v2.www": {"device_id"}, "openstack_networking_port_secgroup_associate_v2.www": {"security_group_ids"}}},
		{"a route of its own type", "openstack/router", `{"name":"edge","routes":[{"destination":"10.8.0.0/16","nexthop":"10.0.0.8"}]}`, map[string][]string{}},
		{"another next hop", "openstack/router", `{"name":"edge","routes":[{"destination":"10.8.0.0/16","nexthop":"10.0.0.9"}]}`,
			map[string][]string{"openstack_networking_router_v2.edge": {"routes[0].destination_cidr", "routes[0].next_hop"}, "openstack_networking_router_route_v2.lab": {"next_hop"}}},
		{"an address that is attached by its text", "openstack/floatingip", `{"floating_ip_address":"192.0.2.7","port_id":"p1","fixed_ip_address":"10.0.0.2","device_id":"s1"}`, map[string][]string{}},
		{"and then to another server", "openstack/floatingip", `{"floating_ip_address":"192.0.2.7","port_id":"p9","fixed_ip_address":"10.0.0.9","device_id":"s9"}`,
			map[string][]string{"openstack_compute_floatingip_associate_v2.www": {"instance_id"}}},
	} {
		var live model.Value
		if err := live.UnmarshalJSON([]byte(tc.live)); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tc.want, differing(d, tc.kind, live)); d != "" {
			t.Errorf("%s: %s", tc.reason, d)
		}
	}
	kinds := []model.Scope{{Kind: "openstack/floatingip"}, {Kind: "openstack/port"}, {Kind: "openstack/router"}, {Kind: "openstack/server"}}
	if diff := cmp.Diff(kinds, d.Scopes); diff != "" {
		t.Error(diff)
	}
}

// TestForwardings compares forwarded ports, whose numbers are texts in the fillings of their floating IP.
func TestForwardings(t *testing.T) {
	t.Parallel()
	const provider = `"provider": "provider[\"registry.terraform.io/terraform-provider-openstack/openstack\"]"`
	forwarding := func(name, protocol string, port int, address string) string {
		return fmt.Sprintf(`{"mode": "managed", "type": "openstack_networking_portforwarding_v2", "name": %q, %s, "instances": [{"schema_version": 0, "attributes":
{"id": %q, "floatingip_id": "f2", "protocol": %q, "external_port": %d, "internal_port": %d, "internal_ip_address": %q}}]}`, name, provider, name, protocol, port, port, address)
	}
	file := write(t, "terraform.tfstate", `{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "outputs": {}, "resources": [
{"mode": "managed", "type": "openstack_networking_floatingip_v2", "name": "gate", `+provider+`, "instances": [{"schema_version": 0, "attributes": {"id": "f2", "address": "192.0.2.8"}}]},
`+forwarding("web", "tcp", 443, "10.0.0.5")+","+forwarding("ssh", "tcp", 22, "10.0.0.9")+"]}")
	d, err := load(t, map[string]string{"cloud": "openstack"}, func(c *terraform.Config) { c.State = []string{file} })
	if err != nil {
		t.Fatal(err)
	}
	live := func(web, ssh, more string) string {
		return `{"floating_ip_address":"192.0.2.8","port_forwardings":[{"protocol":"tcp","external_port":443,"internal_port":443,"internal_ip_address":"` + web + `"},` +
			`{"protocol":"tcp","external_port":22,"internal_port":22,"internal_ip_address":"` + ssh + `"}` + more + `]}`
	}
	const added = `,{"protocol":"tcp","external_port":8443,"internal_port":443,"internal_ip_address":"10.0.0.5"}`
	for _, tc := range []struct {
		reason, live string
		want         map[string][]string
	}{
		{"as applied", live("10.0.0.5", "10.0.0.9", ""), map[string][]string{}},
		{"exchanged", live("10.0.0.9", "10.0.0.5", ""), map[string][]string{"openstack_networking_portforwarding_v2.ssh": {"internal_ip_address"}, "openstack_networking_portforwarding_v2.web": {"internal_ip_address"}}},
		{"an added one", live("10.0.0.5", "10.0.0.9", added),
			map[string][]string{"openstack_networking_floatingip_v2.gate": {"port_forwardings[0].external_port", "port_forwardings[0].internal_ip_address", "port_forwardings[0].internal_port", "port_forwardings[0].protocol"}}},
	} {
		var v model.Value
		if err := v.UnmarshalJSON([]byte(tc.live)); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tc.want, differing(d, "openstack/floatingip", v)); d != "" {
			t.Errorf("%s: %s", tc.reason, d)
		}
	}
}

func TestScopesOfRelatedKinds(t *testing.T) {
	t.Parallel()
	const router = `{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "outputs": {}, "resources": [
 {"mode": "managed", "type": "openstack_networking_router_v2", "name": "edge", "provider": "provider[\"registry.terraform.io/terraform-providers/openstack\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "r1", "name": "edge"}}]}]}`
	file := write(t, "terraform.tfstate", router)
	for _, tc := range []struct {
		reason    string
		unmanaged []string
		want      []model.Scope
	}{
		{"a floating IP opens what lies behind a router", nil, []model.Scope{{Kind: "openstack/floatingip"}, {Kind: "openstack/router"}}},
		{"unless the declaration says what it speaks of", []string{"openstack/router"}, []model.Scope{{Kind: "openstack/router"}}},
	} {
		d, err := load(t, map[string]string{"cloud": "openstack"}, func(c *terraform.Config) { c.State, c.Unmanaged = []string{file}, tc.unmanaged })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, d.Scopes); diff != "" {
			t.Errorf("%s: %s", tc.reason, diff)
		}
	}
}

// differing compares all claims on one kind with the same live value, and
// returns the paths that differ, by address.
func differing(d model.Declaration, kind string, live model.Value) map[string][]string {
	s := &model.Subject{Live: &model.Resource{Value: live}}
	for i := range d.Claims {
		if d.Claims[i].Kind == kind {
			s.Claims = append(s.Claims, &d.Claims[i])
		}
	}
	found := map[string][]string{}
	for _, o := range diff.Compare(s, diff.Options{}) {
		for _, c := range o.Changes {
			found[o.Claim.Address] = append(found[o.Claim.Address], c.Path)
		}
	}
	return found
}
