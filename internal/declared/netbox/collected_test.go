package netbox

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

// TestCompareCollectedServer compares a server that the OpenStack collector read, with its
// ports and its flavor, with NetBox.
func TestCompareCollectedServer(t *testing.T) {
	t.Parallel()
	estate := normalize.Estate{Project: shopProject, Objects: map[string][]normalize.Object{}}
	for _, k := range normalize.Kinds() {
		for _, row := range map[string][]string{
			normalize.Server: {`{"id":"` + web1 + `","name":"web-1","tenant_id":"` + shopProject + `","OS-EXT-STS:vm_state":"stopped","flavor":{"id":"f1"},"image":{"id":"i1"},"tags":["front-end"]}`},
			normalize.Flavor: {`{"id":"f1","name":"m1.large","vcpus":4,"ram":8192,"disk":40}`},
			normalize.Port: {`{"id":"p1","device_id":"` + web1 + `","device_owner":"compute:nova","mac_address":"fa:16:3e:00:00:01","created_at":"2026-01-02T03:00:01Z","fixed_ips":[{"ip_address":"10.0.0.6","subnet_id":"s"}]}`,
				`{"id":"p2","device_id":"` + web1 + `","device_owner":"compute:nova","mac_address":"fa:16:3e:00:00:03","created_at":"2026-01-02T03:00:02Z"}`},
		}[k.Name] {
			object, err := normalize.New().Object(k, parse(t, row))
			if err != nil {
				t.Fatal(err)
			}
			estate.Objects[k.Name] = append(estate.Objects[k.Name], object)
		}
	}
	var servers []model.Resource
	resources, _ := estate.Resources("cloud")
	for _, r := range resources {
		if r.Kind == kindServer {
			servers = append(servers, r)
		}
	}
	want := []string{
		"changed disk flavor: 20480, live 40960",
		`changed interfaces[name=eth1].mac interfaces[1].mac: "FA:16:3E:00:00:02", live "FA:16:3E:00:00:03"`,
		"changed memory flavor: 4096, live 8192",
		`changed primary_ip4 interfaces[0].fixed_ips[0].ip_address: "10.0.0.5/24", live "10.0.0.6"`,
		`changed status vm_state: "active", live "offline"`,
		"changed vcpus flavor: 2, live 4",
	}
	for reason, identity := range map[string]string{"UUID": byUUID, "MAC address": byMAC, "name": byName} {
		d := derive(t, clouds("cloud"), netbox(t, shop), func(c *Config) { c.Identity = []string{identity} })
		if diff := gocmp.Diff(want, outcomes(d, cloud(servers...))); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
	}
}
