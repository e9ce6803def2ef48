package proxmox

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/proxmox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

const (
	// agentWait is how long a guest may take to tell its addresses. Proxmox VE
	// itself gives up on a silent agent after about as long.
	agentWait = 3 * time.Second
	// agentsWait is how long all guests together may take. A silent agent keeps
	// one of the few workers of its node busy.
	agentsWait = time.Minute
)

// An asked guest runs and can tell its addresses.
type asked struct {
	guest
	// macs are those of its network devices.
	macs []string
}

// mayAsk notes a guest for askGuests, if it is wanted and able to answer: a
// container that runs, or a machine that runs with an agent.
func (s *sweep) mayAsk(g guest, value model.Value, macs []string) {
	able := g.status == "running" && len(macs) > 0 && (g.kindName() == normalize.LXC || truth(value.At("agent", "enabled")))
	if !s.config.GuestAgent || !able {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, asked{g, macs})
}

// askGuests asks the running guests for their addresses, when everything else
// of them has been read. Who gives no answer is left without; nothing fails.
func (s *sweep) askGuests(ctx context.Context) {
	if len(s.asked) == 0 {
		return
	}
	limit := agentsWait
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	on := map[string][]asked{}
	for _, a := range s.asked {
		if a.kindName() == normalize.QEMU && !s.mayAskAgent(a.id) {
			s.refuse()
			continue
		}
		on[a.node] = append(on[a.node], a)
	}
	nodes := make([][]asked, 0, len(on))
	for _, guests := range on {
		slices.SortFunc(guests, func(a, b asked) int { return strings.Compare(a.id, b.id) })
		nodes = append(nodes, guests)
	}
	collectors.Parallel(len(nodes), len(nodes), func(i int) {
		collectors.Parallel(s.config.Concurrency, len(nodes[i]), func(j int) { s.ask(ctx, nodes[i][j]) })
	})
}

// ask asks one guest for its addresses.
func (s *sweep) ask(ctx context.Context, a asked) {
	n := s.nodes[a.node]
	path := a.path(n.name) + "/interfaces"
	if a.kindName() == normalize.QEMU {
		path = a.path(n.name) + "/agent/network-get-interfaces"
	}
	answer, err := n.Ask(ctx, path, agentWait)
	if httpclient.Code(err) == http.StatusForbidden {
		s.refuse()
	}
	if addresses, ok := normalize.Addresses(answer, a.macs); err == nil && ok {
		s.addAddresses(ref(a.kindName(), a.id), addresses)
	}
}

// addAddresses takes up what a guest told of itself.
func (l *look) addAddresses(r model.Ref, addresses model.Value) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.addresses == nil {
		l.addresses = map[model.Ref]model.Value{}
	}
	l.addresses[r] = addresses
}

// refuse notes a guest that the account may not ask.
func (l *look) refuse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused++
}

// mayAskAgent tells whether the account may ask a machine's agent, as far as
// its rights are known: since PVE 9 by one of the first two privileges, before
// by the last.
func (l *look) mayAskAgent(id string) bool {
	return l.unsure != nil || slices.ContainsFunc([]string{"VM.GuestAgent.Audit", "VM.GuestAgent.Unrestricted", "VM.Monitor"},
		func(privilege string) bool { return l.rights.holds(need{privilege: privilege, path: "/vms/" + id}) })
}

// agentHint says what to do where guests may not be asked.
const agentHint = "grant VM.GuestAgent.Audit on /vms, which PVEAuditor has since Proxmox VE 9, or VM.Monitor before; or leave guest_agent out"
