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

// deletedEvent returns a changelog entry: mara deleted the object with the value was.
func deletedEvent(t *testing.T, kind, id, was string) model.AuditEvent {
	t.Helper()
	return model.AuditEvent{Ref: model.Ref{Kind: kind, ID: id}, Action: model.Deleted, LastValue: parse(t, was),
		Actor: model.Actor{Name: "mara", At: at(1000), Via: "NetBox changelog", Evidence: "object-change 7", Confidence: model.Exact}}
}

// TestActorOfRemovedMachine has guests whose virtual machine was deleted in NetBox.
func TestActorOfRemovedMachine(t *testing.T) {
	t.Parallel()
	nic := deletedEvent(t, kindInterface, "11", `{"name":"eth0","virtual_machine":6,"primary_mac_address":30}`)
	mac := deletedEvent(t, kindMAC, "30", `{"mac_address":"bc:24:11:00:00:01","assigned_object_type":"virtualization.vminterface","assigned_object_id":11}`)
	otherMAC := deletedEvent(t, kindMAC, "30", `{"mac_address":"bc:24:11:00:00:99","assigned_object_type":"virtualization.vminterface","assigned_object_id":11}`)
	vm := func(fields string) model.AuditEvent {
		return deletedEvent(t, kindMachine, "6", `{"cluster":1`+fields+`}`)
	}
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
		{reason: "by the VMID", log: []model.AuditEvent{vm(`,"name":"old","custom_fields":{"vmid":101}`)}, want: mara + " " + by + "old (NetBox VM 6)"},
		{reason: "by the VMID in a configured field", log: []model.AuditEvent{vm(`,"custom_fields":{"guest":"101"}`)}, want: mara},
		{reason: "by the uuid", log: []model.AuditEvent{vm(`,"serial":"8A6B1C2D-0000-4000-8000-00000000000A"`)}, want: mara},
		{reason: "by the MAC address", log: []model.AuditEvent{mac, vm(``), nic}, want: mara},
		{reason: "by the name: likely", log: []model.AuditEvent{vm(`,"name":"APP-01"`)}, want: "mara likely"},
		{reason: "by a name that is not an identity", log: []model.AuditEvent{vm(`,"name":"app-01"`)}, identity: []string{"vmid"}, want: "pete exact"},
		{reason: "another guest", log: []model.AuditEvent{vm(`,"name":"db-01","custom_fields":{"vmid":102}`)}, want: "pete exact"},
		{reason: "the VMID of another guest with another MAC address", log: []model.AuditEvent{otherMAC, vm(`,"custom_fields":{"vmid":101}`), nic}, want: "pete exact"},
		{reason: "the VMID was assigned again since", log: []model.AuditEvent{vm(`,"custom_fields":{"vmid":101}`)}, created: 2000, want: "pete exact"},
		{reason: "in a cluster of another source", netbox: "virtualization.cluster 9 {\"name\":\"hyper-v\",\"type\":9}\nvirtualization.clustertype 9 {\"name\":\"Hyper-V\"}\nvirtualization.virtualmachine 8 {\"name\":\"x\",\"cluster\":9}",
			log: []model.AuditEvent{deletedEvent(t, kindMachine, "6", `{"cluster":9,"custom_fields":{"vmid":101}}`)}, want: "pete exact"},
		{reason: "without the last value", log: []model.AuditEvent{{Ref: model.Ref{Kind: kindMachine, ID: "6"}, Action: model.Deleted, Actor: vm("").Actor}}, want: "pete exact"},
		{reason: "the changelog was not read; Proxmox has the creator", unread: "grant view on core.objectchange", want: "pete exact"},
	} {
		s := netbox(t, emptied, tc.netbox)
		s.AuditEvents, s.LogUnread = tc.log, tc.unread
		live := guestOf(kindQEMU, "101", qemu101)
		live.WriterUnknown = "see the access log"
		created := model.AuditEvent{Ref: model.Ref{Kind: kindQEMU, ID: "101"}, Action: model.Created, Actor: model.Actor{Name: "pete", At: at(500 + tc.created), Confidence: model.Exact}}
		if tc.created > 0 {
			live.Created = at(tc.created)
		}
		d := derive(t, estate(), s, func(c *Config) {
			if tc.identity != nil {
				c.Identity = tc.identity
			}
			if strings.Contains(tc.reason, "a configured field") {
				c.VMIDField = "guest"
			}
		})
		snapshot := pve(live)
		snapshot.AuditEvents = []model.AuditEvent{created}
		if got := unmanaged(snapshot, d); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: unmanaged by %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// unmanaged returns the actor of the one unmanaged guest, or the reason if there is none.
func unmanaged(live model.Snapshot, d model.Declaration) string {
	var got []string
	for _, s := range match.Match(live, []model.Declaration{d}) {
		for _, o := range diff.Compare(&s, diff.Options{}) {
			if o.Verdict == model.Unmanaged {
				got = append(got, strings.TrimSpace(fmt.Sprint(o.Actor.Name, " ", o.Actor.Confidence, " ", o.Actor.Evidence, o.Actor.Reason)))
			}
		}
	}
	return strings.Join(got, "; ")
}

// TestUnreadChangelog has a token without the right to read the changelog. The changelog may
// contain who changed a field, so the finding must not refer to Proxmox's log instead.
func TestUnreadChangelog(t *testing.T) {
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
		snapshot := pve()
		snapshot.Kinds = map[string]*model.Kind{kindQEMU: {WriterUnknown: "see the access log"}}
		if tc.live != "" {
			r := guestOf(kindQEMU, "101", tc.live)
			r.WriterUnknown, r.Created = "see the access log", time.Unix(10, 0)
			snapshot.Resources = append(snapshot.Resources, r)
		}
		outcomes := 0
		for _, subject := range match.Match(snapshot, []model.Declaration{derive(t, estate(), s, nil)}) {
			for _, o := range diff.Compare(&subject, diff.Options{}) {
				outcomes++
				if o.Verdict != tc.want || o.Actor.Confidence != model.Unknown || o.Actor.Reason != right {
					t.Errorf("%s: %s by %+v, want %s and the missing right", tc.reason, o.Verdict, o.Actor, tc.want)
				}
			}
		}
		if outcomes == 0 {
			t.Errorf("%s: no outcome", tc.reason)
		}
	}
}
