package netboxlab

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// newLab returns a Lab whose clock advances by a second on each call.
func newLab(t *testing.T, version string) *Lab {
	t.Helper()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	lab, err := New(Options{Version: version, Now: func() time.Time {
		at = at.Add(time.Second)
		return at
	}})
	if err != nil {
		t.Fatal(err)
	}
	return lab
}

// do sends a request that has to succeed.
func do(t *testing.T, lab *Lab, user, method, path string, body any) Object {
	t.Helper()
	answer, err := lab.Do(user, method, path, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer
}

// estate creates a virtual machine and its related objects.
func estate(t *testing.T, lab *Lab) {
	t.Helper()
	for _, made := range []struct {
		endpoint string
		body     Object
	}{
		{"tenancy/tenants", Object{"name": "Payments", "slug": "payments"}},
		{"tenancy/tenants", Object{"name": "Platform", "slug": "platform"}},
		{"dcim/sites", Object{"name": "Frankfurt 1", "slug": "fra1", "latitude": 50.1109}},
		{"extras/tags", Object{"name": "web", "slug": "web", "color": "00ff00"}},
		{"extras/custom-fields", Object{"name": "cost_center", "type": "text", "object_types": []string{"virtualization.virtualmachine"}}},
		{"extras/custom-fields", Object{"name": "rooms", "type": "integer", "object_types": []string{"virtualization.virtualmachine"}}},
		{"virtualization/cluster-types", Object{"name": "Proxmox VE", "slug": "proxmox-ve"}},
		{"virtualization/clusters", Object{"name": "prod", "type": 1, "scope_type": "dcim.site", "scope_id": 1}},
		{"virtualization/virtual-machines", Object{"name": "app-01", "cluster": 1, "tenant": 1, "vcpus": 2, "memory": 4096,
			"tags": []Object{{"name": "web"}}, "custom_fields": Object{"cost_center": "CC-1", "rooms": 3}}},
		{"virtualization/virtual-machines", Object{"name": "db-01", "cluster": 1, "tenant": 2, "vcpus": 2.5}},
		{"virtualization/interfaces", Object{"name": "eth0", "virtual_machine": 1, "mode": "access"}},
		{"dcim/mac-addresses", Object{"mac_address": "bc:24:11:00:00:01", "assigned_object_type": "virtualization.vminterface", "assigned_object_id": 1}},
		{"ipam/ip-addresses", Object{"address": "10.0.0.10/24", "tenant": 1, "assigned_object_type": "virtualization.vminterface", "assigned_object_id": 1}},
		{"virtualization/virtual-disks", Object{"name": "root", "virtual_machine": 1, "size": 20000}},
		{"virtualization/virtual-disks", Object{"name": "data", "virtual_machine": 1, "size": 80000}},
		{"ipam/prefixes", Object{"prefix": "10.0.0.0/24", "scope_type": "dcim.site", "scope_id": 1}},
	} {
		do(t, lab, "mara", "POST", made.endpoint, made.body)
	}
	do(t, lab, "mara", "PATCH", "virtualization/interfaces/1", Object{"primary_mac_address": 1})
	do(t, lab, "mara", "PATCH", "virtualization/virtual-machines/1", Object{"primary_ip4": 1})
}

// TestShapes compares the responses of versions with golden files of real servers' responses,
// as far as these were observed.
func TestShapes(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.7.8", "4.1.11", "4.6.8"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			lab := newLab(t, "4.6.8")
			estate(t, lab)
			lab.SetVersion(version)
			changes := "core/object-changes"
			if version == "3.7.8" {
				changes = "extras/object-changes"
			}
			got := Object{}
			for _, path := range []string{"virtualization/virtual-machines/1", "virtualization/clusters/1", "virtualization/interfaces/1",
				"ipam/ip-addresses/1", "ipam/prefixes/1", "dcim/sites/1", "virtualization/virtual-machines/?fields=id,name,vcpus,disk",
				changes + "/?limit=1"} {
				got[path] = do(t, lab, "mara", "GET", path, nil)
			}
			golden(t, version, got)
		})
	}
}

func golden(t *testing.T, name string, got Object) {
	t.Helper()
	text, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name+".golden.json")
	if *update {
		if err := os.WriteFile(file, append(text, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(text)+"\n"); d != "" {
		t.Errorf("other answers (-want +got):\n%s", d)
	}
}

// changesOf lists the rows of the changelog after one, the oldest first.
func changesOf(t *testing.T, lab *Lab, after int) []string {
	t.Helper()
	var rows []string
	for _, row := range do(t, lab, "mara", "GET", fmt.Sprintf("core/object-changes/?ordering=id&id__gt=%d", after), nil)["results"].([]any) {
		r, _ := row.(Object)
		action, _ := r["action"].(Object)
		rows = append(rows, fmt.Sprintf("%v %v %v %v", r["user_name"], action["value"], r["changed_object_type"], r["object_repr"]))
	}
	return rows
}

// TestChangelog tests the rows of edits.
func TestChangelog(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason       string
		method, path string
		body         any
		want         []string
	}{
		"edit":    {"one row", "PATCH", "virtualization/virtual-machines/1", Object{"memory": 8192}, []string{"jonas update virtualization.virtualmachine app-01"}},
		"nothing": {"a write that changes nothing leaves none", "PATCH", "virtualization/virtual-machines/1", Object{"memory": 4096}, nil},
		"disk": {"the sum that follows leaves none", "PATCH", "virtualization/virtual-disks/1", Object{"size": 30000},
			[]string{"jonas update virtualization.virtualdisk root"}},
		"bulk": {"a row for each", "PATCH", "virtualization/virtual-machines", []Object{{"id": 1, "memory": 1}, {"id": 2, "memory": 2}},
			[]string{"jonas update virtualization.virtualmachine app-01", "jonas update virtualization.virtualmachine db-01"}},
		"cascade": {"what goes with a machine has rows as well", "DELETE", "virtualization/virtual-machines/1", nil, []string{
			"jonas delete dcim.macaddress BC:24:11:00:00:01", "jonas update virtualization.virtualmachine app-01",
			"jonas delete ipam.ipaddress 10.0.0.10/24", "jonas delete virtualization.vminterface eth0", "jonas delete virtualization.virtualdisk root",
			"jonas delete virtualization.virtualdisk data", "jonas delete virtualization.virtualmachine app-01"}},
		"tag": {"a tag that goes leaves no trace on who had it", "DELETE", "extras/tags/1", nil, []string{"jonas delete extras.tag web"}},
		"custom field": {"as does a custom field that is renamed", "PATCH", "extras/custom-fields/1", Object{"name": "costs"},
			[]string{"jonas update extras.customfield Costs"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lab := newLab(t, "")
			estate(t, lab)
			before := lab.LastChange()
			do(t, lab, "jonas", test.method, test.path, test.body)
			got := changesOf(t, lab, before)
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, d)
			}
		})
	}
}

// TestComputed tests fields that are computed from other objects.
func TestComputed(t *testing.T) {
	t.Parallel()
	lab := newLab(t, "")
	estate(t, lab)
	do(t, lab, "mara", "PATCH", "extras/custom-fields/1", Object{"name": "costs"})
	vm := do(t, lab, "mara", "GET", "virtualization/virtual-machines/1", nil)
	nic := do(t, lab, "mara", "GET", "virtualization/interfaces/1", nil)
	got := fmt.Sprintln(vm["disk"], vm["virtual_disk_count"], vm["custom_fields"], nic["mac_address"], vm["site"].(Object)["slug"])
	if want := "100000 2 map[costs:CC-1 rooms:3] BC:24:11:00:00:01 fra1\n"; got != want {
		t.Errorf("computed %s, want %s", got, want)
	}
}

// TestRefusals tests error responses.
func TestRefusals(t *testing.T) {
	t.Parallel()
	lab := newLab(t, "")
	estate(t, lab)
	lab.Grant("weak", Permission{Models: []string{"virtualization.virtualmachine"}, Actions: []string{"view"}, Constraints: Object{"tenant__slug": "payments"}})
	for name, test := range map[string]struct {
		user, method, path string
		body               any
		code               int
		says               string
	}{
		"required":     {"mara", "POST", "dcim/sites", Object{"name": "x"}, 400, `{"slug":["This field is required."]}`},
		"unique":       {"mara", "POST", "dcim/sites", Object{"name": "x", "slug": "fra1"}, 400, "already exists"},
		"reference":    {"mara", "PATCH", "virtualization/virtual-machines/1", Object{"cluster": 9}, 400, "provided numeric ID: 9"},
		"choice":       {"mara", "PATCH", "virtualization/virtual-machines/1", Object{"status": "lost"}, 400, "not a valid choice"},
		"custom field": {"mara", "PATCH", "virtualization/virtual-machines/1", Object{"custom_fields": Object{"rooms": "3"}}, 400, "must be a number"},
		"held":         {"mara", "DELETE", "dcim/sites/1", nil, 409, "Unable to delete"},
		"absent":       {"mara", "GET", "virtualization/virtual-machines/9", nil, 404, `{"detail":"No VirtualMachine matches the given query."}`},
		"no such path": {"mara", "GET", "dcim/nothing", nil, 404, "<!DOCTYPE html>"},
		"status":       {"mara", "GET", "virtualization/virtual-machines/?status=lost", nil, 400, "not one of the available"},
		"outside":      {"weak", "GET", "virtualization/virtual-machines/2", nil, 404, "No VirtualMachine"},
		"no right":     {"weak", "GET", "dcim/sites", nil, 403, "You do not have permission"},
		"no writing":   {"weak", "PATCH", "virtualization/virtual-machines/1", Object{"memory": 1}, 403, "You do not have permission"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := lab.Do(test.user, test.method, test.path, test.body)
			var refusal *Refusal
			if !errors.As(err, &refusal) || refusal.Code != test.code || !strings.Contains(refusal.Body, test.says) {
				t.Errorf("answer %v, want %d and %q", err, test.code, test.says)
			}
		})
	}
}

// TestMACAddresses tests the filter for MAC addresses, and that a primary one belongs to its interface.
func TestMACAddresses(t *testing.T) {
	t.Parallel()
	count := func(lab *Lab, query string) string { return fmt.Sprint(do(t, lab, "mara", "GET", query, nil)["count"]) }
	lab := newLab(t, "")
	estate(t, lab)
	for _, query := range []string{"virtualization/interfaces", "dcim/mac-addresses"} {
		if got, none := count(lab, query+"/?mac_address=bc:24:11:00:00:01"), count(lab, query+"/?mac_address=BC:24:11:00:00:02"); got != "1" || none != "0" {
			t.Errorf("%s has %v, and %v", query, got, none)
		}
	}
	do(t, lab, "mara", "POST", "virtualization/interfaces", Object{"name": "eth0", "virtual_machine": 2})
	_, err := lab.Do("mara", "PATCH", "virtualization/interfaces/2", Object{"primary_mac_address": 1})
	if refusal := (*Refusal)(nil); !errors.As(err, &refusal) || refusal.Code != 400 || !strings.Contains(refusal.Body, "is assigned to a different interface") {
		t.Errorf("another interface's MAC address: %v", err)
	}
	old := newLab(t, "4.1.11")
	for _, made := range []struct {
		endpoint string
		body     Object
	}{
		{"virtualization/cluster-types", Object{"name": "Proxmox VE", "slug": "proxmox-ve"}},
		{"virtualization/clusters", Object{"name": "prod", "type": 1}},
		{"virtualization/virtual-machines", Object{"name": "app-01", "cluster": 1}},
		{"virtualization/interfaces", Object{"name": "eth0", "virtual_machine": 1, "mac_address": "bc:24:11:00:00:01"}},
	} {
		do(t, old, "mara", "POST", made.endpoint, made.body)
	}
	do(t, old, "mara", "PATCH", "virtualization/interfaces/1", Object{"mac_address": "BC:24:11:00:00:02"})
	if got, none := count(old, "virtualization/interfaces/?mac_address=bc:24:11:00:00:02"), count(old, "virtualization/interfaces/?mac_address=bc:24:11:00:00:01"); got != "1" || none != "0" {
		t.Errorf("before 4.2: %v, and %v", got, none)
	}
}

// TestLists tests pages and filters.
func TestLists(t *testing.T) {
	t.Parallel()
	lab := newLab(t, "")
	estate(t, lab)
	lab.Grant("weak", Permission{Models: []string{"virtualization.virtualmachine"}, Actions: []string{"view"}, Constraints: Object{"tenant__slug": "payments"}})
	for name, test := range map[string]struct {
		user, query string
		want        string
	}{
		"all":               {"mara", "", "2 <nil> app-01 db-01"},
		"page":              {"mara", "?limit=1", "2 http://example.com/api/virtualization/virtual-machines/?limit=1&offset=1 app-01"},
		"cursor":            {"mara", "?limit=1&start=0", "<nil> http://example.com/api/virtualization/virtual-machines/?limit=1&start=2 app-01"},
		"last":              {"mara", "?limit=1&offset=1", "2 <nil> db-01"},
		"half":              {"weak", "", "1 <nil> app-01"},
		"unknown filter":    {"mara", "?time__gte=9", "2 <nil> app-01 db-01"},
		"one underscore":    {"mara", "?last_updated_gte=2027-01-01T00:00:00Z", "2 <nil> app-01 db-01"},
		"two underscores":   {"mara", "?last_updated__gte=2027-01-01T00:00:00Z", "0 <nil>"},
		"tag":               {"mara", "?tag=web", "1 <nil> app-01"},
		"reference by slug": {"mara", "?tenant=platform", "1 <nil> db-01"},
		"reference by id":   {"mara", "?tenant_id=1", "1 <nil> app-01"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := do(t, lab, test.user, "GET", "virtualization/virtual-machines/"+test.query, nil)
			got := fmt.Sprint(list["count"], " ", list["next"])
			for _, row := range list["results"].([]any) {
				got += fmt.Sprint(" ", row.(Object)["name"])
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestHTTP tests headers, tokens and faults.
func TestHTTP(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		version, token string
		fault          Fault
		code           int
		says           string
	}{
		"token":         {"", "Token " + Token("mara"), Fault{}, 200, `"count":0`},
		"new token":     {"", "Bearer " + Bearer("mara"), Fault{}, 200, `"count":0`},
		"too new":       {"4.4.2", "Bearer " + Bearer("mara"), Fault{}, 403, "Invalid token"},
		"wrong token":   {"", "Token 0123", Fault{}, 403, `{"detail":"Invalid v1 token"}`},
		"no token":      {"", "", Fault{}, 403, `{"detail":"Authentication credentials were not provided."}`},
		"login page":    {"", "Token " + Token("mara"), Fault{Login: true}, 200, "Log In"},
		"proxy":         {"", "Token " + Token("mara"), Fault{Path: "/api/dcim/", Status: 502}, 502, "nginx"},
		"cut in half":   {"", "Token " + Token("mara"), Fault{Truncate: true}, 200, `"count"`},
		"slow":          {"", "Token " + Token("mara"), Fault{Delay: time.Millisecond}, 200, `"count":0`},
		"another place": {"", "Token " + Token("mara"), Fault{Path: "/api/ipam/", Status: 502}, 200, `"count":0`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lab := newLab(t, test.version)
			lab.AddUser("mara")
			lab.Break(test.fault)
			server := httptest.NewServer(lab)
			defer server.Close()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/dcim/sites/", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", test.token)
			answer, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(answer.Body)
			if closed := answer.Body.Close(); err != nil || closed != nil {
				t.Fatal(err, closed)
			}
			if answer.StatusCode != test.code || !strings.Contains(string(body), test.says) {
				t.Errorf("answer %d %s, want %d and %s", answer.StatusCode, body, test.code, test.says)
			}
			if seen := lab.Requests(); len(seen) != 1 || seen[0] != "GET /api/dcim/sites/" {
				t.Errorf("the lab saw %q", seen)
			}
		})
	}
}

// TestFill creates machines that are not in the changelog.
func TestFill(t *testing.T) {
	t.Parallel()
	lab := newLab(t, "")
	if err := lab.Fill(25); err != nil {
		t.Fatal(err)
	}
	vm := do(t, lab, "mara", "GET", "virtualization/virtual-machines/25", nil)
	if vm["primary_ip4"] == nil || lab.LastChange() != 0 {
		t.Errorf("made %v, with %d changes", vm, lab.LastChange())
	}
}

func BenchmarkFill20000(b *testing.B) {
	for b.Loop() {
		lab, err := New(Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := lab.Fill(20000); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		for offset := 0; offset < 20000; offset += 1000 {
			if _, err := lab.Do("admin", "GET", fmt.Sprintf("virtualization/virtual-machines/?limit=1000&offset=%d", offset), nil); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(time.Since(began).Seconds(), "s/read")
	}
}

// TestMoved moves a cluster and a location with the objects in them.
func TestMoved(t *testing.T) {
	t.Parallel()
	lab := newLab(t, "")
	estate(t, lab)
	for _, made := range []struct {
		endpoint string
		body     Object
	}{
		{"dcim/sites", Object{"name": "Berlin 1", "slug": "ber1"}},
		{"dcim/locations", Object{"name": "Hall", "slug": "hall", "site": 1}},
		{"dcim/locations", Object{"name": "Row", "slug": "row", "site": 1, "parent": 1}},
		{"dcim/racks", Object{"name": "R1", "site": 1, "location": 2}},
	} {
		do(t, lab, "mara", "POST", made.endpoint, made.body)
	}
	before := lab.LastChange()
	do(t, lab, "jonas", "PATCH", "virtualization/clusters/1", Object{"scope_type": "dcim.site", "scope_id": 2})
	do(t, lab, "jonas", "PATCH", "dcim/locations/1", Object{"site": 2})
	if d := cmp.Diff([]string{"jonas update virtualization.cluster prod", "jonas update dcim.location Hall"}, changesOf(t, lab, before)); d != "" {
		t.Errorf("rows of what was moved alone (-want +got):\n%s", d)
	}
	for _, path := range []string{"virtualization/virtual-machines/1", "dcim/locations/2", "dcim/racks/1"} {
		if site := do(t, lab, "mara", "GET", path, nil)["site"].(Object)["slug"]; site != "ber1" {
			t.Errorf("%s lies in %v", path, site)
		}
	}
}
