package proxmox

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/faults"
)

func TestUnreachableNode(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason   string
		lose     func(*pvetest.Server)
		words    string
		requests int
	}{
		{"switched off", func(s *pvetest.Server) { s.Break("/nodes/pve3/", pvetest.NodeDown()) }, "(595", 1},
		{"pveproxy reports that it hangs", func(s *pvetest.Server) { s.Break("/nodes/pve3/", pvetest.NodeHangs()) }, "(596", 1},
		{"it does not answer", func(s *pvetest.Server) { s.Break("/nodes/pve3/", faults.Hangs()) }, "no full answer within", 1},
		{"offline in the cluster", func(s *pvetest.Server) { s.Edit(func(c *pvetest.Cluster) { c.Nodes[2].Offline = true }) }, "(offline)", 0},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			server := lab()
			tc.lose(server)
			s := collect(t, server, func(c *Config) { c.Timeout = time.Second })
			for _, guest := range [][2]string{{"qemu", "403"}, {"lxc", "411"}} {
				wantIn(t, unreadReason(&s, guest[0], guest[1]), "node pve3 does not answer", tc.words)
			}
			for _, kind := range []string{"qemu", "lxc", "pool_member", "firewall_alias", "firewall_ipset"} {
				if ok, reason := s.Covers(Type+"/"+kind, "pve3"); !ok {
					t.Errorf("%s is not covered: %s", kind, reason)
				}
			}
			for _, kind := range nodeKinds() {
				if ok, _ := s.Covers(kind, "pve3"); ok {
					t.Errorf("%s of the node counts as read", kind)
				}
				if ok, reason := s.Covers(kind, "pve2"); !ok {
					t.Errorf("%s of another node is not covered: %s", kind, reason)
				}
			}
			if find(&s, "firewall_options", "lxc/411") == nil || find(&s, "pool_member", "shop/test/vm/411") == nil {
				t.Error("the firewall and the pool of its guests, which other nodes have, were not read")
			}
			must(t, &s, "qemu", "402")
			if n := server.Count("/nodes/pve3/", ""); n != tc.requests {
				t.Errorf("the node got %d requests, want %d", n, tc.requests)
			}
		})
	}
}

func TestNodeGoesDownDuringScan(t *testing.T) {
	t.Parallel()
	cluster := pvetest.Grown(2, 50)
	server := newServer(cluster, rand.New(rand.NewPCG(1, 2)))
	server.Break("/nodes/pve2/qemu/", pvetest.NodeDown())
	s := collect(t, server)
	if n := server.Count("/nodes/pve2/qemu/", ""); n > 4 {
		t.Errorf("the node got %d requests after it went down, want no more than run at once", n)
	}
	for _, g := range cluster.Guests {
		if r := find(&s, g.Kind, strconv.Itoa(g.ID)); (r != nil) == (unreadReason(&s, g.Kind, strconv.Itoa(g.ID)) != "") {
			t.Errorf("%s %d is neither read nor unread, or both", g.Kind, g.ID)
		}
	}
}

func TestGuestsMovedFromUnreachableNode(t *testing.T) {
	t.Parallel()
	server := lab()
	server.Break("/nodes/pve3/", pvetest.NodeDown())
	server.AfterList(func(c *pvetest.Cluster) { c.Guest(403).Node = "pve1" })
	s := collect(t, server)
	if r := must(t, &s, "qemu", "403"); r.Place != "pve1" {
		t.Errorf("403 is on %s", r.Place)
	}
	if unreadReason(&s, "lxc", "411") == "" {
		t.Error("411 stayed behind and is not unread")
	}
}

func TestUnreadableNodeList(t *testing.T) {
	t.Parallel()
	server := lab()
	server.Edit(func(c *pvetest.Cluster) { c.Nodes = nil })
	server.Break("/nodes", pvetest.Message(http.StatusInternalServerError, "out of memory"))
	s := collect(t, server)
	for _, kind := range append(nodeKinds(), guestKinds()...) {
		ok, reason := s.Covers(kind, "pve1")
		if ok || !strings.Contains(reason, "out of memory") {
			t.Errorf("%s: covered %t, reason %q", kind, ok, reason)
		}
	}
	must(t, &s, "storage", "fast")
}

func TestManyGuests(t *testing.T) {
	t.Parallel()
	nodes, guests := 30, 3000
	if testing.Short() {
		nodes, guests = 10, 200
	}
	server := newServer(pvetest.Grown(nodes, guests/nodes), rand.New(rand.NewPCG(8, 8)))
	s := collect(t, server)
	if n := server.Count("/nodes/", "/pending"); n != guests {
		t.Errorf("%d configurations were read, want each of %d once", n, guests)
	}
	if gaps := failed(&s); len(gaps) > 0 || len(s.Unread) > 0 {
		t.Errorf("coverage fails: %v, unread: %v", gaps, s.Unread)
	}
	if n := server.Count("", ""); n > guests*5+nodes*9+100 {
		t.Errorf("%d requests", n)
	}
	if all, one := server.Peak(""), server.Peak("pve7"); all > maxRequests || one > 5 {
		t.Errorf("%d requests at once, %d for one node", all, one)
	}
}
