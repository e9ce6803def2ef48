package proxmox

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/model"
)

// startTicking advances the server's clock by a second for each log entry.
func startTicking(server *pvetest.Server) {
	at := testNow().Add(-time.Hour)
	server.Now = func() time.Time { at = at.Add(time.Second); return at }
}

func TestCloneEvents(t *testing.T) {
	t.Parallel()
	type clone struct {
		id   int
		user string
	}
	for _, tc := range []struct {
		reason string
		clones []clone
		edit   func(*pvetest.Server)
		want   map[string]string
		timed  bool
	}{
		{"one clone", []clone{{501, "dana@pve"}}, func(*pvetest.Server) {}, map[string]string{"501": "dana@pve"}, true},
		{"several clones by one user", []clone{{501, "dana@pve"}, {502, "dana@pve"}}, func(*pvetest.Server) {}, map[string]string{"501": "dana@pve", "502": "dana@pve"}, false},
		{"several clones by two users", []clone{{501, "dana@pve"}, {502, "erik@pve"}}, func(*pvetest.Server) {}, map[string]string{}, false},
		{"a deleted clone", []clone{{501, "dana@pve"}, {502, "dana@pve"}}, func(s *pvetest.Server) { s.Destroy(501, "erik@pve") }, map[string]string{"502": "dana@pve"}, false},
		{"another guest with the same creation time", []clone{{501, "dana@pve"}}, func(s *pvetest.Server) {
			s.Edit(func(c *pvetest.Cluster) { c.Guest(402).Config["meta"] = "ctime=1770000000" })
		}, map[string]string{}, false},
		{"another guest with a creation task", []clone{{501, "dana@pve"}}, func(s *pvetest.Server) {
			s.Create(pvetest.Guest{ID: 503, Kind: "qemu", Node: "pve1", Config: pvetest.Row{"name": "x", "meta": "ctime=1770000000"}}, "erik@pve")
		}, map[string]string{"501": "dana@pve", "503": "erik@pve"}, true},
		{"a deleted source", []clone{{501, "dana@pve"}}, func(s *pvetest.Server) { s.Edit(func(c *pvetest.Cluster) { c.RemoveGuest(401) }) }, map[string]string{}, false},
		{"no creation time", []clone{{501, "dana@pve"}}, func(s *pvetest.Server) {
			s.Edit(func(c *pvetest.Cluster) { delete(c.Guest(401).Config, "meta"); delete(c.Guest(501).Config, "meta") })
		}, map[string]string{}, false},
	} {
		server := lab()
		startTicking(server)
		for _, c := range tc.clones {
			server.Clone(401, c.id, "copy", c.user)
		}
		tc.edit(server)
		s := collect(t, server)
		got := map[string]string{}
		for _, tr := range s.AuditEvents {
			if tr.Kind != "proxmox/qemu" || tr.Action != model.Created {
				continue
			}
			got[tr.ID] = tr.Actor.Name
			if tr.ID != "503" && (tr.Actor.Confidence != model.Likely || tr.Actor.At.IsZero() == tc.timed || !strings.Contains(tr.Actor.Evidence, ":qmclone:401:")) {
				t.Errorf("%s: %+v", tc.reason, tr.Actor)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}

func TestDeletedWithGuests(t *testing.T) {
	t.Parallel()
	server := lab()
	startTicking(server)
	server.Destroy(411, "dana@pve")
	server.Destroy(402, "dana@pve")
	server.Create(pvetest.Guest{ID: 402, Kind: "qemu", Node: "pve2", Config: pvetest.Row{"name": "store"}}, "erik@pve")
	s := collect(t, server)
	var got []string
	for _, tr := range s.AuditEvents {
		if tr.Action == model.Deleted {
			got = append(got, strings.TrimPrefix(tr.Kind, "proxmox/")+" "+tr.ID)
		}
	}
	want := []string{"firewall_options lxc/411", "firewall_rules lxc/411", "ha_resource ct:411", "lxc 411",
		"pool_member shop/test/vm/411", "pool_member shop/vm/411", "qemu 402"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deletions; 402 exists again (-want +got):\n%s", diff)
	}
}

func TestDeletedWithGuestsIsBounded(t *testing.T) {
	t.Parallel()
	sc := &scan{}
	for _, pool := range []string{"a", "b"} {
		sc.resources = append(sc.resources, model.Resource{Key: model.Key{Kind: "proxmox/pool", ID: pool}})
	}
	var entries []logEntry
	for i := range 2 * maxDeletedWithGuests {
		e := logEntry{id: string(rune('0' + i))}
		e.Ref, e.Action, e.Actor = ref("proxmox/qemu", e.id), model.Deleted, model.Actor{Name: "x", At: testNow().Add(time.Duration(i) * time.Second)}
		entries = append(entries, e)
	}
	events := sc.deletedWithGuests(entries)
	newest := entries[len(entries)-1].id
	if len(events) > maxDeletedWithGuests+5 || !slices.ContainsFunc(events, func(e logEntry) bool { return e.id == newest }) {
		t.Errorf("%d entries, want about %d with the newest", len(events), maxDeletedWithGuests)
	}
}
