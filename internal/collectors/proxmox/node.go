package proxmox

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

func nodePath(node string) string { return "/nodes/" + url.PathEscape(node) }

// A node is an api for the paths of one node. After the first request without an answer, it
// sends no further requests in this scan.
type node struct {
	name string
	api  api

	mu   sync.Mutex
	down error
}

// Get implements api. It returns an error without a request if the node is known to be down, and
// marks the node as down if it cannot be reached.
func (n *node) Get(ctx context.Context, path string) (model.Value, error) {
	if err := n.downReason(); err != nil {
		return model.Value{}, err
	}
	data, err := n.api.Get(ctx, path)
	if isNodeUnreachable(err) {
		return model.Value{}, n.markDown(err)
	}
	return data, err
}

// GetOnce implements api. A missing response does not mark the node as down, because the guest
// sends the response.
func (n *node) GetOnce(ctx context.Context, path string, limit time.Duration) (model.Value, error) {
	if err := n.downReason(); err != nil {
		return model.Value{}, err
	}
	return n.api.GetOnce(ctx, path, limit)
}

// downReason returns the error that marked the node as down, or nil.
func (n *node) downReason() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.down
}

// markDown marks the node as down. The first error remains.
func (n *node) markDown(err error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = cmp.Or[error](n.down, &nodeError{n.name, err})
	return n.down
}

// A nodeError is the error of a node that does not answer.
type nodeError struct {
	node string
	err  error
}

func (e *nodeError) Error() string {
	return fmt.Sprintf("node %s does not answer (%v): see pvecm status, and pveproxy on the node", e.node, e.err)
}

func (e *nodeError) Unwrap() error { return e.err }

// errOffline is the error of a node that the cluster reports as offline.
var errOffline = &httpclient.Unexpected{Reason: "offline"}

// listNodes returns the nodes of the cluster by name.
func (sc *scan) listNodes(ctx context.Context) (map[string]*node, error) {
	data, err := sc.api.Get(ctx, "/nodes")
	if err != nil {
		return nil, err
	}
	rows, err := rowsByKey(data, "node")
	if err != nil {
		return nil, err
	}
	nodes := map[string]*node{}
	for _, row := range rows {
		n := &node{name: row.Name, api: sc.api}
		if row.Value.At("status").Str() == "offline" {
			// The objects of the node are reported as unread.
			_ = n.markDown(errOffline)
		}
		nodes[row.Name] = n
	}
	return nodes, nil
}

// nodeKinds returns the kinds that have objects on nodes.
func nodeKinds() []string {
	return []string{normalize.NodeConfig, normalize.NodeDNS, normalize.NodeHosts, normalize.NodeTime, normalize.NodeNetwork, normalize.FirewallOptions, normalize.FirewallRules}
}

// A nodePart is a part of a node's settings that has its own path.
type nodePart struct {
	name, kind string
	add        func(sc *scan, n *node, kind string, data model.Value) error
}

func nodeParts() []nodePart {
	return []nodePart{
		{"config", normalize.NodeConfig, addNodePart},
		{"dns", normalize.NodeDNS, addNodePart},
		{"hosts", normalize.NodeHosts, addNodePart},
		{"time", normalize.NodeTime, addNodePart},
		{"network", normalize.NodeNetwork, addInterfaces},
	}
}

// readNode reads a part of the node's settings.
func (sc *scan) readNode(ctx context.Context, n *node, part nodePart) {
	if !sc.isIncluded(part.kind) {
		return
	}
	data, err := n.Get(ctx, nodePath(n.name)+"/"+part.name)
	if err == nil {
		err = part.add(sc, n, part.kind, data)
	}
	if err != nil {
		sc.fail(err, n.name, part.kind)
	}
}

// readNodeFirewall reads the node's firewall.
func (sc *scan) readNodeFirewall(ctx context.Context, n *node) {
	if err := n.downReason(); err != nil {
		sc.fail(err, n.name, normalize.FirewallOptions, normalize.FirewallRules)
		return
	}
	sc.readFirewall(ctx, nodeFirewall(n.name), n)
}

func addNodePart(sc *scan, n *node, kind string, data model.Value) error {
	if data.Kind() != model.Map {
		return &httpclient.Unexpected{Reason: "the answer is not an object"}
	}
	r := sc.object(kind, n.name, data)
	r.Place = n.name
	sc.add(r)
	return nil
}

func addInterfaces(sc *scan, n *node, kind string, data model.Value) error {
	rows, err := rowsByKey(data, "iface")
	for _, row := range rows {
		r := sc.object(kind, n.name+":"+row.Name, row.Value)
		r.Name, r.Place = row.Name, n.name
		sc.add(r)
	}
	return err
}
