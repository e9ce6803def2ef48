package proxmox

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/proxmox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// A guest is a virtual machine (kind qemu) or a container (lxc), as the list of
// the cluster's resources tells of it.
type guest struct {
	kind, id string
	node     string
	name     string
	pool     string
	status   string
}

// kindName is the kind of its resource.
func (g guest) kindName() string { return Type + "/" + g.kind }

// path is where the guest is found on a node.
func (g guest) path(node string) string { return nodePath(node) + "/" + g.kind + "/" + g.id }

// guestKinds are the kinds that are found through the list of guests.
func guestKinds() []string {
	return []string{normalize.QEMU, normalize.LXC, normalize.PoolMember, normalize.FirewallOptions, normalize.FirewallRules, normalize.FirewallAlias, normalize.FirewallIPSet}
}

// listGuests returns the guests that the account sees, wherever they are.
func (l *look) listGuests(ctx context.Context) ([]guest, error) {
	data, err := l.api.Get(ctx, "/cluster/resources?type=vm")
	if err != nil {
		return nil, err
	}
	rows, err := rowsOf(data)
	if err != nil {
		return nil, err
	}
	guests := make([]guest, 0, len(rows))
	for _, row := range rows {
		g := guest{
			kind: row.At("type").Str(),
			id:   row.At("vmid").Text(),
			node: row.At("node").Str(),
			name: row.At("name").Text(),
			pool: row.At("pool").Text(),
		}
		g.status = knownStatus(row)
		switch {
		case g.kind != "qemu" && g.kind != "lxc":
			continue
		case !isVMID(g.id) || g.node == "":
			return nil, &httpclient.Unexpected{Reason: "a guest of the answer has no id or no node"}
		}
		guests = append(guests, g)
	}
	return guests, nil
}

// knownStatus is what a row says of a guest's status. It is "unknown" while the
// guest's node has told nobody yet, and then "" here.
func knownStatus(row model.Value) string {
	if status := row.At("status").Str(); status == "running" || status == "stopped" {
		return status
	}
	return ""
}

func isVMID(id string) bool {
	n, err := strconv.ParseUint(id, 10, 32)
	return err == nil && n > 0
}

// A sweep reads the guests of a cluster.
type sweep struct {
	*look
	nodes map[string]*node
	mu    sync.Mutex
	// left are guests that were not found where the list put them.
	left []leftover
	// asked are guests that can tell their addresses.
	asked []asked
}

// A leftover is a guest that was not read, and why.
type leftover struct {
	guest
	err error
}

// readNodes reads the settings of every node and the guests on it. The nodes do
// not wait for each other.
func (s *sweep) readNodes(ctx context.Context, guests []guest) {
	s.onEachNode(guests, func(n *node, on []guest) {
		parts := nodeParts()
		// The first request goes alone: a node that hangs takes no more.
		s.readNode(ctx, n, parts[0])
		s.refreshStatus(ctx, n, on)
		collectors.Parallel(s.config.Concurrency, len(parts)+len(on), func(i int) {
			switch {
			case i == 0:
				s.readNodeFirewall(ctx, n)
			case i < len(parts):
				s.readNode(ctx, n, parts[i])
			default:
				s.readGuest(ctx, n, on[i-len(parts)])
			}
		})
	})
}

// readGuests reads guests that were not read with their nodes.
func (s *sweep) readGuests(ctx context.Context, guests []guest) {
	s.onEachNode(guests, func(n *node, on []guest) {
		s.refreshStatus(ctx, n, on)
		collectors.Parallel(s.config.Concurrency, len(on), func(i int) { s.readGuest(ctx, n, on[i]) })
	})
}

// refreshStatus notes whether the guests of a node run: the list of the cluster
// is some seconds behind, the node's own are not. Where the node does not tell,
// what the cluster said stands.
func (s *sweep) refreshStatus(ctx context.Context, n *node, on []guest) {
	now := map[string]string{}
	for _, kind := range []string{"qemu", "lxc"} {
		if !slices.ContainsFunc(on, func(g guest) bool { return g.kind == kind }) {
			continue
		}
		data, err := n.Get(ctx, nodePath(n.name)+"/"+kind)
		if err != nil {
			continue
		}
		for _, row := range data.Items() {
			now[row.At("vmid").Text()] = knownStatus(row)
		}
	}
	for i := range on {
		on[i].status = cmp.Or(now[on[i].id], on[i].status)
	}
}

// onEachNode calls do for all nodes at once, with the guests on each.
func (s *sweep) onEachNode(guests []guest, do func(*node, []guest)) {
	on := map[string][]guest{}
	for _, g := range guests {
		on[g.node] = append(on[g.node], g)
		if s.nodes[g.node] == nil {
			// It joined after the nodes were listed.
			s.nodes[g.node] = &node{name: g.node, api: s.api}
		}
	}
	names := slices.Collect(maps.Keys(s.nodes))
	collectors.Parallel(len(names), len(names), func(i int) { do(s.nodes[names[i]], on[names[i]]) })
}

// readGuest reads a guest's configuration and its firewall, once.
func (s *sweep) readGuest(ctx context.Context, n *node, g guest) {
	if err := s.readConfig(ctx, n, g); err != nil {
		s.mu.Lock()
		s.left = append(s.left, leftover{g, err})
		s.mu.Unlock()
		return
	}
	s.addGuestExtras(ctx, n, g)
}

// addGuestExtras reads what there is to a guest besides its configuration.
func (s *sweep) addGuestExtras(ctx context.Context, via *node, g guest) {
	if g.pool != "" {
		s.addMember(g.pool, "vm", g.id)
	}
	s.readFirewall(ctx, guestFirewall(g, via.name), via)
}

// readConfig reads a guest's configuration, with what waits for a restart.
func (s *sweep) readConfig(ctx context.Context, n *node, g guest) error {
	if !s.wanted(g.kindName()) {
		return nil
	}
	if err := n.lost(); err != nil {
		return err
	}
	if g.status == "" {
		return &httpclient.Unexpected{Reason: "neither the cluster nor the guest's node tells whether it runs"}
	}
	data, err := n.Get(ctx, g.path(n.name)+"/pending")
	if err != nil {
		return err
	}
	rows, err := named(data, "key")
	if err != nil {
		return err
	}
	raw := make([]model.Value, len(rows))
	for i, row := range rows {
		raw[i] = row.Value
	}
	value, running := s.normalizer.Guest(g.kindName(), raw)
	value = normalize.WithOwners(value, g.id)
	for _, f := range g.fields() {
		value = value.With(f.Name, f.Value)
	}
	macs := cards(value, running)
	s.add(model.Resource{
		Key:        s.key(g.kindName(), g.id),
		Place:      g.node,
		Name:       guestName(value, g),
		Value:      value,
		Identities: identities(g.id, value, macs),
		Running:    running,
		Created:    madeAt(rows),
	})
	s.mayAsk(g, value, macs)
	return nil
}

// fields are what the list of guests says of a guest's value.
func (g guest) fields() []model.Field {
	fields := []model.Field{{Name: "node", Value: model.StringOf(g.node)}, {Name: "status", Value: model.StringOf(g.status)}}
	if g.pool != "" {
		fields = append(fields, model.Field{Name: "pool", Value: model.StringOf(g.pool)})
	}
	return fields
}

func guestName(value model.Value, g guest) string {
	for _, name := range []string{value.At("name").Str(), value.At("hostname").Str(), g.name} {
		if name != "" {
			return name
		}
	}
	return g.id
}

// madeAt returns when a guest was made, which its "meta" tells since PVE 7.0.
func madeAt(rows []model.Field) time.Time {
	for _, row := range rows {
		if row.Name != "meta" {
			continue
		}
		for part := range strings.SplitSeq(row.Value.At("value").Str(), ",") {
			if seconds, ok := strings.CutPrefix(part, "ctime="); ok {
				return unixTime(seconds)
			}
		}
	}
	return time.Time{}
}

// unixTime reads seconds since 1970; what is no such number is no time.
func unixTime(seconds string) time.Time {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n <= 0 || n > 1<<40 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// settle looks after the guests that were not found where the list put them. A
// new list tells those that were deleted from those that moved, which are read
// where they are now.
func (s *sweep) settle(ctx context.Context) {
	left := s.left
	s.left = nil
	if !slices.ContainsFunc(left, func(o leftover) bool { return vanished(o.err) || silent(o.err) }) {
		s.giveUp(ctx, left)
		return
	}
	now, err := s.listGuests(ctx)
	if err != nil {
		s.giveUp(ctx, left)
		return
	}
	listed := make(map[string]guest, len(now))
	for _, g := range now {
		listed[g.id] = g
	}
	var again []guest
	var lost []leftover
	for _, o := range left {
		switch g, exists := listed[o.id]; {
		case exists && (g.node != o.node || g.kind != o.kind):
			again = append(again, g)
		case exists:
			lost = append(lost, o)
		}
	}
	s.readGuests(ctx, again)
	s.giveUp(ctx, append(lost, s.left...))
}

// giveUp notes guests that exist and could not be read. Their firewalls lie in
// the cluster's file system, where a node that answers can read them.
func (s *sweep) giveUp(ctx context.Context, left []leftover) {
	via := s.answering()
	for _, o := range left {
		s.miss(model.Resource{Key: s.key(o.kindName(), o.id), Place: o.node, Name: cmp.Or(o.name, o.id), Identities: o.identities()}, s.config.reason(o.err))
		n := s.nodes[o.node]
		var down *nodeError
		if errors.As(o.err, &down) && via != nil {
			n = via
		}
		s.addGuestExtras(ctx, n, o.guest)
	}
}

// answering returns a node that answers, or nil.
func (s *sweep) answering() *node {
	var first *node
	for _, n := range s.nodes {
		if n.lost() == nil && (first == nil || n.name < first.name) {
			first = n
		}
	}
	return first
}
