//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/netboxlab"
	"github.com/driftd/driftd/test/tftest"
)

const netboxConfig = `
sources:
  - {name: netbox, type: netbox, settings: {url: "%s", token_file: netbox-token}}
declarations:
  - {name: infra, type: terraform, governs: [netbox], settings: {engine: state, state: [root/terraform.tfstate]}}
`

const (
	machines  = "virtualization/virtual-machines"
	addresses = "ipam/ip-addresses"
	nics      = "virtualization/interfaces"
	macs      = "dcim/mac-addresses"
)

// appliedDesk applies a configuration to a NetBox of a version that the real provider supports,
// and then upgrades that NetBox.
func appliedDesk(t *testing.T, cli tftest.CLI, version string) *desk {
	t.Helper()
	d := newDesk(t, "3.1.11")
	main, err := os.ReadFile(filepath.Join("..", "netboxlab", "testdata", "main.tf"))
	if err != nil {
		t.Fatal(err)
	}
	d.netbox.AddUser("svc-terraform")
	d.apply(cli, main, "TF_VAR_server_url="+d.url, "TF_VAR_api_token="+netboxlab.Token("svc-terraform"))
	d.netbox.SetVersion(version)
	d.write("driftd.yaml", fmt.Sprintf(netboxConfig, d.url))
	return d
}

// TestNetBox applies a configuration with the real provider, and edits NetBox by hand: driftd
// reports exactly these edits, with their actors.
func TestNetBox(t *testing.T) {
	t.Parallel()
	for _, cli := range terraformCLIs(t) {
		for _, version := range []string{"3.7.8", "4.1.11", "4.6.8"} {
			t.Run(cli.Name+" "+version, func(t *testing.T) {
				t.Parallel()
				d := appliedDesk(t, cli, version)
				d.expect("nothing has changed since the apply")
				d.expect("they were edited by hand", d.editNetBox()...)
				d.weaken()
			})
		}
	}
}

// editNetBox edits the objects of the provider, and returns the expected findings.
func (d *desk) editNetBox() []string {
	d.t.Helper()
	entry := func(user string, change int) string { return fmt.Sprintf(" by %s (object-change %d)", user, change) }
	vm1 := d.at(machines, "app-01")
	web := []map[string]any{{"name": "managed"}, {"name": "web"}}
	memory := d.by("mara", "PATCH", vm1, map[string]any{"memory": 8192})
	dns := d.by("jonas", "PATCH", d.at(addresses, "10.20.1.12/24"), map[string]any{"dns_name": "other.example.net"})
	tag := d.by("priya", "PATCH", d.at(machines, "app-02"), map[string]any{"tags": web})
	site := d.by("priya", "PATCH", d.at("dcim/sites", "Frankfurt 1"), map[string]any{"name": "Frankfurt DC1"})
	gone := d.by("mara", "DELETE", d.at(machines, "db-01"), nil)
	made := d.by("jonas", "POST", machines, map[string]any{"name": "app-99", "cluster": d.id("virtualization/clusters", "prod-fra"), "memory": 1024})
	return []string{
		`changed netbox_virtual_machine.vm["app-01"]: memory_mb 4096 -> 8192` + entry("mara", memory),
		`changed netbox_ip_address.vm["app-02"]: dns_name "app-02.example.net" -> "other.example.net"` + entry("jonas", dns),
		`changed netbox_virtual_machine.vm["app-02"]: tags ["managed"] -> ["managed","web"]` + entry("priya", tag),
		`changed netbox_site.fra1: name "Frankfurt 1" -> "Frankfurt DC1"` + entry("priya", site),
		`missing netbox_virtual_machine.vm["db-01"]` + entry("mara", gone),
		`missing netbox_interface.eth0["db-01"]` + entry("mara", gone-1),
		`missing netbox_ip_address.vm["db-01"]` + entry("mara", gone-2),
		`missing netbox_primary_ip.vm["db-01"]` + entry("mara", gone),
		`unmanaged netbox/virtualization.virtualmachine app-99` + entry("jonas", made),
	}
}

// weaken restricts driftd to the objects of one tenant, and to some models: the others are
// unchecked, never missing.
func (d *desk) weaken() {
	d.t.Helper()
	payments := map[string]any{"tenant__slug": "payments"}
	d.netbox.Grant("driftd",
		netboxlab.Permission{Models: []string{"virtualization.virtualmachine", "ipam.ipaddress"}, Actions: []string{"view"}, Constraints: payments},
		netboxlab.Permission{Models: []string{"dcim.site", "tenancy.tenant", "virtualization.cluster", "extras.tag"}, Actions: []string{"view"}})
	report := d.scan()
	seen := map[model.Verdict][]string{}
	for _, f := range report.Findings {
		seen[f.Verdict] = append(seen[f.Verdict], f.Address)
	}
	if len(seen[model.Missing]) > 0 {
		d.t.Errorf("a weak token calls %q missing", seen[model.Missing])
	}
	unchecked := strings.Join(seen[model.Unchecked], " ")
	for _, address := range []string{`netbox_virtual_machine.vm["db-01"]`, `netbox_ip_address.vm["db-01"]`, `netbox_prefix.app`, `netbox_interface.eth0["app-01"]`} {
		if !strings.Contains(unchecked, address) {
			d.t.Errorf("%s is not unchecked; reasons:\n%s", address, reasons(report))
		}
	}
	changed := strings.Join(seen[model.Changed], " ")
	for _, address := range []string{`netbox_virtual_machine.vm["app-01"]`, `netbox_site.fra1`, `netbox_ip_address.vm["app-02"]`} {
		if !strings.Contains(changed, address) {
			d.t.Errorf("%s is not called changed any more, although it is seen", address)
		}
	}
}

// TestNetBoxBroken responds with a login page, a proxy's error, half a response, and not in
// time: everything is unchecked, nothing is missing, and the reason has a next step.
func TestNetBoxBroken(t *testing.T) {
	t.Parallel()
	cli := oneCLI(t)
	d := appliedDesk(t, cli, "4.6.8")
	for _, test := range []struct {
		reason string
		fault  netboxlab.Fault
		says   string
	}{
		{"the session ended", netboxlab.Fault{Login: true}, "log"},
		{"its proxy does not reach it", netboxlab.Fault{Status: 502}, "502"},
		{"an answer breaks off", netboxlab.Fault{Path: "/api/virtualization/virtual-machines/", Truncate: true}, ""},
	} {
		d.netbox.Break(test.fault)
		report := d.scan()
		got := reasons(report)
		for _, f := range report.Findings {
			if f.Verdict != model.Unchecked {
				t.Errorf("%s: %s is called %s", test.reason, f.Address, f.Verdict)
			}
		}
		if !strings.Contains(got, `netbox_virtual_machine.vm["app-01"]`) || !strings.Contains(got, test.says) {
			t.Errorf("%s: reasons:\n%s", test.reason, got)
		}
	}
	d.netbox.Break()
	d.expect("it works again")
}

// TestNetBoxMoves deletes the first virtual machine of the list after driftd has read the first
// page, which moves all others up: none is missed.
func TestNetBoxMoves(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.7.8", "4.4.10", "4.6.8"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			d := appliedDesk(t, oneCLI(t), version)
			d.by("jonas", "POST", machines, map[string]any{"name": "aaa", "cluster": d.id("virtualization/clusters", "prod-fra")})
			d.write("driftd.yaml", strings.Replace(fmt.Sprintf(netboxConfig, d.url), "netbox-token}", "netbox-token, page_size: 2}", 1))
			victim := d.at(machines, "aaa")
			var pages atomic.Int32
			d.netbox.Before(func(r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/virtual-machines/") && pages.Add(1) == 2 {
					if _, err := d.netbox.Do("jonas", "DELETE", victim, nil); err != nil {
						t.Error(err)
					}
				}
			})
			d.expect("nobody claims the machine that went")
			if _, err := d.netbox.Find(machines, "aaa"); err == nil {
				t.Errorf("nothing went while the list was read, in %d pages", pages.Load())
			}
		})
	}
}
