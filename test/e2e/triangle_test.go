//go:build e2e

package e2e

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/netboxlab"
	"github.com/driftd/driftd/test/pvelab"
	"github.com/driftd/driftd/test/tftest"
)

const guestsMain = `
terraform {
  required_providers {
    proxmox = { source = "bpg/proxmox" }
  }
}

variable "endpoint" {}

provider "proxmox" {
  endpoint  = var.endpoint
  api_token = "terraform@pve!tf=12345678-1234-1234-1234-123456789abc"
  insecure  = true
}

locals {
  guests = {
    web-01 = { id = 301, node = "pve1", cores = 2, memory = 2048, mac = "BC:24:11:00:00:01", address = "192.0.2.11/24" }
    db-01  = { id = 302, node = "pve2", cores = 4, memory = 4096, mac = "BC:24:11:00:00:02", address = "192.0.2.12/24" }
    app-01 = { id = 303, node = "pve1", cores = 2, memory = 2048, mac = "BC:24:11:00:00:03", address = "192.0.2.13/24" }
  }
}

resource "proxmox_virtual_environment_vm" "guest" {
  for_each  = local.guests
  name      = each.key
  node_name = each.value.node
  vm_id     = each.value.id
  tags      = ["shop"]
  cpu {
    cores = each.value.cores
  }
  memory {
    dedicated = each.value.memory
  }
  disk {
    datastore_id = "local-lvm"
    interface    = "scsi0"
    size         = 8
    file_format  = "raw"
  }
  initialization {
    datastore_id = "local-lvm"
    ip_config {
      ipv4 {
        address = each.value.address
        gateway = "192.0.2.1"
      }
    }
  }
  network_device {
    bridge      = "vmbr0"
    mac_address = each.value.mac
  }
  operating_system {
    type = "l26"
  }
}

resource "proxmox_virtual_environment_container" "dns" {
  node_name    = "pve2"
  vm_id        = 310
  unprivileged = true
  tags         = ["shop"]
  cpu {
    cores = 1
  }
  memory {
    dedicated = 512
  }
  initialization {
    hostname = "dns"
    ip_config {
      ipv4 {
        address = "192.0.2.53/24"
        gateway = "192.0.2.1"
      }
    }
  }
  network_interface {
    name        = "eth0"
    bridge      = "vmbr0"
    mac_address = "BC:24:11:00:00:04"
  }
  disk {
    datastore_id = "local-lvm"
    size         = 4
  }
  operating_system {
    template_file_id = "local:vztmpl/debian-12.tar.zst"
    type             = "debian"
  }
}
`

const addressesMain = `
terraform {
  required_providers {
    netbox = { source = "e-breuninger/netbox" }
  }
}

variable "server_url" {}
variable "api_token" {}
variable "interfaces" { type = map(object({ id = number, address = string })) }

provider "netbox" {
  server_url         = var.server_url
  api_token          = var.api_token
  skip_version_check = true
}

resource "netbox_ip_address" "guest" {
  for_each     = var.interfaces
  ip_address   = each.value.address
  status       = "active"
  dns_name     = "${each.key}.example.net"
  interface_id = each.value.id
}
`

const triangleConfig = `
sources:
  - {name: pve, type: proxmox, settings: {url: "%s", ca_file: pve.pem, token_id: "driftd@pve!ro", token_file: pve-token}}
  - {name: netbox, type: netbox, settings: {url: "%s", token_file: netbox-token}}
declarations:
  - {name: infra, type: terraform, governs: [pve], settings: {engine: state, state: [guests/terraform.tfstate]}}
  - {name: network, type: terraform, governs: [netbox], settings: {engine: state, state: [addresses/terraform.tfstate]}}
  - {name: intent, type: netbox, governs: [pve], settings: {source: netbox}}
`

// A triangle is a desk with a Proxmox cluster in addition: Terraform, NetBox and the cluster
// agree on the same guests.
type triangle struct {
	*desk
	pve *pvelab.Lab
	// interfaces are the guests' interfaces in NetBox, by guest.
	interfaces map[string]map[string]any
}

// newTriangle creates guests in a cluster with Terraform, describes them in NetBox, and creates
// their addresses there with Terraform.
func newTriangle(t *testing.T, cli tftest.CLI) *triangle {
	t.Helper()
	tri := &triangle{desk: newDesk(t, "3.1.11"), interfaces: map[string]map[string]any{},
		pve: pvelab.New(pvetest.New(pvelab.Cluster(), rand.New(rand.NewPCG(1, 2))))}
	tri.pve.Now = tri.clock.now
	server := tri.serve(tri.pve, (*httptest.Server).StartTLS)
	tri.write("pve.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	tri.write("pve-token", "0123\n")
	tri.write("driftd.yaml", fmt.Sprintf(triangleConfig, server.URL, tri.url))
	tri.applyIn("guests", cli, guestsMain, "TF_VAR_endpoint="+server.URL)
	tri.describe()
	tri.netbox.AddUser("svc-terraform")
	interfaces, err := json.Marshal(tri.interfaces)
	if err != nil {
		t.Fatal(err)
	}
	tri.applyIn("addresses", cli, addressesMain, "TF_VAR_server_url="+tri.url,
		"TF_VAR_api_token="+netboxlab.Token("svc-terraform"), "TF_VAR_interfaces="+string(interfaces))
	tri.netbox.SetVersion("4.6.8")
	writes := tri.pve.Writes()
	t.Cleanup(func() {
		if n := tri.pve.Writes() - writes; n > 0 {
			t.Errorf("driftd made %d requests to change the cluster", n)
		}
	})
	for name, nic := range tri.interfaces {
		tri.by("admin", "PATCH", tri.at(machines, name), map[string]any{"primary_ip4": tri.id(addresses, fmt.Sprint(nic["address"]))})
	}
	return tri
}

// applyIn applies a configuration in a folder.
func (tri *triangle) applyIn(folder string, cli tftest.CLI, main string, env ...string) {
	tri.t.Helper()
	tri.write(filepath.Join(folder, "main.tf"), main)
	cli.Env = env
	if err := cli.Apply(tri.t.Context(), filepath.Join(tri.dir, folder)); err != nil {
		tri.t.Fatalf("%v; the cluster refused %q", err, tri.pve.Refused())
	}
}

// describe describes the guests in NetBox.
func (tri *triangle) describe() {
	tri.t.Helper()
	tri.make("virtualization/cluster-types", map[string]any{"name": "Proxmox VE", "slug": "proxmox-ve"})
	tri.make("virtualization/clusters", map[string]any{"name": "pve", "type": 1})
	tri.make("extras/tags", map[string]any{"name": "shop", "slug": "shop"})
	for _, g := range []struct {
		name                string
		cores, memory, disk int
		mac, address        string
	}{
		{"web-01", 2, 2048, 8, "BC:24:11:00:00:01", "192.0.2.11/24"},
		{"db-01", 4, 4096, 8, "BC:24:11:00:00:02", "192.0.2.12/24"},
		{"app-01", 2, 2048, 8, "BC:24:11:00:00:03", "192.0.2.13/24"},
		{"dns", 1, 512, 4, "BC:24:11:00:00:04", "192.0.2.53/24"},
	} {
		vm := tri.make(machines, map[string]any{"name": g.name, "cluster": 1, "vcpus": g.cores, "memory": g.memory, "disk": g.disk,
			"status": "active", "tags": []map[string]any{{"slug": "shop"}}})
		nic := tri.make("virtualization/interfaces", map[string]any{"virtual_machine": vm, "name": "net0", "mac_address": g.mac})
		tri.interfaces[g.name] = map[string]any{"id": nic, "address": g.address}
	}
}

func (tri *triangle) make(endpoint string, body map[string]any) int {
	tri.t.Helper()
	tri.clock.tick()
	id, err := tri.netbox.Make("admin", endpoint, body)
	if err != nil {
		tri.t.Fatal(err)
	}
	return id
}

// onPVE makes a change in the cluster as a user.
func (tri *triangle) onPVE(do func(*pvelab.Lab)) {
	tri.clock.tick()
	do(tri.pve)
}

// TestTriangle compares Terraform, NetBox and Proxmox on the same guests: there are no findings
// while they agree, and then one for each changed guest, with the side that differs and the
// actor.
func TestTriangle(t *testing.T) {
	t.Parallel()
	forEachCLI(t, func(t *testing.T, cli tftest.CLI) {
		tri := newTriangle(t, cli)
		tri.expect("all agree")
		want := tri.edit()
		tri.directions(tri.expect("they were edited by hand", want...))
		tri.growAgain(want)
		tri.destroy(want)
		tri.makeTwin(want)
	})
}

// guest returns the Terraform address of a guest.
func guest(name string) string { return `proxmox_virtual_environment_vm.guest["` + name + `"]` }

// edit edits all three, and returns the expected findings.
func (tri *triangle) edit() []string {
	tri.t.Helper()
	tri.by("mara", "PATCH", tri.at(machines, "db-01"), map[string]any{"memory": 16384, "changelog_message": "grow for the sale"})
	tri.onPVE(func(pve *pvelab.Lab) { pve.SetConfig(302, "memory", "8192", "carol@pve") })
	tri.by("jonas", "POST", machines, map[string]any{"name": "queue-01", "cluster": 1, "memory": 1024})
	tri.onPVE(func(pve *pvelab.Lab) {
		pve.Create(pvetest.Guest{ID: 999, Kind: "qemu", Node: "pve3", Status: "stopped", Config: pvetest.Row{"name": "byhand"}}, "dave@pve")
	})
	tri.onPVE(func(pve *pvelab.Lab) {
		pve.Create(pvetest.Guest{ID: 400, Kind: "qemu", Node: "pve3", Status: "running",
			Config: pvetest.Row{"name": "mail-01", "memory": "1024", "cores": 1, "net0": "virtio=BC:24:11:00:00:05,bridge=vmbr0"}}, "dave@pve")
	})
	mail := tri.machine("mail-01", "BC:24:11:00:00:05")
	tri.onPVE(func(pve *pvelab.Lab) { pve.Migrate(301, "pve2", "dave@pve") })
	tri.onPVE(func(pve *pvelab.Lab) { pve.SetConfig(303, "name", "app-one", "carol@pve") })
	tri.onPVE(func(pve *pvelab.Lab) { pve.SetConfig(400, "name", "mail-02", "carol@pve") })
	address := tri.by("jonas", "PATCH", tri.at(addresses, "192.0.2.53/24"), map[string]any{"address": "192.0.2.54/24"})
	return []string{
		// All three differ; the last edit is carol's, on Proxmox.
		`disputed ` + guest("db-01") + `: memory[0].dedicated 4096 infra says 4096 intent says 16384 -> 8192` +
			` by carol@pve (update VM 302: -memory 8192 (pvedaemon on pve2)), infra, intent and pve all differ`,
		// Only in NetBox; only on Proxmox; on both, and not in Terraform.
		fmt.Sprintf(`missing virtual-machines/%d`, tri.id(machines, "queue-01")),
		`unmanaged proxmox/qemu byhand by dave@pve (qmcreate 999), neither infra nor intent speaks of it`,
		fmt.Sprintf(`unmanaged proxmox/qemu mail-02 by dave@pve (qmcreate 400), live, and in intent (virtual-machines/%d), but not in infra`, mail),
		// One finding each, and neither missing nor unmanaged.
		`moved ` + guest("web-01") + `: node_name "pve1" -> "pve2" by dave@pve (qmigrate 301)`,
		`moved ` + guest("app-01") + `: name "app-01" -> "app-one" by carol@pve (update VM 303: -name app-one (pvedaemon on pve1))`,
		fmt.Sprintf(`moved virtual-machines/%d: name "mail-01" -> "mail-02" by carol@pve (update VM 400: -name mail-02 (pvedaemon on pve3))`, mail),
		// NetBox differs from Terraform's state, and from the guest as well.
		fmt.Sprintf(`changed netbox_ip_address.guest["dns"]: ip_address "192.0.2.53/24" -> "192.0.2.54/24" by jonas (object-change %d)`, address),
		fmt.Sprintf(`disputed proxmox_virtual_environment_container.dns: initialization[0].ip_config[0].ipv4[0].address "192.0.2.53/24"`+
			` infra says 192.0.2.53/24 intent says 192.0.2.54/24 -> "192.0.2.53/24" by jonas (object-change %d), intent differs, infra and pve agree`, address),
	}
}

// machine describes a guest in NetBox, in the form since 4.2.
func (tri *triangle) machine(name, mac string) int {
	tri.t.Helper()
	vm := tri.make(machines, map[string]any{"name": name, "cluster": 1, "memory": 1024, "vcpus": 1})
	nic := tri.make("virtualization/interfaces", map[string]any{"virtual_machine": vm, "name": "net0"})
	made := tri.make("dcim/mac-addresses", map[string]any{"mac_address": mac, "assigned_object_type": "virtualization.vminterface", "assigned_object_id": nic})
	tri.by("admin", "PATCH", fmt.Sprintf("virtualization/interfaces/%d", nic), map[string]any{"primary_mac_address": made})
	return vm
}

// directions checks that the suggestion for the disputed memory has the requests of both directions.
func (tri *triangle) directions(report model.Report) {
	tri.t.Helper()
	i := slices.IndexFunc(report.Findings, func(f model.Finding) bool { return f.Verdict == model.Disputed && f.Address == guest("db-01") })
	if i < 0 {
		tri.t.Fatal("the memory is not disputed")
	}
	cmd := exec.CommandContext(tri.t.Context(), driftdPath(tri.t), "suggest", report.Findings[i].ID, "--state-dir", "state")
	cmd.Dir = tri.dir
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"pvesh set /nodes/pve2/qemu/302/config --memory=16384 --digest=DIGEST", `--data '{"memory":8192}'`,
		fmt.Sprintf("/api/virtualization/virtual-machines/%d/", tri.id(machines, "db-01")), "the operator's rule"} {
		if !strings.Contains(string(out), want) {
			tri.t.Errorf("%v: no %s in the suggestion:\n%s", err, want, out)
		}
	}
}

// growAgain changes in NetBox the field that was changed on Proxmox before: the finding names
// this change from then on.
func (tri *triangle) growAgain(want []string) {
	tri.t.Helper()
	grown := tri.by("mara", "PATCH", tri.at(machines, "db-01"), map[string]any{"memory": 32768})
	want[0] = fmt.Sprintf(`disputed `+guest("db-01")+`: memory[0].dedicated 4096 infra says 4096 intent says 32768 -> 8192`+
		` by mara (object-change %d), infra, intent and pve all differ`, grown)
	tri.expect("the last edit was in NetBox", want...)
}

// destroy destroys a guest that all three have: there is one finding, with the actor.
func (tri *triangle) destroy(want []string) {
	tri.t.Helper()
	tri.onPVE(func(pve *pvelab.Lab) { pve.Destroy(303, "erin@pve") })
	want[5] = `missing ` + guest("app-01") + ` by erin@pve (qmdestroy 303)`
	report := tri.expect("a guest was destroyed", want...)
	claims := fmt.Sprintf("intent (virtual-machines/%d) claims it, too", tri.id(machines, "app-01"))
	if got := reasons(report); !strings.Contains(got, claims) {
		tri.t.Errorf("it is not said that %s: %s", claims, got)
	}
}

// makeTwin creates a second virtual machine in NetBox with the same address: neither is
// compared, and both are named.
func (tri *triangle) makeTwin(want []string) {
	tri.t.Helper()
	twin := tri.machine("db-01-copy", "BC:24:11:00:00:02")
	first := fmt.Sprintf("virtual-machines/%d", tri.id(machines, "db-01"))
	second := fmt.Sprintf("virtual-machines/%d", twin)
	want[0] = `changed ` + guest("db-01") + `: memory[0].dedicated 4096 -> 8192 by carol@pve (update VM 302: -memory 8192 (pvedaemon on pve2))`
	report := tri.expect("two of NetBox's machines claim one guest", append(want, "unchecked "+first, "unchecked "+second)...)
	for _, f := range report.Findings {
		if f.Verdict == model.Unchecked && !(strings.Contains(f.Reason, first) && strings.Contains(f.Reason, second)) {
			tri.t.Errorf("%s is unchecked, and not both are named: %s", f.Address, f.Reason)
		}
	}
}

// TestTriangleDestroyed destroys guests that only NetBox declares: the user who entered them in
// NetBox is never named as the one who removed them. The one who removed them is, if NetBox has
// the guest's number.
func TestTriangleDestroyed(t *testing.T) {
	t.Parallel()
	tri := newTriangle(t, oneCLI(t))
	config, err := os.ReadFile(filepath.Join(tri.dir, "driftd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	tri.write("driftd.yaml", strings.Replace(string(config), "  - {name: infra", "  # - {name: infra", 1))
	tri.make("extras/custom-fields", map[string]any{"name": "proxmox_vmid", "type": "integer", "object_types": []string{"virtualization.virtualmachine"}})
	tri.by("admin", "PATCH", tri.at(machines, "web-01"), map[string]any{"custom_fields": map[string]any{"proxmox_vmid": 301}})
	tri.expect("all agree")
	tri.onPVE(func(pve *pvelab.Lab) { pve.Destroy(301, "carol@pve") })
	tri.onPVE(func(pve *pvelab.Lab) { pve.Destroy(302, "carol@pve") })
	report := tri.expect("two guests are gone",
		fmt.Sprintf("missing virtual-machines/%d by carol@pve (qmdestroy 301)", tri.id(machines, "web-01")),
		fmt.Sprintf("missing virtual-machines/%d", tri.id(machines, "db-01")))
	for _, f := range report.Findings {
		if f.Actor.Confidence == model.Unknown && !strings.Contains(f.Actor.Reason, "declared by admin") {
			t.Errorf("%s: it does not say who declared it: %+v", f.Address, f.Actor)
		}
	}
}

// TestTriangleHalf restricts driftd to half of NetBox: the other half is unchecked, and nothing
// is missing or unmanaged because of it.
func TestTriangleHalf(t *testing.T) {
	t.Parallel()
	tri := newTriangle(t, oneCLI(t))
	tri.netbox.Grant("driftd", netboxlab.Permission{Models: []string{"virtualization.virtualmachine"}, Actions: []string{"view"},
		Constraints: map[string]any{"name": "web-01"}})
	tri.onPVE(func(pve *pvelab.Lab) { pve.SetConfig(302, "memory", "8192", "carol@pve") })
	report := tri.scan()
	for _, f := range report.Findings {
		if f.Verdict != model.Unchecked && f.Address != guest("db-01") {
			t.Errorf("with half of NetBox: %s", describeFinding(f))
		}
	}
	if got := reasons(report); !strings.Contains(got, "netbox_ip_address") {
		t.Errorf("the addresses that it does not see are not unchecked; it is said that\n%s", got)
	}
}
