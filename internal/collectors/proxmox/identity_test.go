package proxmox

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/model"
)

func TestIdentities(t *testing.T) {
	t.Parallel()
	server := lab()
	server.Edit(func(c *pvetest.Cluster) {
		c.Guests = append(c.Guests,
			pvetest.Guest{ID: 601, Kind: "qemu", Node: "pve1", Status: "running", Config: pvetest.Row{
				"name": "Mail.Example.ORG", "smbios1": "base64=1,serial=U04x,uuid=5A1F1F60-8A3B-4F9D-9E0A-5F2C9F6E1A11",
				"net0": "virtio=bc:24:11:00:06:01,bridge=vmbr0", "net1": "bridge=vmbr1,model=e1000,macaddr=BC:24:11:00:06:02",
				"net2": "virtio=bc:24:11:00:06:01,bridge=vmbr2", "nameserver": "192.0.2.53"},
				Pending: pvetest.Row{"net1": "e1000=BC:24:11:00:06:03,bridge=vmbr1"}},
			pvetest.Guest{ID: 602, Kind: "qemu", Node: "pve1", Config: pvetest.Row{"cores": 1, "smbios1": "serial=x"}})
	})
	s := collect(t, server)
	for _, tc := range []struct {
		reason, kind, id string
		want             []model.Identity
	}{
		{"a machine", "qemu", "401", []model.Identity{{By: "vmid", Value: "401"}, {By: "uuid", Value: "9f2d1c60-0000-4000-8000-000000000401"},
			{By: "mac", Value: "BC:24:11:5A:04:01"}, {By: "name", Value: "front"}}},
		{"a container", "lxc", "410", []model.Identity{{By: "vmid", Value: "410"}, {By: "mac", Value: "BC:24:11:5A:04:10"}, {By: "name", Value: "resolve"}}},
		{"mixed case, a duplicate address, a pending device", "qemu", "601", []model.Identity{{By: "vmid", Value: "601"},
			{By: "uuid", Value: "5a1f1f60-8a3b-4f9d-9e0a-5f2c9f6e1a11"}, {By: "mac", Value: "BC:24:11:00:06:01"}, {By: "mac", Value: "BC:24:11:00:06:03"},
			{By: "mac", Value: "BC:24:11:00:06:02"}, {By: "name", Value: "mail.example.org"}}},
		{"only an id", "qemu", "602", []model.Identity{{By: "vmid", Value: "602"}}},
		{"not a guest", "storage", "fast", nil},
	} {
		if diff := cmp.Diff(tc.want, must(t, &s, tc.kind, tc.id).Identities); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}

func TestIdentitiesOfUnreadGuests(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		edit   func(*pvetest.Server)
	}{
		{"its node is down", func(s *pvetest.Server) { s.Edit(func(c *pvetest.Cluster) { c.Nodes[1].Offline = true }) }},
		{"its node hangs", func(s *pvetest.Server) { s.Break("/nodes/pve2/", pvetest.NodeHangs()) }},
		{"its configuration is malformed", func(s *pvetest.Server) { s.Break("/nodes/pve2/qemu/402/pending", faults.LoginPage()) }},
	} {
		server := lab()
		server.Edit(func(c *pvetest.Cluster) { c.Guest(402).Config["name"] = "Store" })
		tc.edit(server)
		s := collect(t, server)
		i := slices.IndexFunc(s.Unread, func(u model.Unread) bool { return u.Kind == "proxmox/qemu" && u.ID == "402" })
		if i < 0 {
			t.Fatalf("%s: it is not reported as unread", tc.reason)
		}
		want := []model.Identity{{By: "vmid", Value: "402"}, {By: "name", Value: "store"}}
		if diff := cmp.Diff(want, s.Unread[i].Identities); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}
