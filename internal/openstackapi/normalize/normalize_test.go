package normalize_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

func kindOf(t testing.TB, name string) *normalize.Kind {
	t.Helper()
	kinds := normalize.Kinds()
	i := slices.IndexFunc(kinds, func(k *normalize.Kind) bool { return k.Name == name })
	if i < 0 {
		t.Fatalf("there is no kind %s", name)
	}
	return kinds[i]
}

func parse(t testing.TB, text string) model.Value {
	t.Helper()
	v, err := decode.JSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func object(t testing.TB, kind, row string) normalize.Object {
	t.Helper()
	o, err := normalize.New().Object(kindOf(t, kind), parse(t, row))
	if err != nil {
		t.Fatalf("%s %s: %v", kind, row, err)
	}
	return o
}

func text(v model.Value) string { return string(v.AppendJSON(nil)) }

func TestObjects(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct{ kind, row, name, want string }{
		"a server": {normalize.Server, `{"id":"s","name":"web","description":"first","status":"ACTIVE","OS-EXT-STS:vm_state":"active","OS-EXT-STS:task_state":null,"OS-EXT-STS:power_state":1,
			"flavor":{"id":"f","links":[]},"image":{"id":"i","links":[]},"key_name":"ops","metadata":{"b":"","a":"1"},"tags":["z","a"],"OS-EXT-AZ:availability_zone":"nova","config_drive":"True",
			"accessIPv4":"203.0.113.9","accessIPv6":"","security_groups":[{"name":"web"},{"name":"default"},{"name":"web"}],"os-extended-volumes:volumes_attached":[{"id":"v2"},{"id":"v1"}],
			"locked":false,"progress":0,"hostId":"h","OS-EXT-SRV-ATTR:host":"c1","OS-EXT-SRV-ATTR:user_data":"c2VjcmV0","addresses":{"net":[{"addr":"10.0.0.1"}]}}`, "web",
			`{"access_ipv4":"203.0.113.9","availability_zone":"nova","config_drive":true,"description":"first","flavor":"f","image":"i","key_name":"ops","locked":false,"metadata":{"a":"1","b":""},"name":"web","security_groups":["default","web"],"tags":["a","z"],"vm_state":"active","volumes":["v1","v2"]}`},
		"a server that boots from a volume": {normalize.Server, `{"id":"s","name":"db","image":"","flavor":{"id":"1"},"metadata":{},"config_drive":"","key_name":null,"tags":[]}`, "db", `{"flavor":"1","name":"db"}`},
		"a server that failed":              {normalize.Server, `{"id":"s","name":"x","status":"ERROR","OS-EXT-STS:vm_state":"error","OS-EXT-AZ:availability_zone":"","addresses":{},"hostId":""}`, "x", `{"name":"x","vm_state":"error"}`},
		"a flavor": {normalize.Flavor, `{"id":"f","name":"m1","ram":512,"disk":1,"swap":"","OS-FLV-EXT-DATA:ephemeral":0,"OS-FLV-DISABLED:disabled":false,"vcpus":1,"os-flavor-access:is_public":true,"rxtx_factor":1.0,"description":null,"extra_specs":{"hw:cpu_policy":"shared"}}`, "m1",
			`{"disabled":false,"disk":1,"ephemeral":0,"extra_specs":{"hw:cpu_policy":"shared"},"is_public":true,"name":"m1","ram":512,"rxtx_factor":1,"swap":0,"vcpus":1}`},
		"a flavor with swap": {normalize.Flavor, `{"id":"f","name":"m1","swap":64}`, "m1", `{"name":"m1","swap":64}`},
		"a keypair":          {normalize.Keypair, `{"keypair":{"name":"ops","public_key":"ssh-ed25519 AAAA me\n","fingerprint":"4e:5c","type":"ssh","private_key":"-----BEGIN"}}`, "ops", `{"fingerprint":"4e:5c","name":"ops","public_key":"ssh-ed25519 AAAA me","type":"ssh"}`},
		"a server group":     {normalize.ServerGroup, `{"id":"g","name":"apart","policies":["anti-affinity"],"metadata":{},"members":["s"],"project_id":"p","user_id":"u"}`, "apart", `{"name":"apart","policies":["anti-affinity"]}`},
		"an image": {normalize.Image, `{"id":"i","name":"debian","hw_disk_bus":"virtio","empty":"","owner":"p","visibility":"private","protected":false,"os_hidden":false,"size":1000,"virtual_size":1000,"checksum":"ede3","min_disk":0,"min_ram":0,
			"status":"active","tags":["b","a"],"self":"/v2/images/i","file":"/f","schema":"/s","stores":"fs","direct_url":"swift+https://u:hunter2@x/","locations":[{"url":"x"}],"os_hash_algo":"sha512","os_hash_value":"cf","os_glance_import_task":"t","container_format":"bare","disk_format":"raw"}`, "debian",
			`{"checksum":"ede3","container_format":"bare","disk_format":"raw","min_disk":0,"min_ram":0,"name":"debian","os_hidden":false,"properties":{"empty":"","hw_disk_bus":"virtio"},"protected":false,"size":1000,"status":"active","tags":["a","b"],"visibility":"private"}`},
		"an image without properties": {normalize.Image, `{"id":"i","name":"bare","size":null,"tags":[]}`, "bare", `{"name":"bare"}`},
		"a network": {normalize.Network, `{"id":"n","name":"net","admin_state_up":true,"status":"ACTIVE","mtu":1450,"shared":false,"router:external":false,"subnets":["x"],"provider:network_type":"vxlan","provider:segmentation_id":97,"provider:physical_network":null,"port_security_enabled":true,"tags":["b","a"],"revision_number":4,"availability_zones":[]}`, "net",
			`{"admin_state_up":true,"external":false,"mtu":1450,"name":"net","network_type":"vxlan","port_security_enabled":true,"segmentation_id":97,"shared":false,"tags":["a","b"]}`},
		"a network of segments": {normalize.Network, `{"id":"n","name":"net","segments":[{"provider:network_type":"vlan","provider:segmentation_id":2,"provider:physical_network":"p"},{"provider:network_type":"flat","provider:segmentation_id":null,"provider:physical_network":"o"}]}`, "net",
			`{"name":"net","segments":[{"network_type":"flat","physical_network":"o"},{"network_type":"vlan","physical_network":"p","segmentation_id":2}]}`},
		"a subnet": {normalize.Subnet, `{"id":"s","name":"sub","network_id":"n","ip_version":4,"cidr":"10.0.0.0/24","gateway_ip":null,"enable_dhcp":true,"dns_nameservers":["9.9.9.9","1.1.1.1"],"host_routes":[{"destination":"192.168.0.0/16","nexthop":"10.0.0.2"}],
			"allocation_pools":[{"start":"10.0.0.150","end":"10.0.0.200"},{"start":"10.0.0.10","end":"10.0.0.100"}],"ipv6_ra_mode":null,"service_types":[],"description":""}`, "sub",
			`{"allocation_pools":[{"end":"10.0.0.100","start":"10.0.0.10"},{"end":"10.0.0.200","start":"10.0.0.150"}],"cidr":"10.0.0.0/24","dns_nameservers":["9.9.9.9","1.1.1.1"],"enable_dhcp":true,"host_routes":[{"destination":"192.168.0.0/16","nexthop":"10.0.0.2"}],"ip_version":4,"name":"sub","network_id":"n"}`},
		"a port": {normalize.Port, `{"id":"p","name":"web","mac_address":"FA:16:3E:AA:BB:01","admin_state_up":true,"status":"DOWN","device_id":"","device_owner":"","fixed_ips":[{"subnet_id":"s","ip_address":"10.0.0.9"},{"subnet_id":"s","ip_address":"10.0.0.20"}],
			"allowed_address_pairs":[{"mac_address":"AA:BB:CC:00:11:22","ip_address":"10.0.0.21"},{"mac_address":"fa:16:3e:aa:bb:01","ip_address":"10.0.0.0/24"}],"extra_dhcp_opts":[{"opt_name":"mtu","opt_value":"9000","ip_version":4}],
			"security_groups":["b","a"],"port_security_enabled":true,"binding:vnic_type":"normal","binding:host_id":"c1","binding:profile":{},"binding:vif_details":{"port_filter":true}}`, "web",
			`{"admin_state_up":true,"allowed_address_pairs":[{"ip_address":"10.0.0.0/24"},{"ip_address":"10.0.0.21","mac_address":"aa:bb:cc:00:11:22"}],"extra_dhcp_opts":[{"ip_version":4,"opt_name":"mtu","opt_value":"9000"}],"fixed_ips":[{"ip_address":"10.0.0.20","subnet_id":"s"},{"ip_address":"10.0.0.9","subnet_id":"s"}],"mac_address":"fa:16:3e:aa:bb:01","name":"web","port_security_enabled":true,"security_groups":["a","b"],"vnic_type":"normal"}`},
		"a router": {normalize.Router, `{"id":"r","name":"edge","external_gateway_info":{"network_id":"n","external_fixed_ips":[{"subnet_id":"s","ip_address":"203.0.113.9"}],"enable_snat":true},"routes":[{"destination":"172.16.0.0/12","nexthop":"10.0.0.2"}],"distributed":false,"ha":false,"status":"ACTIVE","availability_zones":[]}`, "edge",
			`{"distributed":false,"external_gateway_info":{"enable_snat":true,"external_fixed_ips":[{"ip_address":"203.0.113.9","subnet_id":"s"}],"network_id":"n"},"ha":false,"name":"edge","routes":[{"destination":"172.16.0.0/12","nexthop":"10.0.0.2"}]}`},
		"a router without an outside":    {normalize.Router, `{"id":"r","name":"inner","external_gateway_info":null,"routes":[]}`, "inner", `{"name":"inner"}`},
		"an outside without addresses":   {normalize.Router, `{"id":"r","name":"edge","external_gateway_info":{"network_id":"n","enable_snat":false,"external_fixed_ips":[]}}`, "edge", `{"external_gateway_info":{"enable_snat":false,"network_id":"n"},"name":"edge"}`},
		"a floating IP":                  {normalize.FloatingIP, `{"id":"f","floating_ip_address":"203.0.113.5","floating_network_id":"n","port_id":null,"fixed_ip_address":null,"router_id":null,"status":"DOWN","port_details":null,"description":"free"}`, "203.0.113.5", `{"description":"free","floating_ip_address":"203.0.113.5","floating_network_id":"n"}`},
		"a floating IP that is attached": {normalize.FloatingIP, `{"id":"f","floating_ip_address":"203.0.113.5","port_id":"p","fixed_ip_address":"10.0.0.9","router_id":"r","port_details":{"status":"DOWN"}}`, "203.0.113.5", `{"fixed_ip_address":"10.0.0.9","floating_ip_address":"203.0.113.5","port_id":"p","router_id":"r"}`},
		"a floating IP that forwards": {normalize.FloatingIP, `{"id":"f","floating_ip_address":"203.0.113.5","port_forwardings":[{"protocol":"tcp","internal_ip_address":"10.0.0.9","internal_port":22,"external_port":2222,"id":"x"}]}`, "203.0.113.5",
			`{"floating_ip_address":"203.0.113.5","port_forwardings":[{"external_port":2222,"internal_ip_address":"10.0.0.9","internal_port":22,"protocol":"tcp"}]}`},
		"a security group": {normalize.SecurityGroup, `{"id":"g","name":"web","stateful":true,"description":"","shared":false,"security_group_rules":[{"id":"r"}],"tags":[]}`, "web", `{"name":"web","stateful":true}`},
		"a rule":           {normalize.SecurityGroupRule, `{"id":"r","direction":"ingress","ethertype":"IPv4","protocol":"tcp","port_range_min":22,"port_range_max":22,"remote_ip_prefix":"10.0.0.5/8","normalized_cidr":"10.0.0.0/8","remote_group_id":null,"security_group_id":"g","description":""}`, "", `{"direction":"ingress","ethertype":"IPv4","port_range_max":22,"port_range_min":22,"protocol":"tcp","remote_ip_prefix":"10.0.0.5/8","security_group_id":"g"}`},
		"a rule of ICMP":   {normalize.SecurityGroupRule, `{"id":"r","protocol":"icmp","port_range_min":8,"port_range_max":0}`, "", `{"port_range_max":0,"port_range_min":8,"protocol":"icmp"}`},
		"a volume": {normalize.Volume, `{"id":"v","name":"data","size":10,"status":"in-use","bootable":"true","encrypted":false,"multiattach":false,"volume_type":"fast","description":null,"metadata":{"readonly":"False","attached_mode":"rw","role":"db"},"attachments":[{"server_id":"s","device":"/dev/vdb","attachment_id":"a","host_name":null}],"os-vol-host-attr:host":"h","replication_status":null}`, "data",
			`{"attachments":[{"device":"/dev/vdb","server_id":"s"}],"bootable":true,"encrypted":false,"metadata":{"role":"db"},"multiattach":false,"name":"data","size":10,"volume_type":"fast"}`},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			o := object(t, tc.kind, tc.row)
			if got := text(o.Value); got != tc.want || o.Name != tc.name {
				t.Errorf("%q:\n%s, want %q:\n%s", o.Name, got, tc.name, tc.want)
			}
		})
	}
}

func TestProtocols(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{`"tcp"`: "tcp", `"TCP"`: "tcp", `"6"`: "tcp", `6`: "tcp", `"17"`: "udp", `"1"`: "icmp", `"58"`: "ipv6-icmp", `"icmpv6"`: "ipv6-icmp",
		`"ipv6-icmp"`: "ipv6-icmp", `"132"`: "sctp", `"200"`: "200", `null`: "", `""`: "", `"any"`: "", `"0"`: "", `0`: ""} {
		o := object(t, normalize.SecurityGroupRule, `{"id":"r","protocol":`+written+`}`)
		if got := o.Value.At("protocol").Text(); got != want {
			t.Errorf("%s is %q, want %q", written, got, want)
		}
	}
}

func TestOwnersAndTimes(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Date(2026, 1, 2, 3, 4, second, 0, time.UTC) }
	for reason, tc := range map[string]struct {
		kind, row, place, user string
		created, updated       time.Time
	}{
		"Nova":                            {normalize.Server, `{"id":"x","tenant_id":"p","user_id":"u","created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:06Z"}`, "p", "u", at(5), at(6)},
		"Neutron":                         {normalize.Port, `{"id":"x","tenant_id":"p","project_id":"p","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:06Z"}`, "p", "", at(5), at(6)},
		"Glance":                          {normalize.Image, `{"id":"x","owner":"p","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:06Z"}`, "p", "", at(5), at(6)},
		"Cinder, whose times lack a zone": {normalize.Volume, `{"id":"x","os-vol-tenant-attr:tenant_id":"p","user_id":"u","created_at":"2026-01-02T03:04:05.000000","updated_at":"2026-01-02T03:04:06.000000"}`, "p", "u", at(5), at(6)},
		"without a project":               {normalize.Port, `{"id":"x","tenant_id":"","project_id":""}`, "", "", time.Time{}, time.Time{}},
		"a flavor has no project":         {normalize.Flavor, `{"id":"x","project_id":"p"}`, "", "", time.Time{}, time.Time{}},
		"an invalid time":                 {normalize.Image, `{"id":"x","owner":"p","created_at":"yesterday"}`, "p", "", time.Time{}, time.Time{}},
		"a time that cannot be stored":    {normalize.Image, `{"id":"x","owner":"p","updated_at":"9999-12-31T23:59:59-23:00"}`, "p", "", time.Time{}, time.Time{}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			o := object(t, tc.kind, tc.row)
			if o.ID != "x" || o.Place != tc.place || o.User != tc.user || !o.Created.Equal(tc.created) || !o.Updated.Equal(tc.updated) {
				t.Errorf("%q of %q by %q, %s, %s", o.ID, o.Place, o.User, o.Created, o.Updated)
			}
		})
	}
}

func TestBusy(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct{ kind, row, want string }{
		"a server":                        {normalize.Server, `{"status":"ACTIVE","OS-EXT-STS:task_state":null}`, ""},
		"a server that is made":           {normalize.Server, `{"status":"BUILD","OS-EXT-STS:task_state":"spawning"}`, "status is BUILD"},
		"a server that is resized":        {normalize.Server, `{"status":"RESIZE"}`, "status is RESIZE"},
		"a server of a cell that is down": {normalize.Server, `{"status":"UNKNOWN"}`, "status is UNKNOWN"},
		"an unconfirmed resize":           {normalize.Server, `{"status":"VERIFY_RESIZE"}`, ""},
		"a server that is deleted":        {normalize.Server, `{"status":"ACTIVE","OS-EXT-STS:task_state":"deleting"}`, "task_state is deleting"},
		"a server whose image is made":    {normalize.Server, `{"status":"ACTIVE","OS-EXT-STS:task_state":"image_uploading"}`, ""},
		"a server that failed":            {normalize.Server, `{"status":"ERROR"}`, ""},
		"a volume":                        {normalize.Volume, `{"status":"in-use"}`, ""},
		"a volume that is attached":       {normalize.Volume, `{"status":"attaching"}`, "status is attaching"},
		"a volume that is backed up":      {normalize.Volume, `{"status":"backing-up"}`, ""},
		"an image without content":        {normalize.Image, `{"status":"queued"}`, "status is queued"},
		"an image that was taken away":    {normalize.Image, `{"status":"deactivated"}`, ""},
		"a port, whose status is ignored": {normalize.Port, `{"status":"BUILD"}`, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			row := parse(t, tc.row).With("id", model.StringOf("x"))
			o, err := normalize.New().Object(kindOf(t, tc.kind), row)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(o.Busy, tc.want) || (o.Busy == "") != (tc.want == "") {
				t.Errorf("busy is %q, want %q", o.Busy, tc.want)
			}
		})
	}
}

func TestRowsWithoutAnID(t *testing.T) {
	t.Parallel()
	for _, k := range normalize.Kinds() {
		for _, row := range []string{`{}`, `{"id":7,"name":7,"keypair":7}`, `[]`, `null`} {
			if o, err := normalize.New().Object(k, parse(t, row)); err == nil {
				t.Errorf("%s: %s is %q", k.Name, row, o.ID)
			}
		}
	}
}

func TestNoSecretIsRead(t *testing.T) {
	t.Parallel()
	const row = `{"id":"x","name":"x","adminPass":"hunter2","OS-EXT-SRV-ATTR:user_data":"hunter2","direct_url":"https://a:hunter2@x","locations":[{"url":"hunter2"}],"file":"hunter2",
		"keypair":{"name":"x","private_key":"hunter2"}}`
	for _, k := range normalize.Kinds() {
		o, err := normalize.New().Object(k, parse(t, row))
		if err != nil {
			t.Fatal(err)
		}
		if k.Name == normalize.Image {
			o.Value = o.Value.With("properties", o.Value.At("properties").Without("adminPass", "OS-EXT-SRV-ATTR:user_data", "keypair"))
		}
		if strings.Contains(text(o.Value), "hunter2") {
			t.Errorf("%s shows %s", k.Name, text(o.Value))
		}
	}
}
