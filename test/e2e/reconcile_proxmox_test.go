//go:build e2e

package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/test/pvelab"
	"github.com/driftd/driftd/test/tftest"
)

// A guestRoom is an installation whose guests of Proxmox VE are declared by a Terraform root in git, and put back with
// requests to Proxmox VE.
type guestRoom struct {
	*applying

	pve *pvelab.Lab
}

// newGuestRoom makes an installation with the guest of webGuest, which the genuine provider made, and a rule of the mode approve. The writer has most
// privileges of the configuration of guests.
func newGuestRoom(t *testing.T, cli tftest.CLI) *guestRoom {
	t.Helper()
	return newGuestRoomOf(t, cli, webGuest+webFirewall+webLists+clusterObjects)
}

// newGuestRoomOf is newGuestRoom with other resources.
func newGuestRoomOf(t *testing.T, cli tftest.CLI, resources string) *guestRoom {
	t.Helper()
	cluster := pvelab.Cluster()
	cluster.Objects["/cluster/firewall/options"] = pvetest.Row{}
	r := &guestRoom{newApplying(t, cli), pvelab.New(pvetest.New(cluster, rand.New(rand.NewPCG(1, 2))))}
	r.servePVE(r.pve, resources)
	config, err := os.ReadFile(r.path("driftd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(config), "\n  rules:")
	before, _, _ := strings.Cut(string(config), "  writers:")
	r.write("driftd.yaml", before+`  writers: [{source: pve, settings: {token_id: "driftd@pve!fix", token_file: token}}]`+"\n  rules:"+strings.Replace(rest, "declaration: infra", "source: pve", 1))
	r.grant("VM.Audit", "VM.Config.CPU", "VM.Config.Memory", "VM.Config.Network", "VM.Config.Options")
	return r
}

const webFirewall = `
resource "proxmox_virtual_environment_firewall_options" "web" {
  node_name    = "pve1"
  vm_id        = proxmox_virtual_environment_vm.web.vm_id
  enabled      = true
  dhcp         = false
  input_policy = "DROP"
}

resource "proxmox_virtual_environment_firewall_alias" "office" {
  node_name = "pve1"
  vm_id     = proxmox_virtual_environment_vm.web.vm_id
  name      = "office"
  cidr      = "198.51.100.0/24"
  comment   = "the office"
}
`

// grant sets the privileges of the account that writes.
func (r *guestRoom) grant(privileges ...string) {
	r.pve.Edit(func(c *pvetest.Cluster) {
		all := append(pvetest.Auditor()["/"], "VM.Config.CPU", "VM.Config.Memory", "VM.Config.Network", "VM.Config.Options", "VM.Config.Disk", "VM.Config.HWType", "VM.Config.Cloudinit", "Sys.Modify", "Sys.Console", "Pool.Allocate", "Datastore.AllocateSpace", "User.Modify", "Group.Allocate", "Permissions.Modify")
		c.Accounts = map[string]map[string][]string{"driftd@pve!fix": {"/": {"Sys.Modify", "Pool.Allocate", "User.Modify", "Group.Allocate", "Permissions.Modify"}, "/vms": privileges, "/storage": privileges}, "terraform@pve!tf": {"/": all}}
	})
}

// config returns a key of the guest's file, and what waits.
func (r *guestRoom) config(key string) (value, waits string) {
	r.pve.Edit(func(c *pvetest.Cluster) {
		value, waits = fmt.Sprint(c.Guest(301).Config[key]), fmt.Sprint(c.Guest(301).Pending[key])
	})
	return value, waits
}

// Drift of a guest that a root declares is put back with requests to Proxmox VE: what a running guest takes at once, and
// what waits for a restart. The next scan, and the next plan of the pipeline, find it in sync.
func TestReconcileProxmox(t *testing.T) {
	t.Parallel()
	r := newGuestRoom(t, oneCLI(t))
	d := r.serve()
	d.awaitFindings()
	r.pve.SetConfig(301, "net0", "virtio=BC:24:11:00:00:01,bridge=vmbr7,firewall=1", "carol@pve")
	a := d.awaitAction(reconcile.Proposed)
	if a.Drift.Name != "carol@pve" || a.Plan.Identity != "driftd@pve!fix" || a.Plan.AfterRestart != "" {
		t.Errorf("the action is %+v", a)
	}
	if after := d.approve("alice", &a); after.State != reconcile.Converged || after.Outcome != "" {
		t.Fatalf("it is %s: %s", after.State, after.Outcome)
	}
	if net, _ := r.config("net0"); net != "virtio=BC:24:11:00:00:01,bridge=vmbr0,firewall=0" && net != "virtio=BC:24:11:00:00:01,bridge=vmbr0" {
		t.Errorf("net0 is %s", net)
	}
	d.awaitFindings()
	r.pve.SetConfig(301, "cores", 4, "carol@pve")
	r.pve.SetConfig(301, "memory", "4096", "carol@pve")
	a = d.awaitAction(reconcile.Proposed)
	if a.Plan.AfterRestart != "cores, memory" {
		t.Errorf("after a restart: %q", a.Plan.AfterRestart)
	}
	if after := d.approve("alice", &a); after.State != reconcile.Converged || after.Outcome != "it takes effect after a stop and a start" {
		t.Fatalf("it is %s: %s", after.State, after.Outcome)
	}
	d.awaitVerdict(model.PendingRestart)
	r.pve.Restart(301, "carol@pve")
	d.awaitFindings()
	// Another's change that waits is drift, and ends without a restart.
	r.pve.SetPending(301, "cores", 8, "erin@pve")
	a = d.awaitAction(reconcile.Proposed)
	if a.Verdict != model.PendingRestart || a.Drift.Name != "erin@pve" {
		t.Errorf("the action is %+v", a)
	}
	if after := d.approve("alice", &a); after.State != reconcile.Converged || after.Outcome != "" {
		t.Fatalf("it is %s: %s", after.State, after.Outcome)
	}
	if cores, waits := r.config("cores"); cores != "2" || waits != "<nil>" {
		t.Errorf("the guest has %s cores, and %s waits", cores, waits)
	}
	d.awaitFindings()
	r.nothingToDo()
}

// Options and aliases of a guest's firewall are put back.
func TestReconcileProxmoxFirewall(t *testing.T) {
	t.Parallel()
	r := newGuestRoom(t, oneCLI(t))
	d := r.serve()
	d.awaitFindings()
	for field, drift := range map[string]func(*pvetest.Cluster){
		"dhcp":      func(c *pvetest.Cluster) { c.Objects["/qemu/301/firewall/options"]["dhcp"] = 1 },
		"policy_in": func(c *pvetest.Cluster) { c.Objects["/qemu/301/firewall/options"]["policy_in"] = "ACCEPT" },
		"cidr":      func(c *pvetest.Cluster) { c.Row("/qemu/301/firewall/aliases", "name", "office")["cidr"] = "0.0.0.0/0" },
		"comment": func(c *pvetest.Cluster) {
			c.Row("/qemu/301/firewall/aliases", "name", "office")["comment"] = "opened for a test"
		},
	} {
		r.pve.Edit(drift)
		after := d.putBack("alice")
		if after.State != reconcile.Converged {
			t.Fatalf("%s: it is %s: %s", field, after.State, after.Outcome)
		}
		if len(after.Plan.Changes) != 1 || after.Plan.Changes[0].Path != field {
			t.Errorf("the plan is %+v, want %s", after.Plan, field)
		}
		d.awaitFindings()
	}
	r.nothingToDo()
}

// awaitVerdict waits until there is one finding, with a verdict.
func (d *daemon) awaitVerdict(want model.Verdict) {
	d.t.Helper()
	d.eventually(startTimeout, "a finding that is "+string(want), func() error {
		r, err := d.report()
		if err == nil && (len(r.Findings) != 1 || r.Findings[0].Verdict != want) {
			err = fmt.Errorf("there are %+v", r.Findings)
		}
		return err
	})
}

// A write to Proxmox VE does what was approved, or nothing.
func TestReconcileProxmoxRefuses(t *testing.T) {
	t.Parallel()
	r := newGuestRoom(t, oneCLI(t))
	d := r.serve()
	d.awaitFindings()
	r.grant("VM.Audit", "VM.Config.CPU")
	r.pve.SetConfig(301, "memory", "4096", "carol@pve")
	d.awaitHeld("rights", "driftd@pve!fix lacks VM.Config.Memory on /vms/301")
	r.grant("VM.Audit", "VM.Config.Memory")
	r.pve.SetPending(301, "vga", "std", "erin@pve")
	r.pve.SetConfig(301, "memory", "3072", "carol@pve")
	d.awaitHeld("scope", "other changes of the guest wait for a restart, and may take effect with the write: vga")
	r.pve.Edit(func(c *pvetest.Cluster) { c.Guest(301).Pending = nil })
	r.pve.SetConfig(301, "memory", "4096", "carol@pve")
	a := d.awaitAction(reconcile.Proposed)
	r.pve.Edit(func(c *pvetest.Cluster) { c.Guest(301).Config["lock"] = "backup" })
	if status, text := d.as("alice", "/api/v1/actions/"+a.ID+"/approve", map[string]string{"digest": a.Digest}); status != http.StatusConflict || !strings.Contains(text, "locked (backup)") {
		t.Errorf("of a locked guest: %d: %s", status, text)
	}
	if memory, waits := r.config("memory"); memory != "4096" || waits != "<nil>" {
		t.Errorf("the memory is %s, and %s waits", memory, waits)
	}
}

// webDisks are two disks of the guest of webGuest.
const webDisks = `
  disk {
    interface    = "scsi0"
    datastore_id = "local-lvm"
    size         = 8
  }
  disk {
    interface    = "scsi1"
    datastore_id = "local-lvm"
    size         = 20
    cache        = "writeback"
    discard      = "on"
    ssd          = true
    speed {
      iops_read = 500
    }
  }
`

// A disk that was detached is attached again, with the volume that it was and its options, unless another guest has the volume. It
// keeps its data, which a new volume, as the next apply would make it, does not have.
func TestReconcileProxmoxDisk(t *testing.T) {
	t.Parallel()
	r := newGuestRoomOf(t, oneCLI(t), strings.Replace(webGuest, "  operating_system {", webDisks+"  operating_system {", 1))
	r.grant("VM.Audit", "VM.Config.Disk")
	d := r.serve()
	d.awaitFindings()
	before, _ := r.config("scsi1")
	volume, _, _ := strings.Cut(before, ",")
	r.pve.Edit(func(c *pvetest.Cluster) {
		c.Guests = append(c.Guests, pvetest.Guest{ID: 302, Kind: "qemu", Node: "pve2", Config: pvetest.Row{"name": "rescue", "scsi5": volume}})
	})
	r.pve.SetConfig(301, "scsi1", nil, "carol@pve")
	d.awaitHeld("scope", "guest 302 has the volume "+volume)
	r.pve.Edit(func(c *pvetest.Cluster) { c.RemoveGuest(302) })
	r.pve.SetConfig(301, "scsi1", before, "carol@pve")
	d.awaitFindings()
	r.pve.SetConfig(301, "scsi1", nil, "carol@pve")
	a := d.awaitAction(reconcile.Proposed)
	if a.Drift.Name != "carol@pve" || len(a.Plan.Changes) != 1 || a.Plan.Changes[0].Path != "scsi1" || a.Plan.Person == "" {
		t.Errorf("the action is %+v", a)
	}
	if after := d.putBack("alice"); after.State != reconcile.Converged || after.Outcome != "" {
		t.Fatalf("it is %s: %s", after.State, after.Outcome)
	}
	if scsi1, _ := r.config("scsi1"); !strings.HasPrefix(scsi1, volume+",") || !strings.Contains(scsi1, ",size=20G") {
		t.Errorf("scsi1 is %s, and was %s", scsi1, before)
	}
	d.awaitFindings()
	r.nothingToDo()
}

// A disk that is smaller than declared is made larger, with a person and the privilege on its storage, and its other options are put
// back by the same action. The next plan has nothing to do, and the next drift has its own author. A disk that is larger is left.
func TestReconcileProxmoxSize(t *testing.T) {
	t.Parallel()
	r := newGuestRoomOf(t, oneCLI(t), strings.Replace(webGuest, "  operating_system {", webDisks+"  operating_system {", 1))
	r.grant("VM.Audit", "VM.Config.Disk")
	d := r.serve()
	d.awaitFindings()
	before, _ := r.config("scsi1")
	r.pve.SetConfig(301, "scsi1", strings.Replace(before, "size=20G", "size=12G", 1), "carol@pve")
	d.awaitHeld("rights", "driftd@pve!fix lacks Datastore.AllocateSpace on /storage/local-lvm")
	r.grant("VM.Audit", "VM.Config.Disk", "Datastore.AllocateSpace")
	r.pve.Edit(func(c *pvetest.Cluster) { c.SlowTasks = 2 })
	r.pve.SetConfig(301, "scsi1", strings.Replace(strings.Replace(before, "size=20G", "size=12G", 1), "ssd=1", "ssd=0", 1), "carol@pve")
	a := d.awaitAction(reconcile.Proposed)
	if a.Drift.Name != "carol@pve" || a.Plan.Person == "" || len(a.Plan.Requests) < 1 || !strings.HasPrefix(a.Plan.Requests[0], "make scsi1 (local-lvm:vm-301-disk-1) larger") {
		t.Errorf("the action is %+v", a)
	}
	if after := d.putBack("alice"); after.State != reconcile.Converged || after.Outcome != "" {
		t.Fatalf("it is %s: %s", after.State, after.Outcome)
	}
	if scsi1, _ := r.config("scsi1"); !strings.Contains(scsi1, "size=20G") || !strings.Contains(scsi1, "ssd=1") {
		t.Errorf("scsi1 is %s, and was %s", scsi1, before)
	}
	d.awaitFindings()
	r.nothingToDo()
	r.pve.Resize(301, "scsi1", "24G", "erin@pve")
	d.awaitHeld("kind", "the disk is larger than declared, and a disk cannot be made smaller")
}
