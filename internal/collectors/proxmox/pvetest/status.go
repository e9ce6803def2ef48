package pvetest

// status is the answer to /cluster/status: a row for the cluster, unless there is
// one node alone, and one for each node. The first node is the one that answers.
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
		if c.away(i) {
			online = 0
		}
		rows = append(rows, Row{"type": "node", "id": "node/" + n.Name, "name": n.Name, "nodeid": i + 1, "local": local, "online": online, "level": ""})
	}
	return rows
}

// away reports whether the node that answers does not see the node of an index.
func (c *Cluster) away(i int) bool { return c.Nodes[i].Offline || c.NoQuorum && i > 0 }
