package terraform_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
)

// afterOneApply holds a machine as the provider read it before it made the
// address and the disk that changed it.
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

func TestStateKnowsWhatItsInstancesPutIntoEachOther(t *testing.T) {
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
		{"freshly applied", `{"name":"app","cluster":2,"disk":5000,"primary_ip4":7}`, map[string][]string{}},
		{"a disk that nobody declares, and another address", `{"name":"app","cluster":2,"disk":6000,"primary_ip4":8}`,
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
