package proxmox

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/pveapi/normalize"
	"github.com/driftd/driftd/internal/reconcile"
)

// A bench is a cluster with an actuator for it.
type bench struct {
	*pvetest.Server

	t *testing.T
	a *Actuator
	// live is the resource of the last finding.
	live model.Value
}

// fixer are the privileges of the account that writes.
func fixer() map[string][]string {
	return map[string][]string{"/": {"Sys.Modify", "Sys.Console", "Datastore.Allocate", "Pool.Allocate", "User.Modify", "Group.Allocate", "Permissions.Modify"}, "/vms": {"VM.Audit", "VM.Config.CPU", "VM.Config.Memory", "VM.Config.Network", "VM.Config.Options", "VM.Config.Disk",
		"VM.Config.Cloudinit", "VM.Config.HWType"}, "/storage": {"Datastore.AllocateSpace"}}
}

func newBench(t *testing.T) *bench {
	t.Helper()
	cluster := pvetest.Lab()
	cluster.Accounts = map[string]map[string][]string{"driftd@pve!fix": fixer()}
	delete(cluster.Guest(401).Pending, "memory")
	delete(cluster.Guest(403).Config, "lock")
	b := &bench{Server: pvetest.New(cluster, rand.New(rand.NewPCG(3, 4))), t: t}
	server := httptest.NewServer(b.Server)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("0f8e\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	b.a, err = New(Options{Reading: pveapi.Access{URL: server.URL, Account: pveapi.Account{TokenID: "driftd@pve!ro", TokenFile: file}},
		Writing: pveapi.Account{TokenID: "driftd@pve!fix", TokenFile: file}, Sealer: model.NewSealer([]byte("key of the tests"))})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// guest returns the file of a guest.
func (b *bench) guest(id int) (g pvetest.Guest) {
	b.Edit(func(c *pvetest.Cluster) { g = *c.Guest(id) })
	return g
}

// finding returns a finding on a guest, whose fields have the declared values of a JSON document: null is one that is not
// declared.
func (b *bench) finding(id, declared string) *model.Finding {
	b.t.Helper()
	g := b.guest(number(id))
	return b.findingOn(model.Key{Source: "pve", Kind: "proxmox/" + g.Kind, ID: id}, g.Node, declared)
}

// findingOn is finding for a resource.
func (b *bench) findingOn(key model.Key, node, declared string) *model.Finding {
	b.t.Helper()
	f := &model.Finding{Verdict: model.Changed, Key: key, Place: node, Declaration: "infra"}
	live, err := b.a.read(b.t.Context(), key, node)
	if err != nil {
		b.t.Fatal(err)
	}
	b.live = live.value
	fields, err := decode.JSON([]byte(declared))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, field := range fields.Fields() {
		c := model.Change{Path: field.Name}
		c.Live, _ = jsonpatch.Find(live.value, c.Path)
		if !field.Value.IsNull() {
			c.Declared = &field.Value
		}
		f.Changes = append(f.Changes, c)
	}
	return f
}

func number(id string) int {
	n, err := strconv.Atoi(id)
	if err != nil {
		panic(err)
	}
	return n
}

// plan plans to put a finding back.
func (b *bench) plan(f *model.Finding) (reconcile.Change, error) {
	return b.a.Plan(b.t.Context(), reconcile.Subject{Finding: f, Live: b.live})
}

// TestPutsBack puts fields of guests back, and compares the file of the guest, and what an inspection returns.
func TestPutsBack(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, id, declared string
		// config has keys of the file before; nil deletes one.
		config pvetest.Row
		// want are the keys of the file that are expected afterwards, with what waits.
		want, waits pvetest.Row
		later       string
	}{
		{reason: "numbers of a stopped machine", id: "403", declared: `{"cores": 4, "memory": 2048}`, want: pvetest.Row{"cores": "4", "memory": "2048"}},
		{reason: "numbers of a running machine wait", id: "401", declared: `{"cores": 4}`, want: pvetest.Row{"cores": "2"}, waits: pvetest.Row{"cores": "4"}, later: "cores"},
		{reason: "text", id: "401", declared: `{"description": "asks the team first"}`, want: pvetest.Row{"description": "asks the team first"}},
		{reason: "a truth", id: "401", declared: `{"onboot": false}`, want: pvetest.Row{"onboot": "0"}},
		{reason: "a set", id: "401", declared: `{"tags": ["shop", "web", "z"]}`, want: pvetest.Row{"tags": "shop;web;z"}},
		{reason: "a field that is not declared", id: "401", declared: `{"tags": null}`, want: pvetest.Row{"tags": nil}},
		{reason: "a part of a network device", id: "401", declared: `{"net0.bridge": "vmbr7", "net0.tag": 41}`, want: pvetest.Row{"net0": "virtio=BC:24:11:5A:04:01,bridge=vmbr7,firewall=1,tag=41"}},
		{reason: "a part that is not declared", id: "401", declared: `{"net0.tag": null}`, want: pvetest.Row{"net0": "virtio=BC:24:11:5A:04:01,bridge=vmbr0,firewall=1"}},
		{reason: "a part that is not there", id: "402", declared: `{"net0.firewall": true}`, want: pvetest.Row{"net0": "virtio=BC:24:11:5A:04:02,bridge=vmbr0,firewall=1"}},
		{reason: "a part without its name", id: "403", declared: `{"agent.enabled": true}`, config: pvetest.Row{"agent": "0,fstrim_cloned_disks=1"}, want: pvetest.Row{"agent": "1,fstrim_cloned_disks=1"}},
		{reason: "a part beside one without a name", id: "403", declared: `{"cpu.flags": ["+aes"]}`, config: pvetest.Row{"cpu": "host"}, want: pvetest.Row{"cpu": "host,flags=+aes"}},
		{reason: "a flag of a disk", id: "401", declared: `{"scsi0.backup": false}`, want: pvetest.Row{"scsi0": "fast:vm-401-disk-0,discard=on,iothread=1,size=32G,backup=0"}},
		{reason: "cloud-init", id: "402", declared: `{"ciuser": "deploy"}`, want: pvetest.Row{"ciuser": "deploy"}, later: "ciuser (cloud-init)"},
		{reason: "keys of cloud-init", id: "403", declared: `{"sshkeys": ["ssh-ed25519 AAAA+b/c= a@b", "ssh-rsa BBBB c@d"]}`, config: pvetest.Row{"sshkeys": "ssh-rsa%20BBBB%20c%40d"},
			want: pvetest.Row{"sshkeys": "ssh-ed25519%20AAAA+b%2Fc=%20a@b%0Assh-rsa%20BBBB%20c@d"}},
		{reason: "an order", id: "401", declared: `{"startup.order": 3}`, config: pvetest.Row{"startup": "order=2,up=30"}, want: pvetest.Row{"startup": "order=3,up=30"}},
		{reason: "a container", id: "410", declared: `{"memory": 1024, "net0.ip": "192.0.2.10/24"}`, want: pvetest.Row{"memory": "1024", "net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:5A:04:10,ip=192.0.2.10/24,type=veth"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Edit(func(c *pvetest.Cluster) {
				for key, value := range tc.config {
					c.Guest(number(tc.id)).Config[key] = value
				}
			})
			before := b.guest(number(tc.id))
			f := b.finding(tc.id, tc.declared)
			c, err := b.plan(f)
			if err != nil {
				t.Fatal(err)
			}
			p := c.Plan()
			if p.AfterRestart != tc.later {
				t.Errorf("after a restart: %q, want %q", p.AfterRestart, tc.later)
			}
			if p.Identity != "driftd@pve!fix" || p.UID == "" && tc.id != "403" {
				t.Errorf("plan %+v", p)
			}
			expect(t, b.a, f.Key, p, reconcile.AsBefore)
			if _, err := c.Write(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := reconcile.AsWanted
			if tc.waits != nil {
				want = reconcile.AsWaiting
			}
			expect(t, b.a, f.Key, p, want)
			after := b.guest(number(tc.id))
			compareRows(t, "the file", after.Config, before.Config, tc.want)
			compareRows(t, "what waits", after.Pending, nil, tc.waits)
		})
	}
}

// expect compares the result of an inspection.
func expect(t *testing.T, a *Actuator, key model.Key, p reconcile.Plan, want reconcile.Inspection) {
	t.Helper()
	if got, err := a.Inspect(t.Context(), key, p); err != nil || got != want {
		t.Errorf("Inspect() = %q, %v; want %q", got, err, want)
	}
}

// compareRows compares keys of a file: those of changed have other values than before.
func compareRows(t *testing.T, what string, got, before, changed pvetest.Row) {
	t.Helper()
	want := pvetest.Row{}
	for key, value := range before {
		want[key] = value
	}
	for key, value := range changed {
		if want[key] = value; value == nil {
			delete(want, key)
		}
	}
	for key, value := range want {
		if text(got[key]) != text(value) {
			t.Errorf("%s: %s is %v, want %v", what, key, got[key], value)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return strings.Trim(string(b), `"`)
}

// guestOf edits a guest of a cluster.
func guestOf(id int, edit func(*pvetest.Guest)) func(*pvetest.Cluster) {
	return func(c *pvetest.Cluster) { edit(c.Guest(id)) }
}

// TestRefuses lists what is refused before anything is sent.
func TestRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, id, declared string
		finding              func(*model.Finding)
		cluster              func(*pvetest.Cluster)
		guard, why           string
	}{
		{reason: "no quorum", id: "401", declared: `{"cores": 4}`, cluster: func(c *pvetest.Cluster) { c.NoQuorum = true }, guard: "quorum", why: "has no quorum"},
		{reason: "a lock", id: "403", declared: `{"cores": 4}`, cluster: guestOf(403, func(g *pvetest.Guest) { g.Config["lock"] = "backup" }), guard: "still-so", why: "locked (backup)"},
		{reason: "a template", id: "490", declared: `{"cores": 4}`, guard: "kind", why: "template"},
		{reason: "the mark of a template", id: "403", declared: `{"template": true}`, guard: "kind", why: "base images"},
		{reason: "another change waits", id: "401", declared: `{"cores": 4}`, cluster: guestOf(401, func(g *pvetest.Guest) { g.Pending = pvetest.Row{"memory": "8192", "vga": nil} }), guard: "scope", why: "with the write: memory"},
		{reason: "it changed since", id: "401", declared: `{"cores": 4}`, cluster: guestOf(401, func(g *pvetest.Guest) { g.Config["cores"] = 3 }), guard: "still-so", why: "cores changed since the scan"},
		{reason: "it moved", id: "401", declared: `{"cores": 4}`, cluster: guestOf(401, func(g *pvetest.Guest) { g.Node = "pve2" }), guard: "still-so", why: "does not exist on its node any more"},
		{reason: "it is gone", id: "401", declared: `{"cores": 4}`, cluster: func(c *pvetest.Cluster) { c.RemoveGuest(401) }, guard: "still-so", why: "does not exist on its node any more"},
		{reason: "as declared, and waiting", id: "401", declared: `{"cores": 4}`, cluster: guestOf(401, func(g *pvetest.Guest) { g.Pending = pvetest.Row{"cores": 4} }),
			finding: func(f *model.Finding) { f.Verdict, f.Changes[0].Live = model.PendingRestart, f.Changes[0].Declared }, guard: "still-so", why: "waits for a restart"},
		{reason: "a right that lacks", id: "401", declared: `{"memory": 1024}`, cluster: func(c *pvetest.Cluster) {
			c.Accounts["driftd@pve!fix"] = map[string][]string{"/vms": {"VM.Config.CPU"}}
		}, guard: "rights", why: "driftd@pve!fix lacks VM.Config.Memory on /vms/401"},
		{reason: "missing", id: "401", declared: `{"cores": 4}`, finding: func(f *model.Finding) { f.Verdict = model.Missing }, guard: "kind", why: "creates nothing"},
		{reason: "another kind", id: "401", declared: `{"cores": 4}`, finding: func(f *model.Finding) { f.Kind = "proxmox/sdn_zone" }, guard: "kind", why: "does not put it back"},
		{reason: "no field", id: "401", declared: `{}`, guard: "kind", why: "names no field"},
		{reason: "a secret", id: "402", declared: `{"cipassword": "x"}`, finding: func(f *model.Finding) { f.Changes[0].Secret = true }, guard: "kind", why: "is a secret"},
		{reason: "the size of a disk", id: "401", declared: `{"scsi0.size": 1}`, guard: "kind", why: "smaller"},
		{reason: "the volume of a disk", id: "401", declared: `{"scsi0.file": "vm-402-disk-0"}`, guard: "kind", why: "which volume"},
		{reason: "a disk that was added", id: "401", declared: `{"scsi0": null}`, guard: "kind", why: "driftd detaches no disk"},
		{reason: "a network device", id: "401", declared: `{"net1": {"bridge": "vmbr0"}}`, guard: "kind", why: "neither adds nor removes network devices"},
		{reason: "an address", id: "401", declared: `{"net0.macaddr": "BC:24:11:00:00:99"}`, guard: "kind", why: "needs a stop"},
		{reason: "an unused volume", id: "401", declared: `{"unused0": null}`, guard: "kind", why: "which volumes"},
		{reason: "the node", id: "401", declared: `{"node": "pve2"}`, guard: "kind", why: "migration"},
		{reason: "arguments", id: "401", declared: `{"args": "-s"}`, guard: "kind", why: "access to the node"},
		{reason: "an option of another version", id: "401", declared: `{"novel": "1"}`, guard: "kind", why: "does not know how it is written"},
		{reason: "another part in the value", id: "401", declared: `{"net0.bridge": "vmbr0,tag=99"}`, guard: "kind", why: "found no notation"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			f := b.finding(tc.id, tc.declared)
			if tc.finding != nil {
				tc.finding(f)
			}
			if tc.cluster != nil {
				b.Edit(tc.cluster)
			}
			b.refused(f, tc.guard, tc.why)
		})
	}
}

// TestNotWritten lists writes that Proxmox VE refuses, after which nothing has changed.
func TestNotWritten(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		edit   func(*pvetest.Cluster)
		break_ faults.Fault
		why    string
	}{
		{reason: "another edit came first", edit: func(c *pvetest.Cluster) { c.Guest(401).Config["tags"] = "shop" }, why: "changed since it was read: look again"},
		{reason: "a lock came first", edit: func(c *pvetest.Cluster) { c.Guest(401).Config["lock"] = "migrate" }, why: "VM is locked (migrate); wait"},
		{reason: "a snapshot came first", edit: func(c *pvetest.Cluster) { c.Guest(401).Config["parent"] = "now" }, why: "checksum mismatch"},
		{reason: "a right was taken away", edit: func(c *pvetest.Cluster) { c.Accounts["driftd@pve!fix"] = nil }, why: "Permission check failed (/vms/401, VM.Config.CPU)"},
		{reason: "a value is rejected", break_: pvetest.Message(http.StatusBadRequest, "Parameter verification failed."), why: "Parameter verification failed"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c, err := b.plan(b.finding("401", `{"cores": 4}`))
			if err != nil {
				t.Fatal(err)
			}
			if tc.edit != nil {
				b.Edit(tc.edit)
			}
			if tc.break_ != nil {
				b.Break("/nodes/pve1/qemu/401/config", tc.break_)
			}
			_, err = c.Write(t.Context())
			var not *reconcile.NotWrittenError
			if !errors.As(err, &not) || !strings.Contains(err.Error(), tc.why) {
				t.Errorf("Write() = %v, want %s", err, tc.why)
			}
			if g := b.guest(401); text(g.Config["cores"]) != "2" || len(g.Pending) > 0 {
				t.Errorf("the guest is %v, and %v waits", g.Config, g.Pending)
			}
		})
	}
}

// TestNoCredential checks that nothing is sent without the secret of the account that writes.
func TestNoCredential(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, err := b.plan(b.finding("401", `{"onboot": false}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(b.a.options.Writing.TokenFile); err != nil {
		t.Fatal(err)
	}
	_, err = c.Write(t.Context())
	if not := (*reconcile.NotWrittenError)(nil); !errors.As(err, &not) || !strings.Contains(err.Error(), "correct the path") {
		t.Errorf("Write() = %v", err)
	}
	if n := b.Count("/nodes/pve1/qemu/401/config", ""); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TestQuorumLost checks that a write during which the quorum is lost is not called refused: it was sent.
func TestQuorumLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, err := b.plan(b.finding("401", `{"onboot": false}`))
	if err != nil {
		t.Fatal(err)
	}
	b.Edit(func(c *pvetest.Cluster) { c.NoQuorum = true })
	_, err = c.Write(t.Context())
	refusal, not := (*reconcile.Refusal)(nil), (*reconcile.NotWrittenError)(nil)
	if err == nil || errors.As(err, &refusal) || errors.As(err, &not) || !strings.Contains(err.Error(), "no quorum") {
		t.Errorf("Write() = %v", err)
	}
}

// TestHotplugFails checks that an error after which a part of the request was written is not called a failure.
func TestHotplugFails(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Edit(func(c *pvetest.Cluster) {
		c.Guest(401).HotplugFails = map[string]string{"net0": "hotplug problem - bridge 'vmbr9' does not exist"}
	})
	f := b.finding("401", `{"net0.bridge": "vmbr9", "description": "new"}`)
	c, err := b.plan(f)
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := c.Write(t.Context())
	if err != nil || len(receipt.Unexpected) != 1 || receipt.Status != http.StatusBadRequest {
		t.Fatalf("Write() = %+v, %v", receipt, err)
	}
	for _, want := range []string{"net0: hotplug problem - bridge 'vmbr9' does not exist", "wrote description, net0.bridge"} {
		if !strings.Contains(receipt.Unexpected[0], want) {
			t.Errorf("the receipt is %q, without %q", receipt.Unexpected, want)
		}
	}
}

// TestLostAnswer checks that an answer that is lost, or comes from something on the way, is no proof of anything.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]faults.Fault{"a proxy": faults.Status(http.StatusBadGateway, ""), "half an answer": faults.Truncated(), "a node that is down": pvetest.NodeDown(),
		"an error after the write": func(h http.Handler, w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(httptest.NewRecorder(), r)
			w.WriteHeader(http.StatusBadGateway)
		}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			f := b.finding("403", `{"cores": 4}`)
			c, err := b.plan(f)
			if err != nil {
				t.Fatal(err)
			}
			b.Break("/nodes/pve3/qemu/403/config", fault)
			_, err = c.Write(t.Context())
			if not := (*reconcile.NotWrittenError)(nil); err == nil || errors.As(err, &not) {
				t.Errorf("Write() = %v", err)
			}
			want := reconcile.AsBefore
			if text(b.guest(403).Config["cores"]) == "4" {
				want = reconcile.AsWanted
			}
			expect(t, b.a, f.Key, c.Plan(), want)
			if n := b.Count("/nodes/pve3/qemu/403/config", ""); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// TestInspectOther checks that an inspection is not deceived: by another guest with the number, another cluster, and a
// node without quorum.
func TestInspectOther(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	f := b.finding("401", `{"onboot": false}`)
	c, err := b.plan(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := c.Plan()
	expect(t, b.a, f.Key, p, reconcile.AsWanted)
	b.Edit(func(c *pvetest.Cluster) { c.Guest(401).Config["onboot"] = 1; c.Guest(401).Config["tags"] = "" })
	expect(t, b.a, f.Key, p, reconcile.AsBefore)
	b.Edit(func(c *pvetest.Cluster) {
		c.Guest(401).Config["smbios1"] = "uuid=9f2d1c60-0000-4000-8000-000000000999"
		c.Guest(401).Config["onboot"] = 0
	})
	expect(t, b.a, f.Key, p, reconcile.AsOther)
	b.Edit(func(c *pvetest.Cluster) {
		c.Guest(401).Config["smbios1"], c.Guest(401).Node = "uuid="+p.UID, "pve3"
	})
	expect(t, b.a, f.Key, p, reconcile.AsWanted) // it moved
	other := p
	other.System = "elsewhere" + strings.TrimPrefix(p.System, "lab")
	if _, err := b.a.Inspect(t.Context(), f.Key, other); err == nil || !strings.Contains(err.Error(), "another cluster") {
		t.Errorf("another cluster: %v", err)
	}
	b.Edit(func(c *pvetest.Cluster) { c.Guest(401).Node, c.NoQuorum = "pve1", true })
	if _, err := b.a.Inspect(t.Context(), f.Key, p); err == nil || !strings.Contains(err.Error(), "no quorum") {
		t.Errorf("without quorum: %v", err)
	}
	b.Edit(func(c *pvetest.Cluster) { c.NoQuorum = false; c.RemoveGuest(401) })
	expect(t, b.a, f.Key, p, reconcile.AsOther)
}

// TestRights compares the privileges of the account that writes with what rules need.
func TestRights(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Edit(func(c *pvetest.Cluster) { c.Accounts["driftd@pve!fix"]["/"] = []string{"Sys.Modify"} })
	rule := reconcile.Rule{Name: "guests", Mode: reconcile.Approve, Match: model.Selector{Kinds: []string{normalize.QEMU}}}
	groups := reconcile.Rule{Name: "groups", Mode: reconcile.Approve, Match: model.Selector{Kinds: []string{normalize.FirewallGroup}}}
	r, err := b.a.Rights(t.Context(), []reconcile.Rule{rule, groups})
	if err != nil || r.Identity != "driftd@pve!fix" || len(r.Excess)+len(r.Missing) > 0 || len(r.May) == 0 {
		t.Errorf("Rights() = %+v, %v", r, err)
	}
	r, err = b.a.Rights(t.Context(), []reconcile.Rule{groups})
	if err != nil || !slices.Contains(r.Excess, "Datastore.AllocateSpace on /storage: driftd does not use it") {
		t.Errorf("Rights() = %+v, %v", r, err)
	}
	b.Edit(func(c *pvetest.Cluster) {
		c.Accounts["driftd@pve!fix"] = map[string][]string{"/vms": {"VM.Allocate", "VM.Audit"}}
	})
	r, err = b.a.Rights(t.Context(), []reconcile.Rule{groups})
	if err != nil || len(r.Missing) != 1 || r.Missing[0] != "Sys.Modify on / for rule groups" {
		t.Errorf("Rights() = %+v, %v", r, err)
	}
	r, err = b.a.Rights(t.Context(), []reconcile.Rule{rule})
	if err != nil || len(r.Excess) != 1 || !strings.Contains(r.Excess[0], "VM.Allocate on /vms") || len(r.Missing) != 1 || !strings.Contains(r.Missing[0], "rule guests") {
		t.Errorf("Rights() = %+v, %v", r, err)
	}
}
