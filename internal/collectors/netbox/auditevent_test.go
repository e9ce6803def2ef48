package netbox

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/model"
)

// eventText formats an event as "kind/id action fields (texts) by name, confidence".
func eventText(t model.AuditEvent) string {
	action := map[model.Action]string{model.Edited: "edited", model.Created: "created", model.Deleted: "deleted"}[t.Action]
	text := fmt.Sprintf("%s/%s %s %s", strings.TrimPrefix(t.Kind, Type+"/"), t.ID, action, strings.Join(t.Fields, ","))
	if len(t.Texts) > 0 {
		text += " (" + strings.Join(t.Texts, ",") + ")"
	}
	return fmt.Sprintf("%s by %s, %s", text, t.Actor.Name, t.Actor.Confidence)
}

func allEvents(s model.Snapshot) []string {
	texts := make([]string, len(s.AuditEvents))
	for i, t := range s.AuditEvents {
		texts[i] = eventText(t)
	}
	return texts
}

// at returns the time ago before testNow, in RFC 3339.
func at(ago time.Duration) string { return testNow().Add(-ago).Format(time.RFC3339Nano) }

func TestAuditEvents(t *testing.T) {
	t.Parallel()
	type row = netboxtest.Row
	const vm, nic, mac, disk = "virtualization.virtualmachine", "virtualization.vminterface", "dcim.macaddress", "virtualization.virtualdisk"
	for _, tc := range []struct {
		reason, action, model string
		before, after         row
		want                  []string
	}{
		{"an edit", "update", vm, row{"memory": 1, "name": "a"}, row{"memory": 2, "name": "a"}, []string{"virtualization.virtualmachine/77 edited memory by mara, exact"}},
		{"a creation", "create", vm, nil, row{"memory": 2}, []string{"virtualization.virtualmachine/77 created  by mara, exact"}},
		{"a deletion", "delete", vm, row{"memory": 2}, nil, []string{"virtualization.virtualmachine/77 deleted  by mara, exact"}},
		{"an edit without its sides", "update", vm, nil, row{"memory": 2}, []string{"virtualization.virtualmachine/77 edited  by mara, likely"}},
		{"an edit of nothing", "update", vm, row{"memory": 2}, row{"memory": 2}, nil},
		{"an edit between blank values", "update", vm, row{"comments": "", "tags": []string{}}, row{"comments": nil}, nil},
		{"a counter", "update", vm, row{"interface_count": 1, "last_updated": "a", "_name": "x"}, row{"interface_count": 2, "last_updated": "b", "_name": "y"}, nil},
		{"a custom field", "update", vm, row{"custom_fields": row{"tier": "a", "cost_center": "1"}}, row{"custom_fields": row{"tier": "a", "cost_center": "2", "new": nil}},
			[]string{"virtualization.virtualmachine/77 edited custom_fields.cost_center by mara, exact"}},
		{"a custom field that comes", "update", vm, row{"custom_fields": row{}}, row{"custom_fields": row{"a b": 3}},
			[]string{`virtualization.virtualmachine/77 edited custom_fields["a b"] by mara, exact`}},
		{"tags and vcpus", "update", vm, row{"tags": []string{"a"}, "vcpus": "2.00"}, row{"tags": []string{"a", "b"}, "vcpus": "2.50"},
			[]string{"virtualization.virtualmachine/77 edited tags,vcpus by mara, exact"}},
		{"a field of an older version", "update", "dcim.device", row{"device_role": 1}, row{"device_role": 2}, []string{"dcim.device/77 edited role by mara, exact"}},
		{"a site that is a scope now", "update", "ipam.prefix", row{"site": 1}, row{"site": 2}, []string{"ipam.prefix/77 edited scope_id,scope_type by mara, exact"}},
		{"the primary MAC address", "update", nic, row{"primary_mac_address": 1}, row{"primary_mac_address": 2},
			[]string{"virtualization.vminterface/77 edited mac_address,primary_mac_address by mara, exact"}},
		{"a kind that is not read", "update", "extras.journalentry", row{"comments": "a"}, row{"comments": "b"}, nil},
		{"an action that is new", "merge", vm, row{"memory": 1}, row{"memory": 2}, nil},
		{"a disk that grows", "update", disk, row{"size": 1, "virtual_machine": 6}, row{"size": 2, "virtual_machine": 6},
			[]string{"virtualization.virtualdisk/77 edited size by mara, exact", "virtualization.virtualmachine/6 edited disk by mara, likely"}},
		{"a disk that is renamed", "update", disk, row{"name": "a", "virtual_machine": 6}, row{"name": "b", "virtual_machine": 6},
			[]string{"virtualization.virtualdisk/77 edited name by mara, exact"}},
		{"a disk that goes", "delete", disk, row{"size": 1, "virtual_machine": 6}, nil,
			[]string{"virtualization.virtualdisk/77 deleted  by mara, exact", "virtualization.virtualmachine/6 edited disk by mara, likely"}},
		{"a disk that moves", "update", disk, row{"virtual_machine": 6}, row{"virtual_machine": 9}, []string{
			"virtualization.virtualdisk/77 edited virtual_machine by mara, exact", "virtualization.virtualmachine/6 edited disk by mara, likely",
			"virtualization.virtualmachine/9 edited disk by mara, likely"}},
		{"a MAC address that is given away", "update", mac, row{"assigned_object_type": 10, "assigned_object_id": 3}, row{"assigned_object_type": 11, "assigned_object_id": 3}, []string{
			"dcim.interface/3 edited mac_addresses by mara, likely", "dcim.macaddress/77 edited assigned_object_id,assigned_object_type by mara, exact",
			"virtualization.vminterface/3 edited mac_addresses by mara, likely"}},
		{"a MAC address that is another one", "update", mac, row{"mac_address": "a", "assigned_object_type": 10, "assigned_object_id": 3},
			row{"mac_address": "b", "assigned_object_type": 10, "assigned_object_id": 3}, []string{
				"dcim.macaddress/77 edited mac_address by mara, exact", "virtualization.vminterface/3 edited mac_address,mac_addresses by mara, likely"}},
		{"a site that became the region of the same number", "update", "ipam.prefix", row{"scope_type": 4, "scope_id": 1}, row{"scope_type": 5, "scope_id": 1},
			[]string{"ipam.prefix/77 edited scope_id,scope_type by mara, exact"}},
		{"a MAC address of a model that is not known", "create", mac, nil, row{"assigned_object_type": 99, "assigned_object_id": 3}, []string{"dcim.macaddress/77 created  by mara, exact"}},
		{"a MAC address that is not assigned", "create", mac, nil, row{"assigned_object_type": nil, "assigned_object_id": nil}, []string{"dcim.macaddress/77 created  by mara, exact"}},
		{"a cable that is plugged elsewhere", "create", "dcim.cabletermination", nil, row{"cable": 2, "cable_end": "A"}, []string{"dcim.cable/2 edited a_terminations,b_terminations by mara, likely"}},
		{"a chassis with another master", "update", "dcim.virtualchassis", row{"master": 1}, row{"master": 2}, []string{
			"dcim.device/1 edited virtual_chassis,vc_position by mara, likely", "dcim.device/2 edited virtual_chassis,vc_position by mara, likely", "dcim.virtualchassis/77 edited master by mara, exact"}},
		{"a tag that is renamed", "update", "extras.tag", row{"name": "web"}, row{"name": "www"}, []string{
			"/ edited tags (web,www) by mara, exact", "extras.tag/77 edited name by mara, exact"}},
		{"a tag of another colour", "update", "extras.tag", row{"name": "web", "color": "a"}, row{"name": "web", "color": "b"}, []string{"extras.tag/77 edited color by mara, exact"}},
		{"a tag that goes", "delete", "extras.tag", row{"name": "web"}, nil, []string{"/ edited tags (web) by mara, exact", "extras.tag/77 deleted  by mara, exact"}},
		{"a tag that comes", "create", "extras.tag", nil, row{"name": "web"}, []string{"extras.tag/77 created  by mara, exact"}},
		{"a custom field that is renamed", "update", "extras.customfield", row{"name": "a"}, row{"name": "b"}, []string{
			"/ edited custom_fields.a,custom_fields.b by mara, exact", "extras.customfield/77 edited name by mara, exact"}},
		{"a custom field that goes", "delete", "extras.customfield", row{"name": "a"}, nil, []string{
			"/ edited custom_fields.a by mara, exact", "extras.customfield/77 deleted  by mara, exact"}},
		{"a custom field that brings its default", "create", "extras.customfield", nil, row{"name": "a", "default": false}, []string{
			"/ edited custom_fields.a by mara, exact", "extras.customfield/77 created  by mara, exact"}},
		{"a custom field that brings nothing", "create", "extras.customfield", nil, row{"name": "a", "default": nil}, []string{"extras.customfield/77 created  by mara, exact"}},
		{"a custom field that is taken from a model", "update", "extras.customfield", row{"name": "a", "object_types": []int{1, 2}}, row{"name": "a", "object_types": []int{1}}, []string{
			"/ edited custom_fields.a by mara, exact", "extras.customfield/77 edited object_types by mara, exact"}},
		{"a custom field that is taken from a model that is known", "update", "extras.customfield", row{"name": "a", "object_types": []int{10, 11}}, row{"name": "a", "object_types": []int{10}}, []string{
			"dcim.interface/ edited custom_fields.a by mara, exact", "extras.customfield/77 edited object_types by mara, exact"}},
		{"a custom field that is given to a model", "update", "extras.customfield", row{"name": "a", "object_types": []int{10}}, row{"name": "a", "object_types": []int{10, 11}}, []string{
			"extras.customfield/77 edited object_types by mara, exact"}},
		{"a custom field that is given to a model, with a default", "update", "extras.customfield", row{"name": "a", "default": "x", "object_types": []int{10}},
			row{"name": "a", "default": "x", "object_types": []int{10, 11}}, []string{
				"dcim.interface/ edited custom_fields.a by mara, exact", "extras.customfield/77 edited object_types by mara, exact"}},
		{"a custom field with another label", "update", "extras.customfield", row{"name": "a", "label": "x"}, row{"name": "a", "label": "y"}, []string{"extras.customfield/77 edited label by mara, exact"}},
	} {
		e := netboxtest.Small()
		e.Changes = []netboxtest.Row{netboxtest.Change(5695, at(time.Hour), "mara", tc.action, tc.model, 77, tc.before, tc.after)}
		e.Changes[0]["message"] = "bigger\nfor the sale"
		s := collect(t, newServer(e))
		if diff := cmp.Diff(tc.want, allEvents(s)); diff != "" && len(tc.want)+len(s.AuditEvents) > 0 {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
		for _, event := range s.AuditEvents {
			a := event.Actor
			if a.Evidence != "object-change 5695" || a.Via != "NetBox changelog" || a.Message != "bigger for the sale" || !strings.HasPrefix(a.Request, "e42f51ef-") || !a.At.Equal(testNow().Add(-time.Hour)) {
				t.Errorf("%s: actor %+v", tc.reason, a)
			}
		}
	}
}

func TestChangeWithoutUser(t *testing.T) {
	t.Parallel()
	e := netboxtest.Small()
	e.Changes = e.Changes[:1]
	e.Changes[0]["user"], e.Changes[0]["user_name"] = nil, ""
	s := collect(t, newServer(e))
	if len(s.AuditEvents) != 1 || s.AuditEvents[0].Actor.Name != "unknown" || s.AuditEvents[0].Actor.Confidence != model.Unknown || s.AuditEvents[0].Actor.Reason == "" {
		t.Errorf("events %v", allEvents(s))
	}
}

// history returns a changelog of n edits, a minute apart, the newest first.
func history(n int) []netboxtest.Row {
	var rows []netboxtest.Row
	for i := range n {
		rows = append(rows, netboxtest.Change(9000-i, at(time.Duration(i+1)*time.Minute), "mara", "update", "dcim.site", 1, netboxtest.Row{"name": i}, netboxtest.Row{"name": i + 1}))
	}
	return rows
}

func TestOnlyNewEntriesAreReadAgain(t *testing.T) {
	t.Parallel()
	e := netboxtest.Small()
	e.Changes = history(50)
	server := newServer(e)
	inventory := listen(t, server, func(c *Config) { c.PageSize = 20 })
	now := testNow()
	inventory.now = func() time.Time { return now }
	scan := func() (model.Snapshot, int) {
		before := len(changelogRequests(server))
		s, err := inventory.Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s, len(changelogRequests(server)) - before
	}
	s, asked := scan()
	if len(s.AuditEvents) != 50 || asked != 4 {
		t.Errorf("first: %d events in %d requests, want 50 in 3 and one for what is new", len(s.AuditEvents), asked)
	}
	// The first entry is late: it has an earlier time, and a lower id, than one that was read.
	// The second is later than the overlap.
	late := netboxtest.Change(8500, at(5*time.Minute), "jonas", "update", "dcim.site", 2, netboxtest.Row{"name": "a"}, netboxtest.Row{"name": "b"})
	later := netboxtest.Change(8400, at(40*time.Minute), "priya", "update", "dcim.site", 2, netboxtest.Row{"name": "a"}, netboxtest.Row{"name": "b"})
	server.Edit(func(e *netboxtest.Estate) {
		e.Changes = slices.Insert(e.Changes, 5, late)
		e.Changes = slices.Insert(e.Changes, 45, later)
	})
	now = now.Add(time.Minute)
	if s, asked = scan(); len(s.AuditEvents) != 51 || asked != 1 {
		t.Errorf("second: %d events in %d requests, want 51 in one", len(s.AuditEvents), asked)
	}
	if got := allEvents(s)[50]; !strings.Contains(got, "jonas") {
		t.Errorf("the entry that came late is missing: %s", got)
	}
	since := changelogRequests(server)
	if got, want := since[len(since)-1].Query().Get("time_after"), testNow().Add(-11*time.Minute).Format(time.RFC3339); got != want {
		t.Errorf("asked for what came after %s, want %s", got, want)
	}
	now = now.Add(rereadAfter)
	if s, _ = scan(); len(s.AuditEvents) != 52 {
		t.Errorf("a day later: %d events, want 52", len(s.AuditEvents))
	}
	now = now.Add(100 * 24 * time.Hour)
	if s, _ = scan(); len(s.AuditEvents) != 0 {
		t.Errorf("after the window: %d events", len(s.AuditEvents))
	}
}

// TestEntryFromTheFuture checks that an entry with a time in the future does not hide the entries that are made after it.
func TestEntryFromTheFuture(t *testing.T) {
	t.Parallel()
	e := netboxtest.Small()
	e.Changes = []netboxtest.Row{netboxtest.Change(9000, at(-10*24*time.Hour), "mara", "update", "dcim.site", 1, netboxtest.Row{"name": "a"}, netboxtest.Row{"name": "b"})}
	server := newServer(e)
	inventory := listen(t, server)
	now := testNow()
	inventory.now = func() time.Time { return now }
	for range 2 {
		if _, err := inventory.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	since := changelogRequests(server)
	if got, want := since[len(since)-1].Query().Get("time_after"), now.Add(-overlap).Format(time.RFC3339); got != want {
		t.Errorf("asked for what came after %s, want %s", got, want)
	}
}

// changelogRequests returns the requests for entries of the changelog, without those for
// its greatest id.
func changelogRequests(server *netboxtest.Server) []*url.URL {
	return slices.DeleteFunc(server.Requests("core/object-changes"), func(u *url.URL) bool { return u.Query().Get("ordering") == "-id" })
}

func TestChangelogLongerThanMaxChanges(t *testing.T) {
	t.Parallel()
	e := netboxtest.Small()
	e.Changes = history(500)
	server := newServer(e)
	s := collect(t, server, func(c *Config) { c.PageSize, c.MaxChanges = 40, 100 })
	if len(s.AuditEvents) != 100 || len(changelogRequests(server)) > 4 {
		t.Errorf("%d events in %d requests, want the newest 100", len(s.AuditEvents), len(changelogRequests(server)))
	}
	if got := must(t, s, "virtualization.virtualmachine", "7").WriterUnknown; !strings.HasPrefix(got, "the changelog of the last 1h40m (object-changes) has no entry for this change: it is older (raise max_changes)") {
		t.Errorf("unsigned: %s", got)
	}
	s = collect(t, newServer(e), func(c *Config) { c.Changes = 90 * time.Minute; c.PageSize = 40 })
	if len(s.AuditEvents) != 90 {
		t.Errorf("%d events of the last 90 minutes", len(s.AuditEvents))
	}
}

func TestChangelogThatCannotBeRead(t *testing.T) {
	t.Parallel()
	forbidden := faults.Status(403, `{"detail":"You do not have permission to perform this action."}`)
	const changes = "core/object-changes"
	for _, tc := range []struct {
		reason string
		change func(*Config)
		path   string
		fault  faults.Fault
		want   string
	}{
		{"no problem", func(*Config) {}, "-", forbidden, "the changelog of the last 90 days (object-changes) has no entry for this change: it is older (raise changes)"},
		{"a shorter time", func(c *Config) { c.Changes = 36 * time.Hour }, "-", forbidden, "the changelog of the last 36h0m (object-changes) has no entry for this change"},
		{"switched off", func(c *Config) { c.Changes = 0 }, "-", forbidden, "the changelog is not read because changes or max_changes is 0"},
		{"no permission", func(*Config) {}, changes, forbidden, "the token may not read the changelog: grant view on core.objectchange"},
		{"not found", func(*Config) {}, "c", faults.Status(404, ""), "NetBox 4.6.8 does not serve the changelog"},
		{"an internal error", func(*Config) {}, changes, faults.Status(500, ""), "the changelog could not be read: 500"},
		{"an invalid row", func(*Config) {}, changes, faults.Status(200, `{"count":1,"next":null,"results":[{"id":1,"time":"soon"}]}`), `invalid time "soon"`},
	} {
		server := newServer(netboxtest.Small())
		server.Break(tc.path, tc.fault)
		s := collect(t, server, tc.change)
		r := must(t, s, "virtualization.virtualmachine", "7")
		wantIn(t, r.WriterUnknown, tc.want)
		if gone := s.Kinds[r.Kind].WriterUnknown; gone != r.WriterUnknown {
			t.Errorf("%s: the reason for a deleted object is %q", tc.reason, gone)
		}
		if ok, reason := s.Covers(r.Kind, ""); !ok {
			t.Errorf("%s: narrows coverage: %s", tc.reason, reason)
		}
		if got := must(t, s, "users.objectpermission", "1").WriterUnknown; !strings.Contains(got, "keeps no changelog") && !strings.Contains(got, "changes or max_changes") {
			t.Errorf("%s: unsigned %q", tc.reason, got)
		}
	}
	e := netboxtest.Small()
	e.Lists["users/permissions"] = netboxtest.List{Rows: []netboxtest.Row{
		netboxtest.Permission(1, 8, nil, "users.objectpermission"), netboxtest.Permission(2, 8, netboxtest.Row{"user": 8}, "core.objectchange")}}
	wantIn(t, must(t, collect(t, newServer(e)), "virtualization.virtualmachine", "6").WriterUnknown, "the visible part of the changelog", "grant view on core.objectchange")
}

func TestChangelogOutlivesAFailure(t *testing.T) {
	t.Parallel()
	server := newServer(netboxtest.Small())
	inventory := listen(t, server)
	for i, want := range []string{"has no entry for this change", "could not be read", "has no entry for this change"} {
		server.Heal()
		if i == 1 {
			server.Break("core/object-changes", faults.Status(500, ""))
		}
		s, err := inventory.Collect(t.Context())
		if err != nil || len(s.AuditEvents) != 2 {
			t.Fatalf("scan %d: %v, error %v", i, allEvents(s), err)
		}
		wantIn(t, must(t, s, "virtualization.virtualmachine", "6").WriterUnknown, want)
	}
}

// FuzzChange parses arbitrary rows of the changelog.
func FuzzChange(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"time":"2026-11-20T06:27:52.067081Z","action":{"value":"update"},"changed_object_type":"extras.tag","prechange_data":{"name":"a"},"postchange_data":{"name":"b"}}`,
		`{"id":1,"time":"2026-11-20T06:27:52Z","action":"delete","changed_object_type":"dcim.macaddress","changed_object_id":"x","prechange_data":{"assigned_object_type":[],"assigned_object_id":{}}}`,
		`{"id":1,"time":"2026-11-20T06:27:52Z","action":{"value":"update"},"changed_object_type":"dcim.site","changed_object_id":2,"prechange_data":[1],"postchange_data":"x"}`,
		`{"id":1,"time":"2026-11-20T06:27:52Z","action":{"value":"update"},"changed_object_type":"dcim.site","changed_object_id":2,"prechange_data":{"custom_fields":3},"postchange_data":{"custom_fields":{"":1}}}`,
		`{}`, `[]`, `{"id":1e400}`,
	} {
		f.Add(seed)
	}
	kinds := map[string]*normalize.Kind{}
	for _, k := range normalize.Kinds() {
		kinds[k.Model] = k
	}
	f.Fuzz(func(t *testing.T, text string) {
		row, err := decode.JSON([]byte(text))
		if err != nil {
			return
		}
		c, err := parseChange(kinds, normalize.Models{"10": "dcim.interface"}, row)
		if err != nil {
			return
		}
		for _, event := range c.events {
			if event.Actor.Name == "" || event.Actor.Evidence == "" || (event.Ref == model.Ref{}) != (event.ID == "") || strings.ContainsAny(event.Actor.Message, "\n\x00") {
				t.Errorf("%s: invalid event %+v", text, event)
			}
		}
	})
}

func TestChangelogWithFailedPage(t *testing.T) {
	t.Parallel()
	e := netboxtest.Small()
	e.Changes = history(50)
	server := newServer(e)
	server.Break("core/object-changes", func(inner http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("offset") != "" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		inner.ServeHTTP(w, r)
	})
	inventory := listen(t, server, func(c *Config) { c.PageSize = 20 })
	s, err := inventory.Collect(t.Context())
	if err != nil || len(s.AuditEvents) != 20 {
		t.Fatalf("%d events, %v; want those of the page that came", len(s.AuditEvents), err)
	}
	wantIn(t, must(t, s, "virtualization.virtualmachine", "6").WriterUnknown, "the changelog could not be read")
	server.Heal()
	if s, err = inventory.Collect(t.Context()); err != nil || len(s.AuditEvents) != 50 {
		t.Errorf("%d events, %v; want all once it can be read", len(s.AuditEvents), err)
	}
}
