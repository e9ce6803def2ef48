package pvetest

// status returns the answer to /cluster/status: a row for the cluster, if it has more than one
// node, and a row for each node. The first node is the one that answers.
func (c *Cluster) status() []Row {
	quorate := 1
	if c.NoQuorum {
		quorate = 0
	}
	var rows []Row
	if len(c.Nodes) > 1 {
		rows = append(rows, Row{"type": "cluster", "id": "cluster", "name": "lab", "nodes": len(c.Nodes), "version": 3, "quorate": quorate})
	}
	for i, n := range c.Nodes {
		local, online := 0, 1
		if i == 0 {
			local = 1
		}
		if c.unreachable(i) {
			online = 0
		}
		rows = append(rows, Row{"type": "node", "id": "node/" + n.Name, "name": n.Name, "nodeid": i + 1, "local": local, "online": online, "level": ""})
	}
	return rows
}

// unreachable reports whether the node that answers has no connection to the node with the
// index.
func (c *Cluster) unreachable(i int) bool { return c.Nodes[i].Offline || c.NoQuorum && i > 0 }
