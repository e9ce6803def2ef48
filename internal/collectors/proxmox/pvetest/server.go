package pvetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/faults"
)

// Prefix is where the API begins on a server.
const Prefix = "/api2/json"

// A Server answers for one Cluster. It is safe for concurrent use.
type Server struct {
	// Set holds faults by paths below Prefix, such as "/nodes/pve2/".
	faults.Set

	// Now is the clock of the logs.
	Now func() time.Time

	mu      sync.Mutex
	random  *rand.Rand
	cluster Cluster
	// listed run once each, after the next list of guests.
	listed []func(*Cluster)
	log    []Row
	tasks  []Row
	pid    int
	seen   requests
}

// New returns a server for a copy of the cluster. The order of its answers is
// drawn from random.
func New(cluster Cluster, random *rand.Rand) *Server {
	return &Server{Now: time.Now, random: random, cluster: cluster.clone(), pid: 1000, seen: requests{count: map[string]int{}, running: map[string]int{}, peak: map[string]int{}}}
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, Prefix), "/")
	done := s.begin(at)
	defer done()
	s.Serve(func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, at) }, at, w, r)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, at string) {
	if r.Method == http.MethodPost && at == "/access/ticket" {
		s.write(w, Row{"data": Row{"username": r.PostFormValue("username"), "ticket": "PVE:ticket", "CSRFPreventionToken": "csrf"}})
		return
	}
	if r.Method != http.MethodGet {
		refuse(w, http.StatusNotImplemented, fmt.Sprintf("Method '%s %s' not implemented", r.Method, at))
		return
	}
	data, problem := s.read(at, r.URL.Query())
	if problem != nil {
		refuse(w, problem.code, problem.message)
		return
	}
	s.write(w, Row{"data": data})
}

// write sends an answer in an order of its own.
func (s *Server) write(w http.ResponseWriter, answer Row) {
	s.mu.Lock()
	body := encoder{s.random}.encode(nil, answer)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	// A client that is gone takes no answer.
	_, _ = w.Write(body)
}

// refuse answers as pveproxy does when it has words.
func refuse(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"data":null,"message":%s}`, strconv.Quote(message+"\n"))
}

// A refusal is an answer other than success.
type refusal struct {
	code    int
	message string
}

func notImplemented(at string) *refusal {
	return &refusal{http.StatusNotImplemented, fmt.Sprintf("Method 'GET %s' not implemented", at)}
}

func forbidden(what string) *refusal {
	return &refusal{http.StatusForbidden, "Permission check failed " + what}
}

// read returns the data of an answer.
func (s *Server) read(at string, query url.Values) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.cluster
	if lacking := c.refused(at); lacking != "" {
		return nil, forbidden(lacking)
	}
	if problem := c.unserved(at); problem != nil {
		return nil, problem
	}
	switch parts := strings.Split(at, "/"); {
	case at == "/version":
		return Row{"version": c.Version, "release": strings.Join(strings.Split(c.Version, ".")[:2], "."), "repoid": "0123456789abcdef"}, nil
	case at == "/access/permissions":
		return c.permissions(), nil
	case at == "/nodes":
		return c.nodeRows(), nil
	case at == "/cluster/status":
		return c.status(), nil
	case at == "/cluster/resources":
		return s.resources(), nil
	case at == "/cluster/log":
		return c.visible(at, s.log), nil
	case at == "/cluster/tasks":
		return c.visible(at, s.tasks), nil
	case parts[1] == "pools":
		return c.readPool(at, query)
	case parts[1] == "nodes" && len(parts) > 3:
		return s.readNode(parts, query)
	}
	return c.look(at, query)
}

// unserved tells what the cluster's version does not have.
func (c *Cluster) unserved(at string) *refusal {
	for _, since := range []struct {
		prefix       string
		major, minor int
	}{
		{"/cluster/ha/rules", 9, 0}, {"/cluster/mapping/dir", 8, 4}, {"/cluster/mapping", 8, 0},
		{"/cluster/notifications", 8, 1},
	} {
		if strings.HasPrefix(at, since.prefix) && c.older(since.major, since.minor) {
			return notImplemented(at)
		}
	}
	if strings.HasPrefix(at, "/cluster/sdn/vnets/") && strings.Contains(at, "/firewall") && c.older(8, 3) {
		return notImplemented(at)
	}
	if strings.HasPrefix(at, "/cluster/ha/groups") && !c.older(9, 0) {
		return &refusal{http.StatusInternalServerError, "cannot index groups: ha groups have been migrated to rules"}
	}
	return nil
}

// look finds an answer among the lists and objects: one of its own, the same
// without the query, or an object that is a row of the list above.
func (c *Cluster) look(at string, query url.Values) (any, *refusal) {
	paths := []string{at}
	if len(query) > 0 {
		paths = []string{at + "?" + query.Encode(), at}
	}
	for _, path := range paths {
		if rows, ok := c.Lists[path]; ok {
			return c.visible(at, rows), nil
		}
		if object, ok := c.Objects[path]; ok {
			return object, nil
		}
	}
	i := strings.LastIndex(at, "/")
	for _, row := range c.Lists[at[:i]] {
		for _, key := range []string{"id", "name", "realm", "userid", "groupid", "storage", "sid", "rule", "zone", "vnet"} {
			if row[key] == at[i+1:] {
				return row, nil
			}
		}
	}
	if isList(at) {
		return []Row{}, nil
	}
	return nil, notImplemented(at)
}

// isList tells the lists that every cluster has, which are empty where nobody
// describes them.
func isList(at string) bool {
	if strings.HasPrefix(at, "/cluster/sdn/vnets/") || strings.HasPrefix(at, "/cluster/firewall/") {
		return slices.Contains([]string{"subnets", "rules", "aliases", "ipset", "groups"}, at[strings.LastIndex(at, "/")+1:])
	}
	return slices.Contains([]string{
		"/storage", "/access/acl", "/access/users", "/access/groups", "/access/roles", "/access/domains",
		"/cluster/backup", "/cluster/replication", "/cluster/metrics/server", "/cluster/ha/resources", "/cluster/ha/rules",
		"/cluster/ha/groups", "/cluster/mapping/pci", "/cluster/mapping/usb", "/cluster/mapping/dir", "/cluster/sdn/zones",
		"/cluster/sdn/controllers", "/cluster/sdn/vnets", "/cluster/sdn/ipams", "/cluster/sdn/dns", "/cluster/acme/account",
		"/cluster/notifications/targets", "/cluster/notifications/matchers",
	}, at)
}

func (c *Cluster) nodeRows() []Row {
	rows := make([]Row, len(c.Nodes))
	for i, n := range c.Nodes {
		status := "online"
		if c.away(i) {
			status = "offline"
		}
		rows[i] = Row{"id": "node/" + n.Name, "node": n.Name, "type": "node", "status": status, "maxcpu": 8, "cpu": 0.25, "level": ""}
	}
	return rows
}

// resources is the list of everything, guests first of all.
func (s *Server) resources() []Row {
	c := &s.cluster
	var rows []Row
	for i := range c.Guests {
		if g := &c.Guests[i]; c.holds("VM.Audit", "/vms/"+strconv.Itoa(g.ID)) {
			rows = append(rows, c.resource(g))
		}
	}
	for _, edit := range s.listed {
		edit(c)
	}
	s.listed = nil
	return rows
}

func (c *Cluster) resource(g *Guest) Row {
	row := Row{"id": g.path()[1:], "type": g.Kind, "vmid": g.ID, "node": g.Node, "name": g.name(), "status": cmp.Or(g.Listed, g.Status, "stopped"),
		"template": 0, "cpu": 0.5, "maxmem": 1 << 30, "netin": 12345, "uptime": 4711}
	if g.Config["template"] != nil {
		row["template"] = g.Config["template"]
	}
	if g.Pool != "" && c.holds("Pool.Audit", "/pool/"+g.Pool) {
		row["pool"] = g.Pool
	}
	return row
}

// readPool answers for the list of pools, or for one of them.
func (c *Cluster) readPool(at string, query url.Values) (any, *refusal) {
	rows := []Row{}
	for name, pool := range c.Pools {
		if !c.holds("Pool.Audit", "/pool/"+name) {
			continue
		}
		row := Row{"poolid": name}
		if pool.Comment != "" {
			row["comment"] = pool.Comment
		}
		if at == "/pools/"+name {
			row["members"] = c.members(name, pool)
			return row, nil
		}
		if query.Get("poolid") == name {
			row["members"] = c.members(name, pool)
			return []Row{row}, nil
		}
		rows = append(rows, row)
	}
	if at != "/pools" || query.Has("poolid") {
		return nil, &refusal{http.StatusInternalServerError, "pool does not exist"}
	}
	return rows, nil
}

func (c *Cluster) members(name string, pool Pool) []Row {
	members := []Row{}
	for i := range c.Guests {
		if g := &c.Guests[i]; g.Pool == name {
			members = append(members, c.resource(g))
		}
	}
	for _, storage := range pool.Storages {
		for _, n := range c.Nodes {
			members = append(members, Row{"id": "storage/" + n.Name + "/" + storage, "storage": storage, "type": "storage", "node": n.Name})
		}
	}
	return members
}
