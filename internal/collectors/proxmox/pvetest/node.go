package pvetest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	statusNodeDown  = 595
	statusNodeHangs = 596
)

// readNode returns the data of a path below /nodes/N.
func (s *Server) readNode(parts []string, query url.Values, account string) (any, *apiError) {
	c, name := &s.cluster, parts[2]
	i := slices.IndexFunc(c.Nodes, func(n Node) bool { return n.Name == name })
	if i < 0 {
		return nil, &apiError{http.StatusInternalServerError, fmt.Sprintf("hostname lookup '%s' failed - failed to get address info for: %s", name, name)}
	}
	if c.unreachable(i) {
		return nil, &apiError{statusNodeDown, "No route to host"}
	}
	if len(parts) > 4 && isGuestPath(parts) {
		return c.readGuest(parts)
	}
	at := strings.Join(parts, "/")
	switch parts[3] {
	case "tasks":
		return s.readTasks(parts, query, account)
	case "qemu", "lxc":
		return c.guestsOf(name, parts[3]), nil
	}
	data, problem := c.lookup(at, nil)
	if problem == nil {
		return data, nil
	}
	switch strings.Join(parts[3:], "/") {
	case "config", "firewall/options":
		return Row{"digest": digest}, nil
	case "dns":
		return Row{"search": "example.com", "dns1": "192.0.2.53"}, nil
	case "hosts":
		return Row{"data": "127.0.0.1 localhost\n", "digest": digest}, nil
	case "time":
		return Row{"timezone": "Etc/UTC", "time": s.Now().Unix(), "localtime": s.Now().Unix()}, nil
	case "network", "firewall/rules":
		return []Row{}, nil
	}
	return nil, problem
}

// digest is the hash of a file. It is never compared.
const digest = "da39a3ee5e6b4b0d3255bfef95601890afd80709"

// guestsOf returns a node's own list of its guests. PVE 7 sends the ids of containers as text.
func (c *Cluster) guestsOf(node, kind string) []Row {
	rows := []Row{}
	for i := range c.Guests {
		g := &c.Guests[i]
		if g.Node != node || g.Kind != kind || !c.holds("VM.Audit", "/vms/"+strconv.Itoa(g.ID)) {
			continue
		}
		row := Row{"vmid": g.ID, "name": g.name(), "status": cmp.Or(g.Status, "stopped"), "cpu": 0.5, "uptime": 4711}
		if kind == "lxc" && c.older(8, 0) {
			row["vmid"] = strconv.Itoa(g.ID)
		}
		rows = append(rows, row)
	}
	return rows
}

// readGuest returns the data of a guest's path. Any node can read its firewall, which is in
// the cluster's file system; only its own node has its configuration.
func (c *Cluster) readGuest(parts []string) (any, *apiError) {
	kind, id := parts[3], parts[4]
	if !c.holds("VM.Audit", "/vms/"+id) {
		return nil, forbidden("(/vms/" + id + ", VM.Audit)")
	}
	below := strings.Join(parts[5:], "/")
	if strings.HasPrefix(below, "firewall/") {
		return c.firewallRead("/" + kind + "/" + id + "/" + below)
	}
	g, problem := c.guestAt(parts)
	if problem != nil {
		return nil, problem
	}
	switch below {
	case "pending":
		return g.pendingRows(c.older(8, 0)), nil
	case "config":
		return g.configured(), nil
	case "status/current":
		return Row{"vmid": g.ID, "status": cmp.Or(g.Status, "stopped"), "name": g.name()}, nil
	case "interfaces", "agent/network-get-interfaces":
		return c.guestInterfaces(g, below)
	}
	return nil, notImplemented(strings.Join(parts, "/"))
}

// pendingRows returns the answer to /pending. Old versions send memory as a number.
func (g *Guest) pendingRows(old bool) []Row {
	typed := func(key string, value any) any {
		if n, err := strconv.Atoi(fmt.Sprint(value)); err == nil && old && key == "memory" {
			return n
		}
		return value
	}
	rows := []Row{{"key": "digest", "value": g.digest()}}
	for key, value := range g.Config {
		row := Row{"key": key, "value": typed(key, value)}
		if next, waits := g.Pending[key]; waits {
			if next == nil {
				row["delete"] = 1
			} else {
				row["pending"] = typed(key, next)
			}
		}
		rows = append(rows, row)
	}
	for key, next := range g.Pending {
		if _, set := g.Config[key]; !set && next != nil {
			rows = append(rows, Row{"key": key, "pending": typed(key, next)})
		}
	}
	return rows
}

// configured returns the answer to /config, which includes pending changes.
func (g *Guest) configured() Row {
	config := Row{"digest": g.digest()}
	for key, value := range g.Config {
		config[key] = value
	}
	for key, next := range g.Pending {
		if config[key] = next; next == nil {
			delete(config, key)
		}
	}
	return config
}
