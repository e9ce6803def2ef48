package proxmox

import (
	"errors"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// detached is the declaration of the disk that newDetached detaches, and byField the same field by field.
const detached = `{"scsi1": {"file": "fast:vm-401-disk-1", "storage": "fast", "volume": "vm-401-disk-1", "format": "raw", "size": 8589934592, "backup": false, "serial": "data"}}`

const byField = `{"scsi1.storage": "fast", "scsi1.volume": "vm-401-disk-1", "scsi1.size": 8589934592, "scsi1.backup": false, "scsi1.cache": "none", "scsi1.serial": "data"}`

// newDetached makes a cluster in which a disk of guest 401 was detached by hand.
func newDetached(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.SetConfig(401, "scsi1", "fast:vm-401-disk-1,backup=0,serial=data,size=8G", "root@pam")
	b.SetConfig(401, "scsi1", nil, "carol@pve")
	return b
}

// TestAttaches attaches a disk again that was detached.
func TestAttaches(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		declared string
		edit     func(*pvetest.Cluster)
	}{
		"one unused volume":         {detached, func(*pvetest.Cluster) {}},
		"field by field":            {byField, func(*pvetest.Cluster) {}},
		"a stopped machine":         {detached, guestOf(401, func(g *pvetest.Guest) { g.Status = "stopped" })},
		"unused by another as well": {detached, guestOf(402, func(g *pvetest.Guest) { g.Config["unused0"] = "fast:vm-401-disk-1" })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newDetached(t)
			b.Edit(tc.edit)
			c, err := b.plan(b.finding("401", tc.declared))
			if err != nil {
				t.Fatal(err)
			}
			p := c.Plan()
			if len(p.Changes) != 1 || p.Changes[0].Path != "scsi1" || p.Changes[0].Old != nil || p.Person == "" || p.AfterRestart != "" {
				t.Errorf("the plan is %+v", p)
			}
			if form := c.(*change).form(); form.Has("delete") || len(form) != 1 { //nolint:forcetypeassert // a panic fails the test
				t.Errorf("the request is %v", form)
			}
			b.see(t, c, reconcile.AsBefore)
			if _, err := c.Write(t.Context()); err != nil {
				t.Fatal(err)
			}
			g := b.guest(401)
			if g.Config["scsi1"] != "fast:vm-401-disk-1,backup=0,serial=data,size=8G" || g.Config["unused0"] != nil {
				t.Errorf("the file is %v", g.Config)
			}
			b.see(t, c, reconcile.AsWanted)
		})
	}
}

// see compares what an inspection of guest 401 returns.
func (b *bench) see(t *testing.T, c reconcile.Change, want reconcile.Inspection) {
	t.Helper()
	key := b.finding("401", "{}").Key
	if got, err := b.a.Inspect(t.Context(), key, c.Plan()); got != want || err != nil {
		t.Errorf("Inspect() = %s, %v, want %s", got, err, want)
	}
}

// TestAttachesNot lists disks that are not attached.
func TestAttachesNot(t *testing.T) {
	t.Parallel()
	foreign := func(id int, key string, value any) func(*pvetest.Cluster) {
		return guestOf(id, func(g *pvetest.Guest) { g.Config[key] = value })
	}
	for _, tc := range []struct {
		reason, declared string
		edit             func(*pvetest.Cluster)
		guard, why       string
	}{
		{reason: "no unused volume", edit: func(c *pvetest.Cluster) { delete(c.Guest(401).Config, "unused0") }, guard: "kind", why: "none of the unused volumes"},
		{reason: "another volume", edit: foreign(401, "unused0", "fast:vm-401-disk-2"), guard: "kind", why: "none of the unused volumes"},
		{reason: "another storage", edit: foreign(401, "unused0", "slow:vm-401-disk-1"), guard: "kind", why: "none of the unused volumes"},
		{reason: "another unused volume", declared: byField, edit: foreign(401, "unused3", "fast:vm-401-disk-2"), guard: "kind", why: "other unused volumes, which may have newer data: fast:vm-401-disk-2"},
		{reason: "the volume that a move left behind", edit: foreign(401, "unused3", "slow:vm-401-disk-1"), guard: "kind", why: "newer data: slow:vm-401-disk-1"},
		{reason: "two disks of one volume", declared: strings.TrimSuffix(detached, "}") + `, ` + strings.TrimPrefix(strings.Replace(detached, "scsi1", "scsi2", 1), "{"), guard: "kind", why: "scsi2: it would be as declared with none"},
		{reason: "it waits for a restart", edit: guestOf(401, func(g *pvetest.Guest) {
			delete(g.Config, "unused0")
			g.Config["scsi1"], g.Pending = "fast:vm-401-disk-1,size=8G", pvetest.Row{"scsi1": nil}
		}), guard: "still-so", why: "waits for a restart: revert it (pvesh set /nodes/pve1/qemu/401/config --revert scsi1)"},
		{reason: "a volume to make", declared: `{"scsi1": {"storage": "fast", "size": 8589934592}}`, guard: "kind", why: "does not name the volume and its storage"},
		{reason: "a volume of any storage", declared: `{"scsi1.volume": "vm-401-disk-1"}`, guard: "kind", why: "does not name the volume and its storage"},
		{reason: "a volume to import", declared: strings.Replace(detached, `"data"`, `"data,import-from=fast:vm-402-disk-0"`, 1), guard: "kind", why: "none of the unused volumes"},
		{reason: "an image to import", declared: strings.Replace(detached, `"serial"`, `"import-from": "fast:vm-402-disk-0", "serial"`, 1), guard: "kind", why: "none of the unused volumes"},
		{reason: "another machine has it", edit: foreign(402, "scsi4", "size=8G,file=fast:vm-401-disk-1"), guard: "scope", why: "guest 402 has the volume fast:vm-401-disk-1"},
		{reason: "another machine will have it", edit: guestOf(402, func(g *pvetest.Guest) { g.Pending = pvetest.Row{"virtio4": "fast:vm-401-disk-1"} }), guard: "scope", why: "guest 402 has the volume"},
		{reason: "a container has it", edit: foreign(410, "mp0", "mp=/data,volume=fast:vm-401-disk-1"), guard: "scope", why: "guest 410 has the volume"},
		{reason: "guests that are hidden", edit: func(c *pvetest.Cluster) {
			c.Rights = map[string][]string{"/": pvetest.Auditor()["/"], "/vms": {"Datastore.Audit"}, "/vms/401": {"VM.Audit"}}
		}, guard: "rights", why: "driftd@pve!ro may not see all guests"},
		{reason: "a right that lacks", edit: func(c *pvetest.Cluster) {
			c.Accounts["driftd@pve!fix"] = map[string][]string{"/vms": {"VM.Config.CPU"}}
		}, guard: "rights", why: "lacks VM.Config.Disk on /vms/401"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newDetached(t)
			if tc.declared == "" {
				tc.declared = detached
			}
			f := b.finding("401", tc.declared)
			if tc.edit != nil {
				b.Edit(tc.edit)
			}
			b.refused(f, tc.guard, tc.why)
		})
	}
	b := newDetached(t)
	f := b.finding("401", detached)
	b.AfterList(func(c *pvetest.Cluster) { c.Guest(402).Node = "pve1" })
	b.refused(f, "still-so", "guest 402 moved to another node")
}

// refused checks that a finding is not put back.
func (b *bench) refused(f *model.Finding, guard, why string) {
	b.t.Helper()
	_, err := b.plan(f)
	var r *reconcile.Refusal
	if !errors.As(err, &r) || r.Guard != guard || !strings.Contains(r.Why, why) {
		b.t.Errorf("Plan() = %v, want %s of guard %s", err, why, guard)
	}
}

// TestAttachesLater checks that a running machine gets a disk without hot-plug after a restart, and that the plan has that.
func TestAttachesLater(t *testing.T) {
	t.Parallel()
	b := newDetached(t)
	c, err := b.plan(b.finding("401", strings.ReplaceAll(byField, "scsi1", "sata1")))
	if err != nil {
		t.Fatal(err)
	}
	if c.Plan().AfterRestart != "sata1" {
		t.Errorf("after a restart: %q", c.Plan().AfterRestart)
	}
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.see(t, c, reconcile.AsWaiting)
}

// TestAttachedMeanwhile checks that a volume is not attached that another machine got after the plan, or if that is not known.
func TestAttachedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*pvetest.Cluster){
		"another machine got it":         guestOf(402, func(g *pvetest.Guest) { g.Config["scsi4"] = "fast:vm-401-disk-1" }),
		"a machine that is not readable": func(c *pvetest.Cluster) { c.Nodes[1].Offline = true },
		"the volume was erased":          func(c *pvetest.Cluster) { delete(c.Guest(401).Config, "unused0") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newDetached(t)
			c, err := b.plan(b.finding("401", detached))
			if err != nil {
				t.Fatal(err)
			}
			b.Edit(edit)
			_, err = c.Write(t.Context())
			var refusal *reconcile.Refusal
			var unwritten *reconcile.NotWrittenError
			if !errors.As(err, &refusal) && !errors.As(err, &unwritten) {
				t.Errorf("Write() = %v", err)
			}
			if disk := b.guest(401).Config["scsi1"]; disk != nil {
				t.Errorf("scsi1 is %v", disk)
			}
		})
	}
}

// TestAttachesByLens attaches a disk that differs as a whole from what a Terraform provider recorded.
func TestAttachesByLens(t *testing.T) {
	t.Parallel()
	b := newDetached(t)
	c, err := b.a.Plan(t.Context(), b.byLens(`
		{"interface": "scsi0", "datastore_id": "fast", "path_in_datastore": "vm-401-disk-0", "file_format": "raw", "discard": "on", "iothread": true, "size": 32, "speed": []},
		{"interface": "scsi1", "datastore_id": "fast", "path_in_datastore": "vm-401-disk-1", "file_format": "raw", "backup": false, "serial": "data", "size": 8, "speed": [], "cache": "none"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if disk := b.guest(401).Config["scsi1"]; disk != "fast:vm-401-disk-1,backup=0,serial=data,size=8G" {
		t.Errorf("scsi1 is %v", disk)
	}
}

// byLens returns the finding of the disks of guest 401 that differ from what a Terraform provider recorded, as a subject.
func (b *bench) byLens(disks string) reconcile.Subject {
	b.t.Helper()
	tables, err := mapping.Load()
	if err != nil {
		b.t.Fatal(err)
	}
	machine, ok := tables.Find("bpg/proxmox", "proxmox_virtual_environment_vm")
	if !ok {
		b.t.Fatal("the table is not there")
	}
	attributes, err := decode.JSON([]byte(`{"id": "401", "vm_id": 401, "node_name": "pve1", "disk": [` + disks + `]}`))
	if err != nil {
		b.t.Fatal(err)
	}
	claim, err := machine.Claim(attributes, model.NewSealer([]byte("key of the tests")))
	if err != nil {
		b.t.Fatal(err)
	}
	f := b.finding("401", "{}")
	subject := model.Subject{Key: f.Key, Live: &model.Resource{Key: f.Key, Value: b.live},
		Claims: []*model.Claim{{Value: claim.Value, Recorded: &claim.Value, Lens: claim.Lens}}}
	for _, o := range diff.Compare(&subject, diff.Options{}) {
		for _, c := range o.Changes {
			if strings.HasPrefix(c.Path, "disk") {
				f.Changes = append(f.Changes, c)
			}
		}
	}
	return reconcile.Subject{Finding: f, Lens: claim.Lens, Live: b.live}
}
