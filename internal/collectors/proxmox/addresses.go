package proxmox

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

const (
	// agentWait is the time limit for the addresses of one guest. Proxmox VE has a similar limit
	// for an agent that does not answer.
	agentWait = 3 * time.Second
	// agentsWait is the time limit for the addresses of all guests. An agent that does not answer
	// occupies one of the node's few workers.
	agentsWait = time.Minute
)

// An addressQuery is a running guest that can report its addresses.
type addressQuery struct {
	guest
	// macs are the MAC addresses of its network devices.
	macs []string
}

// addAddressQuery adds a query for a guest that can answer it: a running container, or a
// running machine with an agent.
func (s *guestScan) addAddressQuery(g guest, value model.Value, macs []string) {
	answers := g.status == "running" && len(macs) > 0 && (g.kindName() == normalize.LXC || pveapi.Truth(value.At("agent", "enabled")))
	if !s.config.GuestAgent || !answers {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queries = append(s.queries, addressQuery{g, macs})
}

// readAddresses queries the addresses of the running guests after their configuration was read. A
// guest that does not respond has no addresses; that is not an error.
func (s *guestScan) readAddresses(ctx context.Context) {
	if len(s.queries) == 0 {
		return
	}
	limit := agentsWait
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	on := map[string][]addressQuery{}
	for _, a := range s.queries {
		if a.kindName() == normalize.QEMU && !s.mayQueryAgent(a.id) {
			s.countRefused()
			continue
		}
		on[a.node] = append(on[a.node], a)
	}
	nodes := make([][]addressQuery, 0, len(on))
	for _, guests := range on {
		slices.SortFunc(guests, func(a, b addressQuery) int { return strings.Compare(a.id, b.id) })
		nodes = append(nodes, guests)
	}
	collectors.Parallel(len(nodes), len(nodes), func(i int) {
		collectors.Parallel(s.config.Concurrency, len(nodes[i]), func(j int) { s.readAddressesOf(ctx, nodes[i][j]) })
	})
}

// readAddressesOf queries the addresses of one guest.
func (s *guestScan) readAddressesOf(ctx context.Context, a addressQuery) {
	n := s.nodes[a.node]
	path := a.path(n.name) + "/interfaces"
	if a.kindName() == normalize.QEMU {
		path = a.path(n.name) + "/agent/network-get-interfaces"
	}
	answer, err := n.GetOnce(ctx, path, agentWait)
	if httpclient.Code(err) == http.StatusForbidden {
		s.countRefused()
	}
	if addresses, ok := normalize.Addresses(answer, a.macs); err == nil && ok {
		s.addAddresses(ref(a.kindName(), a.id), addresses)
	}
}

// addAddresses stores the addresses of a guest.
func (sc *scan) addAddresses(r model.Ref, addresses model.Value) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if sc.addresses == nil {
		sc.addresses = map[model.Ref]model.Value{}
	}
	sc.addresses[r] = addresses
}

// countRefused counts a guest that the account may not query.
func (sc *scan) countRefused() {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.refused++
}

// mayQueryAgent reports whether the account may query the agent of a machine, or its
// permissions are unknown. The first two privileges apply since PVE 9, the last one before.
func (sc *scan) mayQueryAgent(id string) bool {
	return sc.rightsErr != nil || slices.ContainsFunc([]string{"VM.GuestAgent.Audit", "VM.GuestAgent.Unrestricted", "VM.Monitor"},
		func(privilege string) bool { return sc.rights.holds(need{privilege: privilege, path: "/vms/" + id}) })
}

// agentHint is the next step if guests cannot be queried.
const agentHint = "grant VM.GuestAgent.Audit on /vms (part of PVEAuditor since Proxmox VE 9), or VM.Monitor before version 9; or unset guest_agent"
