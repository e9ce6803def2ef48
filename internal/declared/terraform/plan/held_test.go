package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEditedNetworks checks manual changes of parents in Azure and Google Cloud. Findings are
// truncated at the live value.
func TestEditedNetworks(t *testing.T) {
	t.Parallel()
	const vnet, nsg, cluster, vm = "azurerm_virtual_network.main", "azurerm_network_security_group.web", "google_container_cluster.main", "google_compute_instance.vm"
	first := func(f *fixture, address, name string, fields object) object {
		element := object(f.copied(f.live(address)[name].([]any)[0]).(map[string]any))
		for field, v := range fields {
			element[field] = v
		}
		return element
	}
	for reason, tt := range map[string]struct {
		cloud string
		edit  func(f *fixture)
		want  []string
	}{
		"a subnet added by hand": {"azure", func(f *fixture) {
			f.edit(vnet, object{"subnet": f.more(vnet, "subnet", first(f, vnet, "subnet", object{"id": "/other", "name": "other"}))})
		}, []string{vnet + ": changed subnet"}},
		"another security group on a declared subnet": {"azure", func(f *fixture) {
			f.edit(vnet, object{"subnet": []any{first(f, vnet, "subnet", object{"security_group": "/nsg/open"})}})
		}, []string{vnet + ": changed subnet"}},
		"a virtual network of the same name in another resource group": {"azure", func(f *fixture) {
			f.find("azurerm_subnet.web", prior...)["depends_on"] = []any{"azurerm_virtual_network.other"}
			expressions := f.find("azurerm_subnet.web", "configuration", "root_module", "resources")["expressions"].(map[string]any)
			expressions["virtual_network_name"] = object{"references": []string{"azurerm_virtual_network.other.name", "azurerm_virtual_network.other"}}
		}, []string{vnet + ": changed subnet"}},
		"a declared rule opened by hand": {"azure", func(f *fixture) {
			ports := []any{"443", "8443", "22"}
			f.edit(nsg, object{"security_rule": []any{first(f, nsg, "security_rule", object{"destination_port_ranges": ports})}})
			declared := object{"destination_port_ranges": f.live("azurerm_network_security_rule.https")["destination_port_ranges"]}
			f.edit("azurerm_network_security_rule.https", object{"destination_port_ranges": ports})
			f.declare("azurerm_network_security_rule.https", declared)
		}, []string{"azurerm_network_security_rule.https: changed destination_port_ranges"}},
		"a rule added by hand with the values of a declared one": {"azure", func(f *fixture) {
			f.edit(nsg, object{"security_rule": f.more(nsg, "security_rule", first(f, nsg, "security_rule", object{"name": "again", "priority": 101}))})
		}, []string{nsg + ": changed security_rule"}},
		"a route of a table turned elsewhere, as its resource does not": {"azure", func(f *fixture) {
			f.edit("azurerm_route_table.web", object{"route": []any{first(f, "azurerm_route_table.web", "route", object{"next_hop_in_ip_address": "10.0.0.66"})}})
		}, []string{"azurerm_route_table.web: changed route"}},
		"a disk attached by hand": {"google", func(f *fixture) {
			f.edit(vm, object{"attached_disk": f.more(vm, "attached_disk", first(f, vm, "attached_disk", object{"source": "https://www.googleapis.com/compute/v1/projects/p/zones/z/disks/data2"}))})
		}, []string{vm + ": changed attached_disk"}},
		"a node pool added by hand": {"google", func(f *fixture) {
			f.edit(cluster, object{"node_pool": f.more(cluster, "node_pool", first(f, cluster, "node_pool", object{"name": "three"}))})
		}, []string{cluster + ": changed node_pool"}},
		"a declared node pool edited by hand": {"google", func(f *fixture) {
			const pool = "google_container_node_pool.one"
			edited := object{"node_config": []any{object{"machine_type": "n2-highmem-8", "disk_size_gb": 100, "oauth_scopes": []any{"x"}}}}
			declared := object{"node_config": f.live(pool)["node_config"]}
			f.edit(cluster, object{"node_config": edited["node_config"], "node_pool": append([]any{first(f, cluster, "node_pool", edited)}, f.live(cluster)["node_pool"].([]any)[1:]...)})
			f.edit(pool, edited)
			f.declare(pool, declared)
		}, []string{"google_container_node_pool.one: changed node_config"}},
		"node pools destroyed by an apply": {"google", func(f *fixture) {
			f.refreshed()
			f.destroy("google_container_node_pool.two")
			f.edit(cluster, object{"node_pool": f.live(cluster)["node_pool"].([]any)[:1]})
		}, nil},
	} {
		f := newFixture(t, tt.cloud)
		tt.edit(f)
		var got []string
		for _, line := range f.findings() {
			place, _, _ := strings.Cut(line, ": declared ")
			place, _, _ = strings.Cut(place, "[")
			got = append(got, place)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", reason, d, strings.Join(f.findings(), "\n"))
		}
	}
}

// TestBlank checks which blocks are blank.
func TestBlank(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"enabled":false}`:                           true,
		`{"enabled":false,"tags":{},"list":[]}`:       true,
		`{"days":0,"rule":[{"prefix":""}]}`:           true,
		`{"enabled":true}`:                            false,
		`{"mode":"off"}`:                              false,
		`{}`:                                          false,
		`{"list":[]}`:                                 false,
		`{"enabled":false,"allow":[{}]}`:              false,
		`{"allow":[{"custom":[]}],"enabled":false}`:   false,
		`{"enabled":false,"rule":[{"port":22}]}`:      false,
		`{"enabled":false,"rule":["10.0.0.0/8"]}`:     false,
		`{"enabled":false,"names":{"a":"something"}}`: false,
	} {
		p := decoded(t, object{"resource_changes": []any{change("lab_server.web", "no-op", json.RawMessage(text), json.RawMessage(text), nil)}})
		if got := isBlank(valueOf(p.ResourceChanges[0].Change.After)); got != want {
			t.Errorf("isBlank(%s) = %t", text, got)
		}
	}
}
