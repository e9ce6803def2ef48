package netbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/match"
	"github.com/driftd/driftd/internal/model"
)

// emptied is lab without its virtual machine.
const emptied = lab + `
virtualization.virtualmachine 6 -
virtualization.vminterface 11 -
virtualization.vminterface 12 -
virtualization.virtualdisk 1 -
virtualization.virtualdisk 2 -
dcim.macaddress 30 -
dcim.macaddress 31 -
`

// gone is an entry of the changelog: mara deleted an object.
func gone(t *testing.T, kind, id, was string) model.AuditEvent {
	t.Helper()
	return model.AuditEvent{Ref: model.Ref{Kind: kind, ID: id}, Action: model.Deleted, LastValue: parse(t, was),
		Actor: model.Actor{Name: "mara", At: at(1000), Via: "NetBox changelog", Evidence: "object-change 7", Confidence: model.Exact}}
}

// TestWhoRemovedItFromNetBox has guests whose virtual machine was deleted in NetBox.
func TestWhoRemovedItFromNetBox(t *testing.T) {
	t.Parallel()
	nic := gone(t, kindInterface, "11", `{"name":"eth0","virtual_machine":6,"primary_mac_address":30}`)
	mac := gone(t, kindMAC, "30", `{"mac_address":"bc:24:11:00:00:01","assigned_object_type":"virtualization.vminterface","assigned_object_id":11}`)
	otherMAC := gone(t, kindMAC, "30", `{"mac_address":"bc:24:11:00:00:99","assigned_object_type":"virtualization.vminterface","assigned_object_id":11}`)
	vm := func(fields string) model.AuditEvent { return gone(t, kindMachine, "6", `{"cluster":1`+fields+`}`) }
	const mara, by = "mara exact", "object-change 7, which deleted "
	for _, tc := range []struct {
		reason   string
		netbox   string
		log      []model.AuditEvent
		identity []string
		created  int64
		unread   string
		want     string
	}{
		{reason: "by the number", log: []model.AuditEvent{vm(`,"name":"old","custom_fields":{"vmid":101}`)}, want: mara + " " + by + "old (NetBox VM 6)"},
		{reason: "by the number in another field", log: []model.AuditEvent{vm(`,"custom_fields":{"guest":"101"}`)}, want: mara},
		{reason: "by the uuid", log: []model.AuditEvent{vm(`,"serial":"8A6B1C2D-0000-4000-8000-00000000000A"`)}, want: mara},
		{reason: "by the MAC address", log: []model.AuditEvent{mac, vm(``), nic}, want: mara},
		{reason: "by the name, which others may have had", log: []model.AuditEvent{vm(`,"name":"APP-01"`)}, want: "mara likely"},
		{reason: "by what is no identity", log: []model.AuditEvent{vm(`,"name":"app-01"`)}, identity: []string{"vmid"}, want: "pete exact"},
		{reason: "another guest", log: []model.AuditEvent{vm(`,"name":"db-01","custom_fields":{"vmid":102}`)}, want: "pete exact"},
		{reason: "the number of another guest, which has another MAC address", log: []model.AuditEvent{otherMAC, vm(`,"custom_fields":{"vmid":101}`), nic}, want: "pete exact"},
		{reason: "the number was given again since", log: []model.AuditEvent{vm(`,"custom_fields":{"vmid":101}`)}, created: 2000, want: "pete exact"},
		{reason: "in a cluster that is another source", netbox: "virtualization.cluster 9 {\"name\":\"hyper-v\",\"type\":9}\nvirtualization.clustertype 9 {\"name\":\"Hyper-V\"}\nvirtualization.virtualmachine 8 {\"name\":\"x\",\"cluster\":9}",
			log: []model.AuditEvent{gone(t, kindMachine, "6", `{"cluster":9,"custom_fields":{"vmid":101}}`)}, want: "pete exact"},
		{reason: "nothing of it was kept", log: []model.AuditEvent{{Ref: model.Ref{Kind: kindMachine, ID: "6"}, Action: model.Deleted, Actor: vm("").Actor}}, want: "pete exact"},
		{reason: "the changelog was not read, and Proxmox tells who made it", unread: "grant view on core.objectchange", want: "pete exact"},
	} {
		s := netbox(t, emptied, tc.netbox)
		s.AuditEvents, s.LogUnread = tc.log, tc.unread
		live := guestOf(kindQEMU, "101", qemu101)
		live.WriterUnknown = "look into the access log"
		made := model.AuditEvent{Ref: model.Ref{Kind: kindQEMU, ID: "101"}, Action: model.Created, Actor: model.Actor{Name: "pete", At: at(500 + tc.created), Confidence: model.Exact}}
		if tc.created > 0 {
			live.Created = at(tc.created)
		}
		d := derive(t, estate(), s, func(c *Config) {
			if tc.identity != nil {
				c.Identity = tc.identity
			}
			if strings.Contains(tc.reason, "another field") {
				c.VMIDField = "guest"
			}
		})
		look := pve(live)
		look.AuditEvents = []model.AuditEvent{made}
		if got := unmanaged(look, d); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: unmanaged by %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// unmanaged returns who is named for the one unmanaged guest, or why nobody is.
func unmanaged(live model.Snapshot, d model.Declaration) string {
	var got []string
	for _, s := range match.Match([]model.Snapshot{live}, []model.Declaration{d}, nil) {
		for _, o := range diff.Compare(&s, diff.Options{}) {
			if o.Verdict == model.Unmanaged {
				got = append(got, strings.TrimSpace(fmt.Sprint(o.Actor.Name, " ", o.Actor.Confidence, " ", o.Actor.Evidence, o.Actor.Reason)))
			}
		}
	}
	return strings.Join(got, "; ")
}

// TestChangelogThatIsNotRead has a token without the right to read the changelog: who
// changed something is perhaps told there, so Proxmox's own log is not the place to
// look.
func TestChangelogThatIsNotRead(t *testing.T) {
	t.Parallel()
	const right = "the token may not read the changelog: grant view on core.objectchange"
	for _, tc := range []struct {
		reason       string
		netbox, live string
		want         model.Verdict
	}{
		{"a field that differs", strings.Replace(lab, `"memory":4096`, `"memory":1024`, 1), qemu101, model.Changed},
		{"a device that NetBox lacks", lab + "\nvirtualization.vminterface 12 -", qemu101, model.Undeclared},
		{"a guest that is gone", lab, "", model.Missing},
		{"a guest that NetBox lacks", emptied, qemu101, model.Unmanaged},
		{"a guest of another name", lab, strings.Replace(qemu101, "name: app-01", "name: app-02", 1), model.Moved},
	} {
		s := netbox(t, tc.netbox)
		s.LogUnread = right
		look := pve()
		look.Kinds = map[string]*model.Kind{kindQEMU: {WriterUnknown: "look into the access log"}}
		if tc.live != "" {
			r := guestOf(kindQEMU, "101", tc.live)
			r.WriterUnknown, r.Created = "look into the access log", time.Unix(10, 0)
			look.Resources = append(look.Resources, r)
		}
		said := 0
		for _, subject := range match.Match([]model.Snapshot{look}, []model.Declaration{derive(t, estate(), s, nil)}, nil) {
			for _, o := range diff.Compare(&subject, diff.Options{}) {
				said++
				if o.Verdict != tc.want || o.Actor.Confidence != model.Unknown || o.Actor.Reason != right {
					t.Errorf("%s: %s by %+v, want %s and the right that is missing", tc.reason, o.Verdict, o.Actor, tc.want)
				}
			}
		}
		if said == 0 {
			t.Errorf("%s: nothing is said", tc.reason)
		}
	}
}
