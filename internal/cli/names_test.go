package cli_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/cli"
	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
)

// referringState declares a prefix, an address and a virtual machine of NetBox.
const referringState = `{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "6d3a", "outputs": {}, "resources": [
 {"mode": "managed", "type": "netbox_prefix", "name": "storage", "provider": "provider[\"registry.terraform.io/e-breuninger/netbox\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "3", "prefix": "192.0.2.0/24", "status": "active", "vlan_id": 22, "site_id": 5, "tenant_id": 9}}]},
 {"mode": "managed", "type": "netbox_ip_address", "name": "web", "provider": "provider[\"registry.terraform.io/e-breuninger/netbox\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "5", "ip_address": "192.0.2.1/24", "status": "active", "virtual_machine_interface_id": 3, "device_interface_id": null}}]},
 {"mode": "managed", "type": "netbox_virtual_machine", "name": "web", "provider": "provider[\"registry.terraform.io/e-breuninger/netbox\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "6", "name": "web", "status": "active", "site_id": 5, "cluster_id": null}}]}
]}`

// referringEstate is a NetBox in which these objects refer to other ones than the state declares.
func referringEstate() netboxtest.Estate {
	list := func(rows ...netboxtest.Row) netboxtest.List { return netboxtest.List{Rows: rows} }
	active := netboxtest.Choice("active", "Active")
	return netboxtest.Estate{
		Version: "4.6.8",
		Account: netboxtest.Row{"id": 8, "username": "driftd", "groups": []netboxtest.Row{}, "permissions": []netboxtest.Row{{"id": 1, "enabled": true}}},
		Lists: map[string]netboxtest.List{
			"users/permissions": list(netboxtest.Permission(1, 8, nil, "users.objectpermission", "core.objectchange", "dcim.site", "ipam.vlan", "ipam.prefix",
				"ipam.ipaddress", "tenancy.tenant", "virtualization.virtualmachine", "virtualization.vminterface")),
			"dcim/sites":      list(netboxtest.Row{"id": 5, "name": "Frankfurt", "slug": "fra"}, netboxtest.Row{"id": 6, "name": "Berlin", "slug": "ber"}),
			"tenancy/tenants": list(netboxtest.Row{"id": 1, "name": "shop", "slug": "shop"}),
			"ipam/vlans":      list(netboxtest.Row{"id": 22, "vid": 201, "name": "storage"}, netboxtest.Row{"id": 23, "vid": 203, "name": "backup"}),
			"ipam/prefixes": list(netboxtest.Row{"id": 3, "prefix": "192.0.2.0/24", "status": active, "vlan": netboxtest.Ref("ipam/vlans", 23, "backup (203)"),
				"scope_type": "dcim.site", "scope_id": 6, "tenant": netboxtest.Ref("tenancy/tenants", 1, "shop")}),
			"ipam/ip-addresses": list(netboxtest.Row{"id": 5, "address": "192.0.2.1/24", "status": active, "assigned_object_type": "virtualization.vminterface", "assigned_object_id": 4}),
			"virtualization/interfaces": list(netboxtest.Row{"id": 3, "name": "eth0", "virtual_machine": netboxtest.Ref("virtualization/virtual-machines", 6, "web")},
				netboxtest.Row{"id": 4, "name": "eth1", "virtual_machine": netboxtest.Ref("virtualization/virtual-machines", 6, "web")}),
			"virtualization/virtual-machines": list(netboxtest.Row{"id": 6, "name": "web", "status": active, "site": netboxtest.Ref("dcim/sites", 5, "Frankfurt"),
				"cluster": netboxtest.Ref("virtualization/clusters", 2, "prod")}),
		},
	}
}

// TestNamesBesideIDs checks that the findings on objects of NetBox that Terraform declares have the names
// of the objects to which their fields refer, and that a renamed object is no drift of these.
func TestNamesBesideIDs(t *testing.T) {
	t.Parallel()
	server := netboxtest.New(referringEstate(), rand.New(rand.NewPCG(5, 5)))
	server.Token = "Token " + strings.Repeat("6c", 20)
	listening := httptest.NewServer(server)
	t.Cleanup(listening.Close)
	dir := t.TempDir()
	for name, content := range map[string]string{
		"terraform.tfstate": referringState,
		"token":             strings.Repeat("6c", 20),
		"driftd.yaml": fmt.Sprintf(`
state_dir: ./state
sources: [{name: netbox, type: netbox, settings: {url: %q, token_file: ./token}}]
declarations: [{name: infra, type: terraform, governs: [netbox], settings: {engine: state, state: [./terraform.tfstate]}}]
`, listening.URL),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		var out, errs bytes.Buffer
		cli.Run(t.Context(), cli.Build{Version: "1.2.3"}, append(args, "--config", filepath.Join(dir, "driftd.yaml")), cli.Streams{Out: &out, Err: &errs})
		return out.String() + errs.String()
	}
	want := func(reason, text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s: the text lacks %q:\n%s", reason, part, text)
			}
		}
	}
	want("first scan", run("scan", "--format", "table"),
		"vlan_id (live: vlan): 22 (201 storage) (recorded) → 23 (203 backup)",
		"site_id (live: scope_id): 5 (Frankfurt) (recorded) → 6 (Berlin)",
		"tenant_id (live: tenant): 9 (no such object) (recorded) → 1 (shop)",
		"virtual_machine_interface_id (live: assigned_object_id): 3 (eth0) (recorded) → 4 (eth1)",
		// The token may not read clusters.
		"cluster_id (live: cluster): (absent) → 2\n")
	before := run("findings", "list", "--columns", "id,verdict,key,fields")

	server.Edit(func(e *netboxtest.Estate) { e.Lists["ipam/vlans"].Rows[1]["name"] = "dmz" })
	want("after another name", run("scan", "--format", "markdown"), "`22 (201 storage)` (recorded) → `23 (203 dmz)`")
	if after := run("findings", "list", "--columns", "id,verdict,key,fields"); after != before {
		t.Errorf("other findings after another name:\n%s\nbefore:\n%s", after, before)
	}
	ids := strings.Fields(run("findings", "list", "prefix/3", "--columns", "id", "-o", "csv"))
	if len(ids) != 2 {
		t.Fatalf("the ids are %q, want one", ids)
	}
	shown := run("findings", "show", ids[1])
	want("the finding", shown, "23 (203 dmz)")
	if strings.Contains(shown, "203 backup") {
		t.Errorf("the finding has a version with the former name:\n%s", shown)
	}
}
