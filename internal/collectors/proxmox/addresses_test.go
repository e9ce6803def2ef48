package proxmox

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

func withAgent(c *Config) { c.GuestAgent = true }

// addressesIn returns the addresses in a guest's value, or "-" if it has none.
func addressesIn(t *testing.T, s *model.Snapshot, kind, id string) string {
	t.Helper()
	list, ok := must(t, s, kind, id).Value.Get("agent_addresses")
	if !ok {
		return "-"
	}
	var texts []string
	for _, item := range list.Items() {
		texts = append(texts, item.Str())
	}
	return strings.Join(texts, " ")
}

func TestAgentAddresses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		edit   func(*pvetest.Server)
		// vm and ct are the addresses of 401 and 410.
		vm, ct string
	}{
		{"both report addresses", func(*pvetest.Server) {}, "192.0.2.41/24 2001:db8::41/64", "192.0.2.10/24"},
		{"an older version sends one address of each family for a container", func(s *pvetest.Server) {
			s.Edit(func(c *pvetest.Cluster) {
				c.Version = "8.2.7"
				c.Rights = map[string][]string{"/": append(c.Rights["/"], "VM.Monitor")}
			})
		}, "192.0.2.41/24 2001:db8::41/64", "192.0.2.10/24"},
		{"an older version requires another privilege", func(s *pvetest.Server) {
			s.Edit(func(c *pvetest.Cluster) { c.Version = "8.2.7" })
		}, "-", "192.0.2.10/24"},
		{"an agent without an address", func(s *pvetest.Server) { s.SetAddresses(401, "net0") }, "", "192.0.2.10/24"},
		{"no agent runs", func(s *pvetest.Server) {
			s.Edit(func(c *pvetest.Cluster) { c.Guest(401).Addresses = nil })
		}, "-", "192.0.2.10/24"},
		{"no agent is configured", func(s *pvetest.Server) {
			s.Edit(func(c *pvetest.Cluster) { c.Guest(401).Config["agent"] = "0,type=virtio" })
		}, "-", "192.0.2.10/24"},
		{"they do not run", func(s *pvetest.Server) {
			s.Edit(func(c *pvetest.Cluster) { c.Guest(401).Status, c.Guest(410).Status = "stopped", "stopped" })
		}, "-", "-"},
		{"an agent hangs", func(s *pvetest.Server) { s.Break("/nodes/pve1/qemu/401/agent", faults.Hangs()) }, "-", "192.0.2.10/24"},
		{"an agent's answer is a page", func(s *pvetest.Server) { s.Break("/nodes/pve1/qemu/401/agent", faults.LoginPage()) }, "-", "192.0.2.10/24"},
		{"pveproxy reports that the node hangs", func(s *pvetest.Server) {
			s.Break("/nodes/pve2/lxc/410/interfaces", pvetest.NodeHangs())
		}, "192.0.2.41/24 2001:db8::41/64", "-"},
		{"missing permission", func(s *pvetest.Server) {
			s.Break("/nodes/pve1/qemu/401/agent", pvetest.Forbidden("/vms/401", "VM.GuestAgent.Audit"))
		}, "-", "192.0.2.10/24"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			server := lab()
			tc.edit(server)
			s := collect(t, server, withAgent, func(c *Config) { c.Timeout = 2 * time.Second })
			if vm, ct := addressesIn(t, &s, "qemu", "401"), addressesIn(t, &s, "lxc", "410"); vm != tc.vm || ct != tc.ct {
				t.Errorf("401 has %q and 410 %q, want %q and %q", vm, ct, tc.vm, tc.ct)
			}
			if gaps := failed(&s); len(gaps) > 0 || len(s.Unread) > 0 {
				t.Errorf("coverage fails: %v, unread: %v", gaps, s.Unread)
			}
		})
	}
}

func TestAddressesAreOptional(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		change func(*Config)
		want   int
	}{
		{"by default", func(*Config) {}, 0},
		{"enabled", withAgent, 30},
		{"enabled, without guests", func(c *Config) { c.GuestAgent, c.ExcludeKinds = true, []string{"qemu", "lxc"} }, 0},
	} {
		server := newServer(pvetest.Grown(3, 10), rand.New(rand.NewPCG(4, 4)))
		s := collect(t, server, tc.change)
		queried := server.Count("/nodes/", "/interfaces") + server.Count("/nodes/", "/agent/network-get-interfaces")
		reported := 0
		for _, r := range s.Resources {
			if _, ok := r.Value.Get("agent_addresses"); ok {
				reported++
			}
		}
		if queried != tc.want || reported != tc.want {
			t.Errorf("%s: %d guests were queried and %d have addresses, want %d", tc.reason, queried, reported, tc.want)
		}
	}
}

// TestMissingAgentPermission checks that a missing permission is logged once, and that no
// agent is queried if the account is known to lack the permission.
func TestMissingAgentPermission(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason  string
		edit    func(*pvetest.Server)
		queries int
	}{
		{"known from the permissions", func(s *pvetest.Server) {
			s.Edit(func(c *pvetest.Cluster) {
				c.Rights["/"] = slices.DeleteFunc(c.Rights["/"], func(privilege string) bool { return privilege == "VM.GuestAgent.Audit" })
			})
		}, 0},
		{"known from the answer", func(s *pvetest.Server) {
			s.Break("/nodes/pve1/qemu/401/agent", pvetest.Forbidden("/vms/401", "VM.GuestAgent.Audit"))
		}, 2},
	} {
		server := lab()
		tc.edit(server)
		listening := httptest.NewServer(server)
		t.Cleanup(listening.Close)
		config := testConfig(t, listening.URL)
		config.GuestAgent = true
		var out bytes.Buffer
		c, err := open(collectors.Env{Name: "pve", Sealer: model.NewSealer([]byte("k")), Log: slog.New(slog.NewTextHandler(&out, nil))}, config)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := c.Collect(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if text := out.String(); strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, "VM.GuestAgent.Audit on /vms") {
			t.Errorf("%s: log %q", tc.reason, text)
		}
		if n := server.Count("/nodes/", "/agent/network-get-interfaces"); n != tc.queries {
			t.Errorf("%s: agents were queried %d times, want %d", tc.reason, n, tc.queries)
		}
	}
}

// noAnswer is an api whose guests do not answer within the limit.
type noAnswer struct{ sameAnswer }

func (noAnswer) GetOnce(ctx context.Context, _ string, limit time.Duration) (model.Value, error) {
	if err := httpclient.Wait(ctx, limit); err != nil {
		return model.Value{}, err
	}
	return model.Value{}, &httpclient.Timeout{After: limit}
}

func TestAddressTimeLimits(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		guests int
		left   time.Duration
		want   time.Duration
	}{
		{"few", 8, time.Hour, 2 * agentWait},
		{"many", 1000, time.Hour, agentsWait},
		{"the scan ends soon", 1000, 20 * time.Second, 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), tc.left)
			defer cancel()
			s := &guestScan{scan: &scan{config: Defaults()}, nodes: map[string]*node{"pve1": {name: "pve1", api: noAnswer{}}}}
			for i := range tc.guests {
				s.queries = append(s.queries, addressQuery{guest: guest{kind: "lxc", id: strconv.Itoa(100 + i), node: "pve1"}})
			}
			start := time.Now()
			s.readAddresses(ctx)
			if took := time.Since(start); took != tc.want || len(s.addresses) > 0 || ctx.Err() != nil {
				t.Errorf("%s: it took %s, want %s; addresses %v; then %v", tc.reason, took, tc.want, s.addresses, ctx.Err())
			}
			if err := s.nodes["pve1"].downReason(); err != nil {
				t.Errorf("%s: the node is marked as down: %v", tc.reason, err)
			}
		})
	}
}

func BenchmarkCollect(b *testing.B) {
	for _, bm := range []struct {
		name  string
		agent bool
	}{{"default", false}, {"guest_agent", true}} {
		b.Run(bm.name, func(b *testing.B) {
			server := newServer(pvetest.Grown(10, 100), rand.New(rand.NewPCG(4, 4)))
			server.Delay = 2 * time.Millisecond
			listening := httptest.NewServer(server)
			defer listening.Close()
			config := testConfig(b, listening.URL)
			config.GuestAgent = bm.agent
			c := testCluster(b, config)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Collect(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
