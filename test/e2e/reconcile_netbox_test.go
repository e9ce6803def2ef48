//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/test/netboxlab"
	"github.com/driftd/driftd/test/tftest"
)

// A deskRoom is a guestRoom whose guest a NetBox has, too.
type deskRoom struct {
	*guestRoom

	netbox *netboxlab.Lab
	vm     int
}

// newDeskRoom makes a deskRoom with a rule that writes into NetBox what Terraform and Proxmox VE agree on.
func newDeskRoom(t *testing.T, cli tftest.CLI, version string) *deskRoom {
	t.Helper()
	lab, err := netboxlab.New(netboxlab.Options{Version: version})
	if err != nil {
		t.Fatal(err)
	}
	r := &deskRoom{guestRoom: newGuestRoom(t, cli), netbox: lab}
	if _, err := lab.Make("admin", "virtualization/cluster-types", netboxlab.Object{"name": "Proxmox VE", "slug": "proxmox-ve"}); err != nil {
		t.Fatal(err)
	}
	if _, err := lab.Make("admin", "virtualization/clusters", netboxlab.Object{"name": "pve", "type": 1}); err != nil {
		t.Fatal(err)
	}
	if r.vm, err = lab.Make("admin", machines, netboxlab.Object{"name": "web", "cluster": 1, "vcpus": 2, "memory": 2048, "status": "active"}); err != nil {
		t.Fatal(err)
	}
	lab.Grant("driftd", netboxlab.Permission{Models: lab.Models(), Actions: []string{"view"}})
	lab.Grant("driftd-fix", netboxlab.Permission{Models: lab.Models(), Actions: []string{"view", "change"}})
	server := httptest.NewServer(lab)
	t.Cleanup(server.Close)
	r.write("netbox-token", netboxlab.Token("driftd"))
	r.write("netbox-writer", netboxlab.Token("driftd-fix"))
	config, err := os.ReadFile(r.path("driftd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r.write("driftd.yaml", strings.NewReplacer(
		"sources: [", `sources: [{name: netbox, type: netbox, settings: {url: "`+server.URL+`", token_file: netbox-token}}, `,
		"declarations:\n", "declarations:\n  - {name: intent, type: netbox, governs: [pve], settings: {source: netbox}}\n",
		"writers: [", `writers: [{declaration: intent, settings: {token_file: netbox-writer}}, `,
		"rules: [", `rules: [{name: document, mode: approve, changes: declaration, match: {source: pve, verdict: [disputed]}, min_age: 0, soak: 0, share: 100, per_hour: 100}, `,
	).Replace(string(config)))
	return r
}

// memory returns the memory that NetBox has for the guest.
func (r *deskRoom) memory() string {
	r.t.Helper()
	o, err := r.netbox.Do("admin", http.MethodGet, fmt.Sprintf("%s/%d", machines, r.vm), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return fmt.Sprint(o["memory"])
}

// edit edits the guest in NetBox as a user.
func (r *deskRoom) edit(user string, body netboxlab.Object) {
	r.t.Helper()
	if _, err := r.netbox.Do(user, http.MethodPatch, fmt.Sprintf("%s/%d", machines, r.vm), body); err != nil {
		r.t.Fatal(err)
	}
}

// A dispute is settled with one approval: where Terraform and Proxmox VE agree, NetBox follows them; where Terraform and
// NetBox agree, Proxmox VE does.
func TestReconcileNetBox(t *testing.T) {
	t.Parallel()
	r := newDeskRoom(t, oneCLI(t), "4.6.8")
	d := r.serve()
	d.awaitFindings()
	r.edit("mara", netboxlab.Object{"memory": 3072})
	a := d.awaitAction(reconcile.Proposed)
	if a.Verdict != model.Disputed || !a.Plan.Records || a.Declaration != "intent" || a.Drift.Name != "mara" || a.Subject.ID != "301" {
		t.Errorf("the action is %+v", a)
	}
	if after := d.approve("alice", &a); after.State != reconcile.Converged {
		t.Fatalf("it is %s: %s", after.State, after.Outcome)
	}
	d.awaitFindings()
	if got := r.memory(); got != "2048" {
		t.Errorf("NetBox has %s MB", got)
	}
	list, err := r.netbox.Do("admin", http.MethodGet, fmt.Sprintf("core/object-changes/?id__gt=%d", r.netbox.LastChange()-1), nil)
	if want := "driftd: finding " + a.Finding + ", approved by alice"; err != nil || !strings.Contains(fmt.Sprint(list), want) || !strings.Contains(fmt.Sprint(list), "driftd-fix") {
		t.Errorf("NetBox's changelog has %v (%v), want %q by driftd-fix", list, err, want)
	}
	// The other direction: what is live follows both declarations.
	r.pve.SetConfig(301, "net0", "virtio=BC:24:11:00:00:01,bridge=vmbr7", "carol@pve")
	r.pve.SetConfig(301, "memory", "4096", "carol@pve")
	after := d.putBack("alice")
	if after.State != reconcile.Converged || after.Plan.Records || after.Verdict != model.Changed {
		t.Fatalf("it is %s: %s: %+v", after.State, after.Outcome, after)
	}
	r.pve.Restart(301, "carol@pve")
	d.awaitFindings()
	if memory, _ := r.config("memory"); memory != "2048" || r.memory() != "2048" {
		t.Errorf("Proxmox VE has %s MB, NetBox %s", memory, r.memory())
	}
}

// A guest that only NetBox declares is put back, too: the changelog has who declared it.
func TestReconcileNetBoxDeclares(t *testing.T) {
	t.Parallel()
	r := newDeskRoom(t, oneCLI(t), "4.6.8")
	r.make(machines, netboxlab.Object{"name": "mail", "cluster": 1, "memory": 1024, "status": "offline"})
	r.pve.Create(pvetest.Guest{ID: 400, Kind: "qemu", Node: "pve1", Status: "stopped", Config: pvetest.Row{"name": "mail", "memory": "1024", "cores": 1}}, "mara@pve")
	d := r.serve()
	d.eventually(startTimeout, "the guest that is not in Terraform", func() error {
		_, err := d.finding("proxmox/qemu")
		return err
	})
	r.pve.SetConfig(400, "memory", "4096", "carol@pve")
	after := d.putBack("alice")
	if after.State != reconcile.Converged || after.Declaration != "intent" || after.Plan.Records || after.Drift.Name != "carol@pve" {
		t.Fatalf("it is %s: %s: %+v", after.State, after.Outcome, after)
	}
	r.pve.Edit(func(c *pvetest.Cluster) {
		if got := fmt.Sprint(c.Guest(400).Config["memory"]); got != "1024" {
			t.Errorf("the guest has %s MB", got)
		}
	})
}

// The primary address of a guest follows what is live, in the object of the address.
func TestReconcileNetBoxAddress(t *testing.T) {
	t.Parallel()
	r := newDeskRoom(t, oneCLI(t), "4.6.8")
	config, err := os.ReadFile(r.path("driftd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r.write("driftd.yaml", strings.Replace(string(config), "verdict: [disputed]", "resource: [qemu/400, \"400\"]", 1))
	r.pve.Create(pvetest.Guest{ID: 400, Kind: "qemu", Node: "pve1", Status: "stopped", Config: pvetest.Row{"name": "mail", "memory": "1024", "cores": 1,
		"net0": "virtio=BC:24:11:00:00:40,bridge=vmbr0", "ipconfig0": "ip=192.0.2.9/24"}}, "mara@pve")
	vm := r.make(machines, netboxlab.Object{"name": "mail", "cluster": 1, "memory": 1024, "status": "offline"})
	nic := r.make("virtualization/interfaces", netboxlab.Object{"virtual_machine": vm, "name": "net0"})
	address := r.make(addresses, netboxlab.Object{"address": "192.0.2.8/24", "assigned_object_type": "virtualization.vminterface", "assigned_object_id": nic})
	if _, err := r.netbox.Do("mara", http.MethodPatch, fmt.Sprintf("%s/%d", machines, vm), netboxlab.Object{"primary_ip4": address}); err != nil {
		t.Fatal(err)
	}
	d := r.serve()
	after := d.putBack("alice")
	if after.State != reconcile.Converged || !after.Plan.Records || len(after.Plan.Changes) != 1 || after.Plan.Changes[0].Path != "primary_ip4" {
		t.Fatalf("it is %s: %s: %+v", after.State, after.Outcome, after)
	}
	if o, err := r.netbox.Do("admin", http.MethodGet, fmt.Sprintf("%s/%d", addresses, address), nil); err != nil || o["address"] != "192.0.2.9/24" {
		t.Errorf("NetBox has %v, %v", o, err)
	}
	d.eventually(startTimeout, "the next scan", func() error {
		if f, err := d.report(); err != nil || strings.Contains(fmt.Sprint(f.Findings), "primary_ip4") {
			return fmt.Errorf("findings %+v, %w", f.Findings, err)
		}
		return nil
	})
}

// The MAC address of an interface follows what Terraform and Proxmox VE agree on: in the object of the MAC address, or before
// NetBox 4.2 in the interface. NetBox gets no second object for a MAC address that it has.
func TestReconcileNetBoxMAC(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"4.6.8", "4.1.11"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			r := newDeskRoom(t, oneCLI(t), version)
			const wrong, right = "BC:24:11:00:00:0A", "BC:24:11:00:00:01"
			nic := r.make(nics, netboxlab.Object{"virtual_machine": r.vm, "name": "eth0", "mac_address": wrong})
			holder, mac := fmt.Sprintf("%s/%d", nics, nic), fmt.Sprintf("%s/%d", nics, nic)
			d := r.serve()
			if version == "4.6.8" {
				id := r.make(macs, netboxlab.Object{"mac_address": wrong, "assigned_object_type": "virtualization.vminterface", "assigned_object_id": nic})
				mac = fmt.Sprintf("%s/%d", macs, id)
				stray := fmt.Sprintf("%s/%d", macs, r.make(macs, netboxlab.Object{"mac_address": right}))
				r.do(http.MethodPatch, holder, netboxlab.Object{"primary_mac_address": id})
				d.awaitHeld("kind", "NetBox has "+right+" already: look at "+stray)
				r.do(http.MethodDelete, stray, nil)
				// The next edit is planned at once; the refused plan would be tried again after some minutes.
				r.do(http.MethodPatch, mac, netboxlab.Object{"mac_address": "BC:24:11:00:00:0B"})
			}
			a := d.awaitAction(reconcile.Proposed)
			if a.Verdict != model.Disputed || len(a.Plan.Changes) != 1 || a.Plan.Changes[0].Path != "interfaces[name=eth0].mac" || a.Plan.Person == "" {
				t.Errorf("the action is %+v", a)
			}
			if after := d.approve("alice", &a); after.State != reconcile.Converged {
				t.Fatalf("it is %s: %s", after.State, after.Outcome)
			}
			d.awaitFindings()
			for _, path := range []string{holder, mac} {
				if o := r.do(http.MethodGet, path, nil); o["mac_address"] != right {
					t.Errorf("NetBox has %v", o)
				}
			}
		})
	}
}

// do sends a request of mara to NetBox, and returns the answer.
func (r *deskRoom) do(method, path string, body any) netboxlab.Object {
	r.t.Helper()
	answer, err := r.netbox.Do("mara", method, path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer
}

// make makes an object of NetBox, and returns its ID.
func (r *deskRoom) make(endpoint string, body netboxlab.Object) int {
	r.t.Helper()
	id, err := r.netbox.Make("mara", endpoint, body)
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

// A write into NetBox does what was approved, or nothing.
func TestReconcileNetBoxRefuses(t *testing.T) {
	t.Parallel()
	r := newDeskRoom(t, oneCLI(t), "4.3.1") // without entity tags
	d := r.serve()
	d.awaitFindings()
	// A value that Terraform would undo is not written into NetBox.
	r.edit("mara", netboxlab.Object{"vcpus": 8})
	r.pve.SetConfig(301, "cores", 4, "carol@pve")
	d.awaitHeld("scope", "infra declares something else than is live, too")
	r.pve.SetConfig(301, "cores", 2, "carol@pve")
	r.edit("mara", netboxlab.Object{"vcpus": 2})
	d.awaitFindings()
	r.edit("mara", netboxlab.Object{"memory": 3072})
	a := d.awaitAction(reconcile.Proposed)
	r.netbox.Grant("driftd-fix", netboxlab.Permission{Models: r.netbox.Models(), Actions: []string{"view"}})
	_, text := d.as("alice", "/api/v1/actions/"+a.ID+"/approve", map[string]string{"digest": a.Digest})
	if after := d.awaitAction(reconcile.Failed); !strings.Contains(text, "nothing was changed") || !strings.Contains(after.Outcome, "give the token the permission to change virtual machines") {
		t.Errorf("with a token that only reads: %s: %s", text, after.Outcome)
	}
	if got := r.memory(); got != "3072" {
		t.Errorf("NetBox has %s MB", got)
	}
}
