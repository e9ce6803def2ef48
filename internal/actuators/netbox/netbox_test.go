package netbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/netboxapi"
	"github.com/driftd/driftd/internal/reconcile"
)

// row is an object of the stand-in, as its API returns it.
type row = map[string]any

// A standIn is a part of a NetBox: objects that are read and changed one by one.
type standIn struct {
	mu sync.Mutex
	// version is that of the API: entity tags exist since 4.6.
	version string
	objects map[string]row
	// patched are the bodies of the requests that changed something.
	patched []row
	// refuses answers a PATCH with a status; 0 for none. proxied makes that the answer of a proxy. loses ends the connection after it, and rewrites also changes a
	// field.
	refuses  int
	proxied  bool
	loses    bool
	rewrites string
}

func newStandIn() *standIn {
	choice := func(v string) row { return row{"value": v, "label": strings.ToUpper(v)} }
	vm := row{"id": 6, "name": "web"}
	return &standIn{version: "4.6", objects: map[string]row{
		"virtualization/virtual-machines/6": {"id": 6, "name": "web", "status": choice("active"), "vcpus": 2.0, "memory": 2048, "disk": 20480, "device": row{"id": 1, "name": "pve1"},
			"primary_ip4": row{"id": 5, "address": "192.0.2.1/24"}, "created": "2026-11-20T06:25:35Z", "last_updated": "1"},
		"ipam/ip-addresses/5": {"id": 5, "address": "192.0.2.1/24", "assigned_object_type": "virtualization.vminterface",
			"assigned_object": row{"id": 3, "virtual_machine": vm}, "last_updated": "1"},
		"virtualization/virtual-disks/1": {"id": 1, "name": "root", "size": 20480, "virtual_machine": vm, "last_updated": "1"},
		"virtualization/virtual-disks/2": {"id": 2, "name": "data", "size": 10240, "virtual_machine": vm, "last_updated": "1"},
		"virtualization/interfaces/3": {"id": 3, "name": "eth0", "enabled": true, "virtual_machine": vm, "last_updated": "1",
			"mac_address": "BC:24:11:00:00:01", "primary_mac_address": row{"id": 7}, "mac_addresses": []row{{"id": 7}}},
		"dcim/mac-addresses/7": {"id": 7, "mac_address": "BC:24:11:00:00:01", "assigned_object_type": "virtualization.vminterface", "assigned_object_id": 3, "last_updated": "1"},
	}}
}

// ServeHTTP implements http.Handler.
func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := strings.Trim(strings.TrimPrefix(r.URL.Path, "/api/"), "/")
	w.Header().Set("API-Version", s.version)
	w.Header().Set("Content-Type", "application/json")
	if o, ok := s.objects[at]; ok {
		s.object(w, r, o)
		return
	}
	if strings.Count(at, "/") > 1 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	results := []row{}
	host, mac := r.URL.Query().Get("address"), r.URL.Query().Get("mac_address")
	for path, o := range s.objects {
		if strings.HasPrefix(path, at+"/") && (host == "" || strings.HasPrefix(fmt.Sprint(o["address"]), host+"/")) && (mac == "" || strings.EqualFold(fmt.Sprint(o["mac_address"]), mac)) {
			results = append(results, o)
		}
	}
	answer(w, row{"count": len(results), "results": results})
}

func (s *standIn) object(w http.ResponseWriter, r *http.Request, o row) {
	tag := fmt.Sprintf("%q", o["last_updated"])
	match := r.Header.Get("If-Match")
	switch {
	case r.Method != http.MethodPatch:
	case s.version == "4.6" && match != "" && match != tag:
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	case s.refuses > 0:
		if s.proxied {
			w.Header().Del("API-Version")
		}
		w.WriteHeader(s.refuses)
		_, _ = w.Write([]byte(`{"detail": "You do not have permission to perform this action."}`))
		return
	default:
		s.patch(r, o)
	}
	if s.loses && r.Method == http.MethodPatch {
		panic(http.ErrAbortHandler)
	}
	if s.version == "4.6" {
		w.Header().Set("ETag", fmt.Sprintf("%q", o["last_updated"]))
	}
	answer(w, o)
}

func answer(w http.ResponseWriter, o row) {
	if err := json.NewEncoder(w).Encode(o); err != nil {
		panic(err)
	}
}

func (s *standIn) patch(r *http.Request, o row) {
	var body row
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		panic(err)
	}
	s.patched = append(s.patched, maps.Clone(body))
	delete(body, "changelog_message")
	if status, ok := body["status"].(string); ok {
		body["status"] = row{"value": status, "label": strings.ToUpper(status)}
	}
	maps.Copy(o, body)
	if id, ok := body["primary_mac_address"]; ok {
		mac := s.objects[fmt.Sprintf("dcim/mac-addresses/%v", id)]
		o["primary_mac_address"], o["mac_address"] = row{"id": id}, mac["mac_address"]
	}
	o["last_updated"] = fmt.Sprint(o["last_updated"], "+")
	if s.rewrites != "" {
		o[s.rewrites] = "by a plugin"
	}
}

// A bench is a stand-in with an actuator for it.
type bench struct {
	*standIn

	t *testing.T
	a *Actuator
	// again is what reading the live resource again returns.
	again error
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{standIn: newStandIn(), t: t}
	server := httptest.NewServer(b.standIn)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("0f8e\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := New(Options{Access: netboxapi.Access{URL: server.URL, TokenFile: file}})
	if err != nil {
		t.Fatal(err)
	}
	b.a = a
	return b
}

// A mirror is a lens that shows a resource as it is.
type mirror struct{ model.Lens }

// View implements model.Lens.
func (mirror) View(live model.Value) model.Value { return live }

func parse(t *testing.T, text string) model.Value {
	t.Helper()
	v, err := decode.JSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// plan plans to write the live values of some paths into the machine.
func (b *bench) plan(declared, live string, paths ...string) (reconcile.Change, error) {
	b.t.Helper()
	f := &model.Finding{ID: "f1", Verdict: model.Changed, Declaration: "netbox", Address: "virtual-machines/6"}
	for _, p := range paths {
		f.Changes = append(f.Changes, model.Change{Path: p})
	}
	return b.a.Plan(b.t.Context(), reconcile.Subject{Finding: f, Lens: mirror{}, Written: parse(b.t, declared), Live: parse(b.t, live),
		Note: "driftd: finding f1, approved by alice", Again: func(context.Context, []reconcile.Covered) error { return b.again }})
}

const (
	declaredVM = `{"name": "web", "status": "active", "vcpus": 2, "memory": 2048, "disk": 20480, "device": "pve1",
		"disks": [{"name": "root", "size": 20480}, {"name": "data", "size": 10240}], "interfaces": [{"name": "eth0", "mac": "BC:24:11:00:00:01", "enabled": true}], "primary_ip4": "192.0.2.1/24"}`
	liveVM = `{"name": "www", "status": "offline", "vcpus": 4, "memory": 4096, "disk": 30720, "device": "pve2",
		"disks": [{"name": "root", "size": 30720}, {"name": "data", "size": 20480}], "interfaces": [{"name": "eth0", "mac": "BC:24:11:00:00:09", "enabled": false}], "primary_ip4": "192.0.2.9/24"}`
)

// TestWrites writes each field, and compares the requests.
func TestWrites(t *testing.T) {
	t.Parallel()
	const note = `"changelog_message":"driftd: finding f1, approved by alice"`
	for path, want := range map[string]string{
		"memory":                        `{` + note + `,"memory":4096}`,
		"vcpus":                         `{` + note + `,"vcpus":4}`,
		"disk":                          `{` + note + `,"disk":30720}`,
		"name":                          `{` + note + `,"name":"www"}`,
		"status":                        `{` + note + `,"status":"offline"}`,
		"device":                        `{` + note + `,"device":{"name":"pve2"}}`,
		"primary_ip4":                   `{"address":"192.0.2.9/24",` + note + `}`,
		"disks[name=root].size":         `{` + note + `,"size":30720}`,
		"interfaces[name=eth0].enabled": `{` + note + `,"enabled":false}`,
		"interfaces[name=eth0].mac":     `{` + note + `,"mac_address":"BC:24:11:00:00:09"}`,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c, err := b.plan(declaredVM, liveVM, path)
			if err != nil {
				t.Fatal(err)
			}
			p := c.Plan()
			if !p.Records || len(p.Changes) != 1 || p.Changes[0].Path != path || p.System != "virtual-machines/6" {
				t.Errorf("the plan is %+v", p)
			}
			b.expect(p, reconcile.AsBefore)
			if receipt, err := c.Write(t.Context()); err != nil || receipt.Unexpected != nil {
				t.Fatal(receipt, err)
			}
			b.expect(p, reconcile.AsWanted)
			if got, _ := json.Marshal(b.patched); string(got) != "["+want+"]" {
				t.Errorf("the requests are %s, want %s", got, want)
			}
		})
	}
}

func (b *bench) expect(p reconcile.Plan, want reconcile.Inspection) {
	b.t.Helper()
	if got, err := b.a.Inspect(b.t.Context(), model.Key{}, p); got != want || err != nil {
		b.t.Errorf("Inspect() = %s, %v, want %s", got, err, want)
	}
}

// TestSeveral writes fields of several objects, one object after the other.
func TestSeveral(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, err := b.plan(declaredVM, liveVM, "vcpus", "memory", "disks[name=root].size", "disks[name=data].size")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.expect(c.Plan(), reconcile.AsWanted)
	if len(b.patched) != 3 {
		t.Errorf("the requests are %v, want one for each object", b.patched)
	}
}

// TestRefuses plans what is not written.
func TestRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, declared, live, path string
		change                       func(*bench)
		guard, want                  string
	}{
		{"tags", declaredVM, liveVM, "tags", nil, guardKind, "tags: driftd writes name"},
		{"several addresses", declaredVM, strings.Replace(liveVM, "192.0.2.9/24", "192.0.2.8, 192.0.2.9", 1), "primary_ip4", nil, guardKind, "is not one address with its prefix length"},
		{"an address of another network, without its prefix length", declaredVM, strings.Replace(liveVM, "192.0.2.9/24", "198.51.100.9", 1), "primary_ip4", nil, guardKind, "is not one address"},
		{"an address that NetBox has", declaredVM, liveVM, "primary_ip4", func(b *bench) { b.objects["ipam/ip-addresses/9"] = row{"id": 9, "address": "192.0.2.9/24"} }, guardKind, "NetBox has 192.0.2.9 already: look at ipam/ip-addresses/9"},
		{"a translated address", declaredVM, liveVM, "primary_ip4", func(b *bench) { b.objects["ipam/ip-addresses/5"]["nat_inside"] = row{"id": 7} }, guardKind, "is a translated one"},
		{"an address of another machine", declaredVM, liveVM, "primary_ip4", func(b *bench) {
			b.objects["ipam/ip-addresses/5"]["assigned_object"] = row{"virtual_machine": row{"id": 7}}
		}, guardKind, "belongs to no interface of the machine"},
		{"no address any more", declaredVM, liveVM, "primary_ip4", func(b *bench) { b.objects["virtualization/virtual-machines/6"]["primary_ip4"] = nil }, guardStillSo, "NetBox has no primary_ip4"},
		{"a disk as a whole", declaredVM, liveVM, "disks[name=root]", nil, guardKind, "driftd writes"},
		{"a disk that NetBox does not have", declaredVM, liveVM, "disks[name=swap].size", nil, guardKind, "0 objects"},
		{"an edit in NetBox", declaredVM, liveVM, "memory", func(b *bench) { b.objects["virtualization/virtual-machines/6"]["memory"] = 3072 }, guardStillSo, "changed in NetBox"},
		{"a machine that NetBox deleted", declaredVM, liveVM, "memory", func(b *bench) { delete(b.objects, "virtualization/virtual-machines/6") }, guardStillSo, "no more"},
		{"nothing live", declaredVM, `{"name": "web"}`, "memory", nil, guardKind, "does not have it"},
		{"the same", declaredVM, declaredVM, "memory", nil, guardStillSo, "as the live resource"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if tc.change != nil {
				tc.change(b)
			}
			_, err := b.plan(tc.declared, tc.live, tc.path)
			if r := (*reconcile.Refusal)(nil); !errors.As(err, &r) || r.Guard != tc.guard || !strings.Contains(r.Why, tc.want) {
				t.Errorf("%v, want a refusal of %s with %q", err, tc.guard, tc.want)
			}
		})
	}
}

// TestNotWritten lists writes after which nothing has changed.
func TestNotWritten(t *testing.T) {
	t.Parallel()
	edit := func(b *bench) {
		o := b.objects["virtualization/virtual-machines/6"]
		o["memory"], o["last_updated"] = 3072, "2"
	}
	for reason, tc := range map[string]struct {
		version string
		change  func(*bench)
		want    string
	}{
		"another edit":                       {"4.6", edit, "look again"},
		"another edit, without entity tags":  {"4.3", edit, "look again"},
		"a token that only reads":            {"4.6", func(b *bench) { b.refuses = http.StatusForbidden }, "enable writing for it"},
		"a value that NetBox does not take":  {"4.6", func(b *bench) { b.refuses = http.StatusBadRequest }, "does not take the value"},
		"a machine that was deleted":         {"4.6", func(b *bench) { delete(b.objects, "virtualization/virtual-machines/6") }, "404"},
		"the live resource changed in a way": {"4.6", func(b *bench) { b.again = &reconcile.Refusal{Guard: guardStillSo, Why: "look again"} }, "look again"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.version = tc.version
			c, err := b.plan(declaredVM, liveVM, "memory")
			if err != nil {
				t.Fatal(err)
			}
			tc.change(b)
			_, err = c.Write(t.Context())
			not, refusal := (*reconcile.NotWrittenError)(nil), (*reconcile.Refusal)(nil)
			if !errors.As(err, &not) && !errors.As(err, &refusal) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Write() = %v, want %q", err, tc.want)
			}
			if len(b.patched) > 0 {
				t.Errorf("the requests are %v", b.patched)
			}
		})
	}
}

// TestUnexpected lists writes that changed more, or a part.
func TestUnexpected(t *testing.T) {
	t.Parallel()
	t.Run("a plugin", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.rewrites = "description"
		c, err := b.plan(declaredVM, liveVM, "memory")
		if err != nil {
			t.Fatal(err)
		}
		receipt, err := c.Write(t.Context())
		if err != nil || fmt.Sprint(receipt.Unexpected) != "[virtualization/virtual-machines/6/ description]" {
			t.Errorf("%v, %v", receipt, err)
		}
	})
	t.Run("the second object", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		c, err := b.plan(declaredVM, liveVM, "disks[name=root].size", "memory")
		if err != nil {
			t.Fatal(err)
		}
		b.objects["virtualization/virtual-machines/6"]["last_updated"] = "2"
		receipt, err := c.Write(t.Context())
		if err != nil || len(receipt.Unexpected) != 1 || !strings.Contains(receipt.Unexpected[0], "what was changed before is left") || len(b.patched) != 1 {
			t.Errorf("%v, %v: %v", receipt, err, b.patched)
		}
		b.expect(c.Plan(), reconcile.AsOther)
	})
	t.Run("a refusal of a proxy", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.refuses, b.proxied = http.StatusForbidden, true
		c, err := b.plan(declaredVM, liveVM, "memory")
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Write(t.Context())
		if not := (*reconcile.NotWrittenError)(nil); err == nil || errors.As(err, &not) {
			t.Errorf("Write() = %v", err)
		}
		b.expect(c.Plan(), reconcile.AsBefore)
	})
	t.Run("an answer that is lost", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.loses = true
		c, err := b.plan(declaredVM, liveVM, "memory")
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Write(t.Context())
		if not := (*reconcile.NotWrittenError)(nil); err == nil || errors.As(err, &not) || httpclient.Code(err) != 0 {
			t.Errorf("Write() = %v", err)
		}
		b.expect(c.Plan(), reconcile.AsWanted)
	})
}

// TestOtherMachine checks that another machine with the same number is not taken for the one that was written.
func TestOtherMachine(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, err := b.plan(declaredVM, liveVM, "memory")
	if err != nil {
		t.Fatal(err)
	}
	b.objects["virtualization/virtual-machines/6"]["created"] = "2026-11-27T00:00:00Z"
	b.expect(c.Plan(), reconcile.AsOther)
}

// TestOneNextStep checks that an error has the server and the next step once.
func TestOneNextStep(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if err := os.Remove(b.a.options.Access.TokenFile); err != nil {
		t.Fatal(err)
	}
	if _, err := b.plan(declaredVM, liveVM, "memory"); err == nil || strings.Count(err.Error(), "correct the path") != 1 {
		t.Errorf("Plan() = %v", err)
	}
	if _, err := b.a.Inspect(t.Context(), model.Key{}, reconcile.Plan{System: "virtual-machines/6"}); err == nil || strings.Count(err.Error(), "correct the path") != 1 {
		t.Errorf("Inspect() = %v", err)
	}
}

// TestNoToken checks that an actuator needs a token.
func TestNoToken(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{}); err == nil || !strings.Contains(err.Error(), "token_file is missing") {
		t.Errorf("New() = %v", err)
	}
}
