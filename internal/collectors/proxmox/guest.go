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
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// A guest is a row of the list of guests: a virtual machine (kind qemu) or a container (lxc).
type guest struct {
	kind, id string
	node     string
	name     string
	pool     string
	status   string
}

// kindName returns the kind of the guest's resource.
func (g guest) kindName() string { return Type + "/" + g.kind }

// path returns the guest's API path on a node.
func (g guest) path(node string) string { return nodePath(node) + "/" + g.kind + "/" + g.id }

// guestKinds returns the kinds of which objects are found through the list of guests.
func guestKinds() []string {
	return []string{normalize.QEMU, normalize.LXC, normalize.PoolMember, normalize.FirewallOptions, normalize.FirewallRules, normalize.FirewallAlias, normalize.FirewallIPSet}
}

// listGuests returns the guests on all nodes that the account can see.
func (sc *scan) listGuests(ctx context.Context) ([]guest, error) {
	data, err := sc.api.Get(ctx, "/cluster/resources?type=vm")
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

// knownStatus returns the guest's status in a row: "running" or "stopped", or "" if the
// cluster has no status from the node ("unknown").
func knownStatus(row model.Value) string {
	if status := row.At("status").Str(); status == running || status == stopped {
		return status
	}
	return ""
}

func isVMID(id string) bool {
	n, err := strconv.ParseUint(id, 10, 32)
	return err == nil && n > 0
}

// A guestScan reads the nodes and the guests on them.
type guestScan struct {
	*scan
	nodes map[string]*node
	mu    sync.Mutex
	// failed are the guests that could not be read on the node of the list.
	failed []failedGuest
	// queries are the guests whose addresses can be queried.
	queries []addressQuery
}

// A failedGuest is a guest that was not read, with the error.
type failedGuest struct {
	guest
	err error
}

// readNodes reads the settings of all nodes and the guests on them. It reads the nodes
// concurrently.
func (s *guestScan) readNodes(ctx context.Context, guests []guest) {
	s.onEachNode(guests, func(n *node, on []guest) {
		parts := nodeParts()
		// The first request to a node is sent alone, so that a node that hangs delays only one.
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
func (s *guestScan) readGuests(ctx context.Context, guests []guest) {
	s.onEachNode(guests, func(n *node, on []guest) {
		s.refreshStatus(ctx, n, on)
		collectors.Parallel(s.config.Concurrency, len(on), func(i int) { s.readGuest(ctx, n, on[i]) })
	})
}

// refreshStatus updates the status of the guests on a node from the node's own lists, because the
// cluster's list is some seconds old. If the node returns no status, that of the cluster remains.
func (s *guestScan) refreshStatus(ctx context.Context, n *node, on []guest) {
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

// onEachNode calls do for all nodes concurrently, with the guests on each.
func (s *guestScan) onEachNode(guests []guest, do func(*node, []guest)) {
	on := map[string][]guest{}
	for _, g := range guests {
		on[g.node] = append(on[g.node], g)
		if s.nodes[g.node] == nil {
			// The node joined the cluster after the nodes were listed.
			s.nodes[g.node] = &node{name: g.node, api: s.api}
		}
	}
	names := slices.Collect(maps.Keys(s.nodes))
	collectors.Parallel(len(names), len(names), func(i int) { do(s.nodes[names[i]], on[names[i]]) })
}

// readGuest reads the configuration of a guest and its firewall. A guest that could not be
// read is added to failed.
func (s *guestScan) readGuest(ctx context.Context, n *node, g guest) {
	if err := s.readConfig(ctx, n, g); err != nil {
		s.mu.Lock()
		s.failed = append(s.failed, failedGuest{g, err})
		s.mu.Unlock()
		return
	}
	s.addGuestExtras(ctx, n, g)
}

// addGuestExtras adds the guest's pool membership and firewall.
func (s *guestScan) addGuestExtras(ctx context.Context, via *node, g guest) {
	if g.pool != "" {
		s.addMember(g.pool, "vm", g.id)
	}
	s.readFirewall(ctx, guestFirewall(g, via.name), via)
}

// readConfig reads the configuration of a guest, including pending changes.
func (s *guestScan) readConfig(ctx context.Context, n *node, g guest) error {
	if !s.isIncluded(g.kindName()) {
		return nil
	}
	if err := n.downReason(); err != nil {
		return err
	}
	if g.status == "" {
		return &httpclient.Unexpected{Reason: "neither the cluster nor the node reports whether the guest runs"}
	}
	data, err := n.Get(ctx, g.path(n.name)+"/pending")
	if err != nil {
		return err
	}
	rows, err := rowsByKey(data, "key")
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
	macs := macAddresses(value, running)
	s.add(model.Resource{
		Key:        s.key(g.kindName(), g.id),
		Place:      g.node,
		Name:       guestName(value, g),
		Value:      value,
		Identities: identities(g.id, value, macs),
		Running:    running,
		Created:    createdAt(rows),
	})
	s.addAddressQuery(g, value, macs)
	return nil
}

// fields returns the fields of the guest's value that come from the list of guests.
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

// createdAt returns the creation time of a guest, which "meta" has since PVE 7.0, or zero.
func createdAt(rows []model.Field) time.Time {
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

// unixTime parses seconds since 1970. It returns zero if the text is not a valid time.
func unixTime(seconds string) time.Time {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n <= 0 || n > 1<<40 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// retryFailed reads the guests again that could not be read. It lists the guests again to find
// those that were deleted or moved since, and reads moved ones on their new node.
func (s *guestScan) retryFailed(ctx context.Context) {
	failed := s.failed
	s.failed = nil
	if !slices.ContainsFunc(failed, func(o failedGuest) bool { return isGuestMissing(o.err) || isNodeUnreachable(o.err) }) {
		s.addUnreadGuests(ctx, failed)
		return
	}
	now, err := s.listGuests(ctx)
	if err != nil {
		s.addUnreadGuests(ctx, failed)
		return
	}
	listed := make(map[string]guest, len(now))
	for _, g := range now {
		listed[g.id] = g
	}
	var moved []guest
	var unread []failedGuest
	for _, o := range failed {
		switch g, exists := listed[o.id]; {
		case exists && (g.node != o.node || g.kind != o.kind):
			moved = append(moved, g)
		case exists:
			unread = append(unread, o)
		}
	}
	s.readGuests(ctx, moved)
	s.addUnreadGuests(ctx, append(unread, s.failed...))
}

// addUnreadGuests records guests that exist and could not be read. It reads their firewalls,
// which are in the cluster's file system, through another node if their own is down.
func (s *guestScan) addUnreadGuests(ctx context.Context, failed []failedGuest) {
	via := s.reachableNode()
	for _, o := range failed {
		s.addUnread(model.Resource{Key: s.key(o.kindName(), o.id), Place: o.node, Name: cmp.Or(o.name, o.id), Identities: o.identities()}, s.config.reason(o.err))
		n := s.nodes[o.node]
		var down *nodeError
		if errors.As(o.err, &down) && via != nil {
			n = via
		}
		s.addGuestExtras(ctx, n, o.guest)
	}
}

// reachableNode returns the first reachable node by name, or nil.
func (s *guestScan) reachableNode() *node {
	var first *node
	for _, n := range s.nodes {
		if n.downReason() == nil && (first == nil || n.name < first.name) {
			first = n
		}
	}
	return first
}
