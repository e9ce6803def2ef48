package netbox

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/model"
)

// TestChangesWithoutEntry tests values that were changed after the last entry without a
// new entry: the author of the last entry did not write the live value.
func TestChangesWithoutEntry(t *testing.T) {
	t.Parallel()
	type row = netboxtest.Row
	const vm = "virtualization.virtualmachine"
	edit := func(id int, ago time.Duration, user string, before, after row) row {
		return netboxtest.Change(id, at(ago), user, "update", vm, 6, before, after)
	}
	live := must(t, collect(t, newServer(netboxtest.Small())), vm, "6").Value
	memory, name := live.At("memory").Text(), live.At("name").Str()
	number, err := strconv.Atoi(memory)
	if err != nil || name == "" {
		t.Fatalf("the fixture has memory %q and name %q", memory, name)
	}
	const exact = "virtualization.virtualmachine/6 edited "
	const nobody = exact + "memory by unknown, unknown"
	for _, tc := range []struct {
		reason  string
		changes []row
		want    []string
	}{
		{"the value of the entry is live", []row{edit(2, time.Hour, "mara", row{"memory": 1}, row{"memory": number})}, []string{exact + "memory by mara, exact"}},
		{"in another notation", []row{edit(2, time.Hour, "mara", row{"memory": 1}, row{"memory": memory + ".00"})}, []string{exact + "memory by mara, exact"}},
		{"another value is live", []row{edit(2, time.Hour, "terraform", row{"memory": 1}, row{"memory": number + 1})}, []string{nobody}},
		{"one of two fields", []row{edit(2, time.Hour, "terraform", row{"memory": 1, "name": "x"}, row{"memory": number + 1, "name": name})},
			[]string{nobody, exact + "name by terraform, exact"}},
		{"not the value of the entry before either", []row{edit(3, time.Hour, "mara", row{"memory": number}, row{"memory": number + 1}),
			edit(2, 2*time.Hour, "terraform", row{"memory": 1}, row{"memory": number})}, []string{nobody}},
		{"the last one counts", []row{edit(3, time.Hour, "mara", row{"memory": number + 1}, row{"memory": number}),
			edit(2, 2*time.Hour, "terraform", row{"memory": 1}, row{"memory": number + 1})},
			[]string{exact + "memory by mara, exact"}},
		{"an edit without sides may explain any value", []row{edit(3, time.Hour, "mara", nil, row{}), edit(2, 2*time.Hour, "terraform", row{"memory": 1}, row{"memory": number + 1})},
			[]string{exact + " by mara, likely"}},
		{"a size that was in GB then", []row{edit(2, time.Hour, "mara", row{"memory": 1}, row{"memory": float64(number) / 1000})}, []string{exact + "memory by mara, exact"}},
	} {
		e := netboxtest.Small()
		e.Changes = tc.changes
		if diff := cmp.Diff(tc.want, allEvents(collect(t, newServer(e))), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}

// TestCreationIsEvidencePerField tests the creation of an object, some of whose fields
// have other values in the scan.
func TestCreationIsEvidencePerField(t *testing.T) {
	t.Parallel()
	type row = netboxtest.Row
	const vm = "virtualization.virtualmachine"
	live := row{"memory": 8192, "vcpus": "2.00", "site": 5, "tags": []string{"web", "terraform"}, "name": "app-01", "local_context_data": row{"ntp": []string{"10.0.0.2", "10.0.0.1"}},
		"custom_fields": row{"tier": "gold", "contacts": []int{9, 7}, "unset": nil}, "tenant": nil, "unread_field": 1}
	with := func(name string, value any) row {
		changed := row{name: value}
		for field, v := range live {
			if field != name {
				changed[field] = v
			}
		}
		return changed
	}
	for _, tc := range []struct {
		reason string
		after  row
		except []string
	}{
		{"every field is as it was created", live, nil},
		{"another number", with("memory", 4096), []string{"memory"}},
		{"another reference", with("site", 4), []string{"site"}},
		{"another tag", with("tags", []string{"web"}), []string{"tags"}},
		{"tags in another order", with("tags", []string{"terraform", "web"}), nil},
		{"another tree", with("local_context_data", row{"ntp": []string{"10.0.0.9"}}), []string{"local_context_data"}},
		{"a field that was set later", with("site", nil), []string{"site"}},
		{"a field that was emptied later", with("tenant", 3), []string{"tenant"}},
		{"another custom field", with("custom_fields", row{"tier": "silver", "contacts": []int{7, 9}}), []string{"custom_fields.tier"}},
		{"a custom field that lists others", with("custom_fields", row{"tier": "gold", "contacts": []int{7}}), []string{"custom_fields.contacts"}},
		{"a list in another form", with("tags", "[1, 2]"), nil},
		{"an entry without a side", nil, nil},
	} {
		e := netboxtest.Small()
		e.Changes = []row{netboxtest.Change(2, at(time.Hour), "mara", "create", vm, 6, nil, tc.after)}
		var made model.AuditEvent
		for _, event := range collect(t, newServer(e)).AuditEvents {
			if event.Action == model.Created {
				made = event
			}
		}
		if made.Actor.Name != "mara" || made.Actor.Confidence != model.Exact {
			t.Errorf("%s: the creator is %+v", tc.reason, made.Actor)
		}
		if diff := cmp.Diff(tc.except, made.Excluded, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: no evidence for (-want +got):\n%s", tc.reason, diff)
		}
	}
}

// TestCopiedFields moves a cluster, a location and a rack. NetBox moves the objects in
// them without an entry.
func TestCopiedFields(t *testing.T) {
	t.Parallel()
	type row = netboxtest.Row
	ref := func(path string, id int) row { return netboxtest.Ref(path, id, "x") }
	const vm, cluster, rack, location = "virtualization.virtualmachine", "virtualization.cluster", "dcim.rack", "dcim.location"
	estate := func() netboxtest.Estate {
		e := netboxtest.Small()
		e.Lists["dcim/locations"] = netboxtest.List{Rows: []row{
			{"id": 1, "name": "Hall A", "slug": "a", "site": ref("dcim/sites", 5)},
			{"id": 2, "name": "Row 2", "slug": "r2", "site": ref("dcim/sites", 5), "parent": ref("dcim/locations", 1)}}}
		e.Lists["dcim/racks"] = netboxtest.List{Rows: []row{{"id": 3, "name": "R3", "site": ref("dcim/sites", 5), "location": ref("dcim/locations", 2)}}}
		e.Lists["dcim/devices"] = netboxtest.List{Rows: []row{
			{"id": 4, "name": "pve1", "site": ref("dcim/sites", 5), "location": ref("dcim/locations", 2), "rack": ref("dcim/racks", 3)}}}
		return e
	}
	change := func(id int, ago time.Duration, user, model string, object int, before, after row) row {
		return netboxtest.Change(id, at(ago), user, "update", model, object, before, after)
	}
	scoped := func(id int, ago time.Duration, from, to int) row {
		return change(id, ago, "jonas", cluster, 2, row{"scope_type": 4, "scope_id": from}, row{"scope_type": 4, "scope_id": to})
	}
	created := func(site int) row {
		return netboxtest.Change(1, at(5*time.Hour), "mara", "create", vm, 6, nil, row{"site": site})
	}
	for _, tc := range []struct {
		reason  string
		kind    string
		id      string
		field   string
		changes []row
		want    string
	}{
		{"a cluster", vm, "6", "site", []row{scoped(9, time.Hour, 4, 5), created(4)}, "jonas likely object-change 9 of cluster prod"},
		{"a cluster, and the machine has no entry", vm, "6", "site", []row{scoped(9, time.Hour, 4, 5)}, "jonas likely object-change 9 of cluster prod"},
		{"the last of two", vm, "6", "site", []row{scoped(9, time.Hour, 4, 5), scoped(8, 2*time.Hour, 3, 4), created(3)}, "jonas likely object-change 9"},
		{"a cluster that moved again without an entry", vm, "6", "site", []row{scoped(9, time.Hour, 5, 4), created(4)}, "unknown unknown "},
		{"the machine was created in it later", vm, "6", "site", []row{created(5), scoped(9, 6*time.Hour, 4, 5)}, ""},
		{"a cluster that was renamed", vm, "6", "site", []row{change(9, time.Hour, "jonas", cluster, 2, row{"name": "old"}, row{"name": "prod"}), created(4)}, "unknown unknown "},
		{"a machine in no cluster", vm, "7", "site", []row{scoped(9, time.Hour, 4, 5)}, ""},
		{"a rack", "dcim.device", "4", "location", []row{change(9, time.Hour, "priya", rack, 3, row{"location": 1}, row{"location": 2})}, "priya likely object-change 9 of rack R3"},
		{"a rack that moved to another site", "dcim.device", "4", "site", []row{change(9, time.Hour, "priya", rack, 3, row{"site": 1}, row{"site": 5})}, "priya likely object-change 9 of rack R3"},
		{"a location", rack, "3", "site", []row{change(9, time.Hour, "priya", location, 2, row{"site": 1}, row{"site": 5})}, "priya likely object-change 9 of location Row 2"},
		{"the location above", rack, "3", "site", []row{change(9, time.Hour, "priya", location, 1, row{"site": 1}, row{"site": 5})}, "priya likely object-change 9 of location Hall A"},
		{"a location in a location", location, "2", "site", []row{change(9, time.Hour, "priya", location, 1, row{"site": 1}, row{"site": 5})}, "priya likely object-change 9 of location Hall A"},
		{"an entry without a user", rack, "3", "site", []row{change(9, time.Hour, "", location, 1, row{"site": 1}, row{"site": 5})}, "unknown unknown object-change 9 of location Hall A"},
	} {
		e := estate()
		e.Changes = tc.changes
		for _, r := range e.Changes {
			if r["user_name"] == "" {
				r["user"] = nil
			}
		}
		got := ""
		for _, event := range collect(t, newServer(e)).AuditEvents {
			if event.Kind == Type+"/"+tc.kind && event.ID == tc.id && event.Action == model.Edited && strings.Join(event.Fields, "") == tc.field {
				got += event.Actor.Name + " " + string(event.Actor.Confidence) + " " + event.Actor.Evidence
				if event.Actor.Evidence != "" && event.Actor.Request != tc.changes[0]["request_id"] {
					t.Errorf("%s: its request is %s, want that of the parent's entry", tc.reason, event.Actor.Request)
				}
			}
		}
		if tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: %s by %q, want %q", tc.reason, tc.field, got, tc.want)
		}
	}
}

// TestUnknownChangeHasHint tests the reason for a change without an entry, if older entries
// cannot explain it either.
func TestUnknownChangeHasHint(t *testing.T) {
	t.Parallel()
	type row = netboxtest.Row
	e := netboxtest.Small()
	e.Changes = []row{netboxtest.Change(2, at(time.Hour), "mara", "create", "virtualization.virtualmachine", 6, nil, row{"memory": 1})}
	s := collect(t, newServer(e))
	reasons := []string{must(t, s, "virtualization.virtualmachine", "6").WriterUnknown}
	for _, event := range s.AuditEvents {
		if event.Actor.Confidence == model.Unknown {
			reasons = append(reasons, event.Actor.Reason)
		}
	}
	if len(reasons) != 2 {
		t.Fatalf("reasons %q", reasons)
	}
	for _, reason := range reasons {
		if strings.Contains(reason, "raise") || !strings.Contains(reason, "without an entry") {
			t.Errorf("a change of an object that is younger than the changelog: %s", reason)
		}
	}
	wantIn(t, reasons[1], "object-change 2 by mara", "left another value")
	wantIn(t, must(t, s, "virtualization.virtualmachine", "7").WriterUnknown, "raise changes")
}

// TestDeletionsKeepIdentity tests that the last value of a deleted virtual machine has the
// fields that identify it in other sources.
func TestDeletionsKeepIdentity(t *testing.T) {
	t.Parallel()
	type row = netboxtest.Row
	deleted := func(id int, model string, object int, before row) row {
		return netboxtest.Change(id, at(time.Hour), "mara", "delete", model, object, before, nil)
	}
	long := strings.Repeat("x", 300)
	e := netboxtest.Small()
	e.Changes = []row{
		deleted(4, "virtualization.virtualmachine", 9, row{"name": "db-01", "serial": "", "cluster": 2, "comments": long, "tags": []string{"a"}, "local_context_data": row{"a": 1}, "_name": "db",
			"vcpus": "2.00", "custom_fields": row{"vmid": 104, "facts": row{"a": 1}, "unset": nil, "notes": long}}),
		deleted(3, "virtualization.vminterface", 8, row{"name": "eth0", "virtual_machine": 9, "tagged_vlans": []int{1}}),
		deleted(2, "dcim.macaddress", 7, row{"mac_address": "BC:24:11:00:00:01", "assigned_object_type": 10, "assigned_object_id": 8}),
		deleted(1, "ipam.vlan", 6, row{"name": "app", "vid": 100}),
	}
	want := map[string]string{
		"virtualization.virtualmachine/9": `{"cluster":2,"custom_fields":{"vmid":104},"name":"db-01","serial":"","vcpus":"2.00"}`,
		"virtualization.vminterface/8":    `{"name":"eth0","virtual_machine":9}`,
		"dcim.macaddress/7":               `{"assigned_object_id":8,"assigned_object_type":"virtualization.vminterface","mac_address":"BC:24:11:00:00:01"}`,
		"ipam.vlan/6":                     "null",
	}
	got := map[string]string{}
	for _, event := range collect(t, newServer(e)).AuditEvents {
		got[strings.TrimPrefix(event.Kind, Type+"/")+"/"+event.ID] = shown(event.LastValue)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func TestUnreadChangelogIsReported(t *testing.T) {
	t.Parallel()
	server := newServer(netboxtest.Small())
	if got := collect(t, server).LogUnread; got != "" {
		t.Errorf("the changelog was read, but: %s", got)
	}
	server.Break("core/object-changes", faults.Status(403, `{"detail":"You do not have permission to perform this action."}`))
	wantIn(t, collect(t, server).LogUnread, "grant view on core.objectchange")
	wantIn(t, collect(t, server, func(c *Config) { c.Changes = 0 }).LogUnread, "changes or max_changes is 0")
}
