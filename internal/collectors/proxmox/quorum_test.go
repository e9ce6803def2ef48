package proxmox

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
)

// TestNoQuorum reads nodes that may have an outdated copy. No scope may then count as read.
func TestNoQuorum(t *testing.T) {
	t.Parallel()
	cutOff := func(c *pvetest.Cluster) { c.NoQuorum = true }
	lessRights := func(c *pvetest.Cluster) {
		c.Rights = map[string][]string{"/": {"VM.Audit"}}
	}
	for reason, tc := range map[string]struct {
		change []func(*pvetest.Cluster)
		fault  func(*pvetest.Server)
		want   string
	}{
		"with quorum":                {},
		"a single node":              {change: []func(*pvetest.Cluster){func(c *pvetest.Cluster) { c.Nodes = c.Nodes[:1] }, cutOff}},
		"cut off":                    {change: []func(*pvetest.Cluster){cutOff}, want: "node pve1 has no quorum in cluster lab"},
		"cut off, without Sys.Audit": {change: []func(*pvetest.Cluster){cutOff, lessRights}, want: "1 of 3 nodes are online"},
		"without Sys.Audit":          {change: []func(*pvetest.Cluster){lessRights}},
		"one of three nodes is down, without Sys.Audit": {change: []func(*pvetest.Cluster){lessRights,
			func(c *pvetest.Cluster) { c.Nodes[2].Offline = true }}},
		"cut off while it is read": {fault: func(s *pvetest.Server) {
			var requested atomic.Bool
			s.Break("/cluster/status", func(cluster http.Handler, w http.ResponseWriter, r *http.Request) {
				if requested.Swap(true) {
					s.Edit(cutOff)
				}
				cluster.ServeHTTP(w, r)
			})
		}, want: "node pve1 has no quorum in cluster lab"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			server := lab()
			for _, change := range tc.change {
				server.Edit(change)
			}
			if tc.fault != nil {
				tc.fault(server)
			}
			s := collect(t, server)
			if tc.want == "" {
				if len(s.Stale) > 0 {
					t.Errorf("stale: %v", s.Stale)
				}
				return
			}
			if stale := s.StaleIn("", ""); !strings.Contains(stale, tc.want) {
				t.Errorf("stale: %q, want %q in it", stale, tc.want)
			}
			for _, c := range s.Coverage {
				if c.Complete {
					t.Errorf("%s counts as read", c.Kind)
				}
			}
			if len(s.Resources) == 0 {
				t.Error("nothing was read, want the objects of the node")
			}
		})
	}
}
