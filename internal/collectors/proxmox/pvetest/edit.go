package pvetest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Edit changes the cluster without a log entry, like most changes in a real cluster.
func (s *Server) Edit(edit func(*Cluster)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edit(&s.cluster)
}

// AfterList runs an edit once, right after the next list of guests was answered: between the
// list and the requests for its guests.
func (s *Server) AfterList(edit func(*Cluster)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = append(s.listed, edit)
}

// SetConfig sets a setting of a guest with immediate effect; nil deletes it. Only changes of
// virtual machines are added to the cluster log.
func (s *Server) SetConfig(id int, key string, value any, user string) {
	s.set(id, key, value, user, func(g *Guest) {
		g.setKey(key, withMAC(g, key, value), false)
	})
}

// SetPending sets a pending value of a setting, which takes effect at the next restart; nil
// deletes the setting then.
func (s *Server) SetPending(id int, key string, value any, user string) {
	s.set(id, key, value, user, func(g *Guest) {
		if g.Pending == nil {
			g.Pending = Row{}
		}
		g.Pending[key] = withMAC(g, key, value)
	})
}

func (s *Server) set(id int, key string, value any, user string, set func(*Guest)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.cluster.Guest(id)
	set(g)
	line := fmt.Sprintf("-%s %v", key, value)
	switch {
	case value == nil:
		line = "-delete " + key
	case key == "cipassword":
		line = "-cipassword <hidden>"
	}
	if g.Kind == "qemu" {
		s.logLine(g.Node, user, s.pid, fmt.Sprintf("update VM %d: %s", id, line))
	}
}

// SetAddresses sets the IP addresses, such as "192.0.2.5/24", that a running guest reports for
// a network device ("net0").
func (s *Server) SetAddresses(id int, device string, addresses ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.cluster.Guest(id)
	if g.Addresses == nil {
		g.Addresses = map[string][]string{}
	}
	g.Addresses[device] = addresses
}

// Restart restarts a guest, which applies its pending changes.
func (s *Server) Restart(id int, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.cluster.Guest(id)
	g.applyPending()
	s.task(g, "reboot", user)
}

// applyPending makes the pending changes of a guest its configuration.
func (g *Guest) applyPending() {
	g.Config, g.Pending = g.configured(), nil
	delete(g.Config, "digest")
}

// SetStatus starts or stops a guest. A stop applies its pending changes.
func (s *Server) SetStatus(id int, status, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.cluster.Guest(id)
	if g.Status = status; status == "stopped" {
		g.applyPending()
	}
	s.task(g, map[string]string{"running": "start", "stopped": "stop"}[status], user)
}

// Create creates a guest, with the values that Proxmox VE generates: the MAC addresses of its
// network devices, and the UUID and creation time of a machine.
func (s *Server) Create(g Guest, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setGenerated(&g)
	s.cluster.Guests = append(s.cluster.Guests, g)
	s.task(&g, "create", user)
}

// Clone clones a virtual machine, with a new UUID and new MAC addresses. Its task only names
// the source.
func (s *Server) Clone(source, id int, name, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.cluster.Guest(source)
	config := maps.Clone(from.Config)
	delete(config, "template")
	config["name"] = name
	config["smbios1"] = "uuid=" + UUID(id)
	for key, value := range config {
		if text, ok := value.(string); ok && strings.HasPrefix(key, "net") {
			config[key] = macAddress().ReplaceAllString(text, MAC(id, key))
		}
	}
	s.cluster.Guests = append(s.cluster.Guests, Guest{ID: id, Kind: from.Kind, Node: from.Node, Status: "stopped", Config: config})
	s.task(from, "clone", user)
}

// Destroy removes a guest.
func (s *Server) Destroy(id int, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.task(s.cluster.Guest(id), "destroy", user)
	s.cluster.RemoveGuest(id)
}

// RemoveGuest removes a guest from the cluster without a log entry.
func (c *Cluster) RemoveGuest(id int) {
	c.Guests = slices.DeleteFunc(c.Guests, func(g Guest) bool { return g.ID == id })
}

// Migrate moves a guest to another node.
func (s *Server) Migrate(id int, node, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.cluster.Guest(id)
	// This is the only type for virtual machines without the prefix qm.
	s.taskOf(g.Node, map[string]string{"qemu": "qmigrate", "lxc": "vzmigrate"}[g.Kind], strconv.Itoa(id), user)
	g.Node = node
}

// task adds a task on a guest to the logs.
func (s *Server) task(g *Guest, typ, user string) {
	prefix := map[string]string{"qemu": "qm", "lxc": "vz"}[g.Kind]
	s.taskOf(g.Node, prefix+typ, strconv.Itoa(g.ID), user)
}

// logLine adds a line to the cluster log.
func (s *Server) logLine(node, user string, pid int, message string) {
	number := strconv.Itoa(len(s.log) + 1)
	s.log = append(s.log, Row{"id": number + ":" + node, "uid": number, "node": node, "user": user, "pid": pid, "pri": 6,
		"tag": "pvedaemon", "time": s.Now().Unix(), "msg": message})
}
