package proxmox

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/model"
)

func TestLabIsFullyCovered(t *testing.T) {
	t.Parallel()
	s := collect(t, lab())
	for _, c := range failed(&s) {
		t.Errorf("%s %q is not covered: %s", c.Kind, c.Place, c.Reason)
	}
	if len(s.Unread) > 0 || s.Version != "9.2.11" {
		t.Errorf("version %s, unread %v", s.Version, s.Unread)
	}
	for kind := range s.Kinds {
		covered, reason := s.Covers(kind, "")
		if !covered && reason == "not read" {
			t.Errorf("%s has no coverage", kind)
		}
	}
}

func TestGuests(t *testing.T) {
	t.Parallel()
	server := lab()
	s := collect(t, server)
	for _, tc := range []struct {
		reason, kind, id, name, place string
		want                          map[string]string
	}{
		{"a pending change", "qemu", "401", "front", "pve1", map[string]string{"memory": "8192", "status": "running", "pool": "shop", "node": "pve1", "template": "false"}},
		{"a second guest with the same name", "qemu", "403", "front", "pve3", map[string]string{"cores": "1", "pool": "", "lock": ""}},
		{"a template", "qemu", "490", "golden", "pve1", map[string]string{"template": "true", "status": "stopped"}},
		{"a container", "lxc", "410", "resolve", "pve2", map[string]string{"memory": "512", "description": "answers names"}},
	} {
		r := must(t, &s, tc.kind, tc.id)
		if r.Name != tc.name || r.Place != tc.place {
			t.Errorf("%s: %s in %s, want %s in %s", tc.reason, r.Name, r.Place, tc.name, tc.place)
		}
		for field, want := range tc.want {
			if got := r.Value.At(field).Text(); got != want {
				t.Errorf("%s: %s = %q, want %q", tc.reason, field, got, want)
			}
		}
	}
	waiting := must(t, &s, "qemu", "401")
	if diff := cmp.Diff([]model.Field{{Name: "memory", Value: model.IntOf(4096)}}, waiting.Running); diff != "" {
		t.Errorf("values in effect until the restart (-want +got):\n%s", diff)
	}
	if made := time.Unix(1770000000, 0); !waiting.Created.Equal(made) {
		t.Errorf("created %s, want %s", waiting.Created, made)
	}
	if n := server.Count("/nodes/", "/pending"); n != 6 {
		t.Errorf("%d configurations were read, want each of 6 once", n)
	}
}

func TestVersionsGiveTheSameGuests(t *testing.T) {
	t.Parallel()
	whole := collect(t, lab())
	for _, version := range []string{"7.4-18", "8.0.4", "8.2.7", "8.4.1", "9.0.3"} {
		old := pvetest.Lab()
		old.Version = version
		s := collect(t, newServer(old, rand.New(rand.NewPCG(9, 9))))
		for _, c := range failed(&s) {
			t.Errorf("%s: %s %q is not covered: %s", version, c.Kind, c.Place, c.Reason)
		}
		for _, r := range whole.Resources {
			other := find(&s, strings.TrimPrefix(r.Kind, Type+"/"), r.ID)
			if other == nil {
				if _, reason := s.Covers(r.Kind, r.Place); !strings.Contains(reason, "does not support it") && !strings.Contains(r.ID, "vnet/") {
					t.Errorf("%s: %s is missing: %q", version, r.Key, reason)
				}
				continue
			}
			if !r.Value.Equal(other.Value) {
				t.Errorf("%s: %s is %s, want %s", version, r.Key, other.Value, r.Value)
			}
		}
	}
}

func TestChangesDuringScan(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		edit   func(*pvetest.Cluster)
		check  func(*testing.T, *model.Snapshot)
	}{
		{
			"deleted", func(c *pvetest.Cluster) { c.RemoveGuest(402) },
			func(t *testing.T, s *model.Snapshot) {
				t.Helper()
				if find(s, "qemu", "402") != nil || len(s.Unread) > 0 {
					t.Errorf("402 is gone; unread: %v", s.Unread)
				}
			},
		},
		{
			"migrated", func(c *pvetest.Cluster) { c.Guest(402).Node = "pve3" },
			func(t *testing.T, s *model.Snapshot) {
				t.Helper()
				if r := must(t, s, "qemu", "402"); r.Place != "pve3" || r.Value.At("node").Str() != "pve3" {
					t.Errorf("402 is on %s, want pve3", r.Place)
				}
			},
		},
		{
			"its id used again by a container", func(c *pvetest.Cluster) {
				c.RemoveGuest(402)
				c.Guests = append(c.Guests, pvetest.Guest{ID: 402, Kind: "lxc", Node: "pve2", Config: pvetest.Row{"hostname": "reused"}})
			},
			func(t *testing.T, s *model.Snapshot) {
				t.Helper()
				if find(s, "qemu", "402") != nil {
					t.Error("the machine is still there")
				}
				if r := must(t, s, "lxc", "402"); r.Name != "reused" {
					t.Errorf("the container is called %s", r.Name)
				}
			},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			server := lab()
			server.AfterList(tc.edit)
			s := collect(t, server)
			if gaps := failed(&s); len(gaps) > 0 {
				t.Errorf("coverage fails: %v", gaps)
			}
			tc.check(t, &s)
			if n := server.Count("/cluster/resources", ""); n != 2 {
				t.Errorf("the guests were listed %d times, want twice", n)
			}
		})
	}
}

func TestStatusOfNodeTakesPrecedence(t *testing.T) {
	t.Parallel()
	server := lab()
	server.Edit(func(c *pvetest.Cluster) {
		c.Guest(401).Listed, c.Guest(402).Listed, c.Guest(410).Listed = "stopped", "unknown", "unknown"
	})
	server.Break("/nodes/pve2/lxc", func(cluster http.Handler, w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/lxc") {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		cluster.ServeHTTP(w, r)
	})
	s := collect(t, server)
	for _, id := range []string{"401", "402"} {
		if got := must(t, &s, "qemu", id).Value.At("status"); got.Str() != "running" {
			t.Errorf("the status of %s on its node is running, the value %s", id, got)
		}
	}
	if find(&s, "lxc", "410") != nil || !slices.ContainsFunc(s.Unread, func(u model.Unread) bool { return u.ID == "410" }) {
		t.Errorf("a guest of unknown status counts as read; unread are %v", s.Unread)
	}
}

func TestGuestDoesNotExist(t *testing.T) {
	t.Parallel()
	server := lab()
	server.Break("/nodes/pve2/qemu/402/pending", pvetest.Message(http.StatusInternalServerError,
		"Configuration file 'nodes/pve2/qemu-server/402.conf' does not exist"))
	s := collect(t, server)
	wantIn(t, unreadReason(&s, "qemu", "402"), "does not exist")
	if n := server.Count("/cluster/resources", ""); n != 2 {
		t.Errorf("the guests were listed %d times, want twice", n)
	}
}

func TestUnreadableGuest(t *testing.T) {
	t.Parallel()
	server := lab()
	server.Break("/nodes/pve2/qemu/402/pending", faults.Truncated())
	s := collect(t, server)
	wantIn(t, unreadReason(&s, "qemu", "402"), "no JSON")
	if find(&s, "firewall_options", "qemu/402") == nil || find(&s, "pool_member", "shop/vm/402") == nil {
		t.Error("the firewall and the pool of the guest were not read")
	}
	if ok, reason := s.Covers("proxmox/qemu", "pve2"); !ok {
		t.Errorf("the other guests are not covered: %s", reason)
	}
}
