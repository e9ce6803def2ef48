package proxmox

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/reconcile"
)

// grown declares that scsi0 of guest 401, which has 32 GiB, has 40 GiB.
const grown = `{"scsi0.size": 42949672960}`

const (
	resizeOf401 = "/nodes/pve1/qemu/401/resize"
	configOf401 = "/nodes/pve1/qemu/401/config"
)

// TestGrows makes disks larger that are smaller than declared.
func TestGrows(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, declared string
		edit             func(*pvetest.Cluster)
		want             pvetest.Row
		requests         string
	}{
		{reason: "a running machine", declared: grown, want: pvetest.Row{"scsi0": "fast:vm-401-disk-0,discard=on,iothread=1,size=40G"},
			requests: "make scsi0 (fast:vm-401-disk-0) larger: from 34359738368 bytes to 40G"},
		{reason: "a stopped machine", declared: grown, edit: guestOf(401, func(g *pvetest.Guest) { g.Status = "stopped" }), want: pvetest.Row{"scsi0": "fast:vm-401-disk-0,discard=on,iothread=1,size=40G"}},
		{reason: "a TiB", declared: `{"scsi0.size": 1099511627776}`, want: pvetest.Row{"scsi0": "fast:vm-401-disk-0,discard=on,iothread=1,size=1T"},
			requests: "make scsi0 (fast:vm-401-disk-0) larger: from 34359738368 bytes to 1024G"},
		{reason: "a size in MiB", declared: grown, edit: guestOf(401, func(g *pvetest.Guest) { g.Config["scsi0"] = "fast:vm-401-disk-0,size=32772M" }), want: pvetest.Row{"scsi0": "fast:vm-401-disk-0,size=40G"}},
		{reason: "a task that takes a while", declared: grown, edit: func(c *pvetest.Cluster) { c.SlowTasks = 1 }, want: pvetest.Row{"scsi0": "fast:vm-401-disk-0,discard=on,iothread=1,size=40G"}},
		{reason: "another option of the disk, and one of the guest", declared: `{"description": "new", "scsi0.backup": false, "scsi0.size": 42949672960}`,
			want:     pvetest.Row{"description": "new", "scsi0": "fast:vm-401-disk-0,discard=on,iothread=1,size=40G,backup=0"},
			requests: "make scsi0 (fast:vm-401-disk-0) larger: from 34359738368 bytes to 40G; set description, scsi0"},
		{reason: "two disks", declared: `{"scsi0.size": 42949672960, "sata1.size": 10737418240}`, edit: guestOf(401, func(g *pvetest.Guest) { g.Config["sata1"] = "slow:401/vm-401-disk-7.qcow2,size=8G" }),
			want: pvetest.Row{"scsi0": "fast:vm-401-disk-0,discard=on,iothread=1,size=40G", "sata1": "slow:401/vm-401-disk-7.qcow2,size=10G"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if tc.edit != nil {
				b.Edit(tc.edit)
			}
			before := b.guest(401)
			f := b.finding("401", tc.declared)
			c, err := b.plan(f)
			if err != nil {
				t.Fatal(err)
			}
			p := c.Plan()
			if p.Person != personSize || p.AfterRestart != "" || tc.requests != "" && strings.Join(p.Requests, "; ") != tc.requests {
				t.Errorf("the plan is %+v", p)
			}
			expect(t, b.a, f.Key, p, reconcile.AsBefore)
			receipt, err := c.Write(t.Context())
			if err != nil || receipt.Status != http.StatusOK || len(receipt.Unexpected) > 0 {
				t.Fatalf("Write() = %+v, %v", receipt, err)
			}
			expect(t, b.a, f.Key, p, reconcile.AsWanted)
			after := b.guest(401)
			compareRows(t, "the file", after.Config, before.Config, tc.want)
			if len(after.Pending) > 0 {
				t.Errorf("%v waits", after.Pending)
			}
		})
	}
}

// TestGrowsNot lists disks that do not grow, before anything is sent.
func TestGrowsNot(t *testing.T) {
	t.Parallel()
	disk := func(text string) func(*pvetest.Cluster) {
		return guestOf(401, func(g *pvetest.Guest) { g.Config["scsi0"] = text })
	}
	for _, tc := range []struct {
		reason, id, declared string
		// edit comes before the finding, and since after it.
		edit, since func(*pvetest.Cluster)
		guard, why  string
	}{
		{reason: "a disk that is larger", declared: `{"scsi0.size": 21474836480}`, guard: "kind", why: "larger than declared, and a disk cannot be made smaller"},
		{reason: "a part of a GiB", declared: `{"scsi0.size": 42949672961}`, guard: "kind", why: "no whole GiB"},
		{reason: "MiB that LVM rounds up", declared: `{"scsi0.size": 42950721536}`, guard: "kind", why: "no whole GiB"},
		{reason: "a fraction", declared: `{"scsi0.size": 42949672960.5}`, guard: "kind", why: "no number of bytes"},
		{reason: "a text", declared: `{"scsi0.size": "40G"}`, guard: "kind", why: "no number of bytes"},
		{reason: "more than any disk has", declared: `{"scsi0.size": 99999999999999999999}`, guard: "kind", why: "no number of bytes"},
		{reason: "no declared size", declared: `{"scsi0.size": null}`, guard: "kind", why: "no number of bytes"},
		{reason: "a disk without a size", declared: grown, edit: disk("/dev/sdb"), guard: "kind", why: "no number of bytes"},
		{reason: "a device of the node", declared: grown, edit: disk("/dev/sdb,size=32G"), guard: "kind", why: "/dev/sdb is no volume that can grow"},
		{reason: "a CD", declared: grown, edit: disk("local:iso/tools.iso,media=cdrom,size=600M"), guard: "kind", why: "local:iso/tools.iso is no volume that can grow"},
		{reason: "a volume of another guest", declared: grown, edit: disk("fast:vm-402-disk-1,size=32G"), guard: "scope", why: "fast:vm-402-disk-1 is a volume of guest 402"},
		{reason: "it grew since", declared: grown, since: disk("fast:vm-401-disk-0,size=64G"), guard: "still-so", why: "scsi0.size changed since the scan"},
		{reason: "another volume since", declared: grown, since: disk("fast:vm-401-disk-5,discard=on,iothread=1,size=32G"), guard: "still-so", why: "another volume there than at the scan"},
		{reason: "detached since", declared: grown, since: guestOf(401, func(g *pvetest.Guest) { delete(g.Config, "scsi0") }), guard: "still-so", why: "scsi0.size changed since the scan"},
		{reason: "a lock", declared: grown, edit: guestOf(401, func(g *pvetest.Guest) { g.Config["lock"] = "snapshot" }), guard: "still-so", why: "locked (snapshot)"},
		{reason: "another change waits", declared: grown, edit: guestOf(401, func(g *pvetest.Guest) { g.Pending = pvetest.Row{"memory": "8192"} }), guard: "scope", why: "with the write: memory"},
		{reason: "the disk waits for another option", declared: grown, edit: guestOf(401, func(g *pvetest.Guest) { g.Pending = pvetest.Row{"scsi0": "fast:vm-401-disk-0,cache=unsafe,size=32G"} }), guard: "scope", why: "with the write: scsi0"},
		{reason: "its option that waits is put back as well", declared: `{"scsi0.cache": "none", "scsi0.size": 42949672960}`, edit: guestOf(401, func(g *pvetest.Guest) {
			g.Pending = pvetest.Row{"scsi0": "fast:vm-401-disk-0,cache=unsafe,size=32G"}
		}), guard: "scope", why: "with the write: scsi0"},
		{reason: "a template", id: "490", declared: `{"scsi0.size": 42949672960}`, guard: "kind", why: "template"},
		{reason: "a container", id: "410", declared: `{"rootfs.size": 42949672960}`, guard: "kind", why: "only disks of virtual machines"},
		{reason: "another part that is never put back", declared: `{"scsi0.size": 42949672960, "scsi0.file": "fast:vm-401-disk-9"}`, guard: "kind", why: "which volume"},
		{reason: "no right on the guest", declared: grown, edit: func(c *pvetest.Cluster) {
			c.Accounts["driftd@pve!fix"] = map[string][]string{"/": {"Datastore.AllocateSpace"}, "/vms": {"VM.Config.CPU"}}
		}, guard: "rights", why: "lacks VM.Config.Disk on /vms/401"},
		{reason: "no right on the storage", declared: grown, edit: func(c *pvetest.Cluster) {
			c.Accounts["driftd@pve!fix"]["/storage"] = nil
		}, guard: "rights", why: "lacks Datastore.AllocateSpace on /storage/fast"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if tc.edit != nil {
				b.Edit(tc.edit)
			}
			id := "401"
			if tc.id != "" {
				id = tc.id
			}
			f := b.finding(id, tc.declared)
			if tc.since != nil {
				b.Edit(tc.since)
			}
			b.refused(f, tc.guard, tc.why)
		})
	}
}

// TestGrowthFails lists tasks that fail although the request was answered with 200.
func TestGrowthFails(t *testing.T) {
	t.Parallel()
	const unknown = "it may have taken effect"
	for _, tc := range []struct {
		reason string
		edit   func(*pvetest.Cluster)
		break_ faults.Fault
		// why is the error if nothing was written, and unexpected the text of the receipt if that is not proven.
		why, unexpected string
	}{
		{reason: "another edit came first", edit: func(c *pvetest.Cluster) { c.Guest(401).Config["tags"] = "shop" }, why: "the task failed: checksum mismatch (file change by other user?)"},
		{reason: "a snapshot came first", edit: func(c *pvetest.Cluster) { c.Guest(401).Config["parent"] = "now" }, why: "checksum mismatch"},
		{reason: "the disk grew first", edit: func(c *pvetest.Cluster) { c.Guest(401).Config["scsi0"] = "fast:vm-401-disk-0,size=64G" }, why: "checksum mismatch"},
		{reason: "the right on the storage was taken away", edit: func(c *pvetest.Cluster) { c.Accounts["driftd@pve!fix"]["/storage"] = nil }, why: "Permission check failed (/storage/fast, Datastore.AllocateSpace)"},
		{reason: "the right on the guest was taken away", edit: func(c *pvetest.Cluster) { c.Accounts["driftd@pve!fix"]["/vms"] = nil }, why: "Permission check failed (/vms/401, VM.Config.Disk)"},
		{reason: "the volume is larger than its size in the file", edit: fails("shrinking disks is not supported"), why: "qm disk rescan"},
		{reason: "a format that cannot grow", edit: fails("can't resize this image format"), why: "the storage cannot do it"},
		{reason: "no space", edit: fails("error resizing volume '/dev/pve/vm-401-disk-0': exit code 5"), unexpected: "exit code 5: the size in the configuration is as it was, and the volume may be larger"},
		{reason: "the quorum is lost", edit: fails("unable to open file '/etc/pve/nodes/pve1/qemu-server/401.conf.tmp.112' - Permission denied"), unexpected: "the volume may be larger"},
		{reason: "the task was killed", edit: fails("unexpected status"), why: unknown},
		{reason: "no task in the answer", break_: func(_ http.Handler, w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"data":null}`)) }, why: unknown},
		{reason: "a parameter is rejected", break_: pvetest.Message(http.StatusBadRequest, "Parameter verification failed."), why: "Parameter verification failed"},
		{reason: "a proxy", break_: faults.Status(http.StatusBadGateway, ""), why: unknown},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c, err := b.plan(b.finding("401", grown))
			if err != nil {
				t.Fatal(err)
			}
			if tc.edit != nil {
				b.Edit(tc.edit)
			}
			if tc.break_ != nil {
				b.Break(resizeOf401, tc.break_)
			}
			before := b.guest(401).Config["scsi0"]
			receipt, err := c.Write(t.Context())
			not := (*reconcile.NotWrittenError)(nil)
			switch unwritten := errors.As(err, &not); {
			case tc.unexpected != "":
				if err != nil || len(receipt.Unexpected) != 1 || !strings.Contains(receipt.Unexpected[0], tc.unexpected) {
					t.Errorf("Write() = %+v, %v, want %s", receipt, err, tc.unexpected)
				}
			case tc.why == unknown:
				if err == nil || unwritten {
					t.Errorf("Write() = %v", err)
				}
			case !unwritten || !strings.Contains(err.Error(), tc.why):
				t.Errorf("Write() = %v, want %s", err, tc.why)
			}
			if disk := b.guest(401).Config["scsi0"]; disk != before {
				t.Errorf("scsi0 is %v, want %v", disk, before)
			}
			if n := b.Count(resizeOf401, ""); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// fails lets tasks that resize scsi0 of guest 401 fail.
func fails(exit string) func(*pvetest.Cluster) {
	return func(c *pvetest.Cluster) { c.Guest(401).ResizeFails = map[string]string{"scsi0": exit} }
}

// TestGrowsOnce carries two plans for one guest out: the second one finds another file.
func TestGrowsOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first, err := b.plan(b.finding("401", grown))
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.plan(b.finding("401", `{"scsi0.size": 53687091200}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Write(t.Context()); !errors.As(err, new(*reconcile.NotWrittenError)) || !strings.Contains(err.Error(), "checksum mismatch") {
		t.Errorf("Write() = %v", err)
	}
	if disk := b.guest(401).Config["scsi0"]; disk != "fast:vm-401-disk-0,discard=on,iothread=1,size=40G" {
		t.Errorf("scsi0 is %v", disk)
	}
}

// TestGrowthRuns checks that a task that outlives the write, or whose end cannot be read, is not taken for one without an effect.
func TestGrowthRuns(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*bench) context.Context{
		"it takes too long": func(b *bench) context.Context {
			ctx, cancel := context.WithTimeout(b.t.Context(), time.Second)
			b.t.Cleanup(cancel)
			return ctx
		},
		"it cannot be read": func(b *bench) context.Context {
			b.Break("/nodes/pve1/tasks/", pvetest.Message(http.StatusForbidden, "Permission check failed"))
			return b.t.Context()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Edit(func(c *pvetest.Cluster) { c.SlowTasks = 1000 })
			f := b.finding("401", grown)
			c, err := b.plan(f)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Write(prepare(b))
			if err == nil || errors.As(err, new(*reconcile.NotWrittenError)) || errors.As(err, new(*reconcile.Refusal)) {
				t.Fatalf("Write() = %v", err)
			}
			if got, err := b.a.Inspect(t.Context(), f.Key, c.Plan()); err == nil || !strings.Contains(err.Error(), "a task still changes the size of a disk: UPID:pve1:") {
				t.Errorf("Inspect() = %s, %v", got, err)
			}
			b.EndTasks()
			expect(t, b.a, f.Key, c.Plan(), reconcile.AsWanted)
		})
	}
}

// TestGrowthIsLost checks that an answer that is lost is no proof of anything.
func TestGrowthIsLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	f := b.finding("401", grown)
	c, err := b.plan(f)
	if err != nil {
		t.Fatal(err)
	}
	b.Break(resizeOf401, func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(httptest.NewRecorder(), r)
		w.WriteHeader(http.StatusBadGateway)
	})
	if _, err := c.Write(t.Context()); err == nil || errors.As(err, new(*reconcile.NotWrittenError)) {
		t.Errorf("Write() = %v", err)
	}
	expect(t, b.a, f.Key, c.Plan(), reconcile.AsWanted)
}

// TestGrowsHalf lists what comes between the request that makes a disk larger and the next one.
func TestGrowsHalf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, path string
		fault        func(*bench) faults.Fault
		// unexpected is the text of the receipt; "" for an error after which it is not known what was written.
		unexpected string
	}{
		{"another edit", "/nodes/pve1/tasks/", func(b *bench) faults.Fault {
			return func(h http.Handler, w http.ResponseWriter, r *http.Request) {
				b.Edit(guestOf(401, func(g *pvetest.Guest) { g.Config["cores"] = 8 }))
				h.ServeHTTP(w, r)
			}
		}, "after request 1 of 2 (make scsi0 (fast:vm-401-disk-0) larger: from 34359738368 bytes to 40G) the guest is not as planned"},
		{"a change that waits", "/nodes/pve1/tasks/", func(b *bench) faults.Fault {
			return func(h http.Handler, w http.ResponseWriter, r *http.Request) {
				b.Edit(guestOf(401, func(g *pvetest.Guest) { g.Pending = pvetest.Row{"memory": "4096"} }))
				h.ServeHTTP(w, r)
			}
		}, "the guest is not as planned"},
		{"a refusal", configOf401, func(*bench) faults.Fault {
			return pvetest.Message(http.StatusInternalServerError, "VM is locked (backup)")
		},
			"VM is locked (backup) to request 2 of 2 (set scsi0): what was done before is left"},
		{"a proxy", configOf401, func(*bench) faults.Fault { return faults.Status(http.StatusBadGateway, "") }, ""},
		{"a guest that cannot be read", "/nodes/pve1/qemu/401/status/current", func(*bench) faults.Fault { return pvetest.NodeDown() }, ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c, err := b.plan(b.finding("401", `{"scsi0.backup": false, "scsi0.size": 42949672960}`))
			if err != nil {
				t.Fatal(err)
			}
			b.Break(tc.path, tc.fault(b))
			receipt, err := c.Write(t.Context())
			if tc.unexpected == "" {
				if err == nil || errors.As(err, new(*reconcile.NotWrittenError)) || errors.As(err, new(*reconcile.Refusal)) {
					t.Errorf("Write() = %v", err)
				}
			} else if err != nil || len(receipt.Unexpected) != 1 || !strings.Contains(receipt.Unexpected[0], tc.unexpected) {
				t.Errorf("Write() = %+v, %v, want %s", receipt, err, tc.unexpected)
			}
			if disk := b.guest(401).Config["scsi0"]; disk != "fast:vm-401-disk-0,discard=on,iothread=1,size=40G" {
				t.Errorf("scsi0 is %v", disk)
			}
		})
	}
}

// TestGrowsByLens makes a disk larger that a Terraform provider declares in GiB.
func TestGrowsByLens(t *testing.T) {
	t.Parallel()
	const disk = `{"interface": "scsi0", "datastore_id": "fast", "path_in_datastore": "vm-401-disk-0", "file_format": "raw", "discard": "on", "iothread": true, "speed": [], "size": `
	b := newBench(t)
	if f := b.byLens(disk + "32}").Finding; len(f.Changes) > 0 {
		t.Errorf("equal sizes differ: %+v", f.Changes)
	}
	if _, err := b.a.Plan(t.Context(), b.byLens(disk+"40.5}")); err == nil || !strings.Contains(err.Error(), "no whole GiB") {
		t.Errorf("Plan() = %v", err)
	}
	c, err := b.a.Plan(t.Context(), b.byLens(disk+"40}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if disk := b.guest(401).Config["scsi0"]; disk != "fast:vm-401-disk-0,discard=on,iothread=1,size=40G" {
		t.Errorf("scsi0 is %v", disk)
	}
}
