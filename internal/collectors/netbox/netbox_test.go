package netbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/model"
)

func TestCollect(t *testing.T) {
	t.Parallel()
	s := collect(t, newServer(netboxtest.Small()))
	for id, want := range map[string]string{
		"virtualization.virtualmachine 6": `{"cluster":2,"custom_fields":{"contacts":[7,9],"facts":{"id":1,"list":[3,1],"url":"x"},"tier":"gold"},"disk":20480,` +
			`"local_context_data":{"ntp":["10.0.0.2","10.0.0.1"]},"memory":8192,"name":"app-01","primary_ip4":5,"site":5,"status":"active","tags":["terraform","web"],"vcpus":2}`,
		"virtualization.virtualmachine 7": `{"name":"app-02","site":5,"status":"offline"}`,
		"virtualization.vminterface 3": `{"enabled":true,"mac_address":"BC:24:11:00:00:01","mac_addresses":[4,5],"mode":"tagged","name":"eth0","primary_mac_address":4,` +
			`"tagged_vlans":[9,12],"virtual_machine":6}`,
		"ipam.ipaddress 5":         `{"address":"10.0.0.1/24","assigned_object_id":3,"assigned_object_type":"virtualization.vminterface","dns_name":"app-01.example.net","status":"active"}`,
		"virtualization.cluster 2": `{"name":"prod","scope_id":5,"scope_type":"dcim.site","type":1}`,
	} {
		kind, id, _ := strings.Cut(id, " ")
		if got := shown(must(t, s, kind, id).Value); got != want {
			t.Errorf("%s %s is\n%s, want\n%s", kind, id, got, want)
		}
	}
	wifi := must(t, s, "wireless.wirelesslan", "1")
	if wifi.Value.At("auth_psk").Kind() != model.Secret || strings.Contains(shown(wifi.Value), "hunter2") {
		t.Errorf("the key of a network is not sealed: %s", shown(wifi.Value))
	}
	vm := must(t, s, "virtualization.virtualmachine", "6")
	if !slices.Equal(vm.Identities, []model.Identity{{By: "name", Value: "app-01@2"}}) || vm.Name != "app-01" {
		t.Errorf("app-01 is known as %v", vm.Identities)
	}
	if want := time.Date(2026, 11, 20, 6, 25, 35, 1e8, time.UTC); !vm.Created.Equal(want) {
		t.Errorf("app-01 was created at %s", vm.Created)
	}
	if ip := must(t, s, "ipam.ipaddress", "8"); ip.Name != "2001:db8::1/64" || ip.Identities[0].Value != "2001:db8::1/64@1" {
		t.Errorf("an address is called %q and known as %v", ip.Name, ip.Identities)
	}
	if s.Version != "4.6.8" || !s.Taken.Equal(testNow()) || s.Kinds[vm.Kind].Labels != "tags" {
		t.Errorf("version %s, taken %s", s.Version, s.Taken)
	}
}

// versions returns edits of an estate into the form of each version.
func versions() map[string]func(*netboxtest.Estate) {
	vms, ifs, disks, clusters := "virtualization/virtual-machines", "virtualization/interfaces", "virtualization/virtual-disks", "virtualization/clusters"
	edit := func(e *netboxtest.Estate, path string, do func(netboxtest.Row)) {
		for _, row := range e.Lists[path].Rows {
			do(row)
		}
	}
	v44 := func(e *netboxtest.Estate) { e.Account = nil }
	v41 := func(e *netboxtest.Estate) {
		v44(e)
		edit(e, clusters, func(r netboxtest.Row) {
			r["site"] = r["scope"]
			delete(r, "scope")
			delete(r, "scope_type")
			delete(r, "scope_id")
		})
		edit(e, ifs, func(r netboxtest.Row) {
			delete(r, "mac_addresses")
			delete(r, "primary_mac_address")
		})
	}
	v40 := func(e *netboxtest.Estate) {
		v41(e)
		edit(e, vms, func(r netboxtest.Row) {
			if size, ok := r["disk"].(int); ok {
				r["disk"] = size / 1000
			}
		})
		edit(e, disks, func(r netboxtest.Row) { r["size"] = r["size"].(int) / 1000 })
		delete(e.Lists, "core/object-types")
	}
	v37 := func(e *netboxtest.Estate) {
		v40(e)
		edit(e, "dcim/devices", func(r netboxtest.Row) { r["device_role"] = r["role"]; delete(r, "role") })
		edit(e, "extras/custom-fields", func(r netboxtest.Row) { r["content_types"] = r["object_types"]; delete(r, "object_types") })
	}
	v47 := func(e *netboxtest.Estate) {
		edit(e, vms, func(r netboxtest.Row) {
			if r["custom_fields"].(netboxtest.Row)["tier"] != nil {
				r["custom_fields"].(netboxtest.Row)["tier"] = netboxtest.Choice("gold", "Gold")
			}
		})
	}
	return map[string]func(*netboxtest.Estate){
		"3.7.8": v37, "4.0.11": v40, "4.1.11": v41, "4.2.9": v44, "4.4.10-Docker-3.4": v44,
		"4.5.9": func(*netboxtest.Estate) {}, "4.6.8": func(*netboxtest.Estate) {}, "4.7.0-beta1": v47,
	}
}

func TestVersionsGiveTheSameValues(t *testing.T) {
	t.Parallel()
	estate := func() netboxtest.Estate {
		e := netboxtest.Small()
		e.Lists["virtualization/virtual-machines"].Rows[0]["disk"] = 20000
		e.Lists["virtualization/virtual-disks"].Rows[0]["size"] = 20000
		e.Lists["dcim/devices"] = netboxtest.List{Rows: []netboxtest.Row{{"id": 1, "name": nil, "asset_tag": "A-1", "role": netboxtest.Ref("dcim/device-roles", 2, "Hypervisor")}}}
		return e
	}
	newest := collect(t, newServer(estate()))
	for version, older := range versions() {
		e := estate()
		e.Version = version
		older(&e)
		server := newServer(e)
		s := collect(t, server)
		if asked := len(server.Requests("dcim/rack-groups")); asked > 0 != (strings.HasPrefix(version, "4.6") || strings.HasPrefix(version, "4.7")) {
			t.Errorf("%s: %d requests for what came with 4.6", version, asked)
		}
		for _, want := range newest.Resources {
			got := must(t, s, strings.TrimPrefix(want.Kind, Type+"/"), want.ID)
			value, expected := got.Value, want.Value
			if want.Kind == Type+"/virtualization.vminterface" && !strings.Contains(version, "4.6") {
				value, expected = value.Without("mac_addresses", "primary_mac_address"), expected.Without("mac_addresses", "primary_mac_address")
			}
			if diff := cmp.Diff(shown(expected), shown(value)); diff != "" || got.Name != want.Name {
				t.Errorf("%s: %s %q differs (-newest +this):\n%s", version, got.Key, got.Name, diff)
			}
			if !slices.Equal(got.Identities, want.Identities) {
				t.Errorf("%s: %s is known as %v, in the newest as %v", version, got.Key, got.Identities, want.Identities)
			}
			if ok, reason := s.Covers(want.Kind, ""); !ok {
				t.Errorf("%s: %s is not covered: %s", version, want.Kind, reason)
			}
		}
		if len(s.AuditEvents) != len(newest.AuditEvents) {
			t.Errorf("%s: %d audit events, want %d", version, len(s.AuditEvents), len(newest.AuditEvents))
		}
		if c := covered(t, s, "dcim.macaddress"); c.Skipped != strings.HasPrefix(version, "3.") && c.Skipped != strings.HasPrefix(version, "4.0") && c.Skipped != strings.HasPrefix(version, "4.1") {
			t.Errorf("%s: MAC addresses: %+v", version, c)
		}
	}
}

func TestVersionWithoutStatus(t *testing.T) {
	t.Parallel()
	server := newServer(netboxtest.Small())
	server.Edit(func(e *netboxtest.Estate) { e.Version = "" })
	server.Break("status", faults.Status(200, "{}"))
	if _, err := listen(t, server).Collect(t.Context()); err == nil {
		t.Error("a NetBox without a version is read")
	}
	e := netboxtest.Small()
	server = newServer(e)
	server.Break("status", withHeader("4.6"))
	if s := collect(t, server); s.Version != "4.6" {
		t.Errorf("version %q, want that of the header", s.Version)
	}
}

func TestStrangeNames(t *testing.T) {
	t.Parallel()
	names := []string{"a/b c", "🐧 host", "ünï", `quo"te`, " blank ", strings.Repeat("x", 300), "日本"}
	e := netboxtest.Small()
	var rows []netboxtest.Row
	for i, name := range names {
		rows = append(rows, netboxtest.Row{"id": i + 1, "name": name, "cluster": netboxtest.Ref("virtualization/clusters", 2, name), "comments": name,
			"tags": []netboxtest.Row{netboxtest.Tag(1, name, "tag")}, "custom_fields": netboxtest.Row{"note": name}})
	}
	e.Lists["virtualization/virtual-machines"] = netboxtest.List{Rows: rows}
	s := collect(t, newServer(e))
	for i, name := range names {
		vm := must(t, s, "virtualization.virtualmachine", fmt.Sprint(i+1))
		if vm.Name != name || vm.Value.At("comments").Str() != name || vm.Value.At("custom_fields", "note").Str() != name ||
			vm.Value.At("tags").Items()[0].Str() != name || vm.Identities[0].Value != name+"@2" {
			t.Errorf("%q became %q, %s", name, vm.Name, shown(vm.Value))
		}
	}
}

func TestNullsEverywhere(t *testing.T) {
	t.Parallel()
	e := netboxtest.Small()
	asked := collect(t, newServer(e)) // for the names of all kinds
	server := newServer(e)
	server.Edit(func(e *netboxtest.Estate) {
		for _, k := range testInventory(t, testConfig(t, "http://localhost")).kinds {
			if k.Path == "users/permissions" {
				continue
			}
			row := netboxtest.Row{"id": 1}
			for name := range strings.SplitSeq(k.Query(model46()), ",") {
				if name != "id" {
					row[name] = nil
				}
			}
			e.Lists[k.Path] = netboxtest.List{Rows: []netboxtest.Row{row}}
		}
	})
	s := collect(t, server)
	if len(s.Resources) != len(asked.Coverage) {
		t.Errorf("%d objects of %d kinds", len(s.Resources), len(asked.Coverage))
	}
	for _, r := range s.Resources {
		if r.Kind != Type+"/users.objectpermission" && (r.Name != "#1" || shown(r.Value) != "{}" || r.Identities != nil) {
			t.Errorf("%s is called %q and is %s, known as %v", r.Key, r.Name, shown(r.Value), r.Identities)
		}
	}
}

func TestCustomFieldsOfEveryType(t *testing.T) {
	t.Parallel()
	type field struct {
		typ        string
		sent       any
		want       string
		structural string
	}
	object := func(id int) netboxtest.Row { return netboxtest.Ref("dcim/sites", id, "site") }
	fields := map[string]field{
		"text": {"text", "a b", `"a b"`, ""}, "longtext": {"longtext", "# a\nb", `"# a\nb"`, ""}, "integer": {"integer", 3, `3`, ""},
		"decimal": {"decimal", json.Number("2.50"), `2.5`, ""}, "yes": {"boolean", true, `true`, ""}, "no": {"boolean", false, `false`, ""}, "zero": {"integer", 0, `0`, ""},
		"date": {"date", "2026-01-02", `"2026-01-02"`, ""}, "datetime": {"datetime", "2026-01-02T03:04:05Z", `"2026-01-02T03:04:05Z"`, ""}, "url": {"url", "https://x.org/?a=b", `"https://x.org/?a=b"`, ""},
		"select": {"select", "gold", `"gold"`, ""}, "select47": {"select", netboxtest.Choice("gold", "Gold"), `"gold"`, ""},
		"multi":   {"multiselect", []string{"b", "a"}, `["a","b"]`, `["b","a"]`},
		"multi47": {"multiselect", []netboxtest.Row{netboxtest.Choice("b", "B"), netboxtest.Choice("a", "A")}, `["a","b"]`, ""},
		"object":  {"object", object(7), `7`, ""}, "objects": {"multiobject", []netboxtest.Row{object(9), object(7)}, `[7,9]`, ""},
		"json":       {"json", netboxtest.Row{"b": []int{3, 1}, "a": nil}, `{"a":null,"b":[3,1]}`, ""},
		"json-list":  {"json", []any{3, "x", netboxtest.Row{"value": 1, "label": "x"}}, `[3,"x",{"label":"x","value":1}]`, ""},
		"json-alike": {"json", object(7), `{"description":"","display":"site","id":7,"name":"site","url":"http://netbox.internal:8001/api/dcim/sites/7/"}`, `7`},
		"json-more":  {"json", netboxtest.Row{"value": 1, "label": "x", "more": 2}, `{"label":"x","more":2,"value":1}`, ""},
		"none":       {"text", nil, ``, ""}, "empty": {"text", "", ``, ""}, "nothing": {"multiselect", []string{}, ``, ""},
	}
	e := netboxtest.Small()
	var definitions []netboxtest.Row
	values := netboxtest.Row{}
	for name, f := range fields {
		definitions = append(definitions, netboxtest.Row{"id": len(definitions) + 1, "name": name, "type": netboxtest.Choice(f.typ, f.typ)})
		values[name] = f.sent
	}
	e.Lists["extras/custom-fields"] = netboxtest.List{Rows: definitions}
	e.Lists["virtualization/virtual-machines"] = netboxtest.List{Rows: []netboxtest.Row{{"id": 1, "name": "a", "custom_fields": values}}}
	for _, known := range []bool{true, false} {
		server := newServer(e)
		if !known {
			server.Break("extras/custom-fields", faults.Status(403, `{"detail":"You do not have permission to perform this action."}`))
		}
		vm := must(t, collect(t, server), "virtualization.virtualmachine", "1")
		for name, f := range fields {
			got, ok := vm.Value.At("custom_fields").Get(name)
			want := f.want
			if !known && f.structural != "" {
				want = f.structural
			}
			if !ok && want != "" || ok && shown(got) != want {
				t.Errorf("%s (definitions known: %v) is %s, want %s", name, known, shown(got), want)
			}
		}
	}
}

func TestMachineWithTwentyInterfaces(t *testing.T) {
	t.Parallel()
	e := netboxtest.Small()
	var rows []netboxtest.Row
	for i := range 20 {
		rows = append(rows, netboxtest.Row{"id": i + 1, "name": fmt.Sprintf("eth%d", i), "virtual_machine": netboxtest.Ref("virtualization/virtual-machines", 6, "app-01"),
			"mac_address": fmt.Sprintf("BC:24:11:00:00:%02X", i)})
	}
	e.Lists["virtualization/interfaces"] = netboxtest.List{Rows: rows}
	s := collect(t, newServer(e), func(c *Config) { c.PageSize = 7 })
	for i := range 20 {
		r := must(t, s, "virtualization.vminterface", fmt.Sprint(i+1))
		if want := fmt.Sprintf("eth%d@6", i); r.Identities[0].Value != want {
			t.Errorf("interface %d is known as %v, want %s", i+1, r.Identities, want)
		}
	}
}

func TestExcludedKinds(t *testing.T) {
	t.Parallel()
	server := newServer(netboxtest.Small())
	s := collect(t, server, func(c *Config) { c.ExcludeKinds = []string{"virtualization.*", "netbox/extras.customfield"} })
	for _, kind := range []string{"virtualization.virtualmachine", "extras.customfield"} {
		if c := covered(t, s, kind); c.Complete || !c.Skipped || c.Reason == "" {
			t.Errorf("%+v", c)
		}
	}
	if n := len(server.Requests("virtualization/virtual-machines")); n > 0 {
		t.Errorf("%d requests for what is left out", n)
	}
	for _, r := range s.Resources {
		if strings.Contains(r.Kind, "virtualization") || strings.HasSuffix(r.Kind, ".customfield") {
			t.Errorf("%s was read", r.Key)
		}
	}
}

func TestConcurrencyLimit(t *testing.T) {
	t.Parallel()
	server := newServer(netboxtest.Small())
	server.Delay = time.Millisecond
	collect(t, server, func(c *Config) { c.Concurrency, c.Rate = 3, 100_000 })
	if got := server.Peak(); got != 3 {
		t.Errorf("%d requests at once, want 3", got)
	}
	for _, asked := range server.Requests("") {
		if len(asked.String()) > 2000 {
			t.Errorf("an address of %d characters: %s", len(asked.String()), asked)
		}
	}
}
