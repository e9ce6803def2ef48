package proxmox

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/collectors/proxmox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

func nodePath(node string) string { return "/nodes/" + url.PathEscape(node) }

// A node reads what lies on one node of the cluster. After the first request
// that it leaves without an answer it is not asked again in this look.
type node struct {
	name string
	api  api

	mu   sync.Mutex
	down error
}

// Get implements api.
func (n *node) Get(ctx context.Context, path string) (model.Value, error) {
	if err := n.lost(); err != nil {
		return model.Value{}, err
	}
	data, err := n.api.Get(ctx, path)
	if silent(err) {
		return model.Value{}, n.lose(err)
	}
	return data, err
}

// Ask implements api. No answer says nothing of the node: it is a guest that is
// asked.
func (n *node) Ask(ctx context.Context, path string, limit time.Duration) (model.Value, error) {
	if err := n.lost(); err != nil {
		return model.Value{}, err
	}
	return n.api.Ask(ctx, path, limit)
}

// lost returns why the node is not asked any more, or nil.
func (n *node) lost() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.down
}

// lose notes that the node does not answer. The first reason stays.
func (n *node) lose(err error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = cmp.Or[error](n.down, &nodeError{n.name, err})
	return n.down
}

// A nodeError is a node that does not answer.
type nodeError struct {
	node string
	err  error
}

func (e *nodeError) Error() string {
	return fmt.Sprintf("node %s does not answer (%v): see pvecm status, and pveproxy on the node", e.node, e.err)
}

func (e *nodeError) Unwrap() error { return e.err }

// errOffline is what the cluster says of a node that left it.
var errOffline = &httpclient.Unexpected{Reason: "offline"}

// listNodes returns the cluster's nodes by name.
func (l *look) listNodes(ctx context.Context) (map[string]*node, error) {
	data, err := l.api.Get(ctx, "/nodes")
	if err != nil {
		return nil, err
	}
	rows, err := named(data, "node")
	if err != nil {
		return nil, err
	}
	nodes := map[string]*node{}
	for _, row := range rows {
		n := &node{name: row.Name, api: l.api}
		if row.Value.At("status").Str() == "offline" {
			// What it holds is known to be out of reach.
			_ = n.lose(errOffline)
		}
		nodes[row.Name] = n
	}
	return nodes, nil
}

// nodeKinds are the kinds that lie on nodes.
func nodeKinds() []string {
	return []string{normalize.NodeConfig, normalize.NodeDNS, normalize.NodeHosts, normalize.NodeTime, normalize.NodeNetwork, normalize.FirewallOptions, normalize.FirewallRules}
}

// A nodePart is one of a node's own settings.
type nodePart struct {
	name, kind string
	take       func(l *look, n *node, kind string, data model.Value) error
}

func nodeParts() []nodePart {
	return []nodePart{
		{"config", normalize.NodeConfig, takeNodePart},
		{"dns", normalize.NodeDNS, takeNodePart},
		{"hosts", normalize.NodeHosts, takeNodePart},
		{"time", normalize.NodeTime, takeNodePart},
		{"network", normalize.NodeNetwork, takeInterfaces},
	}
}

// readNode reads one of the node's own settings.
func (l *look) readNode(ctx context.Context, n *node, part nodePart) {
	if !l.wanted(part.kind) {
		return
	}
	data, err := n.Get(ctx, nodePath(n.name)+"/"+part.name)
	if err == nil {
		err = part.take(l, n, part.kind, data)
	}
	if err != nil {
		l.fail(err, n.name, part.kind)
	}
}

// readNodeFirewall reads the node's own firewall.
func (l *look) readNodeFirewall(ctx context.Context, n *node) {
	if err := n.lost(); err != nil {
		l.fail(err, n.name, normalize.FirewallOptions, normalize.FirewallRules)
		return
	}
	l.readFirewall(ctx, nodeFirewall(n.name), n)
}

func takeNodePart(l *look, n *node, kind string, data model.Value) error {
	if data.Kind() != model.Map {
		return &httpclient.Unexpected{Reason: "the answer is no object"}
	}
	r := l.object(kind, n.name, data)
	r.Place = n.name
	l.add(r)
	return nil
}

func takeInterfaces(l *look, n *node, kind string, data model.Value) error {
	rows, err := named(data, "iface")
	for _, row := range rows {
		r := l.object(kind, n.name+":"+row.Name, row.Value)
		r.Name, r.Place = row.Name, n.name
		l.add(r)
	}
	return err
}
