package netbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

const (
	macPath = "interfaces[name=eth0].mac"
	nicAt   = "virtualization/interfaces/3"
	macAt   = "dcim/mac-addresses/7"
	newMAC  = "BC:24:11:00:00:09"
)

// before42 gives the stand-in the API of a NetBox in which a MAC address is a field of an interface.
func before42(b *bench) {
	b.version = "4.1"
	delete(b.objects, macAt)
	delete(b.objects[nicAt], "primary_mac_address")
	delete(b.objects[nicAt], "mac_addresses")
}

// addMAC adds a MAC address that is assigned to an interface; to none if that is 0.
func addMAC(b *bench, id int, mac string, nic int) {
	o := row{"id": id, "mac_address": mac, "assigned_object_type": nil, "assigned_object_id": nil, "last_updated": "1"}
	if nic != 0 {
		o["assigned_object_type"], o["assigned_object_id"] = vmInterface, nic
	}
	b.objects[fmt.Sprint(macsPath, id)] = o
}

// TestWritesMAC writes the MAC address of an interface into the object that has it.
func TestWritesMAC(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		change func(*bench)
		want   string
		at     string
	}{
		{"the primary MAC address", func(*bench) {}, `{"mac_address":"BC:24:11:00:00:09"}`, macAt},
		{"the primary one of several", func(b *bench) {
			addMAC(b, 8, "BC:24:11:00:00:08", 3)
			b.objects[nicAt]["mac_addresses"] = []row{{"id": 8}, {"id": 7}}
		}, `{"mac_address":"BC:24:11:00:00:09"}`, macAt},
		{"the only one, which is not primary", func(b *bench) {
			b.objects[nicAt]["primary_mac_address"], b.objects[nicAt]["mac_address"] = nil, nil
		}, `{"mac_address":"BC:24:11:00:00:09"}`, macAt},
		{"in lower case", func(b *bench) { b.objects[macAt]["mac_address"] = "bc-24-11-00-00-01" }, `{"mac_address":"BC:24:11:00:00:09"}`, macAt},
		{"before 4.2", before42, `{"mac_address":"BC:24:11:00:00:09"}`, nicAt},
		{"another one of the interface becomes the primary one", func(b *bench) {
			addMAC(b, 9, strings.ToLower(newMAC), 3)
			b.objects[nicAt]["mac_addresses"] = []row{{"id": 7}, {"id": 9}}
		}, `{"primary_mac_address":9}`, nicAt},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			tc.change(b)
			c, err := b.plan(declaredVM, liveVM, macPath)
			if err != nil {
				t.Fatal(err)
			}
			p := c.Plan()
			if p.Person == "" || p.Changes[0].Path != macPath || p.Changes[0].Old.Str() != "BC:24:11:00:00:01" || p.Changes[0].New.Str() != newMAC {
				t.Errorf("the plan is %+v", p)
			}
			b.expect(p, reconcile.AsBefore)
			if receipt, err := c.Write(t.Context()); err != nil || receipt.Unexpected != nil {
				t.Fatal(receipt, err)
			}
			b.expect(p, reconcile.AsWanted)
			for i := range b.patched {
				delete(b.patched[i], "changelog_message")
			}
			if got, _ := json.Marshal(b.patched); string(got) != "["+tc.want+"]" || b.objects[tc.at]["last_updated"] != "1+" {
				t.Errorf("the requests are %s, want %s of %s", got, tc.want, tc.at)
			}
		})
	}
}

// TestRefusesMAC plans MAC addresses that are not written.
func TestRefusesMAC(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason      string
		change      func(*bench)
		guard, want string
	}{
		{"assigned to another interface", func(b *bench) { b.objects[macAt]["assigned_object_id"] = 4 }, guardKind, "BC:24:11:00:00:01 is not assigned to interface eth0: assign it at dcim/mac-addresses/7"},
		{"assigned to an interface of a device", func(b *bench) { b.objects[macAt]["assigned_object_type"] = "dcim.interface" }, guardKind, "is not assigned to interface eth0"},
		{"assigned to none", func(b *bench) {
			b.objects[macAt]["assigned_object_type"], b.objects[macAt]["assigned_object_id"] = nil, nil
		}, guardKind, "is not assigned to interface eth0"},
		{"none", func(b *bench) {
			b.objects[nicAt]["primary_mac_address"], b.objects[nicAt]["mac_addresses"] = nil, []row{}
		}, guardKind, "has 0 MAC addresses in NetBox, and none is its primary one: set that at virtualization/interfaces/3/"},
		{"several, and none is primary", func(b *bench) {
			b.objects[nicAt]["primary_mac_address"], b.objects[nicAt]["mac_addresses"] = nil, []row{{"id": 7}, {"id": 8}}
		}, guardKind, "has 2 MAC addresses in NetBox"},
		{"the new one is assigned to none", func(b *bench) { addMAC(b, 9, newMAC, 0) }, guardKind, "NetBox has BC:24:11:00:00:09 already: look at dcim/mac-addresses/9, and remove"},
		{"the new one is assigned to another interface", func(b *bench) { addMAC(b, 9, newMAC, 4) }, guardKind, "NetBox has BC:24:11:00:00:09 already"},
		{"the new one is there twice", func(b *bench) {
			addMAC(b, 8, newMAC, 3)
			addMAC(b, 9, newMAC, 3)
		}, guardKind, "NetBox has BC:24:11:00:00:09 already"},
		{"the new one is that of another interface, before 4.2", func(b *bench) {
			before42(b)
			b.objects["virtualization/interfaces/4"] = row{"id": 4, "name": "eth0", "mac_address": newMAC, "virtual_machine": row{"id": 7}}
		}, guardKind, "look at virtualization/interfaces/4"},
		{"edited", func(b *bench) { b.objects[macAt]["mac_address"] = "BC:24:11:00:00:0A" }, guardStillSo, "changed in NetBox since it was read"},
		{"another one is the primary one", func(b *bench) {
			addMAC(b, 8, "BC:24:11:00:00:08", 3)
			b.objects[nicAt]["primary_mac_address"] = row{"id": 8}
		}, guardStillSo, "changed in NetBox since it was read"},
		{"no interface any more", func(b *bench) { delete(b.objects, nicAt) }, guardKind, `0 objects "eth0"`},
		{"an interface of another machine", func(b *bench) { b.objects[nicAt]["virtual_machine"] = row{"id": 7} }, guardKind, `0 objects "eth0"`},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			tc.change(b)
			_, err := b.plan(declaredVM, liveVM, macPath)
			if r := (*reconcile.Refusal)(nil); !errors.As(err, &r) || r.Guard != tc.guard || !strings.Contains(r.Why, tc.want) {
				t.Errorf("%v, want a refusal of %s with %q", err, tc.guard, tc.want)
			}
		})
	}
}

// TestUnreadMAC has a token that does not see the MAC address: that is no refusal, and not another MAC address.
func TestUnreadMAC(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, err := b.plan(declaredVM, liveVM, macPath)
	if err != nil {
		t.Fatal(err)
	}
	delete(b.objects, macAt)
	_, err = b.plan(declaredVM, liveVM, macPath)
	if r := (*reconcile.Refusal)(nil); err == nil || errors.As(err, &r) || !strings.Contains(err.Error(), "give the token the permission to view") {
		t.Errorf("Plan() = %v", err)
	}
	if got, err := b.a.Inspect(t.Context(), model.Key{}, c.Plan()); err == nil {
		t.Errorf("Inspect() = %s", got)
	}
}

// TestMACNotWritten lists writes after which nothing has changed.
func TestMACNotWritten(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, version string
		change          func(*bench)
		want            string
	}{
		{"another edit", "4.6", func(b *bench) { b.objects[macAt]["last_updated"] = "2" }, "look again"},
		{"another edit, without entity tags", "4.3", func(b *bench) { b.objects[macAt]["last_updated"] = "2" }, "look again"},
		{"another primary MAC address", "4.6", func(b *bench) { b.objects[nicAt]["last_updated"] = "2" }, "look again"},
		{"a token that only reads", "4.6", func(b *bench) { b.refuses = http.StatusForbidden }, "the permission to change mac addresses"},
		{"an interface that is gone", "4.6", func(b *bench) { delete(b.objects, nicAt) }, "404 Not Found; look again"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.version = tc.version
			c, err := b.plan(declaredVM, liveVM, macPath)
			if err != nil {
				t.Fatal(err)
			}
			tc.change(b)
			_, err = c.Write(t.Context())
			if not := (*reconcile.NotWrittenError)(nil); !errors.As(err, &not) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Write() = %v, want %q", err, tc.want)
			}
			if len(b.patched) > 0 {
				t.Errorf("the requests are %v", b.patched)
			}
		})
	}
}

// TestMACWithOthers writes the MAC address of an interface together with other fields of the interface and the machine.
func TestMACWithOthers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		change func(*bench)
		want   int
	}{
		{"objects of their own", func(*bench) {}, 4},
		{"the interface gets another primary MAC address", func(b *bench) { addMAC(b, 9, newMAC, 3) }, 3},
		{"before 4.2", before42, 3},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			tc.change(b)
			c, err := b.plan(declaredVM, liveVM, macPath, "interfaces[name=eth0].enabled", "memory", "primary_ip4")
			if err != nil {
				t.Fatal(err)
			}
			b.expect(c.Plan(), reconcile.AsBefore)
			if receipt, err := c.Write(t.Context()); err != nil || receipt.Unexpected != nil {
				t.Fatal(receipt, err)
			}
			b.expect(c.Plan(), reconcile.AsWanted)
			if len(b.patched) != tc.want {
				t.Errorf("the requests are %v, want %d", b.patched, tc.want)
			}
		})
	}
}

// TestRewrittenMAC has a plugin that changes the MAC address that was written, or another field.
func TestRewrittenMAC(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rewrites = "description"
	c, err := b.plan(declaredVM, liveVM, macPath)
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := c.Write(t.Context())
	if err != nil || len(receipt.Unexpected) != 1 || receipt.Unexpected[0] != macAt+"/ description" {
		t.Errorf("%v, %v", receipt, err)
	}
	b.objects[macAt]["mac_address"] = "BC:24:11:00:00:0B"
	b.expect(c.Plan(), reconcile.AsOther)
}
