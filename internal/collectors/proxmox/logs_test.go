package proxmox

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

func TestUPID(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, text string
		want         upid
		ok           bool
	}{
		{
			"a token", "UPID:pve4:0000AF01:00BD1234:69A00000:qmconfig:512:dana@pve!shell:",
			upid{node: "pve4", pid: 0xaf01, start: time.Unix(0x69a00000, 0).UTC(), typ: "qmconfig", id: "512", user: "dana@pve!shell"}, true,
		},
		{
			"no object", "UPID:pve4:00000001:00000001:69A00000:reloadnetworkall::root@pam:",
			upid{node: "pve4", pid: 1, start: time.Unix(0x69a00000, 0).UTC(), typ: "reloadnetworkall", user: "root@pam"}, true,
		},
		{"empty", "", upid{}, false},
		{"no end", "UPID:pve4:00000001:00000001:69A00000:qmstart:1:root@pam", upid{}, false},
		{"invalid numbers", "UPID:pve4:zz:00000001:69A00000:qmstart:1:root@pam:", upid{}, false},
		{"a negative time", "UPID:pve4:1:1:-5:qmstart:1:root@pam:", upid{}, false},
		{"no user", "UPID:pve4:1:1:69A00000:qmstart:1::", upid{}, false},
		{"something follows", "UPID:pve4:1:1:69A00000:qmstart:1:root@pam:more", upid{}, false},
	} {
		got, ok := parseUPID(tc.text)
		if ok != tc.ok || ok && got != tc.want {
			t.Errorf("%s: %+v, %t", tc.reason, got, ok)
		}
	}
}

func FuzzUPID(f *testing.F) {
	f.Add("UPID:pve4:0000AF01:00BD1234:69A00000:qmconfig:512:dana@pve!shell:")
	f.Add("UPID::::::::")
	f.Fuzz(func(t *testing.T, text string) {
		u, ok := parseUPID(text)
		if ok && (u.node == "" || u.typ == "" || u.user == "" || u.start.IsZero() || strings.Count(text, ":") != 8) {
			t.Errorf("parseUPID(%q) = %+v", text, u)
		}
	})
}

func TestUpdateLines(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, line string
		id           string
		fields       []string
		shown        string
	}{
		{"one setting", "update VM 512: -cores 4", "512", []string{"cores"}, "update VM 512: -cores 4"},
		{"several, and deleted ones", "update VM 512: -balloon 0 -delete net1,net2 -memory 768", "512",
			[]string{"balloon", "memory", "net1", "net2"}, "update VM 512: -balloon 0 -delete net1,net2 -memory 768"},
		{"a disk grows", "update VM 512: resize --disk virtio1 --size +4G", "512", []string{"virtio1.size"}, "update VM 512: resize --disk virtio1 --size +4G"},
		{"a value with blanks", "update VM 512: -description see ticket 12, then -ask", "512", []string{"description"},
			"update VM 512: -description see ticket 12, then -ask"},
		{"a value that contains a setting", "update VM 512: -description was -cores 2 before -name x", "512", []string{"description", "name"},
			"update VM 512: -description was -cores 2 before -name x"},
		{"a password", "update VM 512: -cipassword <hidden> -ciuser ops", "512", []string{"cipassword", "ciuser"},
			"update VM 512: -cipassword <hidden> -ciuser ops"},
		{"what may be part of a password", "update VM 512: -cipassword let me in -zz top", "512", []string{"cipassword", "zz"}, "update VM 512: -cipassword <hidden>"},
		{"a password that was not hidden", "update VM 512: -cipassword let me in", "512", []string{"cipassword"}, "update VM 512: -cipassword <hidden>"},
		{"a digest is not a setting", "update VM 512: -cores 1 -digest 00ff", "512", []string{"cores"}, "update VM 512: -cores 1 -digest 00ff"},
		{"nothing named", "update VM 512: ", "512", nil, "update VM 512:"},
		{"a long value", "update VM 512: -sshkeys " + strings.Repeat("k", 90), "512", []string{"sshkeys"}, "update VM 512: -sshkeys " + strings.Repeat("k", 60) + "…"},
	} {
		u, ok := parseUpdate(tc.line)
		if !ok || u.id != tc.id || !slices.Equal(u.fields, tc.fields) || u.shown != tc.shown {
			t.Errorf("%s: %+v, %t", tc.reason, u, ok)
		}
	}
	for _, other := range []string{"", "update VM", "update VM x: -cores 1", "update CT 5: -cores 1", "starting task UPID:pve1:1:1:1:qmstart:5:a@b:"} {
		if u, ok := parseUpdate(other); ok {
			t.Errorf("parseUpdate(%q) = %+v", other, u)
		}
	}
}

// TestQuotes verifies which parts of a message are the values of which fields.
func TestQuotes(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"update VM 512: -balloon 0 -delete net1,net2 -name web -tags":            {"balloon: 0 -delete net1,net2 -name web -tags", "name: web -tags"},
		"update VM 512: -cipassword <hidden> -description  a\tb -digest 00ff":    {"description: a b -digest 00ff"},
		"update VM 512: -description " + strings.Repeat("x", 61):                 {"description: " + strings.Repeat("x", 60) + "…"},
		"update VM 512: -description " + strings.Repeat("é ", 300) + "-name web": {"description: " + strings.Repeat("é ", 30) + "… -name web", "name: web"},
		"update VM 512: resize --disk virtio1 --size +4G":                        {"virtio1: +4G"},
		"update VM 512: resize --disk ../x --size +4G":                           nil,
	} {
		u, ok := parseUpdate(line)
		var got []string
		for _, q := range u.quotes {
			got = append(got, q.Path+": "+u.shown[q.From:q.To])
		}
		if !ok || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

// TestLongUpdateLine holds that parsing a long line takes memory in proportion to its
// length, and that a line of more than maxUpdate bytes is not an update.
//
//nolint:paralleltest // memory is measured for the whole process
func TestLongUpdateLine(t *testing.T) {
	line := func(n int) string {
		text := "update VM 512: -description"
		return text + strings.Repeat(" x", (n-len(text))/2)
	}
	long := line(maxUpdate)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	u, ok := parseUpdate(long)
	runtime.ReadMemStats(&after)
	if !ok || !slices.Equal(u.fields, []string{"description"}) {
		t.Errorf("%v, %t", u.fields, ok)
	}
	if made := after.TotalAlloc - before.TotalAlloc; made > 64*maxUpdate {
		t.Errorf("%d bytes allocated for a message of %d", made, len(long))
	}
	if u, ok := parseUpdate(line(maxUpdate + 10)); ok {
		t.Errorf("a longer line: %v", u.fields)
	}
}

func FuzzUpdateLine(f *testing.F) {
	f.Add("update VM 512: -cores 4 -delete net1,net2 -cipassword geheim")
	f.Add("update VM 512: resize --disk virtio1 --size +4G")
	f.Fuzz(func(t *testing.T, line string) {
		u, ok := parseUpdate(line)
		if !ok {
			return
		}
		if !slices.IsSorted(u.fields) || slices.Contains(u.fields, "") || !isVMID(u.id) || len([]rune(u.shown)) > shownLine+1 {
			t.Errorf("parseUpdate(%q) = %+v", line, u)
		}
		for _, q := range u.quotes {
			if q.From >= q.To || q.To != len(u.shown) || u.shown[q.From-1] != ' ' {
				t.Errorf("parseUpdate(%q) quotes %+v", line, q)
			}
		}
	})
}

// wantEvent is an expected audit event.
type wantEvent struct {
	kind, id   string
	action     model.Action
	fields     string
	user, via  string
	confidence model.Confidence
}

func eventsOf(s model.Snapshot) []wantEvent {
	var all []wantEvent
	for _, tr := range s.AuditEvents {
		all = append(all, wantEvent{strings.TrimPrefix(tr.Kind, Type+"/"), tr.ID, tr.Action, strings.Join(tr.Fields, ","), tr.Actor.Name, tr.Actor.Via, tr.Actor.Confidence})
	}
	return all
}

func TestAuditEvents(t *testing.T) {
	t.Parallel()
	server := lab()
	at := testNow().Add(-time.Hour)
	server.Now = func() time.Time { at = at.Add(time.Second); return at }
	server.SetConfig(401, "cores", 8, "dana@pve!shell")
	server.SetConfig(402, "net0", nil, "root@pam")
	server.SetPending(402, "cipassword", "geheim", "dana@pve")
	server.SetConfig(410, "cores", 3, "dana@pve")
	server.Resize(401, "scsi0", "64G", "dana@pve")
	server.Resize(402, "scsi0", "300G", "dana@pve")
	server.Edit(func(c *pvetest.Cluster) { c.Guest(402).Config["scsi0"] = "fast:vm-402-disk-0,size=200G" }) // as if it failed
	server.Resize(410, "rootfs", "6G", "dana@pve")
	server.SetStatus(403, "running", "dana@pve")
	server.Migrate(411, "pve1", "root@pam")
	server.Destroy(490, "dana@pve")
	server.Create(pvetest.Guest{ID: 499, Kind: "qemu", Node: "pve2", Config: pvetest.Row{"name": "new"}}, "terraform@pve!tf")
	s := collect(t, server)
	want := []wantEvent{
		{"firewall_options", "qemu/490", model.Deleted, "", "dana@pve", "task log", model.Exact},
		{"firewall_rules", "qemu/490", model.Deleted, "", "dana@pve", "task log", model.Exact},
		{"ha_resource", "vm:490", model.Deleted, "", "dana@pve", "task log", model.Likely},
		{"lxc", "410", model.Edited, "rootfs", "dana@pve", "task log", model.Likely},
		{"lxc", "411", model.Edited, "node", "root@pam", "task log", model.Exact},
		{"pool_member", "shop/test/vm/490", model.Deleted, "", "dana@pve", "task log", model.Likely},
		{"pool_member", "shop/vm/490", model.Deleted, "", "dana@pve", "task log", model.Likely},
		{"qemu", "401", model.Edited, "cores", "dana@pve!shell", "cluster log", model.Exact},
		{"qemu", "401", model.Edited, "scsi0.size", "dana@pve", "cluster log", model.Exact},
		{"qemu", "402", model.Edited, "net0", "root@pam", "cluster log", model.Exact},
		{"qemu", "402", model.Edited, "cipassword", "dana@pve", "cluster log", model.Exact},
		{"qemu", "403", model.Edited, "status", "dana@pve", "task log", model.Exact},
		{"qemu", "490", model.Deleted, "", "dana@pve", "task log", model.Exact},
		{"qemu", "499", model.Created, "", "terraform@pve!tf", "task log", model.Exact},
	}
	if diff := cmp.Diff(want, eventsOf(s), cmp.AllowUnexported(wantEvent{})); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, tr := range s.AuditEvents {
		if strings.Contains(tr.Actor.Evidence, "geheim") || tr.Actor.Evidence == "" || tr.Actor.At.Before(testNow().Add(-time.Hour)) {
			t.Errorf("%s: at %s, evidence %q", tr.ID, tr.Actor.At, tr.Actor.Evidence)
		}
	}
}

func TestIgnoredTasks(t *testing.T) {
	t.Parallel()
	row := func(typ, id, status string) model.Value {
		return model.MapOf(model.Field{Name: "upid", Value: model.StringOf("UPID:pve1:00000001:00000001:69A00000:" + typ + ":" + id + ":root@pam:")},
			model.Field{Name: "status", Value: model.StringOf(status)})
	}
	for _, tc := range []struct {
		reason string
		row    model.Value
		want   bool
	}{
		{"success", row("qmdestroy", "7", "OK"), true},
		{"success with warnings", row("qmdestroy", "7", "WARNINGS: 2"), true},
		{"failure", row("qmdestroy", "7", "can't lock file"), false},
		{"running", row("qmdestroy", "7", ""), false},
		{"a clone, which names its source", row("qmclone", "7", "OK"), false},
		{"a backup changes nothing", row("vzdump", "7", "OK"), false},
		{"no guest", row("srvreload", "networking", "OK"), false},
		{"no task", model.MapOf(), false},
	} {
		if _, ok := taskEntry(tc.row, taskEffects()); ok != tc.want {
			t.Errorf("%s: got %t", tc.reason, ok)
		}
	}
}

func TestWriterUnknown(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, kind, id, words string
		change                  func(*Config)
		edit                    func(*pvetest.Server)
	}{
		{"PVEAuditor lacks Sys.Syslog", "qemu", "401", noClusterLogReason, func(*Config) {}, func(s *pvetest.Server) {
			s.Edit(func(c *pvetest.Cluster) {
				c.Rights["/"] = slices.DeleteFunc(c.Rights["/"], func(privilege string) bool { return privilege == "Sys.Syslog" })
			})
		}},
		{"the log is broken", "qemu", "401", "not in the task log, and the cluster log could not be read: ", func(*Config) {}, func(s *pvetest.Server) { s.Break("/cluster/log", faults.LoginPage()) }},
		{"the log fails", "qemu", "401", "the cluster log could not be read: 500", func(*Config) {}, func(s *pvetest.Server) { s.Break("/cluster/log", faults.Status(500, "")) }},
		{"a task log fails", "lxc", "410", "a task log could not be read: 500", func(*Config) {}, func(s *pvetest.Server) { s.Break("/cluster/tasks", faults.Status(500, "")) }},
		{"logs are disabled", "qemu", "401", "log_since is 0: set log_since", func(c *Config) { c.LogSince = 0 }, func(*pvetest.Server) {}},
		{"all logs are read", "qemu", "401", "look for /qemu/ in", func(*Config) {}, func(*pvetest.Server) {}},
		{"containers", "lxc", "410", "does not log edits of containers", func(*Config) {}, func(*pvetest.Server) {}},
		{"users", "user", "dana@pve", "does not log changes of this kind: look for /access/users in /var/log", func(*Config) {}, func(*pvetest.Server) {}},
		{"access rules", "acl", "/pool/shop?sellers?Keeper", "look for /access/acl in", func(*Config) {}, func(*pvetest.Server) {}},
		{"subnets", "sdn_subnet", "lab-198.51.100.128-25", "look for /cluster/sdn/vnets in", func(*Config) {}, func(*pvetest.Server) {}},
		{"firewalls", "firewall_rules", "qemu/401", "look for /firewall/ in", func(*Config) {}, func(*pvetest.Server) {}},
		{"nodes", "node_dns", "pve1", "look for /nodes/ in", func(*Config) {}, func(*pvetest.Server) {}},
	} {
		server := lab()
		tc.edit(server)
		s := collect(t, server, tc.change)
		if r := must(t, &s, tc.kind, tc.id); !strings.Contains(r.WriterUnknown, tc.words) {
			t.Errorf("%s: the reason is %q", tc.reason, r.WriterUnknown)
		}
		for _, c := range failed(&s) {
			t.Errorf("%s: failed coverage: %v", tc.reason, c)
		}
	}
}

// TestDeleterUnknown checks that the reason names the task log, because the cluster log has no
// deletions.
func TestDeleterUnknown(t *testing.T) {
	t.Parallel()
	without := func(privilege string) func(*pvetest.Server) {
		return func(s *pvetest.Server) {
			s.Edit(func(c *pvetest.Cluster) {
				c.Rights["/"] = slices.DeleteFunc(c.Rights["/"], func(held string) bool { return held == privilege })
			})
		}
	}
	for _, tc := range []struct {
		reason, kind, words string
		edit                func(*pvetest.Server)
	}{
		{"all logs are read", "qemu", "the change is not in the task log, where nodes keep only the newest tasks; look for /qemu/ in", func(*pvetest.Server) {}},
		{"the cluster log is incomplete", "qemu", "only the newest tasks", without("Sys.Syslog")},
		{"a container", "lxc", "only the newest tasks; look for /lxc/ in", func(*pvetest.Server) {}},
		{"the tasks of other users are hidden", "lxc", "driftd@pve!ro lacks Sys.Audit on /nodes", without("Sys.Audit")},
		{"a task log fails", "qemu", "a task log could not be read: 500", func(s *pvetest.Server) { s.Break("/cluster/tasks", faults.Status(500, "")) }},
		{"a kind without a log", "user", "does not log changes of this kind", func(*pvetest.Server) {}},
	} {
		server := lab()
		tc.edit(server)
		s := collect(t, server)
		if got := s.Kinds[Type+"/"+tc.kind].WriterUnknown; !strings.Contains(got, tc.words) || strings.Contains(got, "Syslog") {
			t.Errorf("%s: the reason is %q", tc.reason, got)
		}
	}
}

func TestOldEntriesAreIgnored(t *testing.T) {
	t.Parallel()
	server := lab()
	server.Now = func() time.Time { return testNow().Add(-48 * time.Hour) }
	server.SetConfig(401, "cores", 8, "dana@pve")
	server.SetStatus(401, "stopped", "dana@pve")
	if s := collect(t, server, func(c *Config) { c.LogSince = 24 * time.Hour }); len(s.AuditEvents) > 0 {
		t.Errorf("events %v", s.AuditEvents)
	}
	if s := collect(t, server); len(s.AuditEvents) != 2 {
		t.Errorf("events %v, want two", s.AuditEvents)
	}
}

func TestWriterOfLiveValue(t *testing.T) {
	t.Parallel()
	type line struct{ user, text string }
	for _, tc := range []struct {
		reason string
		live   string
		lines  []line
		field  string
		want   string
	}{
		{"the line wrote it", `{"cores": 4}`, []line{{"a@pve", "-cores 4"}}, "cores", "a@pve"},
		{"a file was edited since", `{"cores": 8}`, []line{{"a@pve", "-cores 4"}}, "cores", ""},
		{"another user wrote it later", `{"cores": 8}`, []line{{"a@pve", "-cores 4"}, {"b@pve", "-cores 8"}}, "cores", "b@pve"},
		{"an apply reverted it, then a file was edited", `{"cores": 4}`, []line{{"a@pve", "-cores 4"}, {"tf@pve!x", "-cores 2 -memory 512"}}, "cores", ""},
		{"it was deleted", `{"cores": 4}`, []line{{"a@pve", "-delete tags,net1"}}, "net1", "a@pve"},
		{"it was deleted and exists", `{"net1": "virtio=BC:24:11:00:00:01,bridge=vmbr0"}`, []line{{"a@pve", "-delete net1"}}, "net1", ""},
		{"a revert writes nothing", `{"cores": 4}`, []line{{"a@pve", "-cores 4"}, {"b@pve", "-revert cores"}}, "cores", "a@pve"},
		{"in another order, with a new address", `{"net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=5"}`, []line{{"a@pve", "-net0 tag=5,bridge=vmbr0,model=virtio"}}, "net0", "a@pve"},
		{"another part of a device", `{"net0": "virtio=BC:24:11:00:00:01,bridge=vmbr9"}`, []line{{"a@pve", "-net0 virtio=BC:24:11:00:00:01,bridge=vmbr0"}}, "net0", ""},
		{"a new disk gets its volume", `{"scsi1": "fast:vm-5-disk-1,size=32G,ssd=1"}`, []line{{"a@pve", "-scsi1 fast:32,ssd=1"}}, "scsi1", "a@pve"},
		{"a set in another order", `{"tags": "a;b"}`, []line{{"a@pve", "-tags b,a"}}, "tags", "a@pve"},
		{"a default that is not kept", `{}`, []line{{"a@pve", "-vcpus 0"}}, "vcpus", "a@pve"},
		{"a masked password", `{"cipassword": "**********"}`, []line{{"a@pve", "-cipassword <hidden>"}}, "cipassword", "a@pve"},
		{"a text that contains another setting", `{"description": "no -memory 8 here"}`, []line{{"a@pve", "-description no -memory 8 here -name x"}}, "description", "a@pve"},
		{"a text that contains the setting", `{"memory": "8192", "description": "no -memory 8 here"}`, []line{{"a@pve", "-description no -memory 8 here"}}, "memory", ""},
		{"line ends and accents in a text", `{"description": "f\u00fcr\nalle"}`, []line{{"a@pve", `-description f\u00fcr#010alle`}}, "description", "a@pve"},
		{"a disk grew; the size is not compared", `{"scsi0": "fast:vm-5-disk-0,size=9G"}`, []line{{"a@pve", "resize --disk scsi0 --size +1G"}}, "scsi0.size", "a@pve"},
		{"a disk grew to a size", `{"scsi0": "fast:vm-5-disk-0,size=9G"}`, []line{{"a@pve", "resize --disk scsi0 --size 9G"}}, "scsi0.size", "a@pve"},
		{"a disk did not grow to a size", `{"scsi0": "fast:vm-5-disk-0,size=8G"}`, []line{{"a@pve", "resize --disk scsi0 --size 9G"}}, "scsi0.size", ""},
	} {
		sc := &scan{normalizer: normalize.New(model.NewSealer([]byte("k")))}
		var rows []model.Value
		var live model.Value
		if err := live.UnmarshalJSON([]byte(tc.live)); err != nil {
			t.Fatal(err)
		}
		for _, f := range live.Fields() {
			rows = append(rows, model.MapOf(model.Field{Name: "key", Value: model.StringOf(f.Name)}, model.Field{Name: "value", Value: f.Value}))
		}
		held, _ := sc.normalizer.Guest(normalize.QEMU, rows)
		sc.resources = []model.Resource{{Key: model.Key{Kind: normalize.QEMU, ID: "5"}, Value: held}}
		for i, li := range tc.lines {
			e, ok := logLine(model.MapOf(
				model.Field{Name: "msg", Value: model.StringOf("update VM 5: " + li.text)}, model.Field{Name: "user", Value: model.StringOf(li.user)},
				model.Field{Name: "time", Value: model.StringOf(strconv.Itoa(1790000000 + i))}))
			if !ok {
				t.Fatalf("%s: the message is not parsed", tc.reason)
			}
			sc.logEntries = append(sc.logEntries, e)
		}
		got := ""
		for _, tr := range sc.auditEvents() {
			if slices.Contains(tr.Fields, tc.field) {
				got = tr.Actor.Name
			}
		}
		if got != tc.want {
			t.Errorf("%s: %q wrote it, want %q", tc.reason, got, tc.want)
		}
	}
}

func TestTaskEvents(t *testing.T) {
	t.Parallel()
	task := func(typ string, after int, user string) model.Value {
		upid := fmt.Sprintf("UPID:pve1:%08X:00000001:%08X:%s:5:%s:", after+1, 0x69a00000+after, typ, user)
		return model.MapOf(model.Field{Name: "upid", Value: model.StringOf(upid)}, model.Field{Name: "status", Value: model.StringOf("OK")})
	}
	for _, tc := range []struct {
		reason string
		tasks  []model.Value
		want   []wantEvent
	}{
		{"a restore", []model.Value{task("qmrestore", 0, "a@pve")}, []wantEvent{
			{"qemu", "5", model.Created, "", "a@pve", "task log", model.Exact}, {"qemu", "5", model.Edited, "", "a@pve", "task log", model.Likely},
		}},
		{"an unnamed disk", []model.Value{task("qmmove", 0, "a@pve")}, []wantEvent{{"qemu", "5", model.Edited, "ide2,scsi0", "a@pve", "task log", model.Likely}}},
		{"a migration", []model.Value{task("qmigrate", 0, "a@pve")}, []wantEvent{{"qemu", "5", model.Edited, "node", "a@pve", "task log", model.Exact}}},
		{"a request to the HA manager", []model.Value{task("hamigrate", 0, "a@pve"), task("qmigrate", 20, "root@pam")}, []wantEvent{
			{"qemu", "5", model.Edited, "node", "a@pve", "task log", model.Exact},
		}},
		{"another request to the HA manager", []model.Value{task("hastart", 0, "a@pve"), task("qmigrate", 20, "root@pam")}, []wantEvent{
			{"qemu", "5", model.Edited, "status", "a@pve", "task log", model.Exact}, {"qemu", "5", model.Edited, "node", "root@pam", "task log", model.Exact},
		}},
		{"an old request to the HA manager", []model.Value{task("hamigrate", 0, "a@pve"), task("qmigrate", 2000, "root@pam")}, []wantEvent{
			{"qemu", "5", model.Edited, "node", "a@pve", "task log", model.Exact}, {"qemu", "5", model.Edited, "node", "root@pam", "task log", model.Exact},
		}},
	} {
		sc := scanWithDisks()
		for _, row := range tc.tasks {
			e, ok := taskEntry(row, taskEffects())
			if !ok {
				t.Fatalf("%s: a task is not parsed", tc.reason)
			}
			sc.logEntries = append(sc.logEntries, e.withRestoredSettings()...)
		}
		if d := cmp.Diff(tc.want, eventsOf(model.Snapshot{AuditEvents: sc.auditEvents()}), cmp.AllowUnexported(wantEvent{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, d)
		}
	}
}

// scanWithDisks returns a scan with one machine, 5, that has two disks.
func scanWithDisks() *scan {
	drive := model.MapOf(model.Field{Name: "volume", Value: model.StringOf("x")})
	return &scan{resources: []model.Resource{{Key: model.Key{Kind: normalize.QEMU, ID: "5"}, Value: model.MapOf(
		model.Field{Name: "cores", Value: model.StringOf("1")}, model.Field{Name: "ide2", Value: drive}, model.Field{Name: "scsi0", Value: drive})}}}
}

// TestTasksWithoutClusterLog has tasks without a field, and an account without Sys.Syslog,
// which cannot see other edits: the account that applies the declaration must not be named as
// their author.
func TestTasksWithoutClusterLog(t *testing.T) {
	t.Parallel()
	task := func(typ string, after int, user string) model.Value {
		upid := fmt.Sprintf("UPID:pve1:%08X:00000001:%08X:%s:5:%s:", after+1, 0x69a00000+after, typ, user)
		return model.MapOf(model.Field{Name: "upid", Value: model.StringOf(upid)}, model.Field{Name: "status", Value: model.StringOf("OK")})
	}
	for _, tc := range []struct {
		reason string
		logged bool
		tasks  []model.Value
		want   string
	}{
		{"an edit by another user", false, []model.Value{task("qmcreate", 0, "tf@pve!x"), task("qmconfig", 9, "bob@pve")}, "bob@pve: " + ambiguousReason},
		{"an edit by the creator", false, []model.Value{task("qmcreate", 0, "tf@pve!x"), task("qmconfig", 9, "tf@pve!x")}, ""},
		{"before or after", false, []model.Value{task("qmconfig", 9, "tf@pve!x"), task("qmconfig", 5, "bob@pve"), task("qmcreate", 0, "tf@pve!x")}, "bob@pve: " + ambiguousReason},
		{"a rollback by the creator", false, []model.Value{task("qmcreate", 0, "tf@pve!x"), task("qmrollback", 9, "tf@pve!x")}, "tf@pve!x: "},
		{"a restore by the creator", false, []model.Value{task("qmrestore", 0, "tf@pve!x")}, "tf@pve!x: "},
		{"with the cluster log", true, []model.Value{task("qmcreate", 0, "tf@pve!x"), task("qmconfig", 9, "tf@pve!x")}, "tf@pve!x: "},
	} {
		sc := scanWithDisks()
		sc.clusterLogComplete = tc.logged
		for _, row := range tc.tasks {
			if e, ok := taskEntry(row, taskEffects()); ok {
				sc.logEntries = append(sc.logEntries, e.withRestoredSettings()...)
			}
		}
		got := ""
		for _, tr := range sc.auditEvents() {
			if tr.Action == model.Edited {
				got += tr.Actor.Name + ": " + tr.Actor.Reason
			}
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}
